"""A game inside kernels: the position, the clocks of the draw rules, and the ending.

A game is an int64 vector. Its first four entries are laid out as a row of successors, with the
packed move of the unfinished turn. Its history is int64[:, 4]: the row at each ply, from the start.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checkers_env.bits import copy_into, popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK_BOARD,
    KINGS,
    NO_MOVE,
    PACKED_MOVE,
    ROW_WIDTH,
    WHITE_BOARD,
    can_move,
)

SIDE, PLY, REVERSIBLE_PLIES, REPETITIONS, RULES = 4, 5, 6, 7, 8  # further entries of a game
MAX_MOVES, REPETITION, NO_PROGRESS, BLOCKED_DRAWS = range(RULES, RULES + 4)  # as in DrawRules
SHORTEST_PERIOD = 4  # plies after which a position can come back
LARGEST = 10**9  # number in a draw rule: twice as many plies must fit into what counts them

# How a game stands at the start of a turn.
ONGOING, NO_PIECES, NO_MOVES, MOVE_LIMIT, REPETITION_DRAW, NO_PROGRESS_DRAW = range(6)
REASONS = ("", "no pieces", "no legal move", "max moves", "repetition", "no progress")


@dataclass(frozen=True)
class DrawRules:
    """The rules by which a game is drawn.

    A rule that is None is off. A new rule is a field here and a check in :func:`status`, which
    reads the field at the same place of the game's vector.

    Attributes
    ----------
    max_moves
        Draw after this many moves by each side.
    repetition
        Draw at this many occurrences of a position with the same side to move.
    no_progress
        Draw after this many moves by each side without a capture or a move of a man.
    blocked_draws
        Whether a side that has pieces but no legal move draws: by the rules of the game it loses.
        Players always count it as lost when they search.

    Raises
    ------
    ValueError
        For a number that is too small or too large, or not whole.
    """

    max_moves: int | None = field(default=100, metadata={"least": 1})
    repetition: int | None = field(default=None, metadata={"least": 2})
    no_progress: int | None = field(default=None, metadata={"least": 1})
    blocked_draws: bool = False

    def __post_init__(self) -> None:
        for rule in dataclasses.fields(self):
            value = getattr(self, rule.name)
            checked = _check_rule(rule.name, value, rule.metadata.get("least"))
            object.__setattr__(self, rule.name, checked)

    @property
    def max_plies(self) -> int:
        """Length of the longest game in plies. Raise ValueError if there is no limit."""
        if self.max_moves is None:
            raise ValueError("max_moves is None, but this game needs a limit")
        return 2 * self.max_moves

    @property
    def uses_history(self) -> bool:
        """Whether a draw depends on more than the position and the number of moves."""
        return self != DrawRules(self.max_moves, blocked_draws=self.blocked_draws)

    def to_array(self) -> NDArray[np.int64]:
        """Return the rules for kernels: int64, an entry for each field; 0 turns a rule off."""
        rules = [getattr(self, rule.name) or 0 for rule in dataclasses.fields(self)]
        return np.array(rules, np.int64)


def change_rules(
    rules: DrawRules, changes: Mapping[str, Any], function: Callable[..., Any]
) -> DrawRules:
    """Return the rules that a function's arguments ask for.

    Raise TypeError for `rules` that are no DrawRules, and for a name that is no draw rule.
    """
    if not isinstance(rules, DrawRules):
        raise TypeError(f"rules must be DrawRules, such as DrawRules(repetition=3), not {rules!r}")
    check_argument_names(changes, function)
    return dataclasses.replace(rules, **changes) if changes else rules


def check_argument_names(names: Iterable[str], function: Callable[..., Any]) -> None:
    """Raise TypeError for a name that is no draw rule; `function` got it beside its arguments."""
    rules = [rule.name for rule in dataclasses.fields(DrawRules)]
    for name in (name for name in names if name not in rules):
        parameters = inspect.signature(function).parameters.values()
        arguments = [it.name for it in parameters if it.kind is not it.VAR_KEYWORD]
        near = difflib.get_close_matches(name, [*arguments, *rules], 1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise TypeError(
            f"unexpected argument {name!r}{hint} The draw rules are {', '.join(rules)}; "
            f"the other arguments are {', '.join(arguments)}"
        )


GAME_LENGTH = RULES + len(dataclasses.fields(DrawRules))


def _check_rule(name: str, value: Any, least: int | None) -> int | None:
    """Return the value of a draw rule as a plain number or truth value."""
    if least is None:
        if value not in (True, False):
            raise ValueError(f"{name} must be True or False, not {value!r}")
        return bool(value)
    if value is None:
        return None
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not least <= value <= LARGEST:
        accepted = f"None or a whole number from {least} to {LARGEST}"
        raise ValueError(f"{name} must be {accepted}, not {value!r}")
    return int(value)


def new_game(rules: DrawRules) -> NDArray[np.int64]:
    """Return a game without a position, int64[GAME_LENGTH]."""
    return _empty_game(rules).copy()


@functools.lru_cache(64)
def _empty_game(rules: DrawRules) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(RULES, np.int64), rules.to_array()])


@kernel
def set_position(
    game: KernelArg, history: KernelArg, black: int, white: int, kings: int, side: int
) -> int:
    """Put a position on the board at ply 0, keep the draw rules, and return the status."""
    game[:RULES] = 0
    game[BLACK_BOARD], game[WHITE_BOARD], game[KINGS] = black, white, kings
    game[PACKED_MOVE], game[SIDE] = NO_MOVE, side
    copy_into(game, history[0])
    return status(game)


@kernel
def make_move(game: KernelArg, history: KernelArg, row: KernelArg) -> int:
    """Make the move that leads to a successor, int64[4], and return the status."""
    men = (game[BLACK_BOARD] | game[WHITE_BOARD]) & ~game[KINGS]
    kings = popcount(game[KINGS])
    for column in range(ROW_WIDTH):
        game[column] = row[column]
    men_now = (game[BLACK_BOARD] | game[WHITE_BOARD]) & ~game[KINGS]
    return end_turn(game, history, men_now == men and popcount(game[KINGS]) == kings)


@kernel
def end_turn(game: KernelArg, history: KernelArg, quiet: bool) -> int:
    """Write the position into the history, hand the turn over, and return the status.

    A turn is `quiet` without a capture and a man's move.
    """
    game[PLY] += 1
    game[REVERSIBLE_PLIES] = game[REVERSIBLE_PLIES] + 1 if quiet else 0
    copy_into(game, history[game[PLY]])
    game[PACKED_MOVE] = NO_MOVE
    game[SIDE] = 1 - game[SIDE]
    if game[REPETITION]:
        game[REPETITIONS] = count_repetitions(game, history)
    return status(game)


@kernel
def status(game: KernelArg) -> int:
    """Return ONGOING, or how the game is over at the start of a turn: a place in REASONS."""
    own, opponent = game[game[SIDE]], game[1 - game[SIDE]]
    if own == 0:
        return NO_PIECES
    if not can_move(own, opponent, game[KINGS], game[SIDE]):
        return NO_MOVES
    if game[MAX_MOVES] and game[PLY] >= 2 * game[MAX_MOVES]:
        return MOVE_LIMIT
    if game[REPETITION] and game[REPETITIONS] + 1 >= game[REPETITION]:
        return REPETITION_DRAW
    if game[NO_PROGRESS] and game[REVERSIBLE_PLIES] >= 2 * game[NO_PROGRESS]:
        return NO_PROGRESS_DRAW
    return ONGOING


@kernel
def has_lost(game: KernelArg, status: int) -> bool:
    """Return whether a game that ended with `status` is lost for the side to move, not drawn."""
    return status == NO_PIECES or (status == NO_MOVES and not game[BLOCKED_DRAWS])


@kernel
def count_repetitions(game: KernelArg, history: KernelArg) -> int:
    """Count earlier occurrences of the current position with the same side to move."""
    now, first, count = history[game[PLY]], game[PLY] - game[REVERSIBLE_PLIES], 0
    ply = game[PLY]
    while ply > first:
        period = repetition_period(history, ply, now[BLACK_BOARD], now[WHITE_BOARD], ply - first)
        if period == 0:
            break
        ply, count = ply - period, count + 1
    return count


@kernel
def repetition_period(history: KernelArg, ply: int, black: int, white: int, reversible: int) -> int:
    """Return how many plies before row `ply` of a history the position stood, or 0.

    A capture or a man's move is never undone. So only the last `reversible` plies, in which there
    was none, can hold the position, and the kings have been the same pieces since.
    """
    for period in range(SHORTEST_PERIOD, reversible + 1, 2):
        row = history[ply - period]
        if row[BLACK_BOARD] == black and row[WHITE_BOARD] == white:
            return period
    return 0
