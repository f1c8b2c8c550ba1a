"""Sessions of DXP games: another program as an agent, and games of an agent against programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import cycle
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
            move = connection.receive_move(board)
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
        if self._connection and self._last_board and _is_next(self._last_board, board):
            try:
                self._connection.send_move(board.moves[-1])
                self._connection.receive_move(board, FAREWELL_SECONDS)
            except GameEndedError:
                self._last_board = None
            except EngineError:
                self._close_connection()
        self._end_game(end_reason(board.outcome(), 1 - side), most=FAREWELL_SECONDS)

    def close(self) -> None:
        """End the game, if there is one, and close the connection."""
        self._end_game(stop=dxp.NO_MORE_GAMES)
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
        if not self._is_interrupted:
            if self._listener:
                seconds = self.address.timeout
                self._connection = self.address.accept(self._listener, NAME, seconds)
            else:
                self._connection = self.address.connect(NAME)
        if self._is_interrupted or not self._connection:
            raise EngineError(f"{self.name} was interrupted")
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
            connection.request_game(board.turn, *limits, before)
            has_last_move = not board.moves
        if not has_last_move:
            connection.send_move(board.moves[-1])
        return connection

    def _accept_request(self, board: Board, before: Board, connection: DxpConnection) -> bool:
        """Accept the request for this game; return whether it starts after the last move."""
        request = connection.wait_for_request()
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

    def _end_game(
        self, reason: int = dxp.NO_REASON, stop: int = dxp.LATER_GAMES, most: float | None = None
    ) -> None:
        """End the current game, if there is one."""
        if self._connection and self._last_board:
            try:
                self._connection.end_game(reason, stop, most)
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


def serve(agent: Agent, address: DxpAddress, rng: np.random.Generator) -> Iterator[DxpGame]:
    """Play programs that connect, for ever, and yield each game.

    A fault of a program ends its connection only. An agent that has ``new_game(rng)`` gets its
    generators from `rng`. A port in use is an EngineError.
    """
    with address.listen() as listener:
        while True:
            with closing(address.accept(listener, _name_of(agent))) as connection:
                yield from _play_games(connection, agent, _accept_games(connection), rng)


def _accept_games(connection: DxpConnection) -> Iterator[tuple[Board, int]]:
    """Accept the requests of a connection until it ends; yield each game's board and our side."""
    most: float | None = FIRST_SECONDS
    with suppress(EngineError):
        while True:
            request = connection.wait_for_request(most)
            most = None
            try:
                start = dxp.read_position(request)
            except ValueError:
                connection.refuse_game()
                continue
            connection.accept_game(request, start.turn == request.follower)
            yield Board.from_position(*start, rules=_draw_rules(request.moves)), request.follower


def challenge(
    agent: Agent,
    address: DxpAddress,
    rng: np.random.Generator,
    *,
    minutes: int = 0,
    moves: int = 100,
) -> Iterator[DxpGame]:
    """Play a program that listens, with Black and White in turn, and yield each game.

    `minutes` and `moves` limit each side in a game; 0 is no limit. The games end when the program
    makes a fault. When it cannot be reached or refuses a game, EngineError is raised. The rest is
    as for :func:`serve`.
    """
    with closing(address.connect(_name_of(agent))) as connection:
        starts = _request_games(connection, minutes, moves)
        yield from _play_games(connection, agent, starts, rng)


def _request_games(
    connection: DxpConnection, minutes: int, moves: int
) -> Iterator[tuple[Board, int]]:
    """Request one game after the other; yield its board and our side when it is accepted."""
    for colour in cycle((BLACK, WHITE)):
        board = Board(rules=_draw_rules(moves))
        connection.request_game(1 - colour, minutes, moves, board)
        yield board, colour


def _draw_rules(moves: int) -> DrawRules:
    return DrawRules(moves or None, REPETITION, NO_PROGRESS)


def _play_games(
    connection: DxpConnection,
    agent: Agent,
    starts: Iterator[tuple[Board, int]],
    rng: np.random.Generator,
) -> Iterator[DxpGame]:
    """Play games that both sides have accepted, up to a fault."""
    for board, colour in starts:
        begin_game(agent, rng)
        game = play_dxp_game(connection, agent, board, colour)
        yield game
        if game.error:
            return


def _name_of(agent: Agent) -> str:
    return dxp.fit_name(getattr(agent, "name", type(agent).__name__))


def play_dxp_game(connection: DxpConnection, agent: Agent, board: Board, colour: int) -> DxpGame:
    """Play a game from `board` that both sides have accepted; the agent has the side `colour`.

    An agent that has ``game_over(board, side)`` is told the end.
    """
    outcome, error_text = None, ""
    try:
        while True:
            outcome = outcome or board.outcome()
            if board.turn != colour:
                board.push(connection.receive_move(board))
                continue
            if connection.has_used_its_time:
                outcome = outcome or Outcome(colour, "time")
            if outcome:
                connection.end_game(end_reason(outcome, colour))
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
