"""Piece-square tables and pairs of pieces against naive sums over positions."""

import itertools

import numpy as np
import pytest

from agents.baselines.material import Material
from agents.baselines.piece_pairs import (
    PAIR_COUNT,
    PAIRS_SIZE,
    SQUARES_SIZE,
    explain_pairs,
    piece_pairs,
)
from agents.evaluator import advance_state, evaluate_position, start_state
from agents.search.workspace import workspace
from checkers_env.movegen import BLACK, SQUARES, WHITE, Position
from tests import oracle
from tests.agents.search.test_alphabeta import (
    assert_search_is_minimax,
    judge_by,
    random_boards,
)

KING = 1.4
ROUNDING = 1e-6  # of a sum of whole numbers: 300 weights, each a multiple of 2^-29
RNG = np.random.default_rng(0)
SQUARE_WEIGHTS = RNG.uniform(-0.5, 0.5, SQUARES_SIZE)
PAIR_WEIGHTS = RNG.permutation(np.arange(PAIR_COUNT) + 1.0) / PAIR_COUNT  # all different
FULL = np.concatenate([SQUARE_WEIGHTS, PAIR_WEIGHTS, PAIR_WEIGHTS[::-1]])
PIECES = [*itertools.product("bBwW", range(1, 33))]


def put(*pieces):
    """Return the position of these pieces, pairs of a letter and a square."""
    boards = [0, 0, 0]
    for letter, square in pieces:
        bit = 1 << int(SQUARES[square - 1])
        boards["bw".index(letter.lower())] |= bit
        boards[2] |= bit * letter.isupper()
    return Position(*boards, BLACK)


def value(network, *pieces):
    return evaluate_position(network, put(*pieces), BLACK)


def turned(piece):
    letter, square = piece
    return letter.translate(str.maketrans("bBwW", "wWbB")), 33 - square


def shape(first, second):
    """Return what tells pairs apart: the kinds in order, and the steps from one to the other."""
    (a, there), (b, here) = sorted((first, second), key=lambda piece: "bBwW".index(piece[0]))
    (row, column), (other_row, other_column) = oracle.cell(there), oracle.cell(here)
    rows = other_row - row
    return a, b, abs(rows) if a == b else rows, abs(other_column - column)


def test_squares_count_by_the_number_of_pieces():
    network = piece_pairs(SQUARE_WEIGHTS, KING)
    opening, ending = SQUARE_WEIGHTS.reshape(2, 2, 32)

    def naive(pieces):
        total, share = 0.0, len(pieces) / 24
        for square, letter in pieces.items():
            king, own = letter.isupper(), letter in "bB"
            seen = (square if own else 33 - square) - 1
            weight = share * opening[int(king), seen] + (1 - share) * ending[int(king), seen]
            total += (1 if own else -1) * (weight + (KING if king else 1.0))
        return total

    rng = np.random.default_rng(1)
    positions = [oracle.random_position(rng)[1] for _ in range(200)]
    found = [value(network, *((letter, at) for at, letter in it.items())) for it in positions]
    expected = np.array([naive(pieces) for pieces in positions])
    factor = found[abs(expected).argmax()] / expected[abs(expected).argmax()]
    assert factor > 0
    np.testing.assert_allclose(found, factor * expected, atol=ROUNDING)


def test_pairs_of_one_shape_have_one_weight():
    zeros = np.zeros(SQUARES_SIZE)
    network = piece_pairs(np.concatenate([zeros, PAIR_WEIGHTS, PAIR_WEIGHTS]), KING)
    alone = {piece: value(network, piece) for piece in PIECES}
    effects: dict[tuple, float] = {}
    for first, second in itertools.combinations(PIECES, 2):
        if first[1] != second[1]:
            effect = value(network, first, second) - alone[first] - alone[second]
            known = effects.setdefault(shape(first, second), effect)
            assert effect == pytest.approx(known, abs=ROUNDING)
            there = shape(turned(first), turned(second))
            assert effects.get(there, -effect) == pytest.approx(-effect, abs=ROUNDING)
    sizes = {round(abs(effect), 7) for effect in effects.values()}
    assert len(sizes - {0.0}) == PAIR_COUNT
    own = [effect for (a, b, *_), effect in effects.items() if a in "bB" and b in "bB"]
    assert 0.0 not in own  # only a man before a man, or a king before a king, is nobody's gain


def test_worth_of_a_position_is_that_of_its_pieces_and_pairs():
    twice = np.concatenate([SQUARE_WEIGHTS[:64], SQUARE_WEIGHTS[:64], PAIR_WEIGHTS, PAIR_WEIGHTS])
    network, rng = piece_pairs(twice, KING), np.random.default_rng(2)
    for _ in range(20):
        pieces = [(letter, at) for at, letter in oracle.random_position(rng)[1].items()]
        alone = {piece: value(network, piece) for piece in pieces}
        expected = sum(alone.values())
        for a, b in itertools.combinations(pieces, 2):
            expected += value(network, a, b) - alone[a] - alone[b]
        assert value(network, *pieces) == pytest.approx(expected, abs=ROUNDING)


