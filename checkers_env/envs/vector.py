"""Self-play in many games at once, as a Gymnasium vector environment."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from checkers_env.actions import ACTIONS, ILLEGAL, describe_action
from checkers_env.board import Board
from checkers_env.envs import vector_kernels as kernels
from checkers_env.envs.aec import check_options, check_seed, observation_space, opening_cards
from checkers_env.envs.vector_kernels import (
    NUMBERS,
    ROWS,
    Batch,
    Openings,
    StepOutput,
    new_batch,
    opening_states,
)
from checkers_env.movegen import PACKED_MOVE
from checkers_env.moves import unpack_move
from checkers_env.state import ONGOING, PLY, REASONS, RULES, SIDE, DrawRules, change_rules

Observation = dict[str, Any]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rewards = NDArray[np.float64]

PLIES = 2  # that a step plays at most
SPARE_ROWS = PLIES + 1  # free rows of a history before a step
ENDINGS = np.array([*REASONS, "max episode steps", *[""] * -ILLEGAL], object)  # by event
ENDINGS[ILLEGAL] = "illegal action"
NOT_BEGUN = "the games were not begun: call reset()"
RESET_OPTIONS = ("opening", "reset_mask")
MODES = [mode.value for mode in AutoresetMode]
STATE = ("games", "history", "events", "actors", "seats", "opponents", "steps")  # of a batch


class SelfPlayVectorEnv(VectorEnv[Observation, Any, Any]):
    """Many games at once: see :func:`checkers_env.make_vec`."""

    metadata: dict[str, Any] = {  # noqa: RUF012 - declared so by VectorEnv
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }
    observation_space: Any = functools.cached_property(  # its arrays are as large as the planes
        lambda self: batch_space(self.single_observation_space, self.num_envs)
    )

    def __init__(
        self,
        num_envs: int,
        *,
        opening: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        max_episode_steps: int | None = None,
        rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
        **changes: Any,
    ) -> None:
        if not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ValueError(f"num_envs must be a whole number from 1 on, not {num_envs!r}")
        most = max_episode_steps
        if most is not None and not (isinstance(most, int | np.integer) and most >= 1):
            raise ValueError(f"max_episode_steps must be None or from 1 on, not {most!r}")
        self.num_envs = int(num_envs)
        self._mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self._mode}
        self._rules = change_rules(rules, changes, type(self))
        self.single_observation_space = observation_space()
        self.single_action_space = spaces.Discrete(ACTIONS)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._rngs: dict[int, np.random.Generator] = {}
        self._boards: dict[int, Any] = {}  # the history of a game, who began, and its board
        self._is_ready = False  # all games were begun, and no call has failed half-way
        self._steps_left = 0  # for which the histories surely have room
        self._finished = np.zeros(self.num_envs, np.bool_)  # games that are over
        self._batch = self._new_batch(self._openings(opening))
        self._batch.max_steps[0] = most or 0

    def _new_batch(self, openings: Openings) -> Batch:
        longest = 2 * (self._rules.max_moves or 0) + SPARE_ROWS
        rows = longest if ROWS < longest < 5 * ROWS else ROWS  # states then have one type
        return new_batch(self.num_envs, openings, rows)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the games.

        Parameters
        ----------
        seed
            The seed of game 0, with ``seed + i`` for game `i`; or the seeds of all games. A game's
            cards are those of :class:`checkers_env.raw_env` with its seed. Without a seed, a game
            goes on with its generator.
        options
            ``{"reset_mask": bool[n]}`` begins these games only, after a reset of all;
            ``{"opening": ...}`` replaces the opening of the games that begin now.

        Raises
        ------
        ValueError
            For invalid seeds and options.
        ResetNeeded
            If some games only are to begin, before all were begun.
        """
        self._check_open()
        options, openings = check_options(options, RESET_OPTIONS), self._batch.openings
        seeds = _seeds(seed, self.num_envs)
        if isinstance(seed, int):
            super().reset(seed=seed)  # seeds np_random, which wrappers may use
        which = _reset_mask(options.get("reset_mask"), self.num_envs)
        if "opening" in options:
            openings = self._openings(options["opening"])
        if not (self._is_ready or which.all()):
            raise ResetNeeded(NOT_BEGUN)
        self._is_ready = False
        self._begin(openings, np.flatnonzero(which), seeds)
        self._finished[which] = False
        self._play_opponents()
        output = self._observe()
        self._is_ready = True
        return observation_of(output), self._info(which, output)

    def step(self, actions: Any) -> tuple[Observation, Rewards, Flags, Flags, dict[str, Any]]:
        """Play an action, of int[n], in each game.

        In the next-step mode, the action for a game that is over is ignored, and the game begins.
        """
        chosen = self._checked(actions)
        self._is_ready = False
        if not self._steps_left:
            self._make_room()
        self._steps_left -= 1
        output = kernels.empty_output(self.num_envs)
        ended, last = self._advance(chosen, output)
        same_step = self._mode == AutoresetMode.SAME_STEP
        self._refill_numbers(ended if same_step else np.flatnonzero(self._finished))
        self._is_ready = True
        info = self._info(output.over if same_step else self._finished, output)
        info["rewards"] = output.rewards
        if not same_step:
            self._finished = output.over.copy()
        if len(ended):
            info |= self._final_info(chosen, output, ended, last)
        return observation_of(output), output.reward, output.terminated, output.truncated, info

    def get_state(self) -> NDArray[np.void]:
        """Return the games, with their histories, as an array of `num_envs` entries.

        Entries may be indexed, joined and kept; an entry takes 8 kB in games of 100 moves. Beyond
        600 moves its type grows with the game. The generators of openings and opponents are not in
        them.

        Raises
        ------
        ResetNeeded
            If a game was not begun.
        """
        if not self._is_ready:
            raise ResetNeeded(NOT_BEGUN)
        arrays = {name: self._read(name) for name in STATE}
        kind = [(name, array.dtype, array.shape[1:]) for name, array in arrays.items()]
        state = np.empty(self.num_envs, kind)
        for name, array in arrays.items():
            state[name] = array
        return state

    def set_state(self, state: NDArray[np.void]) -> tuple[Observation, dict[str, Any]]:
        """Go on with these games; return their observation and information, as a reset does.

        Parameters
        ----------
        state
            One entry a game, from :meth:`get_state` of environments of this kind, with the same
            draw rules.

        Raises
        ------
        ValueError
            For other arrays, and in the same-step mode for games that are over.
        """
        self._check_open()
        choices, openings = self._read("choices"), self._batch.openings
        kind = getattr(state, "dtype", None)
        if kind is None or kind.names != STATE or state.shape != (self.num_envs,):
            raise ValueError(f"state must be {self.num_envs} entries of get_state(), not {state!r}")
        over = (state["events"] > ONGOING) | (state["events"] == ILLEGAL)
        if over.any() and self._mode == AutoresetMode.SAME_STEP:
            raise ValueError("state has games that are over: autoreset_mode SameStep has none")
        opponents = self._count_starts(openings) // (len(openings.games) * len(choices))
        seated = (state["seats"] == choices[:, None]).any(0)  # np.isin takes longer than a step
        players = seated & (state["opponents"] < opponents)
        if not players.all() or (state["games"][:, RULES:] != self._rules.to_array()).any():
            raise ValueError("state has other draw rules, seats or opponents than this environment")
        rows = int(state["games"][:, PLY].max()) + 1
        self._write(state, rows)
        self._finished, self._is_ready = over, True
        output = self._observe()
        return observation_of(output), self._info(~over, output)

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("the environment was closed: make a new one")

    def board(self, index: int) -> Board:
        """Return game `index` at the start of the current turn, with its moves."""
        if not 0 <= index < self.num_envs:
            raise IndexError(f"games are numbered from 0 to {self.num_envs - 1}, not {index}")
        if index not in self._rngs:
            raise ResetNeeded(f"game {index} was not begun: call reset()")
        ply, side = self._batch.games[index, [PLY, SIDE]].tolist()
        rows, first = self._batch.history[index, : ply + 1], side ^ ply & 1
        known, since, board = self._boards.get(index, (None, first, None))
        if board is None or since != first or not np.array_equal(known, rows[: len(known)]):
            black, white, kings, _ = rows[0].tolist()
            board = Board.from_position(black, white, kings, first, rules=self._rules)
        for packed in rows[board.ply + 1 :, PACKED_MOVE].tolist():
            board.push(unpack_move(packed))
        self._boards[index] = rows.copy(), first, board
        return board.copy()

    def _advance(self, actions: Integers, output: StepOutput) -> tuple[Integers, Any]:
        """Play the actions, fill `output`; return the games that ended, and their last planes."""
        return kernels.step_games(
            self._batch, actions, self._mode == AutoresetMode.SAME_STEP, output
        )

    def _begin(self, openings: Openings, games: Integers, seeds: Sequence[int | None]) -> None:
        """Begin these games by the openings; `seeds` are of all games."""
        self._seed(seeds, games)
        self._make_room(openings.lines.shape[1])
        kernels.begin_games(self._batch, openings, games, self._next_numbers(games, openings))

    def _observe(self) -> StepOutput:
        """Return the observations of all games."""
        output = kernels.empty_output(self.num_envs)
        kernels.write_observations(self._batch, output)
        return output

    def _read(self, name: str) -> NDArray[Any]:
        """Return an array of the games."""
        return getattr(self._batch, name)

    def _write(self, state: NDArray[np.void], rows: int) -> None:
        """Replace the games by those of a state, which have so many rows at most."""
        if state["history"].ndim < 3:
            raise ValueError("state is of a device, which does not keep moves")
        if state["history"].shape[1] < rows:
            raise ValueError("state was cut short: its array was made for shorter games")
        if len(self._rngs) < self.num_envs:
            self._seed([None] * self.num_envs, np.arange(self.num_envs))
        self._make_room(rows)
        for name in STATE:
            array = getattr(self._batch, name)
            if name == "history":
                array[:, :rows] = state[name][:, :rows]
            else:
                array[:] = state[name]
        self._refill_numbers(np.arange(self.num_envs))

    def _play_opponents(self) -> None:
        """Play the moves of built-in opponents; there are none here."""

    def _info(self, starting: Flags, output: StepOutput) -> dict[str, Any]:
        """Return the information about the games, of which those in `starting` have just begun."""
        return {"to_move": output.to_move}

    def _final_info(
        self, actions: Integers, output: StepOutput, ended: Integers, last: Any
    ) -> dict[str, Any]:
        """Return the information about games that have ended, and their last planes."""
        reasons, views = (np.empty(self.num_envs, object) for _ in range(2))  # filled with None
        reasons[ended] = ENDINGS[output.events[ended]]
        info = {"reason": reasons, "_reason": output.over}
        if (illegal := output.events == ILLEGAL).any():
            words = np.empty(self.num_envs, object)
            for i in np.flatnonzero(illegal).tolist():
                side = int(output.rewards[i].argmin())  # it alone has lost
                words[i] = describe_action(int(actions[i]), side)
            info |= {"illegal": words, "_illegal": illegal}
        if self._mode != AutoresetMode.SAME_STEP:
            return info
        masks = np.zeros((len(ended), ACTIONS), np.int8)
        for i, planes, mask in zip(ended.tolist(), last, masks, strict=True):
            views[i] = {"observation": planes, "action_mask": mask}
        return {
            **info,
            "final_obs": views,
            "_final_obs": output.over,
            "final_info": {**info, "rewards": output.rewards},
            "_final_info": output.over,
        }

    def _check_actions(self, actions: Any) -> None:
        """Raise ValueError for an array of another shape or type than int[n]."""
        self._check_open()
        if not self._is_ready:
            raise ResetNeeded(NOT_BEGUN)
        shape, dtype = tuple(actions.shape), str(actions.dtype)
        if shape != (self.num_envs,) or "int" not in dtype:
            given = f"{dtype} of shape {shape}"
            raise ValueError(f"actions must be {self.num_envs} whole numbers, not {given}")

    def _checked(self, actions: Any) -> Integers:
        """Return the actions as an array. Raise ValueError if one is invalid."""
        chosen = np.asarray(actions)
        self._check_actions(chosen)
        if self._mode == AutoresetMode.DISABLED and self._finished.any():
            games = ", ".join(map(str, np.flatnonzero(self._finished)))
            raise ResetNeeded(f"these games are over: reset() them, with their reset_mask: {games}")
        numbers = np.ascontiguousarray(chosen, np.int64)
        if numbers.view(np.uint64).max() >= ACTIONS:  # of which negative ones are the largest
            wrong = chosen[(numbers < 0) | (numbers >= ACTIONS)][0]
            raise ValueError(f"actions must be from 0 to {ACTIONS - 1}, not {wrong}")
        return numbers

    def _openings(self, opening: str | None) -> Openings:
        """Return the games that an opening, or each card of a ballot, leads to."""
        return opening_states(opening_cards(opening, self._rules), self._rules)

    def _count_starts(self, openings: Openings) -> int:
        """Count the ways in which a game can start: its number is below this."""
        return len(openings.games)

    def _refill_numbers(self, games: Integers) -> None:
        """Draw new numbers for those of the games that have used theirs up."""
        numbers, used = self._batch.numbers, self._batch.used
        starts = self._count_starts(self._batch.openings)
        for i in games[used[games] == NUMBERS].tolist():
            numbers[i] = self._rngs[i].integers(starts, size=NUMBERS)
            used[i] = 0

    def _next_numbers(self, games: Integers, openings: Openings) -> Integers:
        """Return the number by which each of these games begins: int64[m]."""
        if openings is self._batch.openings:
            self._refill_numbers(games)
            numbers = self._batch.numbers[games, self._batch.used[games]]
            self._batch.used[games] += 1
        else:
            starts = self._count_starts(openings)
            numbers = np.array([self._rngs[i].integers(starts) for i in games.tolist()])
        self._refill_numbers(games)  # a game may end with a step, in which the next one begins
        return numbers

    def _seed(self, seeds: Sequence[int | None], games: Integers) -> None:
        """Give new generators to those of the games that have a seed, or no generator yet."""
        fresh = {
            i: np.random.default_rng(seeds[i])
            for i in games.tolist()
            if seeds[i] is not None or i not in self._rngs
        }
        self._rngs |= fresh
        self._batch.used[list(fresh)] = NUMBERS

    def _make_room(self, opening_rows: int = 0) -> None:
        """Double the histories until a step has room; openings may take `opening_rows` of them."""
        played = int(self._batch.games[:, PLY].max())
        plies = max(opening_rows, self._batch.openings.lines.shape[1], played)
        while self._batch.history.shape[1] < plies + SPARE_ROWS:
            history = self._batch.history
            longer = np.concatenate([history, np.zeros_like(history)], axis=1)
            self._batch = self._batch._replace(history=longer)
        self._steps_left = 1 + (self._batch.history.shape[1] - plies - SPARE_ROWS) // PLIES


