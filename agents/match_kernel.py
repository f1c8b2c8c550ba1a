"""Match kernel: one game between two players, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.player import select_move, uses_history
from agents.search.selective import clear_move_ordering, set_position_history
from agents.search.transposition import label, matches, tt_index
from agents.search.workspace import NAMESPACES, PLAYER
from checkers_env.bits import borrowed, copy_into
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK_BOARD,
    KINGS,
    PACKED_MOVE,
    WHITE_BOARD,
    Position,
    generate_successors,
)
from checkers_env.state import (
    GAME_LENGTH,
    MAX_MOVES,
    MOVE_LIMIT,
    ONGOING,
    PLY,
    REVERSIBLE_PLIES,
    RULES,
    SIDE,
    has_lost,
    make_move,
    repetition_period,
    set_position,
)

DRAW = -1
KNOWN_PLIES = 16  # moves of a game that are kept for others: later positions rarely come again


class Result(NamedTuple):
    """Result of a game."""

    winner: int  # BLACK, WHITE or DRAW
    reason: int  # an index into checkers_env.state.REASONS
    plies: int


@kernel
def play(
    first: KernelArg,
    second: KernelArg,
    first_ws: KernelArg,
    second_ws: KernelArg,
    colour: int,
    start: Position,
    rules: KernelArg,
    cut_cycles: bool,
    rng: KernelArg,
    history: KernelArg,
) -> Result:
    """Play a game to its end; the order of the players makes no difference.

    `colour` is the side of `first`. `rules` are those of
    :meth:`checkers_env.state.DrawRules.to_array`. `history` is int64[2 * max_moves + 1, 4]: it gets
    the positions of the game and the packed moves that led to them. Moves in column 3, from row 1
    up to the first 0, are the opening.

    With `cut_cycles` a game that repeats a position goes on in this cycle, and is not played out.
    This is right for deterministic players without memory, and without other draw rules than
    ``max_moves``. Raise ValueError if a player, or the opening, makes an illegal move.
    """
    first, second = borrowed(first), borrowed(second)
    first_ws, second_ws, history = borrowed(first_ws), borrowed(second_ws), borrowed(history)
    first_ws.counts[NAMESPACES] += 1
    second_ws.counts[NAMESPACES] += 1
    if uses_history(first):
        clear_move_ordering(first_ws)
    if uses_history(second):
        clear_move_ordering(second_ws)
    game = np.zeros(GAME_LENGTH, np.int64)
    copy_into(rules, game[RULES:])
    status = set_position(game, history, start.black, start.white, start.kings, start.turn)
    chosen, in_opening = 0, True
    while status == ONGOING:
        side, ply = game[SIDE], game[PLY]
        here = Position(game[BLACK_BOARD], game[WHITE_BOARD], game[KINGS], side)
        ws = first_ws if side == colour else second_ws
        count = generate_successors(ws.rows, 0, here.black, here.white, here.kings, side)
        path = history[ply + 1, PACKED_MOVE]
        in_opening = in_opening and path != 0
        if not in_opening:
            reversible = min(game[REVERSIBLE_PLIES], chosen) if cut_cycles else 0
            period = repetition_period(history, ply, here.black, here.white, reversible)
            if period:
                for later in range(ply + 1, 2 * game[MAX_MOVES] + 1):
                    copy_into(history[later - period], history[later])
                return Result(DRAW, MOVE_LIMIT, 2 * game[MAX_MOVES])
            chosen += 1
            tt_namespace = ws.counts[NAMESPACES] << 1 | side
            if uses_history(first) if side == colour else uses_history(second):
                set_position_history(ws, history, ply, game[REVERSIBLE_PLIES])
            path = known_move(ws, here) if chosen <= KNOWN_PLIES else 0
            if path == 0:
                if side == colour:
                    path = select_move(first, here, ws, count, tt_namespace, rng)
                else:
                    path = select_move(second, here, ws, count, tt_namespace, rng)
                if chosen <= KNOWN_PLIES:
                    store_known_move(ws, here, path)
        status = make_move(game, history, ws.rows[find_row(ws.rows, count, path)])
    winner = 1 - game[SIDE] if has_lost(game, status) else DRAW
    return Result(winner, status, game[PLY])


@kernel
def known_move(ws: KernelArg, position: Position) -> int:
    """Return the packed move that player ``counts[PLAYER]`` chose in a position before, or 0."""
    player = ws.counts[PLAYER]
    if player == 0:
        return 0
    tag = player << 1 | position.turn
    entry = ws.known_moves[tt_index(ws.known_moves, position, tag)]
    return entry.move if matches(entry, position, tag) else 0


@kernel
def store_known_move(ws: KernelArg, position: Position, path: int) -> None:
    """Keep the move that player ``counts[PLAYER]`` of `ws` chose, unless it is 0 or was stopped."""
    player = ws.counts[PLAYER]
    if player != 0 and ws.stop[0] == 0:
        tag = player << 1 | position.turn
        entry = ws.known_moves[tt_index(ws.known_moves, position, tag)]
        label(entry, position, tag)
        entry.move = path


@kernel
def find_row(rows: KernelArg, count: int, path: int) -> int:
    """Return the row of a packed move among `count` successors; raise ValueError if none has it."""
    for row in range(count):
        if rows[row, PACKED_MOVE] == path:
            return row
    raise ValueError("a player, or the opening, made an illegal move")


class SelfPlayStats(NamedTuple):
    """Totals of self-play games: results, plies and updates of the weights."""

    black_wins: int
    white_wins: int
    draws: int
    plies: int
    updates: int
    mean_error: float  # of |target - v|
