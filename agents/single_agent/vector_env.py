"""Many single-agent games at once; compiled opponents move inside the kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from agents.agent import FIRST_NAMESPACE, Agent, PlayerAgent, reseed
from agents.match_kernel import find_row
from agents.player import select_move, uses_history
from agents.registry import make
from agents.search.interrupt import defer_signals
from agents.search.selective import set_position_history
from checkers_env.bits import borrowed
from checkers_env.board import Board
from checkers_env.envs import vector_kernels as kernels
from checkers_env.envs.aec import first_board
from checkers_env.envs.opponents import (
    COLOURS,
    Opponent,
    check_first_turn,
    legal_reply,
    make_opponents,
    sides_of,
)
from checkers_env.envs.vector import Flags, Integers, SelfPlayVectorEnv
from checkers_env.envs.vector_kernels import Openings, StepOutput, is_over
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK_BOARD,
    KINGS,
    MAX_ROWS,
    ROW_WIDTH,
    WHITE_BOARD,
    Position,
    generate_successors,
)
from checkers_env.state import PLY, REVERSIBLE_PLIES, SIDE, make_move


class SingleAgentVectorEnv(SelfPlayVectorEnv):
    """One side of many games: many :class:`checkers_env.envs.single_agent.SingleAgentEnv` at once.

    Rewards and observations are the agent's. When a game begins, its information holds the agent's
    ``"colour"``, in place of ``"to_move"``. All else is as in
    :class:`checkers_env.envs.vector.SelfPlayVectorEnv`.

    A game's seed fixes its colours, cards and opponents. Each opponent has one generator, and one
    transposition table if it searches selectively, for all games. A seed for all games also
    resets these. An opponent with a method ``new_game(rng)`` gets its generator there: at the first
    reset, and at each with a seed for all games.

    Parameters
    ----------
    num_envs
        Number of games.
    opponent
        A text for :func:`agents.make`, an agent, or a function from a board to a move; or several,
        of which each game samples one. Compiled players (the baselines, the zoo, weight files) move
        inside the kernels and have no time limit. All others move in Python, which is slow, and
        play all their games with one object.
    colour
        The agent's colour: ``"black"``, ``"white"``, or None to sample one for each game.
    depth
        Search depth of opponents given as texts, in plies.
    opening, autoreset_mode, max_episode_steps, **rules
        As for :func:`checkers_env.make_vec`.

    Raises
    ------
    ValueError
        If an argument is out of range, the opponent can end the game before the agent's first turn,
        or makes an illegal move.
    GameEndedError
        If an opponent ends its game, whatever it claims: no game is scored by that.
    """

    def __init__(
        self,
        num_envs: int,
        opponent: Opponent | Sequence[Opponent] = "blondie24",
        colour: str | None = None,
        *,
        depth: int | None = None,
        opening: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        **rules: Any,
    ) -> None:
        self._seats = sides_of(colour)
        self._opponents = make_opponents(opponent, depth, make)
        for agent in self._opponents:
            if isinstance(agent, PlayerAgent) and agent.seconds is not None:
                raise ValueError(f"opponent {agent!r} has a time limit: give it a depth instead")
        self._has_chance = False  # of the opponents: a first new_game()
        super().__init__(num_envs, opening=opening, autoreset_mode=autoreset_mode, **rules)
        self._batch = self._batch._replace(choices=np.array(self._seats))

    def _openings(self, opening: str | None) -> Openings:
        openings = super()._openings(opening)
        check_first_turn(first_board(opening, self._rules), self._seats)
        return openings

    def _count_starts(self, openings: Openings) -> int:
        return super()._count_starts(openings) * len(self._batch.choices) * len(self._opponents)

    def _seed(self, seeds: Sequence[int | None], games: Integers) -> None:
        super()._seed(seeds, games)
        known = [seed for seed in seeds if seed is not None]
        if len(games) == len(known) == self.num_envs:
            for index, opponent in enumerate(self._opponents):
                reseed(opponent, (index, *known))
        elif not self._has_chance:
            for opponent in self._opponents:
                reseed(opponent, int(np.random.default_rng().integers(2**63)))
        self._has_chance = True

    def _play_opponents(self) -> None:
        for index, opponent in enumerate(self._opponents):
            if not isinstance(opponent, PlayerAgent) or opponent.blunder:
                play_agent(opponent, index, self._batch, self.board)
                continue
            with defer_signals():
                play_opponent(opponent.player, index, self._batch, opponent.ws, opponent.rng)

    def _advance(self, actions: Integers, output: StepOutput) -> tuple[Integers, Any]:
        kernels.play_actions(self._batch, actions)
        self._play_opponents()
        ended = kernels.write_rewards(self._batch, output)
        last = None
        if self._mode == AutoresetMode.SAME_STEP:
            last = kernels.autoreset(self._batch, ended)
            self._play_opponents()
        kernels.write_observations(self._batch, output)
        return ended, last

    def _info(self, starting: Flags, output: StepOutput) -> dict[str, Any]:
        if not starting.any():
            return {}
        colours = np.array(COLOURS, object)[self._batch.seats]
        colours[~starting] = None
        return {"colour": colours, "_colour": starting.copy()}


@kernel
def play_opponent(
    player: KernelArg, index: int, batch: KernelArg, ws: KernelArg, rng: KernelArg
) -> None:
    """Play a turn of the compiled opponent `index` in each game of `batch` where it is to move.

    `batch` is a :class:`checkers_env.envs.vector_kernels.Batch`, `ws` the opponent's workspace.
    """
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


def play_agent(agent: Agent, index: int, batch: Any, boards: Callable[[int], Board]) -> None:
    """Play a turn of an opponent that is not compiled, as :func:`play_opponent` does.

    `boards` returns a game of the `batch` as a board.
    """
    rows = np.empty((MAX_ROWS, ROW_WIDTH), np.int64)
    waiting = (batch.opponents == index) & (batch.seats != batch.games[:, SIDE])
    for i in np.flatnonzero(waiting).tolist():
        if is_over(batch.events[i]):
            continue
        board = boards(i)
        move = legal_reply(agent, board)
        generate_successors(rows, 0, *board.position)
        row = rows[board.legal_moves.index(move)]
        batch.events[i] = make_move(batch.games[i], batch.history[i], row)
