"""Alpha-beta to a fixed number of plies, for every evaluator.

The search of the papers: all moves to `depth` plies, and on lines where a side must jump on until
it need not; leaves judged from the searching player's side (Chellapilla & Fogel 1999, 2001); won
and lost positions are +1 and -1 before the evaluator is asked; the first of the best moves is
taken. Killer moves, history, deepening by two plies and the table of positions change the order
and the number of evaluations only: values and the chosen move are those of plain minimax.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.endgame.probe import NEVER
from agents.evaluate import (
    UNFORESEEN,
    advance_state,
    evaluate,
    foresee,
    start_state,
    state_size,
)
from agents.workspace import MAX_DEPTH, ROOM, STATE_WIDTH, TABLE_SIZE
from checkers_env.jit import kernel
from checkers_env.rules import (
    BLACK,
    BLACK_BOARD,
    KINGS,
    PATH,
    WHITE_BOARD,
    Position,
    can_jump,
    can_move,
    write_captures,
    write_moves,
)

EXACT, AT_LEAST, AT_MOST, NOTHING = range(4)  # what a value in the table says
EACH_MOVER = -1  # as a judge: the side to move at the leaf
INFINITY = 2.0
OPENED = 3.0  # no value yet: the position is searched further
SOONER = 2.0**-20  # what it is worth that a won end comes a ply sooner

_TABLE_MOVE, _KILLER = 1 << 41, 1 << 40


@kernel
def search(
    evaluator: Any, position: Position, depth: int, own_leaves: bool, owner: int, ws: Any, end: int
) -> int:
    """The path of the best move.

    Parameters
    ----------
    depth
        Plies, from 1 to 64.
    own_leaves
        True: leaves are judged from the searching player's side, as in the papers. False: from
        the side to move at the leaf, with the sign turned where that is the other player.
    owner
        A number that stands for this evaluator, side and kind of leaves in the table.
    ws
        A Workspace whose rows 0 to `end` hold the successors of `position`.
    """
    age(ws.history)
    best, judge = 0, position.turn if own_leaves else EACH_MOVER
    for plies in range(2 - depth % 2, depth + 1, 2):
        search_to(evaluator, position, plies, judge, owner, ws, end)
        if ws.stop[0]:
            break
        best = ws.frames[0].best
    return ws.rows[best, PATH]


@kernel
def age(history: Any) -> None:
    """Let the cut-offs of earlier searches count half."""
    for side in range(2):
        for move in range(history.shape[1]):
            history[side, move] >>= 1


@kernel
def search_to(
    evaluator: Any, position: Position, plies: int, judge: int, owner: int, ws: Any, end: int
) -> float:
    """The value of `position` for the side to move; its best row is left in the first frame.

    Leaves are judged from the side of `judge`, or EACH_MOVER's. `plies` may be 0 where the side to
    move must jump.
    """
    root = position.turn
    width = state_size(evaluator)
    if width > STATE_WIDTH:
        raise ValueError("the evaluator's state is larger than a workspace has room for")
    for view in range(2):
        if view == judge or judge == EACH_MOVER:
            start_state(evaluator, position, view, ws.states[0, view, :width])
    open_frame(ws, 0, position, 0, end, plies, -INFINITY, INFINITY, owner)
    ply = 0
    while True:
        frame = ws.frames[ply]
        at = next_row(ws.scores, frame.begin, frame.end) if frame.alpha < frame.beta else -1
        if ws.stop[0]:
            return ws.frames[0].value
        if at < 0:
            remember(ws, frame, root ^ (ply & 1), owner, ply)
            value = -frame.value
            if ply == 0:
                return frame.value
            ply -= 1
        else:
            frame.current = at
            value = visit(evaluator, ws, ply, root, judge, owner, width)
            if value == OPENED:
                ply += 1
                continue
        take(ws, ply, root, value)


@kernel
def open_frame(
    ws: Any,
    ply: int,
    position: Position,
    begin: int,
    end: int,
    remaining: int,
    alpha: float,
    beta: float,
    owner: int,
) -> None:
    """Begin on the successors of `position` in rows `begin` to `end`."""
    if end + ROOM > len(ws.rows):
        raise ValueError("the search ran out of rows")
    frame = ws.frames[ply]
    frame.black, frame.white, frame.kings = position.black, position.white, position.kings
    frame.begin, frame.end, frame.best, frame.current = begin, end, begin, begin
    frame.remaining = remaining
    frame.floor, frame.alpha, frame.beta, frame.value = alpha, alpha, beta, -INFINITY
    table_move = best_known(ws.table, position, remaining, owner)
    history = ws.history[position.turn]
    for row in range(begin, end):
        path = ws.rows[row, PATH]
        score = history[path & 4095]
        if path == ws.killers[ply]:
            score += _KILLER
        if row - begin == table_move:
            score += _TABLE_MOVE
        ws.scores[row] = score


@kernel
def next_row(scores: Any, begin: int, end: int) -> int:
    """The unsearched row of the greatest score, marked as searched; -1 when there is none."""
    best, at = -1, -1
    for row in range(begin, end):
        if scores[row] > best:
            best, at = scores[row], row
    if at >= 0:
        scores[at] = -1
    return at


@kernel
def visit(
    evaluator: Any, ws: Any, ply: int, root: int, judge: int, owner: int, width: int
) -> float:
    """The value of the current successor for the side that moved there, or OPENED."""
    frame = ws.frames[ply]
    row = ws.rows[frame.current]
    mover = root ^ (ply & 1)
    before = Position(frame.black, frame.white, frame.kings, mover)
    after = Position(row[BLACK_BOARD], row[WHITE_BOARD], row[KINGS], 1 - mover)
    own, opponent = (after.black, after.white) if mover != BLACK else (after.white, after.black)
    remaining = max(frame.remaining - 1, 0)
    jump = can_jump(own, opponent, after.kings, after.turn)
    ws.counts[0] += 1
    over = not jump and not can_move(own, opponent, after.kings, after.turn)
    plies = foresee(evaluator, after, over)
    if plies != UNFORESEEN:
        return -foreseen(plies, remaining)
    if over:
        return 1.0
    alpha, beta = -frame.beta, -frame.alpha
    if ply == 0 and frame.current < frame.best:
        beta = -float(
            np.nextafter(frame.alpha, -INFINITY)
        )  # an equal move that comes first is preferred
    entry = ws.table[slot(after, owner, remaining)]
    if holds(entry, after, owner, remaining) and (
        entry.bound == EXACT
        or (entry.bound == AT_LEAST and entry.value >= beta)
        or (entry.bound == AT_MOST and entry.value <= alpha)
    ):
        return -entry.value
    for view in range(2):
        if view == judge or judge == EACH_MOVER:
            old, new = ws.states[ply, view, :width], ws.states[ply + 1, view, :width]
            advance_state(evaluator, before, after, view, old, new)
    if not jump and remaining == 0:
        view = after.turn if judge == EACH_MOVER else judge
        state = ws.states[ply + 1, view, :width]
        value = float(np.float32(evaluate(evaluator, after, view, state, ws.scratch)))
        if view != after.turn:
            value = -value
        ws.counts[1] += 1
        write_entry(entry, after, owner, remaining, value, EXACT, 0)
        return -value
    if jump:
        end = write_captures(ws.rows, frame.end, own, opponent, after.kings, after.turn)
    else:
        end = write_moves(ws.rows, frame.end, own, opponent, after.kings, after.turn)
    open_frame(ws, ply + 1, after, frame.end, end, remaining, alpha, beta, owner)
    return OPENED


@kernel
def foreseen(plies: int, remaining: int) -> float:
    """The value of an end that many plies away, `remaining` plies before the horizon.

    Of two won ends the one that comes sooner in the whole line is the better one.
    """
    if plies == NEVER:
        return 0.0
    worth = 1.0 - SOONER * (plies + MAX_DEPTH - remaining)
    return worth if plies & 1 else -worth


@kernel
def take(ws: Any, ply: int, root: int, value: float) -> None:
    """Count in the value of the current successor of a frame."""
    frame = ws.frames[ply]
    tie = ply == 0 and value == frame.value and frame.current < frame.best
    if value > frame.value or tie:
        frame.value, frame.best = value, frame.current
        frame.alpha = max(frame.alpha, value)
        if frame.alpha >= frame.beta:
            path = ws.rows[frame.current, PATH]
            ws.killers[ply] = path
            ws.history[root ^ (ply & 1), path & 4095] += 1 + frame.remaining**2


@kernel
def tag_of(position: Position, owner: int, remaining: int) -> int:
    """What a table entry is about beside its three boards."""
    return (owner << 1 | position.turn) << 7 | remaining


@kernel
def slot(position: Position, owner: int, remaining: int) -> int:
    """Where in the table a position belongs."""
    mixed = position.black * 0x2545F4914F6CDD1D + position.white * 0x1B873593CC9E2D51
    mixed += (
        position.kings * 0x165667B19E3779F9
        + tag_of(position, owner, remaining) * 0x27D4EB2F165667C5
    )
    mixed ^= mixed >> 29
    mixed *= 0x2127599BF4325C37
    return (mixed >> 40) & (TABLE_SIZE - 1)


@kernel
def holds(entry: Any, position: Position, owner: int, remaining: int) -> bool:
    """Whether a table entry is about exactly this position, evaluator and depth."""
    return (
        entry.black == position.black
        and entry.white == position.white
        and entry.kings == position.kings
        and entry.tag == tag_of(position, owner, remaining)
    )


@kernel
def write_entry(
    entry: Any, position: Position, owner: int, remaining: int, value: Any, bound: int, best: int
) -> None:
    """Fill a table entry; the older one goes."""
    entry.black, entry.white, entry.kings = position.black, position.white, position.kings
    entry.tag = tag_of(position, owner, remaining)
    entry.value, entry.bound, entry.best = value, bound, best


@kernel
def remember(ws: Any, frame: Any, side: int, owner: int, ply: int) -> None:
    """Put what a finished frame has shown into the table."""
    bound = EXACT
    if ply == 0:  # a player may have left some moves out
        bound = NOTHING
    elif frame.value >= frame.beta:
        bound = AT_LEAST
    elif frame.value <= frame.floor:
        bound = AT_MOST
    position = Position(frame.black, frame.white, frame.kings, side)
    entry = ws.table[slot(position, owner, frame.remaining)]
    best = frame.best - frame.begin
    write_entry(entry, position, owner, frame.remaining, frame.value, bound, best)


@kernel
def best_known(table: Any, position: Position, remaining: int, owner: int) -> int:
    """The index of the best move at this depth, or two plies less; -1 when not in the table."""
    for plies in (remaining, remaining - 2):
        if plies > 0:
            entry = table[slot(position, owner, plies)]
            if holds(entry, position, owner, plies):
                return entry.best
    return -1
