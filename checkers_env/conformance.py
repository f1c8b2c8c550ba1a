"""Checks whether a game follows the rules of English draughts, whoever wrote it.

The command prints a table: the rules that the game keeps, and the moves that show a fault.

    python -m checkers_env.conformance my_game.py:make

The factory returns a PettingZoo AEC environment, a pgx environment, or a :class:`GameAdapter`.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import pkgutil
import runpy
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

import numpy as np
from pettingzoo import AECEnv

from checkers_env.actions import move_to_actions
from checkers_env.board import Board
from checkers_env.envs.aec import raw_env
from checkers_env.movegen import BLACK, BOARD, SQUARES, WHITE, direction, to_view
from checkers_env.moves import Move, bit_to_square

Route = tuple[int, ...]  # actions of a turn, or of a part of it
START_COUNTS = (7, 49, 302)  # turns from the start position (A. Bik, ICGA Journal 35, 2012)
LONGEST_PLIES = 400
CYCLE = 4  # plies after which the last position of the line of a draw is back
SIDES = ("Black", "White")
RESULTS = {None: "no result", 0: "a draw", 1: "a win of Black", -1: "a win of White"}
MARKS = {True: "passes", False: "FAILS", None: "not tried"}
DRAWS = "draws"
NOT_TRIED = "this game cannot set up a position"


class GameAdapter(Protocol):
    """A game that can be checked. An action is a whole move or a single jump of it."""

    def start(self, fen: str | None) -> None:
        """Begin at a position, or at the start position if it is None.

        Raise NotImplementedError for a position that the game cannot set up.
        """

    def turn(self) -> int:
        """Return the side to move: BLACK (0), who moves first, or WHITE (1)."""

    def actions(self) -> Sequence[Any]:
        """Return the legal actions."""

    def squares(self, action: Any) -> Sequence[int]:
        """Return the squares 1-32 of a legal action, from the first to the last.

        A single jump may be written as a step in its direction.
        """

    def play(self, action: Any) -> None:
        """Play a legal action."""

    def result(self) -> int | None:
        """Return 1 if Black has won, -1 if White has, 0 for a draw, None while the game goes on."""


class RuleCheck(NamedTuple):
    """A rule, whether the game keeps it (None: not tried), and the moves that show it."""

    rule: str
    passed: bool | None
    note: str


class AecGame:
    """A PettingZoo AEC environment as a :class:`GameAdapter`.

    Parameters
    ----------
    env
        The environment. Its first agent plays Black. Its mask of actions is in the observation or
        in the info, under ``"action_mask"``.
    squares
        Return the squares of an action of a side; by default those of this package's 128 actions.
    opening_option
        The option of `reset` that takes a FEN, if the environment has one; this package's is found.
    """

    def __init__(
        self,
        env: Any,
        squares: Callable[[int, int], Sequence[int]] | None = None,
        opening_option: str | None = None,
    ) -> None:
        own = "opening" if isinstance(env.unwrapped, raw_env) else None
        self.env, self._option = env, opening_option or own
        self._squares = squares or action_squares

    def start(self, fen: str | None) -> None:
        """Begin a game."""
        if fen is not None and self._option is None:
            raise NotImplementedError(NOT_TRIED)
        self.env.reset(seed=0, options=None if fen is None else {self._option: fen})

    def turn(self) -> int:
        """Return the side of the agent to move."""
        return int(self.env.possible_agents.index(self.env.agent_selection))

    def actions(self) -> Sequence[int]:
        """Return the actions in the mask."""
        agent = self.env.agent_selection
        seen = self.env.observe(agent)
        given = seen if isinstance(seen, dict) else self.env.infos[agent]
        return np.flatnonzero(given["action_mask"]).tolist()

    def squares(self, action: int) -> Sequence[int]:
        """Return the squares of an action of the agent to move."""
        return self._squares(action, self.turn())

    def play(self, action: int) -> None:
        """Step the environment."""
        self.env.step(action)

    def result(self) -> int | None:
        """Return the sign of Black's reward at the end."""
        black = self.env.possible_agents[BLACK]
        ended = self.env.terminations.get(black, True) or self.env.truncations.get(black, True)
        return int(np.sign(self.env.rewards[black])) if ended else None


