"""One game of a league; it ends with a record even if an agent fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from agents import match
from agents.agent import Agent, PlayerAgent
from agents.external.errors import EngineError, GameEndedError
from checkers_env.board import Board
from checkers_env.movegen import BLACK
from checkers_env.moves import Move, unpack_move
from checkers_env.openings import parse_opening
from checkers_env.render.scene import SIDES
from checkers_env.state import DrawRules
from training.league.records import GameRecord
from training.league.schedule import LeagueFixture

LONGEST_REASON = 300  # characters

Adjudicator = Callable[[Board, GameRecord], GameRecord]
"""Gives a drawn game a winner, by its final position."""


@dataclass(frozen=True)
class LeagueRules:
    """Rules of all games of a league.

    Attributes
    ----------
    rules
        Draw rules.
    seed
        Seed of the agents' random choices; each game has generators of its own.
    move_limit
        Seconds a move, after which the agent forfeits the game; None for no limit. Games between
        compiled players at a depth have no limit.
    judge
        Adjudicator of drawn games; None for none.
    """

    rules: DrawRules = DrawRules()  # noqa: RUF009 - immutable
    seed: int = 0
    move_limit: float | None = None
    judge: Adjudicator | None = None


class Forfeit(Exception):  # noqa: N818 - it ends a game, not the program
    """A side loses for another reason than the position."""

    def __init__(self, side: int, reason: str) -> None:
        super().__init__(one_line(f"{SIDES[side]} forfeits: {reason}"))
        self.score = 0.0 if side == BLACK else 1.0


def play_game(
    agents: Sequence[Agent], fixture: LeagueFixture, terms: LeagueRules, stop: Event | None = None
) -> GameRecord:
    """Play a game between two agents.

    An agent loses the game if it fails, makes an illegal move or is too slow; the record says why.
    An agent may have two more methods: ``new_game(rng)``, called before each game with a numpy
    Generator of its own, and ``game_over(board, side)``, called after each game that was played to
    its end.

    Parameters
    ----------
    agents
        Black and White.
    fixture
        Opening and number of the game.
    terms
        Rules of the league.
    stop
        Event that stops the game.

    Raises
    ------
    CancelledError
        Between two moves, once `stop` is set.
    """
    board, clocks = opening_board(fixture.opening, terms.rules), [0.0, 0.0]
    if all(isinstance(agent, PlayerAgent) and agent.seconds is None for agent in agents):
        score, reason = _in_kernel(agents, board, fixture, terms)
    else:
        score, reason = _move_by_move(agents, board, clocks, fixture, terms, stop or Event())
    moves = tuple(map(str, board.moves))
    difference, seconds = board.piece_difference(), (clocks[0], clocks[1])
    game = GameRecord(*fixture, score, reason, difference, moves, seconds)
    return terms.judge(board, game) if terms.judge and score == 0.5 else game


def opening_board(opening: str, rules: DrawRules) -> Board:
    """Return the board after the opening."""
    start, moves = parse_opening(opening or None)
    board = Board.from_position(*start, rules=rules)
    for move in moves:
        board.push(move)
    return board


def _in_kernel(
    agents: Sequence[Any], board: Board, fixture: LeagueFixture, terms: LeagueRules
) -> tuple[float, str]:
    """Play on a board between compiled players; return Black's score and the reason."""
    game = match.play_game(
        *(agent.player for agent in agents),
        opening=fixture.opening or None,
        rules=terms.rules,
        rng=np.random.default_rng((terms.seed, fixture.number)),
    )
    for path in game.paths[board.ply :]:
        board.push(unpack_move(path))
    return _result(board)


def _move_by_move(
    agents: Sequence[Agent],
    board: Board,
    clocks: list[float],
    fixture: LeagueFixture,
    terms: LeagueRules,
    stop: Event,
) -> tuple[float, str]:
    """Play on a board, move by move; return Black's score and the reason."""
    generators = np.random.default_rng((terms.seed, fixture.number)).spawn(2)
    try:
        for side, agent in enumerate(agents):
            _begin(agent, side, generators[side])
        while board.outcome() is None:
            if stop.is_set():
                raise CancelledError
            board.push(_timed_move(agents[board.turn], board, clocks, terms.move_limit))
    except Forfeit as forfeit:
        return forfeit.score, str(forfeit)
    except GameEndedError as ended:
        score = ended.score if board.turn == BLACK else 1.0 - ended.score
        return score, one_line(f"{SIDES[board.turn]} ended the game: {ended}")
    for side, agent in enumerate(agents):
        with suppress(Exception):  # the result stands
            getattr(agent, "game_over", _nothing)(board.copy(), side)
    return _result(board)


def _begin(agent: Agent, side: int, rng: np.random.Generator) -> None:
    try:
        getattr(agent, "new_game", _nothing)(rng)
    except Exception as error:
        raise Forfeit(side, f"before the game, {_message(error)}") from error


def _timed_move(agent: Agent, board: Board, clocks: list[float], limit: float | None) -> Move:
    """Return a legal move of the agent, and add its time to its clock.

    Raises
    ------
    Forfeit
        If the agent fails, or its move is illegal or too late.
    GameEndedError
        If the agent ends the game.
    """
    side, began = board.turn, time.perf_counter()
    try:
        move = agent.act(board.copy())
        if move not in board.legal_moves:
            raise EngineError(f"{move!r} is illegal in {board.fen()}")
    except GameEndedError:
        raise
    except Exception as error:
        raise Forfeit(side, _message(error)) from error
    finally:
        took = time.perf_counter() - began
        clocks[side] += took
    if limit is not None and took > limit:
        raise Forfeit(side, f"{took:.1f} s for a move, of {limit:g}")
    return move


def _result(board: Board) -> tuple[float, str]:
    """Return Black's score in a finished game and the reason."""
    outcome = board.outcome()
    assert outcome is not None
    scores = {None: 0.5, BLACK: 1.0}
    return scores.get(outcome.winner, 0.0), outcome.reason


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"


def one_line(text: str) -> str:
    """Return a text as one short line that fits into a PDN tag."""
    text = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 3] + "..."


def _nothing(*arguments: Any) -> None:
    """Do nothing, for an agent without the method."""
