"""Alpha-beta to a number of plies, for every evaluator and every style.

Full-width it is the search of the papers: all moves to `depth` plies, and on lines where a side
must jump on until it need not; leaves judged from the searching player's side (Chellapilla & Fogel
1999, 2001); won and lost positions are +1 and -1 before the evaluator is asked; the first of the
best moves is taken. Killer moves, history, deepening by two plies and the table of positions change
the order and the number of evaluations only: values and the chosen move are those of plain minimax.
What a selective search does otherwise is in :mod:`agents.search.selective`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.endgame.probe import NEVER
from agents.evaluator import UNFORESEEN, advance_state, evaluate, foresee, start_state, state_size
from agents.search.selective import (
    IN_SIGHT,
    SOONER,
    comes_back,
    is_settled,
    is_spent,
    put_off,
    quiet_plies,
    remaining_after,
    selective,
    window,
)
from agents.search.transposition import (
    AT_LEAST,
    AT_MOST,
    EXACT,
    NOTHING,
    best_known,
    holds,
    key_of,
    place_of,
    write_entry,
)
from agents.search.workspace import MAX_DEPTH, STATE_WIDTH
from checkers_env.jit import kernel
from checkers_env.movegen import (
    MAX_ROWS,
    PACKED_MOVE,
    Position,
    can_jump,
    can_move,
    generate_captures,
    generate_steps,
    own_and_opponent,
    successor,
)

EACH_MOVER = -1  # as a judge: the side to move at the leaf
INFINITY = 2.0
RESULTS_VERSION = 1  # raise it when a change of code changes moves, in matches or in training
OPENED = 3.0  # no value yet: the position is searched further

_TABLE_MOVE, _KILLER = 1 << 41, 1 << 40


@kernel
def search(
    style: Any,
    evaluator: Any,
    position: Position,
    depth: int,
    own_leaves: bool,
    owner: int,
    ws: Any,
    end: int,
) -> int:
    """The path of the best move.

    When it is stopped, a full-width search gives the best of the last depth that was finished, a
    selective one the best so far.

    Parameters
    ----------
    style
        A :class:`agents.search.selective.FullWidth` or :class:`agents.search.selective.Selective`.
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
    ws.begun[0] = ws.counts[0]
    best, judge = 0, position.turn if own_leaves else EACH_MOVER
    if selective(style):
        table_move = best_known(style, ws.table, position, depth, owner)
        for row in range(end):
            if key_of(style, ws.rows[row, PACKED_MOVE], row) == table_move:
                best = row
    first = 1 + (depth - 1) % style.deepens_by
    for plies in range(first, depth + 1, style.deepens_by):
        search_to(style, evaluator, position, plies, judge, owner, ws, end)
        if ws.stop[0] or is_spent(style, ws):
            if selective(style) and ws.frames[0].value > -INFINITY:
                best = ws.frames[0].best
            break
        best = ws.frames[0].best
    return ws.rows[best, PACKED_MOVE]


@kernel
def age(history: Any) -> None:
    """Let the cut-offs of earlier searches count half."""
    for side in range(2):
        for move in range(history.shape[1]):
            history[side, move] >>= 1


