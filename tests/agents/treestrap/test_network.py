"""The large n-tuple network against a naive computation and plain sums."""

import itertools

import numpy as np
import pytest

from agents.evaluator import advance_state, evaluate_position, start_state, state_size
from agents.ntuple import tuples
from agents.search.alphabeta import search
from agents.search.selective import FULL_WIDTH, FullWidth
from agents.search.transposition import EXACT, LOWER, NONE, write_tt
from agents.search.workspace import workspace
from agents.treestrap.codec import STEP, pack, unpack
from agents.treestrap.learner import (
    ABSOLUTE,
    EXPLORED,
    FORCED,
    SEARCHED,
    SIGNED,
    UPDATES,
    TreeStrapConfig,
    learn_game,
    learner_state,
    treestrap_update,
)
from agents.treestrap.network import (
    BACKWARDS,
    COUNTS,
    OFFSETS,
    READINGS,
    SIZE,
    STAGES,
    TERMS,
    WINDOWS,
    treestrap_network,
    write_entries,
)
from checkers_env.board import Board
from checkers_env.movegen import SQUARES, Position, generate_successors
from tests import oracle
from tests.agents.search.test_alphabeta import (
    assert_search_is_minimax,
    judge_by,
    random_boards,
)

FENS = (
    "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29",
    "W:WK1:BK32",
    "B:W13:B1,2,3,4,5,6,7,8,9,10,11,12",
)


@pytest.fixture(scope="module")
def system():
    rng = np.random.default_rng(0)
    return treestrap_network((rng.random((STAGES, SIZE), np.float32) - 0.5) / 10)


def boards():
    return [*map(Board, FENS), *random_boards(3, 40, 120)]


def reading(seen):
    """Return the index of a window's contents; in windows of 12 squares only men count."""
    if len(seen) == 8:
        return int("".join(map(str, seen)), 5)
    return int("".join("2" if here == 3 else "0" if here == 1 else "1" for here in seen), 3)


def named(mover, pieces):
    """Return a position's stage and its entries, read square by square."""
    seen = {}
    for square in range(1, 33):
        piece = pieces.get(square if mover == "b" else 33 - square, "")
        worth = 1 + piece.isupper() if piece else 0
        seen[square] = 2 + worth if piece.lower() == mover else 2 - worth
    entries = [
        offset + reading([seen[square] for square in squares])
        for offset, squares in zip(OFFSETS, WINDOWS, strict=False)
    ]
    numbers = [list(seen.values()).count(digit) for digit in (3, 4, 1, 0)]
    entries.append(
        COUNTS + sum(n * 13**power for n, power in zip(numbers, (3, 2, 1, 0), strict=True))
    )
    return (len(pieces) - 1) // 6, entries


def entries_of(system, position, view):
    state, entries = np.zeros(len(READINGS), np.int32), np.zeros(TERMS, np.int64)
    start_state(system, position, view, state)
    write_entries(system, position, view, state, entries)
    return entries.tolist()


def turned_round(position):
    """Return the same position for the other side."""
    boards = [int(f"{board:035b}"[::-1], 2) for board in position[:3]]
    return Position(boards[1], boards[0], boards[2], 1 - position.turn)


def test_windows_are_those_of_the_board():
    expected = [
        *tuples.subsquares(4),
        *(tuple(range(first, first + 8)) for first in range(1, 26, 4)),
        *(tuple(range(first, first + 12)) for first in range(1, 22, 4)),
    ]
    found = sorted(tuple(sorted(squares)) for squares in WINDOWS)
    tall = [squares for squares in found if squares not in expected]
    assert found == sorted([*expected, *tall])
    assert tall[0] == (1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22)
    assert tall[-1] == (11, 12, 15, 16, 19, 20, 23, 24, 27, 28, 31, 32)
    assert len(tall) == 15
    assert SIZE == 32 * 5**8 + 21 * 3**12 + 13**4
    assert sorted(map(sorted, BACKWARDS)) == [
        [6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27],
        [10, 11, 14, 15, 18, 19, 22, 23],
        [13, 14, 15, 16, 17, 18, 19, 20],
    ]


def test_entries_equal_a_naive_computation_for_both_perspectives(system):
    for board in boards():
        stage, entries = named(*oracle.read_fen(board.fen()))
        for view in range(2):
            assert entries_of(system, board.position, view) == entries
        total = system.table[stage, entries].astype(float).sum()
        found = evaluate_position(system, board.position, board.turn)
        assert found == pytest.approx(np.tanh(total), abs=2e-6)


def test_piece_counts_above_twelve_count_as_twelve(system):
    kings = sum(1 << int(bit) for bit in SQUARES[:14])
    position = Position(kings, 1 << int(SQUARES[31]), kings, 0)
    assert entries_of(system, position, 0)[-1] == COUNTS + 12 * 13**2 + 13


