"""Piece-square tables against naive sums over the pieces."""

import numpy as np
import pytest

import agents
from agents.baselines.material import Material
from agents.baselines.piece_squares import SIZE, piece_squares
from agents.evaluator import advance_state, evaluate_position, start_state
from agents.search.workspace import workspace
from agents.weights import WeightsMetadata, save_weights
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from tests import oracle
from tests.agents.search.test_alphabeta import (
    assert_search_is_minimax,
    judge_by,
    random_boards,
)

KING = 1.4
ROUNDING = 1e-7  # of 24 weights, each a multiple of 2^-29
WEIGHTS = np.random.default_rng(0).uniform(-0.5, 0.5, SIZE)
OPENING, ENDING = WEIGHTS.reshape(2, 2, 32)


def in_men(pieces, side):
    """Return what the pieces are worth for a side."""
    total, share = 0.0, len(pieces) / 24
    for square, letter in pieces.items():
        king = letter.isupper()
        seen = (square if letter in "bB" else 33 - square) - 1
        weight = share * OPENING[int(king), seen] + (1 - share) * ENDING[int(king), seen]
        total += (1 if letter.lower() == side else -1) * (weight + (KING if king else 1.0))
    return total


def random_pieces(seed, count):
    rng = np.random.default_rng(seed)
    return [oracle.random_position(rng)[1] for _ in range(count)]


def turned(pieces):
    """Return the pieces with colours changed on the board turned round."""
    change = str.maketrans("bBwW", "wWbB")
    return {33 - square: letter.translate(change) for square, letter in pieces.items()}


def position_of(pieces):
    return Board(oracle.write_fen("b", pieces)).position


@pytest.mark.parametrize(("view", "side"), [(BLACK, "b"), (WHITE, "w")])
def test_value_is_the_sum_over_the_pieces(view, side):
    network, positions = piece_squares(WEIGHTS, KING), random_pieces(1, 200)
    expected = np.array([in_men(pieces, side) for pieces in positions])
    found = [evaluate_position(network, position_of(pieces), view) for pieces in positions]
    largest = abs(expected).argmax()
    man = found[largest] / expected[largest]
    assert man > 1 / 128
    np.testing.assert_allclose(found, man * expected, atol=ROUNDING)


def test_weights_of_zero_count_pieces():
    counter, material = piece_squares(np.zeros(SIZE), 1.5), Material(1.5)
    for board in random_boards(2, 60, 90):
        values = [evaluate_position(it, board.position, BLACK) for it in (counter, material)]
        assert values[0] == pytest.approx(values[1], abs=ROUNDING)


def test_other_side_has_the_negative_value_and_sees_the_board_turned():
    network = piece_squares(WEIGHTS, KING)
    for pieces in random_pieces(3, 100):
        black = evaluate_position(network, position_of(pieces), BLACK)
        assert evaluate_position(network, position_of(pieces), WHITE) == -black
        assert evaluate_position(network, position_of(turned(pieces)), WHITE) == black


def test_state_after_a_move_is_that_of_the_position():
    network, states = piece_squares(WEIGHTS, KING), np.zeros((3, 2), np.int32)
    for board in random_boards(4, 60, 120):
        start_state(network, board.position, BLACK, states[0])
        for move in board.legal_moves:
            after = board.copy()
            after.push(move)
            advance_state(network, board.position, after.position, BLACK, states[0], states[1])
            start_state(network, after.position, BLACK, states[2])
            np.testing.assert_array_equal(states[1], states[2])


def test_explanation_tells_what_each_piece_counts(tmp_path):
    path = tmp_path / "squares.safetensors"
    save_weights(path, WEIGHTS, WeightsMetadata("piece-squares", KING, "test", 0, 0))
    agent, network = agents.make(str(path)), piece_squares(WEIGHTS, KING)
    for pieces in random_pieces(5, 30):
        board = Board(oracle.write_fen("w", pieces))
        said = agents.explain(agent, board)
        value = evaluate_position(network, board.position, WHITE)
        assert said.total == pytest.approx(value, abs=ROUNDING)
        assert sum(said.squares.values()) == pytest.approx(value, abs=ROUNDING)
        assert said.squares.keys() == pieces.keys()
        assert all((said.squares[at] > 0) == (it in "wW") for at, it in pieces.items())


@pytest.mark.parametrize("king", [-3.0, 0.0, 1.0, 5.0])
@pytest.mark.parametrize("weights", [WEIGHTS, -WEIGHTS, 1e30 * WEIGHTS, np.eye(SIZE)[-1] * 1e-9])
def test_value_stays_below_a_won_game(weights, king):
    network = piece_squares(weights, king)
    for pieces in random_pieces(6, 50):
        assert -0.99 < evaluate_position(network, position_of(pieces), BLACK) < 0.99


@pytest.mark.parametrize("root_perspective", [False, True])
def test_search_with_this_evaluator_equals_minimax(root_perspective):
    network, ws = piece_squares(WEIGHTS, KING), workspace()
    judge = judge_by(network)
    for board in random_boards(7, 6, 80):
        for depth in (1, 2, 3):
            assert_search_is_minimax(board, network, judge, depth, root_perspective, ws)


@pytest.mark.parametrize(
    ("weights", "king"), [(np.ones(127), 1.5), (np.full(128, np.nan), 1.5), (np.ones(128), np.inf)]
)
def test_invalid_weights_are_refused(weights, king):
    with pytest.raises(ValueError, match="128 finite weights and a finite king"):
        piece_squares(weights, king)
