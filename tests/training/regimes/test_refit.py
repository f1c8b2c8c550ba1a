"""The regime that fits tapered tables to the search values of self-play."""

import dataclasses
import itertools

import numpy as np
import pytest

import agents
from agents.treestrap.codec import STEP, pack
from agents.treestrap.network import SIZE, STAGES, TreeStrapNetwork
from agents.treestrap.tapered import TaperedNetwork
from agents.weights import WeightsMetadata, save_weights
from training.evolution.game_runner import open_game_runner
from training.regimes import self_play
from training.regimes.refit import Refit, start_tables
from training.trainer.checkpoint import Checkpoint, load_checkpoint, save_checkpoint


def saved(path, architecture, genome, options):
    save_weights(path, genome, WeightsMetadata(architecture, 1.0, "p", 0, 1, 3, options=options))
    return str(path)


@pytest.fixture(scope="module")
def regime(tmp_path_factory):
    """Return a regime that begins with tables of a few weights."""
    table = np.zeros((STAGES, SIZE), np.float32)
    entries = np.random.default_rng(0).integers(0, table.size, 5000)
    table.ravel()[entries] = 9 * STEP
    options = {"step": STEP, "entries": STAGES * SIZE, "endgame": 2}
    path = tmp_path_factory.mktemp("start") / "start.safetensors"
    start = saved(path, "treestrap", pack(table), options)
    return Refit(start, nodes=60, side_nodes=40, games=2, passes=2, first_fit=2, endgame=2, cards=1)


@pytest.fixture(scope="module")
def states(regime):
    """Return the states after 0 to 3 generations, and their metrics."""
    found = [(regime.init(5), {})]
    with open_game_runner(1) as runner:
        for _ in range(3):
            found.append(regime.step(found[-1][0], runner))
    return found


def test_fits_come_after_doubled_numbers_of_generations():
    assert [at for at in range(1, 100) if Refit().fits_at(at)] == [6, 12, 24, 48, 96]
    assert [at for at in range(1, 20) if Refit(first_fit=1).fits_at(at)] == [1, 2, 4, 8, 16]


def test_samples_accumulate_and_tables_change_with_a_fit_only(states):
    for (before, _), (after, metrics) in itertools.pairwise(states):
        old, new = before.arrays, after.arrays
        count = len(old["targets"])
        assert metrics["samples/count"] == len(new["targets"]) == len(new["positions"]) > count
        assert np.array_equal(new["positions"][:count], old["positions"])
        assert np.array_equal(new["targets"][:count], old["targets"])
        mean = np.abs(new["targets"][count:]).mean()
        assert metrics["samples/mean_size"] == pytest.approx(mean)
        fits = after.generation == 2
        assert np.array_equal(new["packed"], old["packed"]) != fits


def test_champion_before_the_first_fit_is_the_first_player(regime, states):
    for state, _ in states[:2]:
        champion, (player,) = regime.champion(state), regime.contenders(state)
        first = agents.make(regime.start).player
        assert champion.metadata.architecture == "treestrap"
        assert np.array_equal(champion.genome, pack(start_tables(regime.start)))
        assert np.array_equal(player.evaluator.table, first.evaluator.table)
        assert champion.metadata.options == {"step": STEP, "entries": STAGES * SIZE, "endgame": 2}


def test_champion_after_a_fit_is_loaded_from_its_file(regime, states, tmp_path):
    state, _ = states[3]
    champion, (player,) = regime.champion(state), regime.contenders(state)
    options = dict(champion.metadata.options)
    path = saved(
        tmp_path / "c.safetensors", champion.metadata.architecture, champion.genome, options
    )
    agent = agents.make(path)
    assert type(agent.player.evaluator) is TaperedNetwork
    for found, expected in zip(agent.player.evaluator, player.evaluator, strict=True):
        assert np.array_equal(found, expected)
    for each in (agent.player, player):
        assert each.tablebase.indexing.pieces == 2
    wrong = saved(tmp_path / "w.safetensors", "treestrap", champion.genome, options)
    with pytest.raises(ValueError, match="it is for other windows"):
        agents.make(wrong)


def test_resumed_run_equals_an_uninterrupted_one(regime, states, tmp_path):
    """The third generation is played by the tables of the fit after the second."""
    for (before, _), (after, metrics) in itertools.pairwise(states):
        save_checkpoint(tmp_path, Checkpoint(before, {}, {}))
        resumed, numbers = regime.step(load_checkpoint(tmp_path).state, None)
        assert (resumed.generation, resumed.rng) == (after.generation, after.rng)
        assert numbers == metrics
        for name, array in after.arrays.items():
            assert resumed.arrays[name].dtype == array.dtype
            assert np.array_equal(resumed.arrays[name], array)


def test_player_is_measured_after_each_fit(regime, states, monkeypatch):
    players = []
    monkeypatch.setattr(
        self_play, "material_scores", lambda player, *_: players.append(player) or {}
    )
    for state, _ in states:
        regime.evaluate(state, 1, None)
    assert [type(player.evaluator) for player in players] == [TaperedNetwork]
    assert [player.depth for player in players] == [regime.depth]
    assert regime.metrics(states[0][0]) == {}


def test_games_of_the_eleven_man_ballot_begin_with_22_pieces(regime):
    most = {}
    for openings in ("three-move", "eleven-man"):
        ballot = dataclasses.replace(regime, openings=openings, random_plies=0, games=5)
        positions = ballot.step(ballot.init(5), None)[0].arrays["positions"]
        most[openings] = max(int(black | white).bit_count() for black, white, *_ in positions)
    assert most == {"three-move": 24, "eleven-man": 22}


@pytest.mark.parametrize("start", ["nobody", "blondie24", "random"])
def test_start_with_another_player_is_refused(start):
    with pytest.raises(ValueError, match=start):
        Refit(start).init(0)


def test_tables_of_the_first_player_are_in_units_of_the_logit(regime):
    network = agents.make(regime.start).player.evaluator
    assert type(network) is TreeStrapNetwork
    tables = start_tables(regime.start)
    assert tables.dtype == np.float32
    assert set(np.unique(tables)) == {0.0, np.float32(9 * STEP)}
    assert np.array_equal(tables != 0, network.table != 0)
