"""One game of a league; it ends with a record even if an agent fails."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from agents import match
from agents.agent import Agent, PlayerAgent, accepts_draw
from agents.search.interrupt import LateMoveError, guard_moves
from checkers_env.board import Board
from checkers_env.errors import EngineError, GameEndedError, UnavailableError
from checkers_env.movegen import BLACK
from checkers_env.moves import Move, unpack_move
from checkers_env.openings import opening_board
from checkers_env.render.scene import SIDES
from checkers_env.state import DrawRules
from training.league.records import GameRecord
from training.league.schedule import LeagueFixture

LONGEST_REASON = 300  # characters
AGREED = "draw agreed"

Adjudicator = Callable[[Board, GameRecord], GameRecord]
"""Gives a drawn game a winner, by its final position."""


@dataclass(frozen=True)
class LeagueRules:
    """Rules of all games of a league."""

    rules: DrawRules = DrawRules()  # noqa: RUF009 - immutable
    seed: int = 0  # of the agents' random choices; each game has generators of its own
    move_limit: float | None = None  # seconds a move, after which the agent forfeits the game
    adjudicator: Adjudicator | None = None  # of drawn games


class Forfeit(Exception):  # noqa: N818 - it ends a game, not the program
    """A side loses for another reason than the position."""

    def __init__(self, side: int, reason: str) -> None:
        super().__init__(one_line(f"{SIDES[side]} forfeits: {reason}"))
        self.score = 0.0 if side == BLACK else 1.0


def play_game(
    agents: Sequence[Agent],
    fixture: LeagueFixture,
    league_rules: LeagueRules,
    stop: Event | None = None,
) -> GameRecord:
    """Play a game between two agents, Black first; raise CancelledError once `stop` is set.

    Raise UnavailableError if the server of an agent cannot be used: the game is not played.

    An agent loses the game if it fails, makes an illegal move or is too slow; the record says why.
    A player that ends the game itself loses it, unless the opponent accepts its claim of a draw.
    An agent may have three more methods: ``new_game(rng)``, called before each game with a numpy
    Generator of its own, ``accept_draw(board)``, called when the opponent claims a draw, and
    ``game_over(board, side)``, called after each game that was played to its end.
    """
    board, clocks = opening_board(fixture.opening, league_rules.rules), [0.0, 0.0]
    stop, limit = stop or Event(), league_rules.move_limit
    before = [_answers(agent) for agent in agents]
    in_kernel = all(
        isinstance(agent, PlayerAgent) and agent.seconds is None and not agent.blunder
        for agent in agents
    )
    try:
        if in_kernel:
            _play_in_kernel(agents, board, fixture, league_rules.seed, limit, stop)
        else:
            rng = np.random.default_rng((league_rules.seed, fixture.number))
            _play_by_act(agents, board, clocks, rng, limit, stop)
        score, reason = _result(board)
    except Forfeit as forfeit:
        score, reason = forfeit.score, str(forfeit)
    except GameEndedError as ended:
        score, reason = _end_by_claim(agents[1 - board.turn], board, ended)
    moves = tuple(map(str, board.moves))
    difference, seconds = board.piece_difference(), (clocks[0], clocks[1])
    black, white = (dict(_answers(it) - old) for it, old in zip(agents, before, strict=True))
    answers = (black, white)
    game = GameRecord(*fixture, score, reason, difference, moves, seconds, answers)
    adjudicate = league_rules.adjudicator
    agreed = reason.startswith(AGREED)
    return adjudicate(board, game) if adjudicate and score == 0.5 and not agreed else game


def play_fixture(
    players: Sequence[Any],
    fixture: LeagueFixture,
    rules: DrawRules,
    seed: int,
    seconds: float | None = None,
    stop: Event | None = None,
) -> match.MatchGame:
    """Play a game between two compiled players, Black first, with a generator of its own."""
    rng, opening = np.random.default_rng((seed, fixture.number)), fixture.opening or None
    return match.play_game(
        *players, opening=opening, rules=rules, rng=rng, seconds=seconds, stop=stop
    )


def _play_in_kernel(
    agents: Sequence[Any],
    board: Board,
    fixture: LeagueFixture,
    seed: int,
    seconds: float | None,
    stop: Event,
) -> None:
    """Play on a board between compiled players; raise Forfeit for a late move."""
    late, players = False, [agent.player for agent in agents]
    try:
        paths = play_fixture(players, fixture, board.rules, seed, seconds, stop).paths
    except LateMoveError as error:
        paths, late = error.paths, True
    for path in paths[board.ply :]:
        board.push(unpack_move(path))
    if late:
        raise Forfeit(board.turn, f"more than {seconds:g} s for a move")


def _play_by_act(
    agents: Sequence[Agent],
    board: Board,
    clocks: list[float],
    rng: np.random.Generator,
    seconds: float | None,
    stop: Event,
) -> None:
    """Play on a board, move by move; raise Forfeit, or GameEndedError where an agent ends it."""
    for side, agent in enumerate(agents):
        try:
            if isinstance(agent, PlayerAgent):
                agent.prepare()
            getattr(agent, "new_game", _nothing)(rng.spawn(1)[0])
        except Exception as error:
            raise Forfeit(side, f"before the game, {_message(error)}") from error
    while board.outcome() is None:
        if stop.is_set():
            raise CancelledError
        board.push(_timed_move(agents[board.turn], board, clocks, seconds, stop))
    for side, agent in enumerate(agents):
        with suppress(Exception):  # the result stands
            getattr(agent, "game_over", _nothing)(board.copy(), side)


def _end_by_claim(opponent: Agent, board: Board, ended: GameEndedError) -> tuple[float, str]:
    """Return Black's score when the side to move has ended the game, and why.

    The rules would have ended it before, so a draw takes the opponent's consent.
    """
    side = board.turn
    what = f"{SIDES[side]} ended the game"
    if ended.claim == "draw":
        if accepts_draw(opponent, board):
            return 0.5, one_line(f"{AGREED}, claimed by {SIDES[side]}: {ended}")
        what += " and claimed a draw, which was refused"
    return 0.0 if side == BLACK else 1.0, one_line(f"{what}: {ended}")


def _timed_move(
    agent: Agent, board: Board, clocks: list[float], seconds: float | None, stop: Event
) -> Move:
    """Return a legal move of the agent, and add its time to its clock.

    Raise Forfeit if the agent fails, or its move is illegal or too late.
    """
    side, began = board.turn, time.perf_counter()
    try:
        with _guard(agent, seconds, stop):
            move = agent.act(board.copy())
        if move not in board.legal_moves:
            raise EngineError(f"{move!r} is illegal in {board.fen()}")
    except (GameEndedError, UnavailableError, CancelledError):
        raise
    except LateMoveError:
        raise Forfeit(side, f"more than {seconds:g} s for a move") from None
    except Exception as error:
        raise Forfeit(side, _message(error)) from error
    finally:
        took = time.perf_counter() - began
        clocks[side] += took
    if seconds is not None and took > seconds and not getattr(agent, "keeps_time", False):
        raise Forfeit(side, f"{took:.1f} s for a move, of {seconds:g}")
    return move


class LimitedAgent:
    """Built-in player whose ``act`` raises EngineError when it takes too long."""

    def __init__(self, agent: PlayerAgent, seconds: float) -> None:
        agent.prepare()
        self._agent, self._seconds = agent, seconds
        self.new_game = agent.new_game

    def act(self, board: Board) -> Move:
        """Return the player's move."""
        try:
            with _guard(self._agent, self._seconds):
                return self._agent.act(board)
        except LateMoveError:
            raise EngineError(f"more than {self._seconds:g} s for a move") from None


