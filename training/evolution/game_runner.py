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
from checkers_env.state import DrawRules
from training.runtime.executors import open_executor

CHUNKS_PER_WORKER = (
    4  # in which each worker gets its games, where they travel: no one waits long for the last
)


class Matchup(NamedTuple):
    """A game to be played between two player tuples."""

    black: Any
    white: Any
    opening: str | None = None
    seed: tuple[int, ...] = ()  # of the generator for players that use chance


class GameRunner:
    """Plays fixtures on an executor; made by :func:`open_game_runner`.

    The results are in the order of the fixtures and depend on nothing else.

    Attributes
    ----------
    seconds
        CPU time that games have taken so far, in threads or processes other than the caller's.
    """

    def __init__(self, pool: Executor, workers: int, engine: str) -> None:
        self._pool, self._workers, self._engine = pool, workers, engine
        self.seconds = 0.0

    def play(self, matchups: Iterable[Matchup], rules: DrawRules) -> list[Game]:
        """Play each game to its end."""
        drawn = list(matchups)
        game = partial(play_matchup, rules=rules, engine=self._engine)
        share = math.ceil(len(drawn) / (self._workers * CHUNKS_PER_WORKER)) or 1
        played = list(self._pool.map(game, drawn, chunksize=share))
        self.seconds += sum(seconds for _, seconds in played)
        return [result for result, _ in played]


def play_matchup(matchup: Matchup, rules: DrawRules, engine: str) -> tuple[Game, float]:
    """Play one game; the second part is the CPU time that it took, in seconds."""
    began = time.thread_time()
    game = play_game(
        matchup.black,
        matchup.white,
        opening=matchup.opening,
        rules=rules,
        rng=np.random.default_rng(matchup.seed),
        engine=engine,
    )
    return game, time.thread_time() - began


@contextmanager
def open_game_runner(
    workers: int, engine: str = "kernel", executor: str = "threads", address: str | None = None
) -> Iterator[GameRunner]:
    """A game runner for the length of a with block; what is not yet begun is dropped at its end.

    `executor` and `address` are those of :func:`training.runtime.executors.open_executor`. Raises
    ValueError for an engine that there is not, and as that function does.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    with open_executor(executor, workers, address) as pool:
        yield GameRunner(pool, workers, engine)
