"""The selective search against minimax, endgame tables and repetition rules."""

import numpy as np
import pytest

import agents
from agents.agent import PlayerAgent
from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import DRAWN, stored_plies
from agents.endgame.tables import load_tablebase
from agents.search.alphabeta import INFINITY, search, search_to
from agents.search.player import AlphaBeta
from agents.search.pv import principal_variation
from agents.search.root_order import CHANCE
from agents.search.selective import MATE_STEP, MATE_THRESHOLD, STRONG, Selective
from agents.search.transposition import move_key
from agents.search.workspace import MAX_DEPTH, PLIES, VISITED, workspace
from checkers_env.board import Board
from checkers_env.movegen import MAX_ROWS, PACKED_MOVE, ROW_WIDTH, generate_successors
from checkers_env.moves import unpack_move
from tests import oracle
from tests.agents.search.test_alphabeta import (
    EVALUATORS,
    boasting,
    judge_by,
    move_values,
    random_boards,
)

EXACT = Selective(reduces=0)
TINY_MARGINS = Selective(reverse_futility_reduction_margin=1e-9, reverse_futility_margin=1e-9)
WON = "B:W7,14:B2,K8,K17,K23,K26,K29,K31,K32"  # by 17x3, and not by 2x11


def value_of(style, evaluator, board, depth, ws):
    position = board.position
    count = generate_successors(ws.rows, 0, *position)
    search(style, evaluator, position, depth, True, 2, ws, count)
    return ws.frames[0]["value"]


@pytest.mark.parametrize("name", ["2001", "bounded"])
def test_search_without_reductions_equals_minimax(name):
    """Positions of men only, which never repeat."""
    evaluator, compared = EVALUATORS[name], 0
    judge = judge_by(evaluator)
    for board in random_boards(21, 20, 30):
        if board.kings:
            continue
        for depth in (1, 2, 3):
            least = max(move_values(board, judge, depth, True))
            found = value_of(EXACT, evaluator, board, depth, workspace())
            scaled = np.float32(least * MATE_THRESHOLD)
            assert found == scaled or (abs(least) == 1.0 and abs(found - least) <= 4 * MATE_STEP)
        compared += 1
    assert compared > 10


def test_move_that_repeats_a_position_of_the_game_is_a_draw():
    rng, repeated = np.random.default_rng(3), 0
    for _ in range(12):
        board = Board("B:WK31,K32,K6:BK1,K10,K22", repetition=2)
        agent = PlayerAgent("a", AlphaBeta(boasting(0.25), 1, style=Selective()))
        for _ in range(30):
            if board.outcome() or not board.legal_moves:
                break
            agent.set_history(board)
            for at, move in enumerate(board.legal_moves):
                generate_successors(agent.ws.rows, 0, *board.position)
                agent.ws.rows[0] = agent.ws.rows[at]
                position = board.position
                search(EXACT, boasting(0.25), position, 1, True, 2, agent.ws, 1)
                board.push(move)
                outcome = board.outcome()
                board.pop()
                again = outcome is not None and outcome.reason == "repetition"
                repeated += again
                assert (agent.ws.frames[0]["value"] == 0.0) == again
            board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    assert repeated > 5


def test_pv_ends_at_a_repetition():
    rng, came_back = np.random.default_rng(4), 0
    for _ in range(40):
        board = Board("B:WK31,K32:BK1", max_moves=None)
        while board.legal_moves and len(board.moves) < 20:
            board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
        if not board.legal_moves or not board.earlier_positions():
            continue
        agent = PlayerAgent("a", AlphaBeta(EVALUATORS["2001"], 7, style=Selective()))
        agent.set_history(board)
        ws, line, position = agent.ws, np.zeros((PLIES, ROW_WIDTH), np.int64), board.position
        count = generate_successors(ws.rows, 0, *position)
        length = principal_variation(
            Selective(), EVALUATORS["2001"], position, 7, True, 2, ws, count, line
        )
        for ply, row in enumerate(line[:length]):
            assert not ply or board.position not in board.earlier_positions()
            board.push(unpack_move(int(row[PACKED_MOVE])))
        past = board.earlier_positions()
        assert ws.position_history[: ws.reversible_plies[0]].tolist() == [
            list(earlier[:2]) for earlier in past
        ]
        assert length >= 7 or not board.legal_moves or board.position in past
        came_back += board.position in past
    assert came_back > 2


