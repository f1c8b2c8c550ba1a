"""Hub client: an engine in a child process, by the Hub protocol (version 2), as an agent."""

from __future__ import annotations

import shlex
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import get_args

import numpy as np

from agents.external.hub.notation import (
    VARIANT,
    Dialect,
    read_line,
    read_move,
    write_line,
    write_move,
    write_position,
)
from agents.external.process import MAX_SHOWN, LineProcess, ProcessLimits, Starts
from checkers_env.board import Board
from checkers_env.moves import Move

MAX_PARAMS = 1000  # that an engine may declare
MAX_NAME = 80  # characters of an engine's name

Declared = dict[str, dict[str, str]]
"""Arguments of the engine's ``param`` lines, by the name of the parameter."""


def exchange(
    process: LineProcess, line: str, last: str, seconds: float
) -> Iterator[tuple[str, dict[str, str]]]:
    """Send a line and yield the engine's commands with their arguments, until the command `last`.

    A line that is not in Hub's form counts as its first word.

    Raises
    ------
    EngineError
        For the command ``error``, and when `last` does not come in time.
    """
    process.send(line)
    end = time.monotonic() + seconds
    expected, command = f"{last!r} within {seconds:g} s of {line!r}", ""
    while command != last:
        answer = process.read(expected, end - time.monotonic())
        try:
            command, arguments = read_line(answer)
        except ValueError:
            command, arguments = answer.split()[0], {}
        if command == "error":
            message = arguments.get("message", answer)[:MAX_SHOWN]
            raise process.error(f"reports an error: {message}")
        yield command, arguments


def request(process: LineProcess, line: str, last: str, seconds: float) -> dict[str, str]:
    """Send a line and return the arguments of the answer's `last` command."""
    [(_, arguments)] = deque(exchange(process, line, last, seconds), maxlen=1)
    return arguments


def handshake(
    process: LineProcess,
    params: Mapping[str, object],
    optional_params: Mapping[str, object],
    seconds: float,
) -> None:
    """Learn the engine's name and parameters, set them, and wait until it is ready.

    The engine must declare `params`, and `seconds` are for each of its two answers.

    Raises
    ------
    EngineError
        For an engine that fails or does not play this game.
    ValueError
        For one of `params` that the engine does not declare.
    """
    identity: dict[str, str] = {}
    declared: Declared = {}
    for command, arguments in exchange(process, "hub", "wait", seconds):
        if command == "id":
            identity |= {key: arguments[key] for key in arguments.keys() & {"name", "version"}}
        elif command == "param":
            declared[arguments.get("name", "")] = arguments
            if len(declared) > MAX_PARAMS:
                raise process.error(f"declares more than {MAX_PARAMS} parameters")
    if identity.get("name"):
        name = f"{identity['name']} {identity.get('version', '')}".strip()
        process.name = "".join(it if it.isprintable() else "?" for it in name[:MAX_NAME])
    if unknown := sorted(params.keys() - declared.keys()):
        raise ValueError(
            f"{process.name} has no parameter {', '.join(unknown)}: "
            f"it has {', '.join(declared) or 'none'}"
        )
    values = {n: value for n, value in optional_params.items() if _accepts(declared, n, value)}
    values |= params
    if "variant" in declared and "variant" not in values:
        raise process.error(f"plays {declared['variant']['values']}, not {VARIANT}")
    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else value
        process.send(write_line("set-param", {"name": name, "value": text}))
    request(process, "init", "ready", seconds)


def _accepts(declared: Declared, name: str, value: object) -> bool:
    """Return whether the engine declares a parameter with this value."""
    values = declared.get(name, {}).get("values")
    return name in declared and (values is None or str(value) in values.split())


