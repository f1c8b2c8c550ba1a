"""Sections of the pages: players said to be the same, and what cannot be repeated."""

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
    evenness,
    spread_of_matches,
    spread_of_round_robin,
)
from training.experiments.jobs import Match, Player, match_of
from training.experiments.papers.other_papers import PAIRS
from training.experiments.papers.thesis_ch3 import TEN, TEN_WINS
from training.experiments.papers.thesis_ch4 import FIVE, FIVE_WINS
from training.experiments.plan import EXPERIMENTS, Scope
from training.experiments.results import MatchResult, ResultStore
from training.experiments.tables import POINTS, Table, player_games

Points = NDArray[np.float64]  # above one half by card, seen from the first of two players


class Sameness(NamedTuple):
    """A claim that players, or runs of one player, are equally good."""

    says: str
    tables: tuple[str, ...]
    theirs: str
    ours: ChiSquare
    spread: str  # of our games, in words


def sameness_lines(tables: Sequence[Table], scope: Scope, store: ResultStore) -> Iterator[str]:
    """Yield the section in Markdown; nothing if a table or a match of it is missing."""
    names = {table.name for table in tables}
    found = [it for it in (_ten(scope, store), _five(scope, store), _runs(scope, store)) if it]
    found = [it for it in found if names.issuperset(it.tables)]
    if not found:
        return
    yield from ("## Claims that players or runs are the same", "", _ABOUT, "")
    yield "| claim | theirs | ours: chi-square | p | q | what it shows | verdict |"
    yield "|---|---|---:|---:|---:|---|---|"
    qs = benjamini_hochberg([it.ours.p_uneven for it in found])
    for it, q in zip(found, qs, strict=True):
        shown = ", ".join(it.tables)
        word = "reversed" if q <= LEVEL else "inconclusive"
        yield (
            f"| {it.says} {shown} | {it.theirs} | {it.ours.value:.0f} on {it.ours.df} "
            f"| {it.ours.p_uneven:.1g} | {q:.1g} | {it.spread} | **{word}** |"
        )
    yield ""


_ABOUT = (
    "Chi-squares test whether players are equal. *Ours* takes the ballot's cards as independent. "
    "**Reversed**: the players differ by more than chance allows, with q of at most 5 %. *Theirs* "
    "has the wins and losses of each pair in the thesis's table. Independent games between equal "
    "players give about its degrees of freedom. It is far less: the printed games are too even to "
    "be independent."
)


def _ten(scope: Scope, store: ResultStore) -> Sameness | None:
    """Return the claim that ten runs of C0 are the same."""
    points = _round_robin(TEN, 0, scope, store)
    if points is None:
        return None
    scores = 50 + 100 * points.sum(axis=(1, 2)) / points.shape[2] / (len(TEN) - 1)
    return Sameness(
        "Ten runs of C0 are statistically the same (Al-Khateeb 2011, 3.3).",
        ("table-3.2",),
        _theirs(TEN_WINS),
        spread_of_round_robin(points),
        f"their scores are {scores.min():.1f} to {scores.max():.1f} %",
    )


def _five(scope: Scope, store: ResultStore) -> Sameness | None:
    """Return the claim that the five best of a last generation are the same."""
    seeds = range(scope.seeds_of(FIVE[0]))
    leagues = [it for seed in seeds if (it := _round_robin(FIVE, seed, scope, store)) is not None]
    if not leagues:
        return None
    each = [spread_of_round_robin(points) for points in leagues]
    scores = [50 + 100 * it.sum(axis=(1, 2)) / it.shape[2] / (len(FIVE) - 1) for it in leagues]
    spread = float(np.mean([np.ptp(it) for it in scores]))
    return Sameness(
        "The five best of Blondie24-RR's last generation are the same (4.2).",
        ("table-4.1",),
        _theirs(FIVE_WINS),
        ChiSquare(sum(it.value for it in each), sum(it.df for it in each)),
        f"from the worst to the best of five it is {spread:.1f} points, mean of {len(each)} seeds",
    )


def _runs(scope: Scope, store: ResultStore) -> Sameness | None:
    """Return the claim that the uncertainty of one run is small."""
    found: list[Points] = []
    for first, other in PAIRS:
        seeds = range(min(scope.seeds_of(Player(name)) for name in (first, other)))
        matches = [
            points
            for seed in seeds
            if (points := _match(Player(first), Player(other), seed, scope, store)) is not None
        ]
        if len(matches) > 1:
            found.append(np.array(matches))
    if not found:
        return None
    each = [spread_of_matches(points) for points in found]
    lead = found[0].mean(axis=1) * 100
    return Sameness(
        "The uncertainty of one run is small (5.4): matches of other seeds give the same score.",
        ("ranking",),
        "one run of each player",
        ChiSquare(sum(it.value for it in each), sum(it.df for it in each)),
        f"{PAIRS[0][0]}'s lead over {PAIRS[0][1]} is {lead.min():.1f} to {lead.max():.1f} points "
        f"by seed, with a standard deviation of {lead.std(ddof=1):.1f}",
    )