class PgxGame:
    """A pgx environment as a :class:`GameAdapter`.

    Parameters
    ----------
    env
        The environment. The player of its first turn plays Black.
    squares
        As for :class:`AecGame`.
    set_up
        Return the state of a FEN; by default the environment's `from_fen`, if it has one.
    """

    def __init__(
        self,
        env: Any,
        squares: Callable[[int, int], Sequence[int]] | None = None,
        set_up: Callable[[str], Any] | None = None,
    ) -> None:
        import jax

        self._first = jax.jit(env.init)(jax.random.key(0))
        self._step = jax.jit(env.step)
        self._squares = squares or action_squares
        set_up = set_up or getattr(env, "from_fen", None)
        self._set_up = None if set_up is None else functools.cache(set_up)

    def start(self, fen: str | None) -> None:
        """Begin a game."""
        if fen and self._set_up is None:
            raise NotImplementedError(NOT_TRIED)
        self._state = self._set_up(fen) if fen and self._set_up else self._first
        to_move = int(self._state.current_player)
        self._black = 1 - to_move if fen and fen.strip()[0] in "Ww" else to_move

    def turn(self) -> int:
        """Return the side of the player to move."""
        return BLACK if int(self._state.current_player) == self._black else WHITE

    def actions(self) -> Sequence[int]:
        """Return the actions in the mask."""
        return np.flatnonzero(self._state.legal_action_mask).tolist()

    def squares(self, action: int) -> Sequence[int]:
        """Return the squares of an action of the player to move."""
        return self._squares(action, self.turn())

    def play(self, action: int) -> None:
        """Step the environment."""
        self._state = self._step(self._state, action)

    def result(self) -> int | None:
        """Return the sign of Black's reward at the end."""
        ended = bool(self._state.terminated | self._state.truncated)
        return int(np.sign(self._state.rewards[self._black])) if ended else None


def board_result(board: Board) -> int | None:
    """Return how a board stands, as :meth:`GameAdapter.result` does."""
    outcome = board.outcome()
    return None if outcome is None else {BLACK: 1, WHITE: -1, None: 0}[outcome.winner]


