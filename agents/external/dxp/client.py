"""DXP client: a program that speaks DXP as an agent."""

from __future__ import annotations

import time

from agents.external.dxp.connection import (
    DxpConnection,
    accept_connection,
    accept_game,
    check_address,
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
    NO_MORE_GAMES,
    NO_REASON,
    NOT_THIS_GAME,
    PORT,
    GameAccept,
    GameRequest,
    read_position,
    write_squares,
)
from agents.external.errors import EngineError, GameEndedError
from agents.external.sockets import shut_down
from checkers_env.board import Board
from checkers_env.moves import Move

NAME = "Checkers laboratory"
FAREWELL_SECONDS = 2.0  # for the confirmation of a game's end
MAX_MOVES = 999  # in a request


class DxpAgent:
    """A program that speaks DXP, as an agent.

    A game starts when :meth:`act` gets a board that does not continue the last one. It starts from
    the position before the last move, which is sent next; so openings work. A fault of the program
    raises EngineError. If the program ends the game, GameEndedError is raised. A later game opens a
    new connection where the old one is unusable.

    Parameters
    ----------
    host, port
        The address to listen on or to connect to.
    listens
        Wait for the program to connect and to request exactly the games to be played. Otherwise
        connect to the program and request the games.
    minutes
        The program's time for a game, 0 for no limit. With `listens` the request sets it.
    timeout
        Seconds to wait for a move, an answer or a connection.

    Raises
    ------
    EngineError
        When the port to listen on is in use.
    ValueError
        For an address or a timeout out of range.
    """

    def __init__(
        self, host: str, port: int, *, listens: bool, minutes: int = 0, timeout: float = 60.0
    ) -> None:
        check_address(host, port, timeout, listens=listens)
        self._listener = open_listener(host, port) if listens else None
        self.host = host
        self.port: int = self._listener.getsockname()[1] if self._listener else port
        self.name = f"dxp {host} {self.port}"
        self.minutes = minutes
        self.timeout = timeout
        self._connection: DxpConnection | None = None
        self._last_board: Board | None = None  # after the program's last move
        self._used_seconds = 0.0  # by the program, in this game
        self._reply_time = 0.0
        self._is_interrupted = False

    def act(self, board: Board) -> Move:
        """Return the program's move. Raise ValueError when there is none."""
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        try:
            connection = self._synchronise(board)
            start = time.monotonic()
            move = receive_move(connection, board, self.timeout)
        except GameEndedError:
            self._last_board = None
            raise
        except BaseException:  # after Ctrl-C, too: the answer is still to come
            self._close_connection()
            raise
        self._reply_time = time.monotonic()
        self._used_seconds += self._reply_time - start
        if self.minutes and self._used_seconds > 60 * self.minutes:
            self._close_connection()
            raise EngineError(f"{connection.peer} has used more than its {self.minutes} minutes")
        self._last_board = board.copy()
        self._last_board.push(move)
        return move

    def game_over(self, board: Board, side: int) -> None:
        """Send the last move, if it was the other side's, and the result of the game.

        Without this call the program learns only that the game is over, before the next one.

        Parameters
        ----------
        board
            The final position.
        side
            The program's side.
        """
        if self._connection and self._last_board:
            reason = end_reason(board.outcome(), 1 - side)
            wait = min(self.timeout, FAREWELL_SECONDS)
            try:
                if _is_next(self._last_board, board):
                    send_move(
                        self._connection, board.moves[-1], time.monotonic() - self._reply_time
                    )
                    receive_move(self._connection, board, wait)
                end_game(self._connection, reason, wait)
            except GameEndedError:
                pass
            except EngineError:
                self._close_connection()
        self._last_board = None

    def close(self) -> None:
        """End the game, if there is one, and close the connection."""
        self._end_game(NO_MORE_GAMES)
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
            send_move(self._connection, board.moves[-1], time.monotonic() - self._reply_time)
            return self._connection
        self._end_game()
        self._used_seconds = 0.0
        if self._connection:
            try:
                self._start_game(board, self._connection)
                return self._connection
            except EngineError:
                self._close_connection()
        if self._listener:
            self._check_interrupt()
            self._connection = accept_connection(self._listener, self.timeout)
        else:
            self._connection = open_connection(self.host, self.port, self.timeout)
        self._check_interrupt()
        self._start_game(board, self._connection)
        return self._connection

    def _start_game(self, board: Board, connection: DxpConnection) -> None:
        """Start a game from the position before the last move, and send that move."""
        before = board.copy()
        if board.moves:
            before.pop()
        if self._listener:
            has_last_move = self._accept_request(board, before, connection)
        else:
            max_moves = board.rules.max_moves
            moves = 0 if max_moves is None else max_moves - before.ply // 2
            limits = (self.minutes, min(moves, MAX_MOVES))
            squares = write_squares(before)
            request = GameRequest(NAME, board.turn, *limits, before.turn, squares)
            request_game(connection, request, self.timeout)
            has_last_move = not board.moves
        if not has_last_move:
            send_move(connection, board.moves[-1])

    def _accept_request(self, board: Board, before: Board, connection: DxpConnection) -> bool:
        """Accept the request for this game; return whether it starts after the last move."""
        request = wait_for_request(connection, NAME, self.timeout)
        try:
            position = read_position(request)
            if request.follower == board.turn or position not in (board.position, before.position):
                raise ValueError("it is another one")
        except ValueError as error:
            connection.send(GameAccept(NAME, NOT_THIS_GAME))
            raise EngineError(
                f"{connection.peer} asks for a game that cannot be {board.fen()} "
                f"with itself to move: {error}"
            ) from None
        self.minutes = request.minutes
        has_last_move = position == board.position
        accept_game(connection, NAME, not has_last_move)
        return has_last_move

    def _end_game(self, *stop: int) -> None:
        """End the current game without a result."""
        if self._connection and self._last_board:
            try:
                end_game(self._connection, NO_REASON, self.timeout, *stop)
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


def connect(
    host: str = HOST, port: int = PORT, *, minutes: int = 0, timeout: float = 60.0
) -> DxpAgent:
    """Return a program that listens as an agent.

    Parameters
    ----------
    host, port
        Address of the program.
    minutes, timeout
        As for :class:`DxpAgent`.
    """
    return DxpAgent(host, port, listens=False, minutes=minutes, timeout=timeout)


def listen(host: str = HOST, port: int = PORT, *, timeout: float = 60.0) -> DxpAgent:
    """Return a program that connects as an agent.

    Parameters
    ----------
    host, port
        Address to listen on.
    timeout
        As for :class:`DxpAgent`.
    """
    return DxpAgent(host, port, listens=True, timeout=timeout)
