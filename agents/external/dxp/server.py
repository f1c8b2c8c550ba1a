"""DXP server: games of an agent against programs that connect, or that listen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from agents.agent import Agent, accepts_draw, begin_game, check_move
from agents.external.dxp.connection import (
    DxpConnection,
    accept_connection,
    accept_game,
    end_game,
    end_reason,
    open_connection,
    open_listener,
    receive_move,
    request_game,
    send_move,
    wait_for_request,
)
from agents.external.dxp.messages import (
    HOST,
    NOT_THIS_GAME,
    PORT,
    GameAccept,
    GameRequest,
    fit_name,
    read_position,
    write_squares,
)
from agents.external.errors import EngineError, GameEndedError
from checkers_env.board import Board, Outcome
from checkers_env.movegen import BLACK, WHITE

TIMEOUT = 600.0  # seconds
FIRST_SECONDS = 10.0  # for the first request of a connection, which keeps all others waiting
REPETITION, NO_PROGRESS = 3, 40  # end games without a limit of moves


class DxpAddress(NamedTuple):
    """An address, and the seconds to wait for a message there."""

    host: str = HOST
    port: int = PORT
    timeout: float = TIMEOUT


class DxpGame(NamedTuple):
    """A game by DXP.

    Attributes
    ----------
    board
        The final position, with the moves.
    colour
        The agent's side.
    opponent
        Name of the other program.
    outcome
        The result; None for a game without one.
    error
        The fault that ended the connection.
    """

    board: Board
    colour: int
    opponent: str
    outcome: Outcome | None
    error: str = ""


def serve(
    agent: Agent,
    address: DxpAddress = DxpAddress(),  # noqa: B008 - immutable
    *,
    games: int | None = None,
    report: Callable[[DxpGame], None] = lambda game: None,
    rng: np.random.Generator | None = None,
) -> list[DxpGame]:
    """Play programs that connect, as the follower.

    A fault of a program ends its connection only.

    Parameters
    ----------
    agent
        The player.
    address
        The address to listen on.
    games
        Number of games; None plays for ever.
    report
        Called after each game.
    rng
        Generator for the games of an agent that has ``new_game(rng)``.

    Returns
    -------
    The games.

    Raises
    ------
    EngineError
        When the port is in use.
    ValueError
        For less than one game.
    """
    _check(games)
    results: list[DxpGame] = []
    rng = rng or np.random.default_rng()
    with open_listener(address.host, address.port) as listener:
        while games is None or len(results) < games:
            connection = accept_connection(listener, None)
            try:
                for game in _play_requests(connection, agent, address.timeout, rng):
                    results.append(game)
                    report(game)
                    if len(results) == games:
                        break
            finally:
                connection.close()
    return results


def _play_requests(
    connection: DxpConnection, agent: Agent, timeout: float, rng: np.random.Generator
) -> Iterator[DxpGame]:
    """Play the requested games of a connection, and yield each."""
    name = fit_name(getattr(agent, "name", type(agent).__name__))
    patience = min(timeout, FIRST_SECONDS)
    while True:
        try:
            request = wait_for_request(connection, name, patience)
            patience = timeout
            try:
                start = read_position(request)
            except ValueError:
                connection.send(GameAccept(name, NOT_THIS_GAME))
                continue
            accept_game(connection, name, start.turn == request.follower)
        except EngineError:
            return
        board = Board.from_position(
            *start,
            max_moves=request.moves or None,
            repetition=REPETITION,
            no_progress=NO_PROGRESS,
        )
        begin_game(agent, rng)
        game = play_dxp_game(connection, agent, board, request.follower, request.minutes, timeout)
        yield game
        if game.error:
            return


def challenge(
    agent: Agent,
    address: DxpAddress = DxpAddress(),  # noqa: B008 - immutable
    *,
    games: int = 2,
    minutes: int = 0,
    moves: int = 100,
    report: Callable[[DxpGame], None] = lambda game: None,
    rng: np.random.Generator | None = None,
) -> list[DxpGame]:
    """Play a program that listens, as the initiator, with Black and White in turn.

    The games end early when the program refuses one or makes a fault.

    Parameters
    ----------
    agent
        The player.
    address
        The address of the program.
    games
        Number of games.
    minutes, moves
        Limits of each side in a game; 0 for none.
    report
        Called after each game.
    rng
        Generator for the games of an agent that has ``new_game(rng)``.

    Returns
    -------
    The games.

    Raises
    ------
    EngineError
        When the program cannot be reached or refuses the first game.
    ValueError
        For less than one game.
    """
    _check(games)
    results: list[DxpGame] = []
    rng = rng or np.random.default_rng()
    name = fit_name(getattr(agent, "name", type(agent).__name__))
    connection = open_connection(*address)
    try:
        for number in range(games):
            board = Board(max_moves=moves or None, repetition=REPETITION, no_progress=NO_PROGRESS)
            colour = (BLACK, WHITE)[number % 2]
            squares = write_squares(board)
            request = GameRequest(name, 1 - colour, minutes, moves, board.turn, squares)
            try:
                request_game(connection, request, address.timeout)
            except EngineError:
                if not results:
                    raise
                break
            begin_game(agent, rng)
            results.append(
                play_dxp_game(connection, agent, board, colour, minutes, address.timeout)
            )
            report(results[-1])
            if results[-1].error:
                break
    finally:
        connection.close()
    return results


def _check(games: int | None) -> None:
    if games is not None and games < 1:
        raise ValueError(f"games must be at least 1, not {games}")


def play_dxp_game(
    connection: DxpConnection, agent: Agent, board: Board, colour: int, minutes: int, timeout: float
) -> DxpGame:
    """Play a game that both sides have accepted.

    Parameters
    ----------
    connection
        The connection.
    agent
        The player; its ``game_over(board, side)`` is called at the end, if there is one.
    board
        The first position, with the draw rules.
    colour
        The agent's side.
    minutes
        The other program's time for the game; 0 for no limit.
    timeout
        Seconds to wait for a message.
    """
    outcome, used_seconds, error_text = None, 0.0, ""
    try:
        while True:
            outcome = outcome or board.outcome()
            if board.turn == colour:
                if minutes and used_seconds > 60 * minutes:
                    outcome = outcome or Outcome(colour, "time")
                if outcome:
                    end_game(connection, end_reason(outcome, colour), timeout)
                    break
                start = time.monotonic()
                move = check_move(agent.act(board.copy()), board)
                board.push(move)
                send_move(connection, move, time.monotonic() - start)
            else:
                start = time.monotonic()
                board.push(receive_move(connection, board, timeout))
                used_seconds += time.monotonic() - start
    except GameEndedError as end:
        outcome = outcome or _outcome_of_claim(end.claim, agent, board, colour)
    except EngineError as error:
        error_text = str(error)
    if outcome and hasattr(agent, "game_over"):
        agent.game_over(board.copy(), colour)
    return DxpGame(board, colour, connection.peer, outcome, error_text)


def _outcome_of_claim(claim: str, agent: Agent, board: Board, colour: int) -> Outcome | None:
    """Return the outcome when the other program ends a game that the rules have not ended.

    It loses, unless it claims nothing, or a draw that our agent accepts.
    """
    if claim == "loss":
        return Outcome(colour, "resignation")
    if claim == "draw" and accepts_draw(agent, board):
        return Outcome(None, "draw agreed")
    return Outcome(colour, f"refused claim of a {claim}") if claim in ("draw", "win") else None
