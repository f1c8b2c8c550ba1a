"""Effects: one figure a seed or a pairing, computed from the games or runs of a claim's rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.experiments.measures import (
    MEASURES,
    POINTS,
    PlayerGame,
    by_material,
    score,
    with_cards,
)
from training.experiments.results import TrainingResult
from training.rating.elo import elo_difference

# Parts of a curve, as shares of its points: the beginning, the early rise, the level at the end.
FIRST, RISEN, LAST, LATE = (0, 0.1), (0.1, 0.3), (0.8, 1), (0.5, 1)
LEAD = 2  # pieces
ABOVE_HALF, PERCENT, ENDS = "score - 50 %", "% of the points", "points between the ends"
TIMES = "times"  # effects are decimal logarithms of factors
MARGINS = {  # of equality, by unit
    ABOVE_HALF: 2.0,
    PERCENT: 3.0,
    ENDS: 3.0,
    "% of the games": 3.0,
    TIMES: math.log10(1.25),
    "rating points": 35.0,
    "pieces": 0.5,
    "copies a strategy": 0.5,
    "payoff": 0.05,
    "mean of means": 0.05,
    "share of positions": 0.05,
    "step size": 0.005,
}
CURVE_UNITS = {
    "curve/heuristic": "payoff",
    "curve/material": "payoff",
    "champion/progress": "mean of means",
    "champion/saturated": "share of positions",
    "step/mean": "step size",
}

Games = Sequence[PlayerGame]


class Effect(NamedTuple):
    """Effect of a claim."""

    of: Callable[[Sequence[Any]], float]  # from the games, or the training result, of each row
    unit: str = ABOVE_HALF
    # Weights of so many players' panel scores, where the effect is a contrast of players.
    contrast: Callable[[int], NDArray[np.float64]] | None = None


def advantage(rows: Sequence[Games]) -> float:
    """Return how far the first players' mean score lies above 50 %, in % of the points."""
    return float(np.mean([score(games) for games in rows])) - 50


def red_advantage(rows: Sequence[Games]) -> float:
    """Return how far the side that moves first scores above 50 %, in % of the points."""
    games = with_cards([*chain(*rows)])
    points = [POINTS[it.result] if it.red else 1 - POINTS[it.result] for it in games]
    return 100 * float(np.mean(points)) - 50


def rating_difference(rows: Sequence[Games]) -> float:
    """Return the first player's score as an Elo difference; more pieces win a drawn game.

    A score of 100 % (or 0 %) has no finite difference: it counts as half a point less (or more).
    """
    (games,) = rows
    half = 0.5 / len(with_cards(games))
    share = score([*map(by_material, games)]) / 100
    return float(elo_difference(float(np.clip(share, half, 1 - half))))


def decided(rows: Sequence[Games]) -> float:
    """Return the :func:`advantage` if more pieces win a drawn game."""
    return advantage([[*map(by_material, games)] for games in rows])


def played_out(rows: Sequence[Games]) -> float:
    """Return the :func:`advantage` if drawn games are played out."""
    return advantage([[it._replace(result=it.played_out) for it in games] for games in rows])


def from_the_start(rows: Sequence[Games]) -> float:
    """Return the :func:`advantage` in the two games from the start position."""
    games = [game for game in chain(*rows) if not game.opening]
    return 100 * float(np.mean([POINTS[game.result] for game in games])) - 50


def share_drawn(rows: Sequence[Games]) -> float:
    """Return the share of drawn games in %."""
    return 100 * float(np.mean([game.result == "D" for game in with_cards([*chain(*rows)])]))


def share_led(rows: Sequence[Games]) -> float:
    """Return the share of drawn games that end with a lead of LEAD pieces, in %; nan for none."""
    drawn = [game for game in with_cards([*chain(*rows)]) if game.result == "D"]
    led = [abs(game.difference) >= LEAD for game in drawn]
    return 100 * float(np.mean(led)) if led else math.nan


def fewer_drawn(rows: Sequence[Games]) -> float:
    """Return the share of drawn games in the first half of the rows less that in the second."""
    half = len(rows) // 2
    return share_drawn(rows[:half]) - share_drawn(rows[half:])


def drawn_lead(rows: Sequence[Games]) -> float:
    """Return the mean piece difference at the end of drawn games; nan for none."""
    leads = [it.difference for it in with_cards([*chain(*rows)]) if it.result == "D"]
    return float(np.mean(leads)) if leads else math.nan


