"""The evolution page in a browser: finished runs, and one that continues."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from checkers_env.board import Board
from tests import ROOT
from tests.training.app.conftest import serve_in_thread
from training.app.generation_replay import game_to_pdn, replay_generation
from training.regimes.coevolution import Coevolution
from training.trainer.checkpoint import load_checkpoint
from training.trainer.loop import RunConfig, begin, train

pytestmark = pytest.mark.browser
expect.set_options(timeout=120_000)  # ms: a busy machine

EVOLVE = ROOT / "training" / "evolve.py"
REGIME = Coevolution(
    "blondie24-1999", parents=3, opponents=2, depth=1, max_moves=40, king_rule="tenths"
)
NAME = "a run"
POINTS = ".curve:first-child polyline.series-0:not(.raw)"


def serve_runs(folder):
    """Serve the application over the runs in a folder."""
    return serve_in_thread(folder / "games", runs=[folder / "runs"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a finished run of three generations."""
    folder = tmp_path_factory.mktemp("watched")
    plan = RunConfig(NAME, REGIME, 3, 7, folder / "runs" / NAME)
    train(plan, begin(plan), lambda state, measured: None)
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with serve_runs(folder) as found:
        yield found


@pytest.fixture
def page(browser):
    """Yield a page that logs no error, and asks no other server."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, complaints, hosts = context.new_page(), [], set()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: hosts.add(request.url.split("/")[2].split(":")[0]))
    yield page
    assert complaints == []
    assert hosts == {"127.0.0.1"}
    context.close()


def open_run(page, address):
    page.goto(f"{address}/evolution?run=a%20run")
    expect(page.locator("#games button").first).to_be_visible(timeout=60_000)


def count_points(page):
    return len(page.locator(POINTS).get_attribute("points").split())


def shown_board(page):
    """Return the pieces that the board names: square to "black man" and so on."""
    labels = page.locator("#board [data-square]").evaluate_all(
        "cells => cells.map((cell) => cell.getAttribute('aria-label'))"
    )
    named = dict(label.split(", ")[:2] for label in labels)
    return {int(square): piece for square, piece in named.items() if piece != "empty"}


def pieces_of(board):
    names = {"b": "black man", "B": "black king", "w": "white man", "W": "white king"}
    symbols = [symbol for row in str(board).splitlines()[:8] for symbol in row.split()[:4]]
    return {square: names[symbol] for square, symbol in enumerate(symbols, 1) if symbol in names}


def test_finished_run_has_curves_standings_and_games(page, address, folder):
    open_run(page, address)
    expect(page.locator("#state")).to_have_text("Generation 3")
    expect(page.locator("#facts")).to_contain_text("ended")
    assert count_points(page) == 4
    titles = page.locator(".curve h2").all_text_contents()
    assert titles == ["Performance", "K, the worth of a king", "Step size"]
    played = replay_generation(load_checkpoint(folder / "runs" / NAME))
    rows = page.locator("#standings tr").all()
    assert len(rows) == 6
    for row, standing in zip(rows, played.standings, strict=True):
        assert row.locator("th[scope=row]").text_content() == standing.name
        found = [
            text.replace("\N{MINUS SIGN}", "-") for text in row.locator("td").all_text_contents()
        ]
        points, *counts = map(float, found[1:5])
        assert (points, *counts) == standing[1:5]
    games = page.locator("#games tr").all()
    assert len(games) == len(played.games) == 12
    for row, game in zip(games, played.games, strict=True):
        assert row.locator("td").all_text_contents()[1:3] == [game.black, game.white]


def test_game_is_replayed_by_buttons_and_keys(page, address, folder):
    open_run(page, address)
    number = 5
    played = replay_generation(load_checkpoint(folder / "runs" / NAME))
    moves = game_to_pdn(played.games[number], {}).moves
    page.get_by_role("button", name=f"Show game {number + 1}", exact=True).click()
    expect(page.locator("#ending")).to_contain_text(f"game {number + 1}.")
    expect(page.locator("#score button")).to_have_text([str(move) for move in moves])
    board = Board(max_moves=None)
    assert shown_board(page) == pieces_of(board)
    page.get_by_role("button", name="Forward").click()
    board.push(moves[0])
    assert shown_board(page) == pieces_of(board)
    page.keyboard.press("ArrowRight")
    board.push(moves[1])
    assert shown_board(page) == pieces_of(board)
    page.locator("#score button").last.click()
    for move in moves[2:]:
        board.push(move)
    assert shown_board(page) == pieces_of(board)
    assert f'[Black "{played.games[number].black}"]' in page.locator("#pdn").input_value()


def test_games_can_be_filtered_by_member(page, address):
    open_run(page, address)
    page.get_by_role("combobox", name="Member").select_option("offspring 2")
    rows = page.locator("#games tr")
    expect(rows.filter(has_text="offspring 2")).to_have_count(rows.count())
    assert 2 <= rows.count() < 12


def test_chart_is_read_with_the_keyboard(page, address, folder):
    open_run(page, address)
    kings = load_checkpoint(folder / "runs" / NAME).history["king/mean"]
    chart = page.get_by_role("slider", name="K, the worth of a king")
    chart.focus()
    for key, generation in (("Home", 0), ("ArrowRight", 1), ("End", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        assert chart.get_attribute("aria-valuenow") == str(generation)
        said = chart.get_attribute("aria-valuetext")
        assert said.startswith(f"Generation {generation}: ")
        assert float(said.split()[-1]) == pytest.approx(kings[generation], abs=0.006)
        expect(page.locator(".curve", has=chart).locator(".readout")).to_have_text(said)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(page, address, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 360, "height": 740})
    open_run(page, address)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(250, 249, 246)") == (scheme == "light")


def test_page_without_runs_explains_how_to_start_one_and_shows_it(page, tmp_path):
    with serve_runs(tmp_path) as address:
        page.goto(f"{address}/evolution")
        expect(page.get_by_text("python training/evolve.py")).to_be_visible()
        begin(RunConfig("first", REGIME, 3, 1, tmp_path / "runs" / "first"))
        expect(page.locator("#state")).to_have_text("Generation 0", timeout=15_000)
        expect(page.locator(".curve")).to_have_count(1)
        expect(page.locator("#standings tr")).to_have_count(6, timeout=15_000)
        expect(page.locator("#play")).to_be_hidden()


def test_missing_run_is_named_and_another_shown(page, address):
    page.goto(f"{address}/evolution?run=..%2Fsecret")
    expect(page.get_by_role("status")).to_contain_text("There is no run ../secret here")
    expect(page.locator("#state")).to_have_text("Generation 3")


def test_another_run_can_be_chosen(page, address, folder):
    plan = RunConfig(
        "another", replace(REGIME, network="weighted-pieces"), 1, 7, folder / "runs" / "another"
    )
    train(plan, begin(plan), lambda state, measured: None)
    open_run(page, address)
    choice = page.get_by_role("combobox", name="Run")
    expect(choice.locator("option")).to_have_count(2, timeout=15_000)
    choice.select_option("another")
    expect(page.locator("#state")).to_have_text("Generation 1")
    expect(page.locator("#generation")).to_have_text("Generation 2: the tournament")
    assert page.url.endswith("/evolution?run=another")
    page.reload()
    expect(page.locator("#state")).to_have_text("Generation 1")


def test_champion_can_be_played(page, address, folder):
    open_run(page, address)
    page.get_by_role("link", name="Play against its champion").click()
    chosen = page.locator("[data-field=agent]").input_value()
    assert Path(chosen) == folder / "runs" / NAME / "champion.safetensors"


def test_stopped_server_is_reported(browser, folder):
    page = browser.new_page()
    with serve_runs(folder) as address:
        open_run(page, address)
    expect(page.get_by_role("status")).to_contain_text("The server does not answer")
    assert count_points(page) > 1
    page.close()


def test_running_run_is_updated_until_it_ends(page, tmp_path):
    out = tmp_path / "runs" / "live"
    options = {"generations": 100_000, "checkpoint-every": 1, "threads": 1, "out": out}
    options |= {"regime.parents": 2, "regime.opponents": 1, "regime.depth": 1}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, str(EVOLVE), "blondie24-1999", *words]
    with (
        serve_runs(tmp_path) as address,
        subprocess.Popen(command, stdout=subprocess.DEVNULL) as run,
    ):
        try:
            page.goto(f"{address}/evolution")
            expect(page.locator("#facts")).to_contain_text("running", timeout=60_000)
            expect(page.locator(POINTS)).to_be_attached(timeout=60_000)
            before = count_points(page)
            page.wait_for_function(
                "([points, least]) => document.querySelector(points).getAttribute('points')"
                ".split(' ').length >= least",
                arg=[POINTS, before + 3],
                timeout=60_000,
            )
            first = page.locator("#generation").text_content()
            expect(page.locator("#generation")).not_to_have_text(first, timeout=60_000)
            assert "live/champion.safetensors" in page.locator("#play").get_attribute(
                "href"
            ).replace("%2F", "/")
            run.send_signal(signal.SIGINT)
            run.wait(60)
            reached = load_checkpoint(out).state.generation
            ended = f"The run has ended at generation {reached}."
            expect(page.get_by_role("status")).to_have_text(ended, timeout=15_000)
            expect(page.locator("#state")).to_have_text(f"Generation {reached}")
            assert count_points(page) == reached + 1
        finally:
            run.kill()
