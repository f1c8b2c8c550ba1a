"""Principal variation: the best line of play for both sides."""

from __future__ import annotations

from agents.search.alphabeta import SIDE_TO_MOVE, age_history, search_to
from agents.search.selective import plies_below, push_move, selective
from agents.search.workspace import MAX_DEPTH, VISITED
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import ROW_WIDTH, Position, generate_successors, must_jump, successor


@kernel
def principal_variation(
    style: KernelArg,
    evaluator: KernelArg,
    position: Position,
    depth: int,
    root_perspective: bool,
    tt_namespace: int,
    ws: KernelArg,
    count: int,
    line: KernelArg,
) -> int:
    """Search a position that has a move; write the best line to `line`, int64[PLIES, 4].

    Return its length. The line ends at a leaf, at the end of the game, or, for a selective search,
    at a repetition. The search is repeated from each position of the line, a ply less deep. The
    transposition table knows most of it. In a full-width search the value of the last position is
    the root's. Of the best moves the first row is taken, and of equal replies the first by
    direction.

    Afterwards the rows of `ws` hold the successors of `position` again, in the order of the rules.
    Its position history is that of the line's end. Raise ValueError for a depth of more than 64.
    """
    if depth > MAX_DEPTH:
        raise ValueError("a search is at most 64 plies deep")
    age_history(ws.history)
    here, plies, length = position, depth, 0
    perspective = position.turn if root_perspective else SIDE_TO_MOVE
    while count and (plies > 0 or must_jump(here)):
        ws.start_nodes[0] = ws.counts[VISITED]
        search_to(style, evaluator, here, plies, perspective, tt_namespace, ws, count)
        best = ws.rows[ws.frames[0].best]
        for column in range(ROW_WIDTH):
            line[length, column] = best[column]
        after = successor(best, here.turn)
        count = generate_successors(ws.rows, 0, after.black, after.white, after.kings, after.turn)
        if selective(style) and push_move(ws, here, after):
            count = 0
        plies = plies_below(style, plies, here, after)
        here, length = after, length + 1
    generate_successors(ws.rows, 0, position.black, position.white, position.kings, position.turn)
    return length
