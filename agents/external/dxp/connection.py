"""A DXP connection and the steps of a game that both sides share."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import NamedTuple, NoReturn

from agents.external.channel import Channel, ChannelClosedError, shut_down
from agents.external.dxp import messages as dxp
from checkers_env.board import Board, Outcome
from checkers_env.errors import EngineError, GameEndedError
from checkers_env.moves import Move, format_moves

TIMEOUT = 600.0  # seconds
MAX_SECONDS = 9999  # longest time of a move in a message
PAUSE_SECONDS = 0.1
LARGEST_PORT, LONGEST_TIMEOUT = 65_535, 1_000_000
CLAIMS = {dxp.NO_REASON: "nothing", dxp.RESIGNS: "loss", dxp.DRAW: "draw", dxp.WINS: "win"}
REFUSALS = {
    dxp.OTHER_VERSION: "speaks another version of DXP",
    dxp.NOT_THIS_GAME: "refuses this game",
    dxp.NO_GAME: "wants to play no game",
}


class DxpAddress(NamedTuple):
    """An address, and the seconds to wait for a message there."""

    host: str = dxp.HOST
    port: int = dxp.PORT
    timeout: float = TIMEOUT

    def __str__(self) -> str:
        return f"{self.host} port {self.port}"

    def check(self, listens: bool) -> None:
        """Raise ValueError for an address or a time-out that no connection can have.

        An empty host would let other machines connect. Port 0, to listen on, is any free one.
        """
        if not self.host:
            raise ValueError("host must be a name or a number such as 127.0.0.1, not empty")
        least = 0 if listens else 1
        if not least <= self.port <= LARGEST_PORT:  # a larger one would become another one
            raise ValueError(f"port must be {least} to {LARGEST_PORT}, not {self.port}")
        if not 0 < self.timeout <= LONGEST_TIMEOUT:
            seconds = f"above 0 and at most {LONGEST_TIMEOUT:,} seconds"
            raise ValueError(f"timeout must be {seconds}, not {self.timeout}")

    def listen(self) -> socket.socket:
        """Return a listening socket. Raise EngineError for a port in use."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family, backlog=1)
        except (OSError, OverflowError) as error:
            raise EngineError(f"cannot listen on {self}: {error}") from error

    def connect(self, name: str) -> DxpConnection:
        """Connect to a program that listens. Raise EngineError when none does."""
        try:
            tcp = socket.create_connection((self.host, self.port), timeout=self.timeout)
        except (OSError, OverflowError) as error:
            raise EngineError(f"cannot connect to {self}: {error}") from error
        return DxpConnection(tcp, name, self.timeout)

    def accept(
        self, listener: socket.socket, name: str, seconds: float | None = None
    ) -> DxpConnection:
        """Wait for a program to connect, `seconds` at most."""
        listener.settimeout(seconds)
        try:
            return DxpConnection(listener.accept()[0], name, self.timeout)
        except TimeoutError:
            raise EngineError(f"nobody connected in {seconds:g} seconds") from None
        except OSError as error:
            raise EngineError(f"cannot listen any more: {error}") from error


