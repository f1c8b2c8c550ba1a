"""Claims that players, or runs of one player, are equally good: chi-squares over the cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.experiments.inference import (
    LEVEL,
    ChiSquare,
    benjamini_hochberg,
    spread_of_matches,
    spread_of_round_robin,
)
from training.experiments.jobs import AS_THE_THESIS, Player, match_of
from training.experiments.measures import POINTS
from training.experiments.plan import Scope
from training.experiments.results import MatchResult, ResultStore
from training.experiments.tables import EXPERIMENTS, Table

Points = NDArray[np.float64]  # above one half by card, seen from the first of two players


class Sameness(NamedTuple):
    """A claim that players, or runs of one player, are equally good."""

    statement: str
    table: str
    theirs: str
    ours: ChiSquare
    spread: str  # of our games, in words


def sameness_rows(tables: Sequence[Table], scope: Scope, store: ResultStore) -> Iterator[list[str]]:
    """Yield the cells of each claim whose table is asked for, and whose matches are played."""
    found = [it for it in (_ten(scope, store), _five(scope, store), _runs(scope, store)) if it]
    found = [it for it in found if EXPERIMENTS[it.table] in tables]
    qs = benjamini_hochberg([it.ours.p_uneven for it in found])
    for it, q in zip(found, qs, strict=True):
        chi_square = f"{it.ours.value:.0f} on {it.ours.df}"
        figures = (it.theirs, chi_square, f"{it.ours.p_uneven:.1g}", f"{q:.1g}", it.spread)
        word = "**refuted**" if q <= LEVEL else "**undecided**"
        yield [f"{it.statement} {it.table}", *figures, word]


def _ten(scope: Scope, store: ResultStore) -> Sameness | None:
    players = [line.first for line in EXPERIMENTS["table-3.2"].rows]
    points = _round_robin(players, 0, scope, store)
    if points is None:
        return None
    scores = 100 * points.mean(axis=2).sum(axis=1) / (len(players) - 1) + 50
    return Sameness(
        "Ten runs of C0 are statistically the same (thesis, 3.3).",
        "table-3.2",
        "5.4 on 45; p of so little: 6e-14",
        spread_of_round_robin(points),
        f"their scores are {scores.min():.1f} to {scores.max():.1f} %",
    )


def _five(scope: Scope, store: ResultStore) -> Sameness | None:
    players = [line.first for line in EXPERIMENTS["table-4.1"].rows]
    seeds = range(scope.seeds_of(players[0]))
    several = [_round_robin(players, seed, scope, store) for seed in seeds]
    leagues = [points for points in several if points is not None]
    if not leagues:
        return None
    each = [spread_of_round_robin(points) for points in leagues]
    scores = [100 * it.mean(axis=2).sum(axis=1) / (len(players) - 1) for it in leagues]
    return Sameness(
        "The five best of Blondie24-RR's last generation are the same (4.2).",
        "table-4.1",
        "1.6 on 10; p of so little: 1e-03",
        ChiSquare.total(each),
        f"from the worst to the best of five it is {np.mean([*map(np.ptp, scores)]):.1f} points, "
        f"mean of {len(each)} seeds",
    )


def _runs(scope: Scope, store: ResultStore) -> Sameness | None:
    found = []
    players = ("blondie24-rr", "c0", "c10", "c10-rr")
    for first, other in combinations(map(Player, players), 2):
        seeds = range(min(map(scope.seeds_of, (first, other))))
        matches = [_match(first, other, seed, scope, store) for seed in seeds]
        if len(played := [points for points in matches if points is not None]) > 1:
            found.append(np.array(played))
    if not found:
        return None
    each, lead = [spread_of_matches(points) for points in found], found[0].mean(axis=1) * 100
    return Sameness(
        "The uncertainty of one run is small (5.4): matches of other seeds give the same score.",
        "ranking",
        "one run of each player",
        ChiSquare.total(each),
        f"{players[0]}'s lead over {players[1]} is {lead.min():.1f} to {lead.max():.1f} points "
        f"by seed, with a standard deviation of {lead.std(ddof=1):.1f}",
    )


def _round_robin(
    players: Sequence[Player], seed: int, scope: Scope, store: ResultStore
) -> Points | None:
    """Return the points of each player against each, shape (players, players, cards)."""
    size, points = len(players), dict[tuple[int, int], Points]()
    for one, other in combinations(range(size), 2):
        match = _match(players[one], players[other], seed, scope, store)
        if match is None:
            return None
        points[one, other], points[other, one] = match, -match
    none = np.zeros_like(points[0, 1])
    return np.array([[points.get((i, j), none) for j in range(size)] for i in range(size)])


def _match(
    first: Player, other: Player, seed: int, scope: Scope, store: ResultStore
) -> Points | None:
    """Return the points of the first player above one half by card, in the ballot's order."""
    job, turned = match_of(first, other, seed, AS_THE_THESIS, scope.scale)
    result = store.result(job)
    if not isinstance(result, MatchResult):
        return None
    points = np.array([POINTS[it] for it in result.results]).reshape(-1, 2).mean(axis=1) - 0.5
    points = points[np.argsort(result.openings)][1:]  # without the start position
    return -points if turned else points
