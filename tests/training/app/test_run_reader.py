"""Runs on the page against what the same runs measure and save."""

import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from agents.match_kernel import DRAW
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from tests.training.app.conftest import client_of, error_of
from training.app import generation_replay, run_reader
from training.app.app import create_app
from training.app.generation_replay import RESULTS
from training.regimes.coevolution import Coevolution
from training.regimes.genetic_algorithm import GeneticAlgorithm
from training.regimes.social_learning import SocialLearning
from training.regimes.td_learning import TDLearning
from training.trainer.checkpoint import (
    CHECKSUM,
    FILE_NAME,
    HEADER,
    load_checkpoint,
    save_checkpoint,
)
from training.trainer.loop import CHAMPION_FILE, CURVE_FILE, RunConfig, begin, resume, train

SMALL = {"parents": 3, "opponents": 2, "depth": 1, "max_moves": 30, "king": 2.0}
REGIMES = {
    "coevolution": Coevolution("blondie24-1999", king_rule="lognormal", **SMALL),
    "round robin": Coevolution("blondie24-1999", pairing="round-robin", **SMALL),
    "common": Coevolution("blondie24-1999", pairing="common", both_score=False, **SMALL),
    "social": SocialLearning("blondie24-1999", publish_every=1, social_every=2, **SMALL),
    "genetic": GeneticAlgorithm(opponents=1, depth=1, max_moves=30),
}
LEARNER = TDLearning("singles", games=20)


def plan_for(folder, regime, generations=2, **changes):
    options = {"seed": 5, "checkpoint_every": 1} | changes
    return RunConfig("test", regime, generations, folder=folder, **options)


def nothing(state, measured):
    pass


def run_to(folder, regime, generations, **changes):
    """Run so many generations, or continue a run up to there."""
    plan = plan_for(folder, regime, generations, **changes)
    start = resume(plan) if (folder / FILE_NAME).exists() else begin(plan)
    return train(plan, start, nothing)


def replayed(folder):
    """Return the replayed last generation of a run."""
    return generation_replay.replay_generation(load_checkpoint(folder))


@pytest.mark.parametrize(
    ("name", "reached"), [("social", 1), ("coevolution", 0), *((name, 2) for name in REGIMES)]
)
def test_replayed_games_are_those_of_the_next_generation(tmp_path, name, reached):
    regime = REGIMES[name]
    if reached:
        run_to(tmp_path, regime, reached)
    else:
        begin(plan_for(tmp_path, regime))
    before = load_checkpoint(tmp_path)
    played = generation_replay.replay_generation(before)
    after = run_to(tmp_path, regime, reached + 1)

    assert played.number == reached + 1
    results = [game.game.result for game in played.games]
    points = [standing.points for standing in played.standings]
    assert len(results) == regime.games
    measured = {
        "score/best": max(points),
        "score/mean": np.mean(points),
        "games/draws": np.mean([result.winner == DRAW for result in results]),
        "games/plies": np.mean([result.plies for result in results]),
    }
    for metric, number in measured.items():
        assert after.history[metric][-1] == pytest.approx(number), metric
    assert points == sorted(points, reverse=True)
    if name == "coevolution":
        for it in played.standings:
            won, drawn, lost = it.wins * regime.win, it.draws * regime.draw, it.losses * regime.loss
            assert it.points == won + drawn + lost
    learnt = name == "social" and (reached + 1) % 2 == 0
    if learnt:
        assert played.survivors == 0
    else:
        assert played.survivors == regime.parents
        assert after.state.scores[: regime.parents].tolist() == points[: regime.parents]


def test_names_and_kings_are_those_of_the_members(tmp_path):
    regime = REGIMES["coevolution"]
    run_to(tmp_path, regime, 2)
    before = load_checkpoint(tmp_path)
    played = generation_replay.replay_generation(before)
    names = [f"parent {n}" for n in (1, 2, 3)] + [f"offspring {n}" for n in (1, 2, 3)]
    kings = {standing.name: standing.king for standing in played.standings}
    assert sorted(kings) == sorted(names)
    assert [kings[name] for name in names[:3]] == pytest.approx(before.state.population.kings)
    after = run_to(tmp_path, regime, 3).state
    for place, standing in enumerate(played.standings[:3]):
        if [other.points for other in played.standings].count(standing.points) == 1:
            assert standing.king == pytest.approx(after.population.kings[place])


