"""The games that are learned from: against oneself, and against others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.search.interrupt import undisturbed
from agents.single_agent.vector_env import CompiledOpponent, play_opponent
from checkers_env import fen
from checkers_env.actions import ACTIONS, ILLEGAL, play_action
from checkers_env.bits import borrowed
from checkers_env.envs import vector_kernels as kernels
from checkers_env.envs.vector_kernels import MOVER, PREFETCH, new_batch, opening_states
from checkers_env.jit import kernel
from checkers_env.movegen import BLACK, BLACK_BOARD, KINGS, WHITE, WHITE_BOARD, Position
from checkers_env.observation import PLANES, write_observation
from checkers_env.openings import TWO_MOVE
from checkers_env.state import ONGOING, PLY, SIDE, DrawRules
from training.rl.actor import Actor, drawn, logits
from training.rl.features import features

MAX_MOVES = 100
RULES = DrawRules(MAX_MOVES)
SEATS = (MOVER, BLACK, WHITE)


class Ended(NamedTuple):
    """The games that a step has ended."""

    slots: Any  # int64[m]: the opponent, or the number of opponents in games against oneself
    rewards: Any  # float64[m]: of the learner (against oneself, of the side that acted last)
    plies: Any  # int64[m]


class Games:
    """Games from ballot openings, in each of which the learner is to move.

    Parameters
    ----------
    count
        How many.
    slots
        How many opponents there are, in the games that are not against oneself.
    alone
        The share of the games against oneself; the slots have equal parts of the others.
    rng
        Decides on all this, on cards and colours, and on what actors play.

    The games have begun, but wait for the opponents, who are to be named by :meth:`meet`.
    """

    def __init__(self, count: int, slots: int, alone: float, rng: np.random.Generator) -> None:
        self.count, self._slots, self._alone, self._rng = count, slots, alone, rng
        self._opponents: list[CompiledOpponent | Actor] = []
        openings = opening_states(TWO_MOVE, RULES)
        self.batch = new_batch(count, openings)._replace(choices=np.array(SEATS))
        self.batch.numbers[:], self.batch.used[:] = self._draw(count), 1
        kernels.begin_games(self.batch, openings, np.arange(count), self.batch.numbers[:, 0])

    def go_on_from(self, arrays: Mapping[str, Any]) -> None:
        """Put the games of a checkpoint in place of these.

        Raises ValueError for arrays that cannot be theirs.
        """
        for name, array in arrays.items():
            mine = getattr(self.batch, name)
            if (array.shape, array.dtype) != (mine.shape, mine.dtype):
                raise ValueError(f"its games/{name} are {array.dtype}{array.shape}")
        games, outcomes = arrays["games"], len(TWO_MOVE) * len(SEATS) * (self._slots + 1)
        within = {
            "games/games": (games[:, PLY], 0, 2 * MAX_MOVES),
            "games/seats": (arrays["seats"], MOVER, WHITE),
            "games/actors": (arrays["actors"], MOVER, WHITE),
            "games/opponents": (arrays["opponents"], 0, self._slots),
            "games/numbers": (arrays["numbers"], 0, outcomes - 1),
            "games/used": (arrays["used"], 0, PREFETCH - 1),
        }
        for name, (values, least, most) in within.items():
            if values.min() < least or values.max() > most:
                raise ValueError(f"its {name} are not all from {least} to {most}")
        for black, white, kings, side in games[:, [BLACK_BOARD, WHITE_BOARD, KINGS, SIDE]].tolist():
            fen.check_position(Position(black, white, kings, side))
        for name, array in arrays.items():
            getattr(self.batch, name)[:] = array

    def meet(self, opponents: Sequence[CompiledOpponent | Actor]) -> None:
        """From now on these play, one in each slot, in the games that have begun as well."""
        self._opponents = list(opponents)
        self._answer()
        self._look()

    @property
    def views(self) -> Any:
        """1 where Black is to move and -1 where White is: float32[n]."""
        return (1 - 2 * self.batch.games[:, SIDE]).astype(np.float32)

    def step(self, actions: Any) -> tuple[Any, Any, Ended]:
        """Play an action in each game, and the others' turns; games that end begin anew.

        Returns rewards, of the side that acted, and which games ended: float64[n], bool[n].
        """
        outcome = kernels.empty_output(self.count)
        kernels.play_actions(self.batch, actions)
        self._answer()
        kernels.write_rewards(self.batch, outcome)
        over, slots = outcome.over, self.batch.opponents
        ended = Ended(slots[over], outcome.reward[over], self.batch.games[over, PLY])
        if over.any():
            kernels.autoreset(self.batch, outcome)
            self._answer()
            empty = np.flatnonzero(self.batch.used == PREFETCH)
            self.batch.numbers[empty], self.batch.used[empty] = self._draw(len(empty)), 0
        self._look()
        return outcome.reward, over, ended

    def _look(self) -> None:
        """Let the learner see the games as they stand: `seen`, float32[n, 161], and `mask`."""
        outcome = kernels.empty_output(self.count)
        kernels.write_observations(self.batch, outcome)
        self.seen, self.mask = features(outcome.planes), outcome.mask

    def _answer(self) -> None:
        """Let the opponents play where they are to move."""
        for slot, opponent in enumerate(self._opponents):
            if isinstance(opponent, Actor):
                answer_by(opponent, slot, self.batch, self._rng)
            else:
                with undisturbed():
                    play_opponent(opponent.player, slot, self.batch, opponent.ws, opponent.rng)

    def _draw(self, count: int) -> Any:
        """The numbers that say how games begin: int64[count, k], as in ``vector_kernels.Batch``."""
        shape = (count, PREFETCH)
        cards = self._rng.integers(len(TWO_MOVE), size=shape)
        seats = self._rng.integers(1, len(SEATS), size=shape)
        slots = self._rng.integers(max(self._slots, 1), size=shape)
        alone = self._rng.random(shape) < (self._alone if self._slots else 1)
        seats, slots = np.where(alone, 0, seats), np.where(alone, self._slots, slots)
        return cards + len(TWO_MOVE) * (seats + len(SEATS) * slots)


def answer_by(actor: Actor, slot: int, batch: Any, rng: np.random.Generator) -> None:
    """Play a turn of the actor in each of its games in which it is to move."""
    while len(games := waiting(batch, slot)):
        seen, mask = look_at(batch, games)
        act_in(batch, games, drawn(logits(actor, seen), mask, rng)[0])


def waiting(batch: Any, slot: int) -> Any:
    """The games in which the opponent in a slot is to move: int64[m]."""
    theirs = (batch.opponents == slot) & (batch.seats != batch.games[:, SIDE])
    return np.flatnonzero(theirs & going_on(batch))


def going_on(batch: Any) -> Any:
    """Which games are not over: bool[n]."""
    return (batch.events <= ONGOING) & (batch.events != ILLEGAL)


def look_at(batch: Any, games: Any) -> tuple[Any, Any]:
    """What the sides to move see in these games: float32[m, 161] and the mask, int8[m, 128]."""
    planes = np.empty((len(games), PLANES, 8, 8), np.float32)
    mask = np.empty((len(games), ACTIONS), np.int8)
    observe_these(batch, games, planes, mask)
    return features(planes), mask


@kernel
def observe_these(batch: Any, games: Any, planes: Any, mask: Any) -> None:
    """Write what the sides to move see in the `games`, int64[m]."""
    batch = borrowed(batch)
    for at in range(len(games)):
        game = batch.games[games[at]]
        write_observation(planes[at], mask[at], game, game[SIDE], True)


@kernel
def act_in(batch: Any, games: Any, actions: Any) -> None:
    """Play one action, of int64[m], in each of the `games`, int64[m]."""
    batch = borrowed(batch)
    for at in range(len(games)):
        i = games[at]
        batch.events[i] = play_action(batch.games[i], batch.history[i], actions[at])
