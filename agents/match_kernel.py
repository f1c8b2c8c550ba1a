"""A whole game as one kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.player import choose, looks_back
from agents.search.selective import forget_cutoffs, note_past
from checkers_env.bits import borrowed, copy_into
from checkers_env.jit import kernel
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
    set_position,
)

DRAW = -1


class Result(NamedTuple):
    """How a game ended."""

    winner: int  # BLACK, WHITE or DRAW
    reason: int  # an index into checkers_env.state.REASONS
    plies: int


@kernel
def play(
    first: Any,
    second: Any,
    first_ws: Any,
    second_ws: Any,
    colour: int,
    start: Position,
    rules: Any,
    cut_cycles: bool,
    rng: Any,
    history: Any,
) -> Result:
    """Play a game to its end.

    Parameters
    ----------
    first, second
        The players; whichever is called first, the game is the same.
    first_ws, second_ws
        Their workspaces.
    colour
        The side of the first one.
    rules
        The draw rules, as :meth:`checkers_env.state.DrawRules.to_array` writes them.
    cut_cycles
        For players that look at nothing but the position, in games without other draw rules than
        the number of moves: once a position comes back the rest is known, and is not played out.
    history
        int64[2 * max_moves + 1, 4]: takes the positions of the game and the paths that led to them.
        Paths that stand in column 3 on entry, from row 1 up to the first 0, are the opening: they
        are played as they stand.
    """
    first, second = borrowed(first), borrowed(second)
    first_ws, second_ws, history = borrowed(first_ws), borrowed(second_ws), borrowed(history)
    first_ws.counts[2] += 1
    second_ws.counts[2] += 1
    if looks_back(first):
        forget_cutoffs(first_ws)
    if looks_back(second):
        forget_cutoffs(second_ws)
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
            period = cycle(history, ply, min(game[REVERSIBLE_PLIES], chosen)) if cut_cycles else 0
            if period:
                for later in range(ply + 1, 2 * game[MAX_MOVES] + 1):
                    copy_into(history[later - period], history[later])
                return Result(DRAW, MOVE_LIMIT, 2 * game[MAX_MOVES])
            chosen += 1
            owner = ws.counts[2] << 1 | side
            if looks_back(first) if side == colour else looks_back(second):
                note_past(ws, history, ply, game[REVERSIBLE_PLIES])
            if side == colour:
                path = choose(first, here, ws, count, owner, rng)
            else:
                path = choose(second, here, ws, count, owner, rng)
        status = make_move(game, history, ws.rows[row_of(ws.rows, count, path)])
    winner = 1 - game[SIDE] if has_lost(game, status) else DRAW
    return Result(winner, status, game[PLY])


@kernel
def row_of(rows: Any, count: int, path: int) -> int:
    """The row of the successor that `path` leads to."""
    for row in range(count):
        if rows[row, PACKED_MOVE] == path:
            return row
    raise ValueError("a player, or the opening, made an illegal move")


@kernel
def cycle(history: Any, ply: int, chosen: int) -> int:
    """How many of the last `chosen` plies ago the position at `ply` stood; 0 for never."""
    now = history[ply]
    for back in range(2, chosen + 1, 2):
        then = history[ply - back]
        if then[BLACK_BOARD] == now[BLACK_BOARD] and then[WHITE_BOARD] == now[WHITE_BOARD]:
            return back
    return 0


class Tally(NamedTuple):
    """What came of some games: how they ended, their plies, and the lessons drawn from them."""

    black_wins: int
    white_wins: int
    draws: int
    plies: int
    updates: int
    mean_error: float  # of |target - v|


def check_chances(lam: float, epsilon: float, random_plies: int) -> None:
    """Raise ValueError for a lambda, or chances in games, that there cannot be."""
    if not (0 <= lam <= 1 and 0 <= epsilon <= 1):
        raise ValueError(f"lambda and epsilon are from 0 to 1, not {lam!r} and {epsilon!r}")
    if random_plies < 0:
        raise ValueError(f"random_plies is 0 or more, not {random_plies}")
