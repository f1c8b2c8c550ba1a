"""Presets: their budgets, and whole runs of each kind. The golden runs hold their constants."""

from dataclasses import fields, replace

import numpy as np
import pytest

import agents
from agents.weights import load_weights
from checkers_env.board import Board
from tests.training.commands import assert_equal_but_for_speed
from training.trainer.loop import CHAMPION_FILE, RunConfig, begin, resume, train
from training.trainer.presets import ABLATIONS, PRESETS, TD_PRESETS

QUICK = {
    "parents": 3,
    "opponents": 2,
    "depth": 1,
    "max_moves": 20,
    "publish_every": 1,
    "social_every": 2,
    "games": 20,  # of a generation of temporal differences
    "search": 1,
    "simulations": 4,
    "pairs": 2,
    "league_every": 1,
}
KINDS = ("c5-tuple", "c10", "nguyen-mcts", "learns-league", "c1-n0.001", "samuel")


def shrunk(name):
    """Return the regime of a preset with as little work as possible."""
    regime = (PRESETS | TD_PRESETS | ABLATIONS)[name].regime
    known = {field.name for field in fields(regime)}
    changes = {  # what is off stays off
        option: value
        for option, value in QUICK.items()
        if option in known and getattr(regime, option)
    }
    return replace(regime, **changes)


def carried_out(name, folder, generations, threads, start=begin, engine="kernel"):
    plan = RunConfig(name, shrunk(name), generations, 5, str(folder), threads, engine, 0)
    return train(plan, start(plan), lambda *progress: None)


@pytest.mark.parametrize("name", KINDS)
def test_preset_runs_resumes_and_saves_a_player(name, tmp_path):
    whole = carried_out(name, tmp_path / "whole", 2, threads=1)
    carried_out(name, tmp_path / "parts", 1, threads=2)
    parts = carried_out(name, tmp_path / "parts", 2, threads=2, start=resume, engine="env")
    assert_equal_but_for_speed(parts, whole)
    assert whole.state.generation == 2
    assert whole.history["games/plies"][1:]

    champion = tmp_path / "whole" / CHAMPION_FILE
    assert champion.read_bytes() == (tmp_path / "parts" / CHAMPION_FILE).read_bytes()
    genome, metadata = load_weights(champion)
    np.testing.assert_array_equal(genome, shrunk(name).champion(whole.state).genome)
    assert (metadata.regime, metadata.generation) == (name, 2)
    assert agents.make(champion).act(Board()) in Board().legal_moves


@pytest.mark.parametrize("name", PRESETS | ABLATIONS | TD_PRESETS)
def test_preset_has_the_budget_of_its_paper(name):
    preset = (PRESETS | ABLATIONS | TD_PRESETS)[name]
    if name.startswith(("c", "blondie24", "learns", "walks", "subsquares", "hughes")):
        games = {"c5-leaf": 20_000}.get(name, 121_800 if "-rr" in name else 126_000)
        assert abs(preset.games - games) <= 100 * (name in ABLATIONS)
        assert preset.regime.max_moves == 100
    if name in PRESETS and hasattr(preset.regime, "weight"):
        assert (preset.regime.parents, preset.regime.opponents) == (15, 5)
