"""The regime whose small network learns the search values of self-play, in rounds."""

import dataclasses
import itertools

import numpy as np
import pytest

import agents
from agents.nnue.learner import learn
from agents.nnue.network import Nnue, nnue, pack_genome
from agents.search.selective import STRONG
from agents.weights import WeightsMetadata, save_weights
from tests.agents.nnue.test_network import random_genome
from training.evolution.game_runner import open_game_runner
from training.regimes import bootstrap
from training.regimes.bootstrap import WARM_UP, Bootstrap
from training.trainer.checkpoint import Checkpoint, load_checkpoint, save_checkpoint

SIZES = {"games": 2, "nodes": 60, "side_nodes": 40, "steps": 2, "batch": 8}
TINY = SIZES | {"play": 2, "study": 2, "endgame": 2}


@pytest.fixture(scope="module")
def regime(tmp_path_factory):
    """Return a regime whose first teacher is a random network."""
    path = tmp_path_factory.mktemp("start") / "start.safetensors"
    save_weights(path, pack_genome(random_genome()), WeightsMetadata("nnue", 1.0, "p", 0, 1, 3))
    return Bootstrap(str(path), **TINY)


@pytest.fixture(scope="module")
def steps(regime):
    """Return the states after 0 to 6 generations, two of them of a second round, and metrics."""
    found = [(regime.init(5), {})]
    with open_game_runner(1) as runner:
        for _ in range(6):
            found.append(regime.step(found[-1][0], runner))
    return found


def assert_equal(found, expected):
    (state, metrics), (other, numbers) = found, expected
    assert (state.generation, state.rng, metrics) == (other.generation, other.rng, numbers)
    assert state.arrays.keys() == other.arrays.keys()
    for name, array in other.arrays.items():
        assert state.arrays[name].dtype == array.dtype
        assert np.array_equal(state.arrays[name], array), name


def test_resumed_run_on_two_threads_equals_an_uninterrupted_one(regime, steps, tmp_path):
    with open_game_runner(2) as runner:
        for (before, _), after in itertools.pairwise(steps):
            save_checkpoint(tmp_path, Checkpoint(before, {}, {}))
            assert_equal(regime.step(load_checkpoint(tmp_path).state, runner), after)


def test_parts_and_the_seed_make_other_games(regime, steps):
    """Of two games in three parts, one part has none."""
    more = dataclasses.replace(regime, parts=3)
    with open_game_runner(1) as runner:
        states = [it.step(it.init(seed), runner)[0] for it, seed in ((regime, 6), (more, 5))]
    boards = [state.arrays["boards"].tolist() for state in (steps[1][0], *states)]
    assert all(one != two for one, two in itertools.combinations(boards, 2))


def test_positions_accumulate_up_to_the_window(regime, steps):
    for number in (0, 1, 4):
        (before, _), (after, metrics) = steps[number : number + 2]
        old, new = before.arrays, after.arrays
        count = len(old["targets"])
        assert metrics["samples/count"] == len(new["targets"]) == len(new["boards"]) > count
        assert np.array_equal(new["boards"][:count], old["boards"])
        assert np.array_equal(new["targets"][:count], old["targets"])
        assert np.array_equal(new["genome"], old["genome"])
        mean = np.abs(new["targets"][count:]).mean()
        assert metrics["samples/mean_size"] == pytest.approx(mean, rel=1e-5)
    whole = steps[1][0].arrays
    size = len(whole["targets"]) - 3
    few = dataclasses.replace(regime, window=size)
    with open_game_runner(1) as runner:
        state, metrics = few.step(few.init(5), runner)
        for name in ("boards", "targets"):
            assert np.array_equal(state.arrays[name], whole[name][3:])
        assert metrics["samples/count"] == size
        later, _ = few.step(state, runner)
    assert np.array_equal(later.arrays["boards"], steps[2][0].arrays["boards"][-size:])


