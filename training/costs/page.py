"""Page of the costs: tables, what bounds each, and one picture."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from training.costs.cluster import Cluster, Generation, simulate
from training.costs.curves import Cost, Overheads, Throughput, exponent
from training.runtime.curves import new_figure, to_svg

CORES = 1, 2, 4, 8, 16, 32, 64, 128, 256
POPULATIONS = 30, 300, 3_000, 30_000, 100_000
OPPONENTS = 5

Clusters = dict[int, list[Generation]]
"""Generations by the number of networks, one for each of CORES."""


class EvolutionCosts(NamedTuple):
    """All that is measured.

    Attributes
    ----------
    plies, games, population, weights
        Curves of one CPU.
    workers
        Several executors on this machine.
    overheads
        What the simulation needs.
    """

    plies: list[Cost]
    games: list[Cost]
    population: list[Cost]
    weights: list[Cost]
    workers: list[Throughput]
    overheads: Overheads


def page(costs: EvolutionCosts, clusters: Clusters, processor: str, picture: str) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    costs
        The measurements.
    clusters
        The simulations.
    processor
        Name of the processor.
    picture
        Path of the picture, relative to the page.
    """
    overheads, game = costs.overheads, 1e3 * costs.overheads.game_seconds
    alike = costs.plies[len(costs.plies) // 3 :]  # behind the first plies, which are too short
    two_plies = (_game(alike[-1]) / _game(alike[0])) ** (2 / (alike[-1].size - alike[0].size))
    alone = next(row for row in costs.workers if row.workers == 1)
    lines = [
        "# Cost as the work grows",
        "",
        "One command measures this page and writes it: "
        "`python training/scaling.py --ray --page docs/scaling.md`. "
        f"The processor is: {processor}. Networks are random, as in a first generation. "
        "Later generations play longer games, which cost about three times as much.",
        "",
        f"![Six curves of cost]({picture})",
        "",
        "## Plies",
        "",
        f"From {alike[0].size} plies on, two more cost {two_plies:.1f} times as much in the mean. "
        "The bound is the number of positions that alpha-beta cannot cut.",
        "",
        *curve_table(costs.plies, "plies"),
        "",
        "## Games of a generation",
        "",
        "30 networks. The bound is the games. The cost grows as "
        f"games^{exponent(costs.games):.2f}, since more pairs are drawn "
        "twice, and no game is played twice.",
        "",
        *curve_table(costs.games, "in a generation"),
        "",
        "## Population",
        "",
        f"One game a network. The cost grows as networks^{exponent(costs.population):.2f}. "
        "The bound is the games; mutation is the rest.",
        "",
        *curve_table(costs.population, "networks"),
        "",
        "## Weights",
        "",
        "The 1999 network, the 2001 network, and the 2001 network with more layers of 40 nodes. "
        "At the end, the cost of a game grows as "
        f"weights^{exponent(costs.weights, each_game=True):.2f}. "
        "The bound is the multiply-adds of the layers behind the first. Up to the 2001 network, "
        "the search itself costs as much.",
        "",
        *curve_table(costs.weights, "weights"),
        "",
        "## Workers on this machine",
        "",
        "The same games on each. The simulation below predicts processes and Ray from the CPU time "
        "of their games; its error is the last column. The bound is the machine: its two CPUs may "
        "be the two threads of one core, and then a second worker slows down the first.",
        "",
        "| executor | workers | games/s | times one thread | CPU-ms a game | predicted/measured |",
        "|---|---:|---:|---:|---:|---:|",
        *(worker_row(row, alone, overheads) for row in costs.workers),
        "",
        "## A cluster, simulated",
        "",
        f"{OPPONENTS} games a network at 4 plies. Measured on this machine:",
        "",
        f"- A game takes {game.mean():.2f} CPU-ms, {game.max():.1f} at most.",
        f"- Mutation and selection take {1e3 * overheads.member_seconds:.2f} CPU-ms a network.",
        f"- A call takes {1e3 * overheads.call_seconds:.2f} CPU-ms of the coordinator.",
        f"- The networks of a game are {overheads.game_bytes / 1e3:.0f} kB, packed at "
        f"{1e-6 / max(overheads.byte_seconds, 1e-12):,.0f} MB/s.",
        "",
        "Assumed: a link of 10 Gbit/s, 0.2 ms of latency, 2 % of the cores three times slower.",
        "",
        "Times faster than one core without messages:",
        "",
        f"| networks | {' | '.join(map(str, CORES))} | bound at {CORES[-1]} cores |",
        "|---:|" + "---:|" * len(CORES) + "---|",
        *(
            f"| {networks:,} | {' | '.join(f'{it.speedup:.1f}' for it in row)} | {row[-1].bound} |"
            for networks, row in clusters.items()
        ),
        "",
        *conclusion(clusters),
        "",
    ]
    return "\n".join(lines)


def _game(cost: Cost) -> float:
    return cost.playing / cost.games


def curve_table(costs: Sequence[Cost], label: str) -> list[str]:
    """Return the rows of a curve's table."""
    rows = (
        f"| {cost.size:,} | {cost.games:,} | {1e3 * cost.playing / cost.games:.3g} | "
        f"{cost.playing + cost.rest:.3g} | {cost.rest / (cost.playing + cost.rest):.0%} |"
        for cost in costs
    )
    head = f"| {label} | games | CPU-ms a game | CPU-seconds in all | not games |"
    return [head, "|---:|---:|---:|---:|---:|", *rows]


def worker_row(row: Throughput, alone: Throughput, overheads: Overheads) -> str:
    """Return a row of the table of executors."""
    ratio = "" if row.kind == "threads" else f"{predicted(row, overheads) / row.seconds:.2f}"
    gain = row.games / row.seconds / (alone.games / alone.seconds)
    return (
        f"| {row.kind} | {row.workers} | {row.games / row.seconds:.0f} | {gain:.2f} | "
        f"{1e3 * row.playing / row.games:.2f} | {ratio} |"
    )


def predicted(row: Throughput, overheads: Overheads) -> float:
    """Return the simulated seconds of a measured tournament on this machine."""
    pace = row.playing / row.games / overheads.game_seconds.mean()
    known = overheads._replace(game_seconds=pace * overheads.game_seconds, member_seconds=0.0)
    here = Cluster(min(row.workers, os.cpu_count() or 1), np.inf, 0.0, 0.0)
    return simulate(here, known, 0, row.games, np.random.default_rng(0)).playing


def simulations(overheads: Overheads) -> Clusters:
    """Return the generations of every population on every number of cores."""
    return {
        networks: [
            simulate(
                Cluster(cores),
                overheads,
                networks,
                OPPONENTS * networks,
                np.random.default_rng(0),
            )
            for cores in CORES
        ]
        for networks in POPULATIONS
    }


def conclusion(clusters: Clusters) -> list[str]:
    """Return what the largest simulation says."""
    networks, row = next(reversed(clusters.items()))
    last = row[-1]
    return [
        f"{networks:,} networks on {CORES[-1]} cores: {last.total:.1f} s a generation instead of "
        f"{row[0].alone:,.0f} s on one core. Of these, {last.coordinator:.1f} s are mutation and "
        f"selection on the coordinator. Sending takes {last.sending:.1f} s of the "
        f"{last.playing:.1f} s of play. Workers that mutate the networks themselves, from a seed "
        "that they are sent, would need neither."
    ]


def picture(costs: EvolutionCosts, clusters: Clusters) -> bytes:
    """Plot the six curves; return SVG."""
    figure = new_figure(11, 6)
    axes = figure.subplots(2, 3).ravel()
    for place, (costs_of, label) in enumerate(
        (
            (costs.plies, "plies"),
            (costs.games, "games of a generation"),
            (costs.population, "networks"),
            (costs.weights, "weights"),
        )
    ):
        each = place in (0, 3)
        values = [1e3 * it.playing / it.games if each else it.playing + it.rest for it in costs_of]
        axes[place].plot([it.size for it in costs_of], values, "o-", color="tab:blue")
        axes[place].set(xlabel=label, yscale="log", xscale="linear" if place == 0 else "log")
        axes[place].set_ylabel("CPU-ms a game" if each else "CPU-seconds a generation")
    _plot_workers(axes[4], costs.workers)
    for networks, row in clusters.items():
        axes[5].plot(CORES, [it.speedup for it in row], label=f"{networks:,} networks")
    axes[5].plot(CORES, CORES, color="grey", linewidth=0.8, linestyle=":")
    axes[5].set(xlabel="cores (simulated)", ylabel="times one core", xscale="log", yscale="log")
    axes[5].legend(frameon=False, fontsize="small")
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
    return to_svg(figure)


def _plot_workers(axes: Any, workers: Iterable[Throughput]) -> None:
    rows = list(workers)
    names = [f"{row.kind} {row.workers}" for row in rows]
    axes.barh(names[::-1], [row.games / row.seconds for row in rows[::-1]], color="tab:blue")
    axes.set(xlabel="games a second, on the clock")
