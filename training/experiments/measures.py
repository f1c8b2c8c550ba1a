"""Measures: columns of tables, computed from the games of a row or from a training run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.experiments.inference import half_width
from training.experiments.results import MatchResult, TrainingResult
from training.rating.thesis_ratings import rate_match

POINTS = {"W": 1.0, "D": 0.5, "L": 0.0}
SWAPPED = str.maketrans("WL", "LW")
STEPS = 11  # columns of a curve


class PlayerGame(NamedTuple):
    """A game from the side of one of its players."""

    opening: str  # moves of the card; "" for the start position
    red: bool  # whether the player had the first move
    result: str  # "W", "D" or "L"
    difference: int  # the player's pieces less the opponent's at the end
    played_out: str  # the result of a drawn game played on; "" without this condition


def player_games(played: MatchResult, turned: bool) -> list[PlayerGame]:
    """Return the games of a match from the side of its first player, or second if `turned`."""
    results, ends = played.results, played.played_out or " " * len(played.results)
    if turned:
        results, ends = results.translate(SWAPPED), ends.translate(SWAPPED)
    cards = chain.from_iterable(zip(played.openings, played.openings, strict=True))
    leads = (-lead if turned else lead for lead in played.differences)
    colours = cycle((not turned, turned))
    return [*map(PlayerGame, cards, colours, results, leads, map(str.strip, ends))]


def with_cards(games: Sequence[PlayerGame]) -> list[PlayerGame]:
    """Return the games that began with a card."""
    return [game for game in games if game.opening]


def by_material(game: PlayerGame) -> PlayerGame:
    """Return the game; if it is drawn, as a win of the side with more pieces."""
    if game.result != "D":
        return game
    return game._replace(result="DWL"[(game.difference > 0) - (game.difference < 0)])


def interval(
    values: Sequence[float] | NDArray[np.float64],
    least: float = -math.inf,
    most: float = math.inf,
) -> str:
    """Format the mean over seeds with its 95 % interval, or the only value; a dash for nan alone.

    The interval ends at the least and the most possible value.
    """
    known = np.asarray(values)[~np.isnan(values)]
    if not len(known):
        return "-"
    mean, half = float(known.mean()), float(half_width(known))
    if len(known) < 2:
        return f"{mean:g}" if mean.is_integer() else brief(mean)
    return f"{brief(mean)} [{brief(max(mean - half, least))}, {brief(min(mean + half, most))}]"


def tally(values: Sequence[float]) -> str:
    """Format how many seeds won, drew and lost a game, e.g. ``7-2-1``."""
    return "-".join(str(sum(value == point for value in values)) for point in POINTS.values())


def brief(number: float) -> str:
    """Format a number with about three digits."""
    size = abs(number)
    text = f"{number:.0f}" if size >= 1000 else f"{number:.1f}" if size >= 10 else f"{number:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text


@dataclass(frozen=True)
class Measure:
    """Columns of a table."""

    columns: tuple[str, ...]
    of: Callable[[Any], Sequence[float]]  # from a seed's games or training result, one a column
    show: Callable[[Sequence[float]], str] = interval  # from one column's figures, one a seed


def count(games: Sequence[PlayerGame]) -> list[float]:
    """Return the games won, drawn and lost, without those from the start position."""
    results = [game.result for game in with_cards(games)]
    return [results.count(result) for result in "WDL"]


def score(games: Sequence[PlayerGame]) -> float:
    """Return the score in %, of the games that began with a card."""
    won, drawn, lost = count(games)
    return 100 * (won + drawn / 2) / (won + drawn + lost)


def _draws_and_lead(games: Sequence[PlayerGame]) -> list[float]:
    won, drawn, lost = count(games)
    return [100 * drawn / (won + drawn + lost), score(games) - 50]


def _played_out(games: Sequence[PlayerGame]) -> list[float]:
    return count([game._replace(result=game.played_out) for game in games])


def _from_the_start(games: Sequence[PlayerGame]) -> list[PlayerGame]:
    """Return the two games from the start position, as red and as white."""
    return sorted((game for game in games if not game.opening), key=lambda game: not game.red)


def _ratings(games: Sequence[PlayerGame]) -> list[float]:
    counts = tuple(map(int, count(games)))
    return [*_rated(counts, "printed"), *_rated(counts, "written")]


@functools.cache
def _rated(counts: tuple[int, int, int], mode: str) -> tuple[float, ...]:
    first, second = rate_match(*counts, np.random.default_rng(0), mode=mode)
    return (*first, *second)


def _pool(run: TrainingResult) -> list[float]:
    reused = run.pool["reused"]
    size, half = len(reused), len(reused) // 2
    return [
        size,
        float(np.mean(reused > 0)) if size else 0.0,
        float(reused[:half].mean()) if half else 0.0,
        float(reused[half:].mean()) if size else 0.0,
    ]


def _training(run: TrainingResult) -> list[float]:
    lengths = run.curve("games/plies")
    return [run.origin.cpu_seconds, float(lengths.mean()) if len(lengths) else np.nan]


def _inheritance(run: TrainingResult) -> list[float]:
    crossed, age = (float(np.nanmean(run.curves[f"elites/{it}"])) for it in ("crossed", "age"))
    return [*_training(run), 100 * crossed, age]


def _against_start(run: TrainingResult) -> list[float]:
    if not run.start:
        return [np.nan] * 5
    won, drawn, lost = run.start["games"]
    parents = run.start["untouched_parents"]
    known = run.curve("curve/material")
    return [
        100 * run.start["untouched"],
        100 * float(np.mean([share == 1 for share in parents])) if parents else np.nan,
        100 * (won + drawn / 2) / (won + drawn + lost),
        float(known[0]),
        float(known[-1]),
    ]


def _curve(name: str) -> Measure:
    """Return the measure of a curve at equal steps from its start to its end."""
    shares = np.linspace(0, 1, STEPS)

    def values(run: TrainingResult) -> list[float]:
        known = run.curve(name)  # a trial may be too short for it
        places = np.rint(shares * (len(known) - 1)).astype(int)
        return known[places].tolist() if len(known) else [np.nan] * STEPS

    return Measure(tuple(f"{share:.0%}" for share in shares), values)


WON_DRAWN_LOST = ("won", "drawn", "lost")
BY_COLOUR = ("as red", "as white")
RATING = ("rating", "SD", "opponent's", "SD")
TRAINING = ("CPU-seconds", "plies a game")
MEASURES = {
    "score": Measure(("score, %",), lambda games: [score(games)]),
    "results": Measure(WON_DRAWN_LOST, count),
    "wins": Measure(("won",), lambda games: count(games)[:1]),
    "draws": Measure(("drawn",), lambda games: count(games)[1:2]),
    "losses": Measure(("lost",), lambda games: count(games)[2:]),
    "wins-and-losses": Measure(("won", "lost"), lambda games: count(games)[::2]),
    "by-material": Measure(WON_DRAWN_LOST, lambda games: count([*map(by_material, games)])),
    "by-playing-out": Measure(WON_DRAWN_LOST, _played_out),
    "draws-and-lead": Measure(("drawn, %", "lead, points"), _draws_and_lead),
    "start": Measure(
        BY_COLOUR, lambda games: [POINTS[it.result] for it in _from_the_start(games)], tally
    ),
    "differences": Measure(
        BY_COLOUR, lambda games: [it.difference for it in _from_the_start(games)]
    ),
    "ratings": Measure((*RATING, "by the formula: rating", *RATING[1:]), _ratings),
    "training": Measure(TRAINING, _training),
    "inheritance": Measure(
        (*TRAINING, "elites by crossover, %", "age of elites, generations"), _inheritance
    ),
    "pool": Measure(
        ("strategies", "share reused", "reuses of the older half", "of the newer half"), _pool
    ),
    "against-start": Measure(
        (
            "entries of the champion untouched, %",
            "parents untouched, %",
            "score against generation 0, %",
            "payoff against the piece counter at 1 ply, at first",
            "at the end",
        ),
        _against_start,
    ),
    **{
        name: _curve(name)
        for name in (
            *("curve/heuristic", "curve/material", "champion/progress", "champion/saturated"),
            "step/mean",
        )
    },
}
"""Measures by their names in ``data/tables.tsv``; a curve has its own name."""
