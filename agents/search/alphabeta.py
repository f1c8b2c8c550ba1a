"""Iterative alpha-beta search, for every evaluator and every style.

The full-width search is that of the papers (Chellapilla & Fogel 1999, 2001). It searches all moves
to `depth` plies, and on where a side must jump. Leaves are evaluated for the searching player. Won
and lost positions are +1 and -1. Of equally good moves the first row is taken:
:mod:`agents.search.root_order` puts the rows in order. Killer moves, the history heuristic,
deepening by two plies, windows, forced moves, the transposition table and bounds of leaves change
only the order and the number of evaluations: values and moves are those of plain minimax.
:mod:`agents.search.selective` says what a selective search does otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.endgame.probe import DRAWN
from agents.evaluator import (
    NO_HIT,
    advance_state,
    evaluate,
    probe_tablebase,
    start_state,
    state_size,
    value_bounds,
    value_scale,
)
from agents.search.selective import (
    FIRST_WINDOW,
    MATE_STEP,
    MATE_THRESHOLD,
    NO_SEARCH,
    STATIC_DEPTH,
    adjust_mate_distance,
    count_reversible_plies,
    has_searched_enough,
    is_repetition,
    may_prune,
    needs_re_search,
    node_limit_reached,
    plies_below,
    prune,
    remaining_after,
    selective,
    takes_shortcuts,
    window,
)
from agents.search.transposition import (
    EXACT,
    LOWER,
    NO_VALUE,
    NONE,
    UPPER,
    move_key,
    prefetch_tt,
    tt_evaluation,
    tt_guess,
    tt_hit,
    tt_move,
    tt_slot,
    tt_value,
    write_tt,
)
from agents.search.workspace import EVALUATED, MAX_DEPTH, STATE_WIDTH, VISITED, Workspace
from checkers_env.jit import KernelArg, kernel, refuse_nan
from checkers_env.movegen import (
    BLACK_BOARD,
    MAX_ROWS,
    PACKED_MOVE,
    WHITE_BOARD,
    Position,
    append_successors,
    can_jump,
    can_move,
    own_and_opponent,
    successor,
)

SIDE_TO_MOVE = -1  # as a perspective: the side to move at the leaf
INFINITY = 2.0
RESULTS_VERSION = 1  # raise it when a change of code changes moves, in matches or in training
DESCEND = 3.0  # in place of a value: the search goes on below the position

_TABLE_MOVE, _KILLER = 1 << 41, 1 << 40  # scores in the order of moves


class SearchContext(NamedTuple):
    """What stays the same from the root of a search to its leaves, but for the evaluator.

    Kernels that need no evaluator are so compiled once for all evaluators.
    """

    style: KernelArg
    ws: Workspace
    tt_namespace: int
    root: int  # side to move at the root
    perspective: int  # side that leaves are evaluated for, or SIDE_TO_MOVE
    width: int  # size of the evaluator's state


@kernel
def search(
    style: KernelArg,
    evaluator: KernelArg,
    position: Position,
    depth: int,
    root_perspective: bool,
    tt_namespace: int,
    ws: KernelArg,
    end: int,
) -> int:
    """Search a position to `depth` plies, 1 to 64; return the packed move of its best successor.

    Rows 0 to `end` of `ws` hold the successors. With `root_perspective` leaves are evaluated for
    the searching player, as in the papers; without, for the side to move at the leaf.
    `tt_namespace` is the number of this evaluator, side and perspective in the transposition table.

    A stopped full-width search returns the move of its last complete depth, a selective one the
    best so far. The root's value and best row are left in ``ws.frames[0]``. Raise ValueError for a
    depth out of range.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ValueError("a search is 1 to 64 plies deep")
    age_history(ws.history)
    ws.start_nodes[0] = ws.counts[VISITED]
    best, value, guess, stable = 0, -INFINITY, NO_VALUE, 0
    perspective = position.turn if root_perspective else SIDE_TO_MOVE
    first = 1 + (depth - 1) % style.deepens_by
    if selective(style):
        table_move = tt_move(style, ws.table, position, tt_namespace, depth)
        for row in range(end):
            if move_key(style, ws.rows[row, PACKED_MOVE], row) == table_move:
                best = row
    if takes_shortcuts(style) and depth > style.deepens_by:
        guess = tt_guess(style, ws.table, position, tt_namespace, depth - style.deepens_by)
        first = first if guess == NO_VALUE else depth
    for plies in range(first, depth + 1, style.deepens_by):
        low, high = -INFINITY, INFINITY
        if takes_shortcuts(style) and guess != NO_VALUE:
            low, high = guess - FIRST_WINDOW, guess + FIRST_WINDOW
        stopped = False
        for _ in range(2):
            guess = search_to(
                style, evaluator, position, plies, perspective, tt_namespace, ws, end, low, high
            )
            stopped = ws.stop[0] != 0 or node_limit_reached(style, ws)
            if stopped or low < guess < high:
                break
            if guess <= low:
                low, high = -INFINITY, float(np.nextafter(guess, INFINITY))
            else:
                low, high = float(np.nextafter(guess, -INFINITY)), INFINITY
        if not stopped or (selective(style) and ws.frames[0].value > -INFINITY):
            stable = stable + 1 if ws.frames[0].best == best else 0
            best, value = ws.frames[0].best, ws.frames[0].value
        if stopped or has_searched_enough(style, ws, stable):
            break
    ws.frames[0].best, ws.frames[0].value = best, value
    return ws.rows[best, PACKED_MOVE]


