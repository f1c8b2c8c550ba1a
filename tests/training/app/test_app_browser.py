"""The pages to play and to compare, in a browser: mouse, keyboard, phone."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from checkers_env import Board, openings, pdn
from tests.training.app.conftest import serve_in_thread
from training.app.opponents import OPPONENTS, STRONG_LEVELS

pytestmark = pytest.mark.browser
PATIENCE = 120_000  # ms: a busy machine
expect.set_options(timeout=PATIENCE)

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
EXPECTED = (  # messages of the console
    "Failed to load resource: the server responded with a status of 40",
    "Failed to load resource: net::ERR_FAILED",  # a request that a test loses
    "Service Worker registration blocked by Playwright",
)
ROUTES = "B:W6,7,14,15:BK2"  # 2x9x18x11x2 and 2x11x18x9x2


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    return tmp_path_factory.mktemp("games")


@pytest.fixture(scope="module")
def address(games):
    with serve_in_thread(games) as address:
        yield address


@pytest.fixture
def open_page(browser, address):
    """Yield a function that opens pages; at the end none may have logged an error."""
    contexts, complaints = [], []

    def told(message):
        if message.type in ("error", "warning") and not message.text.startswith(EXPECTED):
            complaints.append(message.text)

    def open_page(path="/", viewport=None, **options):
        options = {"reduced_motion": "reduce", **options}
        context = browser.new_context(viewport=viewport or DESKTOP, **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", told)
        page.on("dialog", lambda dialog: dialog.accept())
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def cell(page, square):
    return page.locator(f"#board [data-square='{square}']")


def click(page, *squares):
    for square in squares:
        cell(page, square).click()


def choose_agent(page, agent):
    """Choose among all players."""
    page.check("[name=opponent][value='']")
    page.select_option("#setup [data-field=agent]", agent)


def begin(page, *, agent="random", colour="black", opening=None, plies=None):
    """Begin a game, and wait for the user's turn."""
    choose_agent(page, agent)
    if plies:
        page.fill("#setup [data-field=amount]", str(plies))
    page.check(f"[name=colour][value={colour}]")
    if opening:
        page.select_option("#setup [data-field=opening]", "moves")
        page.fill("[data-opening=moves] input", opening)
    page.click("#start")
    expect(page.locator("[data-do=resign]")).to_be_visible()
    settle(page)


def settle(page):
    """Wait until all requests are answered, and the agent has moved."""
    expect(page.locator("#game")).to_have_attribute("aria-busy", "false")
    page.locator("[data-do=hint]:not([hidden]), #start:not([hidden])").first.wait_for()


def resign(page):
    """Resign, and confirm it."""
    page.click("[data-do=resign]")
    page.click("[data-do=resign]")


def moves_shown(page):
    return page.locator("#score button").all_inner_texts()


def position(page):
    return page.input_value("#fen")


def squares_of(page, mark):
    return page.eval_on_selector_all(
        f"#board .{mark}", "cells => cells.map((cell) => Number(cell.dataset.square))"
    )


# A game by mouse


def test_whole_game_is_played_by_clicking(open_page, games):
    page, rng, board = open_page(), np.random.default_rng(1), Board(max_moves=None)
    begin(page, agent="heuristic")
    while page.locator("[data-do=resign]").is_visible():
        assert position(page) == board.fen()
        able = squares_of(page, "able")
        assert set(able) == {move.squares[0] for move in board.legal_moves}
        path = [able[rng.integers(len(able))]]
        cell(page, path[-1]).click()
        while targets := squares_of(page, "target"):
            expected = {
                move.squares[len(path)]
                for move in board.legal_moves
                if move.squares[: len(path)] == tuple(path)
            }
            assert set(targets) == expected
            path.append(targets[rng.integers(len(targets))])
            cell(page, path[-1]).click()
            if tuple(path) in [move.squares for move in board.legal_moves]:
                break
        settle(page)
        for text in moves_shown(page)[board.ply :]:
            board.push(text)
    assert board.outcome() is not None or "Drawn" in page.inner_text("#status")
    expect(page.locator("#status")).to_contain_text("The game is kept.")
    (game,) = pdn.load(next(games.glob("*.pdn")))
    assert list(map(str, game.moves)) == moves_shown(page)
    with page.expect_download() as download:
        page.click("#save summary")
        page.click("#pdn")
    assert pdn.load(download.value.path())[0].moves == game.moves


