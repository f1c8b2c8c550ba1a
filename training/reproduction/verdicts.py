"""Verdicts on claims, by t-tests over seeds: players, not games, are the independent samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from training.reproduction.claims import MARGIN, Claim
from training.reproduction.jobs import Job
from training.reproduction.plan import Scope
from training.reproduction.results import ResultStore, TrainingResult
from training.reproduction.tables import CONFIDENCE, PlayerGame, player_games
from training.runtime.extras import extra

with extra("train"):
    from scipy.stats import false_discovery_control, ttest_1samp

LEAST = 3  # seeds that a verdict needs

Word = Literal["holds", "not shown", "reversed"]


@dataclass(frozen=True)
class Verdict:
    """Verdict on a claim.

    Attributes
    ----------
    claim
        The claim.
    values
        Effect of each finished seed.
    mean
        Mean effect; nan for no seeds.
    low, high
        95 % interval of the mean by Student's t; infinite for fewer than two seeds. If all seeds
        are equal, the interval is the mean alone, and p is 0 or 1.
    p
        p-value of the two-sided t-test against the claim's bar. For "equal": the larger p-value of
        the two one-sided tests against the margins.
    word
        ``"holds"`` if the whole interval is on the claim's side, ``"reversed"`` if it is on the
        other, else ``"not shown"``; None for fewer than LEAST seeds.
    """

    claim: Claim
    values: tuple[float, ...]
    mean: float
    low: float
    high: float
    p: float
    word: Word | None


def judge(claim: Claim, values: Sequence[float]) -> Verdict:
    """Return the verdict on a claim from its effects, one a seed."""
    numbers = np.array(values, float)
    mean = float(numbers.mean()) if len(numbers) else float("nan")
    low, high, p = -np.inf, np.inf, 1.0
    if len(numbers) > 1 and np.ptp(numbers) > 0:
        interval = ttest_1samp(numbers, claim.bar).confidence_interval(CONFIDENCE)
        low, high, p = float(interval.low), float(interval.high), _p_value(claim, numbers)
    elif len(numbers) > 1:
        low = high = mean
        is_met = abs(mean) < MARGIN if claim.kind == "equal" else mean != claim.bar
        p = 0.0 if is_met else 1.0
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
    """Return the effect of each finished seed, without nan.

    Parameters
    ----------
    claim
        The claim.
    scope
        Seeds and scale.
    store
        Results.
    """
    found = []
    for lines in zip(*(scope.games(line, claim.conditions) for line in claim.rows), strict=False):
        outcomes = [_outcome(line, store) for line in lines]
        if all(outcome is not None for outcome in outcomes):
            found.append(claim.effect(outcomes))
    return [value for value in found if not np.isnan(value)]


def _outcome(
    jobs: Sequence[tuple[Job, bool]], store: ResultStore
) -> list[PlayerGame] | TrainingResult | None:
    """Return a row's games of a seed, or its training result; None if they are not all done."""
    games: list[PlayerGame] = []
    for job, turned in jobs:
        result = store.result(job)
        if result is None or isinstance(result, TrainingResult):
            return result
        games += player_games(result, turned)
    return games


def verdicts(claims: Sequence[Claim], scope: Scope, store: ResultStore) -> list[Verdict]:
    """Return the verdicts on some claims.

    Parameters
    ----------
    claims
        The claims.
    scope
        Seeds and scale.
    store
        Results.
    """
    return [judge(claim, effects(claim, scope, store)) for claim in claims]


def doubtful(judged: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts "holds" and "reversed" that many tests at once do not allow.

    They fail at a false discovery rate of 5 % (Benjamini & Hochberg 1995) over all verdicts.
    """
    decided = [verdict for verdict in judged if verdict.word]
    if not decided:
        return []
    adjusted = false_discovery_control([_p_of_the_verdict(verdict) for verdict in decided])
    return [
        verdict
        for verdict, p in zip(decided, adjusted, strict=True)
        if verdict.word != "not shown" and p > 1 - CONFIDENCE
    ]


def _p_of_the_verdict(verdict: Verdict) -> float:
    """Return the p-value of a verdict's word; a reversed equality has 1 - p."""
    other_side = verdict.claim.kind == "equal" and verdict.word == "reversed"
    return 1 - verdict.p if other_side else verdict.p
