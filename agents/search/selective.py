"""Selective search: styles, late-move reductions, zero windows, repetition and mate distance."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from agents.search.workspace import PAST, UNLIMITED, VISITED
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, generic, kernel
from checkers_env.movegen import BLACK_BOARD, WHITE_BOARD, Position
from checkers_env.state import repetition_period


class FullWidth(NamedTuple):
    """Style of the papers: all moves are searched to one depth, and values are plain minimax."""

    # Plies from one iteration to the next; the last iteration has the depth of the search.
    deepens_by: int = 2
    # Whether a line ends behind a jump: after a capture only further captures are searched, at any
    # depth. This is one reading of the thesis, 2.6.1.2: "The search stops below any discovered jump
    # move".
    ends_at_jump: bool = False
    # Whether the search takes shortcuts that change neither its value nor its move. Moves after the
    # first are only tested for being better, with TEST_DEPTH plies left or more, and searched again
    # if they are (Marsland 1983). The root is first searched in a window of FIRST_WINDOW around the
    # last value. A forced move is made without a frame of its own. The transposition table then has
    # fewer values, and more bounds of values.
    takes_shortcuts: bool = True


FULL_WIDTH = FullWidth()
LARGEST_TABLE = 22  # bits: 134 MB
NODES_PER_SECOND = 8e6  # at most, about
# Parts of its share after which a move begins no further depth, by the depths since it changed; the
# last holds for more of them. And how many shares it takes at most.
STRETCHES, MAX_STRETCH = (2.0, 1.75, 1.5, 1.25, 1.0, 0.75, 0.5), 4.0


class Selective(NamedTuple):
    """Style of strong engines: principal-variation search with late-move reductions.

    An entry of the transposition table serves smaller depths too. A position that stood before, in
    the game or on the line, is a draw. A win is worth more the sooner it comes, and always more
    than an evaluation.
    """

    deepens_by: int = 1  # plies from one iteration to the next
    # Number of moves after which quiet moves are reduced: searched less deep at first, and again to
    # the full depth if they turn out well. 0 turns reductions off.
    reduces: int = 3
    nodes: int = 0  # positions visited after which the search ends; 0 for no limit
    table_bits: int = 16  # the transposition table has two to this power entries of 32 bytes
    # A quiet position whose own evaluation is at least so much above beta is searched STATIC_PLIES
    # less deep at first, and again if it turns out worse than beta. 0 turns this off. Margins are
    # differences of evaluations, from 0 to 2; endgame tables halve both.
    reverse_futility_reduction_margin: float = 0.0
    # A quiet position with at most FUTILITY_DEPTH plies left is not searched if its own evaluation
    # is above beta by this margin for each ply. 0 turns this off. No margin is used in searches of
    # less than STATIC_DEPTH plies.
    reverse_futility_margin: float = 0.0
    # Nor, with less than STATIC_DEPTH plies left, if it is below beta by this margin for each ply
    # and half a ply more. 0 turns this off.
    razoring_margin: float = 0.0
    # With STATIC_DEPTH plies left or more, a position below beta by this margin is searched
    # STATIC_PLIES less deep at first, and again if it turns out no worse. 0 turns this off.
    razoring_reduction_margin: float = 0.0
    # Whether a position where no move reaches alpha keeps the best move that the table has of it,
    # not the one of the highest bound. Only in searches of STATIC_DEPTH plies or more.
    keeps_move: bool = False
    # Whether a move usually takes a quarter of `nodes`: less if its best move stands, or else more.
    ends_early: bool = False


FORMER = Selective(reverse_futility_reduction_margin=0.15, reverse_futility_margin=0.2)
"""The search of former players, and of the games that ``strong`` learns from."""
STRONG = FORMER._replace(razoring_margin=0.1, razoring_reduction_margin=0.05, keeps_move=True)
"""The search of ``strong`` and of all players that are trained as it was."""
MARGINS = [name for name in Selective._fields if name.endswith("_margin")]
OPTIONS: dict[type, dict[str, tuple[type, float]]] = {
    FullWidth: {"ends_at_jump": (bool, 1)},
    Selective: {
        "nodes": (int, UNLIMITED),
        "ends_early": (bool, 1),
        "reduces": (int, 1000),
        **dict.fromkeys(MARGINS, (float, 2)),
    },
}
"""What a user may set of a style: the type and the largest value of each; the smallest is 0."""


def with_option(style: Any, name: str, value: Any) -> Any:
    """Return a style with another value of one of its OPTIONS; raise ValueError for others."""
    if name not in OPTIONS[type(style)]:
        kind = "selective" if isinstance(style, Selective) else "full-width"
        raise ValueError(f"a {kind} search takes no {name}")
    number, largest = OPTIONS[type(style)][name]
    if number is bool:
        is_valid, accepted = value in (True, False), "True or False"
    else:
        is_number = isinstance(value, (int, number)) and not isinstance(value, bool)
        is_valid = is_number and 0 <= value <= largest
        accepted = f"a {'whole ' * (number is int)}number from 0 to {largest}"
    if not is_valid:
        raise ValueError(f"{name} must be {accepted}, not {value!r}")
    return style._replace(**{name: number(value)})


def table_bits_for(style: Selective, most: float) -> int:
    """Return the bits of a transposition table for searches of so many positions at most."""
    nodes = most / MAX_STRETCH if style.ends_early else most
    return math.ceil(math.log2(min(max(nodes, 1.0), 2.0**LARGEST_TABLE)))


@generic
def selective(style: KernelArg) -> bool:
    """Return whether a style is selective; kernels know it when they are compiled."""
    return False


selective.register(Selective)(lambda style: True)


MATE_STEP = 2.0**-20  # how much less a win is worth for each ply
MATE_THRESHOLD = 1.0 - 2.0**-10  # larger values are wins: evaluations are scaled to stay below
MIN_REDUCTION_DEPTH = 3  # plies that must be left for a reduction
TWICE_AFTER, TWICE_AT = 6, 6  # moves searched, and plies left, for a reduction by two plies
FULL_DEPTH, FULL_WINDOW = 1, 2  # second and third attempt at a move
ZERO_WINDOW = 1e-12  # windows are smaller, or much larger
TEST_DEPTH = 3  # plies left for a zero window in a full-width search
FIRST_WINDOW = 0.05  # on either side of the value of an earlier search
STATIC_DEPTH, STATIC_PLIES = 5, 3  # plies left for a reduction by evaluation, and its size
FUTILITY_DEPTH = 3
NO_SEARCH = -1  # in place of a number of plies


@kernel
def takes_shortcuts(style: KernelArg) -> bool:
    """Return whether a full-width search takes shortcuts (see :class:`FullWidth`)."""
    return getattr(style, "takes_shortcuts", False)


@kernel
def node_limit_reached(style: KernelArg, ws: KernelArg) -> bool:
    """Return whether a search has visited as many positions as it may."""
    nodes = getattr(style, "nodes", 0)
    return nodes > 0 and ws.counts[VISITED] - ws.start_nodes[0] >= nodes


@kernel
def has_searched_enough(style: KernelArg, ws: KernelArg, stable: int) -> bool:
    """Return whether to begin no further depth, so many after the last that changed the move."""
    enough = STRETCHES[min(stable, len(STRETCHES) - 1)] / MAX_STRETCH * getattr(style, "nodes", 0)
    ends_early = getattr(style, "ends_early", False)
    return ends_early and ws.counts[VISITED] - ws.start_nodes[0] > enough > 0.0


@generic
def remaining_after(style: KernelArg, frame: KernelArg, before: Position, after: Position) -> int:
    """Return the plies left after the current move of a frame, which notes the reduction."""
    return plies_below(style, frame.remaining, before, after)


@generic
def plies_below(style: KernelArg, plies: int, before: Position, after: Position) -> int:
    """Return the plies that are left below a move, without reductions."""
    return max(plies - 1, 0)


@plies_below.register(FullWidth)
def _plies_below_full_width(style: FullWidth, plies: int, before: Position, after: Position) -> int:
    if style.ends_at_jump and popcount(before.black | before.white) != popcount(
        after.black | after.white
    ):
        return 0
    return max(plies - 1, 0)


@remaining_after.register(Selective)
def _remaining_after_selective(
    style: Selective, frame: KernelArg, before: Position, after: Position
) -> int:
    frame.reduced = 0
    if style.reduces and not frame.tries and frame.searched > style.reduces:
        frame.reduced = reduction(frame, before, after)
    return max(frame.remaining - 1 - frame.reduced, 0)


@generic
def may_prune(style: KernelArg, depth: int, remaining: int, alpha: float, beta: float) -> bool:
    """Return whether the evaluation of a quiet position can save its search.

    Never in an open window, in a shallow search, or where a win or a loss has been proven.
    """
    return False


@may_prune.register(Selective)
def _may_prune_selective(
    style: Selective, depth: int, remaining: int, alpha: float, beta: float
) -> bool:
    if depth < STATIC_DEPTH or beta - alpha > ZERO_WINDOW or abs(beta) > MATE_THRESHOLD:
        return False
    if remaining >= STATIC_DEPTH:
        return max(style.reverse_futility_reduction_margin, style.razoring_reduction_margin) > 0.0
    above = style.reverse_futility_margin > 0.0 and remaining <= FUTILITY_DEPTH
    return above or style.razoring_margin > 0.0


@generic
def prune(style: KernelArg, frame: KernelArg, remaining: int, gain: float, scale: float) -> int:
    """Return the plies left to search of a position of evaluation beta + `gain`, or NO_SEARCH.

    `frame` is that of the position before; it notes the reduction. `scale` is the evaluator's
    :func:`agents.evaluator.value_scale`.
    """
    return remaining


@prune.register(Selective)
def _prune_selective(
    style: Selective, frame: KernelArg, remaining: int, gain: float, scale: float
) -> int:
    if remaining < STATIC_DEPTH:
        above, below = style.reverse_futility_margin, style.razoring_margin
        ends = above > 0.0 and gain >= above * scale * remaining and remaining <= FUTILITY_DEPTH
        ends |= below > 0.0 and gain <= -below * scale * (remaining + 0.5)
        return NO_SEARCH if ends else remaining
    above, below = style.reverse_futility_reduction_margin, style.razoring_reduction_margin
    if frame.tries == 0 and 0.0 < above * scale <= gain:
        frame.reduced += STATIC_PLIES
        return remaining - STATIC_PLIES
    if frame.tries == 0 and 0.0 < below * scale <= -gain:  # the move may cut off
        remaining, frame.reduced = remaining + frame.reduced, -STATIC_PLIES
        return remaining - STATIC_PLIES
    return remaining


@kernel
def reduction(frame: KernelArg, before: Position, after: Position) -> int:
    """Return by how many plies a late move is reduced: 0 to 2, 0 for a capture or a crowning."""
    if frame.remaining < MIN_REDUCTION_DEPTH or not same_material(before, after):
        return 0
    return 1 + (frame.searched > TWICE_AFTER and frame.remaining >= TWICE_AT)


@kernel
def same_material(before: Position, after: Position) -> bool:
    """Return whether a move neither captured nor crowned."""
    pieces, pieces_after = before.black | before.white, after.black | after.white
    same = popcount(pieces) == popcount(pieces_after)
    return same and popcount(before.kings) == popcount(after.kings)


@kernel
def uses_zero_window(style: KernelArg, frame: KernelArg) -> bool:
    """Return whether the current move is at first only tested for being better than the best."""
    tests = selective(style) or (takes_shortcuts(style) and frame.remaining >= TEST_DEPTH)
    return tests and frame.searched > 1 and frame.tries < FULL_WINDOW


@kernel
def value_to_beat(style: KernelArg, frame: KernelArg, ply: int) -> float:
    """Return the value that the current move must exceed to be the best.

    At the root of a full-width search, the first of equally good moves is the best.
    """
    if not selective(style) and ply == 0 and frame.current < frame.best:
        return float(np.nextafter(frame.alpha, -2.0))
    return frame.alpha


@kernel
def window(style: KernelArg, frame: KernelArg, ply: int) -> tuple[float, float]:
    """Return alpha and beta for the side to move after the current move."""
    low, high = value_to_beat(style, frame, ply), frame.beta
    if uses_zero_window(style, frame):
        high = float(np.nextafter(low, 2.0))
    return -high, -low


@kernel
def needs_re_search(style: KernelArg, frame: KernelArg, ply: int, value: float) -> bool:
    """Return whether to search the current move again; the frame's `tries` then say how."""
    exceeds = value > value_to_beat(style, frame, ply)
    if selective(style) and not frame.tries and frame.reduced and exceeds == (frame.reduced > 0):
        frame.tries = FULL_DEPTH
    elif exceeds and uses_zero_window(style, frame) and value < frame.beta:
        frame.tries = FULL_WINDOW
    else:
        frame.tries = 0
    return frame.tries > 0