def test_hint_draw_offer_and_resignation_work(open_page):
    page = open_page()
    page.click("#start")
    settle(page)
    page.click("[data-do=hint]")
    expect(page.locator("#status")).to_contain_text("Strong would play")
    assert page.locator("#board .arrow polyline").count() == 1
    page.click("[data-do=draw]")
    expect(page.locator("[data-do=draw]")).to_have_text("Really offer a draw?")
    page.click("[data-do=draw]")
    expect(page.locator("[data-do=draw]")).to_have_text("Offer a draw")
    expect(page.locator("#status")).to_contain_text("declined: the game has hardly begun")
    page.click("[data-do=resign]")
    expect(page.locator("[data-do=resign]")).to_have_text("Really resign?")
    page.click("[data-do=resign]")
    status = "You lost: Black resigned. Next: review the game, or play against Random."
    expect(page.locator("#status")).to_contain_text(status)
    expect(page.locator("#status")).to_contain_text("does not count")
    page.click("#archive summary")
    expect(page.locator("#archive-results")).to_contain_text("material (depth 2")
    page.click("#start")
    expect(page.locator("[data-do=resign]")).to_have_text("Resign")


def test_analysis_of_the_agent_is_shown(open_page):
    page = open_page()
    begin(page, agent="blondie24", colour="white", plies=4)
    facts = page.locator("#analysis")
    for text in ("blondie24 (depth 4) thinks", "4 plies", "lost, to +1, won"):
        expect(facts).to_contain_text(text)
    assert moves_shown(page)[0] in page.inner_text("dd[data-fact=pv]")
    expect(page.locator("#bar")).to_have_attribute("aria-valuetext", re.compile("by Strong's view"))


def test_earlier_positions_are_shown_read_only_and_moves_are_taken_back(open_page):
    page = open_page()
    begin(page)
    before = position(page)
    expect(page.locator("[data-do=take-back]")).to_be_hidden()
    click(page, 11, 15)
    settle(page)
    last = position(page)
    page.click("#score button >> nth=0")
    assert position(page) != last
    assert squares_of(page, "able") == []
    status = "You are looking at an earlier position. It is your move."
    expect(page.locator("#status")).to_have_text(status)
    page.click("[data-do=present]")
    assert position(page) == last
    assert squares_of(page, "able")
    expect(page.locator("[data-do=present]")).to_be_hidden()
    expect(page.locator("#status")).to_contain_text("White's man moves")
    page.click("[data-do=take-back]")
    expect(page.locator("#score button")).to_have_count(0)
    assert position(page) == before


def test_explanation_is_shown(open_page):
    page = open_page()
    begin(page, agent="blondie24", plies=2, opening="tyne")
    assert moves_shown(page)[:3] == ["10-15", "21-17", "9-13"]
    expect(page.locator("#verdict")).to_have_text(re.compile(r"\w"))  # the page moves with it
    page.click("#explanation summary")
    for text in ("Layer 1: 91 nodes", "Layer 2: 40 nodes", "Layer 3: 10 nodes"):
        expect(page.locator("#explanation")).to_contain_text(text)
    expect(page.locator("#board .tile")).to_have_count(24)
    layers = page.eval_on_selector_all(
        "#board svg > g", "all => all.map((one) => one.className.baseVal)"
    )
    assert layers.index("tiles") < layers.index("pieces") < layers.index("numbers")
    expect(page.locator("#board .numbers text")).to_have_count(24)
    sentence = re.compile("Without looking ahead, it prefers .* speaks loudest, for")
    expect(page.locator("#explanation .loudest")).to_contain_text(sentence)
    expect(page.locator("#board .outline rect")).to_have_count(1)
    assert page.locator("#explanation .strip >> nth=0 >> rect").count() == 91
    before = outline(page)
    page.hover("#explanation .strip >> nth=0", position={"x": 2, "y": 20})
    assert outline(page) != before  # the 3x3 part of the first node
    choice = "select[data-explanation]"
    for layer, tiles in (("3x3 squares", 36), ("8x8 squares", 1), ("", 0)):
        page.select_option(choice, layer)
        expect(page.locator("#board .tile")).to_have_count(tiles)
    page.select_option(choice, "5x5 squares")
    expect(page.locator("#board .outline rect")).to_have_count(0)
    page.hover("#explanation .cells button >> nth=0")
    expect(page.locator("#board .outline rect")).to_have_count(1)
    page.click("#explanation summary")
    expect(page.locator("#board .tile")).to_have_count(0)


