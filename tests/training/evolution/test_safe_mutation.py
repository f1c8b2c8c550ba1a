"""Safe mutation: networks' outputs. The genetic algorithm's oracle has the rest."""

from functools import cache

import numpy as np
import pytest

from agents.baselines.heuristic import RandomPlayer
from agents.blondie.architecture import NGUYEN, NGUYEN_LOGISTIC
from agents.match import play_game
from agents.match_kernel import DRAW
from checkers_env.board import Board
from tests import oracle
from training.evolution.safe_mutation import board_inputs, outputs

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
    return oracle.network_value(shape.name, np.array(genome), king, "b", pieces)


def recount(shape, parent, child, boards):
    """Count the positions whose output keeps the parent's sign and is no smaller."""
    return sum(
        slow_value(shape, child, board) / slow_value(shape, parent, board) >= 1 for board in boards
    )


def rows_of(boards):
    return np.array([(board.black, board.white, board.kings) for board in boards])


@every_shape
def test_outputs_equal_the_slow_network(shape):
    boards = positions(game_won_by(DRAW))[::3]
    genome = np.append(np.random.default_rng(0).uniform(-0.3, 0.3, WEIGHTS), 0)
    for king in (1.5, 2.5):
        found = outputs(shape, genome, board_inputs(rows_of(boards), king))
        expected = [slow_value(shape, genome, board, king) for board in boards]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
