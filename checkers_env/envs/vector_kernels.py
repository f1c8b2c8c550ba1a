"""Many games side by side as arrays, and the kernels that step all of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from checkers_env.actions import ACTIONS, ILLEGAL, move_to_actions, play_action
from checkers_env.bits import borrowed, copy_into
from checkers_env.jit import kernel
from checkers_env.movegen import ROW_WIDTH
from checkers_env.observation import PLANES, write_observation
from checkers_env.openings import parse_opening
from checkers_env.state import (
    GAME_LENGTH,
    ONGOING,
    PLY,
    SIDE,
    DrawRules,
    has_lost,
    new_game,
    set_position,
)

MOVER = -1  # as a seat: whoever is to move
PREFETCH = 32  # numbers drawn in advance for each game
ROWS = 256  # of the histories, to begin with


class Openings(NamedTuple):
    """Games that begin, one for each of `c` openings."""

    games: Any  # int64[c, GAME_LENGTH]: after the opening's moves
    lines: Any  # int64[c, plies + 1, 4]: their histories up to there


class Batch(NamedTuple):
    """The state of `n` games.

    What chance decides about a game is one number: the opening is its last digit to the base of
    the openings, the seat the next one, to the base of `choices`, and the rest is the opponent.
    """

    games: Any  # int64[n, GAME_LENGTH]
    history: Any  # int64[n, rows, 4]
    events: Any  # int64[n]: what the last action did (an ending: the game is over)
    actors: Any  # int64[n]: the side that acted last, or MOVER when none has
    seats: Any  # int64[n]: the side that observes and is rewarded, or MOVER
    opponents: Any  # int64[n]: who plays the other side, where that is not MOVER
    numbers: Any  # int64[n, k]: drawn in advance for the games to come
    used: Any  # int64[n]: how many of them have been used up
    choices: Any  # int64[s]: the seats to draw from
    openings: Openings


class StepOutput(NamedTuple):
    """What a step has shown."""

    planes: Any  # float32[n, 8, 8, 8]
    mask: Any  # int8[n, 128]
    reward: Any  # float64[n]: of the seat, or of the side that acted
    rewards: Any  # float64[n, 2]: of Black and White
    over: Any  # bool[n]: the game ended with this step
    events: Any  # int64[n]: how


def new_batch(count: int, openings: Openings) -> Batch:
    """Games of which none has begun."""
    return Batch(
        games=np.zeros((count, GAME_LENGTH), np.int64),
        history=np.zeros((count, ROWS, ROW_WIDTH), np.int64),
        events=np.zeros(count, np.int64),
        actors=np.zeros(count, np.int64),
        seats=np.zeros(count, np.int64),
        opponents=np.zeros(count, np.int64),
        numbers=np.zeros((count, PREFETCH), np.int64),
        used=np.zeros(count, np.int64),
        choices=np.array([MOVER]),
        openings=openings,
    )


def opening_states(cards: Sequence[str | None], rules: DrawRules) -> Openings:
    """The games that each of `cards`, openings of equally many moves, leads to.

    Raises ValueError for what is no opening.
    """
    games = np.tile(new_game(rules), (len(cards), 1))
    starts, moves = zip(*map(parse_opening, cards), strict=True)
    lines = np.zeros((len(cards), len(moves[0]) + 1, ROW_WIDTH), np.int64)
    for i in range(len(cards)):
        set_position(games[i], lines[i], *starts[i])
        for ply, move in enumerate(moves[i]):
            for action in move_to_actions(move, starts[i].turn ^ ply & 1):
                play_action(games[i], lines[i], action)
    return Openings(games, lines)


def empty_output(count: int) -> StepOutput:
    """Fresh arrays for what `count` games show; all that no step fills is 0."""
    return StepOutput(
        np.empty((count, PLANES, 8, 8), np.float32),
        np.empty((count, ACTIONS), np.int8),
        np.zeros(count),
        np.zeros((count, 2)),
        np.zeros(count, np.bool_),
        np.zeros(count, np.int64),
    )


@kernel
def is_over(event: int) -> bool:
    """Whether a game is over after an event."""
    return event > ONGOING or event == ILLEGAL


@kernel
def begin_game(batch: Any, openings: Any, i: int, number: int) -> None:
    """Begin game `i` as `number` says."""
    card, number = number % len(openings.games), number // len(openings.games)
    batch.seats[i] = batch.choices[number % len(batch.choices)]
    batch.opponents[i] = number // len(batch.choices)
    copy_into(openings.games[card], batch.games[i])
    for ply in range(openings.games[card, PLY] + 1):
        copy_into(openings.lines[card, ply], batch.history[i, ply])
    batch.events[i], batch.actors[i] = ONGOING, MOVER


@kernel
def begin_next_game(batch: Any, i: int) -> None:
    """Begin game `i` as the next of its numbers says."""
    begin_game(batch, batch.openings, i, batch.numbers[i, batch.used[i]])
    batch.used[i] += 1


@kernel
def begin_games(batch: Any, openings: Any, games: Any, numbers: Any) -> None:
    """Begin the `games`, int64[m], as the `numbers`, int64[m], say."""
    batch, openings = borrowed(batch), borrowed(openings)
    for at in range(len(games)):
        begin_game(batch, openings, games[at], numbers[at])


@kernel
def play_actions(batch: Any, actions: Any) -> None:
    """Play an action, of int64[n], in each game; games that are over begin anew instead."""
    batch = borrowed(batch)
    for i in range(len(actions)):
        if is_over(batch.events[i]):
            begin_next_game(batch, i)
        else:
            batch.actors[i] = batch.games[i, SIDE]
            batch.events[i] = play_action(batch.games[i], batch.history[i], actions[i])


@kernel
def write_rewards(batch: Any, seen: Any) -> None:
    """Write which games are over and how, and the rewards: an illegal action loses by itself."""
    batch, seen = borrowed(batch), borrowed(seen)
    for i in range(len(seen.over)):
        event, side, seat = batch.events[i], batch.games[i, SIDE], batch.seats[i]
        if is_over(event):
            seen.over[i], seen.events[i] = True, event
            if event == ILLEGAL:
                seen.rewards[i, side] = -1
            elif has_lost(batch.games[i], event):
                seen.rewards[i, side], seen.rewards[i, 1 - side] = -1, 1
            seen.reward[i] = seen.rewards[i, batch.actors[i] if seat == MOVER else seat]


@kernel
def observe_game(batch: Any, i: int, planes: Any, mask: Any) -> None:
    """Write what there is to see of game `i`; of one that is over, without legal actions."""
    game, seat = batch.games[i], batch.seats[i]
    viewer = game[SIDE] if seat == MOVER else seat
    write_observation(planes, mask, game, viewer, not is_over(batch.events[i]))


@kernel
def write_observations(batch: Any, seen: Any) -> None:
    """Write what there is to see of all games."""
    batch, seen = borrowed(batch), borrowed(seen)
    for i in range(len(seen.over)):
        observe_game(batch, i, seen.planes[i], seen.mask[i])


@kernel
def autoreset(batch: Any, seen: Any) -> Any:
    """Begin the games that are over anew; return their last views, float32[m, 8, 8, 8]."""
    last = np.empty((seen.over.sum(), PLANES, 8, 8), np.float32)
    batch, seen, planes = borrowed(batch), borrowed(seen), borrowed(last)
    mask, at = np.empty(ACTIONS, np.int8), 0
    for i in range(len(seen.over)):
        if seen.over[i]:
            observe_game(batch, i, planes[at], mask)
            begin_next_game(batch, i)
            at += 1
    return last


@kernel
def step_games(batch: Any, actions: Any, same_step: bool, seen: Any) -> Any:
    """One action in each game, and all there is to see then.

    With `same_step`, games that end begin anew at once, and what was last seen of them is returned.
    """
    play_actions(batch, actions)
    write_rewards(batch, seen)
    last = autoreset(batch, seen) if same_step else seen.planes[:0]
    write_observations(batch, seen)
    return last


@kernel
def pick_actions(mask: Any, draws: Any, actions: Any) -> None:
    """Choose a legal action in each row of `mask` by a number in [0, 1); 0 where there is none."""
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