def limit_agent(agent: Agent, seconds: float | None) -> Agent:
    """Return an agent with a limit of its moves; agents of other processes have theirs."""
    if seconds is None or not isinstance(agent, PlayerAgent):
        return agent
    return LimitedAgent(agent, seconds)


def _guard(
    agent: Agent, seconds: float | None, stop: Event | None = None
) -> AbstractContextManager[None]:
    """Stop a search of ours at its limit; others have limits outside their processes."""
    if isinstance(agent, PlayerAgent):
        return guard_moves([agent.ws], seconds, stop, lambda: 0)
    return nullcontext()


def _result(board: Board) -> tuple[float, str]:
    """Return Black's score in a finished game and the reason."""
    outcome = board.outcome()
    assert outcome is not None
    scores = {None: 0.5, BLACK: 1.0}
    return scores.get(outcome.winner, 0.0), outcome.reason


def _answers(agent: Agent) -> Counter[str]:
    """Return how many answers of each kind a language model has given; none for others."""
    answers = getattr(agent, "answers", None)
    return Counter(answers if isinstance(answers, Counter) else ())


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"


def printable(text: str) -> str:
    """Return a text as one line without characters that cannot be printed."""
    text = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return "".join(char if char.isprintable() else "?" for char in text)


def one_line(text: str) -> str:
    """Return a text as one short printable line that fits into a PDN tag."""
    text = printable(text)
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."


def _nothing(*arguments: Any) -> None:
    """Do nothing, for an agent without the method."""