def outline(page):
    """Return the frames on the board."""
    return page.eval_on_selector_all("#board .outline rect", "all => all.map((x) => x.outerHTML)")


def test_one_position_is_seen_through_two_networks(open_page):
    page = open_page("/analyse")
    one, other = (page.locator(f"[data-opinion='{number}']") for number in (1, 2))
    for side, name in ((one, "blondie24"), (other, "c10")):
        expect(side.locator(".facts")).to_contain_text(f"{name}, a neural network")
        expect(side.locator(".board .tile")).to_have_count(24)
        expect(side.locator(".board .outline rect")).to_have_count(1)
        expect(side.locator(".strip")).to_have_count(3)
    one.locator("select[data-explanation]").select_option("7x7 squares")
    for side in (one, other):
        expect(side.locator(".board .tile")).to_have_count(4)
    other.locator("[data-field=agent]").select_option("blondie24-1999")
    expect(other.locator(".facts")).to_contain_text("blondie24-1999")
    expect(other.locator(".strip")).to_have_count(2)
    expect(other.locator(".board .tile")).to_have_count(24)
    click(page, 11, 15)
    expect(one.locator(".facts")).to_contain_text("for White, the side to move")
    expect(one.locator("[data-square='15']")).to_have_attribute("aria-label", "15, black man")
    other.locator("[data-field=agent]").select_option("random")
    expect(other.locator(".facts")).to_contain_text("random has none that can be shown")


# Tabs, reloads, other servers


def hold_first_reply(page, held):
    """Hold back the first question to the agent; the judge is answered."""

    def answer(route):
        is_judge = "agent" not in route.request.post_data_json
        return route.continue_() if is_judge or held else held.append(route)

    page.route("**/api/analysis", answer)


def test_late_answer_does_not_change_another_game(open_page):
    page, held = open_page(), []
    hold_first_reply(page, held)
    choose_agent(page, "random")
    page.check("[name=colour][value=white]")
    page.click("#start")
    resign(page)
    expect(page.locator("#status")).to_contain_text("The game is kept.")
    page.click("#new summary")
    page.check("[name=colour][value=black]")
    page.click("#start")
    expect(page.locator("#status")).to_contain_text("Your move.")
    settle(page)
    click(page, 11, 15)
    settle(page)
    assert moves_shown(page)[0] == "11-15"


def test_game_continues_after_a_reload(open_page):
    page = open_page()
    begin(page)
    click(page, 11, 15)
    settle(page)
    before = moves_shown(page)
    page.reload()
    expect(page.locator("#score button")).to_have_count(len(before))
    assert moves_shown(page) == before
    for link in ("Rules", "Play"):
        page.get_by_role("link", name=link, exact=True).click()
    expect(page.locator("#score button")).to_have_count(len(before))
    page.goto(page.url.partition("#")[0] + "?fen=W:W31:BK5")  # asks for a new game
    expect(page.locator("#board .piece")).to_have_count(2)
    page.goto(page.url.partition("?")[0])
    expect(page.locator("#score button")).to_have_count(len(before))
    resign(page)
    expect(page.locator("#status")).to_contain_text("The game is kept.")
    page.get_by_role("link", name="Play", exact=True).click()
    expect(page.locator("#status")).to_have_text("Choose an opponent, and play.")
    expect(page.locator("#score button")).to_have_count(0)
    page.evaluate("sessionStorage.setItem('present game', '\"gone\"')")
    page.reload()
    expect(page.locator("#start")).to_be_visible()
    expect(page.locator("#error")).to_be_hidden()
    page.goto(page.url.partition("#")[0] + "#" + "x" * 22)
    page.reload()
    expect(page.locator("#error")).to_contain_text("There is no such game any more")