@kernel
def age_history(history: KernelArg) -> None:
    """Halve the history scores of earlier searches."""
    for side in range(2):
        for move in range(history.shape[1]):
            history[side, move] >>= 1


@kernel
def history_index(move: int) -> int:
    """Return the index of a packed move in the history scores: five bits for each last square."""
    return move & 31 | move >> 1 & 31 << 5


@kernel
def search_to(
    style: KernelArg,
    evaluator: KernelArg,
    position: Position,
    plies: int,
    perspective: int,
    tt_namespace: int,
    ws: KernelArg,
    end: int,
    low: float = -INFINITY,
    high: float = INFINITY,
) -> float:
    """Search to one depth, and return the value of `position` for the side to move, -1 to +1.

    Only where the side to move must jump may `plies` be 0. A value up to `low` may be too large,
    and one from `high` on too small. The best row is left in ``ws.frames[0]``. Raise ValueError if
    the evaluator's state, or the rows of the search, do not fit into the workspace.
    """
    root = position.turn
    width = state_size(evaluator)
    if width > STATE_WIDTH:
        raise ValueError("the evaluator's state is larger than a workspace has room for")
    for view in range(2):
        if view == perspective or perspective == SIDE_TO_MOVE:
            start_state(evaluator, position, view, ws.states[0, view, :width])
    context = SearchContext(style, ws, tt_namespace, root, perspective, width)
    push_frame(context, 0, position, 0, end, plies, low, high)
    ws.frames[0].reversible_plies, ws.frames[0].state = ws.reversible_plies[0], 0
    ply = 0
    while True:
        frame = ws.frames[ply]
        if ws.stop[0] or node_limit_reached(style, ws):
            return ws.frames[0].value
        at = pick_move(ws.scores, frame)
        if at < 0:
            store_tt(context, frame, ply)
            if ply == 0:
                return frame.value
            value = -frame.value if (ply - frame.parent) & 1 else frame.value
            ply = frame.parent
        else:
            frame.current = at
            value = expand(context, evaluator, ply)
            if value == DESCEND:
                ply = frame.child
                continue
        if not needs_re_search(style, ws.frames[ply], ply, value):
            backup(context, ply, value)


@kernel
def push_frame(
    context: KernelArg,
    ply: int,
    position: Position,
    begin: int,
    end: int,
    remaining: int,
    alpha: float,
    beta: float,
) -> None:
    """Set a frame up for the successors of `position`, rows `begin` to `end`, and order them.

    Raise ValueError if the workspace has no room for more rows.
    """
    style, ws, tt_namespace = context.style, context.ws, context.tt_namespace
    if end + MAX_ROWS > len(ws.rows):
        raise ValueError("the search ran out of rows")
    frame = ws.frames[ply]
    frame.black, frame.white, frame.kings = position.black, position.white, position.kings
    frame.begin, frame.end, frame.best, frame.current = begin, end, begin, begin
    frame.remaining, frame.searched, frame.tries = remaining, 0, 0
    frame.floor, frame.alpha, frame.beta, frame.value = alpha, alpha, beta, -INFINITY
    if selective(style):
        boards = ws.position_history[ws.reversible_plies[0] + ply]
        boards[BLACK_BOARD], boards[WHITE_BOARD] = position.black, position.white
    table_move = tt_move(style, ws.table, position, tt_namespace, remaining)
    history = ws.history[position.turn]
    for row in range(begin, end):
        move = ws.rows[row, PACKED_MOVE]
        if selective(style):
            prefetch_tt(style, ws.table, successor(ws.rows[row], position.turn), tt_namespace, 0)
        score = history[history_index(move)]
        if move == ws.killers[ply]:
            score += _KILLER
        if move_key(style, move, row - begin) == table_move:
            score += _TABLE_MOVE
        ws.scores[row] = score * MAX_ROWS + (MAX_ROWS - 1 - (row - begin))  # no two are equal


