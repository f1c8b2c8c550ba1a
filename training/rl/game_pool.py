"""Games played at once to learn from, against oneself and opponents; the pool of past policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.agent import PlayerAgent
from agents.search.interrupt import defer_signals
from agents.single_agent.vector_env import play_opponent
from checkers_env import fen
from checkers_env.actions import ACTIONS, ILLEGAL, play_action
from checkers_env.bits import borrowed
from checkers_env.envs import vector_kernels as kernels
from checkers_env.envs.vector_kernels import MOVER, NUMBERS, Batch, new_batch, opening_states
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, BLACK_BOARD, KINGS, WHITE, WHITE_BOARD, Position
from checkers_env.observation import PLANES, write_observation
from checkers_env.openings import TWO_MOVE
from checkers_env.state import ONGOING, PLY, RULES, SIDE, DrawRules
from training.rl.policy import Actor, policy_logits, sample_actions, select_features

INITIAL_SCORE = 0.5  # against a policy that was not met yet
DECAY = 0.99  # factor a game of older results in the score
MIN_WEIGHT = 0.01  # weight of a policy that loses all games; one that wins all has 1


@dataclass
class OpponentPool:
    """Past policies from the oldest on, and the learner's recent score against each."""

    actors: list[Actor] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def add(self, actor: Actor) -> None:
        """Add a policy."""
        self.actors.append(actor)
        self.scores.append(INITIAL_SCORE)

    def update_score(self, index: int, rewards: NDArray[np.float64]) -> None:
        """Update the score against a policy by the learner's rewards (-1, 0 or 1), float64[n]."""
        weight = DECAY ** len(rewards)
        if len(rewards):
            mean = (float(np.mean(rewards)) + 1) / 2
            self.scores[index] = weight * self.scores[index] + (1 - weight) * mean

    def sample(self, count: int, rng: np.random.Generator) -> list[int]:
        """Sample the indices of policies to meet next; none where the pool is empty."""
        if not self.actors:
            return []
        chances = pfsp_probabilities(self.scores)
        return rng.choice(len(self.actors), size=count, p=chances).tolist()


def pfsp_probabilities(scores: list[float]) -> NDArray[np.float64]:
    """Return the probability of meeting each policy, given the learner's scores against them.

    Strong policies are met more often: the weight is (1 - score)^2, as in prioritised fictitious
    self-play (Vinyals et al., Nature 575, 2019). No weight is below ``MIN_WEIGHT``.
    """
    weights = np.maximum((1 - np.array(scores)) ** 2, MIN_WEIGHT)
    return weights / weights.sum()


MAX_MOVES = 100
DRAW_RULES = DrawRules(MAX_MOVES)
SEATS = (MOVER, BLACK, WHITE)
# Fields of the batch that a checkpoint holds.
STATE = ("games", "history", "events", "actors", "seats", "opponents", "numbers", "used")


class FinishedGames(NamedTuple):
    """The games that a step ended."""

    slots: NDArray[np.int64]  # [m]: the opponent, or the number of opponents in self-play
    rewards: NDArray[np.float64]  # [m]: of the learner; in self-play, of the side that acted last
    plies: NDArray[np.int64]  # [m]


