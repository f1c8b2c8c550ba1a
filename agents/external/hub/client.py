"""Hub client: an engine in a child process, by the Hub protocol (version 2), as an agent."""

from __future__ import annotations

import shlex
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self, get_args

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
from agents.external.process import MAX_SHOWN, LineProcess, ProcessLimits
from checkers_env.board import Board
from checkers_env.moves import Move

MAX_PARAMS = 1000  # that an engine may declare
MAX_NAME = 80  # characters of an engine's name

Declared = dict[str, dict[str, str]]
"""Arguments of the engine's ``param`` lines, by the name of the parameter."""


def exchange(
    process: LineProcess, line: str, last: str, seconds: float
) -> Iterator[tuple[str, dict[str, str]]]:
    """Send a line and yield the engine's commands with their arguments.

    Parameters
    ----------
    process
        The engine.
    line
        What to send.
    last
        The command that ends the answer.
    seconds
        Time for the whole answer.

    Yields
    ------
    A command and its arguments. A line that is not in Hub's form counts as its first word.

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
    """Send a line and return the arguments of the answer's last command.

    Parameters
    ----------
    process
        The engine.
    line
        Line to send.
    last
        Command that ends the answer.
    seconds
        Time for the whole answer.
    """
    [(_, arguments)] = deque(exchange(process, line, last, seconds), maxlen=1)
    return arguments


def handshake(
    process: LineProcess,
    params: Mapping[str, object],
    optional_params: Mapping[str, object],
    seconds: float,
) -> None:
    """Learn the engine's name and parameters, set them, and wait until it is ready.

    Parameters
    ----------
    process
        The engine; it gets its name.
    params
        Parameters to set.
    optional_params
        Parameters to set if the engine declares them with such a value.
    seconds
        Time for each of the two answers.

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
    unknown = sorted(params.keys() - declared.keys())
    if unknown:
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


def hub_agent(
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
) -> HubAgent:
    """Start an engine.

    Parameters
    ----------
    command
        The program and its arguments: a list, or a line as a POSIX shell would split it.
    seconds, depth, nodes
        The limit of a move: exactly one of them.
    seed
        For engines that declare a parameter of this name.
    params
        Parameters of the engine to set. ``variant`` is set to ``english`` and ``ponder`` to false
        where the engine declares them.
    dialect
        Notation of positions (see :mod:`agents.external.hub.notation`).
    timeout
        Seconds of a move beyond `seconds`.
    start_timeout
        Seconds for the start; None for `timeout`.
    limits
        Memory and processes that the engine may use; it is ended when it uses more.

    Raises
    ------
    ValueError
        If an argument is out of range.
    EngineError
        When the engine does not get ready.
    """
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
            raise ValueError(f"{name} must be a {'whole ' * whole}number above 0, not {value!r}")
    if dialect not in get_args(Dialect):
        raise ValueError(f"dialect must be {' or '.join(get_args(Dialect))}, not {dialect!r}")
    optional = {"variant": VARIANT, "ponder": "false", "dialect": dialect, "seed": seed}
    config = EngineConfig(
        tuple(words),
        write_line("level", level),
        (seconds or 0.0) + timeout,
        starting,
        limits,
        dialect,
        dict(params or {}),
        {name: value for name, value in optional.items() if value is not None},
    )
    return HubAgent(config)


class EngineConfig(NamedTuple):
    """The start of an engine and the limit of its moves."""

    command: tuple[str, ...]
    level: str
    """The line that limits a search."""
    move_timeout: float
    """Seconds for a move."""
    start_timeout: float
    """Seconds for the start."""
    limits: ProcessLimits
    dialect: Dialect
    params: dict[str, object]
    """Parameters that the engine must declare."""
    optional_params: dict[str, object]
    """Parameters to set where the engine declares them."""


class HubAgent:
    """A Hub engine as an agent; made by :func:`hub_agent`.

    The engine runs under :mod:`agents.external.supervisor`. An error ends it. The next game or move
    starts a new one, so that a match can go on.
    """

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._last_moves: list[Move] | None = None  # of the game at the last request
        self._process: LineProcess | None = None
        self.name = self._start().name

    def act(self, board: Board) -> Move:
        """Return the engine's move.

        Raises
        ------
        ValueError
            If there is no legal move.
        EngineError
            If the engine answers with no move or an illegal one, stalls or dies.
        """
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        with self._lock:
            try:
                return self._request_move(board)
            except BaseException:
                self.close()
                raise

    def new_game(self, rng: np.random.Generator) -> None:
        """Start the engine if an error has ended it, so that no move waits for that."""
        with self._lock:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<HubAgent {self.name!r}, {self._config.level}>"

    def _start(self) -> LineProcess:
        config = self._config
        process = self._process = LineProcess(config.command, "quit", config.limits)
        try:
            handshake(process, config.params, config.optional_params, config.start_timeout)
        except BaseException:
            self.close()
            raise
        process.pause()  # it must not take processor time from others
        return process

    def _request_move(self, board: Board) -> Move:
        process = self._process or self._start()
        process.resume()
        process.discard_output()
        if self._last_moves is None or not _is_continuation(self._last_moves, board.moves):
            process.send("new-game")
        self._last_moves = board.moves.copy()
        process.send(write_pos(board, self._config.dialect))
        process.send(self._config.level)
        text = request(process, "go think", "done", self._config.move_timeout).get("move", "")
        process.pause()
        try:
            return read_move(text, board)
        except ValueError as error:
            raise process.error(f"plays {text!r} in {board.fen()}: {error}") from None


def _is_continuation(earlier: list[Move], later: list[Move]) -> bool:
    return len(later) > len(earlier) and later[: len(earlier)] == earlier


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