class HubAgent(AbstractContextManager["HubAgent"]):
    """A Hub engine as an agent.

    The engine runs under :mod:`agents.external.supervisor`. An error ends it. The next game or move
    starts a new one, so that a match can go on.

    Parameters
    ----------
    command
        The program and its arguments: a list, or a line as a POSIX shell would split it.
    seconds, depth, nodes
        The limit of a move: exactly one of them.
    seed, params, others
        Parameters of the engine: the seed where it declares one, the others always.
    dialect
        Notation of positions (see :mod:`agents.external.hub.notation`).
    timeout, start_timeout
        Seconds of a move beyond `seconds`, and of the start, by default as many.
    limits
        Memory and processes that the engine may use; it is ended when it uses more.

    Raises
    ------
    ValueError
        If an argument is out of range.
    EngineError
        When the engine does not get ready.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        seconds: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        seed: int | None = None,
        params: Mapping[str, object] | None = None,
        dialect: Dialect = "english",
        timeout: float = 60.0,
        start_timeout: float | None = None,
        limits: ProcessLimits = ProcessLimits(),  # noqa: B008 - immutable
        **others: object,
    ) -> None:
        try:
            words = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError as error:
            raise ValueError(f"the command {command!r} cannot be read: {error}") from None
        if not words:
            raise ValueError("the command of the engine is empty")
        costs = {"move-time": seconds, "depth": depth, "nodes": nodes}
        level = {name: value for name, value in costs.items() if value is not None}
        if len(level) != 1:
            raise ValueError(f"{shlex.join(words)!r} takes one of seconds, depth and nodes")
        starting = timeout if start_timeout is None else start_timeout
        for name, value in {**level, "timeout": timeout, "start_timeout": starting}.items():
            whole = name in ("depth", "nodes")
            if not 0 < value <= threading.TIMEOUT_MAX / 2 or (whole and not isinstance(value, int)):
                raise ValueError(
                    f"{name} must be a {'whole ' * whole}number above 0, not {value!r}"
                )
        if dialect not in get_args(Dialect):
            raise ValueError(f"dialect must be {' or '.join(get_args(Dialect))}, not {dialect!r}")
        optional = {"variant": VARIANT, "ponder": "false", "dialect": dialect, "seed": seed}
        self._optional_params = {name: it for name, it in optional.items() if it is not None}
        self._params, self._words, self._limits = others | dict(params or {}), words, limits
        self._starts = limits.starts or Starts()
        self._level, self._dialect = write_line("level", level), dialect
        self._move_timeout, self._start_timeout = (seconds or 0.0) + timeout, starting
        self._last_moves: list[Move] | None = None  # of the game at the last request
        self._process: LineProcess | None = None
        self.name = self._start().name

    def act(self, board: Board) -> Move:
        """Return the engine's move.

        Raises
        ------
        EngineError
            If the engine answers with no move or an illegal one, stalls or dies.
        """
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        try:
            return self._request_move(board)
        except BaseException:
            self.close()
            raise

    def new_game(self, rng: np.random.Generator) -> None:
        """Start the engine if an error has ended it, so that no move waits for that."""
        self._last_moves = None
        if self._process is None:
            self._start()

    def interrupt(self) -> None:
        """End the process, from another thread; a move that is waited for raises EngineError."""
        if process := self._process:
            process.interrupt()

    def close(self) -> None:
        """End the process. Another move starts a new one."""
        if self._process:
            self._process.close()
        self._process = self._last_moves = None

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start(self) -> LineProcess:
        try:
            with self._starts.limit(self._start_timeout):
                process = self._process = LineProcess(self._words, "quit", self._limits)
                handshake(process, self._params, self._optional_params, self._start_timeout)
        except BaseException:
            self.close()
            raise
        process.pause()  # it must not take processor time from others
        return process

    def _request_move(self, board: Board) -> Move:
        process = self._process or self._start()
        process.discard_output()
        process.resume()
        last, self._last_moves = self._last_moves, board.moves.copy()
        if last is None or len(board.moves) <= len(last) or board.moves[: len(last)] != last:
            process.send("new-game")
        process.send(write_pos(board, self._dialect))
        process.send(self._level)
        text = request(process, "go think", "done", self._move_timeout).get("move", "")
        process.pause()
        try:
            return read_move(text, board)
        except ValueError as error:
            raise process.error(f"plays {text!r} in {board.fen()}: {error}") from None


def write_pos(board: Board, dialect: Dialect) -> str:
    """Return the ``pos`` line: the position after the last irreversible move, and the moves since.

    The engine needs these moves to see repetitions.
    """
    start = board.copy()
    moves = [start.pop() for _ in range(start.reversible_plies)]
    arguments = {"pos": write_position(start, dialect)}
    if moves:
        arguments["moves"] = " ".join(write_move(move) for move in reversed(moves))
    return write_line("pos", arguments)
