"""Measured cost of evolution against plies, games, population, weights and workers.

Every curve is measured with random networks of the papers' first generation.
"""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001, NetworkLayout, decode
from agents.search.player import AlphaBeta
from training.evolution.game_runner import GameRunner, Matchup, open_game_runner, play_matchup
from training.regimes.coevolution import Coevolution
from training.runtime.executors import open_executor

WIDE = 40  # nodes of each layer that makes a network larger
CALL = 20  # games of a call whose size is measured


class Cost(NamedTuple):
    """CPU time of some games.

    Attributes
    ----------
    size
        What the curve grows in: plies, games, networks or weights.
    games
        Number of games.
    playing
        CPU-seconds of the games.
    rest
        CPU-seconds of everything else in a generation: mutation, preparation, selection.
    """

    size: int
    games: int
    playing: float
    rest: float = 0.0


class Throughput(NamedTuple):
    """Speed of several workers.

    Attributes
    ----------
    kind
        Executor, as of :func:`training.runtime.executors.open_executor`.
    workers
        Calls at once.
    games
        Number of games.
    seconds
        Time on the clock.
    playing
        CPU-seconds of the games, in all workers together.
    """

    kind: str
    workers: int
    games: int
    seconds: float
    playing: float


class Overheads(NamedTuple):
    """What a coordinator of worker processes pays.

    Attributes
    ----------
    game_seconds
        CPU time of single games, shape (games,).
    call_seconds
        Time of the coordinator for each call to a worker process, without its arguments.
    byte_seconds
        Time of the coordinator for each byte of arguments.
    game_bytes
        Bytes of a game's arguments, within a call of several games of one generation: the network
        that several of them share is sent once.
    member_seconds
        CPU time of mutation, preparation and selection for each network of a generation.
    """

    game_seconds: NDArray[np.float64]
    call_seconds: float
    byte_seconds: float
    game_bytes: int
    member_seconds: float


def measure_generation(regime: Coevolution, size: int, repeats: int) -> Cost:
    """Measure a first generation.

    Parameters
    ----------
    regime
        The regime.
    size
        Place on the curve.
    repeats
        Number of measurements, of which the fastest counts.
    """
    state, costs = regime.init(0), []
    for _ in range(repeats):
        with open_game_runner(1) as runner:
            began = time.process_time()
            regime.step(state, runner)
            total = time.process_time() - began
        costs.append(Cost(size, regime.games, runner.seconds, total - runner.seconds))
    return min(costs, key=lambda cost: cost.playing + cost.rest)


def measure_plies(most: int, parents: int, repeats: int) -> list[Cost]:
    """Measure generations that search 1 to `most` plies, with one game a network."""
    measure_generation(Coevolution(parents=1, opponents=1), 0, 1)  # compile or load the kernels
    return [
        measure_generation(Coevolution(parents=parents, opponents=1, depth=depth), depth, repeats)
        for depth in range(1, most + 1)
    ]


def measure_games(opponents: Iterable[int], repeats: int) -> list[Cost]:
    """Measure generations of 30 networks with so many opponents for each."""
    regimes = [Coevolution(opponents=count) for count in opponents]
    return [measure_generation(regime, regime.games, repeats) for regime in regimes]


def measure_population(parents: Iterable[int], repeats: int) -> list[Cost]:
    """Measure generations of so many parents and as many offspring, with one game a network."""
    return [
        measure_generation(Coevolution(parents=count, opponents=1), 2 * count, repeats)
        for count in parents
    ]


