"""Our agents in games against whoever speaks DXP: as those who are called, or who call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agents.agent import Agent
from agents.external.dxp.connection import (
    Link,
    accept,
    accept_game,
    ask_for_game,
    call,
    end_game,
    open_port,
    reason_of,
    receive_move,
    send_move,
    wait_for_request,
)
from agents.external.dxp.messages import (
    HOST,
    NOT_THIS_GAME,
    PORT,
    GameAccept,
    GameRequest,
    fitting,
    position_of,
    squares_of,
)
from agents.external.errors import EngineError, GameEndedError
from checkers_env.board import Board, Outcome
from checkers_env.movegen import BLACK, WHITE

PATIENCE = 600.0
REPETITION, NO_PROGRESS = 3, 40  # a game by DXP must end although it may have no limit of moves
REASON_OF_CLAIM = {"loss": "resignation", "draw": "draw claimed", "win": "win claimed"}


class Place(NamedTuple):
    """Where the other program is met, and the seconds to wait for anything that it is to send."""

    host: str = HOST
    port: int = PORT
    patience: float = PATIENCE


class Played(NamedTuple):
    """A game by DXP: its final position with its moves, our colour, the opponent and the result."""

    board: Board
    colour: int
    opponent: str
    outcome: Outcome | None
    """None for a game without a result."""
    error: str = ""
    """Why the connection is of no more use."""


def serve(
    agent: Agent,
    place: Place = Place(),  # noqa: B008 - immutable
    *,
    games: int | None = None,
    report: Callable[[Played], None] = lambda played: None,
) -> list[Played]:
    """Let `agent` play whoever connects, as the follower.

    Parameters
    ----------
    games
        How many games to play; None for ever.
    report
        Called with each game when it is over.

    A program that does wrong loses its connection and nothing else. Raises EngineError when the
    port cannot be had, ValueError for less than one game.
    """
    _check(games)
    played: list[Played] = []
    with open_port(place.host, place.port) as listener:
        while games is None or len(played) < games:
            link = accept(listener, None)
            try:
                for game in _answered(link, agent, place.patience):
                    played.append(game)
                    report(game)
                    if len(played) == games:
                        break
            finally:
                link.close()
    return played


def _answered(link: Link, agent: Agent, patience: float) -> Iterator[Played]:
    """The games that are asked for on a connection."""
    name = fitting(getattr(agent, "name", type(agent).__name__))
    while True:
        try:
            request = wait_for_request(link, name, patience)
            try:
                start = position_of(request)
            except ValueError:
                link.send(GameAccept(name, NOT_THIS_GAME))
                continue
            accept_game(link, name, start.turn == request.follower)
        except EngineError:
            return
        board = Board.from_position(
            *start,
            max_moves=request.moves or None,
            repetition=REPETITION,
            no_progress=NO_PROGRESS,
        )
        game = play(link, agent, board, request.follower, request.minutes, patience)
        yield game
        if game.error:
            return


def challenge(
    agent: Agent,
    place: Place = Place(),  # noqa: B008 - immutable
    *,
    games: int = 2,
    minutes: int = 0,
    moves: int = 100,
    report: Callable[[Played], None] = lambda played: None,
) -> list[Played]:
    """Let `agent` play a program that listens, as the initiator, Black and White in turn.

    Parameters
    ----------
    minutes, moves
        Limits of a game for each side; 0 for none.
    report
        Called with each game when it is over.

    Raises EngineError when the program cannot be reached or refuses the first game. If it plays no
    further one, or does wrong, the games end there. Raises ValueError for less than one game.
    """
    _check(games)
    played: list[Played] = []
    name = fitting(getattr(agent, "name", type(agent).__name__))
    link = call(*place)
    try:
        for number in range(games):
            board = Board(max_moves=moves or None, repetition=REPETITION, no_progress=NO_PROGRESS)
            colour = (BLACK, WHITE)[number % 2]
            squares = squares_of(board)
            request = GameRequest(name, 1 - colour, minutes, moves, board.turn, squares)
            try:
                ask_for_game(link, request, place.patience)
            except EngineError:
                if not played:
                    raise
                break
            played.append(play(link, agent, board, colour, minutes, place.patience))
            report(played[-1])
            if played[-1].error:
                break
    finally:
        link.close()
    return played


def _check(games: int | None) -> None:
    if games is not None and games < 1:
        raise ValueError(f"games must be at least 1, not {games}")


def play(
    link: Link, agent: Agent, board: Board, colour: int, minutes: int, patience: float
) -> Played:
    """Play a game that both sides have agreed on; `board` has its start and its draw rules.

    The agent's method ``game_over(board, side)`` is called at the end, if it has one.
    """
    outcome, theirs, failure = None, 0.0, ""
    try:
        while True:
            outcome = outcome or board.outcome()
            if board.turn == colour:
                if minutes and theirs > 60 * minutes:
                    outcome = outcome or Outcome(colour, "time")
                if outcome:
                    end_game(link, reason_of(outcome, colour), patience)
                    break
                begun = time.monotonic()
                move = agent.act(board.copy())
                board.push(move)
                send_move(link, move, time.monotonic() - begun)
            else:
                begun = time.monotonic()
                board.push(receive_move(link, board, patience))
                theirs += time.monotonic() - begun
    except GameEndedError as end:
        if outcome is None and end.claim in REASON_OF_CLAIM:
            winner = {"loss": colour, "win": 1 - colour}.get(end.claim)
            outcome = Outcome(winner, REASON_OF_CLAIM[end.claim])
    except EngineError as error:
        failure = str(error)
    if outcome and hasattr(agent, "game_over"):
        agent.game_over(board.copy(), colour)
    return Played(board, colour, link.peer, outcome, failure)
