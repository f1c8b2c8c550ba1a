"""What a selective search does otherwise than a full-width one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from agents.search.workspace import PAST
from checkers_env.bits import popcount
from checkers_env.jit import generic, kernel
from checkers_env.movegen import BLACK_BOARD, WHITE_BOARD, Position


class FullWidth(NamedTuple):
    """Every move is searched to the same depth: the value is that of plain minimax.

    `deepens_by` are the plies from one search to the next, of which the last one has the depth.
    """

    deepens_by: int = 2


FULL_WIDTH = FullWidth()
LARGEST_TABLE = 20  # bits: 42 MB
NODES_A_SECOND = 4e6  # about


class Selective(NamedTuple):
    """A principal-variation search that looks less far where it matters less.

    What is found at one depth serves at smaller ones too, a position that stood before in the game
    or on the line is a draw, and a win is worth more the sooner it comes, and always more than what
    the evaluator thinks.

    Attributes
    ----------
    deepens_by
        Plies from one search to the next.
    reduces
        Quiet moves that are late in the order are searched less far, and again to the full depth
        if they turn out well; 0: no, else how many moves come before.
    nodes
        Positions visited after which the search ends; 0: no limit.
    table_bits
        The table of positions has two to this power entries (40 bytes each).
    """

    deepens_by: int = 1
    reduces: int = 3
    nodes: int = 0
    table_bits: int = 16


def for_time(style: Selective, seconds: float) -> Selective:
    """The style with a table for all positions that a move of so many seconds may visit.

    The table is never smaller than before, nor larger than LARGEST_TABLE.
    """
    positions = min(max(seconds * NODES_A_SECOND, 1.0), 2.0**LARGEST_TABLE)
    return style._replace(table_bits=max(math.ceil(math.log2(positions)), style.table_bits))


@generic
def selective(style: Any) -> bool:
    """Whether a search in this style is selective: known when it is compiled."""
    return False


@selective.register(Selective)
def is_selective(style: Selective) -> bool:
    return True


SOONER = 2.0**-20  # what it is worth that a won end comes a ply sooner
IN_SIGHT = 1.0 - 2.0**-10  # of values above it the end of the game is known; opinions are scaled
REDUCED_AT = 3  # plies that must be left
TWICE_AFTER, TWICE_AT = 6, 6  # moves searched, and plies left, to be searched two plies less far
LEAST_PERIOD = 4  # plies after which a position can come back
TO_THE_DEPTH, TO_THE_END = 1, 2  # second and third attempt at a move


@generic
def is_spent(style: Any, ws: Any) -> bool:
    """Whether a search has visited as many positions as it may."""
    return False


@is_spent.register(Selective)
def is_spent_selected(style: Selective, ws: Any) -> bool:
    return style.nodes > 0 and ws.counts[0] - ws.begun[0] >= style.nodes


@generic
def remaining_after(style: Any, frame: Any, before: Position, after: Position) -> int:
    """The plies that are left after the current move of a frame."""
    return max(frame.remaining - 1, 0)


@remaining_after.register(Selective)
def remaining_after_selected(
    style: Selective, frame: Any, before: Position, after: Position
) -> int:
    frame.reduced = 0
    if style.reduces and not frame.tries and frame.searched > style.reduces:
        frame.reduced = reduction(frame, before, after)
    return max(frame.remaining - 1 - frame.reduced, 0)


@kernel
def reduction(frame: Any, before: Position, after: Position) -> int:
    """How many plies less a late move is searched at first."""
    if frame.remaining < REDUCED_AT or not same_material(before, after):
        return 0
    return 1 + (frame.searched > TWICE_AFTER and frame.remaining >= TWICE_AT)


@kernel
def same_material(before: Position, after: Position) -> bool:
    """Whether nothing was taken or crowned."""
    pieces, pieces_after = before.black | before.white, after.black | after.white
    same = popcount(pieces) == popcount(pieces_after)
    return same and popcount(before.kings) == popcount(after.kings)


@kernel
def window(frame: Any) -> tuple[float, float]:
    """What is asked of the current move: after the first one only whether it is better."""
    if frame.searched > 1 and frame.tries < TO_THE_END:
        return -float(np.nextafter(frame.alpha, 2.0)), -frame.alpha
    return -frame.beta, -frame.alpha


@kernel
def is_settled(frame: Any, value: float) -> bool:
    """Whether the current move needs no further search, which else is prepared."""
    if value > frame.alpha:
        if frame.tries == 0 and frame.reduced:
            frame.tries = TO_THE_DEPTH
            return False
        if frame.searched > 1 and frame.tries < TO_THE_END and value < frame.beta:
            frame.tries = TO_THE_END
            return False
    frame.tries = 0
    return True


@kernel
def quiet_plies(frame: Any, before: Position, after: Position) -> int:
    """Plies before `after` in which no man moved and nothing was taken."""
    men = (before.black | before.white) & ~before.kings
    stand = men == (after.black | after.white) & ~after.kings
    return frame.quiet + 1 if stand and same_material(before, after) else 0


@kernel
def comes_back(ws: Any, ply: int, position: Position, quiet: int) -> bool:
    """Whether the position after so many plies of the line stood before, in it or in the game."""
    for back in range(LEAST_PERIOD, quiet + 1, 2):
        then = ply - back
        if then >= 0:
            frame = ws.frames[then]
            if frame.black == position.black and frame.white == position.white:
                return True
        else:
            row = ws.past[ws.quiet[0] + then]
            if row[BLACK_BOARD] == position.black and row[WHITE_BOARD] == position.white:
                return True
    return False


@kernel
def forget_cutoffs(ws: Any) -> None:
    """Clear what decides on the order of moves, on which depends how far each is searched."""
    ws.killers[:] = 0
    ws.history[:, :] = 0


@kernel
def note_past(ws: Any, history: Any, ply: int, quiet: int) -> None:
    """Tell a workspace the positions before the last `quiet` plies of a game, at `ply` now."""
    kept = min(quiet, PAST)
    ws.quiet[0] = kept
    for at in range(kept):
        row = history[ply - kept + at]
        ws.past[at, BLACK_BOARD], ws.past[at, WHITE_BOARD] = row[BLACK_BOARD], row[WHITE_BOARD]


@kernel
def note_move(ws: Any, before: Position, after: Position) -> bool:
    """Tell a workspace, after a search from `before`, of a move; whether `after` has come back."""
    quiet = quiet_plies(ws.frames[0], before, after)
    back = comes_back(ws, 1, after, quiet)
    known = ws.quiet[0]
    if quiet == 0:
        known = -1
    elif known == PAST:
        ws.past[:-1] = ws.past[1:].copy()
        known -= 1
    ws.quiet[0] = known + 1
    if quiet:
        ws.past[known, BLACK_BOARD], ws.past[known, WHITE_BOARD] = before.black, before.white
    return back


@kernel
def put_off(value: float, plies: int) -> float:
    """The value if a won or lost end that is in sight came so many plies later."""
    if value > IN_SIGHT:
        return value - SOONER * plies
    return value + SOONER * plies if value < -IN_SIGHT else value