def action_squares(action: int, turn: int) -> Sequence[int]:
    """Return the squares of one of this package's actions: a step, also for a jump."""
    start = to_view(int(SQUARES[action // 4]), turn)
    end = start + direction(action % 4, turn)
    return bit_to_square(start), bit_to_square(end) if end >= 0 and BOARD >> end & 1 else 0


def squares_to_route(squares: Sequence[int], turn: int) -> Route:
    """Return the actions along some squares; -1 where no piece moves so."""
    route = []
    for pair in itertools.pairwise(squares):
        route.append(-1)
        for captured in ((), (0,)):  # a step, or a jump
            with suppress(ValueError):
                [route[-1]] = move_to_actions(Move(pair, captured), turn)
    return tuple(route)


class RuleError(Exception):
    """What a game does against the rules."""


class UntriedError(RuleError):
    """Why a rule cannot be tried."""


class Walk:
    """A game and a board on which the same moves are played."""

    def __init__(self, game: GameAdapter) -> None:
        self.game, self.board = game, Board(max_moves=None)
        self.done: Route = ()  # of the turn in progress
        game.start(None)

    def error(self, text: str) -> RuleError:
        """Return what is wrong, with the moves that lead there."""
        played = " ".join(map(_full_path, self.board.moves))
        return RuleError(f"{text} after {played or 'no move'}")

    def offered(self) -> dict[Route, Any]:
        """Return the game's actions by what of a turn they play."""
        turn = self.board.turn
        return {squares_to_route(self.game.squares(it), turn): it for it in self.game.actions()}

    def routes(self) -> dict[Route, Move]:
        """Return the rest of each legal turn."""
        turn, begun = self.board.turn, len(self.done)
        routes = {tuple(move_to_actions(it, turn)): it for it in self.board.legal_moves}
        return {it[begun:]: routes[it] for it in routes if it[:begun] == self.done}

    def check(self) -> bool:
        """Return whether the game goes on. Raise RuleError where it is not what it must be."""
        result, expected = self.game.result(), board_result(self.board)
        if result != expected and (result or expected):
            raise self.error(f"has {RESULTS[result]}, not {RESULTS[expected]},")
        if result is not None or expected is not None:
            return False
        if self.game.turn() != self.board.turn:
            raise self.error(f"{SIDES[self.board.turn]} is not to move")
        routes, offered = self.routes(), self.offered()
        texts = []
        for route, move in routes.items():
            if not any(route[: len(it)] == it for it in offered):
                texts.append(f"lacks {_full_path(move)}")
        for route, action in offered.items():
            if not any(it[: len(route)] == route for it in routes):
                texts.append(f"offers {'-'.join(map(str, self.game.squares(action)))}")
        if texts:
            raise self.error(", ".join(texts))
        return True

    def play(self, route: Route) -> None:
        """Play the rest of a turn, or its next jump; raise RuleError if it is not offered."""
        move = self.routes()[route]
        offered = self.offered()
        part = next((it for it in offered if route[: len(it)] == it), None)
        if part is None:
            raise self.error(f"lacks {_full_path(move)}")
        self.game.play(offered[part])
        self.done += part
        if len(part) == len(route):
            self.board.push(move)
            self.done = ()

    def play_turn(self, move: Move, checked: bool = False) -> None:
        """Play a whole turn, and check what the game offers before and after each jump of it."""
        turn, ply = tuple(move_to_actions(move, self.board.turn)), self.board.ply
        while (not checked or self.check()) and self.board.ply == ply:
            self.play(turn[len(self.done) :])

    def follow(self, line: str) -> None:
        """Play the moves of a text, without a look at what else the game offers."""
        try:
            for text in line.split():
                self.play_turn(self.board.parse_move(text))
        except RuleError as error:
            raise UntriedError(f"not reached: {error}") from None


def _full_path(move: Move) -> str:
    return ("x" if move.captured else "-").join(map(str, move.squares))


def try_rule(rule: str, work: Callable[..., str], *arguments: Any) -> RuleCheck:
    """Return a rule with the note that the work returns, or with the error that it raises."""
    try:
        return RuleCheck(rule, True, work(*arguments))
    except RuleError as error:
        return RuleCheck(rule, None if isinstance(error, UntriedError) else False, str(error))


def check_line(game: GameAdapter, line: str) -> str:
    """Check what a game offers at the end of a line, and each turn there, or its result."""
    board = Board(max_moves=None)
    for text in line.split():
        board.push(text)
    walk = Walk(game)
    walk.follow(line)
    walk.check()
    for move in board.legal_moves:
        walk = Walk(game)
        walk.follow(line)
        walk.play_turn(move, checked=True)
    return f"after {board.ply} plies"


def check_draws(game: GameAdapter, line: str) -> str:
    """Repeat the last moves of a line until the game is drawn."""
    walk = Walk(game)
    walk.follow(line)
    while board_result(walk.board) is None and game.result() is None:
        if walk.board.ply >= LONGEST_PLIES:
            raise UntriedError(f"no draw in {LONGEST_PLIES} plies")
        walk.play_turn(walk.board.moves[-CYCLE])
    walk.check()
    times = 1 + walk.board.earlier_positions().count(walk.board.position)
    return f"draw at ply {walk.board.ply}, occurrence {times}"


def check_counts(game: GameAdapter, fen: str | None, counts: Sequence[int]) -> str:
    """Compare the numbers of turns with a table."""
    try:
        for depth, expected in enumerate(counts, 1):
            if (found := count_turns(game, fen, (), depth)) != expected:
                raise RuleError(f"depth {depth}: {found}, not {expected}")
    except NotImplementedError as reason:
        raise UntriedError(str(reason)) from None
    return f"{counts[-1]} turns"


def count_turns(
    game: GameAdapter, fen: str | None, line: tuple[Any, ...], depth: int, side: int | None = None
) -> int:
    """Count the lines of `depth` turns after a line of actions; `side` played the last of them."""
    game.start(fen)
    for action in line:
        game.play(action)
    is_over = game.result() is not None
    if side is not None and (is_over or game.turn() != side):
        depth -= 1
    if depth == 0 or is_over:
        return int(depth == 0)
    turn, actions = game.turn(), list(game.actions())
    return sum(count_turns(game, fen, (*line, it), depth, turn) for it in actions)


def check_random_games(game: GameAdapter, games: int) -> str:
    """Compare every choice of random games; the error has the shortest line with a fault."""
    faults = []
    for index in range(games):
        rng, walk = np.random.default_rng((0, index)), Walk(game)
        try:
            while walk.check() and walk.board.ply < LONGEST_PLIES:
                routes = list(walk.routes())
                walk.play(routes[rng.integers(len(routes))])
        except RuleError as error:
            faults.append(str(error))
    if faults:
        raise RuleError(f"{len(faults)} differ; {min(faults, key=len)}")
    return "none differs"


def check(game: Any, games: int = 100) -> list[RuleCheck]:
    """Check a game by counts, by lines of a rule each, and by random games.

    Parameters
    ----------
    game
        A PettingZoo AEC environment, a pgx environment, or a :class:`GameAdapter`.
    games
        The number of random games, in which every choice is compared.

    Returns
    -------
    A row for each rule.

    Raises
    ------
    TypeError
        For an object that lacks methods of a GameAdapter.
    """
    game = as_game(game)
    rows = [try_rule("perft 3 from the start", check_counts, game, None, START_COUNTS)]
    for rule, table, line in _read_cases():
        if table:
            counts = [int(it) for it in table.split(",")]
            name = f"{rule} {len(counts)} from {line}"
            rows.append(try_rule(name, check_counts, game, line, counts))
        else:
            rows.append(try_rule(rule, check_draws if rule == DRAWS else check_line, game, line))
    random_games = f"every choice in {games} random games"
    return [*rows, try_rule(random_games, check_random_games, game, games)]


def as_game(game: Any) -> GameAdapter:
    """Return a GameAdapter: of an environment, or the object itself if it has the methods."""
    if isinstance(game, AECEnv):
        return AecGame(game)
    if all(hasattr(game, name) for name in ("init", "step", "num_players")):
        return PgxGame(game)
    methods = [name for name in vars(GameAdapter) if not name.startswith("_")]
    if lacking := [name for name in methods if not callable(getattr(game, name, None))]:
        raise TypeError(
            f"{type(game).__name__} is neither a PettingZoo AEC environment nor a pgx environment, "
            f"and lacks {', '.join(lacking)} of a checkers_env.conformance.GameAdapter"
        )
    return game


def _read_cases() -> Iterator[list[str]]:
    """Yield a rule, counts if it is a table, and the line of moves, or the FEN of the table."""
    text = files("checkers_env").joinpath("data", "conformance.tsv").read_text("utf-8")
    return (row.split("\t") for row in text.splitlines() if not row.startswith("#"))


def load(factory: str) -> Any:
    """Call the factory that ``file.py:name`` or ``package.module:name`` names."""
    path, _, name = factory.rpartition(":")
    if path.endswith(".py"):
        found = runpy.run_path(path)
        if name not in found:
            raise ValueError(f"{path} has no {name!r}")
        return found[name]()
    return pkgutil.resolve_name(factory)()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of the rules; the exit status is 1 if one is not kept."""
    parser = argparse.ArgumentParser("python -m checkers_env.conformance", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("factory", help="file.py:name or package.module:name")
    parser.add_argument("--games", type=int, default=100, help="random games (default: 100)")
    options = parser.parse_args(arguments)
    if options.games < 1:
        parser.error(f"--games must be at least 1, not {options.games}")
    try:
        game = as_game(load(options.factory))
    except (ValueError, TypeError, ImportError, AttributeError, OSError) as error:
        parser.error(str(error))
    rows = check(game, options.games)
    for rule, passed, note in rows:
        print(f"{MARKS[passed]:9} {rule}: {note}")
    raise SystemExit(any(it.passed is False for it in rows))


if __name__ == "__main__":
    main()