def test_game_continues_after_a_restart_of_the_server(browser, tmp_path):
    context = browser.new_context()
    page = context.new_page()
    with serve_in_thread(tmp_path) as address:
        page.goto(address)
        begin(page, agent="material", colour="white")
    click(page, 22, 18)
    expect(page.locator("#error")).to_contain_text("The server does not answer.")
    assert len(moves_shown(page)) == 2  # the browser has the game
    with serve_in_thread(tmp_path, int(address.rpartition(":")[2])):
        page.click("[data-do=reply]")
        settle(page)
        expect(page.locator("#error")).to_be_hidden()
        assert len(moves_shown(page)) == 3
    context.close()


def play_once(page):
    """Make the first move, and wait for the reply."""
    click(page, 11, 15)
    expect(page.locator("#score button")).to_have_count(2)
    settle(page)


def test_stale_tab_shows_the_game_of_the_other_tab(open_page):
    one = open_page()
    begin(one, agent="material", plies=2)
    other = one.context.new_page()
    other.goto(one.url)
    expect(other.locator("[data-do=resign]")).to_be_visible()
    settle(other)
    play_once(one)
    play_any(one, 4)
    expect(other.locator("#score button")).to_have_count(4)  # it has followed
    assert position(other) == position(one)
    expect(other.locator("#error")).to_be_hidden()
    play_any(other, 6)


def play_any(page, plies):
    """Play a legal move, and wait for the reply, with which the game has `plies` moves."""
    cell(page, squares_of(page, "able")[0]).click()
    while targets := squares_of(page, "target"):
        cell(page, targets[0]).click()
    expect(page.locator("#score button")).to_have_count(plies)
    settle(page)


# By keyboard, for screen readers, on a phone


def test_move_is_made_by_keyboard_alone(open_page):
    page = open_page()
    page.focus("#start")
    page.keyboard.press("Enter")
    expect(page.locator("[data-do=resign]")).to_be_visible()
    focused = "document.activeElement.dataset.square"
    assert page.evaluate(focused) == "12"
    way = "Right 11, Up 15, Down 11, Left 12, Left 12, Right 11"
    for key, square in (step.split() for step in way.split(", ")):
        page.keyboard.press(f"Arrow{key}")
        assert page.evaluate(focused) == square
    page.keyboard.press("Enter")
    expect(page.locator("#live")).to_have_text("11 chosen: it can go to 15 or 16.")
    page.keyboard.press("Escape")
    expect(page.locator("#live")).to_have_text("Cancelled.")
    assert squares_of(page, "chosen") == []
    page.keyboard.press("Space")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    settle(page)
    assert moves_shown(page)[0] == "11-15"
    assert page.evaluate(focused) == "15"
    assert page.locator("#board [tabindex='0']").count() == 1
    page.click("[data-do=new]")
    page.check("[name=colour][value=white]")
    page.click("#start")
    expect(cell(page, 21)).to_be_focused()


