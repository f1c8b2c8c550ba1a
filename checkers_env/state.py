"""A game as the kernels keep it: the position, the clocks of the draw rules, and how it ends.

A game is an int64 vector, whose first four entries are laid out as a row of successors (the path is
that of the unfinished turn), and an int64[:, 4] history: the row at each ply, from the start on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from checkers_env.bits import copy, popcount
from checkers_env.jit import kernel
from checkers_env.movegen import BLACK_BOARD, KINGS, NO_MOVE, PATH, ROW_WIDTH, WHITE_BOARD, can_move

SIDE, PLY, QUIET_PLIES, EARLIER = 4, 5, 6, 7  # further entries of a game
MAX_PLIES, REPETITION, MAX_QUIET_PLIES, BLOCKED_DRAWS = 8, 9, 10, 11  # the draw rules; 0: off
GAME_LENGTH = 12

# How a game stands at the start of a turn.
GOES_ON, NO_PIECES, NO_MOVES, MOVE_LIMIT, REPEATED, NO_PROGRESS = range(6)
REASONS = ("", "no pieces", "no legal move", "max moves", "repetition", "no progress")


def new_game(rules: Mapping[str, Any]) -> Any:
    """A game, int64[GAME_LENGTH], without a position: `rules` as :attr:`Board.rules` has them."""
    game = np.zeros(GAME_LENGTH, np.int64)
    set_rules(game, **{name: int(number or 0) for name, number in rules.items()})
    return game


@kernel
def set_rules(
    game: Any, max_moves: int, repetition: int, no_progress: int, blocked_draws: int
) -> None:
    """Write the draw rules into a game; 0 turns one off."""
    game[MAX_PLIES], game[MAX_QUIET_PLIES] = 2 * max_moves, 2 * no_progress
    game[REPETITION], game[BLOCKED_DRAWS] = repetition, blocked_draws


@kernel
def set_up(game: Any, history: Any, black: int, white: int, kings: int, side: int) -> int:
    """Put a position on the board at ply 0, keeping the draw rules; return the status."""
    game[:MAX_PLIES] = 0
    game[BLACK_BOARD], game[WHITE_BOARD], game[KINGS] = black, white, kings
    game[PATH], game[SIDE] = NO_MOVE, side
    copy(game, history[0])
    return status(game)


@kernel
def take_turn(game: Any, history: Any, row: Any) -> int:
    """Make the move that leads to `row`, a row of successors; return the status."""
    men = (game[BLACK_BOARD] | game[WHITE_BOARD]) & ~game[KINGS]
    kings = popcount(game[KINGS])
    for column in range(ROW_WIDTH):
        game[column] = row[column]
    men_now = (game[BLACK_BOARD] | game[WHITE_BOARD]) & ~game[KINGS]
    return end_turn(game, history, men_now == men and popcount(game[KINGS]) == kings)


@kernel
def end_turn(game: Any, history: Any, quiet: bool) -> int:
    """Write the position into the history and hand the turn over; return the status."""
    game[PLY] += 1
    game[QUIET_PLIES] = game[QUIET_PLIES] + 1 if quiet else 0
    copy(game, history[game[PLY]])
    game[PATH] = NO_MOVE
    game[SIDE] = 1 - game[SIDE]
    if game[REPETITION]:
        game[EARLIER] = earlier_occurrences(game, history)
    return status(game)


@kernel
def status(game: Any) -> int:
    """Whether and how the game is over at the start of a turn: GOES_ON, or an ending."""
    own, opponent = game[game[SIDE]], game[1 - game[SIDE]]
    if own == 0:
        return NO_PIECES
    if not can_move(own, opponent, game[KINGS], game[SIDE]):
        return NO_MOVES
    if game[MAX_PLIES] and game[PLY] >= game[MAX_PLIES]:
        return MOVE_LIMIT
    if game[REPETITION] and game[EARLIER] + 1 >= game[REPETITION]:
        return REPEATED
    if game[MAX_QUIET_PLIES] and game[QUIET_PLIES] >= game[MAX_QUIET_PLIES]:
        return NO_PROGRESS
    return GOES_ON


@kernel
def has_lost(game: Any, status: int) -> bool:
    """Whether a game that ended with `status` is lost for the side to move, and not drawn."""
    return status == NO_PIECES or (status == NO_MOVES and not game[BLOCKED_DRAWS])


@kernel
def earlier_occurrences(game: Any, history: Any) -> int:
    """How often the position at the current ply was there before, with the same side to move."""
    now, count = history[game[PLY]], 0
    # A capture or a man's move is never undone: nothing from before the last one can recur, and
    # the kings have been the same pieces since.
    for ply in range(game[PLY] - 2, game[PLY] - game[QUIET_PLIES] - 1, -2):
        then = history[ply]
        if then[BLACK_BOARD] == now[BLACK_BOARD] and then[WHITE_BOARD] == now[WHITE_BOARD]:
            count += 1
    return count
