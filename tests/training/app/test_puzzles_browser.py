"""The page of puzzles in a browser; the static site runs these tests, too."""

import json
import re

import pytest
from playwright.sync_api import expect

from checkers_env import Board
from tests.training.app.test_app_browser import (  # noqa: F401 - fixtures
    address,
    click,
    drag,
    games,
    moves_shown,
    open_page,
    squares_of,
)

pytestmark = pytest.mark.browser
SHOT = {
    "fen": "W:W14,17,21,23,25:B1,5,7,15,20",
    "line": ["14-9", "5x14", "17x3"],
    "rest": ["20-24", "3-7"],
    "players": ["hughes (depth 4)", "random"],
    "move": 21,
    "nodes": 30,
    "verified": 16,
}
CROWN = SHOT | {"fen": "B:W21,22:B27,1", "line": ["27-31"], "rest": [], "nodes": 3000}
CROWN |= {"verified": "tables"}


@pytest.fixture
def open_puzzles(open_page):  # noqa: F811
    """Return a function that opens the page, with puzzles of ours or with its own."""

    def open_puzzles(content=(SHOT, CROWN), *, status=200, **options):
        page = open_page(service_workers="block", **options)
        if content is not None:
            body = content if isinstance(content, str) else json.dumps(content)
            page.route("**/puzzles.json", lambda route: route.fulfill(status=status, body=body))
        page.get_by_role("link", name="Puzzles").click()
        page.locator("#actions:not([hidden]), #error:not([hidden])").first.wait_for()
        return page

    return open_puzzles


def test_puzzle_is_solved(open_puzzles):
    page = open_puzzles()
    status = page.locator("#status")
    expect(status).to_have_text("White to move. Only one move wins: find it.")
    expect(page.locator("#title")).to_have_text("Puzzle 1")
    expect(page.locator("#game")).to_contain_text("hughes (depth 4), Black, against random")
    assert squares_of(page, "able") == [14, 17, 23, 25]
    click(page, 14, 9)
    expect(status).to_have_text("Right: 14-9. Black answers 5x14. And now?")
    drag(page, [17, 3])
    expect(status).to_have_text("Solved! Step on to see how the game could end.")
    expect(page.locator("#count")).to_have_text("Solved 1 of 2")
    assert moves_shown(page) == ["14-9", "5x14", "17x3", "20-24", "3-7"]
    page.click("[aria-label=Forward]")
    assert page.inner_text("#score [aria-current]") == "20-24"
    page.click("#next")
    expect(status).to_have_text("Black to move. Only one move wins: find it.")
    expect(page.locator("#verified")).to_have_text("by the endgame tables")
    page.reload()
    expect(page.locator("#title")).to_have_text("Puzzle 2")
    expect(page.locator("#count")).to_have_text("Solved 1 of 2")
    page.select_option("#choice", index=0)
    expect(page.locator("#level")).to_have_text("medium, solved")


def test_wrong_and_illegal_moves_may_be_tried_again(open_puzzles):
    page = open_puzzles()
    status = page.locator("#status")
    click(page, 25, 22)
    expect(status).to_have_text("25-22 does not win. Try again.")
    assert squares_of(page, "able") == [14, 17, 23, 25]
    assert squares_of(page, "chosen") == []
    click(page, 23, 20)
    expect(status).to_have_text("23-20 is not a legal move here.")
    click(page, 14, 9)
    expect(status).to_contain_text("And now?")
    assert squares_of(page, "able") == [17]
    assert moves_shown(page) == ["14-9", "5x14"]


def test_hint_and_solution_are_shown(open_puzzles):
    page = open_puzzles()
    page.click("#hint")
    expect(page.locator("#status")).to_have_text("Hint: move the piece on 14.")
    assert page.locator("#board .outline rect").count() == 1
    page.click("#hint")
    expect(page.locator("#status")).to_have_text("Hint: the move is 14-9.")
    assert page.locator("#board .arrow polyline").count() == 1
    page.click("#solution")
    expect(page.locator("#status")).to_have_text("The solution: 14-9 5x14 17x3.")
    expect(page.locator("#score [aria-current]")).to_have_text("3-7")
    expect(page.locator("#count")).to_have_text("Solved 0 of 2")
    page.click("#again")
    expect(page.locator("#status")).to_contain_text("find it")
    click(page, 14, 9)
    expect(page.locator("#status")).to_contain_text("And now?")
    page.get_by_role("link", name="Analyse this position").click()
    expect(page.locator("#verdict")).to_contain_text("White")


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        ("[{", 200, "The file of the puzzles is damaged."),
        (json.dumps([SHOT | {"line": ["14-9", "5x14"]}]), 200, "is damaged"),
        (json.dumps([SHOT | {"line": ["14-5"]}]), 200, "'14-5' is illegal"),
        ("", 404, "The puzzles cannot be loaded: status 404."),
    ],
)
def test_damaged_or_absent_file_is_told(open_puzzles, content, status, message):
    page = open_puzzles(content, status=status)
    expect(page.locator("#error")).to_contain_text(message)
    expect(page.locator("#actions")).to_be_hidden()


def test_shipped_puzzles_are_shown(open_puzzles):
    page = open_puzzles(None)
    expect(page.locator("#count")).to_have_text(re.compile(r"Solved 0 of \d+"))
    puzzles = page.locator("#choice option")
    assert puzzles.count() >= 60
    page.select_option("#choice", index=puzzles.count() - 1)
    expect(page.locator("#title")).to_have_text(f"Puzzle {puzzles.count()}")
    turn = "Black" if Board(fen_shown(page)).turn == 0 else "White"
    expect(page.locator("#status")).to_have_text(f"{turn} to move. Only one move wins: find it.")
    page.evaluate("localStorage.setItem('puzzles-solved', '{damaged')")
    page.goto(page.url.partition("#")[0] + "#999")
    page.reload()
    expect(page.locator("#title")).to_have_text("Puzzle 1")


def fen_shown(page):
    """Return the position that the link to the analysis names."""
    return page.evaluate("new URL(document.getElementById('analyse').href).searchParams.get('fen')")
