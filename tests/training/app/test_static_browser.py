"""The static site in a browser: the served page's tests of its engine, then the site's own."""

import shutil
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from tests.training.app.test_analyse_browser import (  # noqa: F401 - a fixture, and tests of the view
    open_analysis,
    test_positions_that_are_stepped_over_are_not_analysed,
)
from tests.training.app.test_app_browser import (  # noqa: F401 - fixtures, and tests of shared views
    PHONE,
    begin,
    cell,
    choose_agent,
    moves_shown,
    open_page,
    play_once,
    settle,
    test_analysis_of_the_agent_is_shown,
    test_explanation_is_shown,
    test_finished_game_is_reviewed,
    test_first_game_is_against_the_recommended_opponent,
    test_stale_tab_shows_the_game_of_the_other_tab,
)
from tests.training.app.test_puzzles_browser import (  # noqa: F401 - a fixture, and tests of the view
    open_puzzles,
    test_damaged_or_absent_file_is_told,
    test_puzzle_is_solved,
    test_shipped_puzzles_are_shown,
)
from training.app.static_site import build

pytestmark = pytest.mark.browser


class QuietHandler(SimpleHTTPRequestHandler):
    """Handler that logs nothing."""

    def log_message(self, *args):
        """Log nothing."""


@contextmanager
def serve_files(folder, port=0):
    """Serve a folder as any host of static files does; yield its address."""
    with ThreadingHTTPServer(
        ("127.0.0.1", port), partial(QuietHandler, directory=folder)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "in" / "a folder"
    build(folder)
    return folder


@pytest.fixture(scope="module")
def address(site):
    with serve_files(site.parent) as address:
        yield f"{address}a%20folder"


def test_site_plays_without_a_network(browser, site):
    context = browser.new_context(reduced_motion="reduce", viewport=PHONE)
    page = context.new_page()
    with serve_files(site) as address:
        page.goto(address)
        page.evaluate("navigator.serviceWorker.ready.then(() => null)")
        page.click("#start")
        settle(page)
    page.goto(f"{address}index.html")  # nobody serves it any more
    page.click("[data-do=new]")  # the game goes on
    begin(page, agent="blondie24", plies=4)
    play_once(page)
    page.goto(f"{address}index.html")
    page.click("[data-do=new]")
    begin(page, agent="strong", plies=4)
    play_once(page)
    before = moves_shown(page)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.reload()
    expect(page.locator("#score button")).to_have_count(len(before))
    page.goto(f"{address}compare.html")
    expect(page.get_by_role("button", name="Let them play")).to_be_visible()
    context.close()


@pytest.mark.parametrize("service_workers", ["block", "allow"])
def test_damaged_weight_file_is_refused_and_read_again(browser, site, tmp_path, service_workers):
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    target = tmp_path / "weights" / "blondie24-1999.safetensors"
    content = target.read_bytes()
    target.write_bytes(content[:5000])
    context = browser.new_context(service_workers=service_workers)
    page = context.new_page()
    with serve_files(tmp_path) as address:
        page.goto(address)
        if service_workers == "allow":
            page.evaluate("navigator.serviceWorker.ready.then(() => null)")
        choose_agent(page, "blondie24-1999")
        page.check("[name=colour][value=white]")
        page.click("#start")
        error = page.locator("#error")
        expect(error).to_contain_text("'blondie24-1999.safetensors' is not a valid weight file")
        target.write_bytes(content)
        page.click("[data-do=reply]")
        settle(page)
        expect(error).to_be_hidden()
        assert len(moves_shown(page)) == 1
    context.close()


def test_evolution_runs_in_the_page(open_page):  # noqa: F811
    page = open_page("/evolution.html")
    expect(page.locator("#standings tr")).to_have_count(10)
    expect(page.locator("#games tr")).to_have_count(30)
    page.get_by_role("button", name="Show game 7", exact=True).click()
    expect(page.locator("#ending")).to_contain_text("game 7.")
    assert page.locator("#score button").count() > 20
    expect(page.locator("#state")).to_contain_text("Generation")
    expect(page.locator(".curve").first).to_be_visible()
    page.get_by_role("link", name="Play against its champion").click()
    page.click("#start")
    settle(page)
    play_once(page)
    expect(page.locator("#analysis")).to_contain_text("What evolved (depth 4) thinks")
