"""Runner of a generation's games, on threads (kernels release the GIL), processes or Ray.

Two players that neither sample nor look back at earlier positions play one and the same game each
time. The runner plays it once: pairs that are drawn twice, and parents that meet again in the next
generation, get the game that is known.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain, count, repeat
from operator import itemgetter
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import numpy as np

from agents.match import ENGINES, MatchGame, play_game
from agents.player import is_stochastic, uses_history
from checkers_env.state import DrawRules
from training.runtime.executors import open_executor, stop_requested

CHUNKS_PER_WORKER = 4  # parts of a call's games for processes: small parts keep all busy to the end
KNOWN_GAMES = 2048  # of the last calls, for the next ones


T = TypeVar("T")
R = TypeVar("R")


class Matchup(NamedTuple):
    """A game to be played between two compiled players."""

    black: Any
    white: Any
    opening: str | None = None  # moves of a ballot card; None for the start position
    seed: tuple[int, ...] = ()  # of the generator of players that use chance


GameKey = int | tuple[str, str, str | None, DrawRules]
Task = tuple[int, Matchup, tuple[int, int]]  # place among the results, game, players' numbers

_UNUSED = np.random.default_rng(0)  # of players without chance: a new one takes 35 microseconds


class GameRunner:
    """Runs games on an executor; :func:`open_game_runner` makes one.

    The results are in the order of the matchups and depend on nothing else. `seconds` is the CPU
    time of the games so far, in threads or processes other than the caller's.
    """

    def __init__(self, pool: Executor, workers: int, engine: str) -> None:
        self._pool, self._workers, self._engine = pool, workers, engine
        self._known: dict[GameKey, MatchGame] = {}  # the latest ones last
        self.seconds = 0.0

    def play(self, matchups: Iterable[Matchup], rules: DrawRules) -> list[MatchGame]:
        """Play each game to its end; a game that is known already is not played again."""
        wanted = list(matchups)
        keys = game_keys(wanted, rules) if self._engine == "kernel" else [*range(len(wanted))]
        new = {key: game for key, game in zip(keys, wanted, strict=True) if key not in self._known}
        played = dict(zip(new, self._play(new, rules), strict=True))
        games = [played[key] if key in played else self._known[key] for key in keys]
        for key, game in zip(keys, games, strict=True):
            if isinstance(key, tuple):
                self._known.pop(key, None)
                self._known[key] = game
        for key in [*self._known][: max(len(self._known) - KNOWN_GAMES, 0)]:
            del self._known[key]
        return games

    def map(self, call: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Call a function with each item, at once; return the results in order."""
        timed = [*self._pool.map(partial(_timed, call), items)]
        self.seconds += sum(seconds for _, seconds in timed)
        return [result for result, _ in timed]

    def map_threads(self, call: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Call a function that writes to arrays with each item, at once if threads share them."""
        if isinstance(self._pool, ThreadPoolExecutor):
            return self.map(call, items)
        return [*map(call, items)]

    def _play(self, games: dict[GameKey, Matchup], rules: DrawRules) -> list[MatchGame]:
        tasks = [*zip(count(), games.values(), map(player_numbers, games), strict=False)]
        play = partial(play_tasks, rules=rules, engine=self._engine)
        played = chain.from_iterable(self._pool.map(play, self._parts(tasks)))
        results = sorted(played, key=itemgetter(0))
        self.seconds += sum(seconds for _, _, seconds in results)
        return [game for _, game, _ in results]

    def _parts(self, tasks: list[Task]) -> Sequence[Iterable[Task]]:
        """Return what each call of a worker plays. Threads take game after game from one queue."""
        if not isinstance(self._pool, ThreadPoolExecutor):
            size = math.ceil(len(tasks) / (self._workers * CHUNKS_PER_WORKER)) or 1
            return [tasks[begin : begin + size] for begin in range(0, len(tasks), size)]
        queue: SimpleQueue[Task | None] = SimpleQueue()
        for task in (*tasks, *repeat(None, self._workers)):
            queue.put(task)
        return [iter(queue.get, None) for _ in range(self._workers)]


def game_keys(matchups: Sequence[Matchup], rules: DrawRules) -> list[GameKey]:
    """Return for each game what decides its course: equal keys, equal games.

    A key is hashes of Black and White, the opening and the rules; the number of the game where
    chance or the past may decide.
    """
    players = {id(player): player for game in matchups for player in (game.black, game.white)}
    repeatable = {name for name, player in players.items() if is_repeatable(player)}
    pairs = [(id(game.black), id(game.white)) for game in matchups]
    decided = {name for pair in pairs if repeatable.issuperset(pair) for name in pair}
    hashes = {name: player_hash(players[name]) for name in decided}
    keys: list[GameKey] = []
    for number, (matchup, pair) in enumerate(zip(matchups, pairs, strict=True)):
        black, white = map(hashes.get, pair)
        if black is None or white is None:
            keys.append(number)
        else:
            keys.append((black, white, matchup.opening, rules))
    return keys


def is_repeatable(player: Any) -> bool:
    """Return whether the moves of a compiled player depend on the position alone."""
    return not (is_stochastic(player) or uses_history(player))


def player_hash(player: Any) -> str | None:
    """Return a hash of a player's class and content; None if its moves depend on more."""
    if not is_repeatable(player):
        return None
    digest = hashlib.sha256()
    try:
        for part in _content(player):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    except TypeError:
        return None
    return digest.hexdigest()


def _content(thing: Any) -> Iterator[bytes | memoryview]:
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "biuf":
        yield f"{thing.dtype.str}{thing.shape}".encode()
        yield np.ascontiguousarray(thing).reshape(-1).view(np.uint8).data  # no copy
    elif isinstance(thing, tuple):
        yield f"{type(thing).__module__}.{type(thing).__qualname__}, {len(thing)}".encode()
        for part in thing:
            yield from _content(part)
    elif isinstance(thing, bool | int | float | str | np.bool_ | np.number | None):
        yield repr(thing).encode()
    else:
        raise TypeError(f"{type(thing).__name__} has no content that can be hashed")


def player_numbers(key: GameKey) -> tuple[int, int]:
    """Return the numbers of Black and White for ``play_game``, by the key of their game."""
    if isinstance(key, int):
        return 0, 0
    black, white = (int(digest[:13], 16) for digest in key[:2])
    return black, white


def play_tasks(
    tasks: Iterable[Task], rules: DrawRules, engine: str
) -> list[tuple[int, MatchGame, float]]:
    """Play games until there is none left, or the worker is asked to stop.

    The result is each game with its place among the results, and its CPU time in seconds.
    """
    results = []
    for place, matchup, numbers in tasks:
        if stop_requested():
            break
        results.append((place, *play_matchup(matchup, rules, engine, numbers)))
    return results


def play_matchup(
    matchup: Matchup, rules: DrawRules, engine: str, numbers: tuple[int, int] = (0, 0)
) -> tuple[MatchGame, float]:
    """Play one game; return it and its CPU time in seconds."""
    began = time.thread_time()
    black, white, opening, seed = matchup
    chance = is_stochastic(black) or is_stochastic(white)
    game = play_game(
        black,
        white,
        opening=opening,
        rules=rules,
        rng=np.random.default_rng(seed) if chance else _UNUSED,
        engine=engine,
        player_ids=numbers,
    )
    return game, time.thread_time() - began


def _timed(call: Callable[[T], R], item: T) -> tuple[R, float]:
    """Call a function; return its result and its CPU time in seconds."""
    began = time.thread_time()
    result = call(item)
    return result, time.thread_time() - began


@contextmanager
def open_game_runner(
    workers: int, engine: str = "kernel", executor: str = "threads", address: str | None = None
) -> Iterator[GameRunner]:
    """Open a game runner for a with block; at its end, games that have not begun are dropped.

    `workers` is the number of games at once; the engine is ``"kernel"`` (compiled) or ``"env"``
    (through the AEC environment, slow).

    Raises
    ------
    ValueError
        For an unknown engine, and as :func:`training.runtime.executors.open_executor` does.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    with open_executor(executor, workers, address) as pool:
        yield GameRunner(pool, workers, engine)