class DxpConnection:
    """A connection to another program, and the steps of a game. Every failure raises EngineError.

    `name` is ours. Each message is waited for `timeout` seconds, or as long as a method is told.
    """

    def __init__(self, tcp: socket.socket, name: str, timeout: float) -> None:
        with suppress(OSError):  # a closed connection fails later, when it is used
            tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tcp = tcp
        self._channel = Channel(tcp, tcp, b"\0", dxp.MAX_LENGTH)
        self._name, self._timeout = name, timeout
        self.peer = "the other program"
        self._start_clock(0)

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def interrupt(self) -> None:
        """End the connection from another thread; a wait for a message then raises EngineError."""
        shut_down(self._tcp)

    def send(self, message: dxp.Message) -> None:
        """Send a message."""
        try:
            self._channel.send(dxp.encode(message))
        except ChannelClosedError as error:
            raise EngineError(f"{self.peer} {error}") from None

    def receive(self, most: float | None = None, since: float | None = None) -> dxp.Message:
        """Return the next message about the game, in `most` seconds at most from now, or `since`.

        dxp.Chat is ignored. A request to take moves back is refused.
        """
        seconds = min(self._timeout, most or self._timeout)
        end = (since or time.monotonic()) + seconds
        while True:
            try:
                data = self._channel.receive(end)
                if len(data) > dxp.MAX_LENGTH:
                    raise ValueError(f"more than {dxp.MAX_LENGTH} characters")
                message = dxp.decode(data)
            except TimeoutError:
                raise EngineError(f"{self.peer} did not answer in {seconds:g} seconds") from None
            except ChannelClosedError as error:
                raise EngineError(f"{self.peer} {error}") from None
            except ValueError as error:
                raise EngineError(f"{self.peer} sent nonsense: {error}") from error
            if isinstance(message, dxp.BackRequest):
                self.send(dxp.BackAccept(dxp.BACK_REFUSED))
            elif not isinstance(message, dxp.Chat | dxp.BackAccept):
                return message

    def request_game(self, follower: int, minutes: int, moves: int, start: Board) -> None:
        """Request a game from a position, and wait for the other side to accept it."""
        self.send(dxp.GameRequest(self._name, follower, minutes, moves, dxp.write_start(start)))
        answer = self.receive()
        if not isinstance(answer, dxp.GameAccept):
            self._raise_unexpected(answer, "an answer to the request for a game")
        self.peer = dxp.fit_name(answer.name) or self.peer
        if answer.code != dxp.ACCEPTED:
            how = f"answers the request for a game with code {answer.code}"
            raise EngineError(f"{self.peer} {REFUSALS.get(answer.code, how)}")
        self._start_clock(minutes)

    def wait_for_request(self, most: float | None = None) -> dxp.GameRequest:
        """Return the request for a game that comes in time, whatever is sent before it.

        Requests of other versions of the protocol are refused.
        """
        began = time.monotonic()
        while True:
            request = self.receive(most, began)
            if isinstance(request, dxp.GameEnd):
                if request.stop == dxp.NO_MORE_GAMES:
                    raise EngineError(f"{self.peer} wants no further game")
                continue
            if not isinstance(request, dxp.GameRequest):
                self._raise_unexpected(request, "a request for a game")
            self.peer = dxp.fit_name(request.name) or self.peer
            if request.version == dxp.VERSION:
                return request
            self.refuse_game(dxp.OTHER_VERSION)

    def refuse_game(self, code: int = dxp.NOT_THIS_GAME) -> None:
        """Refuse the requested game."""
        self.send(dxp.GameAccept(self._name, code))

    def accept_game(self, request: dxp.GameRequest, we_move: bool) -> None:
        """Accept the requested game, in which we have the first move or not."""
        self.send(dxp.GameAccept(self._name, dxp.ACCEPTED))
        if we_move:
            time.sleep(PAUSE_SECONDS)  # pydraughts 0.6.7 reads two messages at once as one
        self._start_clock(request.minutes)

    def send_move(self, move: Move) -> None:
        """Send a move, and the time since the game's start or the other side's move."""
        seconds = min(round(time.monotonic() - self._turn_began), MAX_SECONDS)
        self.send(dxp.MoveMessage(seconds, move.squares[0], move.squares[-1], move.captured))

    def receive_move(self, board: Board, most: float | None = None) -> Move:
        """Return the other side's move in a position. Raise GameEndedError if it ends the game."""
        began = time.monotonic()
        message = self.receive(most)
        self._turn_began = time.monotonic()
        self._used_seconds += self._turn_began - began
        if isinstance(message, dxp.GameEnd):
            self.send(dxp.GameEnd(dxp.NO_REASON, message.stop))
            claim = CLAIMS.get(message.reason, "nothing")
            raise GameEndedError(f"{self.peer} ended the game and claims {claim}", claim)
        if not isinstance(message, dxp.MoveMessage):
            self._raise_unexpected(message, "a move")
        for move in board.legal_moves:
            ends = (move.squares[0], move.squares[-1])
            if ends == (message.start, message.end) and set(move.captured) == set(message.captured):
                return move  # two such routes lead to the same position
        captures = f" capturing {', '.join(map(str, message.captured))}" if message.captured else ""
        raise EngineError(
            f"{self.peer} played {message.start}-{message.end}{captures}, illegal in "
            f"{board.fen()}: the legal moves are {format_moves(board.legal_moves)}"
        )

    def end_game(self, reason: int, stop: int = dxp.LATER_GAMES, most: float | None = None) -> None:
        """End the game at our turn, and wait for the confirmation."""
        self.send(dxp.GameEnd(reason, stop))
        answer = self.receive(most)
        if not isinstance(answer, dxp.GameEnd):
            self._raise_unexpected(answer, "the end of the game to be confirmed")

    @property
    def has_used_its_time(self) -> bool:
        """Whether the other side has used more than its minutes for the game."""
        return bool(self.minutes) and self._used_seconds > 60 * self.minutes

    def _start_clock(self, minutes: int) -> None:
        self.minutes, self._used_seconds, self._turn_began = minutes, 0.0, time.monotonic()

    def _raise_unexpected(self, message: dxp.Message, expected: str) -> NoReturn:
        raise EngineError(f"{self.peer} sent {message!r} instead of {expected}")


def end_reason(outcome: Outcome | None, colour: int) -> int:
    """Return the GAMEEND reason of the side `colour`."""
    if outcome is None:
        return dxp.NO_REASON
    if outcome.winner is None:
        return dxp.DRAW
    return dxp.WINS if outcome.winner == colour else dxp.RESIGNS
