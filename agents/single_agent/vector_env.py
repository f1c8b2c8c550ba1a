"""Many single-agent games at once, with the opponents' moves inside the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from agents.agent import FIRST_NAMESPACE, Agent, PlayerAgent
from agents.match_kernel import find_row
from agents.player import select_move, uses_history
from agents.registry import make
from agents.search.interrupt import defer_signals
from agents.search.selective import set_position_history
from agents.search.workspace import Workspace, clear, table_bits, workspace
from agents.single_agent.env import COLOURS
from checkers_env.bits import borrowed
from checkers_env.envs import vector_kernels as kernels
from checkers_env.envs.vector import Flags, Integers, SelfPlayVectorEnv
from checkers_env.envs.vector_kernels import MOVER, Openings, StepOutput, is_over
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK_BOARD, KINGS, WHITE_BOARD, Position, generate_successors
from checkers_env.state import PLY, REVERSIBLE_PLIES, SIDE, make_move


class CompiledOpponent(NamedTuple):
    """A compiled player, with one workspace and one generator for all its games."""

    player: Any
    ws: Workspace
    rng: np.random.Generator


class SingleAgentVectorEnv(SelfPlayVectorEnv):
    """One side of many games: :class:`.env.SingleAgentEnv` as a vector environment.

    Rewards and observations are the agent's. When a game begins, its information holds the agent's
    ``"colour"``. All else is as in :class:`checkers_env.envs.vector.SelfPlayVectorEnv`.

    A game's seed fixes its colours, cards and opponents. Each opponent has one generator, and one
    transposition table if it searches selectively, for all games. A seed for all games also
    resets these.

    Parameters
    ----------
    num_envs
        Number of games.
    opponent
        A text for :func:`agents.make` or an agent, or several: each game samples one. They must be
        compiled players (the baselines, the zoo, weight files) without a time limit.
    colour
        The agent's colour: ``"black"``, ``"white"``, or None to sample one for each game.
    depth
        Search depth of opponents given as texts, in plies.
    opening, autoreset_mode, **rules
        As for :func:`checkers_env.make_vec`.

    Raises
    ------
    ValueError
        If an argument is out of range, an opponent is not compiled, or the opening leaves the agent
        no turn.
    """

    def __init__(
        self,
        num_envs: int,
        opponent: str | Agent | Sequence[str | Agent] = "blondie24",
        colour: str | None = None,
        *,
        depth: int | None = None,
        opening: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        **rules: Any,
    ) -> None:
        if colour not in (None, *COLOURS):
            raise ValueError(f"colour must be None or one of {list(COLOURS)}, not {colour!r}")
        one = isinstance(opponent, str) or not isinstance(opponent, Sequence)
        given: Any = [opponent] if one else opponent
        players = [_player(each, depth) for each in given]
        if not players:
            raise ValueError("opponent must name at least one: the sequence is empty")
        self._opponents = [
            CompiledOpponent(it, workspace(table_bits(it)), np.random.default_rng())
            for it in players
        ]
        super().__init__(num_envs, opening=opening, autoreset_mode=autoreset_mode, **rules)
        seats = range(len(COLOURS)) if colour is None else [COLOURS.index(colour)]
        self._batch = self._batch._replace(choices=np.array(seats))

    def _count_outcomes(self, begun: Openings) -> int:
        return super()._count_outcomes(begun) * len(self._batch.choices) * len(self._opponents)

    def _seed(self, seeds: Sequence[int | None], games: Integers) -> None:
        super()._seed(seeds, games)
        known = [seed for seed in seeds if seed is not None]
        if len(games) == len(known) == self.num_envs:
            for index, opponent in enumerate(self._opponents):
                clear(opponent.ws)
                rng = np.random.default_rng([index, *known])
                self._opponents[index] = opponent._replace(rng=rng)

    def _play_opponents(self) -> None:
        for index, opponent in enumerate(self._opponents):
            with defer_signals():
                play_opponent(opponent.player, index, self._batch, opponent.ws, opponent.rng)

    def _advance(self, actions: Integers, output: StepOutput) -> Any:
        kernels.play_actions(self._batch, actions)
        self._play_opponents()
        kernels.write_rewards(self._batch, output)
        last = None
        if self._mode == AutoresetMode.SAME_STEP:
            last = kernels.autoreset(self._batch, output)
            self._play_opponents()
        kernels.write_observations(self._batch, output)
        return last

    def _info(self, began: Flags) -> dict[str, Any]:
        if not began.any():
            return {}
        colours = np.array(COLOURS, object)[self._batch.seats]
        colours[~began] = None
        return {"colour": colours, "_colour": began.copy()}


@kernel
def play_opponent(
    player: KernelArg, index: int, batch: KernelArg, ws: KernelArg, rng: KernelArg
) -> None:
    """Play a turn of opponent `index` in each of its games in which it is to move."""
    player, batch, ws = borrowed(player), borrowed(batch), borrowed(ws)
    for i in range(len(batch.events)):
        game = batch.games[i]
        side = game[SIDE]
        if batch.opponents[i] != index or batch.seats[i] == side or is_over(batch.events[i]):
            continue
        here = Position(game[BLACK_BOARD], game[WHITE_BOARD], game[KINGS], side)
        count = generate_successors(ws.rows, 0, here.black, here.white, here.kings, side)
        if uses_history(player):
            set_position_history(ws, batch.history[i], game[PLY], game[REVERSIBLE_PLIES])
        path = select_move(player, here, ws, count, FIRST_NAMESPACE | side, rng)
        row = ws.rows[find_row(ws.rows, count, path)]
        batch.events[i] = make_move(game, batch.history[i], row)
        if is_over(batch.events[i]) and batch.actors[i] == MOVER:
            raise ValueError("the opening leaves the agent no turn to play")


def _player(opponent: str | Agent, depth: int | None) -> Any:
    """Return the compiled player of an opponent."""
    if depth is not None and not isinstance(opponent, str):
        raise ValueError("depth is for opponents given by name: this one is an agent already")
    agent = make(opponent, depth=depth) if isinstance(opponent, str) else opponent
    if not isinstance(agent, PlayerAgent):
        raise ValueError(
            f"opponent {opponent!r} is not a compiled player. SingleAgentEnv takes any agent; for "
            'many games use gymnasium.make_vec with vectorization_mode="sync"'
        )
    if agent.seconds is not None:
        raise ValueError(f"opponent {opponent!r} has a time limit: give it a depth instead")
    return agent.player
