"""Temporal-difference learning against the equations in plain Python."""

import itertools
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pytest

from agents.baselines.material import Material
from agents.baselines.samuel import samuel
from agents.evaluator import is_antisymmetric
from agents.match import opening_line, play_game
from agents.ntuple import td as td
from agents.ntuple.network import ntuple, table_size
from agents.ntuple.td import TDConfig, finish, learn
from agents.ntuple.tuples import SINGLES, TABLE_6_1
from checkers_env.board import Board
from checkers_env.state import DrawRules
from tests import oracle as naive
from tests.agents.baselines.test_samuel import features, weights
from tests.agents.ntuple.test_network import MIXED, indices
from tests.agents.search.test_alphabeta import DECIDED, ENDINGS, TOO_WIDE, Tempo

SHORT = DrawRules(max_moves=30)
PLAIN = TDConfig(alpha=0.05)


class Tables(NamedTuple):
    """Digits of a position for an n-tuple network."""

    tuples: tuple[tuple[int, ...], ...]
    black_perspective: bool
    difference: float = 1.0

    @property
    def sides(self):
        return "b" if self.black_perspective else "bw"

    def amounts(self, mover, pieces, side):
        """Return what a unit of each weight adds to the sum."""
        return dict.fromkeys(indices(self.tuples, pieces, side), 1)

    def total(self, weights, mover, pieces, side):
        """Return the sum before tanh for `side`, in the kernel's order, so that ties are ties."""
        found = [weights[index] for index in indices(self.tuples, pieces, side)]
        whole = len(found) // 4 * 4
        chains = [sum(found[i:whole:4]) for i in range(4)]
        chains[0] += sum(found[whole:])
        difference = self.difference * sum(naive.inputs(pieces, side, 1.0).values())
        return (chains[0] + chains[1]) + (chains[2] + chains[3]) + difference


class Samuels(NamedTuple):
    """Samuel's features of a position."""

    sides: str = "b"

    def amounts(self, mover, pieces, side):
        return dict(enumerate(features(mover, pieces, side)))

    def total(self, weights, mover, pieces, side):
        return sum(weights[i] * x for i, x in self.amounts(mover, pieces, side).items())


class Student:
    """Self-play and learning with a list of weights, naive features, and tanh."""

    def __init__(self, reading, weights, learning):
        self.reading, self.weights, self.learning = reading, list(weights), learning
        self.sides, self.errors, self.results, self.plies = reading.sides, [], [], 0

    def value(self, mover, pieces, side):
        """Return v for `side`; of a finished position, the result."""
        if not naive.legal_turns(mover, pieces):
            return -1.0 if mover == side else 1.0
        return np.tanh(self.reading.total(self.weights, mover, pieces, side))

    def worth(self, board, mover):
        """Return the value of a position for `mover`, who has reached it."""
        if not board.legal_moves:
            return np.inf
        seen = mover if mover in self.sides else "b"
        worth = self.reading.total(self.weights, *naive.read_fen(board.fen()), seen)
        return worth if seen == mover else -worth

    def look(self, board, rng):
        """Return the position to learn about, and the move if it is known by now."""
        return naive.read_fen(board.fen()), None

    def choose(self, board, rng):
        mover, best, equals = "bw"[board.turn], None, []
        if len(board.legal_moves) == 1:
            return board.legal_moves[0]
        for move in list(board.legal_moves):
            board.push(move)
            worth = self.worth(board, mover)
            board.pop()
            if best is None or worth > best:
                best, equals, chosen = worth, [move], move
            elif worth == best:
                equals.append(move)
                if rng.integers(0, len(equals)) == 0:
                    chosen = move
        return chosen

    def update(self, trace, targets, alpha):
        """Equation 6.2 for each side that learns, at the weights before any of the updates.

        `trace` holds, for each position so far and side, what a unit of each weight added to the
        sum, and v at that time.
        """
        for side, target in zip(self.sides, targets, strict=True):
            error = target - trace[-1][side][1]
            self.errors.append(abs(error))
            for back, visited in enumerate(reversed(trace)):
                amounts, v = visited[side]
                step = alpha * self.learning.lam**back * error * (1 - v**2)
                for index, amount in amounts.items():
                    self.weights[index] += step * amount

    def targets(self, position):
        return [self.value(*position, side) for side in self.sides]

    def visit(self, position):
        return {
            side: (self.reading.amounts(*position, side), self.value(*position, side))
            for side in self.sides
        }

    def play(self, board, rng, game=0):
        half_at = self.learning.half_at
        alpha = self.learning.alpha * (half_at / (half_at + game) if half_at else 1)
        trace = []
        for ply in itertools.count():
            if board.outcome():
                break
            about, best = self.look(board, rng)
            if trace:
                self.update(trace, self.targets(about), alpha)
            trace.append(self.visit(about))
            explores = ply < self.learning.random_plies
            if not explores and self.learning.epsilon:
                explores = rng.random() < self.learning.epsilon
            if explores:
                trace = []
                board.push(board.legal_moves[rng.integers(0, len(board.legal_moves))])
            else:
                board.push(best or self.choose(board, rng))
        winner = board.outcome().winner
        reward = 0 if winner is None else 1 if winner == 0 else -1
        if trace:
            self.update(trace, [reward, -reward][: len(self.sides)], alpha)
        self.results.append(winner)
        self.plies += board.ply


