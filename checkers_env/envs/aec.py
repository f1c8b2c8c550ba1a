"""# Checkers

English draughts, also called American checkers, for two agents.

| Fact               | Value                                                      |
|--------------------|------------------------------------------------------------|
| Creation           | `make("aec", "checkers_env/checkers-v0")`                  |
| Actions            | Discrete                                                   |
| Agents             | `agents= ['player_0', 'player_1']`                         |
| Number of agents   | 2                                                          |
| Action values      | `Discrete(128)`                                            |
| Observation shape  | `(8, 8, 8)`: plane, row, column                            |
| Observation values | `[0, 1]`, float32                                          |
| Parallel API       | No                                                         |

## Rules

`player_0` has the black men on squares 1-12 and moves first, `player_1` the white men on squares
21-32. Men step and jump diagonally forward, kings one square in all four directions. Captures are
compulsory, and any of several may be chosen. A capture goes on while the same piece can jump. A man
that reaches the far row becomes a king and its move ends there, even in the middle of a capture. A
side that is to move and cannot has lost. These are the rules of the World Checkers Draughts
Federation and the American Checker Federation, which also publish the ballots of two-move and
three-move openings.

A *move* is a whole turn, a multi-jump included; a *ply* is a move of one side.

## Observations

A dictionary: `"observation"` holds the planes, `"action_mask"` (int8) the legal actions. Both are
seen from the side of the observing agent. The mask is all zeros for an agent that is not to move,
and after the end. Black sees the standard square numbers. White sees the board turned round,
square *s* as 33 - *s*. `state()` has the planes of `player_0`, and one of ones if `player_1` is to
move.

An agent's squares 1-4 fill row 7 (the last) from right to left: columns 6, 4, 2, 0. Squares 5-8
are in row 6, columns 7, 5, 3, 1, and so on up to squares 29-32 in row 0. Men advance from row 7 to
row 0.

| Plane | Meaning                                                                   |
|-------|---------------------------------------------------------------------------|
| 0     | own men                                                                   |
| 1     | own kings                                                                 |
| 2     | the opponent's men                                                        |
| 3     | the opponent's kings                                                      |
| 4     | the piece in the middle of a multi-jump (captured pieces are gone)        |
| 5     | plies played / (2 `max_moves`), on every square; 0 when the rule is off   |
| 6     | plies without progress / (2 `no_progress`); 0 when the rule is off        |
| 7     | earlier occurrences of the position / (`repetition` - 1); 0 when off      |

## Actions

Action `(square - 1) * 4 + direction`, the square as the agent sees it; direction 0 is forward
right, 1 forward left, 2 back left, 3 back right. A jump has the action of a step in its direction.
In a multi-jump the same agent acts again, once for each jump, and only the jumps of that piece are
legal. `checkers_env.actions` turns moves into actions (`move_to_actions`) and puts them into words
(`describe_action`).

In `env()` an illegal action ends the game, with reward -1 for the agent that chose it and 0 for the
other. The reason is `"illegal action"`. In `raw_env()` it raises a `ValueError`.

## Rewards

| Winner | Loser | Draw |
|:------:|:-----:|:----:|
| +1     | -1    | 0    |

Every ending is a termination, none a truncation. `infos[agent]["reason"]` names it:
`"no pieces"` or `"no legal move"` (of the side to move), `"max moves"`, `"repetition"`,
`"no progress"` or `"illegal action"`.

## Arguments

```python
checkers_env.env(
    opening=None, max_moves=100, repetition=None, no_progress=None, render_mode=None,
    blocked_draws=False,
)
```

`opening`: the position in which the agents begin. `reset(options={"opening": ...})` replaces it for
one game; other options are refused.

- `None` is the start position.
- `"two-move"`, `"three-move"` and `"eleven-man"` draw a card of that ballot at each reset.
- `"9-13 22-18"` are moves, which count as played.
- `"W:W18,24,K31:B12,K3"` is a position (FEN).

Each of the first three draw rules is off when it is `None`.

`max_moves`: a draw after this many moves by each side.

`repetition`: a draw when a position occurs for this many times with the same side to move.

`no_progress`: a draw after this many moves by each side without a capture or a move of a man.

`blocked_draws`: whether a side that has pieces but no legal move draws; otherwise it loses, as the
rules of the game say.

`render_mode`: the value of `render()`.

- `"ansi"` returns text.
- `"rgb_array"` returns an image, uint8 of shape (512, 512, 3), with the last move tinted and its
  captures crossed.
- `"human"` shows that image in a window after each step, twice a second at most. It needs
  pygame-ce: `pip install 'checkers-laboratory[human]'`.

`env()` checks the order of calls and all actions in one wrapper, as PettingZoo's own three do, ten
times as fast.

`env.unwrapped.board` is the game as a `checkers_env.Board`, at the start of the current turn.

## Usage

```python
import checkers_env

env = checkers_env.env(opening="three-move", render_mode="ansi")
env.reset(seed=42)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    if termination or truncation:
        action = None
    else:
        action = env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
env.close()
```

## Version history

* v0: Initial version
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from pettingzoo import AECEnv

from checkers_env import openings
from checkers_env.actions import ACTIONS, AGAIN, FULL, ILLEGAL, describe_action, play_action
from checkers_env.board import Board
from checkers_env.envs.checked import ILLEGAL_ACTION, ILLEGAL_REWARD, CheckedEnv, to_int
from checkers_env.movegen import (
    BLACK,
    BLACK_BOARD,
    KINGS,
    NO_MOVE,
    PACKED_MOVE,
    ROW_WIDTH,
    WHITE,
    WHITE_BOARD,
)
from checkers_env.moves import Move, unpack_move
from checkers_env.observation import PLANES, play_and_observe, write_observation
from checkers_env.render.raster import paint
from checkers_env.render.scene import SIDES, build_scene
from checkers_env.render.window import Window
from checkers_env.state import (
    ONGOING,
    PLY,
    REASONS,
    SIDE,
    DrawRules,
    change_rules,
    has_lost,
    new_game,
    set_position,
)

Observation = dict[str, Any]

AGENTS = ("player_0", "player_1")
INDEX = {"player_0": BLACK, "player_1": WHITE}
OTHER = {"player_0": "player_1", "player_1": "player_0"}
ACCEPTED = "'two-move', 'three-move', 'eleven-man', moves such as '9-13 22-18', a FEN"
API_TEST_OPTION = "options"  # what PettingZoo's api_test gives to any game, without a meaning
SHAPE = (PLANES, 8, 8)
FLOAT32, INT8 = np.dtype(np.float32), np.dtype(np.int8)  # which numpy takes sooner than classes
NO_GAME = "the game is over, or was not begun: call reset()"
FIRST_ROWS = 256  # rows of a new history, which doubles when it is full


def env(
    *,
    opening: str | None = None,
    render_mode: str | None = None,
    rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
    **changes: Any,
) -> AECEnv[str, Observation, int]:
    """Make the game with the checks of PettingZoo's classic games.

    :class:`CheckedEnv` makes all checks in one wrapper.

    Parameters
    ----------
    opening
        None for the start position; ``"two-move"``, ``"three-move"`` or ``"eleven-man"`` to sample
        a ballot card at each reset; moves such as ``"9-13 22-18"``; or a FEN.
    render_mode
        None, ``"ansi"``, ``"rgb_array"`` or ``"human"``.
    rules
        Draw rules. By default a game is drawn after 100 moves of each side.
    **changes
        Single draw rules, such as ``repetition=3`` (see :class:`checkers_env.DrawRules`).

    Raises
    ------
    ValueError
        If an argument is out of range, or the opening leaves no game to play.
    TypeError
        If an argument is unknown.
    """
    return CheckedEnv(raw_env(opening, render_mode=render_mode, rules=rules, **changes))


make = env


class raw_env(AECEnv[str, Observation, int]):  # type: ignore[misc]  # noqa: N801 - PettingZoo's name
    """The game without wrappers; this module's docstring describes it.

    Parameters
    ----------
    opening, render_mode, rules, **changes
        As for :func:`env`.

    Raises
    ------
    ValueError
        For an invalid argument and for an illegal action.
    ResetNeeded
        If no game is in progress.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - declared so by AECEnv
        "render_modes": ["ansi", "human", "rgb_array"],
        "name": "checkers_v0",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        opening: str | None = None,
        *,
        render_mode: str | None = None,
        rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
        **changes: Any,
    ) -> None:
        super().__init__()
        if render_mode not in (None, *self.metadata["render_modes"]):
            accepted = self.metadata["render_modes"]
            raise ValueError(f"render_mode must be None or one of {accepted}, not {render_mode!r}")
        self.render_mode = render_mode
        self.metadata = dict(self.metadata)  # whose render_fps may be set
        self._window = Window()
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space() for agent in AGENTS}
        self.state_space = spaces.Box(0, 1, (PLANES + 1, 8, 8), np.float32)
        self.action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in AGENTS}
        self.np_random = np.random.default_rng()
        self._rules = change_rules(rules, changes, type(self))
        self._game = new_game(self._rules)
        self._history = np.zeros((FIRST_ROWS, ROW_WIDTH), np.int64)
        self._written: tuple[str, Observation] | None = None  # by the last action, given once
        self._board: Board | None = None
        self._cards = opening_cards(opening, self._rules)
        self._set_up(self._cards[0])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, the same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions, the same object at each call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        Parameters
        ----------
        seed
            Without a seed, the generator of the last games goes on.
        options
            ``{"opening": ...}`` replaces the opening for this game.

        Raises
        ------
        ValueError
            For an invalid seed or option; everything then stays as it was.
        """
        options, cards = check_options(options, ("opening",)), self._cards
        if "opening" in options:
            cards = opening_cards(options["opening"], self._rules)
        if seed is not None:
            self.np_random = np.random.default_rng(check_seed(seed))
        self._set_up(cards[int(self.np_random.integers(len(cards)))])
        self.agents = list(AGENTS)
        self.agent_selection = AGENTS[self._game[SIDE]]
        self.rewards: dict[str, float] = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = _Rewards.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, str]] = {agent: {} for agent in AGENTS}
        if self.render_mode == "human":
            self.render()

    def _set_up(self, text: str | None) -> None:
        """Begin with an opening that leaves a game to play."""
        opening = _read_opening(text)
        set_position(self._game, self._history, *opening.start)
        self._start, self._board = opening.start, None
        self._written = None
        for action in opening.actions:
            while play_action(self._game, self._history, action) == FULL:
                self._make_room()

    def step(self, action: Any) -> None:
        """Play an action of the agent to move (None when the game is over).

        Raises
        ------
        ValueError
            For an illegal action; the game then stays as it was.
        ResetNeeded
            Before the first game, and after both agents have seen the end.
        """
        if not self.agents:
            raise ResetNeeded(NO_GAME)
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = to_int(action)
        if not self.play(number):
            raise ValueError(self._illegal_message(number))

    def play(self, action: int) -> bool:
        """Play an action of a game that is in progress; return False for an illegal one."""
        if not 0 <= action < ACTIONS:
            return False
        planes, mask = np.empty(SHAPE, FLOAT32), np.empty(ACTIONS, INT8)
        event = play_and_observe(self._game, self._history, action, planes, mask)
        if event < AGAIN:
            if event == ILLEGAL:
                return False
            self._make_room()
            return self.play(action)
        agent = after = self.agent_selection
        if event != AGAIN:
            self.agent_selection = after = OTHER[agent]
        self._written = after, {"observation": planes, "action_mask": mask}
        if event > ONGOING:
            lost = has_lost(self._game, event)
            self._finish({agent: 1, OTHER[agent]: -1} if lost else {}, REASONS[event])
        if self.render_mode == "human":
            self.render()
        return True

    def _make_room(self) -> None:
        """Double the history."""
        self._history = np.concatenate([self._history, np.zeros_like(self._history)])

    def forfeit(self) -> None:
        """End the game with a loss of the agent to move, for an illegal action."""
        agent = self.agent_selection
        self._written = None
        self._cumulative_rewards[agent] = 0
        self._finish({agent: float(ILLEGAL_REWARD)}, ILLEGAL_ACTION)
        self._deads_step_first()

    def _illegal_message(self, action: int) -> str:
        agent = self.agent_selection
        legal = np.flatnonzero(self.observe(agent)["action_mask"]).tolist()
        meaning = f" ({describe_action(action, self._game[SIDE])})" if 0 <= action < ACTIONS else ""
        return f"action {action}{meaning} is illegal for {agent}: the legal ones are {legal}"

    def _finish(self, rewards: dict[str, float], reason: str) -> None:
        """End the game; rewards are 0 before."""
        self.rewards |= rewards
        self.terminations = dict.fromkeys(AGENTS, True)
        self.infos = {name: {"reason": reason} for name in AGENTS}
        self._accumulate_rewards()

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation in fresh arrays.

        Planes are float32, shape (8, 8, 8), the mask int8, shape (128,).

        Raises
        ------
        ResetNeeded
            Before the first game.
        """
        written = self._written
        if written and written[0] == agent:
            self._written = None
            return written[1]
        if not hasattr(self, "agent_selection"):
            raise ResetNeeded("the game was not begun: call reset()")
        planes, mask = np.empty(SHAPE, FLOAT32), np.empty(ACTIONS, INT8)
        to_move = agent == self.agent_selection and not self.terminations.get(agent, True)
        write_observation(planes, mask, self._game, INDEX[agent], to_move)
        return {"observation": planes, "action_mask": mask}

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return what the agent to move sees of the last steps.

        Parameters
        ----------
        observe
            Whether to observe; otherwise the observation is None.

        Returns
        -------
        The observation, the rewards since the agent's last turn, whether the game is over, False,
        and the information.

        Raises
        ------
        ResetNeeded
            Before the first game, and after both agents have seen the end.
        """
        if not hasattr(self, "agent_selection"):
            raise ResetNeeded(NO_GAME)
        return super().last(observe)

    def state(self) -> NDArray[np.float32]:
        """Return the whole game for a critic of both agents, float32, shape (9, 8, 8).

        The planes are those that `player_0` sees; the last is 1 where `player_1` is to move.
        """
        planes, mask = np.empty((PLANES + 1, 8, 8), FLOAT32), np.empty(ACTIONS, INT8)
        write_observation(planes[:PLANES], mask, self._game, BLACK, False)
        planes[PLANES] = self._game[SIDE]
        return planes

    @property
    def board(self) -> Board:
        """Return the game at the start of the current turn, with its moves and draw rules.

        The environment keeps this board in step: do not change it, or work on its ``copy()``.
        """
        board = self._board
        if board is None:
            board = self._board = Board.from_position(*self._start, rules=self._rules)
        for packed in self._history[board.ply + 1 : self._game[PLY] + 1, PACKED_MOVE].tolist():
            board.push(unpack_move(packed))
        return board

    def render(self) -> Any:
        """Show the game as `render_mode` says: return text or an image, or show a window."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing: choose a render_mode when making the env")
            return None
        board, last, jumping = self._view()
        if self.render_mode == "ansi":
            return str(board) if jumping is None else f"{board}: the piece on {jumping} jumps on"
        image = paint(build_scene(board, last, jumping))
        if self.render_mode == "rgb_array":
            return image
        title = f"Checkers: {SIDES[board.turn]} to move"
        return self._window.show(image, title, self.metadata["render_fps"])

    def _view(self) -> tuple[Board, Move | None, int | None]:
        """Return the position, the last move as far as it is made, and a square that jumps on."""
        now = self._game.tolist()
        board = Board.from_position(now[BLACK_BOARD], now[WHITE_BOARD], now[KINGS], now[SIDE])
        jumps_on = now[PACKED_MOVE] > NO_MOVE
        packed = now[PACKED_MOVE] if jumps_on else int(self._history[now[PLY], PACKED_MOVE])
        last = None if packed == NO_MOVE else unpack_move(packed)
        return board, last, last.squares[-1] if last and jumps_on else None

    def close(self) -> None:
        """Shut the window, if there is one; rendering again opens another."""
        self._window.close()


