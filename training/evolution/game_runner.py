"""Runner of a generation's games, on threads (kernels release the GIL), processes or Ray."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agents.match import ENGINES, MatchGame, play_game
from checkers_env.state import DrawRules
from training.runtime.executors import open_executor

CHUNKS_PER_WORKER = 4  # parts of a call's games: small parts keep all workers busy to the end


class Matchup(NamedTuple):
    """A game to be played between two compiled players.

    Attributes
    ----------
    opening
        Moves of a ballot card; None for the start position.
    seed
        Seed of the generator of players that use chance.
    """

    black: Any
    white: Any
    opening: str | None = None
    seed: tuple[int, ...] = ()


class GameRunner:
    """Runs games on an executor; :func:`open_game_runner` makes one.

    The results are in the order of the matchups and depend on nothing else.

    Attributes
    ----------
    seconds
        CPU time of the games so far, in threads or processes other than the caller's.
    """

    def __init__(self, pool: Executor, workers: int, engine: str) -> None:
        self._pool, self._workers, self._engine = pool, workers, engine
        self.seconds = 0.0

    def play(self, matchups: Iterable[Matchup], rules: DrawRules) -> list[MatchGame]:
        """Play each game to its end."""
        games = list(matchups)
        play = partial(play_matchup, rules=rules, engine=self._engine)
        chunk = math.ceil(len(games) / (self._workers * CHUNKS_PER_WORKER)) or 1
        results = list(self._pool.map(play, games, chunksize=chunk))
        self.seconds += sum(seconds for _, seconds in results)
        return [game for game, _ in results]


def play_matchup(matchup: Matchup, rules: DrawRules, engine: str) -> tuple[MatchGame, float]:
    """Play one game.

    Parameters
    ----------
    matchup
        Players, opening and seed.
    rules
        Draw rules.
    engine
        ``"kernel"`` or ``"env"``.

    Returns
    -------
    The game, and its CPU time in seconds.
    """
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
    """Open a game runner for a with block; at its end, games that have not begun are dropped.

    Parameters
    ----------
    workers
        Games at once.
    engine
        ``"kernel"`` (compiled) or ``"env"`` (through the AEC environment, slow).
    executor, address
        As for :func:`training.runtime.executors.open_executor`.

    Raises
    ------
    ValueError
        For an unknown engine, and as ``open_executor`` does.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    with open_executor(executor, workers, address) as pool:
        yield GameRunner(pool, workers, engine)
