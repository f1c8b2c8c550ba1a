"""N-tuple networks against a naive computation."""

import itertools

import numpy as np
import pytest

from agents.evaluator import advance_state, evaluate_position, start_state
from agents.ntuple import network
from agents.ntuple import tuples as drawing
from agents.ntuple.network import table_size
from agents.search.workspace import workspace
from checkers_env.board import Board
from checkers_env.movegen import Position
from tests import oracle
from tests.agents.search.test_alphabeta import (
    assert_search_is_minimax,
    judge_by,
    random_boards,
)

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


@pytest.mark.parametrize("length", range(1, 9))
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


def test_walk_in_a_dead_end_is_restarted():
    rng = np.random.default_rng(1)
    walks = {drawing.random_walks(5, rng)[8 - 1] for _ in range(200)}
    assert all(is_walk(walk) and len(walk) == 5 for walk in walks)
    assert not any(walk[1] == 4 for walk in walks)  # square 4 has no neighbour but 8


def test_table_6_1_turned_round_has_a_walk_from_each_square():
    assert drawing.TABLE_6_1[0] == (32, 27, 24, 19, 16)
    assert drawing.TABLE_6_1[30] == (2, 7, 10, 15, 11)
    assert [squares[0] for squares in drawing.TABLE_6_1] == list(range(32, 0, -1))
    assert all(len(squares) == 5 and is_walk(squares) for squares in drawing.TABLE_6_1)


def test_subsquares_are_those_of_the_board():
    fields = [tuple(field) for field in oracle.subsquares()]
    assert drawing.subsquares(3) == tuple(fields[:36])
    assert drawing.subsquares(4) == tuple(fields[36:61])
    assert sorted(drawing.subsquares(1)) == list(drawing.SINGLES)


