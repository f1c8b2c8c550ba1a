"""Programs that speak DXP as opponents: agents whose moves come over a connection."""

from __future__ import annotations

import time

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
    NO_MORE_GAMES,
    NO_REASON,
    NOT_THIS_GAME,
    PORT,
    GameAccept,
    GameRequest,
    position_of,
    squares_of,
)
from agents.external.errors import EngineError, GameEndedError
from checkers_env.board import Board
from checkers_env.moves import Move

NAME = "Checkers laboratory"
FAREWELL = 2.0  # seconds for the program to say that it takes a game for ended
MOST_MOVES = 999  # that a request can name


class Opponent:
    """A program that speaks DXP, as an agent.

    A game is agreed on when :meth:`act` meets a board that does not go on from the last one. It
    begins with the position before the last move, which is then sent, so that openings work. What
    the program does wrong raises EngineError, and that it ends the game GameEndedError; a later
    game takes a new connection where the old one is of no more use.

    Parameters
    ----------
    listens
        Wait to be called, and for requests for exactly the games that are to be played; otherwise
        call the program and make the requests.
    minutes
        The program's time for a game, 0 for no limit; one that listens takes what is asked for.
    seconds
        What to wait for a move, an answer or a connection before the program counts as stalled.

    Raises EngineError when the port to listen on cannot be had, ValueError for a senseless time.
    """

    def __init__(
        self, host: str, port: int, *, listens: bool, minutes: int = 0, seconds: float = 60.0
    ) -> None:
        if not seconds > 0:
            raise ValueError(f"seconds must be more than 0, not {seconds}")
        self._listener = open_port(host, port) if listens else None
        self.host = host
        self.port: int = self._listener.getsockname()[1] if self._listener else port
        self.name = f"dxp {host} {self.port}"
        self.minutes = minutes
        self.seconds = seconds
        self._link: Link | None = None
        self._known: Board | None = None  # the game after the program's last move
        self._used = 0.0  # of its time
        self._replied = 0.0

    def act(self, board: Board) -> Move:
        """The program's move. Raises ValueError when there is none."""
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        try:
            link = self._brought_up_to(board)
            begun = time.monotonic()
            move = receive_move(link, board, self.seconds)
        except GameEndedError:
            self._known = None
            raise
        except BaseException:  # Ctrl-C too, after which its answer is still to come
            self._hang_up()
            raise
        self._replied = time.monotonic()
        self._used += self._replied - begun
        if self.minutes and self._used > 60 * self.minutes:
            self._hang_up()
            raise EngineError(f"{link.peer} has used more than its {self.minutes} minutes")
        self._known = board.copy()
        self._known.push(move)
        return move

    def game_over(self, board: Board, side: int) -> None:
        """Tell the program, which played `side`, the last move if it was ours, and the result.

        Without this it only learns that the game is over, when the next one begins or at the end.
        """
        if self._link and self._known:
            reason = reason_of(board.outcome(), 1 - side)
            wait = min(self.seconds, FAREWELL)
            try:
                if _goes_on(self._known, board):
                    send_move(self._link, board.moves[-1], time.monotonic() - self._replied)
                    receive_move(self._link, board, wait)
                end_game(self._link, reason, wait)
            except GameEndedError:
                pass
            except EngineError:
                self._hang_up()
        self._known = None

    def close(self) -> None:
        """End the game, if there is one, and hang up."""
        self._end_game(NO_MORE_GAMES)
        self._hang_up()
        if self._listener:
            self._listener.close()

    def _brought_up_to(self, board: Board) -> Link:
        """The connection, when the program has been told of `board` and is to move."""
        if self._link and self._known and _goes_on(self._known, board):
            send_move(self._link, board.moves[-1], time.monotonic() - self._replied)
            return self._link
        self._end_game()
        self._used = 0.0
        if self._link:
            try:
                self._agree_on(board, self._link)
                return self._link
            except EngineError:
                self._hang_up()
        if self._listener:
            self._link = accept(self._listener, self.seconds)
        else:
            self._link = call(self.host, self.port, self.seconds)
        self._agree_on(board, self._link)
        return self._link

    def _agree_on(self, board: Board, link: Link) -> None:
        """Begin a game with the position before the last move, and send that move."""
        before = board.copy()
        if board.moves:
            before.pop()
        if self._listener:
            has_it = self._agree_to_request(board, before, link)
        else:
            max_moves = board.rules.max_moves
            moves = 0 if max_moves is None else max_moves - before.ply // 2
            limits = (self.minutes, min(moves, MOST_MOVES))
            squares = squares_of(before)
            request = GameRequest(NAME, board.turn, *limits, before.turn, squares)
            ask_for_game(link, request, self.seconds)
            has_it = not board.moves
        if not has_it:
            send_move(link, board.moves[-1])

    def _agree_to_request(self, board: Board, before: Board, link: Link) -> bool:
        """Accept the request for this game; return whether it is from the last move on."""
        request = wait_for_request(link, NAME, self.seconds)
        try:
            position = position_of(request)
            if request.follower == board.turn or position not in (board.position, before.position):
                raise ValueError("it is another one")
        except ValueError as error:
            link.send(GameAccept(NAME, NOT_THIS_GAME))
            raise EngineError(
                f"{link.peer} asks for a game that cannot be {board.fen()} with itself to move: "
                f"{error}"
            ) from None
        self.minutes = request.minutes
        has_it = position == board.position
        accept_game(link, NAME, not has_it)
        return has_it

    def _end_game(self, *stop: int) -> None:
        """End the game that is going on, where we are to move; it does not matter any more."""
        if self._link and self._known:
            try:
                end_game(self._link, NO_REASON, self.seconds, *stop)
            except EngineError:
                self._hang_up()
        self._known = None

    def _hang_up(self) -> None:
        if self._link:
            self._link.close()
        self._link = self._known = None


def _goes_on(known: Board, board: Board) -> bool:
    """Whether `board` is `known` and one more move."""
    if board.moves[:-1] != known.moves or len(board.moves) == len(known.moves):
        return False
    before = board.copy()
    before.pop()
    return before == known


def connect(
    host: str = HOST, port: int = PORT, *, minutes: int = 0, seconds: float = 60.0
) -> Opponent:
    """A program that listens, as an agent: parameters as for :class:`Opponent`."""
    return Opponent(host, port, listens=False, minutes=minutes, seconds=seconds)


def listen(host: str = HOST, port: int = PORT, *, seconds: float = 60.0) -> Opponent:
    """A program that calls us, as an agent: parameters as for :class:`Opponent`."""
    return Opponent(host, port, listens=True, seconds=seconds)
