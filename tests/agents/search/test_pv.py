"""Principal variations against plain minimax from position to position."""

import functools

import numpy as np
import pytest

from agents.baselines.material import Material
from agents.blondie.architecture import BLONDIE_1999
from agents.evaluator import evaluate_position
from agents.search.pv import principal_variation
from agents.search.selective import FullWidth
from agents.search.workspace import MAX_DEPTH, PLIES, workspace
from checkers_env.board import Board
from checkers_env.movegen import (
    BLACK_BOARD,
    KINGS,
    PACKED_MOVE,
    ROW_WIDTH,
    WHITE_BOARD,
    generate_successors,
)
from checkers_env.moves import unpack_move
from tests.agents.search.test_alphabeta import (
    CAPTURES,
    DECIDED,
    ENDINGS,
    judge_by,
    move_values,
    network,
    random_boards,
)

EVALUATORS = {
    "material": Material(),
    "1999": network(BLONDIE_1999, 0),
}
every_evaluator = pytest.mark.parametrize("name", EVALUATORS)
either_leaves = pytest.mark.parametrize("root_perspective", [True, False])
pytestmark = pytest.mark.usefixtures("known_turns")


@functools.cache
def judge_of(name):
    return judge_by(EVALUATORS[name])


def line_of(evaluator, board, depth, root_perspective, ws, order=None):
    """Return the principal variation of a board, with its moves in their own order or another."""
    position, line = board.position, np.full((PLIES, ROW_WIDTH), -1)
    count = generate_successors(ws.rows, 0, *position)
    rows = ws.rows[:count].copy()
    if order is not None:
        ws.rows[:count] = rows[order]
    length = principal_variation(
        FullWidth(), evaluator, position, depth, root_perspective, board.turn, ws, count, line
    )
    assert ws.rows[:count].tolist() == rows.tolist()
    assert np.all(line[length:] == -1)
    return line[:length]


def assert_line_is_principal(name, board, depth, root_perspective, ws, order=None):
    evaluator, judge, root = EVALUATORS[name], judge_of(name), None
    here = Board(board.fen(), max_moves=None)
    owner = "bw"[board.turn] if root_perspective else None
    line = line_of(evaluator, board, depth, root_perspective, ws, order)
    for ply, row in enumerate(line):
        left = max(depth - ply, 0)
        assert left > 0 or here.legal_moves[0].captured
        values = move_values(here, judge, left, owner)
        root = max(values) if root is None else root
        assert max(values) == (root if ply % 2 == 0 else -root)
        found = range(len(values)) if order is None or ply else order
        first = next(index for index in found if values[index] == max(values))
        move = unpack_move(int(row[PACKED_MOVE]))
        assert move.squares == here.legal_moves[first].squares, (board.fen(), depth, ply)
        here.push(here.legal_moves[first])
        assert (here.black, here.white, here.kings) == (
            row[BLACK_BOARD],
            row[WHITE_BOARD],
            row[KINGS],
        )
    seen = here.turn
    if not here.legal_moves:
        worth = -1.0
    else:
        assert len(line) >= depth
        assert not here.legal_moves[0].captured
        seen = board.turn if root_perspective else here.turn
        worth = float(np.float32(evaluate_position(evaluator, here.position, seen)))
    assert worth == (root if seen == board.turn else -root)
    return here


@every_evaluator
@either_leaves
def test_pv_has_best_moves(name, root_perspective):
    ws, ends, extended = workspace(), 0, 0
    for board in (*random_boards(1, 8, 90), *map(Board, ENDINGS + CAPTURES + DECIDED)):
        for depth in (4, 1, 3, 2)[board.ply > 0 :]:  # a game's positions to 3 plies
            last = assert_line_is_principal(name, board, depth, root_perspective, ws)
            ends += not last.legal_moves
            extended += last.ply - depth > 0
    assert ends >= len(DECIDED)
    assert extended > 0


def test_first_of_equal_moves_is_taken():
    """The moves are often equally good to a piece counter."""
    rng, ws, changed = np.random.default_rng(3), workspace(), 0
    for board in random_boards(4, 12, 60):
        order = rng.permutation(len(board.legal_moves)).tolist()
        assert_line_is_principal("material", board, 2, True, ws, order)
        lines = [line_of(Material(), board, 2, True, ws, each) for each in (None, order)]
        changed += lines[0][0, PACKED_MOVE] != lines[1][0, PACKED_MOVE]
    assert changed > 3


@every_evaluator
@either_leaves
def test_filled_transposition_table_changes_nothing(name, root_perspective):
    evaluator, used = EVALUATORS[name], workspace()
    for board in random_boards(5, 15, 120):
        here = Board(board.fen(), max_moves=None)
        for depth in (6, 6, 4, 5, 3, 7, 1):
            if here.legal_moves:
                line = line_of(evaluator, here, depth, root_perspective, used)
                fresh = line_of(evaluator, here, depth, root_perspective, workspace())
                assert line.tolist() == fresh.tolist()
                here.push(here.legal_moves[-1])


def test_longest_pv_fits():
    line = line_of(Material(), Board("B:WK32:BK1"), MAX_DEPTH, True, workspace())
    assert len(line) == MAX_DEPTH
    assert [unpack_move(int(row[PACKED_MOVE])).squares[0] for row in line[:2]] == [1, 32]
