"""Figures of the player report against plain computations."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare

from agents.endgame.indexing import index_to_position, material_slices, slice_size, slice_start
from agents.endgame.probe import probe_board
from agents.endgame.tables import load_tablebase
from checkers_env.board import Board
from tests import oracle
from tests.training.rating.simulated import random_game
from training.report import examination
from training.report.examination import (
    Timing,
    choice_positions,
    measure_accuracy,
    measure_determinism,
    measure_time,
)


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    return load_tablebase(2, tmp_path_factory.mktemp("endgame"))


class Scripted:
    """Agent that plays by a rule, and records its positions."""

    def __init__(self, rule):
        self.rule = rule
        self.asked = []

    def act(self, board):
        self.asked.append(board.fen())
        move = self.rule(board)
        board.push(move)  # what an agent does to its board must not matter
        return move


def first(board):
    return board.legal_moves[0]


def last(board):
    return board.legal_moves[-1]


def value_after(tables, board, move):
    board = board.copy()
    board.push(move)
    return -probe_board(tables, board).value


def turns_of(board):
    return oracle.legal_turns(*oracle.read_fen(board.fen()))


@pytest.mark.parametrize("value", [1, 0])
def test_good_moves_of_an_ending_keep_its_value(tables, value):
    drawn = list(examination.sample_endings(tables, 2, value, 40, np.random.default_rng(0)))
    assert len(drawn) == 40
    for board, good in drawn:
        values = {move: value_after(tables, board, move) for move in board.legal_moves}
        assert max(values.values()) == value
        assert set(good) == {move for move, found in values.items() if found == value}
        assert 0 < len(good) < len(values)


def test_every_test_ending_has_equal_probability(tables):
    every, value = set(), 1
    for part in material_slices(2):
        begin = slice_start(tables.indexing, part)
        for number in range(begin, begin + slice_size(part)):
            board = Board.from_position(*index_to_position(tables.indexing, part, number))
            values = {value_after(tables, board, move) for move in board.legal_moves}
            if len(values) > 1 and max(values) == value:
                every.add(board.fen())
    draws = 6 * len(every)
    rng = np.random.default_rng(2)
    found = Counter(
        board.fen() for board, _ in examination.sample_endings(tables, 2, value, draws, rng)
    )
    assert set(found) <= every
    assert chisquare([found[fen] for fen in every]).pvalue > 1e-3


@pytest.mark.parametrize("rule", [first, last])
def test_accuracy_is_the_share_of_good_moves(tables, rule):
    agent = Scripted(rule)
    found = measure_accuracy(agent, tables, 2, 20, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    won, drawn = (list(examination.sample_endings(tables, 2, value, 20, rng)) for value in (1, 0))
    assert agent.asked == [board.fen() for board, _ in [*won, *drawn]]
    wins, draws = (sum(rule(board) in good for board, good in part) for part in (won, drawn))
    assert found == [wins, draws]
    assert 0 < wins < 20
    assert 0 < draws < 20


GAMES = [
    random_game(0, "9-13 22-18", plies=60),
    random_game(1, "", black=1, white=0, plies=60),
    random_game(2, "W:WK15,K18,22,31:BK1,3,9", white=2, plies=60),
    random_game(3, "9-14 23-19", black=2, plies=60),
]


@pytest.mark.parametrize("player", [0, 1, 2, 3])
def test_sampled_positions_have_several_moves(monkeypatch, player):
    expected = []
    for record in GAMES:
        board = Board(record.opening) if ":" in record.opening else Board()
        for text in record.moves:
            to_move = {"b": record.black, "w": record.white}["bw"[board.turn]]
            if to_move == player and len(turns_of(board)) > 1:
                expected.append(board.fen())
            board.push(text)
    assert (len(expected) > 15) == (player != 3)
    assert [board.fen() for board in choice_positions(GAMES, player)] == expected[::5]
    monkeypatch.setattr(examination, "EVERY", 1)
    found = choice_positions(GAMES, player)
    assert [board.fen() for board in found] == expected
    assert all(board.outcome() is None for board in found)


BOARDS = choice_positions(GAMES * 5, 0)


@pytest.fixture
def clock(monkeypatch):
    """Replace the clock by one that the test advances."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(examination, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    return clock


def taking(clock, seconds):
    """Return an agent with given times of its moves."""
    left = iter(seconds)

    def think(board):
        clock.now += next(left)
        return first(board)

    return Scripted(think)


def test_timing_excludes_the_first_move(clock):
    agent = taking(clock, (1000.0, 1.0, 2.0, 3.0, 10.0))
    fens = [board.fen() for board in BOARDS[:5]]
    assert measure_time(agent, BOARDS[:5]) == Timing(moves=4, mean=4.0, median=2.5, longest=10.0)
    assert agent.asked == fens == [board.fen() for board in BOARDS[:5]]


def test_determinism_is_the_share_of_equal_moves():
    rules = {1: first, 2: last}
    assert measure_determinism(lambda seed: Scripted(rules[seed]), BOARDS) == 0.0
    assert measure_determinism(lambda seed: Scripted(first), BOARDS) == 1.0

    def few(board):
        return first(board) if len(board.legal_moves) < 8 else last(board)

    rules[2] = few
    expected = sum(len(turns_of(board)) < 8 for board in BOARDS) / len(BOARDS)
    assert measure_determinism(lambda seed: Scripted(rules[seed]), BOARDS) == expected
    assert 0 < expected < 1
