"""Many games as arrays, and the kernels that step all of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from checkers_env.actions import ACTIONS, ILLEGAL, play_action
from checkers_env.bits import borrowed, copy_into, prefetch
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import ROW_WIDTH
from checkers_env.observation import PLANES, write_observation
from checkers_env.openings import parse_opening
from checkers_env.state import (
    GAME_LENGTH,
    ONGOING,
    PLY,
    REASONS,
    SIDE,
    DrawRules,
    has_lost,
    new_game,
    set_position,
)

MOVER = -1  # as a seat: the side to move
TRUNCATED = len(REASONS)  # what an action did, where the game is cut short by `max_steps`
NUMBERS = 32  # drawn in advance for each game
ROWS = 256  # rows of a new history
PREFETCH_DISTANCE = 8  # a game's history is fetched so many games before its turn


class Openings(NamedTuple):
    """Games after an opening, one for each of `c` openings."""

    games: NDArray[np.int64]  # (c, GAME_LENGTH): after the opening's moves
    lines: NDArray[np.int64]  # (c, plies + 1, 4): their histories up to there


class Batch(NamedTuple):
    """The state of `n` games.

    One number decides all random choices of a game. Its last digit to the base of the openings is
    the opening, the next one to the base of `choices` is the seat, and the rest is the opponent.
    """

    games: NDArray[np.int64]  # (n, GAME_LENGTH)
    history: NDArray[np.int64]  # (n, rows, 4)
    events: NDArray[np.int64]  # (n,): what the last action did; the game is over after an ending
    actors: NDArray[np.int64]  # (n,): the side that acted last, or MOVER when none has
    seats: NDArray[np.int64]  # (n,): the side that observes and is rewarded, or MOVER
    opponents: NDArray[np.int64]  # (n,): the player of the other side, for seats but MOVER
    numbers: NDArray[np.int64]  # (n, k): drawn in advance for the games to come
    used: NDArray[np.int64]  # (n,): how many of them have been used up
    steps: NDArray[np.int64]  # (n,): since the game began
    max_steps: NDArray[np.int64]  # (1,): after which a game is cut short; 0 for no limit
    choices: NDArray[np.int64]  # (s,): the seats to draw from
    openings: Openings


class StepOutput(NamedTuple):
    """The result of a step in `n` games."""

    planes: NDArray[np.float32]  # (n, 8, 8, 8)
    mask: NDArray[np.int8]  # (n, 128)
    reward: NDArray[np.float64]  # (n,): of the seat, or of the side that acted
    rewards: NDArray[np.float64]  # (n, 2): of Black and White
    over: NDArray[np.bool_]  # (n,): either
    terminated: NDArray[np.bool_]  # (n,): the game ended
    truncated: NDArray[np.bool_]  # (n,): the game was cut short
    events: NDArray[np.int64]  # (n,): how it ended
    to_move: NDArray[np.int8]  # (n,): the side to move now


def new_batch(count: int, openings: Openings, rows: int = ROWS, numbers: int = NUMBERS) -> Batch:
    """Return `count` games of which none has begun, with rows of history, and numbers for each."""
    widths = {"games": (GAME_LENGTH,), "history": (rows, ROW_WIDTH), "numbers": (numbers,)}
    games = [np.zeros((count, *widths.get(name, ())), np.int64) for name in Batch._fields[:-3]]
    return Batch._make([*games, np.zeros(1, np.int64), np.array([MOVER]), openings])


def opening_states(cards: Sequence[str | None], rules: DrawRules) -> Openings:
    """Return the games that each of `cards`, of equally many moves, leads to."""
    games = np.tile(new_game(rules), (len(cards), 1))
    openings = [parse_opening(card) for card in cards]
    lines = np.zeros((len(cards), len(openings[0].moves) + 1, ROW_WIDTH), np.int64)
    for game, line, opening in zip(games, lines, openings, strict=True):
        set_position(game, line, *opening.start)
        for action in opening.actions:
            play_action(game, line, action)
    return Openings(games, lines)


def empty_output(count: int) -> StepOutput:
    """Return fresh arrays for a step in `count` games; rewards and endings are 0."""
    return StepOutput(
        np.empty((count, PLANES, 8, 8), np.float32),
        np.empty((count, ACTIONS), np.int8),
        np.zeros(count),
        np.zeros((count, 2)),
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
        np.zeros(count, np.int64),
        np.empty(count, np.int8),
    )


@kernel
def is_over(event: int) -> bool:
    """Return whether a game is over after an event."""
    return event > ONGOING or event == ILLEGAL


@kernel
def begin_game(batch: KernelArg, openings: KernelArg, i: int, number: int) -> None:
    """Begin game `i` by `number` (see :class:`Batch`)."""
    card, number = number % len(openings.games), number // len(openings.games)
    batch.seats[i] = batch.choices[number % len(batch.choices)]
    batch.opponents[i] = number // len(batch.choices)
    copy_into(openings.games[card], batch.games[i])
    for ply in range(openings.games[card, PLY] + 1):
        copy_into(openings.lines[card, ply], batch.history[i, ply])
    batch.events[i], batch.actors[i], batch.steps[i] = ONGOING, MOVER, 0


@kernel
def begin_next_game(batch: KernelArg, i: int) -> None:
    """Begin game `i` by the next of its numbers."""
    begin_game(batch, batch.openings, i, batch.numbers[i, batch.used[i]])
    batch.used[i] += 1


@kernel
def begin_games(
    batch: KernelArg, openings: KernelArg, games: KernelArg, numbers: KernelArg
) -> None:
    """Begin the games with these indices, int64[m], by these numbers."""
    batch, openings = borrowed(batch), borrowed(openings)
    for at in range(len(games)):
        begin_game(batch, openings, games[at], numbers[at])


@kernel
def play_game(batch: KernelArg, i: int, action: int) -> None:
    """Play an action in game `i`, or begin it anew if it is over."""
    if is_over(batch.events[i]):
        begin_next_game(batch, i)
    else:
        batch.steps[i] += 1
        batch.actors[i] = batch.games[i, SIDE]
        batch.events[i] = play_action(batch.games[i], batch.history[i], action)


@kernel
def play_actions(batch: KernelArg, actions: KernelArg) -> None:
    """Play an action in each game; games that are over begin anew instead."""
    batch = borrowed(batch)
    for i in range(len(actions)):
        ahead = min(i + PREFETCH_DISTANCE, len(actions) - 1)
        prefetch(batch.history[ahead], batch.games[ahead, PLY] + 1)
        play_game(batch, i, actions[i])


@kernel
def write_result(batch: KernelArg, i: int, output: KernelArg) -> bool:
    """Write the ending and rewards of game `i` to an `output` of zeros; return whether it is over.

    An illegal action costs its own side only.
    """
    if not is_over(batch.events[i]) and 0 < batch.max_steps[0] <= batch.steps[i]:
        batch.events[i] = TRUNCATED
    event, side, seat = batch.events[i], batch.games[i, SIDE], batch.seats[i]
    if is_over(event):
        output.over[i], output.events[i] = True, event
        output.truncated[i] = event == TRUNCATED
        output.terminated[i] = event != TRUNCATED
        if event == ILLEGAL:
            output.rewards[i, side] = -1
        elif has_lost(batch.games[i], event):
            output.rewards[i, side], output.rewards[i, 1 - side] = -1, 1
        output.reward[i] = output.rewards[i, batch.actors[i] if seat == MOVER else seat]
    return output.over[i]


@kernel
def write_rewards(batch: KernelArg, output: KernelArg) -> KernelArg:
    """Write the endings and rewards to an `output` of zeros; return the games that have ended."""
    batch, output = borrowed(batch), borrowed(output)
    ended, count = np.empty(len(output.over), np.int64), 0
    for i in range(len(output.over)):
        if write_result(batch, i, output):
            ended[count] = i
            count += 1
    return ended[:count]


@kernel
def observe_game(batch: KernelArg, i: int, planes: KernelArg, mask: KernelArg) -> None:
    """Write the observation of game `i`; a game that is over has no legal actions."""
    game, seat = batch.games[i], batch.seats[i]
    viewer = game[SIDE] if seat == MOVER else seat
    write_observation(planes, mask, game, viewer, not is_over(batch.events[i]))


@kernel
def write_observations(batch: KernelArg, output: KernelArg) -> None:
    """Write the observations of all games."""
    batch, output = borrowed(batch), borrowed(output)
    for i in range(len(output.over)):
        output.to_move[i] = batch.games[i, SIDE]
        observe_game(batch, i, output.planes[i], output.mask[i])


@kernel
def autoreset(batch: KernelArg, ended: KernelArg) -> KernelArg:
    """Begin the games that are over anew; return their last planes, float32[m, 8, 8, 8]."""
    last = np.empty((len(ended), PLANES, 8, 8), np.float32)
    batch, planes, mask = borrowed(batch), borrowed(last), np.empty(ACTIONS, np.int8)
    for at in range(len(ended)):
        observe_game(batch, ended[at], planes[at], mask)
        begin_next_game(batch, ended[at])
    return last


@kernel
def step_games(
    batch: KernelArg, actions: KernelArg, same_step: bool, output: KernelArg
) -> tuple[KernelArg, KernelArg]:
    """Play one action in each game and fill `output`.

    Return the games that have ended. With `same_step`, they begin anew at once, and their last
    planes are returned, too.
    """
    play_actions(batch, actions)
    ended = write_rewards(batch, output)
    last = autoreset(batch, ended) if same_step else output.planes[:0]
    write_observations(batch, output)
    return ended, last


@kernel
def pick_actions(mask: KernelArg, draws: KernelArg, actions: KernelArg) -> None:
    """Pick a legal action in each game (0 where there is none) by a random number in [0, 1)."""
    mask = borrowed(mask)
    for i in range(len(mask)):
        row = mask[i]
        left = int(draws[i] * row.sum())
        actions[i] = 0
        for action in range(len(row)):
            if row[action]:
                if left == 0:
                    actions[i] = action
                    break
                left -= 1