def test_board_is_described_to_screen_readers(open_page):
    page = open_page()
    assert page.get_by_role("grid", name="Board").count() == 1
    assert page.get_by_role("row").count() == 8
    assert page.get_by_role("gridcell").count() == 32
    begin(page)
    assert cell(page, 11).get_attribute("aria-label") == "11, black man, can move"
    assert cell(page, 1).get_attribute("aria-label") == "1, black man"
    cell(page, 11).click()
    assert cell(page, 15).get_attribute("aria-label") == "15, empty, can go here"
    page.click("#save summary")
    page.click("#read")
    for place in ("#live", "#answer"):
        expect(page.locator(place)).to_contain_text("Black: men on 1, 2, 3")
    refuse = "() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }"
    page.evaluate(refuse)
    page.click("#copy-fen")
    expect(page.locator("#answer")).to_contain_text("The browser does not allow it here.")
    click(page, 11, 15)
    expect(page.locator("#answer")).to_be_hidden()  # the position is another one
    assert page.get_attribute("#status", "aria-live") == "polite"
    for control in page.locator("button, select, input, textarea, a").all():
        named = control.evaluate(
            "node => node.ariaLabel || node.textContent.trim() || node.labels?.length"
        )
        assert named, control.evaluate("node => node.outerHTML")


@pytest.mark.parametrize("width", [360, 1280])
def test_no_view_is_wider_than_the_screen(open_page, width):
    page = open_page("/analyse", {"width": width, "height": 800})
    expect(page.locator("[data-opinion='2'] .strip")).to_have_count(3)
    page.click("#edit")
    for path in ("", "/", "/compare", "/about", "/evolution", "/nowhere"):
        if path:
            page.goto(page.url.rpartition("/")[0] + path)
        for panel in page.locator("details").all():
            panel.evaluate("panel => { panel.open = true; }")
        assert page.evaluate("document.documentElement.scrollWidth") == width, path


@pytest.mark.parametrize("path", ["/", "/compare"])
def test_board_is_about_as_high_as_a_low_screen(open_page, path):
    page = open_page(path)
    for width, height in ((844, 390), (667, 375), (640, 400)):
        page.set_viewport_size({"width": width, "height": height})
        board = page.locator("#board").bounding_box()
        assert 0.65 * height < board["height"] <= height - 16
        assert board["width"] == board["height"]
        for plate in (it.bounding_box() for it in page.locator(".plate").all()):
            is_above = plate["y"] + plate["height"] <= board["y"]
            assert is_above or plate["y"] >= board["y"] + board["height"]
        assert page.evaluate("document.documentElement.scrollWidth") == width


# Opponents, dragging, premove, review


def test_first_game_is_against_the_recommended_opponent(open_page):
    page, asked = open_page(), []
    page.on("request", lambda request: asked.append(request.url.endswith("/api/player")))
    assert page.locator("[name=opponent]").count() == len(OPPONENTS) + 1  # and all players
    assert page.locator(".opponent:has(:checked) .badge").count() == 1
    page.evaluate("for (const click of [1, 2]) document.getElementById('start').click()")
    settle(page)
    assert sum(asked) <= 1  # none in the static site
    assert page.inner_text("#above .name") == "Sleepyhead"
    page.click("[data-do=new]")
    strength = page.locator(".opponent:has([value=strong]) .elo")
    middle = len(STRONG_LEVELS) // 2
    expect(strength).to_have_text(f"level {middle}: +{STRONG_LEVELS[middle - 1].elo}")
    page.check("[name=opponent][value=strong]")
    page.select_option(".levels select", "2")
    expect(strength).to_have_text(f"level 2: +{STRONG_LEVELS[1].elo}")
    page.dblclick("#start", delay=60)  # the second click may meet another button
    expect(page.locator("#above .name")).to_have_text("Strong, level 2")
    settle(page)
    expect(page.locator("#error")).to_be_hidden()


def drag(page, squares, **options):
    """Drag a piece with the mouse over squares, and drop it on the last one."""
    for number, square in enumerate(squares):
        page.hover(f"#board [data-square='{square}']", force=True)
        if number == 0:
            page.mouse.down()
    page.mouse.up()


def test_pieces_are_dragged(open_page):
    page = open_page()
    begin(page, agent="material", plies=1)
    for squares in ([11, 10], [11, 7, 11]):  # on another piece, and back: it stays chosen
        drag(page, squares)
        assert squares_of(page, "chosen") == [11]
    drag(page, [11, 20])
    expect(page.locator("#error")).to_contain_text("A man goes one square diagonally forward.")
    drag(page, [11, 16])
    settle(page)
    assert moves_shown(page)[0] == "11-16"
    assert len(moves_shown(page)) == 2