@kernel
def count_reversible_plies(earlier: int, before: Position, after: Position) -> int:
    """Return the plies without a man's move or a capture, of which `earlier` before this move."""
    men = (before.black | before.white) & ~before.kings
    stand = men == (after.black | after.white) & ~after.kings
    return earlier + 1 if stand and same_material(before, after) else 0


@kernel
def is_repetition(ws: KernelArg, ply: int, position: Position, reversible: int) -> bool:
    """Return whether the position at a ply of the line stood before, in the line or the game."""
    history, at = ws.position_history, ws.reversible_plies[0] + ply
    return repetition_period(history, at, position.black, position.white, reversible) > 0


@kernel
def clear_move_ordering(ws: KernelArg) -> None:
    """Clear killers and history, which decide on the order of moves and so on reductions."""
    ws.killers[:] = 0
    ws.history[:, :] = 0


@kernel
def set_position_history(ws: KernelArg, history: KernelArg, ply: int, reversible: int) -> None:
    """Copy the positions that can be repeated from a game's history into a workspace."""
    length = min(reversible, PAST)
    ws.reversible_plies[0] = length
    for at in range(length):
        row = history[ply - length + at]
        boards = ws.position_history[at]
        boards[BLACK_BOARD], boards[WHITE_BOARD] = row[BLACK_BOARD], row[WHITE_BOARD]


@kernel
def push_move(ws: KernelArg, before: Position, after: Position) -> bool:
    """Add a move to the game after a search from `before`; return whether `after` repeats."""
    reversible = count_reversible_plies(ws.frames[0].reversible_plies, before, after)
    repeats = is_repetition(ws, 1, after, reversible)
    if reversible == 0:
        ws.reversible_plies[0] = 0
    elif ws.reversible_plies[0] == PAST:
        set_position_history(ws, ws.position_history, PAST + 1, PAST)  # without the oldest
    else:
        ws.reversible_plies[0] += 1
    return repeats


@kernel
def adjust_mate_distance(value: float, plies: int) -> float:
    """Return the value of a win or a loss that comes so many plies later; others are unchanged."""
    if value > MATE_THRESHOLD:
        return value - MATE_STEP * plies
    return value + MATE_STEP * plies if value < -MATE_THRESHOLD else value
