"""Alpha-beta with endgame tables: search values, endings and play elsewhere."""

import functools
import itertools
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import agents
from agents.agent import PlayerAgent
from agents.baselines.material import Material
from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001
from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.indexing import make_indexing
from agents.endgame.probe import EndgameResult, probe_board
from agents.endgame.tables import load_tablebase
from agents.match import ENGINES, play_game
from agents.match_kernel import DRAW
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from agents.search.workspace import MAX_DEPTH, workspace
from checkers_env.bits import popcount
from checkers_env.board import Board
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from tests import oracle
from tests.agents.endgame.test_endgame import random_positions
from tests.agents.search.test_alphabeta import judge_by, move_values, network, searched

EVALUATORS = {"1999": network(BLONDIE_1999, 0), "2001": network(BLONDIE_2001, 1)}
every_evaluator = pytest.mark.parametrize("name", EVALUATORS)
either_leaves = pytest.mark.parametrize("root_perspective", [True, False])
MATE_STEP = 2.0**-20
SURE = 0.99  # beyond it there is nothing but ends of games
EXCHANGES = (  # into endings of three pieces
    "B:W22,K30:BK15,K18",
    "W:WK32,27,22:BK15,K8",
    "B:WK22,21:BK5,14,K13",
    "W:W14,15,K31:B6,K5",
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Use a temporary folder of tables in place of the user's."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHECKERS_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def tables(cache):
    return load_tablebase(3)


def boards_of(pieces, count, seed):
    """Return positions of so many pieces with a choice of moves."""
    numbers = SimpleNamespace(indexing=make_indexing(pieces))
    positions = random_positions(numbers, pieces, 20 * count, seed)
    boards = (Board.from_position(*position, max_moves=None) for position in positions)
    return list(itertools.islice((b for b in boards if len(b.legal_moves) > 1), count))


def endings_of(tables, value, count, seed):
    """Return endings of the tables' size with `value` for the side to move."""
    boards = boards_of(tables.indexing.pieces, 40 * count, seed)
    return [board for board in boards if probe_board(tables, board).value == value][:count]


def pieces_on(board):
    return popcount(board.black | board.white)


def after(board, move):
    board = board.copy()
    board.push(move)
    return board


def knowing(tables, evaluator, depth, **options):
    player = AlphaBeta(evaluator, depth, tablebase=tables, **options)
    return PlayerAgent("with tables", player, np.random.default_rng(0))


@functools.cache
def successors(fen):
    side, pieces = oracle.read_fen(fen)
    turns = oracle.legal_turns(side, pieces)
    return [oracle.write_fen(oracle.OTHER[side], t.after) for t in turns], turns and turns[
        0
    ].captured


def known_minimax(tables, judge, owner):
    """Plain minimax over FENs that stops at the ends it knows, the sooner of two being the better.

    An end is so many plies away as were made, at most to the horizon, and remain to be played.
    """

    @functools.cache
    def value(fen, made, depth):
        following, jumps = successors(fen)
        ending = probe_board(tables, Board(fen)) if following else EndgameResult(-1, 0)
        if ending is not None:
            away = made + (ending.plies or 0)
            return ending.value * (1.0 - MATE_STEP * (away + MAX_DEPTH - depth))
        if made == depth and not jumps:
            side, pieces = oracle.read_fen(fen)
            seen = judge(owner or side, pieces) / 2
            return seen if owner in (None, side) else -seen
        return max(-value(then, min(made + 1, depth), depth) for then in following)

    return value


def known_values(board, tables, judge, depth, root_perspective):
    """Return the value of each legal move."""
    value = known_minimax(tables, judge, "bw"[board.turn] if root_perspective else None)
    return [-value(after(board, move).fen(), 1, depth) for move in board.legal_moves]


def assert_search_is_minimax(board, tables, name, judge, depth, root_perspective, ws):
    values = known_values(board, tables, judge, depth, root_perspective)
    seer = TablebaseEvaluator(EVALUATORS[name], tables)
    found = searched(board, seer, depth, root_perspective, ws)
    assert found == (values.index(max(values)), max(values)), (board.fen(), depth, values)
    return max(values)


@every_evaluator
@either_leaves
def test_search_equals_minimax_that_stops_at_the_tables(tables, name, root_perspective):
    judge, ws, ends = judge_by(EVALUATORS[name]), workspace(), 0
    for board in [*map(Board, EXCHANGES), *boards_of(4, 12, seed=1), *boards_of(5, 6, seed=2)]:
        for depth in (1, 2, 3, 4) if len(board.legal_moves) < 6 else (1, 2):
            if pieces_on(board) > 3:
                value = assert_search_is_minimax(
                    board, tables, name, judge, depth, root_perspective, ws
                )
                ends += abs(value) > SURE
    assert ends > 10


def most_stubborn(tables, board):
    """Return the move after which the loss takes longest."""
    return max(board.legal_moves, key=lambda move: probe_board(tables, after(board, move)).plies)


@pytest.mark.parametrize("options", [{}, {"tie": CHANCE}, {"root_perspective": False}])
def test_won_ending_is_won_in_the_fewest_plies(tables, options):
    agent = knowing(tables, EVALUATORS["1999"], 3, **options)
    for board in endings_of(tables, 1, 20, seed=4):
        start, plies, side = board.fen(), probe_board(tables, board).plies, board.turn
        while board.legal_moves:
            move = agent.act(board) if board.turn == side else most_stubborn(tables, board)
            board.push(move)
        assert (board.ply, board.outcome().winner) == (plies, side), start


def test_lost_ending_lasts_as_long_as_possible(tables):
    winner, loser = knowing(tables, EVALUATORS["1999"], 1), knowing(tables, EVALUATORS["2001"], 2)
    for board in endings_of(tables, -1, 20, seed=5):
        plies, side = probe_board(tables, board).plies, board.turn
        while board.legal_moves:
            board.push((loser if board.turn == side else winner).act(board))
        assert (board.ply, board.outcome().winner) == (plies, 1 - side)


def equally_good(tables, board):
    """Return legal moves that win soonest, draw, or lose latest."""

    def worth(move):
        value, plies = probe_board(tables, after(board, move))
        return (-value, 0 if plies is None else value * plies)

    best = max(map(worth, board.legal_moves))
    return [move for move in board.legal_moves if worth(move) == best]


@every_evaluator
@either_leaves
def test_equally_good_moves_are_chosen_as_without_tables(cache, name, root_perspective):
    judge = judge_by(EVALUATORS[name])
    between = 0
    for pieces, value, count in ((2, 0, 40), (3, 1, 12), (3, -1, 12)):  # of two, most are drawn
        tables = load_tablebase(pieces)
        agent = knowing(tables, EVALUATORS[name], 2, root_perspective=root_perspective)
        for board in endings_of(tables, value, count, seed=8):
            values = dict(
                zip(board.legal_moves, move_values(board, judge, 2, root_perspective), strict=True)
            )
            good = equally_good(tables, board)
            assert agent.act(board) == max(good, key=values.get)
            between += 1 < len(good) < len(values) and values[good[0]] != max(values.values())
    assert between > 2


def pairings(tables):
    def player(name, depth, **options):
        return AlphaBeta(EVALUATORS[name], depth, tablebase=tables, **options)

    yield player("1999", 3), AlphaBeta(Material(), 4)
    yield AlphaBeta(Material(), 1), player("2001", 4, root_perspective=False)


def games_of(tables, engine, play=map):
    openings = (TWO_MOVE[3], *EXCHANGES, "W:WK15,K18:BK1", "B:WK10,K21:BK2")
    jobs = [(pair, opening) for pair in pairings(tables) for opening in openings]

    def game(job):
        (black, white), opening = job
        rng = np.random.default_rng(16)
        return play_game(black, white, opening=opening, rules=RULES, rng=rng, engine=engine)

    return list(play(game, jobs))


RULES = DrawRules(max_moves=40)


def test_engines_and_threads_play_the_same_games(tables):
    games = [games_of(tables, engine) for engine in ENGINES]
    assert games[0] == games[1]
    with ThreadPoolExecutor(3) as threads:
        assert games_of(tables, "kernel", threads.map) == games[0]
    assert {game.result.winner for game in games[0]} == {0, 1, DRAW}


@pytest.mark.parametrize(
    ("agent", "options", "message"),
    [
        ("random", {}, "'random' does not search by plies: it takes no endgame"),
        ("blondie24", {"simulations": 10}, "'blondie24' does not search by plies"),
        ("policy:nobody.py:here", {}, "a policy takes no endgame"),
    ],
)
def test_invalid_use_of_tables_is_refused(cache, agent, options, message):
    with pytest.raises(ValueError, match=message):
        agents.make(agent, **{"endgame": 3, **options})
