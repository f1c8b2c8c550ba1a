"""Coevolution: a generation against the same generation in plain Python, and its constants."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001, decode
from agents.search.player import AlphaBeta
from agents.search.root_order import FIRST
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


def draw_random(regime, members, rng, count):
    genomes = rng.uniform(-0.2, 0.2, (members, count + 1))
    return genomes, np.full(genomes.shape, 0.05), np.full(members, regime.king)


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
        (replace(SMALL, all_random=True), BLONDIE_1999, 1741),
        (replace(WITH_SUBSQUARES, king=3.0), BLONDIE_2001, 5046),
    ],
)
def test_generation_equals_plain_python(regime, shape, count):
    after, measured = run_generations(regime, seed=3)[-1]

    rng = np.random.default_rng(3)
    if regime.all_random:
        genomes, steps, kings = draw_random(regime, 2 * regime.parents, rng, count)
    else:
        parents = draw_random(regime, regime.parents, rng, count)
        offspring = draw_offspring(parents, regime.king_rule, rng, count)
        genomes, steps, kings = map(np.concatenate, zip(parents, offspring, strict=True))
    members = len(genomes)
    players = [
        PlayerAgent("", AlphaBeta(decode(shape, genome, king), 1, FIRST, regime.root_perspective))
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