def measure_weights(layers: Iterable[int], games: int, repeats: int) -> list[Cost]:
    """Measure games of the 1999 network, and of the 2001 network with more layers of 40 nodes.

    Parameters
    ----------
    layers
        Numbers of added layers.
    games
        Games at the papers' size. Larger networks play fewer, at least four.
    repeats
        Number of measurements, of which the fastest counts.
    """
    layouts = [BLONDIE_1999, *(deeper(count) for count in layers)]
    costs = []
    for layout in layouts:
        count = max(4, min(games, games * BLONDIE_2001.weight_count // layout.weight_count))
        matchups = sample_matchups(layout, count)
        playing = min(_play_alone(matchups) for _ in range(repeats))
        costs.append(Cost(layout.weight_count, count, playing))
    return costs


def deeper(layers: int) -> NetworkLayout:
    """Return the layout of the 2001 network with more hidden layers of 40 nodes."""
    return BLONDIE_2001._replace(hidden=(WIDE,) * layers + BLONDIE_2001.hidden)


def sample_matchups(layout: NetworkLayout, games: int, seed: int = 0) -> list[Matchup]:
    """Pair random networks at 4 plies; no pair meets twice.

    Parameters
    ----------
    layout
        Layout of the networks. Their weights are drawn as the papers draw their first parents.
    games
        Number of games. As in the papers each network plays five of them as Black, if there are as
        many opponents.
    seed
        Samples the weights and the pairs.
    """
    regime, rng = Coevolution(), np.random.default_rng(seed)
    members = max(math.ceil(games / regime.opponents), math.isqrt(games) + 2)
    genomes = rng.uniform(-regime.weight, regime.weight, (members, layout.genome_size))
    players = [AlphaBeta(decode(layout, genome, regime.king), regime.depth) for genome in genomes]
    matchups: list[Matchup] = []
    for black in range(members):
        others = [white for white in rng.permutation(members).tolist() if white != black]
        chosen = others[: regime.opponents]
        matchups += [Matchup(players[black], players[white]) for white in chosen]
    return matchups[:games]


def _play_alone(matchups: Sequence[Matchup]) -> float:
    """Return the CPU-seconds of the games on one thread."""
    with open_game_runner(1) as runner:
        runner.play(matchups, Coevolution().rules)
    return runner.seconds


def measure_workers(kinds: Iterable[tuple[str, int]], games: int, repeats: int) -> list[Throughput]:
    """Measure the same games on several executors.

    Parameters
    ----------
    kinds
        Executors and numbers of workers.
    games
        Number of games.
    repeats
        Number of measurements, of which the fastest counts.
    """
    rules, found = Coevolution().rules, []
    # Other games each time: a runner plays none twice. The first ones start the workers.
    warm_up, *samples = (sample_matchups(BLONDIE_2001, games, seed) for seed in range(repeats + 1))
    for kind, workers in kinds:
        with open_game_runner(workers, executor=kind) as runner:
            runner.play(warm_up[: 8 * workers], rules)
            rows = [_clock(runner, matchups, rules) for matchups in samples]
        seconds, playing = min(rows)
        found.append(Throughput(kind, workers, games, seconds, playing))
    return found


def _clock(runner: GameRunner, matchups: Sequence[Matchup], rules: Any) -> tuple[float, float]:
    before, began = runner.seconds, time.perf_counter()
    runner.play(matchups, rules)
    return time.perf_counter() - began, runner.seconds - before


def measure_overheads(population: Sequence[Cost], games: int, calls: int) -> Overheads:
    """Measure what the simulation of a cluster needs.

    Parameters
    ----------
    population
        Curve of :func:`measure_population`: its largest point gives the cost of a network.
    games
        Number of single games.
    calls
        Number of calls to a worker process.
    """
    rules = Coevolution().rules
    matchups = sample_matchups(BLONDIE_2001, games)
    play = partial(play_matchup, rules=rules, engine="kernel")
    play(matchups[0])
    seconds = np.array([play(matchup)[1] for matchup in matchups])
    call = tuple(matchups[:CALL])
    size = len(pickle.dumps(call))
    with open_executor("processes", 1) as pool:
        empty = _coordinator_seconds(pool, calls, ())
        loaded = _coordinator_seconds(pool, calls, call)
    byte_seconds = max(loaded - empty, 0.0) / size
    largest = population[-1]
    return Overheads(seconds, empty, byte_seconds, size // len(call), largest.rest / largest.size)


def _coordinator_seconds(pool: Executor, calls: int, argument: Any) -> float:
    """Return the CPU time of this process for each call with this argument."""
    ignore: Callable[[Any], None] = _ignore
    list(pool.map(ignore, [argument]))
    began = time.process_time()
    list(pool.map(ignore, [argument] * calls))
    return (time.process_time() - began) / calls


def _ignore(argument: Any) -> None:
    """Take an argument."""


def exponent(costs: Sequence[Cost], *, each_game: bool = False) -> float:
    """Return b of ``seconds = a size^b``, fitted to the upper half of a curve.

    Parameters
    ----------
    costs
        The curve.
    each_game
        Fit the seconds of a game instead of those of all.
    """
    upper = costs[(len(costs) - 1) // 2 :]
    seconds = [(it.playing + it.rest) / (it.games if each_game else 1) for it in upper]
    return float(np.polyfit(np.log([it.size for it in upper]), np.log(seconds), 1)[0])
