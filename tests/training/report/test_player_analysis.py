"""Figures of the player report against plain computations."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare

import agents
from agents.agent import PlayerAgent
from agents.baselines.material import Material
from agents.endgame.indexing import index_to_position, material_slices, slice_size, slice_start
from agents.endgame.probe import DRAWN, probe_board
from agents.endgame.tables import load_tablebase
from agents.search.player import AlphaBeta
from checkers_env.board import Board
from tests import oracle
from tests.agents.endgame.test_endgame import solve_slowly
from training.league.records import GameRecord
from training.report import player_analysis
from training.report.player_analysis import (
    Accuracy,
    Timing,
    choice_positions,
    measure_accuracy,
    measure_determinism,
    measure_time,
)


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    return load_tablebase(3, tmp_path_factory.mktemp("endgame"))


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


def fens_after(board):
    """Return the position after each move, by its squares, as the slow rules have it."""
    side = oracle.OTHER["bw"[board.turn]]
    return {turn.squares: oracle.write_fen(side, turn.after) for turn in turns_of(board)}


@pytest.mark.parametrize("value", [1, 0])
def test_two_piece_endings_equal_the_slow_rules(tables, value):
    drawn = list(player_analysis.sample_endings(tables, 2, value, 40, np.random.default_rng(0)))
    plies = solve_slowly([board.fen() for board, _ in drawn])

    def move_value(fen):
        return 0 if plies[fen] == DRAWN else 1 if plies[fen] % 2 else -1

    assert len(drawn) == 40
    for board, good in drawn:
        kept = {squares for squares, fen in fens_after(board).items() if -move_value(fen) == value}
        assert move_value(board.fen()) == value
        assert {move.squares for move in good} == kept
        assert 0 < len(good) < len(turns_of(board))


@pytest.mark.parametrize("value", [1, 0])
def test_good_moves_of_three_piece_endings_equal_the_tables(tables, value):
    for board, good in player_analysis.sample_endings(
        tables, 3, value, 60, np.random.default_rng(1)
    ):
        assert (board.black | board.white).bit_count() == 3
        assert probe_board(tables, board).value == value
        values = {
            squares: -probe_board(tables, Board(fen)).value
            for squares, fen in fens_after(board).items()
        }
        assert {move.squares for move in good} == {s for s, v in values.items() if v == value}
        assert max(values.values()) == value > min(values.values())
        assert board.rules.max_moves is None


@pytest.mark.parametrize("value", [1, 0])
def test_every_test_ending_has_equal_probability(tables, value):
    every = set()
    for part in material_slices(2):
        begin = slice_start(tables.indexing, part)
        for number in range(begin, begin + slice_size(part)):
            board = Board.from_position(*index_to_position(tables.indexing, part, number))
            values = {value_after(tables, board, move) for move in board.legal_moves}
            if len(values) > 1 and max(values) == value:
                every.add(board.fen())
    draws = 12 * len(every)
    rng = np.random.default_rng(2)
    found = Counter(
        board.fen() for board, _ in player_analysis.sample_endings(tables, 2, value, draws, rng)
    )
    assert set(found) <= every
    assert chisquare([found[fen] for fen in every]).pvalue > 1e-3


def drawn_tests(tables, pieces, positions, seed):
    """Return the won and the drawn endings that `accuracy` tries with this seed."""
    rng = np.random.default_rng(seed)
    return [
        list(player_analysis.sample_endings(tables, pieces, value, positions, rng))
        for value in (1, 0)
    ]


@pytest.mark.parametrize("rule", [first, last])
@pytest.mark.parametrize("pieces", [2, 3])
def test_accuracy_is_the_share_of_good_moves(tables, rule, pieces):
    agent = Scripted(rule)
    found = measure_accuracy(agent, tables, pieces, 50, np.random.default_rng(3))
    won, drawn = drawn_tests(tables, pieces, 50, 3)
    assert agent.asked == [board.fen() for board, _ in [*won, *drawn]]
    wins, draws = (sum(rule(board) in good for board, good in part) for part in (won, drawn))
    assert found == Accuracy(50, wins, 50, draws)
    assert 0 < wins < 50
    assert 0 < draws < 50


def test_equal_seeds_give_equal_tests(tables):
    fens = [
        [board.fen() for part in drawn_tests(tables, 3, 10, seed) for board, _ in part]
        for seed in (4, 4, 5)
    ]
    assert fens[0] == fens[1]
    assert fens[0] != fens[2]


def test_perfect_player_scores_all_and_worst_player_nothing(tables):
    def worst(board):
        return min(board.legal_moves, key=lambda move: value_after(tables, board, move))

    knowing = PlayerAgent("with tables", AlphaBeta(Material(), 1, tablebase=tables))
    for pieces in (2, 3):
        rng = np.random.default_rng(6)
        assert measure_accuracy(knowing, tables, pieces, 60, rng) == (60, 60, 60, 60)
        assert measure_accuracy(Scripted(worst), tables, pieces, 30, rng) == (30, 0, 30, 0)


def test_random_player_scores_its_expectation(tables):
    found = measure_accuracy(
        agents.make("random", seed=7), tables, 3, 150, np.random.default_rng(8)
    )
    kept = (found.wins_kept, found.draws_kept)
    for part, count in zip(drawn_tests(tables, 3, 150, 8), kept, strict=True):
        chances = np.array([len(good) / len(board.legal_moves) for board, good in part])
        assert abs(count - chances.sum()) < 4 * np.sqrt((chances * (1 - chances)).sum())


def test_no_positions_give_no_accuracy(tables):
    assert measure_accuracy(Scripted(first), tables, 3, 0, np.random.default_rng(0)) == (0, 0, 0, 0)


@pytest.mark.parametrize("pieces", [0, 1, 4])
def test_endings_outside_the_tables_are_refused(tables, pieces):
    with pytest.raises(ValueError, match=f"pieces must be from 2 to 3, .*not {pieces}"):
        measure_accuracy(Scripted(first), tables, pieces, 1, np.random.default_rng(0))


def test_lost_endings_are_not_tested(tables):
    with pytest.raises(ValueError, match=r"1 .a win. or 0 .a draw., not -1"):
        next(player_analysis.sample_endings(tables, 3, -1, 1, np.random.default_rng(0)))


def game(opening, moves, black, white, seed):
    """Return a game of 60 plies at most, its first moves given."""
    board, rng = Board(opening) if ":" in opening else Board(), np.random.default_rng(seed)
    for move in moves:
        board.push(move)
    while board.legal_moves and board.ply < 60:
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    texts = []
    while board.moves:
        texts.insert(0, str(board.pop()))
    return GameRecord(0, black, white, opening, 0.5, "", 0, tuple(texts))


GAMES = [
    game("9-13 22-18", ("9-13", "22-18"), 0, 1, 0),
    game("", (), 1, 0, 1),
    game("W:WK15,K18,22,31:BK1,3,9", (), 0, 2, 2),
    game("9-14 23-19", ("9-14", "23-19"), 2, 1, 3),
]


@pytest.mark.parametrize("player", [0, 1, 2, 3])
def test_sampled_positions_have_several_moves(player):
    expected = []
    for record in GAMES:
        board = Board(record.opening) if ":" in record.opening else Board()
        for text in record.moves:
            to_move = {"b": record.black, "w": record.white}["bw"[board.turn]]
            if to_move == player and len(turns_of(board)) > 1:
                expected.append(board.fen())
            board.push(text)
    assert (len(expected) > 15) == (player != 3)
    for every in (1, 2, 7):
        found = choice_positions(GAMES, player, every)
        assert [board.fen() for board in found] == expected[::every]
        assert all(board.outcome() is None for board in found)
    assert choice_positions(GAMES, player) == choice_positions(GAMES, player, 5)


BOARDS = choice_positions(GAMES, 0, 1)


@pytest.fixture
def clock(monkeypatch):
    """Replace the clock by one that the test advances."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(player_analysis, "time", SimpleNamespace(perf_counter=lambda: clock.now))
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


def test_timing_of_one_move_includes_it(clock):
    assert measure_time(taking(clock, (2.0,)), BOARDS[:1]) == Timing(1, 2.0, 2.0, 2.0)


def test_timing_of_a_real_player_is_consistent():
    found = measure_time(agents.make("material", depth=2), BOARDS[:10])
    assert found.moves == 9
    assert 0 < found.median <= found.longest
    assert found.mean <= found.longest


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


def test_determinism_of_players_is_as_expected():
    assert (
        measure_determinism(lambda seed: agents.make("blondie24", depth=1, seed=seed), BOARDS)
        == 1.0
    )
    boards = BOARDS * 10
    shares = np.array([1 / len(board.legal_moves) for board in boards])
    alike = measure_determinism(lambda seed: agents.make("random", seed=seed), boards) * len(boards)
    assert abs(alike - shares.sum()) < 4 * np.sqrt((shares * (1 - shares)).sum())
    assert measure_determinism(lambda seed: agents.make("random", seed=1), boards) == 1.0


def test_no_boards_give_no_figures():
    with pytest.raises(ValueError, match="at least one position"):
        measure_time(Scripted(first), [])
    with pytest.raises(ValueError, match="at least one position"):
        measure_determinism(lambda seed: Scripted(first), [])
