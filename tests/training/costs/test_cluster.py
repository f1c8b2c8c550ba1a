"""The simulated cluster, against cases that can be computed by hand."""

from collections.abc import Callable

import numpy as np
import pytest

from training.costs.cluster import Cluster, simulate
from training.costs.curves import Cost, Overheads, exponent

FREE = Overheads(np.array([0.5]), 0.0, 0.0, 1000, 0.0)  # each game takes half a second
IDEAL = Cluster(1, np.inf, 0.0, 0.0)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(("workers", "seconds"), [(1, 60.0), (2, 30.0), (8, 8.0), (200, 0.5)])
def test_without_overheads_the_workers_share_the_games(workers: int, seconds: float) -> None:
    generation = simulate(IDEAL._replace(workers=workers), FREE, 30, 120, rng())
    assert generation.alone == pytest.approx(60.0)
    assert generation.total == pytest.approx(seconds)  # 8 workers: calls of 4 games, 30 in all
    assert generation.bound == "games"


def test_a_slow_link_bounds_the_generation() -> None:
    cluster = Cluster(64, 1e3, 0.0, 0.0)  # a second for each game's networks
    generation = simulate(cluster, FREE, 30, 64, rng())
    assert generation.sending == pytest.approx(64.0)
    assert generation.playing == pytest.approx(64.5)
    assert generation.bound == "sending networks"


def test_the_coordinator_bounds_a_large_cluster() -> None:
    overheads = FREE._replace(member_seconds=1.0)
    generation = simulate(IDEAL._replace(workers=256), overheads, 30, 120, rng())
    assert generation.total == pytest.approx(30.5)
    assert generation.speedup == pytest.approx(90 / 30.5)
    assert generation.bound == "the coordinator's own work"


def test_latency_is_paid_once_each_way_and_each_call_costs_the_coordinator() -> None:
    overheads = FREE._replace(call_seconds=0.01)
    generation = simulate(IDEAL._replace(latency=0.1), overheads, 2, 4, rng())
    assert generation.playing == pytest.approx(0.01 + 0.1 + 4 * 0.5 + 0.1)


def test_a_slow_worker_holds_up_the_end() -> None:
    fast = simulate(IDEAL._replace(workers=4), FREE, 30, 4, rng())
    slow = simulate(IDEAL._replace(workers=4, slow_share=0.25), FREE, 30, 4, rng())
    assert fast.playing == pytest.approx(0.5)
    assert slow.playing == pytest.approx(1.5)


@pytest.mark.parametrize("law", [lambda size: 3 * size**1.5, lambda size: 7.0])
def test_exponent_of_a_power_law(law: Callable[[float], float]) -> None:
    costs = [Cost(size, 1, law(size), 0.0) for size in (1, 2, 4, 8)]
    assert exponent(costs) == pytest.approx(np.log(law(8) / law(4)) / np.log(2))


def test_exponent_is_of_the_cost_of_a_game() -> None:
    costs = [Cost(size, 8 // size, 3.0, 0.0) for size in (1, 2, 4, 8)]
    assert exponent(costs, each_game=True) == pytest.approx(1.0)