def test_capture_is_dragged_by_touch(open_page):
    page = open_page(viewport=PHONE, has_touch=True)
    begin(page, opening=ROUTES)
    touch = page.context.new_cdp_session(page)

    def send(kind, square=None):
        box = square and cell(page, square).bounding_box()
        points = [{"x": box["x"] + 9, "y": box["y"] + 9}] if square else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    cell(page, 2).scroll_into_view_if_needed()
    for start, end in ((2, 11), (11, 18), (18, 9), (9, 2)):
        send("touchStart", start)
        send("touchMove", end)
        send("touchEnd")
        if end == 18:
            assert page.locator("#board .captured").count() == 2
            assert cell(page, 18).get_attribute("aria-label") == "18, black king, chosen"
    expect(page.locator("#status")).to_contain_text("White has no pieces left.")
    assert moves_shown(page) == ["2x11x18x9x2"]
    assert page.locator("#board .cross").count() == 4


def test_premove_is_played_when_it_is_legal(open_page):
    page, held = open_page(), []
    begin(page, agent="random", opening="B:W30:B1,2")
    hold_first_reply(page, held)
    click(page, 1, 6)
    expect(page.locator("#status")).to_contain_text("is thinking")
    drag(page, [2, 7])
    assert sorted(squares_of(page, "premove")) == [2, 7]
    page.keyboard.press("Escape")
    assert squares_of(page, "premove") == []
    drag(page, [2, 7])
    held[0].continue_()
    expect(page.locator("#score button")).to_have_count(4)
    assert moves_shown(page)[::2] == ["1-6", "2-7"]


def test_finished_game_is_reviewed(open_page):
    page = open_page()
    begin(page, agent="material", plies=2, opening="B:W23,24,27,31,32:B1,2,3,5,14")
    drag(page, [14, 18])  # gives a man away
    settle(page)
    resign(page)
    expect(page.locator("[data-do=review]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#review")).to_be_focused()
    expect(page.locator("#review-note")).to_contain_text("of yours")
    expect(page.locator("#score [data-ply='1']")).to_have_attribute("data-mark", re.compile("[?]"))
    assert page.locator("#review-chart polyline").get_attribute("points").count(",") == 3
    box = page.locator("#review-chart").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    assert page.inner_text("#score [aria-current]").startswith("14-18")
    page.click("#mistakes button >> nth=0")
    assert page.locator("#board .arrow polyline").count() == 1
    page.click("#better")
    expect(page.locator("#review-note")).to_contain_text("Strong's line from move 1 on: ")
    expect(page.locator("#status")).to_have_text("Strong's line, not the game.")
    expect(page.locator("#back-to-game")).to_be_focused()
    assert moves_shown(page)[0] != "14-18"
    page.keyboard.press("Enter")
    expect(page.locator("#better")).to_be_focused()
    assert moves_shown(page) == ["14-18", "23x14"]
    expect(page.locator("#status")).to_contain_text("You lost: Black resigned.")
    page.click("#play-on")
    expect(page.locator("[data-do=resign]")).to_be_visible()
    expect(page.locator("#review")).to_be_hidden()


# Analysis board and rules


