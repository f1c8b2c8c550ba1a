"""An agent in a process of its own, so that one that hangs or crashes takes nobody with it."""

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
from checkers_env.board import Board
from checkers_env.moves import Move

START_UP = 120.0  # seconds for imports, and for what a constructor does
GRACE = 5.0  # seconds to end by itself
STDERR = 2
PACKAGE = Path(__file__).parents[1]
PROGRAM = """
import sys
sys.path[:] = sys.argv[2:]
from agents.external.subprocess_agent import serve
serve(int(sys.argv[1]))
"""


class SubprocessAgent:
    """An agent that lives in another process, which is started again after a failure (POSIX).

    Parameters
    ----------
    name
        How it is called in errors.
    make
        Makes the agent, in the process; a function that pickles, such as one of a module.
    patience
        Seconds for a move, after which the process is ended and EngineError raised; None to wait.

    Raises EngineError when the agent cannot be made, ValueError for a `make` that does not pickle.
    """

    def __init__(
        self, name: str, make: Callable[[], Agent], *, patience: float | None = None
    ) -> None:
        self.name, self._make, self._patience = name, _pickled(make), patience
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    def new_game(self, rng: np.random.Generator) -> None:
        """Pass the generator of the game to come to an agent that asks for one."""
        self._ask("new_game", rng)

    def act(self, board: Board) -> Move:
        """The agent's move. Raises EngineError for what it raises, and when it dies or stalls."""
        move: Move = self._ask("act", board)
        return move

    def game_over(self, board: Board, side: int) -> None:
        """Tell an agent that wants to know how the game ended."""
        self._ask("game_over", board, side)

    def close(self) -> None:
        """End the process, and what it has started."""
        if self._process is None:
            return
        self._pipe.close()
        self._kill(GRACE)

    def _ask(self, method: str, *arguments: Any) -> Any:
        if self._process is None:
            self._start()
        return self._answer(method, arguments, self._patience)

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        with theirs:
            number = theirs.fileno()
            # Python's own way to start one would import the caller's main program once more.
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-c", PROGRAM, str(number), *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=STDERR,  # what agents print is no part of a table, and shown as it comes
                pass_fds=[number],
                start_new_session=True,
            )
        try:
            self._answer("start", (self._make,), START_UP)
        except BaseException as error:
            self.close()
            if isinstance(error, EngineError):
                raise EngineError(f"{self.name} cannot be made: {error}") from error
            raise

    def _answer(self, method: str, arguments: tuple[Any, ...], patience: float | None) -> Any:
        try:
            self._pipe.send((method, arguments))
            if not self._pipe.poll(patience):
                raise EngineError(f"no answer to {method} within {patience:g} s")
            fine, answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            code = self._kill(GRACE)
            raise EngineError(f"it died in {method} (exit code {code})") from error
        except BaseException:
            self._kill(0.0)  # or its answer would be taken for one to the next question
            raise
        if not fine:
            raise answer
        return answer

    def _kill(self, grace: float) -> int:
        """End the process, after some seconds to end by itself, and return its exit code."""
        assert self._process is not None
        process, self._process = self._process, None
        self._pipe.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _pickled(make: Callable[[], Agent]) -> bytes:
    try:
        return pickle.dumps(make)
    except Exception as error:
        raise ValueError(
            f"make must be a function that pickles, such as one of a module, not {make!r}: {error}"
        ) from error


def serve(number: int) -> None:
    """What the process does: answer at a file descriptor until it is closed."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    Board().outcome()  # loads the kernels that boards need: the first move is not to wait for them
    agent: Any = None
    with Connection(number) as pipe, suppress(EOFError, OSError):
        while True:
            method, arguments = pipe.recv()
            answer: tuple[bool, Any] = True, None
            try:
                if method == "start":
                    agent = pickle.loads(arguments[0])()
                else:
                    answer = True, _called(agent, method, arguments)
            except GameEndedError as error:
                answer = False, GameEndedError(str(error), str(error.claim))
            except EngineError as error:
                answer = False, EngineError(str(error))
            except (Exception, SystemExit) as error:
                answer = False, EngineError(_told(error))
            pipe.send(answer)


def _called(agent: Any, method: str, arguments: tuple[Any, ...]) -> Move | None:
    """The move that an agent makes, or None for methods that give nothing back."""
    if method != "act":
        getattr(agent, method, _nothing)(*arguments)
        return None
    move = agent.act(*arguments)
    if not isinstance(move, Move):
        raise EngineError(f"act(board) returned {move!r}, which is no Move")
    return Move(tuple(map(int, move.squares)), tuple(map(int, move.captured)))


def _told(error: BaseException) -> str:
    """An error and, as it has no traceback where it is shown, the line that is to blame."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    file = Path(place.filename)
    where = "" if PACKAGE in file.parents else f" ({file.name}, line {place.lineno})"
    return f"{type(error).__name__}: {error}{where}"


def _end_with(parent: int) -> None:
    """End this process once the one that started it has gone, even if the agent is at work."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _nothing(*arguments: Any) -> None:
    """In place of a method that an agent does not have."""