@kernel
def search_to(
    style: Any,
    evaluator: Any,
    position: Position,
    plies: int,
    judge: int,
    owner: int,
    ws: Any,
    end: int,
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
    open_frame(style, ws, 0, position, 0, end, plies, -INFINITY, INFINITY, owner)
    ws.frames[0].quiet = ws.quiet[0]
    ply = 0
    while True:
        frame = ws.frames[ply]
        if ws.stop[0] or is_spent(style, ws):
            return ws.frames[0].value
        at = next_row(style, ws.scores, frame)
        if at < 0:
            remember(style, ws, frame, root ^ (ply & 1), owner, ply)
            value = -frame.value
            if ply == 0:
                return frame.value
            ply -= 1
        else:
            frame.current = at
            value = visit(style, evaluator, ws, ply, root, judge, owner, width)
            if value == OPENED:
                ply += 1
                continue
        if not selective(style) or is_settled(ws.frames[ply], value):
            take(style, ws, ply, root, value)


@kernel
def open_frame(
    style: Any,
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
    if end + MAX_ROWS > len(ws.rows):
        raise ValueError("the search ran out of rows")
    frame = ws.frames[ply]
    frame.black, frame.white, frame.kings = position.black, position.white, position.kings
    frame.begin, frame.end, frame.best, frame.current = begin, end, begin, begin
    frame.remaining, frame.searched, frame.tries = remaining, 0, 0
    frame.floor, frame.alpha, frame.beta, frame.value = alpha, alpha, beta, -INFINITY
    table_move = best_known(style, ws.table, position, remaining, owner)
    history = ws.history[position.turn]
    for row in range(begin, end):
        path = ws.rows[row, PACKED_MOVE]
        score = history[path & 4095]
        if path == ws.killers[ply]:
            score += _KILLER
        if key_of(style, path, row - begin) == table_move:
            score += _TABLE_MOVE
        ws.scores[row] = score


@kernel
def next_row(style: Any, scores: Any, frame: Any) -> int:
    """The row to search next; -1 when there is none, or none can matter.

    It is the unsearched one of the greatest score, marked as searched, or the current one again.
    """
    if selective(style) and frame.tries:
        return frame.current
    best, at = -1, -1
    if frame.alpha < frame.beta:
        for row in range(frame.begin, frame.end):
            if scores[row] > best:
                best, at = scores[row], row
    if at >= 0:
        scores[at] = -1
        frame.searched += 1
    return at


@kernel
def visit(
    style: Any, evaluator: Any, ws: Any, ply: int, root: int, judge: int, owner: int, width: int
) -> float:
    """The value of the current successor for the side that moved there, or OPENED."""
    frame = ws.frames[ply]
    row = ws.rows[frame.current]
    mover = root ^ (ply & 1)
    before = Position(frame.black, frame.white, frame.kings, mover)
    after = successor(row, mover)
    own, opponent = own_and_opponent(after.black, after.white, after.turn)
    jump = can_jump(own, opponent, after.kings, after.turn)
    ws.counts[0] += 1
    over = not jump and not can_move(own, opponent, after.kings, after.turn)
    remaining = remaining_after(style, frame, before, after)
    if selective(style):
        alpha, beta = window(frame)
        plies_before = ply + 1
    else:
        alpha, beta = -frame.beta, -frame.alpha
        plies_before = MAX_DEPTH - remaining
        if ply == 0 and frame.current < frame.best:  # of equal moves the first is preferred
            beta = -float(np.nextafter(frame.alpha, -INFINITY))
    plies = foresee(evaluator, after, over)
    if plies != UNFORESEEN:
        return -foreseen(plies, plies_before)
    if over:
        return 1.0 - SOONER * plies_before if selective(style) else 1.0
    if selective(style):
        quiet = quiet_plies(frame, before, after)
        if comes_back(ws, ply + 1, after, quiet):
            return 0.0
        ws.frames[ply + 1].quiet = quiet
    entry = ws.table[place_of(style, ws.table, after, owner, remaining)]
    if holds(style, entry, after, owner, remaining):
        known = put_off(entry.value, ply + 1) if selective(style) else entry.value
        if (
            entry.bound == EXACT
            or (entry.bound == AT_LEAST and known >= beta)
            or (entry.bound == AT_MOST and known <= alpha)
        ):
            return -known
    for view in range(2):
        if view == judge or judge == EACH_MOVER:
            old, new = ws.states[ply, view, :width], ws.states[ply + 1, view, :width]
            advance_state(evaluator, before, after, view, old, new)
    if not jump and remaining == 0:
        view = after.turn if judge == EACH_MOVER else judge
        state = ws.states[ply + 1, view, :width]
        value = float(np.float32(evaluate(evaluator, after, view, state, ws.scratch)))
        if selective(style):
            value = float(np.float32(value * IN_SIGHT))
        if view != after.turn:
            value = -value
        ws.counts[1] += 1
        write_entry(style, entry, after, owner, remaining, value, EXACT, 0)
        return -value
    if jump:
        end = generate_captures(ws.rows, frame.end, own, opponent, after.kings, after.turn)
    else:
        end = generate_steps(ws.rows, frame.end, own, opponent, after.kings, after.turn)
    open_frame(style, ws, ply + 1, after, frame.end, end, remaining, alpha, beta, owner)
    return OPENED


@kernel
def foreseen(plies: int, before: int) -> float:
    """The value of an end that is so many plies away, of a position that has as many before it.

    Of two won ends the one that comes sooner in the whole line is the better one.
    """
    if plies == NEVER:
        return 0.0
    worth = 1.0 - SOONER * (plies + before)
    return worth if plies & 1 else -worth


@kernel
def take(style: Any, ws: Any, ply: int, root: int, value: float) -> None:
    """Count in the value of the current successor of a frame."""
    frame = ws.frames[ply]
    tie = ply == 0 and value == frame.value and frame.current < frame.best
    if value > frame.value or (tie and not selective(style)):
        frame.value, frame.best = value, frame.current
        frame.alpha = max(frame.alpha, value)
        if frame.alpha >= frame.beta:
            path = ws.rows[frame.current, PACKED_MOVE]
            ws.killers[ply] = path
            ws.history[root ^ (ply & 1), path & 4095] += 1 + frame.remaining**2


@kernel
def remember(style: Any, ws: Any, frame: Any, side: int, owner: int, ply: int) -> None:
    """Put what a finished frame has shown into the table."""
    bound = EXACT
    if ply == 0:  # a player may have left some moves out
        bound = NOTHING
    elif frame.value >= frame.beta:
        bound = AT_LEAST
    elif frame.value <= frame.floor:
        bound = AT_MOST
    position = Position(frame.black, frame.white, frame.kings, side)
    entry = ws.table[place_of(style, ws.table, position, owner, frame.remaining)]
    value = put_off(frame.value, -ply) if selective(style) else frame.value
    best = key_of(style, ws.rows[frame.best, PACKED_MOVE], frame.best - frame.begin)
    write_entry(style, entry, position, owner, frame.remaining, value, bound, best)