def test_network_is_the_teacher_of_the_next_round(regime, steps, monkeypatch):
    start = nnue(random_genome())
    teachers = [state.arrays["teacher"] for state, _ in steps]
    assert [teacher.size > 0 for teacher in teachers] == [False] * 5 + [True] * 2
    assert np.array_equal(teachers[5], steps[4][0].arrays["genome"])
    played = []
    monkeypatch.setattr(bootstrap, "sample", lambda network, *_, **__: played.append(network))
    monkeypatch.setattr(bootstrap, "to_examples", lambda _: None)
    for teacher, expected in ((teachers[0], start), (teachers[5], nnue(teachers[5]))):
        regime._play(teacher, 5, 0, 0)
        assert type(played[-1]) is Nnue
        assert np.array_equal(played[-1].rows, expected.rows)


def test_rate_rises_then_falls_to_nothing_in_each_round(regime, steps, monkeypatch):
    learnt = []

    def spy(learner, examples, batches, rates, steps, run):
        assert np.array_equal(learner.genome, state.arrays["genome"])
        batches = np.array([*batches])
        assert 0 <= batches.min() < 50
        assert 0 < len(examples.targets) - batches.max() < 50
        learnt.append((batches, rates, steps))
        return learn(learner, examples, batches[:1], rates[:1], steps, run)

    monkeypatch.setattr(bootstrap, "learn", spy)
    long = dataclasses.replace(regime, steps=WARM_UP)
    later = dataclasses.replace(steps[2][0], generation=6)
    with open_game_runner(1) as runner:
        for state in (steps[2][0], steps[3][0], later):
            after, metrics = long.step(state, runner)
            assert np.array_equal(after.arrays["boards"], state.arrays["boards"])
            assert metrics["learning/error"] > 0
    assert [steps for _, _, steps in learnt] == [0, WARM_UP, 2 * WARM_UP]
    assert {batches.shape for batches, _, _ in learnt} == {(WARM_UP, 8)}
    (_, rising, _), (_, falling, _), (_, again, _) = learnt
    at = np.arange(2 * WARM_UP)
    expected = 0.01 * np.minimum(1, (at + 1) / WARM_UP) * (1 - at / len(at))
    np.testing.assert_allclose([*rising, *falling], expected, rtol=1e-6)
    assert np.array_equal(again, rising)


def test_champion_plays_from_its_file(regime, steps, tmp_path):
    state, _ = steps[4]
    champion, (player,) = regime.champion(state), regime.contenders(state)
    path = tmp_path / "champion.safetensors"
    save_weights(path, champion.genome, champion.metadata)
    loaded = agents.make(path).player
    assert (loaded.style, loaded.depth) == (STRONG, regime.depth)
    for each in (loaded, player):
        assert each.tablebase.indexing.pieces == 2
        assert np.array_equal(each.evaluator.rows, nnue(state.arrays["genome"]).rows)
    rms = np.sqrt(np.mean(state.arrays["genome"].astype(float) ** 2))
    assert regime.metrics(state)["weights/rms"] == pytest.approx(rms)


def test_games_of_the_eleven_man_ballot_begin_with_22_pieces(regime):
    most = {}
    with open_game_runner(1) as runner:
        for openings in ("three-move", "eleven-man"):
            ballot = dataclasses.replace(regime, openings=openings, random_plies=0)
            boards = ballot.step(ballot.init(5), runner)[0].arrays["boards"]
            most[openings] = max(int(own | other).bit_count() for own, other, _ in boards)
    assert most == {"three-move": 24, "eleven-man": 22}


@pytest.mark.parametrize("start", ["nobody", "blondie24", "random", "mcts"])
def test_start_with_a_player_that_is_no_selective_one_is_refused(regime, start):
    other = dataclasses.replace(regime, start=start)
    with open_game_runner(1) as runner, pytest.raises(ValueError, match=start):
        other.step(other.init(0), runner)


def test_constants_out_of_range_are_refused():
    with pytest.raises(ValueError, match="endgame must be 2 to 5, not 6"):
        Bootstrap(endgame=6)
    with pytest.raises(ValueError, match="batch must be a multiple of 4, not 6"):
        Bootstrap(batch=6)
