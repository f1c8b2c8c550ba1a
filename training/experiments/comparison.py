"""Comparison of presets, or of values of one constant, over several training runs each.

Champions of one seed meet: variant against baseline, and each against the piece counter. The seeds
are the sample: an interval is Student's t over them, and p is of the two-sided t test that the mean
score is 50 %. Where all seeds have one score there is no interval, and p is of the sign test. With
several variants p is adjusted by Holm's method, and a verdict rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.experiments.inference import half_width, independent
from training.experiments.jobs import Conditions, Job, Match, Player, Run, match_of, run_of
from training.experiments.measures import interval, player_games, score
from training.experiments.plots import curves, dots
from training.experiments.results import MatchResult, ResultStore, TrainingResult, differences
from training.rating.elo import elo_difference

SIGNIFICANCE = 0.05
SCORE_LIMIT = 0.995  # beyond which an Elo difference says nothing

PIECE_COUNTER = Player("material")
PANELS = (
    ("curve/heuristic", "points a game against the heuristic player"),
    ("curve/material", "points a game against the piece counter"),
)


@dataclass(frozen=True)
class Comparison:
    """A baseline and its variants."""

    names: tuple[str, ...]  # presets or variants, the baseline first
    seeds: int
    conditions: Conditions
    generations: int | None = None  # None: those of the presets
    scale: float = 1.0  # below 1: share of the generations, parents and openings

    def __post_init__(self) -> None:
        if len(set(self.names)) < max(2, len(self.names)):
            given = ", ".join(self.names) or "none"
            raise ValueError(f"compare two or more different players, not {given}")
        if self.generations is not None and self.generations < 1:
            raise ValueError(f"generations must be at least 1, not {self.generations}")
        if not 0 < self.scale <= 1:
            raise ValueError(f"scale must be above 0 and at most 1, not {self.scale}")
        for name in self.names:
            if not self.run(name, 0).kept:
                raise ValueError(f"{name} keeps no champions to play matches with")

    def run(self, name: str, seed: int) -> Run:
        """Return a training run of a variant."""
        return run_of(self._player(name, seed), self.scale)

    def match(self, first: str, second: str | Player, seed: int) -> tuple[Match, bool]:
        """Return the match of a variant with an opponent, and whether the variant is its second."""
        other = second if isinstance(second, Player) else self._player(second, seed)
        return match_of(self._player(first, seed), other, seed, self.conditions, self.scale)

    def jobs(self) -> list[Job]:
        """Return the runs and matches, the first seeds first."""
        jobs: list[Job] = []
        for seed in range(self.seeds):
            jobs += [self.run(name, seed) for name in self.names]
            jobs += [self.match(name, PIECE_COUNTER, seed)[0] for name in self.names]
            jobs += [self.match(name, self.names[0], seed)[0] for name in self.names[1:]]
        return jobs

    def _player(self, name: str, seed: int) -> Player:
        return Player(name, seed=seed, generations=self.generations)


@dataclass(frozen=True)
class ComparisonResult:
    """Figures of one variant."""

    name: str
    against_baseline: NDArray[np.float64]  # score in % by seed; empty for the baseline
    against_counter: NDArray[np.float64]  # score in % by seed
    cpu_seconds: NDArray[np.float64]  # of training, by seed
    p: float = float("nan")  # adjusted, of a mean score of 50 %
    trained_alike: bool = False  # all curves are those of the baseline

    def to_json(self) -> dict[str, Any]:
        """Return the figures for a JSON file."""
        return {
            "name": self.name,
            "score_against_baseline": [float(it) for it in self.against_baseline],
            "score_against_material": [float(it) for it in self.against_counter],
            "cpu_seconds": [float(it) for it in self.cpu_seconds],
            "p": None if np.isnan(self.p) else self.p,
        }


def compare(comparison: Comparison, store: ResultStore) -> list[ComparisonResult]:
    """Return the figures of all variants, the baseline first, from the seeds that are finished."""
    baseline = comparison.names[0]
    left = {job.seed for job in comparison.jobs() if store.result(job) is None}
    done = [seed for seed in range(comparison.seeds) if seed not in left]
    runs = {name: _runs(comparison, store, name, done) for name in comparison.names}
    results = []
    for name in comparison.names:
        scores = _scores(comparison, store, name, baseline, done) if name != baseline else []
        changed = map(differences, runs[name], runs[baseline])
        results.append(
            ComparisonResult(
                name,
                np.array(scores),
                np.array(_scores(comparison, store, name, PIECE_COUNTER, done)),
                np.array([run.origin.cpu_seconds for run in runs[name]]),
                trained_alike=not any("curves" in it for it in changed),
            )
        )
    return with_adjusted_p(results)


def _runs(
    comparison: Comparison, store: ResultStore, name: str, seeds: Sequence[int]
) -> list[TrainingResult]:
    runs = [store.result(comparison.run(name, seed)) for seed in seeds]
    return [run for run in runs if isinstance(run, TrainingResult)]


def _scores(
    comparison: Comparison,
    store: ResultStore,
    name: str,
    opponent: str | Player,
    seeds: Sequence[int],
) -> list[float]:
    scores = []
    for seed in seeds:
        match, turned = comparison.match(name, opponent, seed)
        result = store.result(match)
        assert isinstance(result, MatchResult)
        scores.append(score(player_games(result, turned)))
    return scores


def with_adjusted_p(results: Sequence[ComparisonResult]) -> list[ComparisonResult]:
    """Add Holm's adjusted p values."""
    values = {it.name: _p(it.against_baseline) for it in results[1:]}
    adjusted, largest = dict.fromkeys(values, float("nan")), 0.0
    tested = sorted((p, name) for name, p in values.items() if not np.isnan(p))
    for rank, (p, name) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        adjusted[name] = largest
    return [replace(it, p=adjusted.get(it.name, float("nan"))) for it in results]


