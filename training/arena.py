"""Where the games of a generation are played: in threads, since kernels run without the GIL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from agents.match import ENGINES, Game, play_game
from agents.play import DrawRules


class Fixture(NamedTuple):
    """A game to be played between two player tuples."""

    black: Any
    white: Any
    opening: str | None = None
    seed: tuple[int, ...] = ()  # of the generator for players that use chance


class Arena:
    """Plays fixtures with a number of threads; made by :func:`open_arena`.

    The results are in the order of the fixtures and depend on nothing else.
    """

    def __init__(self, pool: ThreadPoolExecutor, engine: str) -> None:
        self._pool, self._engine = pool, engine

    def play(self, fixtures: Iterable[Fixture], rules: DrawRules) -> list[Game]:
        """Play each game to its end."""

        def game(fixture: Fixture) -> Game:
            rng = np.random.default_rng(fixture.seed)
            return play_game(
                fixture.black,
                fixture.white,
                opening=fixture.opening,
                rules=rules,
                rng=rng,
                engine=self._engine,
            )

        return list(self._pool.map(game, fixtures))


@contextmanager
def open_arena(threads: int, engine: str = "kernel") -> Iterator[Arena]:
    """An arena for the length of a with block; what is not yet begun is dropped at its end."""
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    pool = ThreadPoolExecutor(threads)
    try:
        yield Arena(pool, engine)
    finally:
        pool.shutdown(cancel_futures=True)