def sample(mask: ArrayLike, rng: np.random.Generator) -> Integers:
    """Sample a legal action for each game, all with equal chances.

    Parameters
    ----------
    mask
        int8, shape (n, 128), as in the observations.
    rng
        Source of randomness.

    Returns
    -------
    int64, shape (n,); 0 for a game without a legal action.

    Raises
    ------
    ValueError
        For a mask of another shape.
    TypeError
        For an observation in place of its mask, or a number in place of a generator.
    """
    if isinstance(mask, Mapping):
        raise TypeError('mask must be the array observation["action_mask"], not the observation')
    if not hasattr(rng, "random"):
        raise TypeError(f"rng must be a Generator, as of numpy.random.default_rng(), not {rng!r}")
    mask = np.ascontiguousarray(mask, np.int8)
    if mask.ndim != 2 or mask.shape[1] != ACTIONS:
        raise ValueError(f"mask must have the shape (n, {ACTIONS}), not {mask.shape}")
    actions = np.empty(len(mask), np.int64)
    kernels.pick_actions(mask, rng.random(len(mask)), actions)
    return actions


def _mode(mode: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise ValueError(f"autoreset_mode must be one of {MODES}, not {mode!r}") from None


def _reset_mask(mask: ArrayLike | None, count: int) -> Flags:
    """Return which games to reset: all, when there is no mask."""
    if mask is None:
        return np.ones(count, np.bool_)
    mask = np.asarray(mask)
    if mask.shape != (count,) or mask.dtype != np.bool_ or not mask.any():
        raise ValueError(f"reset_mask must be {count} truth values, one of them true: {mask!r}")
    return mask


def _seeds(seed: int | Sequence[int | None] | None, count: int) -> Sequence[int | None]:
    """Return the seed of each game. Raise ValueError unless there is one for all, or one each."""
    if seed is None:
        return [None] * count
    if isinstance(seed, int | np.integer):
        return [check_seed(seed) + i for i in range(count)]
    if isinstance(seed, np.ndarray):
        seed = np.atleast_1d(seed).tolist()
    if not isinstance(seed, Sequence) or len(seed) != count:
        raise ValueError(f"seed must be one seed or {count} of them, not {seed!r}")
    return [None if one is None else check_seed(one) for one in seed]


def observation_of(output: StepOutput) -> Observation:
    """Return the observation of a step."""
    return {"observation": output.planes, "action_mask": output.mask}