def test_td_runs_replay_the_games_of_the_curve(tmp_path):
    history = run_to(tmp_path, LEARNER, 2).history
    played = replayed(tmp_path)
    assert (played.number, played.standings, played.survivors) == (2, [], 0)
    for opponent in ("heuristic", "material"):
        payoffs = []
        for black, white, game in played.games:
            if opponent in (black, white):
                assert {black, white} == {opponent, "learner"}
                side = BLACK if black == "learner" else WHITE
                payoffs.append({DRAW: 0, side: 1}.get(game.result.winner, -2))
        assert len(payoffs) == 2
        assert np.mean(payoffs) == history[f"curve/{opponent}"][-1]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("original")
    run_to(folder, REGIMES["coevolution"], 2)
    return folder


@pytest.fixture
def finished(original, tmp_path):
    """Return a run of two generations, which a test may change."""
    return shutil.copytree(original, tmp_path / "runs" / "some run")


def test_history_equals_the_metrics_of_the_run(finished):
    history, expected = run_reader.read_history(finished), load_checkpoint(finished).history
    assert history["generation"] == [0, 1, 2]
    assert set(history) == {"generation", *expected}
    for name, row in expected.items():
        numbers = [None if np.isnan(number) else pytest.approx(number, rel=1e-5) for number in row]
        assert history[name] == numbers
    assert history["score/best"][0] is None


def test_overview_shows_the_progress_of_a_run(finished):
    seen = run_reader.read_run(finished)
    assert json.loads(json.dumps(seen, allow_nan=False)) == seen
    history = run_reader.read_history(finished)
    assert seen["history"] == {
        name: row for name, row in history.items() if name not in run_reader.UNUSED_COLUMNS
    }
    assert len(history) == len(seen["history"]) + len(run_reader.UNUSED_COLUMNS)
    expected = {
        "generation": 2,
        "regime": "test",
        "seed": 5,
        "preset_generations": None,
        "games_per_generation": 12,
    }
    assert {name: seen[name] for name in expected} == expected
    assert (seen["running"], seen["champion"]) == (False, str(finished / CHAMPION_FILE))
    assert seen["save_time"] == (finished / FILE_NAME).stat().st_mtime_ns / 1e9


def test_run_with_only_its_first_checkpoint_is_read(tmp_path):
    plan = plan_for(tmp_path / "new", REGIMES["coevolution"], checkpoint_every=10)
    begin(replace(plan, name="c10"))
    seen = run_reader.read_run(plan.folder)
    assert (seen["generation"], seen["history"], seen["champion"]) == (0, {}, None)
    assert (seen["running"], seen["preset_generations"]) == (True, 840)


def test_run_is_active_from_its_first_checkpoint_to_its_plot(tmp_path):
    regime, seen = REGIMES["coevolution"], []

    def look(state, measured):
        seen.append((run_reader.is_running(tmp_path), run_reader.run_version(tmp_path)))

    for generations in (2, 4):
        plan = plan_for(tmp_path, regime, generations)
        start = resume(plan) if generations == 4 else begin(plan)
        train(plan, start, look)
        assert not run_reader.is_running(tmp_path)
        seen.append((False, run_reader.run_version(tmp_path)))
    assert [running for running, _ in seen] == [True, True, False] * 2
    assert len({version for _, version in seen}) == 6


def test_runs_are_folders_with_a_checkpoint_sorted_by_name(finished):
    runs = finished.parent
    begin(plan_for(runs / "another", REGIMES["coevolution"]))
    (runs / "no run").mkdir()
    (runs / "file").write_text("")
    (runs / "of ppo.py").mkdir()
    save_file({}, runs / "of ppo.py" / FILE_NAME, {"checkers-laboratory ppo": "{}"})
    (runs / "torn").mkdir()
    (runs / "torn" / FILE_NAME).write_bytes(b"")
    listed = {"another": runs / "another", "some run": finished, "torn": runs / "torn"}
    assert run_reader.find_runs(runs) == listed
    assert run_reader.find_runs(finished) == {"some run": finished}
    assert run_reader.find_runs(runs / "not there yet") == {}