def test_both_sides_evaluate_the_flipped_position_identically(system):
    for board in boards():
        position = board.position
        worth = evaluate_position(system, position, position.turn)
        assert evaluate_position(system, position, 1 - position.turn) == -worth
        other = turned_round(position)
        assert evaluate_position(system, other, other.turn) == worth


@pytest.mark.parametrize("view", [0, 1])
def test_incremental_state_equals_a_recomputed_one(system, view):
    assert_advancing_recomputes_the_state(system, view)


def assert_advancing_recomputes_the_state(system, view):
    rng, board = np.random.default_rng(4), Board()
    old, new, fresh = (np.zeros(state_size(system), np.int32) for _ in range(3))
    for _ in range(300):
        if board.outcome():
            board = Board()
        before = board.position
        start_state(system, before, view, old)
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
        advance_state(system, before, board.position, view, old, new)
        start_state(system, board.position, view, fresh)
        assert new.tolist() == fresh.tolist()


def test_search_equals_minimax_for_both_perspectives(system):
    judge, ws = judge_by(system), workspace()
    for board in random_boards(5, 8, 90):
        for depth in (1, 2, 3):
            assert_search_is_minimax(board, system, judge, depth, False, ws)
        position, found = board.position, []
        for root_perspective in (True, False):
            count = generate_successors(ws.rows, 0, *position)
            path = search(
                FullWidth(), system, position, 5, root_perspective, 9 + root_perspective, ws, count
            )
            found.append((path, ws.frames[0]["value"]))
        assert found[0] == found[1]


class Plain:
    """Learning with dictionaries, entry by entry."""

    def __init__(self, config):
        self.config, self.weights, self.signed, self.absolute = config, {}, {}, {}

    def learn(self, positions, values, kinds, result):
        for number in reversed(range(len(positions))):
            side, pieces = positions[number]
            result = -result
            if kinds[number] == EXPLORED:
                result = values[number]
            elif kinds[number] == SEARCHED:
                lam = self.config.lam
                result = (1 - lam) * values[number] + lam * result
            captures = bool(oracle.legal_turns(side, pieces)[0].captured)
            if captures and self.config.quiet:
                continue
            self.correct(side, pieces, result)

    def keys(self, side, pieces):
        stage, entries = named(side, pieces)
        return [(stage, entry) for entry in entries]

    def value(self, side, pieces):
        return np.tanh(sum(self.weights.get(key, 0.0) for key in self.keys(side, pieces)))

    def correct(self, side, pieces, target):
        keys, error = self.keys(side, pieces), target - self.value(side, pieces)
        for key in keys:
            rate = 1.0
            if self.config.coherence and self.absolute.get(key, 0.0) > 0:
                rate = abs(self.signed[key]) / self.absolute[key]
            step = self.config.alpha / len(keys) * rate * error
            self.weights[key] = self.weights.get(key, 0.0) + step
            self.signed[key] = self.signed.get(key, 0.0) + error
            self.absolute[key] = self.absolute.get(key, 0.0) + abs(error)


@pytest.mark.parametrize(
    "config",
    [
        TreeStrapConfig(),
        TreeStrapConfig(alpha=1.5, lam=0.5, quiet=False),
        TreeStrapConfig(lam=1.0, coherence=False),
    ],
    ids=["usual", "all positions", "plain steps"],
)
def test_update_of_a_game_equals_the_equations(config):
    rng, plain = np.random.default_rng(6), Plain(config)
    errors = np.zeros((STAGES, SIZE, 2), np.float32)
    student = learner_state(treestrap_network(), errors, config)
    for result in (1.0, -1.0, 0.0):
        board, plies = Board(), 0
        positions, values = [], rng.uniform(-1, 1, 60)
        kinds = rng.choice([SEARCHED, FORCED, EXPLORED], 60, p=[0.6, 0.2, 0.2])
        while plies < 60 and not board.outcome():
            student.positions[plies] = board.position
            positions.append(oracle.read_fen(board.fen()))
            board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
            plies += 1
        student.values[:60], student.kinds[:60] = values, kinds
        learn_game(student, plies, result, np.zeros(256, np.float32))
        plain.learn(positions, values, kinds, result)
    learnt = student.network.table
    assert len(plain.weights) > 1000
    for found, expected in (
        (learnt, plain.weights),
        (errors[..., SIGNED], plain.signed),
        (errors[..., ABSOLUTE], plain.absolute),
    ):
        there = [found[key] for key in expected]
        np.testing.assert_allclose(there, list(expected.values()), rtol=1e-3, atol=1e-5)
    assert np.count_nonzero(errors[..., ABSOLUTE]) == len(plain.absolute)


