"""Hub server: an agent as an engine for programs that speak the Hub protocol (version 2).

``python -m agents.external.hub --agent blondie24 --depth 6`` reads commands from standard input and
answers on standard output, in the notation of :mod:`agents.external.hub.notation`. ``stop`` works
during a search. ``go ponder`` and ``go analyze`` are ``go think``.
"""

from __future__ import annotations

import math
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout, suppress
from dataclasses import asdict
from io import TextIOWrapper
from typing import Any, TextIO

import numpy as np
import tyro

from agents.agent import Agent, Limits, PlayerAgent, begin_game, check_move, tighten
from agents.analysis import limits_of, root_result
from agents.external.hub import commands
from agents.external.hub.commands import HubConfig
from agents.external.hub.notation import read_line, write_line, write_move
from agents.registry import make
from agents.search.workspace import VISITED
from checkers_env import __version__
from checkers_env.board import Board
from checkers_env.moves import Move

FINISH_SECONDS = 10.0  # for a search to end by itself at the end of the input
STOP_SECONDS = 1.0  # for a search to stop at the exit

Send = Callable[[str], None]


def main() -> int:
    """Run the engine on standard input and output."""
    description = "One of our agents as an engine for programs that speak the Hub protocol."
    config = tyro.cli(HubConfig, prog="checkers-hub", description=description)
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    send = line_writer(sys.stdout)
    with redirect_stdout(sys.stderr), suppress(KeyboardInterrupt):  # agents may print
        serve(sys.stdin, send, config)
    return 0


def line_writer(stream: TextIO) -> Send:
    """Return a function that writes whole lines to a stream from any thread."""
    lock = threading.Lock()

    def send(line: str) -> None:
        with lock, suppress(BrokenPipeError):
            stream.write(line + "\n")
            stream.flush()

    return send


def serve(lines: Iterable[str], send: Send, config: HubConfig) -> None:
    """Execute commands until ``quit`` or the end of the lines."""
    engine = HubEngine(config, send)
    for line in lines:
        if line.split()[:1] == ["quit"]:
            engine.stop(STOP_SECONDS)
            return
        engine.execute(line)
    engine.finish()


class HubEngine:
    """The state of the engine between two commands."""

    def __init__(self, config: HubConfig, send: Send) -> None:
        self._config, self._send = config, send
        self._agent: Agent | None = None
        self._rng = np.random.default_rng(config.seed)  # of the games of one's own code
        self._board: Board | None = None
        self._limits = Limits()
        self._stopped = threading.Event()
        self._search: threading.Thread | None = None
        self._is_endless = self._is_in_game = False

    def execute(self, line: str) -> None:
        """Execute a command; answer a wrong one with ``error``.

        Unknown commands and arguments are ignored, as the protocol says, and logged on standard
        error.
        """
        try:
            command, arguments = read_line(line)
            match command:
                case "hub":
                    self._identify()
                case "set-param":
                    self._config = commands.set_param(self._config, arguments)
                    self._agent = None
                case "init":
                    self.stop()
                    if isinstance(agent := self._get_agent(), PlayerAgent):
                        agent.prepare()  # before a clock runs
                    self._send("ready")
                case "pos":
                    self._board = None
                    self._board = commands.read_pos(arguments, self._config.dialect)
                case "level":
                    self._limits = Limits()
                    level = commands.read_level(arguments)
                    self._limits = commands.suit_level(self._get_agent(), level)
                case "go":
                    self._go()
                case "stop":
                    self._stopped.set()
                case "ping":
                    self._send("pong")
                case "new-game":
                    self._is_in_game = False
                case "" | "ponder-hit":
                    pass
                case _:
                    print(f"unknown command {command!r}: passed over", file=sys.stderr)
            for name in commands.unknown_arguments(command, arguments):
                print(f"{command} has no {name!r}: passed over", file=sys.stderr)
        except Exception as error:
            self._send_error(error)

    def stop(self, seconds: float | None = None) -> None:
        """Stop the search, if there is one, and wait for its answer."""
        self._stopped.set()
        if self._search:
            self._search.join(seconds)

    def finish(self) -> None:
        """Let the search answer if it ends soon; else stop it."""
        if self._search and not self._is_endless:
            self._search.join(FINISH_SECONDS)
        self.stop(STOP_SECONDS)

    def _identify(self) -> None:
        self._say("id", name=self._config.agent, version=__version__, author="checkers-laboratory")
        for declared in commands.declare_params(self._config):
            self._say("param", **declared)
        self._send("wait")

    def _say(self, command: str, **arguments: object) -> None:
        self._send(write_line(command, arguments))

    def _get_agent(self) -> Agent:
        if self._agent is None:
            self._rng = np.random.default_rng(self._config.seed)
            self._is_in_game = False
            options = asdict(self._config)
            del options["dialect"]
            self._agent = make(options.pop("agent"), **options)
        return self._agent

    def _go(self) -> None:
        self.stop()
        if self._board is None:
            raise ValueError("go without a position: send pos first")
        if not self._board.legal_moves:
            raise ValueError(f"no legal move in {self._board.fen()}: the game is over")
        own, _ = limits_of(self._get_agent())
        own = own._replace(depth=self._config.depth, simulations=self._config.simulations)
        limits = tighten(own, self._limits)
        self._is_endless = limits._replace(share=None) == Limits(seconds=math.inf)
        self._stopped = threading.Event()
        if not self._is_in_game:
            begin_game(self._get_agent(), self._rng)
            self._is_in_game = True
        arguments = (self._get_agent(), self._board.copy(), limits, self._stopped)
        self._search = threading.Thread(target=self._answer, args=arguments, daemon=True)
        self._search.start()

    def _answer(self, agent: Agent, board: Board, limits: Limits, stopped: threading.Event) -> None:
        ws: Any = getattr(agent, "ws", None)  # of our own players, which alone report
        start, visited = time.monotonic(), ws and ws.counts[VISITED]

        def report(depth: int, move: Move) -> None:
            nodes, seconds = ws.counts[VISITED] - visited, time.monotonic() - start
            found = {"score": f"{ws.frames[0]['value']:.3f}", "nodes": nodes} if nodes else {}
            self._say("info", depth=depth, **found, time=f"{seconds:.3f}", pv=write_move(move))

        try:
            if isinstance(agent, PlayerAgent):
                move = agent.search(board.copy(), limits, stopped, report)
                if limits.nodes is not None:  # the search has reported no depth
                    report(root_result(agent, board)[0], move)
            else:  # it knows no limits
                move = agent.act(board.copy())
            move = check_move(move, board)
        except Exception as error:
            self._send_error(error)
        else:
            self._say("done", move=write_move(move))

    def _send_error(self, error: Exception) -> None:
        message = str(error)
        if not isinstance(error, ValueError):
            traceback.print_exception(error)
            message = f"{type(error).__name__}: {error}"
        message = re.sub(r"\s+", " ", message).replace('"', "'")
        self._say("error", message=message)
