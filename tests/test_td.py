"""Temporal-difference learning against the paper's equation in plain Python."""

import itertools
from collections import Counter

import numpy as np
import pytest

from agents.alphabeta import AlphaBeta
from agents.baselines.uniform import Uniform
from agents.match import opening_line, play_game
from agents.ntuple import td
from agents.ntuple.drawing import SINGLES, THESIS
from agents.ntuple.ntuple import ntuple, table_size
from agents.ntuple.td import Learning, learn
from agents.play import DRAW, DrawRules
from agents.workspace import workspace
from checkers_env.board import Board
from checkers_env.openings import TWO_MOVE
from checkers_env.rules import PATH, write_successors
from tests import naive
from tests.test_ntuple import MIXED, indices
from tests.test_search import move_values, position_of

SHORT = DrawRules(max_moves=30)
PLAIN = Learning(alpha=0.05)


class Student:
    """Self-play and learning with a list of weights, digits read off the board, and tanh."""

    def __init__(self, tuples, table, learning, by_colour):
        self.tuples, self.table, self.learning = tuples, list(table), learning
        self.sides = "b" if by_colour else "bw"
        self.by_colour, self.errors, self.results, self.plies = by_colour, [], [], 0

    def f(self, board, side):
        """The sum before tanh as `side` sees it, in the kernel's order, so that ties are ties."""
        _, pieces = naive.read_fen(board.fen())
        found = [self.table[index] for index in indices(self.tuples, pieces, side)]
        whole = len(found) // 4 * 4
        chains = [sum(found[i:whole:4]) for i in range(4)]
        chains[0] += sum(found[whole:])
        difference = sum(naive.inputs(pieces, side, 1.0).values())
        return (chains[0] + chains[1]) + (chains[2] + chains[3]) + difference

    def worth(self, board, mover):
        """What a position that `mover` has reached is worth to it."""
        if not board.legal_moves:
            return np.inf
        if self.by_colour and mover == "w":
            return -self.f(board, "b")
        return self.f(board, mover)

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

        `trace` holds, for each position so far and side, its indices and its v at that time.
        """
        for side, target in zip(self.sides, targets, strict=True):
            error = target - trace[-1][side][1]
            self.errors.append(abs(error))
            for back, visited in enumerate(reversed(trace)):
                found, v = visited[side]
                for index in found:
                    step = alpha * self.learning.lam**back * error * (1 - v**2)
                    self.table[index] += step

    def visit(self, board):
        _, pieces = naive.read_fen(board.fen())
        return {
            side: (indices(self.tuples, pieces, side), np.tanh(self.f(board, side)))
            for side in self.sides
        }

    def play(self, game, line, rng, max_moves):
        half_at = self.learning.half_at
        alpha = self.learning.alpha * (half_at / (half_at + game) if half_at else 1)
        board, trace = Board(max_moves=max_moves), []
        for word in line.split():
            board.push(word)
        for ply in itertools.count():
            if board.outcome():
                break
            if trace:
                targets = [np.tanh(self.f(board, side)) for side in self.sides]
                self.update(trace, targets, alpha)
            trace.append(self.visit(board))
            explores = ply < self.learning.random_plies
            if not explores and self.learning.epsilon:
                explores = rng.random() < self.learning.epsilon
            if explores:
                trace = []
                board.push(board.legal_moves[rng.integers(0, len(board.legal_moves))])
            else:
                board.push(self.choose(board, rng))
        winner = board.outcome().winner
        reward = 0 if winner is None else 1 if winner == 0 else -1
        if trace:
            self.update(trace, [reward, -reward][: len(self.sides)], alpha)
        self.results.append(winner)
        self.plies += board.ply


def lines_of(openings):
    paths = [opening_line(opening)[1] for opening in openings]
    longest = max(map(len, paths))
    return np.array([(*line, *[0] * (longest - len(line))) for line in paths])


CASES = {
    "TD(0)": (THESIS, PLAIN, ()),
    "TD(0), mixed tuples": (MIXED, PLAIN, ()),
    "TD(0.7)": (MIXED, PLAIN._replace(lam=0.7), ()),
    "TD(1)": (SINGLES, PLAIN._replace(lam=1.0, alpha=0.01), ()),
    "slower and slower": (MIXED, PLAIN._replace(alpha=0.2, half_at=2.0), ()),
    "epsilon": (MIXED, PLAIN._replace(epsilon=0.2, lam=0.5), ()),
    "random plies": (MIXED, PLAIN._replace(random_plies=6), ()),
    "openings": (MIXED, PLAIN, ("", "9-13 22-18", "11-15", "12-16 24-20 8-12")),
}


@pytest.mark.parametrize("by_colour", [True, False], ids=["colour", "own"])
@pytest.mark.parametrize(("tuples", "learning", "openings"), CASES.values(), ids=CASES)
def test_learning_follows_the_equation_game_by_game(tuples, learning, openings, by_colour):
    games = 4
    table = np.random.default_rng(1).normal(0, 0.02, table_size(tuples)) * (tuples is not THESIS)
    student = Student(tuples, table, learning, by_colour)
    rng = np.random.default_rng(2)
    for game in range(games):
        line = openings[rng.integers(0, len(openings))] if openings else ""
        student.play(game, line, rng, SHORT.max_moves)
    system = ntuple(tuples, table.copy(), by_colour=by_colour)
    lines = lines_of(openings) if openings else None
    again = np.random.default_rng(2)
    tally = learn(system, games, again, learning, openings=lines, rules=SHORT)
    assert again.random() == rng.random()  # as much was left to chance
    ends = [student.results.count(winner) for winner in (0, 1, None)]
    assert list(tally[:5]) == [*ends, student.plies, len(student.errors)]
    assert tally.mean_error == pytest.approx(np.mean(student.errors), rel=1e-4)
    assert np.abs(system.table - table).max() > 1e-3
    np.testing.assert_allclose(system.table, student.table, atol=2e-6)


def test_the_winner_is_told():
    """One move before the end the result stands in place of v(x'), for both views."""
    for fen, reward in (("B:W6:B1", 1.0), ("W:W26:B22", -1.0), ("B:WK10:BK1", 0.0)):
        for by_colour in (True, False):
            system = ntuple(SINGLES, by_colour=by_colour, difference=0.0)
            student = td.learner(system, Learning(alpha=0.5), 10)
            student.sums[td.ALPHA] = 0.5
            winner = play_game(student, student, opening=fen, rules=DrawRules(1)).result.winner
            td.finish(student, winner)
            assert winner == {1.0: 0, -1.0: 1, 0.0: DRAW}[reward]
            _, pieces = naive.read_fen(fen)
            expected = np.zeros(160)
            for side in "b" if by_colour else "bw":
                own = reward if side == "b" else -reward
                expected[indices(SINGLES, pieces, side)] += 0.5 * own
            np.testing.assert_allclose(system.table, expected, atol=1e-6)


def test_from_zero_weights_equal_moves_are_drawn_by_lot():
    system, board, draws = ntuple(SINGLES, difference=0.0), Board(), 1400
    ws, rng = workspace(), np.random.default_rng(3)
    count = write_successors(ws.rows, 0, *position_of(board))
    found = [td.best_successor(system, position_of(board), ws, count, rng) for _ in range(draws)]
    counts = Counter(found)
    assert set(counts) == set(ws.rows[:count, PATH].tolist())
    assert max(abs(n - draws / 7) for n in counts.values()) < 5 * np.sqrt(draws / 7)


def table_after(seed, *parts, learning=PLAIN, **options):
    system, rng, first = ntuple(THESIS, by_colour=True), np.random.default_rng(seed), 0
    for games in parts:
        learn(system, games, rng, learning, first=first, **options)
        first += games
    return system.table.tolist()


@pytest.mark.parametrize(
    "learning", [PLAIN, Learning(0.1, half_at=3.0, lam=0.5, epsilon=0.1), Learning(0.1, depth=1)]
)
def test_equal_seeds_make_equal_tables_in_one_call_or_several(learning):
    whole = table_after(4, 12, learning=learning)
    assert whole == table_after(4, 12, learning=learning)
    assert whole == table_after(4, 5, 0, 7, learning=learning)
    assert whole != table_after(5, 12, learning=learning)


def test_nothing_is_learnt_from_random_moves():
    for learning in (Learning(0.1, epsilon=1.0), Learning(0.1, random_plies=1000)):
        system = ntuple(SINGLES)
        assert learn(system, 20, np.random.default_rng(6), learning).updates == 0
        assert not system.table.any()


def test_openings_are_drawn_equally_often():
    """With learning rate and chance as they are, the openings of many games show in the plies."""
    lines = lines_of(("", *TWO_MOVE))
    system = ntuple(SINGLES)
    learnt = learn(system, 2000, np.random.default_rng(7), openings=lines, rules=DrawRules(2))
    assert learnt.plies == 2000 * 4
    from_start = learnt.updates / 2 - 2000 * 2  # two more moves of one's own without an opening
    assert abs(from_start / 2 - 2000 / 44) < 5 * np.sqrt(2000 / 44)


@pytest.mark.parametrize("by_colour", [True, False])
def test_a_searching_learner_plays_the_best_move_at_its_weights_of_the_moment(by_colour):
    """Each move of a recorded game is a best one by minimax, with the weights as they then were."""
    table = np.random.default_rng(8).normal(0, 0.1, 160)
    learning = Learning(0.5, depth=2)
    system = ntuple(SINGLES, table.copy(), by_colour=by_colour)
    student = td.learner(system, learning, 60)
    student.sums[td.ALPHA] = learning.alpha
    rng = np.random.default_rng(9)
    game = play_game(student, student, rules=SHORT, rng=rng)
    oracle, board, trace = Student(SINGLES, table, learning, by_colour), Board(), []
    for move in game.board.moves:
        if trace:
            targets = [np.tanh(oracle.f(board, side)) for side in oracle.sides]
            oracle.update(trace, targets, learning.alpha)
        trace.append(oracle.visit(board))

        def judge(side, pieces):
            seen = "b" if by_colour else side
            f = oracle.f(Board(naive.write_fen("b", pieces)), seen)
            return np.tanh(f) if seen == side else -np.tanh(f)

        values = move_values(board, judge, 2, True)
        chosen = values[board.legal_moves.index(move)]
        assert chosen == pytest.approx(max(values), abs=1e-5)
        board.push(move)
    assert np.abs(system.table - table).max() > 0.2


def test_a_game_through_the_environment_teaches_the_same():
    tables = []
    for engine in ("kernel", "env"):
        system = ntuple(THESIS)
        student = td.learner(system, PLAIN, 60)
        student.sums[td.ALPHA] = PLAIN.alpha
        rng = np.random.default_rng(10)
        result = play_game(student, student, rules=SHORT, rng=rng, engine=engine).result
        td.finish(student, result.winner)
        tables.append(system.table.tolist())
    assert tables[0] == tables[1]
    assert any(tables[0])


def wins(player, games):
    """Games won out of so many against the random player, each colour in turn."""
    rng, won = np.random.default_rng(11), 0
    for game in range(games):
        players = (player, Uniform()) if game % 2 == 0 else (Uniform(), player)
        won += play_game(*players, rng=rng).result.winner == game % 2
    return won


@pytest.mark.parametrize("by_colour", [True, False])
def test_it_learns_to_beat_the_random_player_without_being_told_of_pieces(by_colour):
    system = ntuple(SINGLES, difference=0.0, by_colour=by_colour)
    player = AlphaBeta(system, 1, random_ties=True)
    assert wins(player, 60) < 40
    learn(system, 4000, np.random.default_rng(12), Learning(alpha=0.01))
    assert wins(player, 60) > 54


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0.0}, "alpha is above 0 and at most 1, not 0.0"),
        ({"alpha": float("nan")}, "alpha"),
        ({"alpha": 1.5}, "alpha"),
        ({"lam": 1.1}, "lambda and epsilon are from 0 to 1"),
        ({"epsilon": -0.1}, "lambda and epsilon are from 0 to 1"),
        ({"half_at": -1.0}, "half_at and random_plies"),
        ({"random_plies": -1}, "half_at and random_plies"),
        ({"depth": 65}, "0 to 64, not 65"),
        ({"depth": -1}, "0 to 64, not -1"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        learn(ntuple(SINGLES), 1, np.random.default_rng(0), Learning()._replace(**change))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": -1}, "games and first"),
        ({"first": -1}, "games and first"),
        ({"rules": DrawRules(0)}, "greatest number of moves"),
        ({"openings": np.zeros((0, 2))}, "openings are a matrix"),
        ({"openings": np.zeros(2)}, "openings are a matrix"),
        ({"openings": np.zeros((1, 201))}, "openings are a matrix"),
    ],
)
def test_impossible_games_are_refused(options, message):
    arguments = {"games": 1, "rng": np.random.default_rng(0)} | options
    with pytest.raises(ValueError, match=message):
        learn(ntuple(SINGLES), **arguments)
