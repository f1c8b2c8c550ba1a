"""An agent in a child process: if it hangs or crashes, the game goes on."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from agents.agent import Agent
from agents.external.errors import EngineError, GameEndedError
from agents.external.process import signal_group
from checkers_env.board import Board
from checkers_env.moves import Move

START_SECONDS = 120.0  # for imports and the agent's constructor
GRACE_SECONDS = 5.0  # to end without a signal
STDERR = 2
PACKAGE = Path(__file__).parents[1]
PROGRAM = """
import sys
sys.path[:] = sys.argv[2:]
from agents.external.subprocess_agent import serve
serve(int(sys.argv[1]))
"""


class SubprocessAgent:
    """An agent in a child process, which starts again after a failure (POSIX).

    Parameters
    ----------
    name
        Name in errors.
    make
        Function that makes the agent in the child process. It must pickle.
    timeout
        Seconds for a move; None waits for ever. After them the process is killed.

    Raises
    ------
    EngineError
        When the agent cannot be made.
    ValueError
        For a `make` that does not pickle.
    """

    def __init__(
        self, name: str, make: Callable[[], Agent], *, timeout: float | None = None
    ) -> None:
        self.name, self._make, self._timeout = name, _pickle(make), timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    def new_game(self, rng: np.random.Generator) -> None:
        """Pass the generator of the next game to an agent with this method."""
        self._call("new_game", rng)

    def act(self, board: Board) -> Move:
        """Return the agent's move. Raises EngineError when the agent raises, dies or stalls."""
        move: Move = self._call("act", board)
        return move

    def game_over(self, board: Board, side: int) -> None:
        """Pass the end of a game to an agent with this method."""
        self._call("game_over", board, side)

    def close(self) -> None:
        """End the process and the processes that it started."""
        if self._process is None:
            return
        self._pipe.close()
        self._kill(GRACE_SECONDS)

    def _call(self, method: str, *arguments: Any) -> Any:
        if self._process is None:
            self._start()
        return self._request(method, arguments, self._timeout)

    def _start(self) -> None:
        self._pipe, child_end = Pipe()
        with child_end:
            number = child_end.fileno()
            # multiprocessing would import the caller's main program again.
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-c", PROGRAM, str(number), *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=STDERR,  # keep the output of agents out of tables
                pass_fds=[number],
                start_new_session=True,
            )
        try:
            self._request("start", (self._make,), START_SECONDS)
        except BaseException as error:
            self.close()
            if isinstance(error, EngineError):
                raise EngineError(f"{self.name} cannot be made: {error}") from error
            raise

    def _request(self, method: str, arguments: tuple[Any, ...], timeout: float | None) -> Any:
        try:
            self._pipe.send((method, arguments))
            if not self._pipe.poll(timeout):
                raise EngineError(f"no answer to {method} within {timeout:g} s")
            succeeded, answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            code = self._kill(GRACE_SECONDS)
            raise EngineError(f"it died in {method} (exit code {code})") from error
        except BaseException:
            self._kill(0.0)  # a late answer would pass for one to the next request
            raise
        if not succeeded:
            raise answer
        return answer

    def _kill(self, grace: float) -> int:
        """Wait `grace` seconds, then kill the process; return its exit code."""
        assert self._process is not None
        process, self._process = self._process, None
        self._pipe.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        signal_group(process, signal.SIGKILL)
        return process.wait()


def _pickle(make: Callable[[], Agent]) -> bytes:
    try:
        return pickle.dumps(make)
    except Exception as error:
        raise ValueError(
            f"make must be a function that pickles, such as one of a module, not {make!r}: {error}"
        ) from error


def serve(number: int) -> None:
    """Answer requests at a file descriptor until it is closed: the child's main loop."""
    threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()
    Board().outcome()  # load the kernels of boards before the first move
    agent: Any = None
    with Connection(number) as pipe, suppress(EOFError, OSError):
        while True:
            method, arguments = pipe.recv()
            answer: tuple[bool, Any] = True, None
            try:
                if method == "start":
                    agent = pickle.loads(arguments[0])()
                else:
                    answer = True, _call_agent(agent, method, arguments)
            except GameEndedError as error:
                answer = False, GameEndedError(str(error), str(error.claim))
            except EngineError as error:
                answer = False, EngineError(str(error))
            except (Exception, SystemExit) as error:
                answer = False, EngineError(_error_text(error))
            pipe.send(answer)


def _call_agent(agent: Any, method: str, arguments: tuple[Any, ...]) -> Move | None:
    """Call an optional method, or return the move of ``act``."""
    if method != "act":
        getattr(agent, method, lambda *arguments: None)(*arguments)
        return None
    move = agent.act(*arguments)
    if not isinstance(move, Move):
        raise EngineError(f"act(board) returned {move!r}, which is no Move")
    return Move(tuple(map(int, move.squares)), tuple(map(int, move.captured)))


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
