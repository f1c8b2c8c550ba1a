"""A browser and a server for the tests of the pages."""

import shutil
import threading
from contextlib import contextmanager

import pytest
import uvicorn
from playwright.sync_api import sync_playwright

from training.app.app import create_app
from training.app.serve import open_listener

CHROMIUM = ["chromium-headless-shell", "chromium"]  # the first opens a page in a third of the time
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser():
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert chromium, "these tests need Debian's chromium-headless-shell, or its chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def serve_in_thread(games, port=0, **options):
    """Serve the application in a thread; yield its address."""
    with open_listener("127.0.0.1", port) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(games, **options), log_config=None))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
