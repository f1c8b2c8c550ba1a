"""Simulation of a generation on a cluster, from costs measured on one machine.

One coordinator mutates, sends calls of several games to workers over one network link, and selects.
Workers take the calls in order, each as soon as it is free. A few workers are slow.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.costs.curves import Overheads
from training.evolution.game_runner import CHUNKS_PER_WORKER


class Cluster(NamedTuple):
    """Assumptions about a cluster.

    Attributes
    ----------
    workers
        Cores that play.
    bandwidth
        Bytes a second that the coordinator sends.
    latency
        Seconds between coordinator and worker, each way.
    slow_share
        Share of workers that are slow.
    slowness
        Time of a slow worker, in times of the others.
    """

    workers: int
    bandwidth: float = 1.25e9
    latency: float = 2e-4
    slow_share: float = 0.02
    slowness: float = 3.0


class Generation(NamedTuple):
    """Simulated times of a generation, in seconds.

    Attributes
    ----------
    alone
        On one core that needs no messages.
    coordinator
        Work that only the coordinator does: mutation, preparation, selection.
    sending
        Until the last call has left the coordinator.
    playing
        From the first call to the last answer.
    """

    alone: float
    coordinator: float
    sending: float
    playing: float

    @property
    def total(self) -> float:
        """Time of the generation."""
        return self.coordinator + self.playing

    @property
    def speedup(self) -> float:
        """Times faster than one core alone."""
        return self.alone / self.total

    @property
    def bound(self) -> str:
        """What takes most of the time."""
        if self.coordinator > self.playing:
            return "the coordinator's own work"
        return "sending networks" if self.sending > 0.5 * self.playing else "games"


def simulate(
    cluster: Cluster, overheads: Overheads, networks: int, games: int, rng: np.random.Generator
) -> Generation:
    """Simulate one generation.

    Parameters
    ----------
    cluster
        The cluster.
    overheads
        Measured costs.
    networks
        Networks of a generation, parents and offspring.
    games
        Games of a generation.
    rng
        Samples the games' times and the slow workers.
    """
    seconds = rng.choice(overheads.game_seconds, games)
    coordinator = networks * overheads.member_seconds
    calls = _calls(seconds, cluster.workers)
    slow = rng.permutation(cluster.workers) < math.floor(cluster.slow_share * cluster.workers)
    pace = np.where(slow, cluster.slowness, 1.0)
    free = [(0.0, worker) for worker in range(cluster.workers)]  # a heap
    sent, last = 0.0, 0.0
    for count, work in calls:
        size = count * overheads.game_bytes
        sent += overheads.call_seconds + size * max(overheads.byte_seconds, 1 / cluster.bandwidth)
        since, worker = heapq.heappop(free)
        done = max(since, sent + cluster.latency) + work * pace[worker]
        heapq.heappush(free, (done, worker))
        last = max(last, done + cluster.latency)
    return Generation(coordinator + float(seconds.sum()), coordinator, sent, last)


def _calls(seconds: NDArray[np.float64], workers: int) -> list[tuple[int, float]]:
    """Return number and total time of each call's games, cut as the game runner cuts them."""
    chunk = math.ceil(len(seconds) / (workers * CHUNKS_PER_WORKER)) or 1
    starts = range(0, len(seconds), chunk)
    return [(len(part), float(part.sum())) for part in (seconds[at : at + chunk] for at in starts)]