def test_stages_blend_by_the_number_of_pieces():
    first, second = FULL.copy(), FULL.copy()
    for stage, weights in enumerate((first, second)):
        weights[:SQUARES_SIZE] = np.tile(np.roll(SQUARE_WEIGHTS[:64], 7 * stage), 2)
        weights[SQUARES_SIZE:] = np.tile(np.roll(PAIR_WEIGHTS, 3 * stage), 2)
    both = np.concatenate(
        [first[:64], second[64:128], first[128:-PAIR_COUNT], second[-PAIR_COUNT:]]
    )
    # KING would make the largest weight depend on the order of the weights: all have K = 1
    networks, rng = [piece_pairs(it, 1.0) for it in (first, second, both)], np.random.default_rng(3)
    for _ in range(100):
        pieces = [(letter, at) for at, letter in oracle.random_position(rng)[1].items()]
        opening, ending, blended = (value(it, *pieces) for it in networks)
        share = len(pieces) / 24
        assert blended == pytest.approx(share * opening + (1 - share) * ending, abs=ROUNDING)


def test_weights_of_zero_count_pieces():
    counter, material = piece_pairs(np.zeros(PAIRS_SIZE), 1.5), Material(1.5)
    factor = value(counter, ("b", 1)) / evaluate_position(material, put(("b", 1)), BLACK)
    for board in random_boards(4, 60, 90):
        expected = factor * evaluate_position(material, board.position, BLACK)
        assert evaluate_position(counter, board.position, BLACK) == pytest.approx(
            expected, abs=ROUNDING
        )


def test_other_side_has_the_negative_value_and_sees_the_board_turned():
    network, rng = piece_pairs(FULL, KING), np.random.default_rng(5)
    for _ in range(100):
        pieces = [(letter, at) for at, letter in oracle.random_position(rng)[1].items()]
        black = value(network, *pieces)
        assert evaluate_position(network, put(*pieces), WHITE) == -black
        assert value(network, *map(turned, pieces)) == pytest.approx(-black, abs=ROUNDING)


def test_state_after_a_move_is_that_of_the_position():
    network, states = piece_pairs(FULL, KING), np.zeros((3, 2), np.int32)
    for board in random_boards(6, 60, 120):
        start_state(network, board.position, BLACK, states[0])
        for move in board.legal_moves:
            after = board.copy()
            after.push(move)
            advance_state(network, board.position, after.position, BLACK, states[0], states[1])
            start_state(network, after.position, BLACK, states[2])
            np.testing.assert_array_equal(states[1], states[2])


def test_explanation_tells_pieces_and_pairs_apart():
    network, alone = piece_pairs(FULL, KING), piece_pairs(FULL[:SQUARES_SIZE], KING)
    found, expected = [], []
    for board in random_boards(9, 40, 90):
        terms = explain_pairs(network, board.position)
        total = evaluate_position(network, board.position, board.turn)
        assert sum(terms.values()) == pytest.approx(total, abs=ROUNDING)
        found.append(terms["pieces on their squares"])
        expected.append(evaluate_position(alone, board.position, board.turn))
    assert np.corrcoef(found, expected)[0, 1] > 1 - ROUNDING  # another factor, else the same


@pytest.mark.parametrize("king", [-3.0, 0.0, 1.0, 5.0])
@pytest.mark.parametrize("weights", [FULL, -FULL, 1e30 * FULL, np.eye(PAIRS_SIZE)[-1] * 1e-9])
def test_value_stays_below_a_won_game(weights, king):
    network, rng = piece_pairs(weights, king), np.random.default_rng(7)
    for _ in range(50):
        pieces = [(letter, at) for at, letter in oracle.random_position(rng)[1].items()]
        assert -0.99 < value(network, *pieces) < 0.99


@pytest.mark.parametrize("root_perspective", [False, True])
def test_search_with_this_evaluator_equals_minimax(root_perspective):
    network, ws = piece_pairs(FULL, KING), workspace()
    judge = judge_by(network)
    for board in random_boards(8, 6, 80):
        for depth in (1, 2, 3):
            assert_search_is_minimax(board, network, judge, depth, root_perspective, ws)


@pytest.mark.parametrize(
    ("weights", "king"),
    [(np.ones(PAIRS_SIZE - 1), 1.5), (np.full(128, np.nan), 1.5), (np.ones(128), np.inf)],
)
def test_invalid_weights_are_refused(weights, king):
    with pytest.raises(ValueError, match=f"128 or {PAIRS_SIZE} finite weights and a finite king"):
        piece_pairs(weights, king)
