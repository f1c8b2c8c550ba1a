"""Where the games of a generation are played: in threads (kernels run without the GIL), or afar."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agents.match import ENGINES, Game, play_game
from agents.match_kernel import DrawRules
from training.runtime.executors import open_executor

SHARES = 4  # in which each worker gets its games, where they travel: no one waits long for the last


class Fixture(NamedTuple):
    """A game to be played between two player tuples."""

    black: Any
    white: Any
    opening: str | None = None
    seed: tuple[int, ...] = ()  # of the generator for players that use chance


class Arena:
    """Plays fixtures on an executor; made by :func:`open_arena`.

    The results are in the order of the fixtures and depend on nothing else.

    Attributes
    ----------
    seconds
        CPU time that games have taken so far, in threads or processes other than the caller's.
    """

    def __init__(self, pool: Executor, workers: int, engine: str) -> None:
        self._pool, self._workers, self._engine = pool, workers, engine
        self.seconds = 0.0

    def play(self, fixtures: Iterable[Fixture], rules: DrawRules) -> list[Game]:
        """Play each game to its end."""
        drawn = list(fixtures)
        game = partial(play_fixture, rules=rules, engine=self._engine)
        share = math.ceil(len(drawn) / (self._workers * SHARES)) or 1
        played = list(self._pool.map(game, drawn, chunksize=share))
        self.seconds += sum(seconds for _, seconds in played)
        return [result for result, _ in played]


def play_fixture(fixture: Fixture, rules: DrawRules, engine: str) -> tuple[Game, float]:
    """Play one game; the second part is the CPU time that it took, in seconds."""
    began = time.thread_time()
    game = play_game(
        fixture.black,
        fixture.white,
        opening=fixture.opening,
        rules=rules,
        rng=np.random.default_rng(fixture.seed),
        engine=engine,
    )
    return game, time.thread_time() - began


@contextmanager
def open_arena(
    workers: int, engine: str = "kernel", executor: str = "threads", address: str | None = None
) -> Iterator[Arena]:
    """An arena for the length of a with block; what is not yet begun is dropped at its end.

    `executor` and `address` are those of :func:`training.runtime.executors.open_executor`. Raises
    ValueError for an engine that there is not, and as that function does.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    with open_executor(executor, workers, address) as pool:
        yield Arena(pool, workers, engine)