class LeafStudent(Student):
    """Learns about the ends of principal variations, which it finds by plain minimax.

    Leaves of equal worth are taken for one another: the weights must be such that those are alike.
    """

    def __init__(self, reading, weights, learning):
        super().__init__(reading, weights, learning)
        self.decided = 0

    def leaf(self, mover, pieces, depth):
        """Return the position's value to Black, and the leaf that has this value."""
        turns = naive.legal_turns(mover, pieces)
        if not turns or (depth <= 0 and not turns[0].captured):
            return self.value(mover, pieces, "b"), (mover, pieces)
        found = [self.leaf(naive.OTHER[mover], turn.after, depth - 1) for turn in turns]
        return (max if mover == "b" else min)(found, key=itemgetter(0))

    def look(self, board, rng):
        moves, found = board.legal_moves, []
        for row in range(len(moves) - 1, 0, -1):
            other = rng.integers(0, row + 1)
            moves[row], moves[other] = moves[other], moves[row]
        for move in moves:
            board.push(move)
            position = naive.read_fen(board.fen())
            board.pop()
            found.append((*self.leaf(*position, self.learning.depth - 1), move))
        _, end, best = (max if board.turn == 0 else min)(found, key=itemgetter(0))
        self.decided += not naive.legal_turns(*end)
        return end, best


def opened(line, max_moves):
    board = Board(max_moves=max_moves)
    for word in line.split():
        board.push(word)
    return board


def lines_of(openings):
    paths = [opening_line(opening)[1] for opening in openings]
    longest = max(map(len, paths))
    return np.array([(*line, *[0] * (longest - len(line))) for line in paths])


CASES = {
    "TD(0)": (TABLE_6_1, PLAIN, ()),
    "TD(0), mixed tuples": (MIXED, PLAIN, ()),
    "TD(0.7)": (MIXED, PLAIN._replace(lam=0.7), ()),
    "TD(1)": (SINGLES, PLAIN._replace(lam=1.0, alpha=0.01), ()),
    "slower and slower": (MIXED, PLAIN._replace(alpha=0.2, half_at=2.0), ()),
    "epsilon": (MIXED, PLAIN._replace(epsilon=0.2, lam=0.5), ()),
    "random plies": (MIXED, PLAIN._replace(random_plies=6), ()),
    "openings": (MIXED, PLAIN, ("", "9-13 22-18", "11-15", "12-16 24-20 8-12")),
}


@pytest.mark.parametrize("black_perspective", [True, False], ids=["colour", "own"])
@pytest.mark.parametrize(("tuples", "learning", "openings"), CASES.values(), ids=CASES)
def test_td_update_equals_the_equation_game_by_game(tuples, learning, openings, black_perspective):
    games = 4
    table = np.random.default_rng(1).normal(0, 0.02, table_size(tuples)) * (tuples is not TABLE_6_1)
    student = Student(Tables(tuples, black_perspective), table, learning)
    rng = np.random.default_rng(2)
    for game in range(games):
        line = openings[rng.integers(0, len(openings))] if openings else ""
        student.play(opened(line, SHORT.max_moves), rng, game)
    system = ntuple(tuples, table.copy(), black_perspective=black_perspective)
    lines = lines_of(openings) if openings else None
    again = np.random.default_rng(2)
    tally = learn(system, games, again, learning, openings=lines, rules=SHORT)
    assert again.random() == rng.random()  # as much was left to chance
    ends = [student.results.count(winner) for winner in (0, 1, None)]
    assert list(tally[:5]) == [*ends, student.plies, len(student.errors)]
    assert tally.mean_error == pytest.approx(np.mean(student.errors), rel=1e-4)
    assert np.abs(system.table - table).max() > 1e-3
    np.testing.assert_allclose(system.table, student.weights, atol=2e-6)