@kernel
def pick_move(scores: KernelArg, frame: KernelArg) -> int:
    """Choose the row of the highest score, or the current row once more, and mark it as searched.

    Return -1 after the last row or a cut-off.
    """
    if frame.tries:
        return frame.current
    best = -1
    if frame.alpha < frame.beta:
        for row in range(frame.begin, frame.end):
            best = max(best, scores[row])
    if best < 0:
        return -1
    at = frame.begin + (MAX_ROWS - 1 - best % MAX_ROWS)
    scores[at] = -1
    frame.searched += 1
    return at


@kernel
def expand(context: KernelArg, evaluator: KernelArg, ply: int) -> float:
    """Make the current move of a frame, and forced moves behind it; then push a frame.

    Return the value for the side that moved, or DESCEND if a frame was pushed: that of its `child`.
    """
    style, ws = context.style, context.ws
    frame = ws.frames[ply]
    mover = context.root ^ (ply & 1)
    before = Position(frame.black, frame.white, frame.kings, mover)
    after = successor(ws.rows[frame.current], mover)
    remaining = remaining_after(style, frame, before, after)
    alpha, beta = window(style, frame, ply)
    below, sign = ply + 1, 1.0
    while True:
        value, remaining = resolve_child(
            context, evaluator, frame, below, before, after, remaining, alpha, beta
        )
        if value != DESCEND:
            return sign * value
        own, opponent = own_and_opponent(after.black, after.white, after.turn)
        end = append_successors(ws.rows, frame.end, own, opponent, after.kings, after.turn)
        if end > frame.end + 1 or not takes_shortcuts(style):
            break
        before, after = after, successor(ws.rows[frame.end], after.turn)
        remaining = plies_below(style, remaining, before, after)
        alpha, beta, below, sign = -beta, -alpha, below + 1, -sign
    push_frame(context, below, after, frame.end, end, remaining, alpha, beta)
    frame.child, ws.frames[below].parent = below, ply
    return DESCEND


@kernel
def resolve_child(
    context: KernelArg,
    evaluator: KernelArg,
    frame: KernelArg,
    ply: int,
    before: Position,
    after: Position,
    remaining: int,
    alpha: float,
    beta: float,
) -> tuple[float, int]:
    """Return the value of the position after a move for the side that moved, or DESCEND.

    The second number is the plies that are left to search. `frame` is that of the last position
    with a choice; `alpha` and `beta` are for the side to move after the move. Without a jump the
    evaluator's state is written to ``ws.states[ply]``.
    """
    style, ws, tt_namespace, _, perspective, width = context
    prefetch_tt(style, ws.table, after, tt_namespace, remaining)
    own, opponent = own_and_opponent(after.black, after.white, after.turn)
    jump = can_jump(own, opponent, after.kings, after.turn)
    ws.counts[VISITED] += 1
    over = not jump and not can_move(own, opponent, after.kings, after.turn)
    plies_before = ply if selective(style) else MAX_DEPTH - remaining
    plies = probe_tablebase(evaluator, after, over)
    if plies != NO_HIT:
        return -tablebase_value(plies, plies_before), remaining
    if over:
        return (1.0 - MATE_STEP * plies_before if selective(style) else 1.0), remaining
    if selective(style):
        reversible = count_reversible_plies(frame.reversible_plies, before, after)
        if is_repetition(ws, ply, after, reversible):
            return 0.0, remaining
        ws.frames[ply].reversible_plies = reversible
    entry = ws.table[tt_slot(style, ws.table, after, tt_namespace, remaining)]
    stored = tt_value(style, entry, after, tt_namespace, remaining, alpha, beta, ply)
    if stored != NO_VALUE:
        return -stored, remaining
    view = after.turn if perspective == SIDE_TO_MOVE else perspective
    if not selective(style) and not jump and remaining == 0:
        low, high = value_bounds(evaluator, after, view)
        if view != after.turn:
            low, high = -high, -low
        if low >= beta:
            return -low, remaining
        if high <= alpha:
            return -high, remaining
    prunes = not jump and may_prune(style, ws.frames[0].remaining, remaining, alpha, beta)
    static = tt_evaluation(entry, after, tt_namespace) if prunes else NO_VALUE
    if static != NO_VALUE:
        plies = prune(style, frame, remaining, static - beta, value_scale(evaluator))
        if plies == NO_SEARCH:
            return -static, remaining
    ws.frames[ply].state = ws.frames[ply - 1].state
    if not jump:  # others are not evaluated
        update_state(context, evaluator, ply, after)
    state = ws.states[ply, view, :width]
    if not jump and remaining == 0:
        value = evaluate_leaf(context, evaluator, after, view, state)
        write_tt(style, entry, after, tt_namespace, remaining, value, EXACT, 0)
        return -value, remaining
    if prunes:
        if static == NO_VALUE:
            static = evaluate_leaf(context, evaluator, after, view, state)
            plies = prune(style, frame, remaining, static - beta, value_scale(evaluator))
            if plies == NO_SEARCH:
                return -static, remaining
        if plies < remaining:
            remaining = plies
            stored = tt_value(style, entry, after, tt_namespace, remaining, alpha, beta, ply)
            if stored != NO_VALUE:
                return -stored, remaining
    return DESCEND, remaining


