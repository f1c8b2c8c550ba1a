"""Games between the champions that a run has kept."""

import os
from dataclasses import replace

import pytest

from agents import make
from agents.match import play_game
from agents.search.interrupt import LateMoveError
from checkers_env.openings import TWO_MOVE
from tests.training.app.conftest import client_of, error_of
from tests.training.app.test_run_reader import REGIMES, nothing, plan_for
from training.app import champion_games
from training.app.app import create_app
from training.app.generation_replay import RESULTS
from training.app.run_reader import find_champions, read_run
from training.trainer.loop import CHAMPIONS_FOLDER, begin, train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run of four generations that keeps every second champion."""
    folder = tmp_path_factory.mktemp("kept") / "runs" / "some run"
    plan = replace(plan_for(folder, REGIMES["coevolution"], 4), champion_every=2)
    train(plan, begin(plan), nothing)
    return folder


@pytest.fixture
def client(run):
    return client_of(create_app(run.parent.parent / "games", runs=[run.parent]))


def test_kept_champions_are_listed_in_order(run):
    kept = find_champions(run)
    assert list(kept) == [0, 2, 4]
    assert read_run(run)["champions"] == [[number, str(path)] for number, path in kept.items()]


def test_other_files_are_no_champions(run, tmp_path):
    folder = tmp_path / "run" / CHAMPIONS_FOLDER
    folder.mkdir(parents=True)
    (tmp_path / "secret-generation-1.safetensors").write_text("")
    os.symlink(tmp_path / "secret-generation-1.safetensors", folder / "generation-1.safetensors")
    (folder / "generation-2.safetensors").mkdir()
    (folder / "generation-x.safetensors").write_text("")
    (folder / ".generation-3.safetensors.abc.tmp").write_text("")
    assert find_champions(tmp_path / "run") == {}
    os.symlink(run / CHAMPIONS_FOLDER, tmp_path / CHAMPIONS_FOLDER)
    assert find_champions(tmp_path) == {}


@pytest.mark.parametrize("card", [0, len(TWO_MOVE)])
def test_game_is_that_of_the_two_weight_files(client, run, card):
    answer = client.get(f"/api/runs/some run/champions/4/0/{card}")
    assert answer.status_code == 200
    game, kept = answer.json(), find_champions(run)
    players = [make(kept[generation]).player for generation in (4, 0)]
    expected = play_game(*players, opening=TWO_MOVE[card - 1] if card else None)
    assert (game["black"], game["white"]) == ("generation 4", "generation 0")
    assert (game["result"], game["card"]) == (RESULTS[expected.result.winner], card)
    assert game["moves"] == list(map(str, expected.board.moves))
    assert game["tags"] == {"Event": "Champions of some run", "Round": str(card)}
    assert client.get(f"/api/runs/some run/champions/4/0/{card}").json() == game


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("1/0/0", "The run 'some run' has kept no champion of generation 1."),
        ("0/999999999999999/0", "has kept no champion of generation 999999999999999."),
        ("0/2/44", "The ballot has 43 cards."),
        ("0/2/-1", "'-1' is not a number."),
        ("x/2/0", "'x' is not a number."),
    ],
)
def test_missing_champions_are_refused_with_a_reason(client, path, reason):
    answer = client.get(f"/api/runs/some run/champions/{path}")
    assert reason in error_of(answer, 404)


def test_damaged_weight_file_is_refused_with_a_reason(client, run):
    path = find_champions(run)[2]
    content = path.read_bytes()
    path.write_bytes(b"damaged")
    try:
        answer = client.get("/api/runs/some run/champions/2/0/0")
        assert path.name in error_of(answer)
    finally:
        path.write_bytes(content)


def test_late_move_ends_the_game_with_a_reason(client, monkeypatch):
    def play(*players, **options):
        raise LateMoveError(6)

    monkeypatch.setattr(champion_games, "play_game", play)
    answer = client.get("/api/runs/some run/champions/0/4/9")
    assert "a champion took over 10 seconds for move 7" in error_of(answer)