def test_values_and_bounds_of_inner_nodes_are_learned():
    config = TreeStrapConfig(inner=2)
    errors, plain = np.zeros((STAGES, SIZE, 2), np.float32), Plain(config)
    student, ws = learner_state(treestrap_network(), errors, config), workspace()
    rng, owner, learnt = np.random.default_rng(8), 5, 0
    for at, board in enumerate(random_boards(8, 150, 80)):
        position = board.position
        whose = owner if rng.random() < 0.8 else owner + 1
        remaining, bound = int(rng.integers(1, 4)), int(rng.integers(4))
        worth = np.float32(rng.uniform(-0.6, 0.6))
        write_tt(FULL_WIDTH, ws.table[at], position, whose, remaining, worth, bound, 0)
        side, pieces = oracle.read_fen(board.fen())
        if (
            whose != owner
            or remaining < 2
            or bound == NONE
            or oracle.legal_turns(side, pieces)[0].captured
        ):
            continue
        target, thought = min(max(2.0 * float(worth), -1.0), 1.0), plain.value(side, pieces)
        if bound == EXACT or (thought < target if bound == LOWER else thought > target):
            plain.correct(side, pieces, target)
            learnt += 1
    ws.stored.fill(-1)
    treestrap_update(student, ws, owner, 2.0)
    assert learnt == student.counters[UPDATES] > 15
    there = [student.network.table[key] for key in plain.weights]
    np.testing.assert_allclose(there, list(plain.weights.values()), rtol=1e-3, atol=1e-5)
    assert np.count_nonzero(errors[..., ABSOLUTE]) == len(plain.absolute)


def test_packed_tables_round_trip_rounded_and_small():
    table = np.zeros((STAGES, SIZE), np.float32)
    rng = np.random.default_rng(7)
    table.ravel()[rng.integers(0, table.size, 20_000)] = rng.normal(0, 0.1, 20_000)
    table[0, 0], table[-1, -1] = -3.0, 5.5
    packed = pack(table)
    assert len(packed) < 5 * 20_000
    there = np.nonzero(table)
    expected = np.rint(table[there] / STEP)
    back = unpack(packed).reshape(table.shape)
    assert np.array_equal(back[there], expected)
    assert np.count_nonzero(back) == np.count_nonzero(expected)
    assert not np.any(unpack(pack(np.zeros_like(table))))


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed[::-1],
        lambda packed: packed[:0],
        lambda packed: packed.astype(float),
        lambda packed: packed[None],
    ],
)
def test_damaged_tables_are_refused(damage):
    table = np.ones((STAGES, SIZE), np.float32)
    table[:, 1000:] = 0
    with pytest.raises(ValueError, match=r"unpacked|packed tables are"):
        unpack(damage(pack(table)))


def test_rounded_tables_evaluate_like_their_multiples():
    rng = np.random.default_rng(17)
    levels = rng.integers(-300, 300, (STAGES, SIZE)).astype(np.int16)
    rounded, plain = treestrap_network(levels, STEP), treestrap_network(levels * np.float32(STEP))
    for position in (board.position for board in random_boards(18, 20, 90)):
        for view in (0, 1):
            assert evaluate_position(rounded, position, view) == evaluate_position(
                plain, position, view
            )


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e6])
def test_unpackable_tables_are_refused(wrong):
    table = np.zeros((STAGES, SIZE), np.float32)
    table[1, 1] = wrong
    with pytest.raises(ValueError, match="too large"):
        pack(table)


def test_tables_of_wrong_size_are_refused():
    with pytest.raises(ValueError, match="entries"):
        treestrap_network(np.zeros((STAGES, 5), np.float32))
    with pytest.raises(ValueError, match="float32 or int16, not int64"):
        treestrap_network(np.zeros((STAGES, SIZE), np.int64))
    with pytest.raises(ValueError, match="errors"):
        learner_state(treestrap_network(), np.zeros((STAGES, SIZE), np.float32), TreeStrapConfig())
    errors = np.zeros((STAGES, SIZE, 2), np.float32)
    with pytest.raises(ValueError, match="tables of float32, not of int16"):
        learner_state(
            treestrap_network(np.zeros((STAGES, SIZE), np.int16), 2.0**-8),
            errors,
            TreeStrapConfig(),
        )


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("alpha", 0.0),
        ("lam", 1.1),
        ("epsilon", -0.1),
        ("depth", 0),
        ("inner", -1),
        ("random_plies", -1),
        ("max_plies", 0),
    ],
)
def test_invalid_settings_are_refused(name, wrong):
    errors = np.zeros((STAGES, SIZE, 2), np.float32)
    with pytest.raises(ValueError, match="not"):
        learner_state(treestrap_network(), errors, TreeStrapConfig(**{name: wrong}))


def test_window_partners_are_mutual():
    pairs = itertools.pairwise(WINDOWS)
    turned = [{33 - square for square in squares} for squares in WINDOWS]
    assert sum(set(b) == {33 - s for s in a} for a, b in pairs) == (53 - 3) / 2
    assert all(squares in map(set, WINDOWS) for squares in turned)