def test_run_of_an_unknown_regime_has_a_curve_but_no_games(finished):
    checkpoint = load_checkpoint(finished)
    strange = replace(checkpoint, config_key=checkpoint.config_key | {"temperature": 3.0})
    save_checkpoint(finished, strange)
    seen = run_reader.read_run(finished)
    assert (seen["generation"], seen["games_per_generation"]) == (2, None)
    with pytest.raises(ValueError, match="'test' is not a regime of this version"):
        generation_replay.replay_checkpoint(finished, run_reader.save_time_ns(finished))


def test_latest_replay_is_read_while_the_run_saves(finished, monkeypatch):
    def load(run):
        loaded.append(run)
        if len(loaded) < 3:
            os.utime(run / FILE_NAME, ns=(0, len(loaded)))
        return load_checkpoint(run)

    loaded = []
    monkeypatch.setattr(generation_replay, "load_checkpoint", load)
    at, latest = generation_replay.replay_latest(finished)
    assert (at, latest.number, len(loaded)) == (2, 3, 3)


@pytest.fixture
def client(finished):
    return client_of(create_app(finished.parent / "games", runs=[finished.parent]))


def test_folder_with_a_name_that_is_no_utf8_is_listed_and_read(client, finished):
    shutil.copytree(finished, finished.parent / os.fsdecode(b"b\xffd"))
    names = [run["name"] for run in client.get("/api/runs").json()["runs"]]
    assert sorted(names) == [r"b\udcffd", "some run"]
    for path in (r"/api/runs/b\udcffd", r"/api/runs/b\udcffd/generation"):
        assert client.get(path).status_code == 200


def test_run_is_sent_once_and_again_after_progress(client, finished):
    seen = client.get("/api/runs/some%20run").json()
    assert seen == run_reader.read_run(finished)
    query = {"version": seen["version"]}
    unchanged = client.get("/api/runs/some run", params=query)
    assert (unchanged.status_code, unchanged.content) == (204, b"")
    run_to(finished, REGIMES["coevolution"], 3)
    assert client.get("/api/runs/some run", params=query).json()["generation"] == 3


def test_generation_and_each_of_its_games_are_sent(client, finished):
    told = client.get("/api/runs/some run/generation").json()
    played = replayed(finished)
    assert (told["number"], told["survivors"]) == (3, 3)
    assert told["outcome"] == "The best 3 are the next parents; equals are drawn by lot."
    assert told["version"] == str(run_reader.save_time_ns(finished))
    assert told["standings"] == [standing._asdict() for standing in played.standings]
    assert len(told["games"]) == len(played.games)
    for number, (headline, game) in enumerate(zip(told["games"], played.games, strict=True)):
        found = client.get(f"/api/runs/some run/generation/{told['version']}/games/{number}").json()
        assert headline.items() <= found.items()
        assert (found["black"], found["white"]) == (game.black, game.white)
        assert (found["number"], found["generation"]) == (number, 3)
        board = Board(max_moves=None)
        for move in found["moves"]:
            board.push(move)
        assert board == game.game.board
        assert found["plies"] == board.ply == game.game.result.plies
        assert found["tags"] == {"Event": "some run, generation 3", "Round": str(number + 1)}
        assert found["result"] == RESULTS[game.game.result.winner]
        assert found["winner"] == {"1-0": BLACK, "0-1": WHITE}.get(found["result"])
        outcome = board.outcome()
        assert outcome is None or outcome.reason == found["reason"]