def _p(scores: NDArray[np.float64]) -> float:
    """Return p of scores that differ from 50 %; nan for one seed."""
    return independent((scores - 50).tolist()).difference_p if len(scores) > 1 else float("nan")


HEADINGS = ("player", "score, %", "Elo", "p", "against material, %", "CPU-s a run")


def table_cells(results: Sequence[ComparisonResult]) -> list[tuple[str, ...]]:
    """Return the cells of a table under HEADINGS, a row for each variant."""
    return [_cells(it, is_baseline=it is results[0]) for it in results]


def _cells(result: ComparisonResult, is_baseline: bool) -> tuple[str, ...]:
    scores = result.against_baseline
    if not len(result.against_counter):
        return (result.name, "not finished", "", "", "", "")
    match = "baseline", "0", ""
    if not is_baseline:
        match = _interval(scores), _elo(scores), _p_text(result.p)
    cpu = f"{np.mean(result.cpu_seconds):.1f}"
    return (result.name, *match, _interval(result.against_counter), cpu)


def _interval(scores: NDArray[np.float64]) -> str:
    """Return the mean with its interval; without where the seeds tell none."""
    return interval(scores if np.ptp(scores) else scores[:1], 0, 100)


def _elo(scores: NDArray[np.float64]) -> str:
    """Return the Elo difference of a mean score, with the ends of its interval if it has one."""
    mean, half = float(np.mean(scores)), float(half_width(scores))
    if not half:
        return _elo_text(mean)
    return f"{_elo_text(mean)} [{_elo_text(mean - half)}, {_elo_text(mean + half)}]"


def _elo_text(percent: float) -> str:
    limited = min(max(percent / 100, 1 - SCORE_LIMIT), SCORE_LIMIT)
    sign = "" if limited == percent / 100 else "> " if limited > 0.5 else "< "
    return f"{sign}{elo_difference(limited):+.0f}"


def _p_text(p: float) -> str:
    return "" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def verdict(result: ComparisonResult, baseline: str) -> str:
    """Return one sentence on a variant and the baseline."""
    scores = result.against_baseline
    if len(scores) < 2:
        return f"{result.name} and {baseline}: an interval takes two finished seeds or more."
    if result.trained_alike:
        return f"{result.name} trains as {baseline} does: what differs between them has no effect."
    p = _p_text(result.p)
    sign = "" if p.startswith("<") else "= "
    count = f"{_interval(scores)} % of the points over {len(scores)} seeds, p {sign}{p}"
    if not result.p < SIGNIFICANCE:
        return f"Inconclusive: {result.name} against {baseline} has {count}."
    word = "stronger" if np.mean(scores) > 50 else "weaker"
    return f"{result.name} is {word} than {baseline}: {count}."


def to_markdown(comparison: Comparison, results: Sequence[ComparisonResult]) -> str:
    """Return the page: verdicts, the table and how it was played."""
    baseline, conditions = comparison.names[0], comparison.conditions
    plies = f"{conditions.depth} pl{'y' if conditions.depth == 1 else 'ies'}"
    cards = "every card" if comparison.scale == 1 else "some cards"
    length = comparison.generations or "the presets' number of"
    trained = f"Each has {comparison.seeds} training runs of {length} generations."
    if comparison.scale < 1:
        trained += (
            f" This is a trial at scale {comparison.scale:g}: only that part of the generations, "
            "the parents and the cards."
        )
    rows = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1)), *table_cells(results)]
    lines = [
        f"# {baseline} and {len(results) - 1} variant{'s' if len(results) > 2 else ''}",
        "",
        *(f"- {verdict(it, baseline)}" for it in results[1:]),
        "",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        f"{trained} Champions of one seed meet at {plies}: {cards} of the "
        f"{conditions.ballot} ballot with both colours. Scores are against {baseline}, mean and "
        "95 % interval over the seeds. p is of a mean score of 50 %, adjusted by Holm's method; "
        "the verdicts follow it.",
        "",
    ]
    return "\n".join(lines)


def plot_scores(results: Sequence[ComparisonResult]) -> bytes:
    """Return the plot of the scores by player, an SVG file."""
    columns = {
        "against the baseline": {it.name: list(it.against_baseline) for it in results[1:]},
        "against the piece counter": {it.name: list(it.against_counter) for it in results},
    }
    return dots(columns, "score, %")


def plot_curves(comparison: Comparison, store: ResultStore) -> bytes | None:
    """Return the plot of the performance curves, an SVG file; None without any."""
    seeds = range(comparison.seeds)
    runs = {name: _runs(comparison, store, name, seeds) for name in comparison.names}
    everyone = [run for several in runs.values() for run in several]
    panels = [it for it in PANELS if everyone and all(it[0] in run.curves for run in everyone)]
    if not panels or not all(runs.values()):
        return None
    return curves(runs, panels)
