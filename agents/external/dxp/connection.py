"""A DXP connection, and the steps of a game that both of its ends take."""

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
    LONGEST,
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
    MoveMade,
    decode,
    encode,
    fitting,
)
from agents.external.errors import EngineError, GameEndedError
from checkers_env.board import Board, Outcome
from checkers_env.moves import Move, format_moves

MOST_SECONDS = 9999  # that a move may be said to have taken
PAUSE = 0.1  # seconds
SEND_SECONDS = 10.0  # a program that reads nothing is given up
CLAIMS = {NO_REASON: "nothing", RESIGNS: "loss", DRAW: "draw", WINS: "win"}
REFUSALS = {
    OTHER_VERSION: "speaks another version of DXP",
    NOT_THIS_GAME: "refuses this game",
    NO_GAME: "wants to play no game",
}


class Link:
    """A connection to another program; every failure of its raises EngineError."""

    def __init__(self, connection: socket.socket) -> None:
        with suppress(OSError):  # it may be closed already: sending or receiving will say so
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        self._received = b""
        self.peer = "the other program"

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def send(self, message: Message) -> None:
        """Send a message."""
        try:
            self._connection.settimeout(SEND_SECONDS)
            self._connection.sendall(encode(message) + b"\0")
        except OSError as error:
            raise EngineError(f"{self.peer} cannot be reached any more: {error}") from error

    def receive(self, seconds: float) -> Message:
        """The next message, within `seconds`, that is about the game.

        Chat is passed over, and a wish to take moves back is refused.
        """
        end = time.monotonic() + seconds
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
            if len(self._received) > LONGEST:
                raise EngineError(f"{self.peer} sent nonsense: more than {LONGEST} characters")
            left = end - time.monotonic()
            try:
                if left <= 0:
                    raise TimeoutError
                self._connection.settimeout(left)
                data = self._connection.recv(1024)
            except TimeoutError:
                raise EngineError(f"{self.peer} did not answer in {seconds:g} seconds") from None
            except OSError as error:
                raise EngineError(f"{self.peer} cannot be reached any more: {error}") from error
            if not data:
                raise EngineError(f"{self.peer} hung up")
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        return message


def address(host: str, port: int) -> str:
    """How messages to people call an address."""
    return f"{host} port {port}"


def open_port(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises EngineError, as for a port in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1)
    except (OSError, OverflowError) as error:
        raise EngineError(f"cannot listen on {address(host, port)}: {error}") from error


def accept(listener: socket.socket, seconds: float | None) -> Link:
    """Wait for a program to connect, for at most `seconds`."""
    listener.settimeout(seconds)
    try:
        return Link(listener.accept()[0])
    except TimeoutError:
        raise EngineError(f"nobody connected in {seconds:g} seconds") from None
    except OSError as error:
        raise EngineError(f"cannot listen any more: {error}") from error


def call(host: str, port: int, seconds: float) -> Link:
    """Connect to a program that listens."""
    try:
        connection = socket.create_connection((host, port), timeout=seconds)
    except (OSError, OverflowError) as error:
        raise EngineError(f"cannot connect to {address(host, port)}: {error}") from error
    return Link(connection)


def ask_for_game(link: Link, request: GameRequest, seconds: float) -> None:
    """Ask for a game; return when it is accepted."""
    link.send(request)
    answer = link.receive(seconds)
    if not isinstance(answer, GameAccept):
        unexpected(link, answer, "an answer to the request for a game")
    link.peer = fitting(answer.name) or link.peer
    if answer.code != ACCEPTED:
        how = REFUSALS.get(answer.code, f"answers the request for a game with code {answer.code}")
        raise EngineError(f"{link.peer} {how}")


def wait_for_request(link: Link, name: str, seconds: float) -> GameRequest:
    """The next request for a game; one of another version of the protocol is refused."""
    while True:
        request = link.receive(seconds)
        if isinstance(request, GameEnd):
            if request.stop == NO_MORE_GAMES:
                raise EngineError(f"{link.peer} wants no further game")
            continue
        if not isinstance(request, GameRequest):
            unexpected(link, request, "a request for a game")
        link.peer = fitting(request.name) or link.peer
        if request.version == VERSION:
            return request
        link.send(GameAccept(name, OTHER_VERSION))


def accept_game(link: Link, name: str, we_move: bool) -> None:
    """Accept the game that was asked for."""
    link.send(GameAccept(name, ACCEPTED))
    if we_move:
        time.sleep(PAUSE)  # pydraughts 0.6.7 takes two messages that arrive together for one


def send_move(link: Link, move: Move, seconds: float = 0) -> None:
    """Send a move that took `seconds`."""
    shown = min(round(seconds), MOST_SECONDS)
    link.send(MoveMade(shown, move.squares[0], move.squares[-1], move.captured))


def receive_move(link: Link, board: Board, seconds: float) -> Move:
    """The other side's move on `board`. Raises GameEndedError if it ends the game instead."""
    message = link.receive(seconds)
    if isinstance(message, GameEnd):
        with suppress(EngineError):  # it may have hung up at once
            link.send(GameEnd(NO_REASON, message.stop))
        claim = CLAIMS.get(message.reason, "nothing")
        raise GameEndedError(f"{link.peer} ended the game and claims {claim}", claim)
    if not isinstance(message, MoveMade):
        unexpected(link, message, "a move")
    for move in board.legal_moves:
        ends = (move.squares[0], move.squares[-1])
        if ends == (message.start, message.end) and set(move.captured) == set(message.captured):
            return move  # of two such routes either leads to the same position
    captures = f" capturing {', '.join(map(str, message.captured))}" if message.captured else ""
    raise EngineError(
        f"{link.peer} played {message.start}-{message.end}{captures}, illegal in {board.fen()}: "
        f"the legal moves are {format_moves(board.legal_moves)}"
    )


def end_game(link: Link, reason: int, seconds: float, stop: int = LATER_GAMES) -> None:
    """End the game where it is our turn, and wait until that is confirmed."""
    link.send(GameEnd(reason, stop))
    answer = link.receive(seconds)
    if not isinstance(answer, GameEnd):
        unexpected(link, answer, "the end of the game to be confirmed")


def reason_of(outcome: Outcome | None, colour: int) -> int:
    """The reason for which `colour` ends a game."""
    if outcome is None:
        return NO_REASON
    if outcome.winner is None:
        return DRAW
    return WINS if outcome.winner == colour else RESIGNS


def unexpected(link: Link, message: Message, awaited: str) -> NoReturn:
    """Raise EngineError for a message that has no place here."""
    raise EngineError(f"{link.peer} sent {message!r} instead of {awaited}")
