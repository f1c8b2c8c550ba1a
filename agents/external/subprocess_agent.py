"""An agent in a child process: if it hangs or crashes, the game goes on."""

from __future__ import annotations

import base64
import json
import logging
import pickle
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from agents.agent import Agent, check_move
from agents.external.process import MAX_LINE_BYTES, ProcessLimits, Starts, SupervisedProcess
from checkers_env.board import Board
from checkers_env.errors import CLAIMS, EngineError, GameEndedError
from checkers_env.moves import Move

START_SECONDS = 120.0  # for imports and the agent's constructor
MOVE_SECONDS = 60.0  # by default
GRACE_SECONDS = 5.0  # to end without a signal
MAX_ERROR = 2000  # characters of an error that is sent
PACKAGES = {Path(__file__).parents[2] / name for name in ("agents", "checkers_env")}
# The agent's own output becomes standard error, which keeps it out of answers and of tables.
PROGRAM = """
import os, sys
channel = os.dup(0), os.dup(1)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
sys.path[:] = sys.argv[1:]
from agents.external.subprocess_agent import serve
serve(*channel)
"""


class SubprocessAgent:
    """An agent in a child process, which starts again after a failure (POSIX).

    What the child gets is pickled. It answers with JSON of bounded size, and nothing that it sends
    is unpickled. `make` makes the agent in the child; one that does not pickle is a ValueError.
    After `timeout` seconds for a move, and beyond the `limits`, the process is killed. An agent
    that cannot be made is an EngineError. `name` is for errors.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Agent],
        *,
        timeout: float | None = MOVE_SECONDS,
        limits: ProcessLimits = ProcessLimits(),  # noqa: B008 - immutable
    ) -> None:
        self.name, self._timeout, self._limits = name, timeout, limits
        self._starts = limits.starts or Starts()
        self._start_call = _pickle_start(make)
        self._process: SupervisedProcess | None = None
        self._requests = 0
        self._start()

    def new_game(self, rng: np.random.Generator) -> None:
        """Pass the generator of the next game to an agent with this method."""
        self._call("new_game", rng)

    def act(self, board: Board) -> Move:
        """Return the agent's move. Raise EngineError when the agent raises, dies or stalls."""
        index, moves = self._call("act", board), board.legal_moves
        if type(index) is int and 0 <= index < len(moves):
            return moves[index]
        raise EngineError("it sent no move")

    def accept_draw(self, board: Board) -> bool:
        """Return whether the agent has this method and accepts the opponent's claim of a draw."""
        return self._call("accept_draw", board) is True

    def game_over(self, board: Board, side: int) -> None:
        """Pass the end of a game to an agent with this method."""
        self._call("game_over", board, side)

    def interrupt(self) -> None:
        """End the process, from another thread; a move that is waited for raises EngineError."""
        if process := self._process:
            process.interrupt()

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End the process and the processes that it started."""
        process, self._process = self._process, None
        if process:
            process.close(grace)

    def _call(self, method: str, *arguments: object) -> Any:
        if self._process is None:
            self._start()
        return self._request(method, pickle.dumps((method, *arguments)), self._timeout)

    def _start(self) -> None:
        command = [sys.executable, "-u", "-c", PROGRAM, *sys.path]
        try:
            with self._starts.limit(START_SECONDS):
                self._process = SupervisedProcess(command, self._limits)
                self._request("start", self._start_call, START_SECONDS)
        except BaseException as error:
            self.close()
            if isinstance(error, EngineError):
                raise EngineError(f"{self.name} cannot be made: {error}") from error
            raise

    def _request(self, method: str, call: bytes, timeout: float | None) -> Any:
        """Return the result. A process that gives none is killed, so that none comes later."""
        process = self._process
        assert process
        limit = "" if timeout is None else f" within {timeout:g} s"
        self._requests += 1
        request = {"request": self._requests, "call": base64.b64encode(call).decode()}
        process.resume()
        try:
            process.send(json.dumps(request).encode())
            answer = _parse(process.read(f"answer to {method}{limit}", timeout))
            if answer.get("request") != self._requests:
                raise EngineError("answered another request")
        except BaseException as fault:
            self.close(0.0)
            if isinstance(fault, EngineError):
                raise EngineError(f"it {fault}") from None
            raise
        process.pause()  # it must not take processor time from others
        if "error" in answer:
            raise _error_from_json(answer)
        return answer.get("result")


def _pickle_start(make: Callable[[], Agent]) -> bytes:
    try:
        return pickle.dumps(("start", make))
    except Exception as error:
        raise ValueError(
            f"make must be a function that pickles, such as one of a module, not {make!r}: {error}"
        ) from error


def _parse(line: bytes) -> dict[str, Any]:
    """Return an answer. Raise EngineError for what is no JSON object of a bounded size."""
    if len(line) > MAX_LINE_BYTES:
        raise EngineError(f"sent more than {MAX_LINE_BYTES} bytes without a line end")
    try:
        answer = json.loads(line.decode())  # loads would guess other encodings
    except (ValueError, RecursionError) as error:
        raise EngineError(f"sent no JSON: {error}") from None
    if not isinstance(answer, dict):
        raise EngineError("sent JSON that is no object")
    return answer


def _error_from_json(answer: dict[str, Any]) -> EngineError:
    text, claim = str(answer["error"])[:MAX_ERROR], answer.get("claim")
    if claim is None:
        return EngineError(text)
    return GameEndedError(text, claim if claim in CLAIMS else "nothing")


def serve(source: int, sink: int) -> None:
    """Answer requests until their descriptor is closed: the child's main loop."""
    logging.getLogger("checkers_env").setLevel(logging.ERROR)  # the parent tells of compilation
    Board().outcome()  # load the kernels of boards before the first move
    agent: Any = None
    with open(source, "rb") as requests, suppress(OSError), open(sink, "wb") as answers:
        for line in requests:
            request = json.loads(line)
            answer: dict[str, Any] = {}
            try:
                method, *arguments = pickle.loads(base64.b64decode(request["call"]))
                if method == "start":
                    agent = arguments[0]()
                else:
                    answer["result"] = _call_agent(agent, method, arguments)
            except GameEndedError as error:
                answer = {"error": str(error)[:MAX_ERROR], "claim": str(error.claim)[:MAX_ERROR]}
            except EngineError as error:
                answer = {"error": str(error)[:MAX_ERROR]}
            except (Exception, SystemExit) as error:
                answer = {"error": _error_text(error)[:MAX_ERROR]}
            answer["request"] = request["request"]
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()
    getattr(agent, "close", lambda: None)()


def _call_agent(agent: Any, method: str, arguments: list[Any]) -> int:
    """Return the index of the move of ``act``, or whether an optional method returns True."""
    if method != "act":
        return getattr(agent, method, lambda *_: None)(*arguments) is True
    (board,) = arguments
    return board.legal_moves.index(check_move(agent.act(board.copy()), board))


def _error_text(error: BaseException) -> str:
    """Return the error and its line, as no traceback is shown."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    file = Path(place.filename)
    where = "" if PACKAGES & set(file.parents) else f" ({file.name}, line {place.lineno})"
    return f"{type(error).__name__}: {error}{where}"