@pytest.mark.parametrize(
    ("name", "tuples", "entries"),
    [
        ("walks-5", 32, 32 * 5**5),
        ("table-6.1", 32, 100_000),
        ("singles", 32, 160),
        ("walks-3", 32, 32 * 5**3),
        ("walks-4", 32, 32 * 5**4),
        ("subsquares-3", 36, 18 * (5**4 + 5**5)),
        ("subsquares-4", 25, 25 * 5**8),
        ("subsquares-3-4", 61, 18 * (5**4 + 5**5) + 25 * 5**8),
    ],
)
def test_equal_seeds_sample_equal_tuples(name, tuples, entries):
    first, again, other = (
        drawing.sample_tuples(name, np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert first == again
    assert (first != other) == name.startswith("walks")
    assert (len(first), table_size(first)) == (tuples, entries)


SYSTEMS = {
    "own": {},
    "colour": {"black_perspective": True},
    "king 2": {"king": 2.0},
    "no difference": {"difference": 0.0},
    "colour, king 2": {"black_perspective": True, "king": 2.0},
}
TUPLES = {
    "mixed": MIXED,
    "table-6.1": drawing.TABLE_6_1,
    "3x3": drawing.subsquares(3),
}


@pytest.mark.parametrize("options", SYSTEMS.values(), ids=SYSTEMS)
@pytest.mark.parametrize("tuples", TUPLES.values(), ids=TUPLES)
def test_values_equal_a_naive_computation(tuples, options):
    system, rng = random_system(tuples, **options), np.random.default_rng(3)
    settings = {"difference": 1.0, "king": 1.0, "black_perspective": False} | options
    for _ in range(40):
        _, pieces = oracle.random_position(rng)
        position = Board(oracle.write_fen("b", pieces)).position
        state = np.zeros(len(tuples), np.int32)
        for view, side in enumerate("bw"):
            seen = "b" if settings["black_perspective"] else side
            start_state(system, position, view, state)
            assert state.tolist() == indices(tuples, pieces, seen)
            expected = judged(tuples, system.table, pieces, side, **settings)
            assert evaluate_position(system, position, view) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("black_perspective", [False, True])
def test_incremental_indices_equal_recomputed_ones(black_perspective):
    system = random_system(drawing.TABLE_6_1, black_perspective=black_perspective)
    rng = np.random.default_rng(4)
    old, new, fresh = (np.zeros(32, np.int32) for _ in range(3))
    for _ in range(6):
        board = Board(max_moves=60)
        while not board.outcome():
            before = board.position
            board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
            after = board.position
            for view in range(2):
                start_state(system, before, view, old)
                advance_state(system, before, after, view, old, new)
                start_state(system, after, view, fresh)
                assert new.tolist() == fresh.tolist()


@pytest.mark.parametrize("black_perspective", [False, True])
@pytest.mark.parametrize("root_perspective", [False, True])
def test_search_with_this_evaluator_equals_minimax(black_perspective, root_perspective):
    system, ws = random_system(drawing.TABLE_6_1, black_perspective=black_perspective), workspace()
    judge = judge_by(system)
    for board in random_boards(8, 6, 80):
        for depth in (1, 2, 3):
            assert_search_is_minimax(board, system, judge, depth, root_perspective, ws)


@pytest.mark.parametrize("black_perspective", [False, True])
def test_sum_has_the_order_and_the_ties_that_tanh_loses(black_perspective):
    """Algorithms 6.1 and 6.2 only sum: no sum, however large, is another's equal or a won game."""
    table = np.random.default_rng(6).integers(-40, 41, table_size(MIXED)).astype(float)
    system = network.ntuple(MIXED, table, black_perspective=black_perspective, output="sum")
    tanh = network.ntuple(MIXED, table, black_perspective=black_perspective)
    rng, totals, values, squashed = np.random.default_rng(7), [], [], []
    for _ in range(60):
        _, pieces = oracle.random_position(rng)
        seen = "b" if black_perspective else "w"
        total = sum(table[index] for index in indices(MIXED, pieces, seen))
        total += sum(oracle.inputs(pieces, seen, 1.0).values())
        totals.append(total if seen == "w" else -total)
        position = Board(oracle.write_fen("b", pieces)).position
        values.append(evaluate_position(system, position, 1))
        squashed.append(evaluate_position(tanh, position, 1))
    orders = [np.sign(np.subtract.outer(row, row)) for row in (totals, values, squashed)]
    np.testing.assert_array_equal(orders[1], orders[0])
    assert np.count_nonzero(orders[2]) < np.count_nonzero(orders[0])
    assert np.max(np.abs(values)) < 1
    most = network.ntuple(((1,),), [0.0, 0, 0, 8, 0], difference=0.0, output="sum")
    assert 0.5 <= evaluate_position(most, Board("B:W30:B1").position, 0) < 1


def turned(position):
    boards = [
        int(f"{bits:035b}"[::-1], 2) for bits in (position.white, position.black, position.kings)
    ]
    return Position(*boards, 1 - position.turn)


def test_both_perspectives_evaluate_as_defined():
    """By the mover colours are alike; by colour one side's gain is the other's loss."""
    own, black = random_system(MIXED), random_system(MIXED, black_perspective=True)
    unlike = 0
    for board in random_boards(9, 30, 80):
        here = board.position
        assert evaluate_position(own, here, 0) == evaluate_position(own, turned(here), 1)
        assert evaluate_position(black, here, 0) == -evaluate_position(black, here, 1)
        assert evaluate_position(own, here, 0) == evaluate_position(black, here, 0)
        unlike += evaluate_position(own, here, 0) != -evaluate_position(own, here, 1)
    assert unlike > 20


def test_suitable_table_is_not_copied_and_others_are_converted():
    table = np.zeros(160)
    assert network.ntuple(drawing.SINGLES, table).table is table
    for other in (table.astype(np.float32), np.broadcast_to(0.0, 160), np.zeros(320)[::2]):
        made = network.ntuple(drawing.SINGLES, other).table
        assert made.dtype == np.float64
        assert made.flags.c_contiguous
        assert made.flags.writeable


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: drawing.random_walks(0, rng), "1 to 8 squares, not 0"),
        (lambda rng: drawing.random_walks(9, rng), "1 to 8 squares, not 9"),
        (lambda rng: drawing.subsquares(5), "1x1 to 4x4, not 5x5"),
        (
            lambda rng: drawing.sample_tuples("walks", rng),
            "no tuple layout 'walks': known are walks-5",
        ),
        (lambda rng: network.ntuple(()), "1 to 96 tuples, not 0"),
        (lambda rng: network.ntuple(((1,),) * 97), "1 to 96 tuples, not 97"),
        (lambda rng: network.ntuple(((1, 6, 1),)), "different squares"),
        (lambda rng: network.ntuple(((0, 1),)), "squares 1-32"),
        (lambda rng: network.ntuple(((),)), "1 to 8 different"),
        (lambda rng: network.ntuple(((1,),), np.zeros(6)), "have 5 entries"),
        (lambda rng: network.ntuple(((1,),), [0, 0, np.nan, 0, 0]), "no numbers"),
        (lambda rng: network.ntuple(((1,),), [0, 0, 1e7, 0, 0]), "too large"),
        (lambda rng: network.ntuple(((1,),), difference=np.nan), "difference has no weight nan"),
        (lambda rng: network.ntuple(((1,),), king=np.inf), "a king no inf men"),
        (lambda rng: network.ntuple(((1,),), output="linear"), "tanh or sum, not 'linear'"),
    ],
)
def test_invalid_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))
