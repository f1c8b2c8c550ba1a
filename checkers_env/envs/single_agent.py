"""Single-agent Gymnasium environment: any agent plays the other side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from checkers_env.actions import ACTIONS, describe_action, move_to_actions
from checkers_env.agent import reseed
from checkers_env.board import Board
from checkers_env.envs.aec import AGENTS, INDEX, raw_env
from checkers_env.envs.opponents import (
    COLOURS,
    Opponent,
    check_first_turn,
    legal_reply,
    make_named,
    make_opponents,
    sides_of,
)
from checkers_env.errors import GameEndedError
from checkers_env.state import DrawRules, change_rules

Observation = dict[str, Any]


class SingleAgentEnv(gymnasium.Env[Observation, np.int64]):
    """One side of :mod:`checkers_env.envs.aec`, with its observations, actions and draw rules.

    :meth:`reset` and :meth:`step` play the opponent's turns. The reward is 0 until the game ends,
    then +1, 0 or -1. An illegal action ends the episode with -1.

    A seed fixes the colours and the ballot cards. It also seeds an opponent that has a method
    ``new_game(rng)``, as all agents of :func:`agents.make` have. An opponent that ends the game
    loses it, unless it claims a draw and `accept_draw` consents.

    Parameters
    ----------
    opponent
        A text for :func:`agents.make`, an agent, or a function from a board to a move. Each game
        samples one if there are several.
    colour
        The agent's colour: ``"black"``, ``"white"``, or None to sample one at each reset.
    depth
        Search depth of opponents given as texts, in plies.
    accept_draw
        Function from a board to whether the agent consents to a draw that the opponent claims and
        the rules do not give. None refuses: the claim then loses.
    opening, render_mode, rules, **changes
        As for :func:`checkers_env.make`.

    Raises
    ------
    ValueError
        If an argument is out of range, the opponent can end the game before the agent's first turn,
        or makes an illegal move.
    ImportError
        If a text other than ``"random"`` is given without this project's package `agents`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - declared so by gymnasium.Env
        "render_modes": raw_env.metadata["render_modes"],
        "render_fps": raw_env.metadata["render_fps"],
    }

    def __init__(
        self,
        opponent: Opponent | Sequence[Opponent] = "blondie24",
        colour: str | None = None,
        *,
        depth: int | None = None,
        accept_draw: Callable[[Board], bool] | None = None,
        opening: str | None = None,
        render_mode: str | None = None,
        rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
        **changes: Any,
    ) -> None:
        self._sides = sides_of(colour)
        rules = change_rules(rules, changes, SingleAgentEnv)
        self._opponents = make_opponents(opponent, depth, make_named)
        self._opponent = self._opponents[0]
        if accept_draw is not None and not callable(accept_draw):
            raise ValueError(f"accept_draw must be None or a function, not {accept_draw!r}")
        self._accept_draw = accept_draw
        self._game = raw_env(opening, render_mode=render_mode, rules=rules)
        check_first_turn(self._game.board, self._sides)
        self._agent, self._mask, self._over = AGENTS[0], np.zeros(ACTIONS, np.int8), True
        self.render_mode, self.metadata = render_mode, self._game.metadata
        self.observation_space = self._game.observation_space(AGENTS[0])
        self.action_space = gymnasium.spaces.Discrete(ACTIONS)

    @property
    def board(self) -> Board:
        """A copy of the game, at the start of the current turn, with its moves and draw rules."""
        return self._game.board.copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, shape (128,), for sb3-contrib's MaskablePPO."""
        return self._mask.astype(bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game.

        Parameters
        ----------
        seed
            Seed of this game and of all that follow.
        options
            ``{"opening": ...}`` replaces the opening for this game.

        Returns
        -------
        The observation, and ``{"colour": ...}``, the agent's colour.
        """
        super().reset(seed=seed)
        self._over = True  # until the game is set up: an error below must not leave half a game
        # Sample all three, needed or not: equal seeds then give equal games to every opponent.
        colour, chance, card = self.np_random.integers(2**31, size=3).tolist()
        side = self._sides[colour % len(self._sides)]
        self._agent = AGENTS[side]
        self._opponent = self._opponents[chance % len(self._opponents)]
        reseed(self._opponent, chance)
        self._game.reset(seed=card, options=options)
        if options and "opening" in options:
            check_first_turn(self._game.board, self._sides)
        if ended := self._answer():
            raise ValueError(f"the opening leaves {COLOURS[side]} no turn to play: {ended[1]}")
        return self._observation(), {"colour": COLOURS[side]}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an action, and then the opponent's turn if it is to move.

        Raises
        ------
        ValueError
            If the action is not a whole number from 0 to 127.
        """
        if self._over:
            raise ResetNeeded("no game is in progress: call reset()")
        if isinstance(action, bool) or not self.action_space.contains(action):
            raise ValueError(f"action {action!r} is not a whole number from 0 to {ACTIONS - 1}")
        if not self._mask[action]:
            self._over, illegal = True, describe_action(int(action), INDEX[self._agent])
            info = {"reason": "illegal action", "illegal": illegal}
            return self._observation(), -1.0, True, False, info
        self._game.step(action)
        if ended := self._answer():
            return self._observation(), ended[0], True, False, {"reason": ended[1]}
        reward = float(self._game.rewards[self._agent])
        return self._observation(), reward, self._over, False, dict(self._game.infos[self._agent])

    def render(self) -> Any:
        """Render the position by `render_mode`; in mode "human" the game opens a window."""
        return self._game.render()

    def close(self) -> None:
        """Close the window, if there is one; a further step needs a reset."""
        self._game.close()
        self._over = True

    def _answer(self) -> tuple[float, str] | None:
        """Play the opponent's moves until the agent is to move or the game is over.

        Return the agent's reward and the reason if the opponent ends the game.
        """
        game, self._over = self._game, True
        while game.agent_selection != self._agent and not game.terminations[self._agent]:
            board = game.board
            try:
                move = legal_reply(self._opponent, board)
            except GameEndedError as ended:
                return self._end_by_claim(board, ended)
            for action in move_to_actions(move, board.turn):
                game.step(action)
        self._over = game.terminations[self._agent]
        return None

    def _end_by_claim(self, board: Board, ended: GameEndedError) -> tuple[float, str]:
        """Return the agent's reward and the reason when the opponent has ended the game.

        The rules would have ended it before, so a draw takes the agent's consent.
        """
        what = "the opponent ended the game"
        if ended.claim == "draw":
            if self._accept_draw is not None and self._accept_draw(board):
                return 0.0, f"draw agreed, claimed by the opponent: {ended}"
            what += " and claimed a draw, which was refused"
        return 1.0, f"{what}: {ended}"

    def _observation(self) -> Observation:
        """Return the agent's observation; without legal actions when the episode is over."""
        observation: Observation = self._game.observe(self._agent)
        if self._over:
            observation["action_mask"][:] = 0
        self._mask = observation["action_mask"].copy()
        return observation
