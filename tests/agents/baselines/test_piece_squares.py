"""Piece-square tables against naive sums over the pieces."""

import numpy as np
import pytest

import agents
from agents.baselines.piece_squares import SIZE, piece_squares
from agents.evaluator import evaluate_position
from agents.weights import WeightsMetadata, save_weights
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from tests import oracle

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


@pytest.mark.parametrize(
    ("weights", "king"), [(np.ones(127), 1.5), (np.full(128, np.nan), 1.5), (np.ones(128), np.inf)]
)
def test_invalid_weights_are_refused(weights, king):
    with pytest.raises(ValueError, match="128 finite weights and a finite king"):
        piece_squares(weights, king)
