"""The evolution page in a browser: finished runs, and one that continues."""

import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from checkers_env.board import Board
from tests import ROOT
from tests.training.app.conftest import serve_in_thread
from training.app.champion_games import play_champions
from training.app.generation_replay import replay_generation
from training.app.run_reader import find_champions
from training.regimes.coevolution import Coevolution
from training.trainer import cli
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
    plan = RunConfig(NAME, REGIME, 3, 7, folder / "runs" / NAME, champion_every=1)
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
    assert titles == ["Performance", "K, the worth of a king", "Step size", "Saturation"]
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
    moves = played.games[number].game.board.moves
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


def test_nothing_is_wider_than_a_phone(page, address):
    page.set_viewport_size({"width": 360, "height": 740})
    open_run(page, address)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (background == "rgb(250, 249, 246)") == (scheme == "light")


def test_page_without_runs_explains_how_to_start_one_and_shows_it(page, tmp_path):
    with serve_runs(tmp_path) as address:
        page.goto(f"{address}/evolution")
        expect(page.locator("#no-runs code").last).to_have_text(
            shlex.join(cli.shell_words(cli.EVOLVE))
        )
        begin(RunConfig("first", REGIME, 3, 1, tmp_path / "runs" / "first"))
        expect(page.locator("#state")).to_have_text("Generation 0", timeout=15_000)
        expect(page.locator(".curve")).to_have_count(1)
        expect(page.locator("#standings tr")).to_have_count(6, timeout=15_000)
        expect(page.locator("#play")).to_be_hidden()
        expect(page.locator("#champions-none")).to_contain_text("--champion-every 10")
        expect(page.locator("#pairing")).to_be_hidden()


def test_champions_play_each_other_and_the_user(page, address, folder):
    open_run(page, address)
    kept = find_champions(folder / "runs" / NAME)
    panel = page.locator("#champions")
    expect(panel.locator("[name=black] option")).to_have_text(["0", "1", "2", "3"])
    assert panel.locator("[name=black]").input_value() == "3"
    panel.locator("[name=white]").select_option("1")
    panel.locator("[name=card]").select_option("2")
    panel.get_by_role("button", name="Watch them play").click()
    expect(page.locator("#ending")).to_contain_text("Black: generation 3, White: generation 1.")
    expected = play_champions(folder / "runs" / NAME, 3, 1, 2).game
    moves = [str(move) for move in expected.board.moves]
    expect(page.locator("#score button")).to_have_text(moves)
    assert page.locator("#games [aria-current]").count() == 0
    panel.get_by_role("button", name="Match of 86 games").click()
    score = panel.locator("#match-score")
    expect(score).to_contain_text("of 86 games.")
    assert sum(map(int, re.findall(r"(\d+) (?:won|drawn|lost)", score.text_content()))) == 86
    panel.get_by_role("link", name="generation 1").click()
    assert page.locator("[data-field=agent]").input_value() == str(kept[1])


def test_run_is_started_followed_and_stopped(page, tmp_path):
    with serve_runs(tmp_path) as address:
        page.goto(f"{address}/evolution")
        page.get_by_role("combobox", name="Regime").select_option("c1-n0.001")
        page.get_by_label("Generations", exact=True).fill("51")
        page.get_by_role("button", name="Start the run").click()
        expect(page.locator("#launched")).to_be_hidden()  # the browser refuses the number
        page.get_by_label("Generations", exact=True).fill("50")
        page.get_by_label("Seed").fill("5")
        expect(page.locator("#launch-about")).to_contain_text("About 4 seconds of one core")
        page.get_by_role("button", name="Start the run").click()
        status = page.locator("#launch-status")
        expect(status).to_contain_text("c1-n0.001-seed-5: generation")
        expect(page.get_by_role("button", name="Start the run")).to_be_disabled()
        expect(page.locator("#state")).to_contain_text("Generation")
        expect(page.locator("#run")).to_have_value("c1-n0.001-seed-5")
        expect(page.locator("#facts")).to_contain_text("Generations asked for50")
        bar = page.locator("#launch-bar")
        expect(bar).not_to_have_attribute("value", "0")
        assert bar.get_attribute("max") == "50"
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(status).to_contain_text(re.compile("was stopped after generation|has ended"))
        expect(page.get_by_role("button", name="Start the run")).to_be_enabled()
        if "stopped" in status.text_content():
            command = page.locator("#launch-command")
            called = shlex.join(cli.shell_words(cli.TD))
            expect(command).to_contain_text(f"{called} c1-n0.001 --generations 50")
            expect(command).to_contain_text("--resume")
        expect(page.locator("#facts")).to_contain_text("ended, or interrupted")


def test_running_run_is_updated_until_it_ends(page, tmp_path):
    out = tmp_path / "runs" / "live"
    options = {"generations": 100_000, "checkpoint-every": 1, "threads": 1, "out": out}
    options |= {"regime.parents": 2, "regime.opponents": 1, "regime.depth": 1}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, str(EVOLVE), "blondie24-1999", *words]
    with (
        serve_runs(tmp_path) as address,
        subprocess.Popen(
            command, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONFAULTHANDLER": "1"}
        ) as run,
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
            if run.poll() is None:
                run.send_signal(signal.SIGABRT)  # a run that hangs shows where
                run.wait(10)
