"""The game as a single-agent Gymnasium environment: the other side is played by any agent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from agents.agent import Agent, PlayerAgent, reseed
from agents.external.errors import GameEndedError
from agents.registry import make
from agents.search.workspace import table_bits, workspace
from checkers_env.actions import ACTIONS, describe_action, move_to_actions
from checkers_env.board import Board
from checkers_env.envs.aec import AGENTS, INDEX, raw_env
from checkers_env.moves import format_moves

COLOURS = ("black", "white")

Observation = dict[str, Any]


class SingleAgentEnv(gymnasium.Env[Observation, np.int64]):
    """One side of :mod:`checkers_env.envs.aec`, with its observations, actions and draw rules.

    The opponent's turns are played inside :meth:`reset` and :meth:`step`. The reward is 0 until the
    end, and then +1, 0 or -1; an action that the mask rules out ends the episode with -1.

    Parameters
    ----------
    opponent
        What :func:`agents.make` takes (a name, a weight file, a factory), or an agent.
    depth
        For the opponent, where it is not given as an agent.
    colour
        ``"black"`` or ``"white"``; None draws one at each reset.
    opening, render_mode, **rules
        As for :func:`checkers_env.make`.

    A seed decides on colours, ballot cards, and what opponents leave to chance that have a method
    ``new_game(rng)``, as those of :func:`agents.make` do; others look after their own. An opponent
    that ends the game has lost it, unless it claims a draw. Raises ValueError for arguments that
    make no sense, for an opening that leaves the agent no turn, and when the opponent makes an
    illegal move.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - declared so by gymnasium.Env
        "render_modes": raw_env.metadata["render_modes"],
        "render_fps": raw_env.metadata["render_fps"],
    }

    def __init__(
        self,
        opponent: str | Agent = "blondie24",
        colour: str | None = None,
        *,
        depth: int | None = None,
        opening: str | None = None,
        render_mode: str | None = None,
        **rules: Any,
    ) -> None:
        if colour not in (None, *COLOURS):
            raise ValueError(f"colour must be None or one of {list(COLOURS)}, not {colour!r}")
        self._opponent = _opponent(opponent, depth)
        self._colour = colour
        self._game = raw_env(opening, render_mode=render_mode, **rules)
        self._agent, self._mask, self._over = AGENTS[0], np.zeros(ACTIONS, np.int8), True
        self.render_mode = render_mode
        self.observation_space = self._game.observation_space(AGENTS[0])
        self.action_space = gymnasium.spaces.Discrete(ACTIONS)

    @property
    def board(self) -> Board:
        """The game as :attr:`checkers_env.raw_env.board` shows it."""
        return self._game.board

    def action_masks(self) -> Any:
        """The legal actions, bool[128], as sb3-contrib's MaskablePPO asks for them."""
        return self._mask.astype(bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game; the information names the agent's colour.

        ``options={"opening": ...}`` replaces the opening for this game.
        """
        super().reset(seed=seed)
        self._over = True  # should what follows fail, there is no game to go on with
        # All are drawn whether needed or not: a seed then means the same games to every opponent.
        colour, chance, card = self.np_random.integers(2**31, size=3).tolist()
        side = colour % 2 if self._colour is None else COLOURS.index(self._colour)
        self._agent = AGENTS[side]
        reseed(self._opponent, chance)
        self._game.reset(seed=card, options=options)
        ended = self._answer()
        if self._over:
            reason = ended or self._game.infos[self._agent]["reason"]
            raise ValueError(f"the opening leaves {COLOURS[side]} no turn to play: {reason}")
        return self._observation(), {"colour": COLOURS[side]}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an action, and the opponent's turn if it is then to move.

        Raises ValueError for what is no action at all.
        """
        if self._over:
            raise ResetNeeded("the game is over, or was not begun: call reset()")
        if isinstance(action, bool) or not self.action_space.contains(action):
            raise ValueError(f"action {action!r} is not a whole number from 0 to {ACTIONS - 1}")
        if not self._mask[action]:
            self._over = True
            illegal = describe_action(int(action), INDEX[self._agent])
            info = {"reason": "illegal action", "illegal": illegal}
            return self._observation(), -1.0, True, False, info
        self._game.step(action)
        if ended := self._answer():
            return self._observation(), 1.0 - 2.0 * ended.score, True, False, {"reason": str(ended)}
        reward = float(self._game.rewards[self._agent])
        return self._observation(), reward, self._over, False, dict(self._game.infos[self._agent])

    def render(self) -> Any:
        """Show the position as `render_mode` says (in mode "human" the game shows itself)."""
        return self._game.render()

    def close(self) -> None:
        """Shut the window, if there is one."""
        self._game.close()

    def _answer(self) -> GameEndedError | None:
        """Let the opponent play until the agent is to move or the game is over.

        Returns what it says if it ends the game.
        """
        game, self._over = self._game, True
        while game.agent_selection != self._agent and not game.terminations[self._agent]:
            board = game.board
            try:
                move = self._opponent.act(board.copy())
            except GameEndedError as ended:
                return ended
            if move not in board.legal_moves:
                raise ValueError(
                    f"the opponent ({type(self._opponent).__name__}) played {move}, illegal in "
                    f"{board.fen()}: the legal moves are {format_moves(board.legal_moves)}"
                )
            for action in move_to_actions(move, board.turn):
                game.step(action)
        self._over = game.terminations[self._agent]
        return None

    def _observation(self) -> Observation:
        """What the agent sees; without legal actions when the episode is over."""
        seen: Observation = self._game.observe(self._agent)
        if self._over:
            seen["action_mask"][:] = 0
        self._mask = seen["action_mask"].copy()
        return seen


def _opponent(opponent: str | Agent, depth: int | None) -> Agent:
    """The opponent, with a generator and memory of its own where it is one of our agents."""
    if isinstance(opponent, str):
        return make(opponent, depth=depth)
    if depth is not None:
        raise ValueError("depth is for an opponent given by name: this one is an agent already")
    if not callable(getattr(opponent, "act", None)):
        raise ValueError(f"opponent {opponent!r} is neither text nor has it a method act(board)")
    if not isinstance(opponent, PlayerAgent):
        return opponent
    return replace(opponent, rng=np.random.default_rng(), ws=workspace(table_bits(opponent.player)))
