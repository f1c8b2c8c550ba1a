"""Nguyen's mutation and safe mutation."""

from functools import cache

import numpy as np
import pytest

from agents.baselines.random_player import RandomPlayer
from agents.blondie.architecture import NGUYEN, NGUYEN_LOGISTIC
from agents.match import play_game
from agents.match_kernel import DRAW
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from tests import oracle
from tests.agents.blondie.test_network import SLOWLY
from training.evolution.safe_mutation import (
    board_inputs,
    mutate_safely,
    outputs,
    sample_won_positions,
)

WEIGHTS, SIZE = 4101, 4102
LARGEST = 1 / np.sqrt(2 * np.sqrt(WEIGHTS))
ERRORS = 5

every_shape = pytest.mark.parametrize(
    "shape", [NGUYEN, NGUYEN_LOGISTIC], ids=lambda shape: shape.name
)


@cache
def game_won_by(winner, seed=0):
    """Return a game of random moves with a given result."""
    game = play_game(RandomPlayer(), RandomPlayer(), rng=np.random.default_rng(seed))
    return game._replace(result=game.result._replace(winner=winner))


def positions(game):
    """Return the board after each move of a game."""
    board, after = Board(), []
    for move in game.board.moves:
        board.push(move)
        after.append(board.copy())
    return after


def slow_value(shape, genome, board, king=1.5):
    pieces = oracle.read_fen(board.fen())[1]
    return SLOWLY[shape.name](np.array(genome), king, "b", pieces)


def recount(shape, parent, child, boards):
    """Count the positions whose output keeps the parent's sign and is no smaller."""
    return sum(
        slow_value(shape, child, board) / slow_value(shape, parent, board) >= 1 for board in boards
    )


def rows_of(boards):
    return np.array([(board.black, board.white, board.kings) for board in boards])


def test_mutations_are_uniform_and_weights_stay_within_one():
    rng = np.random.default_rng(3)
    moves = np.array([mutate_safely(NGUYEN, np.zeros(SIZE), None, 1, rng) for _ in range(20)])
    assert not moves[:, WEIGHTS].any()
    counts, _ = np.histogram(moves[:, :WEIGHTS] / LARGEST, bins=20, range=(-1, 1))
    total = 20 * WEIGHTS
    assert counts.sum() == total  # none is larger
    assert np.all(np.abs(counts - total / 20) < ERRORS * np.sqrt(total * 0.05 * 0.95))
    parent = np.append(rng.choice([-1.0, 1.0, 0.95], WEIGHTS), 0)
    before = parent.copy()
    for _ in range(20):
        child = mutate_safely(NGUYEN, parent, None, 1, rng)
        assert np.all(np.abs(child) <= 1)
        assert np.all(np.abs(child - parent) <= LARGEST)
        stuck = np.count_nonzero(np.abs(child[np.abs(parent) == 1]) == 1)
        number = np.count_nonzero(np.abs(parent) == 1)
        assert abs(stuck - number / 2) < ERRORS * np.sqrt(number / 4)
    np.testing.assert_array_equal(parent, before)


@every_shape
def test_outputs_equal_the_slow_network(shape):
    boards = positions(game_won_by(DRAW))[::3]
    genome = np.append(np.random.default_rng(0).uniform(-0.3, 0.3, WEIGHTS), 0)
    for king in (1.5, 2.5):
        found = outputs(shape, genome, board_inputs(rows_of(boards), king))
        expected = [slow_value(shape, genome, board, king) for board in boards]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@every_shape
def test_safe_mutation_takes_the_first_mutant_that_preserves_most_outputs(shape):
    boards, ties = positions(game_won_by(DRAW))[::5][:9], 0
    for seed in range(4):
        parent = np.append(np.random.default_rng(seed).uniform(-1, 1, WEIGHTS), 0)
        moves = np.random.default_rng(seed + 10).uniform(-1, 1, (6, SIZE)) * LARGEST
        moves[:, WEIGHTS] = 0
        mutants = np.clip(parent + moves, -1, 1)
        kept = [recount(shape, parent, changed, boards) for changed in mutants]
        rng = np.random.default_rng(seed + 10)
        found = mutate_safely(shape, parent, board_inputs(rows_of(boards), 1.5), 6, rng)
        np.testing.assert_array_equal(found, mutants[kept.index(max(kept))])
        assert len(set(kept)) > 1
        ties += kept.count(max(kept)) > 1
    assert ties


class Drawn:
    """Generator whose perturbations of one weight are given."""

    def __init__(self, weight, moves):
        self.weight, self.moves = weight, moves

    def uniform(self, low, high, size):
        assert (low, high, size) == (-1, 1, (len(self.moves), SIZE))
        drawn = np.zeros(size)
        drawn[:, self.weight] = self.moves
        return drawn


def test_output_is_preserved_if_at_least_as_large_and_of_equal_sign():
    """Only the first sub-square's sum passes through one node of each layer."""
    chain = [0, 40 * 92, 40 * 92 + 10 * 41]
    parent = np.zeros(SIZE)
    parent[chain] = 0.9, 0.9, 0.05
    inputs = board_inputs(rows_of([Board("B:W9:B1,5,6"), Board("B:WK1,5:BK30")]), 1.5)
    for moves, taken in (([-1, -0.1, 0, 1], 0), ([-1, -0.1, 1, 0], 1), ([-1, -0.1], -1)):
        child = mutate_safely(NGUYEN, parent, inputs, len(moves), Drawn(chain[2], moves))
        assert child[chain[2]] == pytest.approx(0.05 + taken * LARGEST)


def test_positions_are_sampled_from_won_games_if_there_are_any():
    winners = [BLACK, WHITE, DRAW, WHITE, BLACK]
    games = [game_won_by(winner, seed) for seed, winner in enumerate(winners)]
    pairs = [(0, 1), (2, 0), (3, 0), (1, 2), (1, 3)]
    for member, remembered in ((0, [0, 1]), (1, [4]), (2, [3]), (3, [2, 4])):
        rows = sample_won_positions(member, pairs, games, 6000, np.random.default_rng(member))
        assert rows.shape == (6000, 3)
        boards = [board for index in remembered for board in positions(games[index])]
        assert set(map(tuple, rows.tolist())) == set(map(tuple, rows_of(boards).tolist()))