def test_game_is_available_after_the_run_has_continued(client, finished):
    at = client.get("/api/runs/some run/generation").json()["version"]
    before = client.get(f"/api/runs/some run/generation/{at}/games/0").json()
    run_to(finished, REGIMES["coevolution"], 3)
    assert client.get("/api/runs/some run/generation").json()["number"] == 4
    assert client.get(f"/api/runs/some run/generation/{at}/games/0").json() == before


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("none", "There is no run 'none'."),
        ("..", ""),
        ("..%2f..%2fsecret", ""),
        ("%2fetc%2fpasswd", ""),
        ("some run%00", "There is no run"),
        ("file/generation", "There is no run 'file'."),
        ("some run/generation/1/games/0", "has gone on since then."),
        ("some run/generation/-1/games/0", "'-1' is not a number."),
        ("some run/generation/99999999999999999999/games/0", "is not a number."),
        ("some run/generation/AT/games/99", "There are 12 games, counted from 0."),
        ("some run/generation/AT/games/zero", "'zero' is not a number."),
        ("some run/generation/AT/games/²", "is not a number."),
    ],
)
def test_missing_items_are_refused_with_a_reason(client, finished, path, reason):
    (finished.parent.parent / "secret").mkdir()
    save_checkpoint(finished.parent.parent / "secret", load_checkpoint(finished))
    (finished.parent / "file").write_text("")
    path = path.replace("AT", str(run_reader.save_time_ns(finished)))
    answer = client.get(f"/api/runs/{path}")
    assert answer.status_code == 404
    if reason:
        assert reason in answer.json()["error"]


def test_curve_behind_a_link_is_not_read(client, finished, tmp_path):
    (tmp_path / "secret").write_text("a\npassword\n")
    (finished / CURVE_FILE).unlink()
    (finished / CURVE_FILE).symlink_to(tmp_path / "secret")
    answer = client.get("/api/runs/some run")
    assert "A link that leads out of its folder" in error_of(answer)
    assert client.get("/api/runs").json()["runs"][0]["generation"] == 0
    (finished / CURVE_FILE).unlink()
    (finished / CURVE_FILE).write_text("a\npassword\n")
    answer = client.get("/api/runs/some run")
    assert "line 2 does not hold numbers only" in answer.json()["error"]
    assert "password" not in answer.text


def test_checkpoint_behind_a_link_is_not_a_run(client, finished, tmp_path):
    (finished / FILE_NAME).rename(tmp_path / "elsewhere")
    (finished / FILE_NAME).symlink_to(tmp_path / "elsewhere")
    assert client.get("/api/runs").json()["runs"] == []


def write_curve(content):
    return lambda run: (run / CURVE_FILE).write_text(content)


def change(changes, **arrays):
    return lambda run: rewrite_checkpoint(
        run, changes, {f"state/{name}": array for name, array in arrays.items()}
    )


NO_CURVE, NO_GAMES = "is not a valid curve", "the games of the run 'some run' cannot be played: "
DAMAGED = [  # of the run, and of its games
    ("", lambda run: (run / FILE_NAME).write_bytes(b"nothing"), "is not a valid checkpoint"),
    ("", write_curve(""), NO_CURVE),
    ("", write_curve("generation\n1,2\n"), NO_CURVE),
    ("", change({"config": {"name": [], "seed": 0}}), "no name or seed"),
    ("", change({"config": {"seed": 0}}), "no name or seed"),
    ("/generation", change({}, steps=np.zeros((1, 1742))), NO_GAMES),
    ("/generation", change({}, kings=np.array(1.0)), NO_GAMES),
    ("/generation", change({}, genomes=np.zeros((3, 3)), steps=np.zeros((3, 3))), NO_GAMES),
]


@pytest.mark.parametrize(("path", "damage", "words"), DAMAGED)
def test_damaged_run_is_refused_with_a_reason_and_listed(client, finished, path, damage, words):
    damage(finished)
    answer = client.get(f"/api/runs/some run{path}")
    assert words in error_of(answer)
    assert [run["name"] for run in client.get("/api/runs").json()["runs"]] == ["some run"]


def rewrite_checkpoint(folder, changes, arrays=()):
    with safe_open(str(folder / FILE_NAME), framework="numpy") as file:
        header = json.loads(file.metadata()[HEADER]) | changes
        old = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del header[CHECKSUM]
    metadata = {HEADER: json.dumps(header)}
    save_file(old | dict(arrays), folder / FILE_NAME, metadata=metadata)
