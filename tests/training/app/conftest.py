"""A browser, a server and Node for the tests of the pages."""

import json
import shutil
import subprocess
import threading
from contextlib import contextmanager

import pytest
import uvicorn
from playwright.sync_api import sync_playwright
from starlette.testclient import TestClient

from training.app.app import create_app
from training.app.serve import open_listener
from training.app.static_site import build

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
def serve_in_thread(games, port=0, app=None, **options):
    """Serve an application, by default a new one, in a thread; yield its address."""
    with open_listener("127.0.0.1", port) as listener:
        app = app or create_app(games, **options)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def client_of(app):
    """Return a client of an application in this process."""
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


def error_of(answer, status=400):
    """Return the error of a refused request."""
    assert answer.status_code == status, answer.text
    return answer.json()["error"]


@pytest.fixture(scope="session")
def run_js(tmp_path_factory):
    """Return a function that runs a script in the static site's folder, and returns its `answer`.

    Node runs it; the script finds the keyword arguments in `asked`.
    """
    node = shutil.which("node")
    assert node, "these tests need Node"
    folder = tmp_path_factory.mktemp("node")
    build(folder)
    (folder / "package.json").write_text('{"type": "module"}')

    def run_js(script, **asked):
        (folder / "asked.json").write_text(json.dumps(asked))
        lines = [
            'import { readFileSync } from "node:fs";',
            'const asked = JSON.parse(readFileSync("asked.json"));',
            "let answer;",
            script,
            "process.stdout.write(JSON.stringify(answer));",
        ]
        (folder / "static" / "test.js").write_text("\n".join(lines))
        command = [node, "static/test.js"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    return run_js
