"""Sessions of DXP games: another program as an agent, and games of an agent against programs."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import islice
from typing import NamedTuple

import numpy as np

from agents.agent import Agent, accepts_draw, begin_game, check_move
from agents.external.channel import shut_down
from agents.external.dxp import messages as dxp
from agents.external.dxp.connection import DxpAddress, DxpConnection, end_reason
from checkers_env.board import Board, Outcome
from checkers_env.errors import EngineError, GameEndedError
from checkers_env.movegen import BLACK, WHITE
from checkers_env.moves import Move
from checkers_env.state import DrawRules

NAME = "Checkers laboratory"
FAREWELL_SECONDS = 2.0  # for the confirmation of a game's end
FIRST_SECONDS = 10.0  # for the first request of a connection, which keeps all others waiting
MAX_MOVES = 999  # in a request
REPETITION, NO_PROGRESS = 3, 40  # end games without a limit of moves


class DxpAgent:
    """A program that speaks DXP, as an agent.

    If it `listens`, it waits for the program to connect and to request exactly the games to be
    played, with the program's `minutes`. Otherwise it connects and requests them. `timeout` is the
    seconds to wait for a move, an answer or a connection.

    A game starts when :meth:`act` gets a board that does not continue the last one. It starts from
    the position before the last move, which is sent next; so openings work. A fault of the program
    raises EngineError. If the program ends the game, GameEndedError is raised. A later game opens a
    new connection where the old one is unusable. A port in use is an EngineError, an address out of
    range a ValueError.
    """

    def __init__(
        self,
        host: str = dxp.HOST,
        port: int = dxp.PORT,
        *,
        listens: bool = False,
        minutes: int = 0,
        timeout: float = 60.0,
    ) -> None:
        address = DxpAddress(host, port, timeout)
        address.check(listens)
        if listens and minutes:
            raise ValueError("minutes has no effect where the other program requests the game")
        self._listener = address.listen() if listens else None
        port = self._listener.getsockname()[1] if self._listener else port
        self.address, self._minutes = address._replace(port=port), minutes
        self.name = f"dxp {host} {port}"
        self._connection: DxpConnection | None = None
        self._last_board: Board | None = None  # after the program's last move
        self._is_interrupted = False

    def act(self, board: Board) -> Move:
        """Return the program's move. Raise ValueError when there is none."""
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        try:
            connection = self._synchronise(board)
            move = connection.receive_move(board, self.address.timeout)
            if connection.has_used_its_time:
                limit = f"its {connection.minutes} minutes"
                raise EngineError(f"{connection.peer} has used more than {limit}")
        except GameEndedError:
            self._last_board = None
            raise
        except BaseException:  # after Ctrl-C, too: the answer is still to come
            self._close_connection()
            raise
        self._last_board = board.copy()
        self._last_board.push(move)
        return move

    def game_over(self, board: Board, side: int) -> None:
        """Send the last move, if it was the other side's, and the result for the program's side.

        Without this call the program learns only that the game is over, before the next one.
        """
        if self._connection and self._last_board:
            wait = min(self.address.timeout, FAREWELL_SECONDS)
            try:
                if _is_next(self._last_board, board):
                    self._connection.send_move(board.moves[-1])
                    self._connection.receive_move(board, wait)
                self._connection.end_game(end_reason(board.outcome(), 1 - side), wait)
            except GameEndedError:
                pass
            except EngineError:
                self._close_connection()
        self._last_board = None

    def close(self) -> None:
        """End the game, if there is one, and close the connection."""
        self._end_game(dxp.NO_MORE_GAMES)
        self._close_connection()
        if self._listener:
            self._listener.close()

    def interrupt(self) -> None:
        """End the game, from another thread; a move that is waited for raises EngineError.

        No later move is made.
        """
        self._is_interrupted = True
        if self._listener:
            shut_down(self._listener)
        if connection := self._connection:
            connection.interrupt()

    def _check_interrupt(self) -> None:
        if self._is_interrupted:
            raise EngineError(f"{self.name} was interrupted")

    def _synchronise(self, board: Board) -> DxpConnection:
        """Send the last move, or start a new game; return the connection."""
        if self._connection and self._last_board and _is_next(self._last_board, board):
            self._connection.send_move(board.moves[-1])
            return self._connection
        self._end_game()
        if self._connection:
            with suppress(EngineError):
                return self._start_game(board, self._connection)
            self._close_connection()
        self._check_interrupt()
        if self._listener:
            timeout = self.address.timeout
            self._connection = DxpConnection.accept(self._listener, NAME, timeout)
        else:
            self._connection = self.address.connect(NAME)
        self._check_interrupt()
        return self._start_game(board, self._connection)

    def _start_game(self, board: Board, connection: DxpConnection) -> DxpConnection:
        """Start a game from the position before the last move, and send that move."""
        before = board.copy()
        if board.moves:
            before.pop()
        if self._listener:
            has_last_move = self._accept_request(board, before, connection)
        else:
            max_moves = board.rules.max_moves
            moves = 0 if max_moves is None else max_moves - before.ply // 2
            limits = (self._minutes, min(moves, MAX_MOVES))
            request = dxp.GameRequest(NAME, board.turn, *limits, dxp.write_start(before))
            connection.request_game(request, self.address.timeout)
            has_last_move = not board.moves
        if not has_last_move:
            connection.send_move(board.moves[-1])
        return connection

    def _accept_request(self, board: Board, before: Board, connection: DxpConnection) -> bool:
        """Accept the request for this game; return whether it starts after the last move."""
        request = connection.wait_for_request(self.address.timeout)
        try:
            position = dxp.read_position(request)
            if request.follower == board.turn or position not in (board.position, before.position):
                raise ValueError("it is another one")
        except ValueError as error:
            connection.refuse_game()
            raise EngineError(
                f"{connection.peer} asks for a game that cannot be {board.fen()} "
                f"with itself to move: {error}"
            ) from None
        has_last_move = position == board.position
        connection.accept_game(request, not has_last_move)
        return has_last_move

    def _end_game(self, *stop: int) -> None:
        """End the current game without a result."""
        if self._connection and self._last_board:
            try:
                self._connection.end_game(dxp.NO_REASON, self.address.timeout, *stop)
            except EngineError:
                self._close_connection()
        self._last_board = None

    def _close_connection(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = self._last_board = None


def _is_next(last: Board, board: Board) -> bool:
    """Return whether `board` is `last` and one more move."""
    if board.moves[:-1] != last.moves or len(board.moves) == len(last.moves):
        return False
    before = board.copy()
    before.pop()
    return before == last


class DxpGame(NamedTuple):
    """A game of an agent against another program."""

    board: Board  # after the last move
    colour: int  # the agent's
    opponent: str
    outcome: Outcome | None
    error: str = ""  # that ended the connection


def serve(
    agent: Agent,
    address: DxpAddress = DxpAddress(),  # noqa: B008 - immutable
    games: int | None = None,
    rng: np.random.Generator | None = None,
) -> Iterator[DxpGame]:
    """Play programs that connect, and yield each game. None plays for ever.

    A fault of a program ends its connection only. An agent that has ``new_game(rng)`` gets its
    generators from `rng`. A port in use is an EngineError, less than one game a ValueError.
    """
    _check(games)
    with address.listen() as listener:
        played = _serve_for_ever(agent, listener, address.timeout, rng or np.random.default_rng())
        yield from islice(played, games)


def _serve_for_ever(
    agent: Agent, listener: socket.socket, timeout: float, rng: np.random.Generator
) -> Iterator[DxpGame]:
    while True:
        with closing(DxpConnection.accept(listener, _name_of(agent), None)) as connection:
            yield from _play_requests(connection, agent, timeout, rng)


def _play_requests(
    connection: DxpConnection, agent: Agent, timeout: float, rng: np.random.Generator
) -> Iterator[DxpGame]:
    """Play the requested games of a connection, and yield each."""
    patience = min(timeout, FIRST_SECONDS)
    while True:
        try:
            request = connection.wait_for_request(patience)
            patience = timeout
            try:
                start = dxp.read_position(request)
            except ValueError:
                connection.refuse_game()
                continue
            connection.accept_game(request, start.turn == request.follower)
        except EngineError:
            return
        rules = DrawRules(request.moves or None, REPETITION, NO_PROGRESS)
        board = Board.from_position(*start, rules=rules)
        begin_game(agent, rng)
        game = play_dxp_game(connection, agent, board, request.follower, timeout)
        yield game
        if game.error:
            return


def challenge(
    agent: Agent,
    address: DxpAddress = DxpAddress(),  # noqa: B008 - immutable
    games: int = 2,
    rng: np.random.Generator | None = None,
    *,
    minutes: int = 0,
    moves: int = 100,
) -> Iterator[DxpGame]:
    """Play a program that listens, with Black and White in turn, and yield each game.

    `minutes` and `moves` limit each side in a game; 0 is no limit. The games end early when the
    program refuses one or makes a fault. EngineError is raised when it cannot be reached or refuses
    the first game. The rest is as for :func:`serve`.
    """
    _check(games)
    rng = rng or np.random.default_rng()
    name, rules = _name_of(agent), DrawRules(moves or None, REPETITION, NO_PROGRESS)
    with closing(address.connect(name)) as connection:
        for number in range(games):
            board, colour = Board(rules=rules), (BLACK, WHITE)[number % 2]
            request = dxp.GameRequest(name, 1 - colour, minutes, moves, dxp.write_start(board))
            try:
                connection.request_game(request, address.timeout)
            except EngineError:
                if not number:
                    raise
                return
            begin_game(agent, rng)
            game = play_dxp_game(connection, agent, board, colour, address.timeout)
            yield game
            if game.error:
                return


def _check(games: int | None) -> None:
    if games is not None and games < 1:
        raise ValueError(f"games must be at least 1, not {games}")


def _name_of(agent: Agent) -> str:
    return dxp.fit_name(getattr(agent, "name", type(agent).__name__))


def play_dxp_game(
    connection: DxpConnection, agent: Agent, board: Board, colour: int, timeout: float
) -> DxpGame:
    """Play a game from `board` that both sides have accepted; the agent has the side `colour`.

    An agent that has ``game_over(board, side)`` is told the end.
    """
    outcome, error_text = None, ""
    try:
        while True:
            outcome = outcome or board.outcome()
            if board.turn != colour:
                board.push(connection.receive_move(board, timeout))
                continue
            if connection.has_used_its_time:
                outcome = outcome or Outcome(colour, "time")
            if outcome:
                connection.end_game(end_reason(outcome, colour), timeout)
                break
            move = check_move(agent.act(board.copy()), board)
            board.push(move)
            connection.send_move(move)
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
