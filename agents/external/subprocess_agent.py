"""An agent in a child process: if it hangs or crashes, the game goes on."""

from __future__ import annotations

import base64
import json
import os
import pickle
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from agents.agent import Agent
from agents.external.channel import Channel, ChannelClosedError
from agents.external.codec import (
    BoardReader,
    board_to_json,
    move_from_json,
    move_to_json,
    rng_from_json,
    rng_to_json,
)
from agents.external.errors import CLAIMS, EngineError, GameEndedError
from agents.external.process import ProcessLimits
from checkers_env.board import Board
from checkers_env.moves import Move

START_SECONDS = 120.0  # for imports and the agent's constructor
MOVE_SECONDS = 60.0  # by default
GRACE_SECONDS = 5.0  # to end without a signal
MAX_ERROR = 2000  # characters of an error that is sent
PACKAGE = Path(__file__).parents[1]
PROGRAM = """
import sys
sys.path[:] = sys.argv[2:]
from agents.external.subprocess_agent import serve
serve(int(sys.argv[1]))
"""


class SubprocessAgent:
    """An agent in a child process, which starts again after a failure (POSIX).

    The child gets JSON and answers with JSON of bounded size. Only `make` is pickled, for the
    child; nothing that the child sends is unpickled.

    Parameters
    ----------
    name
        Name in errors.
    make
        Function that makes the agent in the child process. It must pickle.
    timeout
        Seconds for a move; None waits for ever. After them the process is killed.
    limits
        Memory and processes that the agent may use. An agent that uses more is killed.

    Raises
    ------
    EngineError
        When the agent cannot be made.
    ValueError
        For a `make` that does not pickle.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Agent],
        *,
        timeout: float | None = MOVE_SECONDS,
        limits: ProcessLimits = ProcessLimits(),  # noqa: B008 - immutable
    ) -> None:
        self.name, self._make, self._timeout = name, _pickle(make), timeout
        self._limits = limits
        self._channel: Channel | None = None
        self._start()

    def new_game(self, rng: np.random.Generator) -> None:
        """Pass the generator of the next game to an agent with this method."""
        self._call("new_game", rng=rng_to_json(rng))

    def act(self, board: Board) -> Move:
        """Return the agent's move. Raise EngineError when the agent raises, dies or stalls."""
        answer = self._call("act", board=board_to_json(board))
        try:
            return move_from_json(answer.get("move"))
        except ValueError as error:
            raise EngineError(str(error)) from None

    def accept_draw(self, board: Board) -> bool:
        """Return whether the agent has this method and accepts the opponent's claim of a draw."""
        return self._call("accept_draw", board=board_to_json(board)).get("accepts") is True

    def game_over(self, board: Board, side: int) -> None:
        """Pass the end of a game to an agent with this method."""
        self._call("game_over", board=board_to_json(board), side=side)

    def interrupt(self) -> None:
        """End the process, from another thread; a move that is waited for raises EngineError."""
        if channel := self._channel:
            channel.interrupt()

    def close(self) -> None:
        """End the process and the processes that it started."""
        if self._channel:
            self._kill(GRACE_SECONDS)

    def _call(self, method: str, **arguments: Any) -> dict[str, Any]:
        if self._channel is None:
            self._start()
        return self._request(method, arguments, self._timeout)

    def _start(self) -> None:
        self._channel = Channel(PROGRAM, sys.path, self._limits)
        try:
            self._request("start", {"make": self._make}, START_SECONDS)
        except BaseException as error:
            self.close()
            if isinstance(error, EngineError):
                raise EngineError(f"{self.name} cannot be made: {error}") from error
            raise

    def _request(
        self, method: str, arguments: dict[str, Any], timeout: float | None
    ) -> dict[str, Any]:
        assert self._channel
        try:
            answer = self._channel.request({"method": method, **arguments}, timeout)
        except ChannelClosedError:
            code, report = self._kill(GRACE_SECONDS)
            why = report or f"it died in {method} (exit code {code})"
            raise EngineError(why) from None
        except TimeoutError:
            _, report = self._kill(0.0)  # a late answer would pass for one to the next request
            raise EngineError(report or f"no answer to {method} within {timeout:g} s") from None
        except BaseException:
            self._kill(0.0)
            raise
        if "error" in answer:
            raise _error_from_json(answer)
        return answer

    def _kill(self, grace: float) -> tuple[int | None, str]:
        """Wait `grace` seconds, then kill the process; see :meth:`Channel.close`."""
        assert self._channel
        channel, self._channel = self._channel, None
        return channel.close(grace)


def _pickle(make: Callable[[], Agent]) -> str:
    try:
        return base64.b64encode(pickle.dumps(make)).decode()
    except Exception as error:
        raise ValueError(
            f"make must be a function that pickles, such as one of a module, not {make!r}: {error}"
        ) from error


def _error_from_json(answer: dict[str, Any]) -> EngineError:
    text, claim = str(answer["error"])[:MAX_ERROR], answer.get("claim")
    if claim is None:
        return EngineError(text)
    return GameEndedError(text, claim if claim in CLAIMS else "nothing")


def serve(number: int) -> None:
    """Answer requests at a file descriptor until it is closed: the child's main loop."""
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()
    Board().outcome()  # load the kernels of boards before the first move
    agent: Any = None
    boards = BoardReader()
    with socket.socket(fileno=number) as channel, suppress(OSError):
        for line in channel.makefile("rb"):
            request = json.loads(line)
            answer: dict[str, Any] = {}
            try:
                if request["method"] == "start":
                    agent = pickle.loads(base64.b64decode(request["make"]))()
                else:
                    answer = _call_agent(agent, request, boards)
            except GameEndedError as error:
                answer = {"error": str(error)[:MAX_ERROR], "claim": str(error.claim)[:MAX_ERROR]}
            except EngineError as error:
                answer = {"error": str(error)[:MAX_ERROR]}
            except (Exception, SystemExit) as error:
                answer = {"error": _error_text(error)[:MAX_ERROR]}
            answer["request"] = request["request"]
            channel.sendall(json.dumps(answer).encode() + b"\n")
    getattr(agent, "close", lambda: None)()


def _call_agent(agent: Any, request: dict[str, Any], boards: BoardReader) -> dict[str, Any]:
    """Call an optional method, or return the move of ``act``."""
    method = request["method"]
    if method == "act":
        move = agent.act(boards.read(request["board"]))
        if not isinstance(move, Move):
            raise EngineError(
                f"act(board) returned {move!r}, which is no Move of board.legal_moves"
            )
        return {"move": move_to_json(move)}
    call = getattr(agent, method, lambda *arguments: None)
    if method == "new_game":
        call(rng_from_json(request["rng"]))
    elif method == "game_over":
        call(boards.read(request["board"]), request["side"])
    else:
        return {"accepts": call(boards.read(request["board"])) is True}
    return {}


def _error_text(error: BaseException) -> str:
    """Return the error and its line, as no traceback is shown."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    file = Path(place.filename)
    where = "" if PACKAGE in file.parents else f" ({file.name}, line {place.lineno})"
    return f"{type(error).__name__}: {error}{where}"


def _exit_with_parent(parent: int) -> None:
    """Exit when the parent process has gone, even during a move."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
