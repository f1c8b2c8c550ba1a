"""Coevolution: a generation against the same generation in plain Python, and its constants."""

from dataclasses import asdict, replace
from unittest.mock import Mock

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.architectures import sample_options
from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001, decode
from agents.evaluator import evaluate_position
from agents.match import ENGINES, play_game
from agents.search.player import AlphaBeta
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from training.evolution.game_runner import open_game_runner
from training.regimes.coevolution import Coevolution
from training.regimes.social_learning import SocialLearning

SMALL = Coevolution(
    "blondie24-1999", parents=3, opponents=2, depth=1, max_moves=60, king=2.0, king_rule="lognormal"
)
WITH_SUBSQUARES = replace(SMALL, network="blondie24-2001", parents=2, king_rule="tenths")


def run_generations(regime, generations=1, seed=0, threads=1, engine="kernel"):
    """Return the state and the metrics after each generation."""
    state, steps = regime.init(seed), []
    with open_game_runner(threads, engine) as runner:
        for _ in range(generations):
            state, metrics = regime.step(state, runner)
            steps.append((state, metrics))
    return steps


def winner_on_a_board(black, white, max_moves):
    board, players = Board(max_moves=max_moves), (black, white)
    while not board.outcome():
        board.push(players[board.turn].act(board))
    return board.outcome().winner, board.ply


def draw_parents(regime, rng, count):
    genomes = rng.uniform(-0.2, 0.2, (regime.parents, count + 1))
    return genomes, np.full(genomes.shape, 0.05), np.full(regime.parents, 2.0)


def draw_offspring(parents, king_rule, rng, count):
    genomes, steps, kings = parents
    tau = 1 / np.sqrt(2 * np.sqrt(count))
    steps = steps * np.exp(tau * rng.standard_normal(steps.shape))
    genomes = genomes + steps * rng.standard_normal(steps.shape)
    if king_rule == "lognormal":
        kings = kings * np.exp(rng.standard_normal(len(kings)) / np.sqrt(2))
    elif king_rule == "tenths":
        kings = kings + rng.choice([-0.1, 0.0, 0.1], size=len(kings))
    return genomes, steps, np.minimum(np.maximum(kings, 1.0), 3.0)


def draw_opponents(regime, rng, members):
    """Yield the opponents of each member as Black."""
    if regime.pairing == "common":
        drawn = rng.choice(members, size=regime.opponents + 1, replace=False)
    elif regime.pairing == "random":
        draws = rng.integers(members - 1, size=(members, regime.opponents))
    for black in range(members):
        others = [member for member in range(members) if member != black]
        if regime.pairing == "round-robin":
            yield others
        elif regime.pairing == "common":
            yield [member for member in drawn if member != black][: regime.opponents]
        else:
            yield [others[draw] for draw in draws[black]]


@pytest.mark.parametrize(
    ("regime", "shape", "count"),
    [
        (SMALL, BLONDIE_1999, 1741),
        (replace(SMALL, both_score=False, king_rule="fixed"), BLONDIE_1999, 1741),
        (replace(SMALL, root_perspective=False, win=3.0, draw=1.0, loss=-0.5), BLONDIE_1999, 1741),
        (replace(SMALL, pairing="round-robin"), BLONDIE_1999, 1741),
        (replace(SMALL, pairing="common", opponents=3), BLONDIE_1999, 1741),
        (WITH_SUBSQUARES, BLONDIE_2001, 5046),
    ],
)
def test_generation_equals_plain_python(regime, shape, count):
    after, measured = run_generations(regime, seed=3)[-1]

    rng = np.random.default_rng(3)
    parents = draw_parents(regime, rng, count)
    offspring = draw_offspring(parents, regime.king_rule, rng, count)
    genomes, steps, kings = map(np.concatenate, zip(parents, offspring, strict=True))
    members = len(genomes)
    players = [
        PlayerAgent("", AlphaBeta(decode(shape, genome, king), 1, False, regime.root_perspective))
        for genome, king in zip(genomes, kings, strict=True)
    ]
    scores, draws, plies = [0.0] * members, 0, []
    for black, whites in enumerate(draw_opponents(regime, rng, members)):
        for white in whites:
            winner, length = winner_on_a_board(players[black], players[white], 60)
            plies.append(length)
            draws += winner is None
            for member, side in ((black, BLACK), (white, WHITE)):
                if side == BLACK or regime.both_score:
                    won = regime.win if winner == side else regime.loss
                    scores[member] += regime.draw if winner is None else won
    lots = rng.random(members)
    survivors = sorted(range(members), key=lambda member: (-scores[member], lots[member]))
    survivors = survivors[: regime.parents]

    assert after.generation == 1
    np.testing.assert_array_equal(after.population.genomes, genomes[survivors])
    np.testing.assert_array_equal(after.population.steps, steps[survivors])
    np.testing.assert_array_equal(after.population.kings, kings[survivors])
    assert list(after.scores) == [scores[member] for member in survivors]
    assert measured["games/draws"] == pytest.approx(draws / len(plies))
    assert measured["games/plies"] == pytest.approx(np.mean(plies))
    assert measured["score/best"] == max(scores)
    assert measured["score/mean"] == pytest.approx(np.mean(scores))
    assert len(plies) == regime.games
    assert 0 < draws < len(plies)


