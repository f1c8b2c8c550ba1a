"""Our agents as an engine that speaks the Hub protocol (version 2): other programs can play them.

``python -m agents.external.hub --agent blondie24 --depth 6`` reads commands from its input
and answers on its output; :mod:`agents.external.hub.notation` says how positions and moves are
written. It obeys ``stop`` while it thinks, and thinks only when it is told to: ``go ponder`` and
``go analyze`` are ``go think``.
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
from dataclasses import replace
from io import TextIOWrapper
from typing import TextIO

import numpy as np
import tyro

from agents.agent import Agent, PlayerAgent
from agents.analysis import Limits, enlarge_table, search_with_limits, tighten
from agents.external.hub.commands import (
    Settings,
    changed,
    check_level,
    parameters,
    read_game,
    read_level,
    unknown,
)
from agents.external.hub.notation import read_line, write_line, write_move
from agents.registry import make
from checkers_env import __version__
from checkers_env.board import Board
from checkers_env.moves import Move

LAST_ANSWER = 10.0  # seconds that a search is given to end in when the input does: a script's
PARTING = 1.0  # seconds that it is given to stop in after them; who asked may have crashed

Say = Callable[[str], None]


def main() -> int:
    """Run the engine on standard input and output."""
    description = "One of our agents as an engine for programs that speak the Hub protocol."
    settings = tyro.cli(Settings, prog="checkers-hub", description=description)
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    say = speaker(sys.stdout)
    with redirect_stdout(sys.stderr), suppress(KeyboardInterrupt):  # what agents print is no answer
        serve(sys.stdin, say, settings)
    return 0


def speaker(stream: TextIO) -> Say:
    """What writes whole lines to a stream, from any thread, as long as somebody reads them."""
    lock = threading.Lock()

    def say(line: str) -> None:
        with lock, suppress(BrokenPipeError):
            stream.write(line + "\n")
            stream.flush()

    return say


def serve(lines: Iterable[str], say: Say, settings: Settings) -> None:
    """Obey lines until ``quit`` or their end, at which a search under way may still answer."""
    engine = Engine(settings, say)
    for line in lines:
        if line.split()[:1] == ["quit"]:
            engine.stop(PARTING)
            return
        engine.obey(line)
    engine.finish()


class Engine:
    """What the engine remembers from one command to the next."""

    def __init__(self, settings: Settings, say: Say) -> None:
        self._settings = settings
        self._say = say
        self._agent: Agent | None = None
        self._board: Board | None = None
        self._limits = Limits()
        self._stopped = threading.Event()
        self._search: threading.Thread | None = None
        self._endless = False  # the search

    def obey(self, line: str) -> None:
        """Carry out a command; what is wrong with it is said in an ``error``.

        What is not known is passed over, as the protocol asks, and said on standard error.
        """
        try:
            command, given = read_line(line)
            match command:
                case "hub":
                    self._introduce()
                case "set-param":
                    self._settings = changed(self._settings, given)
                    self._agent = None
                case "init":
                    self._warm_up()
                    self._say("ready")
                case "pos":
                    self._board = None
                    self._board = read_game(given, self._settings.dialect)
                case "level":
                    self._limits = Limits()
                    self._limits = self._fitting(read_level(given))
                case "go":
                    self._go()
                case "stop":
                    self._stopped.set()
                case "ping":
                    self._say("pong")
                case "" | "new-game" | "ponder-hit":
                    pass
                case _:
                    print(f"unknown command {command!r}: passed over", file=sys.stderr)
            for name in unknown(command, given):
                print(f"{command} has no {name!r}: passed over", file=sys.stderr)
        except Exception as error:
            self._complain(error)

    def stop(self, seconds: float | None = None) -> None:
        """Stop the search under way, if there is one, and wait until it has answered."""
        self._stopped.set()
        if self._search:
            self._search.join(seconds)

    def finish(self) -> None:
        """Let the search under way answer if there is one and it ends soon; else stop it."""
        if self._search and not self._endless:
            self._search.join(LAST_ANSWER)
        self.stop(PARTING)

    def _introduce(self) -> None:
        about = {"name": self._settings.agent, "version": __version__}
        self._say(write_line("id", {**about, "author": "checkers-laboratory"}))
        for declared in parameters(self._settings):
            self._say(write_line("param", declared))
        self._say("wait")

    def _made(self) -> Agent:
        if self._agent is None:
            self._agent = make(
                self._settings.agent,
                depth=self._settings.depth,
                simulations=self._settings.simulations,
                seconds=self._settings.seconds,
                seed=self._settings.seed,
            )
        return self._agent

    def _warm_up(self) -> None:
        """Have everything compiled before a clock runs."""
        self.stop()
        agent = self._made()
        if isinstance(agent, PlayerAgent):
            apart = replace(agent, rng=np.random.default_rng(0))  # its own draws stay as they were
            search_with_limits(
                apart, Board(), Limits(depth=1, simulations=1), threading.Event(), _keep_silent
            )

    def _fitting(self, limits: Limits) -> Limits:
        check_level(self._made(), limits)
        return limits

    def _go(self) -> None:
        self.stop()
        if self._board is None:
            raise ValueError("go without a position: send pos first")
        if not self._board.legal_moves:
            raise ValueError(f"no legal move in {self._board.fen()}: the game is over")
        own = Limits(self._settings.depth, self._settings.simulations, self._settings.seconds)
        limits = tighten(own, self._limits)
        self._endless = limits.seconds == math.inf and limits.depth is limits.simulations is None
        self._stopped = threading.Event()
        self._agent = enlarge_table(self._made(), limits.seconds)
        work = (self._agent, self._board.copy(), limits, self._stopped)
        self._search = threading.Thread(target=self._answer, args=work, daemon=True)
        self._search.start()

    def _answer(self, agent: Agent, board: Board, limits: Limits, stopped: threading.Event) -> None:
        begun = time.monotonic()

        def report(depth: int, move: Move) -> None:
            spent = f"{time.monotonic() - begun:.3f}"
            self._say(write_line("info", {"depth": depth, "time": spent, "pv": write_move(move)}))

        try:
            move = search_with_limits(agent, board.copy(), limits, stopped, report)
            if move not in board.legal_moves:
                raise ValueError(f"the agent made the illegal move {move} in {board.fen()}")
        except Exception as error:
            self._complain(error)
        else:
            self._say(write_line("done", {"move": write_move(move)}))

    def _complain(self, error: Exception) -> None:
        message = str(error)
        if not isinstance(error, ValueError):
            traceback.print_exception(error)
            message = f"{type(error).__name__}: {error}"
        message = re.sub(r"\s+", " ", message).replace('"', "'")
        self._say(write_line("error", {"message": message}))


def _keep_silent(depth: int, move: Move) -> None:
    pass


if __name__ == "__main__":
    sys.exit(main())