TD_LEAF = {
    "1 ply": TDConfig(0.05, depth=1, leaf=True),
    "2 plies": TDConfig(0.05, depth=2, leaf=True),
    "lambda": TDConfig(0.05, lam=0.7, depth=2, leaf=True),
    "slower and slower": TDConfig(0.2, half_at=2.0, lam=1.0, depth=1, leaf=True),
    "epsilon": TDConfig(0.05, epsilon=0.3, lam=0.5, depth=1, leaf=True),
    "random plies": TDConfig(0.05, random_plies=5, depth=2, leaf=True),
}


def small_tables():
    """An n-tuple system in which leaves of equal worth have equal indices; its reading; its table.

    The entries are random, and the sums too small for tanh to make them equal in float32.
    """
    table = np.random.default_rng(13).normal(0, 0.1, table_size(MIXED))
    system = ntuple(MIXED, table, black_perspective=True, difference=0.1)
    return system, Tables(MIXED, True, 0.1), system.table, 1.0


def small_features():
    """Samuel's features; they are large numbers, so steps must be smaller."""
    system = samuel(weights(14, 0.03))
    return system, Samuels(), system.weights, 0.02


either_system = pytest.mark.parametrize("made", [small_tables, small_features])


@either_system
@pytest.mark.parametrize("learning", TD_LEAF.values(), ids=TD_LEAF)
def test_td_leaf_update_equals_the_equation_game_by_game(made, learning):
    games, rules = 3, DrawRules(8)
    system, reading, learnt, pace = made()
    learning = learning._replace(alpha=learning.alpha * pace)
    student, before = LeafStudent(reading, learnt, learning), learnt.copy()
    rng, again = np.random.default_rng(15), np.random.default_rng(15)
    for game in range(games):
        student.play(opened("", rules.max_moves), rng, game)
    tally = learn(system, games, again, learning, rules=rules)
    assert again.random() == rng.random()
    ends = [student.results.count(winner) for winner in (0, 1, None)]
    assert list(tally[:5]) == [*ends, student.plies, len(student.errors)]
    assert tally.mean_error == pytest.approx(np.mean(student.errors), rel=1e-4)
    assert np.abs(learnt - before).max() > 1e-4
    np.testing.assert_allclose(learnt, student.weights, atol=2e-6)


def test_td_leaf_update_equals_the_equation_in_decided_games():
    decided, won = 0, set()
    for number, fen in enumerate(ENDINGS + DECIDED):
        system, reading, learnt, pace = small_features()
        learning = TDConfig(0.05 * pace, lam=0.8, depth=2 + number % 2, leaf=True)
        oracle, student = (
            LeafStudent(reading, learnt, learning),
            td.td_learner(system, learning, 40),
        )
        student.sums[td.ALPHA] = learning.alpha
        rng, again = np.random.default_rng(number), np.random.default_rng(number)
        oracle.play(Board(fen, max_moves=10), rng)
        game = play_game(student, student, opening=fen, rules=DrawRules(10), rng=again)
        finish(student, game.result.winner)
        assert game.result.plies == oracle.plies
        np.testing.assert_allclose(learnt, oracle.weights, atol=2e-6)
        decided += oracle.decided
        won.add(game.result.winner)
    assert decided > 10
    assert won >= {0, 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": DrawRules(None)}, "max_moves is None"),
        ({"openings": np.zeros((0, 2))}, "openings are a matrix"),
        ({"openings": np.zeros(2)}, "openings are a matrix"),
        ({"openings": np.zeros((1, 201))}, "openings are a matrix"),
    ],
)
def test_invalid_games_are_refused(options, message):
    arguments = {"games": 1, "rng": np.random.default_rng(0)} | options
    with pytest.raises(ValueError, match=message):
        learn(ntuple(SINGLES), **arguments)


@pytest.mark.parametrize(("black_perspective", "depth"), [(True, 0), (False, 2), (False, 0)])
def test_td_leaf_needs_a_search_and_an_antisymmetric_evaluator(black_perspective, depth):
    with pytest.raises(ValueError, match="TD-leaf takes a depth of 1 or more, and a system"):
        td.td_learner(
            ntuple(SINGLES, black_perspective=black_perspective),
            TDConfig(depth=depth, leaf=True),
            10,
        )


@is_antisymmetric.register(Tempo)
def tempo_has_two_views(tempo):
    return False


def test_unsuitable_state_is_refused():
    with pytest.raises(ValueError, match="state"):
        td.td_learner(TOO_WIDE, PLAIN, 10)


def test_evaluator_without_a_weighted_sum_cannot_learn():
    with pytest.raises(NotImplementedError, match="is_antisymmetric"):
        td.td_learner(Material(), PLAIN, 10)
