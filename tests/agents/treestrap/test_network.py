"""The large n-tuple network against a naive computation and plain sums."""

import numpy as np
import pytest

from agents.evaluator import evaluate_position, start_state
from agents.search.selective import FULL_WIDTH
from agents.search.transposition import EXACT, LOWER, NONE, write_tt
from agents.search.workspace import workspace
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
    play_one,
    treestrap_update,
)
from agents.treestrap.network import (
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
from checkers_env.movegen import SQUARES, Position
from tests import oracle
from tests.agents.search.test_alphabeta import random_boards

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
    """Return positions of 2 to 24 pieces."""
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
    write_entries(position, view, state, entries)
    return entries.tolist()


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
    treestrap_update(student, ws, owner, 0.5)
    assert learnt == student.counters[UPDATES] > 15
    there = [student.network.table[key] for key in plain.weights]
    np.testing.assert_allclose(there, list(plain.weights.values()), rtol=1e-3, atol=1e-5)
    assert np.count_nonzero(errors[..., ABSOLUTE]) == len(plain.absolute)


def test_tables_of_wrong_size_are_refused():
    with pytest.raises(ValueError, match="entries"):
        treestrap_network(np.zeros((STAGES, 5), np.float32))
    with pytest.raises(ValueError, match="float32 or int16, not int64"):
        treestrap_network(np.zeros((STAGES, SIZE), np.int64))
    with pytest.raises(ValueError, match="errors"):
        learner_state(treestrap_network(), np.zeros((STAGES, SIZE), np.float32), TreeStrapConfig())


def test_game_of_self_play_ends_at_the_first_repetition():
    start, config = Board("B:WK3,K10,K32:BK1,K21").position, TreeStrapConfig(depth=2, inner=1)
    for seed in range(10):
        network, errors = treestrap_network(), np.zeros((STAGES, SIZE, 2), np.float32)
        student, rng = learner_state(network, errors, config), np.random.default_rng(seed)
        plies, result, _ = play_one(student, start, workspace(), rng)
        past = list(map(tuple, student.positions[: plies + 1].tolist()))
        assert len(set(past[:-1])) == plies
        if plies < config.max_plies and result == 0:
            assert past[-1] in past[:-1]
