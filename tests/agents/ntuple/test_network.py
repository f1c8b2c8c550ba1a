"""N-tuple networks against a naive computation."""

import itertools

import numpy as np
import pytest

from agents.evaluator import evaluate_position, start_state
from agents.ntuple import network
from agents.ntuple import tuples as drawing
from agents.ntuple.network import table_size
from checkers_env.board import Board
from tests import oracle
from tests.agents.search.test_alphabeta import random_positions

MIXED = ((1,), (32, 27, 23), (5, 9, 1, 6), (14, 18), (4, 8, 12, 3, 7, 11), (20,), (29, 25, 22))


def digits(pieces, side):
    """Return the contents of squares 1-32 for `side`: 0 o, 1 O, 2 empty, 3 own, 4 own king."""
    seen = {}
    for square in range(1, 33):
        piece = pieces.get(square if side == "b" else 33 - square, "")
        own = piece.lower() == side
        seen[square] = 2 if not piece else (3 if own else 0) + piece.isupper()
    return seen


def indices(tuples, pieces, side):
    """Return each tuple's entry in the flat table."""
    seen, offset, found = digits(pieces, side), 0, []
    for squares in tuples:
        found.append(offset + int("".join(str(seen[square]) for square in squares), 5))
        offset += 5 ** len(squares)
    return found


def judged(tuples, table, pieces, side, difference, king, black_perspective):
    """Return the value for `side`, in float64."""
    seen = "b" if black_perspective else side
    total = sum(table[index] for index in indices(tuples, pieces, seen))
    total += difference * sum(oracle.inputs(pieces, seen, king).values())
    return np.tanh(total) if seen == side else -np.tanh(total)


def random_system(tuples, seed=0, **options):
    table = np.random.default_rng(seed).normal(0, 0.1, table_size(tuples))
    return network.ntuple(tuples, table, **options)


def diagonal(one, other):
    (row, column), (other_row, other_column) = oracle.cell(one), oracle.cell(other)
    return abs(row - other_row) == abs(column - other_column) == 1


def is_walk(squares):
    steps = itertools.pairwise(squares)
    return len(set(squares)) == len(squares) and all(diagonal(a, b) for a, b in steps)


@pytest.mark.parametrize("length", [1, 3, 8])
def test_random_walk_follows_diagonals_without_returning(length):
    walks = drawing.random_walks(length, np.random.default_rng(length))
    assert [walk[0] for walk in walks] == list(range(1, 33))
    assert all(len(walk) == length and is_walk(walk) for walk in walks)


def test_walks_of_three_squares_have_their_expected_frequency():
    rng, draws = np.random.default_rng(0), 1500
    walks = [drawing.random_walks(3, rng)[10 - 1] for _ in range(draws)]
    for first in (6, 7, 14, 15):
        ways = [square for square in range(1, 33) if diagonal(first, square) and square != 10]
        for last in ways:
            share = draws / 4 / len(ways)
            assert abs(walks.count((10, first, last)) - share) < 5 * np.sqrt(share)


@pytest.mark.parametrize("name", drawing.TUPLE_LAYOUTS)
def test_equal_seeds_sample_equal_tuples(name):
    first, again, other = (
        drawing.TUPLE_LAYOUTS[name](np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert first == again
    assert (first != other) == name.startswith("walks")
    assert drawing.layout_from_matrix(drawing.layout_to_matrix(first)) == first


SYSTEMS = {
    "own": {},
    "colour": {"black_perspective": True},
    "no difference": {"difference": 0.0},
    "colour, king 2": {"black_perspective": True, "king": 2.0},
}
TUPLES = {
    "mixed": MIXED,
    "table-6.1": drawing.TABLE_6_1,
    "3x3": drawing.TUPLE_LAYOUTS["subsquares-3"](np.random.default_rng(0)),
}


@pytest.mark.parametrize("options", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("tuples", TUPLES.values(), ids=TUPLES)
def test_values_equal_a_naive_computation(tuples, options):
    system = random_system(tuples, **options)
    settings = {"difference": 1.0, "king": 1.0, "black_perspective": False} | options
    for pieces, position in random_positions(3, 40):
        state = np.zeros(len(system.empty), np.int32)
        for view, side in enumerate("bw"):
            seen = "b" if settings["black_perspective"] else side
            start_state(system, position, view, state)
            assert state[: len(tuples)].tolist() == indices(tuples, pieces, seen)
            expected = judged(tuples, system.table, pieces, side, **settings)
            assert evaluate_position(system, position, view) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("black_perspective", [False, True])
def test_sum_has_the_order_and_the_ties_that_tanh_loses(black_perspective):
    """Algorithms 6.1 and 6.2 only sum: no sum, however large, is another's equal or a won game."""
    table = np.random.default_rng(6).integers(-40, 41, table_size(MIXED)).astype(float)
    system = network.ntuple(MIXED, table, black_perspective=black_perspective, output="sum")
    tanh = network.ntuple(MIXED, table, black_perspective=black_perspective)
    totals, values, squashed = [], [], []
    for pieces, position in random_positions(7, 60):
        seen = "b" if black_perspective else "w"
        total = sum(table[index] for index in indices(MIXED, pieces, seen))
        total += sum(oracle.inputs(pieces, seen, 1.0).values())
        totals.append(total if seen == "w" else -total)
        values.append(evaluate_position(system, position, 1))
        squashed.append(evaluate_position(tanh, position, 1))
    orders = [np.sign(np.subtract.outer(row, row)) for row in (totals, values, squashed)]
    np.testing.assert_array_equal(orders[1], orders[0])
    assert np.count_nonzero(orders[2]) < np.count_nonzero(orders[0])
    assert np.max(np.abs(values)) < 1
    most = network.ntuple(((1,),), [0.0, 0, 0, 8, 0], difference=0.0, output="sum")
    assert 0.5 <= evaluate_position(most, Board("B:W30:B1").position, 0) < 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: network.ntuple(()), "1 to 528 tuples, not 0"),
        (lambda: network.ntuple(((1, 6, 1),)), "different squares"),
        (lambda: network.ntuple(((0, 1),)), "squares 1-32"),
        (lambda: network.ntuple(((1,),), np.zeros(6)), "have 5 entries"),
        (lambda: network.ntuple(((1,),), [0, 0, np.nan, 0, 0]), "no numbers"),
        (lambda: network.ntuple(((1,),), [0, 0, 1e7, 0, 0]), "too large"),
        (lambda: network.ntuple(((1,),), difference=np.nan), "difference has no weight nan"),
        (lambda: network.ntuple(((1,),), king=np.inf), "a king no inf men"),
        (lambda: network.ntuple(((1,),), output="linear"), "tanh or sum, not 'linear'"),
    ],
)
def test_invalid_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
