"""The principal variation: the line that a search takes for the best play of both sides."""

from __future__ import annotations

from typing import Any

from agents.search.alphabeta import EACH_MOVER, age, search_to
from agents.search.selective import note_move, selective
from checkers_env.jit import kernel
from checkers_env.movegen import ROW_WIDTH, Position, generate_successors, must_jump, successor


@kernel
def write_line(
    style: Any,
    evaluator: Any,
    position: Position,
    depth: int,
    own_leaves: bool,
    owner: int,
    ws: Any,
    count: int,
    line: Any,
) -> int:
    """Search a position that has a move; write the best line, and return its length.

    The last position is a leaf, the end of the game, or, for a style that looks back, one that has
    come back. The search is repeated from each position of the line, a ply less deep; the table
    knows most of it. Full-width, the value of the last position is that of the search.

    Parameters
    ----------
    style, depth, own_leaves, owner, ws
        As :func:`agents.search.alphabeta.search` has them.
    count
        Rows of `ws` that hold the successors of `position`, of which the first of the best is
        taken. They are there again at the end, in the order of the rules; but the past that is told
        is then that of the line's end.
    line
        int64[PLIES, 4]: takes the successor after each move of the line.
    """
    age(ws.history)
    here, plies, length = position, depth, 0
    judge = position.turn if own_leaves else EACH_MOVER
    while count and (plies > 0 or must_jump(here)):
        ws.begun[0] = ws.counts[0]
        search_to(style, evaluator, here, plies, judge, owner, ws, count)
        best = ws.rows[ws.frames[0].best]
        for column in range(ROW_WIDTH):
            line[length, column] = best[column]
        after = successor(best, here.turn)
        count = generate_successors(ws.rows, 0, after.black, after.white, after.kings, after.turn)
        if selective(style) and note_move(ws, here, after):
            count = 0
        here, plies, length = after, max(plies - 1, 0), length + 1
    generate_successors(ws.rows, 0, position.black, position.white, position.kings, position.turn)
    return length