def _theirs(wins: Sequence[Sequence[int]]) -> str:
    pairs = [(wins[i][j], wins[j][i]) for i, j in combinations(range(len(wins)), 2)]
    found = evenness(pairs)
    return f"{found.value:.1f} on {found.df}; p of so little: {found.p_even:.0e}"


def _round_robin(
    players: Sequence[Player], seed: int, scope: Scope, store: ResultStore
) -> Points | None:
    """Return the points of each player against each, shape (players, players, cards)."""
    rows = {
        (i, j): _match(players[i], players[j], seed, scope, store)
        for i, j in combinations(range(len(players)), 2)
    }
    cards = next(iter(rows.values()))
    if cards is None or any(row is None for row in rows.values()):
        return None
    points = np.zeros((len(players), len(players), len(cards)))
    for (i, j), row in rows.items():
        points[i, j], points[j, i] = row, -row if row is not None else 0.0
    return points


def _match(
    first: Player, other: Player, seed: int, scope: Scope, store: ResultStore
) -> Points | None:
    """Return the points of the first player above one half by card, in the ballot's order."""
    if not (scope.has(first) and scope.has(other)):
        return None
    job, turned = match_of(first, other, seed, EXPERIMENTS["table-4.6"].conditions, scope.scale)
    result = store.result(job) if isinstance(job, Match) else None
    if not isinstance(result, MatchResult):
        return None
    games = [game for game in player_games(result, turned) if game.opening]
    by_card: dict[str, list[float]] = {}
    for game in games:
        by_card.setdefault(game.opening, []).append(POINTS[game.result] - 0.5)
    return np.array([np.mean(by_card[card]) for card in sorted(by_card)])


ZONE = "the site, its players and its ratings of 1999 to 2001 no longer exist"
GONE = "the program, its site or its settings are not available"
OBSERVED = "nguyen-observations"
UNPRINTED = "he prints neither a figure nor a conclusion; ours"

# The claim, its source, and the reason.
UNREPEATABLE = (
    (
        "165 games on zone.com: 84-11-20 below 2000, 10-12-22 from 2000 to 2200",
        "Chellapilla & Fogel 2001",
        ZONE,
    ),
    ("A mean rating of 2045.85, with a standard deviation of 33.94", "the same", ZONE),
    ("Better than 99.61 % of the players registered there", "the same", ZONE),
    (
        "The network of 1999 is in class A after 250 generations",
        "Chellapilla & Fogel 1999",
        ZONE,
    ),
    ("Blondie24 beat Chinook at its novice setting", "Fogel & Chellapilla 2002", GONE),
    (
        "Blitz98 played the drawn games of Table 7.2 to their ends",
        "Al-Khateeb 2011, 7.2",
        f"{GONE}; the piece counter at 8 plies does it here",
    ),
    (
        "C0 and Blondie24-RR against an online program, WinCheck3D and SXcheckers",
        "Al-Khateeb 2011, 4.3.2 to 4.3.4",
        f"{GONE}; other programs stand in, and only the lead over C0 is compared",
    ),
    (
        "Hughes's evolved piece counter against xcheckers",
        "Al-Khateeb 2011, Table 7.4",
        f"{GONE}; how the counter was evolved is not told",
    ),
    (
        "The rating of the last champion against people online",
        "Nguyen, III.D",
        "he names the plan and prints no rating; people would have to play",
    ),
    (
        "Number of moves, CPU times, influence of inheritance",
        "Nguyen, IV.B",
        f"{UNPRINTED}: {OBSERVED}",
    ),
    (
        "Caching of evaluations subsidises safe mutation",
        "Nguyen, IV.C",
        "the sentence breaks off, and our compiled networks are not cached: open",
    ),
    (
        "The same methods for Connect4",
        "Al-Khateeb 2011, 8.2",
        "out of scope: another game, and a proposal rather than a claim",
    ),
)


def unrepeatable_lines() -> Iterator[str]:
    """Yield the section in Markdown."""
    yield from ("## What cannot be repeated", "", "| what | source | why |", "|---|---|---|")
    for what, source, why in UNREPEATABLE:
        yield f"| {what} | {source} | {why} |"
    yield ""
