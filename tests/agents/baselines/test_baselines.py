"""Players without training, and evaluators that count pieces, against naive sums."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.baselines.heuristic import Heuristic, RandomPlayer
from agents.baselines.material import FULL_SCALE, Material
from agents.baselines.piece_squares import SIZE, piece_squares
from agents.baselines.samuel import samuel
from agents.baselines.weighted_pieces import weighted_pieces
from agents.evaluator import evaluate_position
from checkers_env.board import Board
from checkers_env.movegen import BLACK
from tests import oracle
from tests.agents.search.test_alphabeta import random_positions

DRAWS = 600
KING = 1.4
ROUNDING = 1e-7  # of 24 weights, each a multiple of 2^-29
WEIGHTS = np.random.default_rng(0).uniform(0.2, 2.0, 32)
TABLES = np.random.default_rng(0).uniform(-0.5, 0.5, SIZE)
OPENING, ENDING = TABLES.reshape(2, 2, 32)


def agent(player, seed=0):
    return PlayerAgent("player", player, np.random.default_rng(seed))


def moves_of(player, fen, draws):
    chooser, board = agent(player), Board(fen)
    return Counter("x".join(map(str, chooser.act(board).squares)) for _ in range(draws))


def even(counts, draws):
    """Return whether every count is within five standard deviations of its share."""
    share = draws / len(counts)
    spread = 5 * np.sqrt(share * (1 - 1 / len(counts)))
    return all(abs(count - share) <= spread for count in counts.values())


@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("B:W6,17:B2,14", {"2x9", "14x21"}),
        ("B:W6,15,17:B1,14", {"1x10x19"}),  # two men rather than one
        ("B:WK6,17:B1,K14", {"1x10"}),  # a king rather than a man
        ("B:WK6,17,25:B1,14", {"14x21x30"}),  # but not rather than two men
        ("B:W26,27,6:B1,23", {"23x30", "23x32"}),  # of single captures those that crown
        ("B:W32:B9,25", {"25x29", "25x30"}),  # crowns rather than advances
        ("B:W32:B9,K18", {"9x13", "9x14"}),  # advances a man rather than moves a king
        ("W:W8,24:B1,K32", {"8x3", "8x4"}),
        ("W:WK15,24:B1", {"24x19", "24x20"}),
    ],
)
def test_heuristic_wins_or_captures_and_else_moves_at_random(fen, best):
    counts = moves_of(Heuristic(), fen, DRAWS)
    assert set(counts) == best
    assert even(counts, DRAWS)


def test_random_player_plays_every_move_equally_often():
    counts = moves_of(RandomPlayer(), Board().fen(), 1400)
    assert set(counts) == {str(move).replace("-", "x") for move in Board().legal_moves}
    assert even(counts, 1400)


@pytest.mark.parametrize("king", [1.0, 1.5, 0.5, 3.0])
def test_counters_sum_up_the_pieces(king):
    plain, weighted = Material(king), weighted_pieces(WEIGHTS, king)
    most = 2 * WEIGHTS.sum() * max(1.0, king)
    for pieces, position in random_positions(1, 100):
        for view, side in enumerate("bw"):
            seen = oracle.inputs(pieces, side, king)
            difference = sum(seen.values())
            assert evaluate_position(plain, position, view) == difference / FULL_SCALE
            expected = sum(WEIGHTS[square - 1] * worth for square, worth in seen.items()) / most
            assert evaluate_position(weighted, position, view) == pytest.approx(expected, abs=1e-6)


def in_men(pieces, side):
    """Return what the pieces are worth for a side by the piece-square tables."""
    total, share = 0.0, len(pieces) / 24
    for square, letter in pieces.items():
        king = letter.isupper()
        seen = (square if letter in "bB" else 33 - square) - 1
        weight = share * OPENING[int(king), seen] + (1 - share) * ENDING[int(king), seen]
        total += (1 if letter.lower() == side else -1) * (weight + (KING if king else 1.0))
    return total


@pytest.mark.parametrize(("view", "side"), [*enumerate("bw")])
def test_piece_squares_blend_their_two_tables(view, side):
    network, some = piece_squares(TABLES, KING), list(random_positions(1, 200))
    expected = np.array([in_men(pieces, side) for pieces, _ in some])
    found = [evaluate_position(network, position, view) for _, position in some]
    largest = abs(expected).argmax()
    man = found[largest] / expected[largest]
    assert man > 1 / 128
    np.testing.assert_allclose(found, man * expected, atol=ROUNDING)


SOME = (
    (weighted_pieces, (np.ones(32), -WEIGHTS, np.zeros(32), np.eye(32)[7] * 1e30)),
    (piece_squares, (TABLES, -TABLES, 1e30 * TABLES, np.eye(SIZE)[-1] * 1e-9)),
)


@pytest.mark.parametrize("king", [-3.0, 0.0, 1.0, 5.0])
@pytest.mark.parametrize(("make", "weights"), [(make, it) for make, some in SOME for it in some])
def test_no_weights_evaluate_to_a_won_game(make, weights, king):
    counter = make(weights, king)
    for _, position in random_positions(4, 50):
        assert -0.99 < evaluate_position(counter, position, BLACK) < 0.99


def invalid(size):
    return (np.ones(size - 1), 1.5), (np.full(size, np.nan), 1.5), (np.ones(size), np.inf)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((partial(weighted_pieces, *it), "32 finite weights and a finite") for it in invalid(32)),
        *((partial(piece_squares, *it), "128 finite weights and a finite") for it in invalid(SIZE)),
        *(
            (partial(samuel, it), "8 weights, finite numbers: men, kings, ")
            for it in (np.zeros(7), [*[0] * 7, np.nan], [*[0] * 7, -np.inf], [*[0] * 7, 1e7])
        ),
    ],
)
def test_invalid_weights_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