class GamePool:
    """Games from ballot openings, in each of which the learner is to move."""

    features: NDArray[np.float32]
    mask: NDArray[np.int8]

    def __init__(
        self, count: int, num_opponents: int, self_play_share: float, rng: np.random.Generator
    ) -> None:
        self.count, self._num_opponents = count, num_opponents
        self._self_play_share, self._rng = self_play_share, rng
        self._opponents: list[PlayerAgent | Actor] = []
        openings = opening_states(TWO_MOVE, DRAW_RULES)
        self.batch = new_batch(count, openings)._replace(choices=np.array(SEATS))
        self.batch.numbers[:], self.batch.used[:] = self._sample_starts(count), 1
        kernels.begin_games(self.batch, openings, np.arange(count), self.batch.numbers[:, 0])

    def state(self) -> dict[str, NDArray[np.int64]]:
        """Return the arrays that a checkpoint holds, by their names there."""
        return {f"games/{name}": getattr(self.batch, name) for name in STATE}

    def restore(self, arrays: Mapping[str, NDArray[np.int64]]) -> None:
        """Replace the games by those of :meth:`state`."""
        state = self.state()
        for name, current in state.items():
            array = arrays[name]
            if (array.shape, array.dtype) != (current.shape, current.dtype):
                raise ValueError(f"its {name} are {array.dtype}{array.shape}")
        games, starts = (
            arrays["games/games"],
            len(TWO_MOVE) * len(SEATS) * (self._num_opponents + 1),
        )
        limits = {
            "games/games": (games[:, PLY], 0, 2 * MAX_MOVES),
            "games/seats": (arrays["games/seats"], MOVER, WHITE),
            "games/actors": (arrays["games/actors"], MOVER, WHITE),
            "games/opponents": (arrays["games/opponents"], 0, self._num_opponents),
            "games/numbers": (arrays["games/numbers"], 0, starts - 1),
            "games/used": (arrays["games/used"], 0, NUMBERS - 1),
        }
        for name, (values, least, most) in limits.items():
            if values.min() < least or values.max() > most:
                raise ValueError(f"its {name} are not all from {least} to {most}")
        for black, white, kings, side in games[:, [BLACK_BOARD, WHITE_BOARD, KINGS, SIDE]].tolist():
            fen.check_position(Position(black, white, kings, side))
        if (games[:, RULES:] != DRAW_RULES.to_array()).any():
            raise ValueError("its games/games have other draw rules")
        for name, current in state.items():
            current[:] = arrays[name]

    def set_opponents(self, opponents: Sequence[PlayerAgent | Actor]) -> None:
        """Replace the opponents, in running games as well; one for each slot."""
        self._opponents = list(opponents)
        self._play_opponents()
        self._observe()

    @property
    def signs(self) -> NDArray[np.float32]:
        """1 where Black is to move and -1 where White is, float32[count]."""
        return (1 - 2 * self.batch.games[:, SIDE]).astype(np.float32)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], FinishedGames]:
        """Play an action in each game and the opponents' turns; restart the games that end."""
        outcome = kernels.empty_output(self.count)
        kernels.play_actions(self.batch, actions)
        self._play_opponents()
        ended = kernels.write_rewards(self.batch, outcome)
        slots, plies = self.batch.opponents[ended], self.batch.games[ended, PLY]
        finished = FinishedGames(slots, outcome.reward[ended], plies)
        if len(ended):
            kernels.autoreset(self.batch, ended)
            self._play_opponents()
            empty = np.flatnonzero(self.batch.used == NUMBERS)
            self.batch.numbers[empty] = self._sample_starts(len(empty))
            self.batch.used[empty] = 0
        self._observe()
        return outcome.reward, outcome.over, finished

    def _observe(self) -> None:
        outcome = kernels.empty_output(self.count)
        kernels.write_observations(self.batch, outcome)
        self.features, self.mask = select_features(outcome.planes), outcome.mask

    def _play_opponents(self) -> None:
        for slot, opponent in enumerate(self._opponents):
            if isinstance(opponent, Actor):
                play_actor(opponent, slot, self.batch, self._rng)
            else:
                with defer_signals():
                    play_opponent(opponent.player, slot, self.batch, opponent.ws, opponent.rng)

    def _sample_starts(self, count: int) -> NDArray[np.int64]:
        """Sample how games begin, int64[count, NUMBERS], coded as in ``vector_kernels.Batch``."""
        shape = (count, NUMBERS)
        cards = self._rng.integers(len(TWO_MOVE), size=shape)
        seats = self._rng.integers(1, len(SEATS), size=shape)
        slots = self._rng.integers(max(self._num_opponents, 1), size=shape)
        share = self._self_play_share if self._num_opponents else 1
        self_play = self._rng.random(shape) < share
        seats, slots = (
            np.where(self_play, 0, seats),
            np.where(self_play, self._num_opponents, slots),
        )
        return cards + len(TWO_MOVE) * (seats + len(SEATS) * slots)


def play_actor(actor: Actor, slot: int, batch: Batch, rng: np.random.Generator) -> None:
    """Play a turn of the actor in each of its games in which it is to move."""
    while len(games := _opponent_to_move(batch, slot)):
        features, mask = observe(batch, games)
        play_actions_in(batch, games, sample_actions(policy_logits(actor, features), mask, rng)[0])


def _opponent_to_move(batch: Batch, slot: int) -> NDArray[np.int64]:
    """Return the games in which the opponent of a slot is to move, int64[m]."""
    opponent_turn = (batch.opponents == slot) & (batch.seats != batch.games[:, SIDE])
    return np.flatnonzero(opponent_turn & unfinished(batch))


def unfinished(batch: Batch) -> NDArray[np.bool_]:
    """Return which games are not over, bool[n]."""
    unfinished_games: NDArray[np.bool_] = (batch.events <= ONGOING) & (batch.events != ILLEGAL)
    return unfinished_games


def observe(batch: Batch, games: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Return features, float32[m, 161], and masks, int8[m, 128], of the `games`, int64[m]."""
    planes = np.empty((len(games), PLANES, 8, 8), np.float32)
    mask = np.empty((len(games), ACTIONS), np.int8)
    write_observations_of(batch, games, planes, mask)
    return select_features(planes), mask


@kernel
def write_observations_of(
    batch: KernelArg, games: KernelArg, planes: KernelArg, mask: KernelArg
) -> None:
    """Write the observations of the sides to move in the `games`, int64[m]."""
    batch = borrowed(batch)
    for at in range(len(games)):
        game = batch.games[games[at]]
        write_observation(planes[at], mask[at], game, game[SIDE], True)


@kernel
def play_actions_in(batch: KernelArg, games: KernelArg, actions: KernelArg) -> None:
    """Play one of the `actions`, int64[m], in each of the `games`, int64[m]."""
    batch = borrowed(batch)
    for at in range(len(games)):
        i = games[at]
        batch.events[i] = play_action(batch.games[i], batch.history[i], actions[at])