def pieces_ahead(rows: Sequence[Games]) -> float:
    """Return the last row's mean piece difference at the end of a game, less the first row's."""
    first, last = (np.mean([it.difference for it in with_cards(games)]) for games in rows)
    return float(last - first)


def growth(rows: Sequence[Games]) -> float:
    """Return the first player's score in the last row less that in the first row, in %."""
    return score(rows[-1]) - score(rows[0])


def slope(players: int) -> NDArray[np.float64]:
    """Return the weights of the straight line's rise from the first of some players to the last."""
    places = np.arange(players) - (players - 1) / 2
    return places * (players - 1) / np.sum(places**2)


def rise_in_order(rows: Sequence[Games]) -> float:
    """Return the rise of the scores from the first row to the last, by a straight line."""
    return float(slope(len(rows)) @ [score(games) for games in rows])


def speed(runs: Sequence[TrainingResult]) -> float:
    """Return the ratio of training times, second run to first, in powers of ten.

    Each is the median time of a point times their number, so that compilation and other programs
    count little. The ratio of runs on different processors, or without times, is nan.
    """
    one, other = (run.origin for run in runs)
    if one.processor != other.processor or not (one.clock and other.clock):
        return math.nan
    first, second = (np.median(np.diff(it.clock)) * (len(it.clock) - 1) for it in (one, other))
    return math.log10(second / first) if first and second else math.nan


def recent_reuse(runs: Sequence[TrainingResult]) -> float:
    """Return the copies of a strategy in the newer half of the pool, less those in the older."""
    _, _, older, newer = MEASURES["pool"].of(runs[0])
    return newer - older


def beats_its_start(runs: Sequence[TrainingResult]) -> float:
    """Return how far the champion scores above 50 % against generation 0; nan if not played."""
    if not runs[0].start:
        return math.nan
    won, drawn, lost = runs[0].start["games"]
    return 100 * float((won + drawn / 2) / (won + drawn + lost)) - 50


def mean_of(run: TrainingResult, curve: str, start: float, end: float) -> float:
    """Return the mean of a curve between two shares of its points; nan for no points."""
    line = run.curve(curve)
    part = line[int(start * len(line)) : max(1, round(end * len(line)))]
    return float(part.mean()) if len(part) else math.nan


def _curve_effects(curve: str) -> dict[str, Callable[[Sequence[TrainingResult]], float]]:
    """Return the effects of a curve: parts of it, and its levels at the end of two runs."""

    def mean(run: TrainingResult, part: tuple[float, float]) -> float:
        return mean_of(run, curve, *part)

    return {
        "levels": lambda runs: mean(runs[0], LAST) - mean(runs[1], LAST),
        "late": lambda runs: mean(runs[0], LATE),
        "rise": lambda runs: mean(runs[0], LAST) - mean(runs[0], FIRST),
        "climb": lambda runs: mean(runs[0], LAST) - mean(runs[0], RISEN),
        "fall": lambda runs: mean(runs[0], RISEN) - mean(runs[0], LAST),
    }


EFFECTS = {
    "": Effect(advantage),
    "pieces-decide": Effect(decided),
    "played-out": Effect(played_out),
    "start": Effect(from_the_start),
    "red": Effect(red_advantage),
    "rating": Effect(rating_difference, "rating points"),
    "gain": Effect(growth, PERCENT),
    "steps": Effect(growth, PERCENT, lambda players: np.array([1.0, -1.0, -1.0, 1.0])),
    "order": Effect(rise_in_order, ENDS, slope),
    "fewer-drawn": Effect(fewer_drawn, "% of the games"),
    "drawn-lead": Effect(drawn_lead, "pieces"),
    "panel": Effect(lambda rows: math.nan, PERCENT, lambda players: np.array([-1.0, 1.0])),
    "pieces": Effect(pieces_ahead, "pieces"),
    "speed": Effect(speed, TIMES),
    "reuse": Effect(recent_reuse, "copies a strategy"),
    "untrained": Effect(beats_its_start),
    **{
        f"{name} {curve}": Effect(of, unit)
        for curve, unit in CURVE_UNITS.items()
        for name, of in _curve_effects(curve).items()
    },
}
"""Effects by their names in ``data/claims.tsv``."""
