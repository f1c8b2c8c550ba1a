"""What the seeds say of a claim: players, not games, are the independent samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from training.reproduction.claims import MARGIN, Claim
from training.reproduction.jobs import Job
from training.reproduction.plan import Scope
from training.reproduction.results import ResultStore, TrainingResult
from training.reproduction.tables import CONFIDENCE, Seen, seen
from training.runtime.extras import extra

with extra("train"):
    from scipy.stats import false_discovery_control, ttest_1samp

LEAST = 3  # seeds, for a verdict

Word = Literal["holds", "not shown", "reversed"]


@dataclass(frozen=True)
class Verdict:
    """A claim, and what was found.

    Attributes
    ----------
    values
        The effect of each seed that has been played.
    mean
        Of them; nan without any.
    low, high
        Its 95 % interval by Student's t; infinite below two seeds. Where all seeds are alike, what
        it tends to as they become so: the mean alone, and a p of 0 or 1.
    p
        Of the two-sided t-test against the claim's bar; for "equal", the larger of the two
        one-sided tests against the margins.
    word
        ``"holds"`` where the whole interval is on the claim's side, ``"reversed"`` where it is on
        the other, else ``"not shown"``; None with fewer than LEAST seeds.
    """

    claim: Claim
    values: tuple[float, ...]
    mean: float
    low: float
    high: float
    p: float
    word: Word | None


def judge(claim: Claim, values: Sequence[float]) -> Verdict:
    """The verdict on a claim by its effects, one for each seed."""
    numbers = np.array(values, float)
    mean = float(numbers.mean()) if len(numbers) else float("nan")
    low, high, p = -np.inf, np.inf, 1.0
    if len(numbers) > 1 and np.ptp(numbers) > 0:
        interval = ttest_1samp(numbers, claim.bar).confidence_interval(CONFIDENCE)
        low, high, p = float(interval.low), float(interval.high), _p_value(claim, numbers)
    elif len(numbers) > 1:
        low = high = mean
        told = abs(mean) < MARGIN if claim.kind == "equal" else mean != claim.bar
        p = 0.0 if told else 1.0
    word = _word(claim, low, high) if len(numbers) >= LEAST else None
    return Verdict(claim, tuple(values), mean, low, high, p, word)


def _p_value(claim: Claim, values: np.ndarray) -> float:
    if claim.kind == "more":
        return float(ttest_1samp(values, claim.bar).pvalue)
    return max(
        float(ttest_1samp(values, -MARGIN, alternative="greater").pvalue),
        float(ttest_1samp(values, MARGIN, alternative="less").pvalue),
    )


def _word(claim: Claim, low: float, high: float) -> Word:
    if claim.kind == "equal":
        within, outside = max(-low, high) < MARGIN, low > MARGIN or high < -MARGIN
        return "holds" if within else "reversed" if outside else "not shown"
    return "holds" if low > claim.bar else "reversed" if high < claim.bar else "not shown"


def effects(claim: Claim, scope: Scope, store: ResultStore) -> list[float]:
    """The effect of each seed of which everything is done."""
    found = []
    for lines in zip(*(scope.games(line, claim.conditions) for line in claim.rows), strict=False):
        outcomes = [_outcome(line, store) for line in lines]
        if all(outcome is not None for outcome in outcomes):
            found.append(claim.effect(outcomes))
    return [value for value in found if not np.isnan(value)]


def _outcome(
    jobs: Sequence[tuple[Job, bool]], store: ResultStore
) -> list[Seen] | TrainingResult | None:
    """The games of a row for a seed, or its run; None if they are not all done."""
    games: list[Seen] = []
    for job, turned in jobs:
        result = store.result(job)
        if result is None or isinstance(result, TrainingResult):
            return result
        games += seen(result, turned)
    return games


def verdicts(claims: Sequence[Claim], scope: Scope, store: ResultStore) -> list[Verdict]:
    """The verdicts on some claims."""
    return [judge(claim, effects(claim, scope, store)) for claim in claims]


def doubtful(judged: Sequence[Verdict]) -> list[Verdict]:
    """Those that hold or are reversed alone, but not as some of so many.

    That is at a false discovery rate of 5 % (Benjamini & Hochberg 1995) among all with a verdict.
    """
    told = [verdict for verdict in judged if verdict.word]
    if not told:
        return []
    adjusted = false_discovery_control([_p_of_the_verdict(verdict) for verdict in told])
    return [
        verdict
        for verdict, p in zip(told, adjusted, strict=True)
        if verdict.word != "not shown" and p > 1 - CONFIDENCE
    ]


def _p_of_the_verdict(verdict: Verdict) -> float:
    """The p of what is said: that an equality is reversed is the other side of its test."""
    other_side = verdict.claim.kind == "equal" and verdict.word == "reversed"
    return 1 - verdict.p if other_side else verdict.p