def worth_with_repetition(board, judge, depth, side):
    """Minimax in which a repeated position is a draw; ends are +1 and -1."""
    if not board.legal_moves:
        return -1.0
    if board.outcome():
        return 0.0
    if depth <= 0 and not board.legal_moves[0].captured:
        seen = judge(side, oracle.read_fen(board.fen())[1])
        return seen if side == "bw"[board.turn] else -seen
    values = []
    for move in board.legal_moves:
        board.push(move)
        values.append(-worth_with_repetition(board, judge, depth - 1, side))
        board.pop()
    return max(values)


def test_repetition_inside_a_line_is_a_draw():
    """The table is too small to mix lines that reach a position by different ways."""
    evaluator, rng, changed = EVALUATORS["2001"], np.random.default_rng(6), 0
    judge = judge_by(evaluator)
    for _ in range(12):
        black, white, man = rng.choice(28, 3, replace=False) + 5
        board = Board(f"B:WK{white},{man}:BK{black}", repetition=2)
        if not board.legal_moves:
            continue
        for depth in (4, 5):
            expected = worth_with_repetition(board, judge, depth, "b")
            expected *= 1.0 if abs(expected) == 1.0 else MATE_THRESHOLD  # opinions are scaled
            found = value_of(EXACT, evaluator, board, depth, workspace(1))
            assert found == pytest.approx(expected, abs=20 * MATE_STEP)
            changed += expected == 0.0
    assert changed


def test_win_in_one_outweighs_every_evaluation():
    assert str(agents.make("blondie24", depth=6, selective=True).act(Board(WON))) == "17x3"
    assert 0.999 < abs(value_of(EXACT, boasting(1.0), Board(), 3, workspace())) <= MATE_THRESHOLD


def test_distances_to_a_win_equal_the_endgame_tables():
    tables, rng, seen = load_tablebase(3), np.random.default_rng(5), 0
    while seen < 12:
        squares = rng.choice(32, 3, replace=False) + 1
        board = Board(f"B:WK{squares[0]}:BK{squares[1]},K{squares[2]}")
        plies = stored_plies(tables, board.position)
        if not board.legal_moves or plies == DRAWN or plies not in range(2, 9):
            continue
        found = value_of(EXACT, boasting(0.0), board, 9, workspace())
        assert found == (1 if plies & 1 else -1) * (1 - MATE_STEP * plies)
        seen += 1


def test_new_game_starts_from_the_same_state():
    agent = PlayerAgent("a", AlphaBeta(EVALUATORS["1999"], 7, style=Selective(table_bits=8)))
    games = []
    for _ in range(2):
        board = Board()
        for _ in range(30):
            board.push(agent.act(board))
        games.append(board.moves)
        agent.new_game(np.random.default_rng(1))
    assert games[0] == games[1]


def visited_value(board, depth, nodes, **margins):
    """Return the positions that a search of its own visits, and the value that it leaves."""
    ws, style = workspace(), Selective(nodes=nodes, **margins)
    value = value_of(style, EVALUATORS["2001"], board, depth, ws)
    return int(ws.counts[VISITED]), float(value)