def test_position_is_edited_analysed_and_written(open_page):
    page = open_page("/analyse")
    expect(page.locator("#lines li")).to_have_count(3)
    expect(page.locator("#verdict")).to_have_text("About equal")
    page.click("#edit")
    page.click("#clear")
    page.click("#editor .primary")
    expect(page.locator("#status")).to_have_text("White wins: Black has no pieces left.")
    page.click("#edit")
    for piece, square in (("B", 12), ("B", 28), ("W", 15), ("W", 20)):
        page.check(f"[name=piece][value={piece}]")
        cell(page, square).click()
    page.click("#editor .primary")
    expect(page.locator("#verdict")).to_have_text("Drawn, if both play perfectly")
    page.click("#show-fen")
    assert page.input_value("#text") == "B:WK15,K20:BK12,K28"
    card, name = next(iter(openings.NAMES.items()))
    page.fill("#text", card)
    page.click("#load button >> nth=0")
    expect(page.locator("#opening")).to_have_text(name)
    page.fill("#text", "1. 11-15 22-18 2. 15x22 25x18 *")
    page.click("#load button >> nth=0")
    expect(page.locator("#score button")).to_have_count(4)
    page.click("#score button >> nth=0")
    click(page, 23, 19)
    expect(page.locator("#score button")).to_have_count(2)
    page.click("#ask")
    expect(page.locator("[data-view] >> nth=1")).to_contain_text(
        re.compile(r"c10 \(depth 4\): .\d\.\d\d for Black, ")
    )
    page.click("#show-pdn")
    expect(page.locator("#text")).to_have_value(re.compile("1. 11-15 23-19"))


def test_rules_show_a_forced_capture(open_page):
    page = open_page("/about")
    cell(page, 12).click()
    expect(page.locator("#error")).to_contain_text("the man on 14 must capture")
    drag(page, [14, 30])
    expect(page.locator("#lesson")).to_contain_text("Well done: 14x30")


# Two agents


@pytest.mark.parametrize("path", ["/", "/compare"])
def test_game_begins_with_an_opening_of_a_file(open_page, tmp_path, path):
    page, book = open_page(path, PHONE), tmp_path / "book.pdn"
    book.write_text('1. 11-15 23-19 *\n[FEN "B:WK29,K30:BK3,K4"] [Weight "2"] *')
    page.select_option("#setup [data-field=opening]", "pdn")
    page.fill("#pdn-text", "11-15 23-19\n9-9")
    page.click("#start")
    expect(page.locator("#error")).to_contain_text("line 2, column 1: '9-9' is illegal")
    expect(page.locator("[data-field=which]")).to_be_hidden()
    page.set_input_files("#pdn-file", book)
    page.select_option("[data-field=which]", label="2: B:WK29,K30:BK3,K4")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.click("#start")
    expect(page.locator("#board .piece")).to_have_count(4)


def test_two_agents_play_to_the_end_and_can_be_stepped_through(open_page):
    page = open_page("/compare")
    page.select_option("[data-side=black] [data-field=agent]", "heuristic")
    page.select_option("[data-side=white] [data-field=agent]", "material")
    page.click("#start")
    page.locator("#run").wait_for()
    for _ in range(2):  # faster than a move, or the pause after it: it must go on all the same
        page.click("#run")
        expect(page.locator("#run")).to_have_text("Go on")
        page.click("#run")
        expect(page.locator("#run")).to_have_text("Pause")
    expect(page.locator("#score button")).not_to_have_count(0)
    page.click("#run")
    expect(page.locator("#run")).to_have_text("Go on")
    expect(page.locator("#step")).to_be_enabled()
    before = len(moves_shown(page))
    page.click("#step")
    expect(page.locator("#score button")).to_have_count(before + 1)
    page.evaluate("document.getElementById('pause').value = 0")
    page.click("#run")
    page.locator("#start:not([hidden])").wait_for()
    expect(page.locator("#start")).to_have_text("Play again")
    page.click("#new summary")
    expect(page.locator("#start")).to_have_text("Let them play")
    assert page.locator("#status").inner_text().endswith(".")
    moves = moves_shown(page)
    with page.expect_download() as download:
        page.click("#pdn")
    (game,) = pdn.load(download.value.path())
    assert list(map(str, game.moves)) == moves
    assert game.result != "*"
    assert (game.tags["Black"], game.tags["White"]) == ("heuristic", "material (depth 4)")
    page.click("[aria-label='First position']")
    for ply in range(3):
        assert page.locator("#score [aria-current]").count() == (ply > 0)
        page.click("[aria-label=Forward]")
    assert page.inner_text("#score [aria-current]") == moves[2]
    assert page.get_attribute("#chart .white", "points").count(",") > 3
    assert page.get_attribute("#chart .black", "points") == ""
