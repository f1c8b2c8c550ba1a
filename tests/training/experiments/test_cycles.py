"""Cycles: the decomposition against least squares, and round robins on disk."""

import shutil

import numpy as np
import pytest
from rich.console import Console

import agents
from agents.match import play_through_environment
from agents.registry import ZOO
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.evolution.game_runner import open_game_runner
from training.experiments import cycles
from training.experiments.cycles import (
    analyse,
    cyclic_share,
    decompose,
    play_round_robin,
    read_round_robins,
    simulate,
)

CONSOLE = Console(quiet=True)
PLAYERS = {0: "nguyen", 20: "c10", 40: "blondie24"}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return the folder of a run that has kept three champions."""
    monkeypatch.setattr(cycles, "DEPTH", 2)
    monkeypatch.setattr(cycles, "CARDS", 2)
    folder = tmp_path / cycles.RUNS[0]
    (folder / "champions").mkdir(parents=True)
    for generation, name in PLAYERS.items():
        place = folder / "champions" / f"x-generation-{generation}.safetensors"
        shutil.copy(ZOO / f"{name}.safetensors", place)
    return folder


def test_decomposition_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    flow = rng.normal(size=(6, 6))
    flow -= flow.T
    first, second = np.triu_indices(6, 1)
    design = np.zeros((15, 6))
    design[range(15), first], design[range(15), second] = 1, -1
    expected, *_ = np.linalg.lstsq(design, flow[first, second], rcond=None)
    ratings, cyclic = decompose(flow)
    assert ratings == pytest.approx(expected)
    assert cyclic[first, second] == pytest.approx(flow[first, second] - design @ expected)
    share = np.sum(cyclic**2) / np.sum(flow**2)
    assert cyclic_share(flow, flow) == pytest.approx(share)


def test_simulated_games_have_the_scores_of_the_ratings():
    ratings = np.array([1.0, 0.2, -1.2])
    points = simulate(ratings, np.full((3, 3), 0.3), 20_000, np.random.default_rng(0))
    expected = 1 / (1 + np.exp(ratings - ratings[:, None]))
    apart = ~np.eye(3, dtype=bool)
    assert points.mean(axis=2)[apart] == pytest.approx(expected[apart], abs=0.015)
    assert np.mean(points == 0.5, axis=2)[apart] == pytest.approx(0.3, abs=0.15)
    assert np.array_equal(points[0, 1], 1 - points[1, 0])


def test_chance_alone_is_no_cycle_between_halves():
    rng = np.random.default_rng(0)
    ratings = np.linspace(-1, 1, 20)
    share, simulated, repeated = analyse(simulate(ratings, np.full((20, 20), 0.5), 40, rng))
    assert share > 0.02  # which chance makes
    assert simulated.low - 0.01 < share < simulated.high + 0.01
    assert repeated.low < 0.01
    assert abs(repeated.mean) < 0.02
    angles = np.arange(20) * 2 * np.pi / 20
    scores = 1 / (1 + np.exp(np.sin(angles - angles[:, None])))
    points = np.repeat(scores[..., None], 40, axis=2)
    assert analyse(points)[2].low > 0.9


def test_round_robin_goes_on_where_it_stopped(run, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    with open_game_runner(1) as runner:
        play_round_robin(whole, run, runner, CONSOLE)
        play, asked = cycles.play_cards, []

        def stop_at_third(*players):
            if len(asked) == 2:
                raise KeyboardInterrupt
            asked.append(players)
            return play(*players)

        monkeypatch.setattr(cycles, "play_cards", stop_at_third)
        with pytest.raises(KeyboardInterrupt):
            play_round_robin(parts, run, runner, CONSOLE)
        assert not read_round_robins(parts)
        asked[:] = [None]
        play_round_robin(parts, run, runner, CONSOLE)
    assert (parts / cycles.CYCLES).read_bytes() == (whole / cycles.CYCLES).read_bytes()
    generations, points = read_round_robins(whole)[run.name]
    assert generations == [*PLAYERS]
    assert cycles.pages(whole)["cycles.txt"].count(b"\n") == 5
    players = [agents.make(str(ZOO / f"{name}.safetensors"), depth=2) for name in PLAYERS.values()]
    for card, opening in enumerate((TWO_MOVE[0], TWO_MOVE[21])):
        for side in (0, 1):
            pair = (players[0], players[2])[:: 1 - 2 * side]
            game = play_through_environment(*pair, opening=opening, rules=DrawRules())
            won = {side: 1.0, 1 - side: 0.0}.get(game.result.winner, 0.5)
            assert points[0, 2, 2 * card + side] == won
            assert points[2, 0, 2 * card + side] == 1 - won


def test_run_without_champions_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has 0 champions, and a cycle takes 3"):
        play_round_robin(tmp_path, tmp_path / "run", None, CONSOLE)