def test_limited_search_leaves_the_value_of_its_last_or_best_line():
    interrupted = 0
    for board in random_boards(14, 6, 60):
        for depth in (1, 2, 3):
            nodes, value = visited_value(board, depth, 0)
            assert abs(value) <= 1
            following, deeper = visited_value(board, depth + 1, 0)
            limits = range(nodes + 1, following, (following - nodes) // 10 + 1)
            stopped = [visited_value(board, MAX_DEPTH, limit) for limit in limits]
            assert all(visited <= at for (visited, _), at in zip(stopped, limits, strict=True))
            found = [value for _, value in stopped]
            lines = [best for best in found if best != value]
            assert found == [value] * (len(found) - len(lines)) + sorted(lines)
            assert not lines or lines[-1] <= deeper
            interrupted += 0 < len(lines) < len(found)
    assert interrupted > 5


def test_search_ends_early_as_soon_as_its_move_has_stood_long_enough():
    compared = set()
    for board in random_boards(15, 12, 60):
        best, stable, depth, visited, value = 0, 0, 0, 0, 0.0
        while 4 * visited <= max(0.5, 2 - 0.25 * stable) * 4000:
            ws, depth, former = workspace(), depth + 1, best
            value = value_of(Selective(), EVALUATORS["2001"], board, depth, ws)
            visited, best = ws.counts[VISITED], ws.frames[0]["best"]
            stable = stable + 1 if best == former else 0
        if visited < 4000:
            assert visited_value(board, MAX_DEPTH, 4000, ends_early=True) == (visited, value)
            compared.add(stable)
    assert len(compared) > 2


def test_search_that_completes_no_line_has_no_value():
    """The only move is answered by a capture, so the line goes on behind it."""
    assert visited_value(Board("B:W14,21:B10"), MAX_DEPTH, 1)[1] == -INFINITY


@pytest.mark.parametrize("style", [STRONG, TINY_MARGINS])
def test_pruning_keeps_results_of_the_endgame_tables(style):
    """Every capture leads to tables of three pieces: the value is 0, or a result of the tables."""
    tables, rng, compared = load_tablebase(4), np.random.default_rng(7), 0
    evaluator = TablebaseEvaluator(EVALUATORS["2001"], load_tablebase(3))
    while compared < 40:
        squares = rng.choice(32, 4, replace=False) + 1
        board = Board("B:WK{},K{}:BK{},K{}".format(*squares))
        plies = stored_plies(tables, board.position)
        if not board.legal_moves or plies == DRAWN or plies not in range(1, 10):
            continue
        ws, position = workspace(), board.position
        count = generate_successors(ws.rows, 0, *position)
        found = search_to(style, evaluator, position, 12, position.turn, 2, ws, count)
        assert (found > MATE_THRESHOLD) if plies & 1 else (found < -MATE_THRESHOLD)
        compared += 1


@pytest.mark.parametrize("name", ["razoring_margin", "razoring_reduction_margin"])
def test_razoring_saves_positions_if_its_margin_can_be_met(name):
    most, same, few = (visited_value(Board(), 9, 0, **{name: it})[0] for it in (0, 2, 1e-9))
    assert most == same > few


def test_move_that_failed_low_is_not_searched_first():
    """In a window open to both sides this took 10 million positions."""
    board = Board("W:W12,13,20,23,25,32:B3,6,7,8,9,15")
    assert str(agents.make("strong", nodes=800_000).act(board)) == "25-21"


def test_timed_search_plays_its_best_move_so_far():
    player = AlphaBeta(EVALUATORS["2001"], MAX_DEPTH, style=Selective())
    for agent in (PlayerAgent("a", player, seconds=it) for it in (1e-6, 0.05)):
        for board in random_boards(10, 3, 40):
            assert agent.act(board) in board.legal_moves
        assert agent.ws.stop[0] == 0


def test_search_stopped_at_once_keeps_the_previous_move():
    """Equally good moves are shuffled; the previous move stays all the same."""
    player = AlphaBeta(EVALUATORS["2001"], MAX_DEPTH, tie=CHANCE, style=Selective())
    agent = PlayerAgent("a", player, np.random.default_rng(0), seconds=1e-9)
    assert {str(agent.act(Board(WON))) for _ in range(30)} == {"17x3"}


def test_move_key_is_unique_in_each_position():
    for board in random_boards(11, 40, 60):
        rows = np.zeros((MAX_ROWS, ROW_WIDTH), np.int64)
        count = generate_successors(rows, 0, *board.position)
        keys = {move_key(Selective(), path, 0) for path in rows[:count, PACKED_MOVE]}
        assert len(keys) == count
        assert all(0 < key < 1 << 15 for key in keys)