class _Rewards(dict[str, float]):
    """Rewards of the agents that have not seen the end; ``last()`` of every wrapper reads them."""

    def __missing__(self, agent: str) -> float:
        raise ResetNeeded(NO_GAME)


def observation_space() -> spaces.Dict:
    """Return a space of observations."""
    planes = spaces.Box(0, 1, (PLANES, 8, 8), np.float32)
    mask = spaces.Box(0, 1, (ACTIONS,), np.int8)
    return spaces.Dict({"observation": planes, "action_mask": mask})


def check_options(options: Any, accepted: Collection[str]) -> dict[str, Any]:
    """Return the options of a reset. Raise ValueError for others than those accepted."""
    if options is None:
        return {}
    if not isinstance(options, dict) or options.keys() - {*accepted, API_TEST_OPTION}:
        known = " and ".join(map(repr, accepted))
        raise ValueError(f"options must be None or a dictionary with {known}, not {options!r}")
    return options


def check_seed(seed: Any) -> int:
    """Return the seed of a game. Raise ValueError unless it is a whole number from 0 on."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed must be a whole number from 0 on, not {seed!r}")
    return int(seed)


def opening_cards(opening: str | None, rules: DrawRules) -> Sequence[str | None]:
    """List the openings to choose from: those of a ballot, or the only one.

    Raise ValueError for one that is invalid, or leaves no game to play by these draw rules.
    """
    if not isinstance(opening, str | None):
        raise ValueError(f"opening must be None or one of {ACCEPTED}, not {opening!r}")
    cards = openings.BALLOTS.get(opening or "", (opening,))
    board = first_board(opening, rules)
    outcome = board.outcome()
    if outcome or not (board.black and board.white):
        reason = outcome.reason if outcome else "no pieces"
        raise ValueError(f"opening {opening!r} leaves no game to play: {reason}")
    return cards


def first_board(opening: str | None, rules: DrawRules) -> Board:
    """Return the game after an opening, or as far as it goes; of a ballot, after the first card."""
    cards = openings.BALLOTS.get(opening or "", (opening,))
    start, moves, _ = _read_opening(cards[0])  # all cards have the same number of moves
    board = Board.from_position(*start, rules=rules)
    for move in moves:
        if board.outcome() is None:
            board.push(move)
    return board


def _read_opening(text: str | None) -> openings.Opening:
    is_moves = text is not None and ":" not in text
    try:
        opening = openings.parse_opening(text)
        if is_moves and not opening.moves:
            raise ValueError("no moves")
        return opening
    except ValueError as error:
        if not is_moves:
            raise
        near = difflib.get_close_matches(str(text), openings.BALLOTS, 1)
        hint = f"did you mean {near[0]!r}?" if near else error
        raise ValueError(f"bad opening {text!r}: {hint} (accepted: {ACCEPTED})") from None