@kernel
def update_state(context: KernelArg, evaluator: KernelArg, ply: int, position: Position) -> None:
    """Write the evaluator's state at a ply, from the last one that is written on the line."""
    ws, width = context.ws, context.width
    frame, source = ws.frames[ply], ws.frames[ply].state
    last = ws.frames[source]
    before = Position(last.black, last.white, last.kings, context.root ^ (source & 1))
    for side in range(2):
        if side == context.perspective or context.perspective == SIDE_TO_MOVE:
            old, new = ws.states[source, side, :width], ws.states[ply, side, :width]
            advance_state(evaluator, before, position, side, old, new)
    frame.black, frame.white, frame.kings = position.black, position.white, position.kings
    frame.state = ply


@kernel
def evaluate_leaf(
    context: KernelArg, evaluator: KernelArg, position: Position, view: int, state: KernelArg
) -> float:
    """Return the evaluation of a leaf for the side to move there, clipped to -1 and +1.

    That of a selective search is at most MATE_THRESHOLD in size.
    """
    ws = context.ws
    value = float(np.float32(evaluate(evaluator, position, view, state, ws.scratch)))
    if np.isnan(value):
        refuse_nan(evaluator)
    value = min(max(value, -1.0), 1.0)
    if selective(context.style):
        value = float(np.float32(value * MATE_THRESHOLD))
    ws.counts[EVALUATED] += 1
    return value if view == position.turn else -value


@kernel
def tablebase_value(plies: int, before: int) -> float:
    """Return the value of a tablebase result, `before` plies from the root, for the side to move.

    Of two won endings the one that ends sooner, counted from the root, is the better one.
    """
    if plies == DRAWN:
        return 0.0
    value = 1.0 - MATE_STEP * (plies + before)
    return value if plies & 1 else -value


@kernel
def backup(context: KernelArg, ply: int, value: float) -> None:
    """Raise a frame's value and alpha to the value of its current successor; note a cut-off."""
    ws, frame = context.ws, context.ws.frames[ply]
    tie = ply == 0 and value == frame.value and frame.current < frame.best
    if value > frame.value or (tie and not selective(context.style)):
        frame.value, frame.best = value, frame.current
        frame.alpha = max(frame.alpha, value)
        if frame.alpha >= frame.beta:
            move = ws.rows[frame.current, PACKED_MOVE]
            ws.killers[ply] = move
            ws.history[context.root ^ (ply & 1), history_index(move)] += 1 + frame.remaining**2


@kernel
def store_tt(context: KernelArg, frame: KernelArg, ply: int) -> None:
    """Store the result of a finished frame in the transposition table."""
    style, ws, tt_namespace = context.style, context.ws, context.tt_namespace
    bound = EXACT
    if ply == 0:  # a player may leave out moves at the root
        bound = NONE
    elif frame.value >= frame.beta:
        bound = LOWER
    elif frame.value <= frame.floor:
        bound = UPPER
    position = Position(frame.black, frame.white, frame.kings, context.root ^ (ply & 1))
    slot = tt_slot(style, ws.table, position, tt_namespace, frame.remaining)
    entry = ws.table[slot]
    value = adjust_mate_distance(frame.value, -ply) if selective(style) else frame.value
    best = move_key(style, ws.rows[frame.best, PACKED_MOVE], frame.best - frame.begin)
    keeps = getattr(style, "keeps_move", False) and ws.frames[0].remaining >= STATIC_DEPTH
    if keeps and bound == UPPER and tt_hit(style, entry, position, tt_namespace, 1):
        best = entry.best
    write_tt(style, entry, position, tt_namespace, frame.remaining, value, bound, best)
