"""An engine that speaks the Hub protocol (version 2), in a process of its own, as an agent."""

from __future__ import annotations

import shlex
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self, get_args

from agents.external.hub.notation import (
    VARIANT,
    Dialect,
    read_line,
    read_move,
    write_line,
    write_move,
    write_position,
)
from agents.external.process import LineProcess
from checkers_env.board import Board
from checkers_env.moves import Move

Declared = dict[str, dict[str, str]]


def answers(
    process: LineProcess, question: str, last: str, seconds: float
) -> Iterator[tuple[str, dict[str, str]]]:
    """Send a line and yield the commands and arguments that come, up to the one called `last`.

    Of a line that is not in the protocol's form the first word is taken. Raises EngineError for an
    ``error``, and when the last answer has not come within the `seconds`.
    """
    process.say(question)
    end = time.monotonic() + seconds
    awaited, command = f"{last!r} within {seconds:g} s of {question!r}", ""
    while command != last:
        line = process.read(awaited, end - time.monotonic())
        try:
            command, given = read_line(line)
        except ValueError:
            command, given = line.split()[0], {}
        if command == "error":
            raise process.failure(f"reports an error: {given.get('message', line)}")
        yield command, given


def answer(process: LineProcess, question: str, last: str, seconds: float) -> dict[str, str]:
    """The arguments of the last of the :func:`answers`."""
    [(_, given)] = deque(answers(process, question, last, seconds), maxlen=1)
    return given


def shake_hands(
    process: LineProcess, params: Mapping[str, object], wishes: Mapping[str, object], seconds: float
) -> None:
    """Learn what the engine is called and what parameters it has, set them, and await it ready.

    Those of `wishes` are set if the engine has them and their value is among the declared ones.
    Raises EngineError for an engine that fails or does not play this game, and ValueError for one
    of `params` that the engine does not have.
    """
    about: dict[str, str] = {}
    declared: Declared = {}
    for command, given in answers(process, "hub", "wait", seconds):
        if command == "id":
            about |= given
        elif command == "param":
            declared[given.get("name", "")] = given
    if about.get("name"):
        process.name = f"{about['name']} {about.get('version', '')}".strip()
    unknown = sorted(params.keys() - declared.keys())
    if unknown:
        raise ValueError(
            f"{process.name} has no parameter {', '.join(unknown)}: "
            f"it has {', '.join(declared) or 'none'}"
        )
    chosen = {**{n: value for n, value in wishes.items() if _takes(declared, n, value)}, **params}
    if "variant" in declared and "variant" not in chosen:
        raise process.failure(f"plays {declared['variant']['values']}, not {VARIANT}")
    for name, value in chosen.items():
        shown = str(value).lower() if isinstance(value, bool) else value
        process.say(write_line("set-param", {"name": name, "value": shown}))
    answer(process, "init", "ready", seconds)


def _takes(declared: Declared, name: str, value: object) -> bool:
    """Whether the engine has a parameter that may have this value."""
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
) -> HubAgent:
    """Start an engine.

    Parameters
    ----------
    command
        The program and its arguments: a list, or a line as a POSIX shell would split it.
    seconds, depth, nodes
        What the engine is told to spend on a move: exactly one of them.
    seed
        For engines that declare a parameter of this name; others look after their own chance.
    params
        Parameters of the engine to set. Unasked, ``variant`` is set to ``english`` and ``ponder``
        to false where the engine has them.
    dialect
        How the engine reads positions (see :mod:`agents.external.hub.notation`).
    timeout
        Seconds to get ready in, and those that a move may take beyond `seconds`.

    Raises ValueError for arguments that make no sense, and EngineError when the engine does not
    get ready.
    """
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise ValueError(f"the command {command!r} cannot be read: {error}") from None
    if not words:
        raise ValueError("the command of the engine is empty")
    given = {"move-time": seconds, "depth": depth, "nodes": nodes}
    level = {name: value for name, value in given.items() if value is not None}
    if len(level) != 1:
        raise ValueError(f"{shlex.join(words)!r} takes one of seconds, depth and nodes")
    for name, value in {**level, "timeout": timeout}.items():
        whole = name in ("depth", "nodes")
        if not 0 < value <= threading.TIMEOUT_MAX / 2 or (whole and not isinstance(value, int)):
            raise ValueError(f"{name} must be a {'whole ' * whole}number above 0, not {value!r}")
    if dialect not in get_args(Dialect):
        raise ValueError(f"dialect must be {' or '.join(get_args(Dialect))}, not {dialect!r}")
    wishes = {"variant": VARIANT, "ponder": "false", "dialect": dialect, "seed": seed}
    terms = Terms(
        tuple(words),
        write_line("level", level),
        (seconds or 0.0) + timeout,
        timeout,
        dialect,
        dict(params or {}),
        {name: value for name, value in wishes.items() if value is not None},
    )
    return HubAgent(terms)


class Terms(NamedTuple):
    """How an engine is started, and what it is told."""

    command: tuple[str, ...]
    level: str
    """The line that limits a search."""
    patience: float
    """Seconds that a move may take."""
    timeout: float
    """Seconds that getting ready may take."""
    dialect: Dialect
    params: dict[str, object]
    """Parameters that the engine must have."""
    wishes: dict[str, object]
    """Parameters that are set where the engine has them."""


class HubAgent:
    """A running engine; made by :func:`hub_agent`.

    An error ends the process, and the next move starts a new one, so that a match can go on.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._lock = threading.Lock()
        self._seen: list[Move] | None = None
        self._process: LineProcess | None = self._start()
        self.name = self._process.name

    def act(self, board: Board) -> Move:
        """The engine's move.

        Raises ValueError when there is none to make, and EngineError, which names the engine, when
        it answers with none or an illegal one, stalls or dies.
        """
        if not board.legal_moves:
            raise ValueError(f"{self.name} has no legal move in {board.fen()}")
        with self._lock:
            try:
                return self._ask(board)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """End the process; another move would start a new one."""
        if self._process:
            self._process.close()
        self._process = self._seen = None

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
        return f"<HubAgent {self.name!r}, {self._terms.level}>"

    def _start(self) -> LineProcess:
        process = LineProcess(self._terms.command, farewell="quit")
        try:
            shake_hands(process, self._terms.params, self._terms.wishes, self._terms.timeout)
        except BaseException:
            process.close()
            raise
        return process

    def _ask(self, board: Board) -> Move:
        process = self._process = self._process or self._start()
        process.forget()
        if self._seen is None or not _goes_on(self._seen, board.moves):
            process.say("new-game")
        self._seen = board.moves.copy()
        process.say(position_line(board, self._terms.dialect))
        process.say(self._terms.level)
        text = answer(process, "go think", "done", self._terms.patience).get("move", "")
        try:
            return read_move(text, board)
        except ValueError as error:
            raise process.failure(f"plays {text!r} in {board.fen()}: {error}") from None


def _goes_on(earlier: list[Move], later: list[Move]) -> bool:
    return len(later) > len(earlier) and later[: len(earlier)] == earlier


def position_line(board: Board, dialect: Dialect) -> str:
    """The position after the last capture or move of a man, and the moves since: it may repeat."""
    start = board.copy()
    moves = [start.pop() for _ in range(start.reversible_plies)]
    given = {"pos": write_position(start, dialect)}
    if moves:
        given["moves"] = " ".join(write_move(move) for move in reversed(moves))
    return write_line("pos", given)
