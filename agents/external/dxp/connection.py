"""A DXP connection and the steps of a game that both sides share."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import NoReturn

from agents.external.dxp.messages import (
    ACCEPTED,
    BACK_REFUSED,
    DRAW,
    LATER_GAMES,
    MAX_LENGTH,
    NO_GAME,
    NO_MORE_GAMES,
    NO_REASON,
    NOT_THIS_GAME,
    OTHER_VERSION,
    RESIGNS,
    VERSION,
    WINS,
    BackAccept,
    BackRequest,
    Chat,
    GameAccept,
    GameEnd,
    GameRequest,
    Message,
    MoveMessage,
    decode,
    encode,
    fit_name,
)
from agents.external.errors import EngineError, GameEndedError
from agents.external.sockets import shut_down
from checkers_env.board import Board, Outcome
from checkers_env.moves import Move, format_moves

MAX_SECONDS = 9999  # longest time of a move in a message
PAUSE_SECONDS = 0.1
SEND_SECONDS = 10.0
LARGEST_PORT, LONGEST_TIMEOUT = 65_535, 1_000_000
CLAIMS = {NO_REASON: "nothing", RESIGNS: "loss", DRAW: "draw", WINS: "win"}
REFUSALS = {
    OTHER_VERSION: "speaks another version of DXP",
    NOT_THIS_GAME: "refuses this game",
    NO_GAME: "wants to play no game",
}


class DxpConnection:
    """A connection to another program. Every failure raises EngineError."""

    def __init__(self, tcp: socket.socket) -> None:
        with suppress(OSError):  # a closed connection fails later, when it is used
            tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tcp = tcp
        self._received = b""
        self.peer = "the other program"

    def close(self) -> None:
        """Close the connection."""
        self._tcp.close()

    def interrupt(self) -> None:
        """End the connection from another thread; a wait for a message then raises EngineError."""
        shut_down(self._tcp)

    def send(self, message: Message) -> None:
        """Send a message."""
        try:
            self._tcp.settimeout(SEND_SECONDS)
            self._tcp.sendall(encode(message) + b"\0")
        except OSError as error:
            raise EngineError(f"{self.peer} cannot be reached any more: {error}") from error

    def receive(self, seconds: float, end: float | None = None) -> Message:
        """Return the next message about the game.

        Chat is ignored. A request to take moves back is refused.

        Parameters
        ----------
        seconds
            Time for the message.
        end
            When this time is over, by :func:`time.monotonic`, if it began before.

        Raises
        ------
        EngineError
            If there is none in time, or the connection fails.
        """
        end = time.monotonic() + seconds if end is None else end
        while True:
            data = self._read(end, seconds)
            try:
                message = decode(data)
            except ValueError as error:
                raise EngineError(f"{self.peer} sent nonsense: {error}") from error
            if isinstance(message, BackRequest):
                self.send(BackAccept(BACK_REFUSED))
            elif not isinstance(message, Chat | BackAccept):
                return message

    def _read(self, end: float, seconds: float) -> bytes:
        while b"\0" not in self._received:
            if len(self._received) > MAX_LENGTH:
                raise EngineError(f"{self.peer} sent nonsense: more than {MAX_LENGTH} characters")
            left = end - time.monotonic()
            try:
                if left <= 0:
                    raise TimeoutError
                self._tcp.settimeout(left)
                data = self._tcp.recv(1024)
            except TimeoutError:
                raise EngineError(f"{self.peer} did not answer in {seconds:g} seconds") from None
            except OSError as error:
                raise EngineError(f"{self.peer} cannot be reached any more: {error}") from error
            if not data:
                raise EngineError(f"{self.peer} hung up")
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        return message


def format_address(host: str, port: int) -> str:
    """Return an address for messages to people."""
    return f"{host} port {port}"


def check_address(host: str, port: int, timeout: float, *, listens: bool) -> None:
    """Raise ValueError for an address or a time-out that no connection can have.

    Parameters
    ----------
    host
        Name or number of a machine. Empty, it would let other machines connect.
    port
        1 to 65535; to listen also 0, any free port.
    timeout
        Seconds, above 0 and at most 1,000,000.
    listens
        Whether programs connect to the address.
    """
    if not host:
        raise ValueError("host must be a name or a number, such as 127.0.0.1, not an empty text")
    least = 0 if listens else 1
    if not least <= port <= LARGEST_PORT:  # a larger one would become another one
        raise ValueError(f"port must be {least} to {LARGEST_PORT}, not {port}")
    if not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout}")
    if timeout > LONGEST_TIMEOUT:
        raise ValueError(f"timeout must be at most {LONGEST_TIMEOUT:,} seconds, not {timeout}")


def open_listener(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 is any free one. Raise EngineError for a port in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1)
    except (OSError, OverflowError) as error:
        raise EngineError(f"cannot listen on {format_address(host, port)}: {error}") from error


def accept_connection(listener: socket.socket, seconds: float | None) -> DxpConnection:
    """Wait at most `seconds` for a program to connect."""
    listener.settimeout(seconds)
    try:
        return DxpConnection(listener.accept()[0])
    except TimeoutError:
        raise EngineError(f"nobody connected in {seconds:g} seconds") from None
    except OSError as error:
        raise EngineError(f"cannot listen any more: {error}") from error


def open_connection(host: str, port: int, seconds: float) -> DxpConnection:
    """Connect to a program that listens.

    Parameters
    ----------
    host, port
        Address of the program.
    seconds
        Time to connect.

    Raises
    ------
    EngineError
        If the connection fails.
    """
    try:
        client = socket.create_connection((host, port), timeout=seconds)
    except (OSError, OverflowError) as error:
        raise EngineError(f"cannot connect to {format_address(host, port)}: {error}") from error
    return DxpConnection(client)


def request_game(connection: DxpConnection, request: GameRequest, seconds: float) -> None:
    """Request a game and wait until it is accepted.

    Parameters
    ----------
    connection
        The connection.
    request
        The request.
    seconds
        Time for the answer.

    Raises
    ------
    EngineError
        If the other side refuses.
    """
    connection.send(request)
    answer = connection.receive(seconds)
    if not isinstance(answer, GameAccept):
        raise_unexpected(connection, answer, "an answer to the request for a game")
    connection.peer = fit_name(answer.name) or connection.peer
    if answer.code != ACCEPTED:
        how = REFUSALS.get(answer.code, f"answers the request for a game with code {answer.code}")
        raise EngineError(f"{connection.peer} {how}")


def wait_for_request(connection: DxpConnection, name: str, seconds: float) -> GameRequest:
    """Return the next request for a game; refuse other versions of the protocol.

    Parameters
    ----------
    connection
        The connection.
    name
        Our name, for refusals.
    seconds
        Time for the request, whatever is sent before it.

    Raises
    ------
    EngineError
        If the other side wants no further game, or requests none in time.
    """
    end = time.monotonic() + seconds
    while True:
        request = connection.receive(seconds, end)
        if isinstance(request, GameEnd):
            if request.stop == NO_MORE_GAMES:
                raise EngineError(f"{connection.peer} wants no further game")
            continue
        if not isinstance(request, GameRequest):
            raise_unexpected(connection, request, "a request for a game")
        connection.peer = fit_name(request.name) or connection.peer
        if request.version == VERSION:
            return request
        connection.send(GameAccept(name, OTHER_VERSION))


def accept_game(connection: DxpConnection, name: str, we_move: bool) -> None:
    """Accept the requested game.

    Parameters
    ----------
    connection
        The connection.
    name
        Our name.
    we_move
        Whether we have the first move.
    """
    connection.send(GameAccept(name, ACCEPTED))
    if we_move:
        time.sleep(PAUSE_SECONDS)  # pydraughts 0.6.7 reads two messages at once as one


def send_move(connection: DxpConnection, move: Move, seconds: float = 0) -> None:
    """Send a move.

    Parameters
    ----------
    connection
        The connection.
    move
        The move.
    seconds
        Time that it took.
    """
    whole_seconds = min(round(seconds), MAX_SECONDS)
    connection.send(MoveMessage(whole_seconds, move.squares[0], move.squares[-1], move.captured))


def receive_move(connection: DxpConnection, board: Board, seconds: float) -> Move:
    """Return the other side's move.

    Parameters
    ----------
    connection
        The connection.
    board
        Position before the move.
    seconds
        Time for the move.

    Raises
    ------
    GameEndedError
        If the other side ends the game.
    EngineError
        If the move is illegal.
    """
    message = connection.receive(seconds)
    if isinstance(message, GameEnd):
        with suppress(EngineError):  # the connection may be closed already
            connection.send(GameEnd(NO_REASON, message.stop))
        claim = CLAIMS.get(message.reason, "nothing")
        raise GameEndedError(f"{connection.peer} ended the game and claims {claim}", claim)
    if not isinstance(message, MoveMessage):
        raise_unexpected(connection, message, "a move")
    for move in board.legal_moves:
        ends = (move.squares[0], move.squares[-1])
        if ends == (message.start, message.end) and set(move.captured) == set(message.captured):
            return move  # two such routes lead to the same position
    captures = f" capturing {', '.join(map(str, message.captured))}" if message.captured else ""
    raise EngineError(
        f"{connection.peer} played {message.start}-{message.end}{captures}, illegal in "
        f"{board.fen()}: the legal moves are {format_moves(board.legal_moves)}"
    )


def end_game(
    connection: DxpConnection, reason: int, seconds: float, stop: int = LATER_GAMES
) -> None:
    """End the game at our turn, and wait for the confirmation.

    Parameters
    ----------
    connection
        The connection.
    reason
        Reason of the GAMEEND message.
    seconds
        Time for the confirmation.
    stop
        Whether more games follow.
    """
    connection.send(GameEnd(reason, stop))
    answer = connection.receive(seconds)
    if not isinstance(answer, GameEnd):
        raise_unexpected(connection, answer, "the end of the game to be confirmed")


def end_reason(outcome: Outcome | None, colour: int) -> int:
    """Return the GAMEEND reason of the side `colour`."""
    if outcome is None:
        return NO_REASON
    if outcome.winner is None:
        return DRAW
    return WINS if outcome.winner == colour else RESIGNS


def raise_unexpected(connection: DxpConnection, message: Message, expected: str) -> NoReturn:
    """Raise EngineError for an unexpected message.

    Parameters
    ----------
    connection
        The connection.
    message
        The message.
    expected
        What was expected, for the error.
    """
    raise EngineError(f"{connection.peer} sent {message!r} instead of {expected}")