def test_next_generation_continues_from_the_state():
    one = run_generations(SMALL)[0][0]
    with open_game_runner(1) as runner:
        two = SMALL.step(one, runner)[0]
        again = SMALL.step(one, runner)[0]
    straight = run_generations(SMALL, 2)[1][0]
    for state in (again, straight):
        np.testing.assert_equal(vars(state.population), vars(two.population))
        np.testing.assert_array_equal(state.scores, two.scores)
        assert (state.rng, state.generation) == (two.rng, 2)
    assert two.rng != one.rng


@pytest.mark.parametrize("engine", ENGINES)
def test_engine_option_selects_the_engine(monkeypatch, engine):
    play = Mock(wraps=play_game)
    monkeypatch.setattr("training.evolution.game_runner.play_game", play)
    run_generations(SMALL, engine=engine)
    engines = [call.kwargs["engine"] for call in play.call_args_list]
    assert set(engines) == {engine}
    assert len(engines) == SMALL.games or engine == "kernel"  # which knows games that come twice


def test_seed_determines_the_first_parents():
    first, same, other = (SMALL.init(seed) for seed in (1, 1, 2))
    np.testing.assert_equal(vars(first.population), vars(same.population))
    assert not np.array_equal(first.population.genomes, other.population.genomes)


@pytest.mark.parametrize(
    "regime",
    [
        replace(SMALL, piece_difference=False),
        SocialLearning(
            **asdict(replace(SMALL, piece_difference=False, king_rule="fixed")),
            publish_every=1,
            social_every=2,
        ),
    ],
)
def test_without_the_piece_difference_its_weight_and_step_stay_0(regime):
    state = regime.init(0)
    with open_game_runner(1) as runner:
        for _ in range(8):
            state, _ = regime.step(state, runner)
            population = state.population
            for name, values in state.arrays.items():
                if name.rpartition("/")[2] in ("genomes", "steps"):
                    assert not np.any(values[:, -1])
                    assert np.all(values[:, :-1])
    assert np.any(np.abs(population.genomes) > 0.2)  # the other weights are mutated
    assert len(state.arrays.get("pool/genomes", [1]))


def test_piece_difference_changes_no_other_weight():
    bare, whole = (
        replace(SMALL, piece_difference=there).init(0).population for there in (False, True)
    )
    np.testing.assert_array_equal(bare.genomes[:, :-1], whole.genomes[:, :-1])
    assert np.all(whole.genomes[:, -1])
    assert np.all(whole.steps == 0.05)


def test_last_weight_is_that_of_the_piece_difference():
    regime = replace(SMALL, piece_difference=False)
    state = regime.init(3)
    population = replace(state.population, genomes=state.population.genomes.copy())
    population.genomes[:, -1] = 1.0
    heavy = regime.contenders(replace(state, arrays={**state.arrays, **population.to_arrays()}))
    board = Board("W:W32:B1,2,3,4,5")
    position = board.position
    for player, other in zip(regime.contenders(state), heavy, strict=True):
        light = np.arctanh(evaluate_position(player.evaluator, position, BLACK))
        difference = np.arctanh(evaluate_position(other.evaluator, position, BLACK)) - light
        assert difference == pytest.approx(4.0, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("parents", 0),
        ("opponents", 0),
        ("depth", 0),
        ("depth", 65),
        ("max_moves", 0),
        ("max_moves", 10**12),
        ("weight", -0.1),
        ("weight", float("nan")),
        ("weight", float("inf")),
        ("step_size", -1.0),
        ("step_size", float("inf")),
        ("king", float("nan")),
        ("king", float("inf")),
        ("king", 0.9),
        ("king", 3.1),
        ("win", float("nan")),
        ("draw", float("inf")),
        ("loss", float("nan")),
        ("network", "blondie25"),
        ("king_rule", "hundredths"),
        ("pairing", "swiss"),
    ],
)
def test_invalid_constants_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name) as raised:
        replace(SMALL, **{name: value})
    assert str(value) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("threads", "engine", "message"),
    [
        (0, "kernel", "workers must be at least 1, not 0"),
        (1, "paper", "engine must be one of kernel, env, not 'paper'"),
    ],
)
def test_invalid_game_runner_is_refused(threads, engine, message):
    with pytest.raises(ValueError, match=message), open_game_runner(threads, engine):
        pass


@pytest.mark.parametrize("piece_difference", [True, False])
def test_tables_mutate_by_standard_normals_only(piece_difference):
    regime = Coevolution(
        "walks-5",
        parents=4,
        weight=0.0,
        step_size=1.0,
        self_adaptive=False,
        king=2.0,
        king_rule="fixed",
        piece_difference=piece_difference,
    )
    rng = np.random.default_rng(0)
    encoding = regime.encoding(sample_options(regime.network, rng))
    parents = regime.random_members(encoding, 4, rng)
    assert not parents.genomes[:, :-1].any()
    everyone = regime.with_offspring(encoding, parents, rng)
    moved = everyone.genomes[4:, :-1]
    assert moved.shape == (4, 100_000)
    assert abs(moved.mean()) < 0.01
    assert abs(moved.std() - 1) < 0.01
    assert set(everyone.genomes[:, -1]) == {float(piece_difference)}
    assert set(everyone.steps[:, -1]) == {0.0}
    assert set(everyone.steps[:, :-1].ravel()) == {1.0}
    assert regime.players(encoding, everyone)[5].evaluator.difference == float(piece_difference)
