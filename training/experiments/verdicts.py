"""Verdicts on claims, by t-tests over seeds: players, not games, are the independent samples.

A decided claim has a false discovery rate of at most 5 % among the claims of its family (Benjamini
& Hochberg 1995). Each effect has two tests: whether it differs from 0, and whether it is within the
margin of 0.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from training.experiments.champions import load_champion
from training.experiments.claims import Claim, finite, published_effect
from training.experiments.inference import (
    LEVEL,
    Interval,
    benjamini_hochberg,
    difference_p,
    equality_p,
    equality_power,
    seeds_to_decide,
    student,
)
from training.experiments.jobs import Job, Run
from training.experiments.plan import Scope, outcome_of
from training.experiments.results import ResultStore, TrainingResult
from training.experiments.starting_point import evolves, first_players, untouched_share

LEAST = 3  # seeds that a verdict needs
OWN_START = "the champions of {players} are their own starting points: they never changed"

Word = Literal["holds", "holds, much smaller", "equal", "inconclusive", "reversed", "not tested"]
WORDS: tuple[Word, ...] = (
    *("holds", "holds, much smaller", "equal", "inconclusive", "reversed", "not tested"),
)


@dataclass(frozen=True)
class Measured:
    """Effect of a claim by seed, before any verdict."""

    claim: Claim
    values: tuple[float, ...]  # one for each finished seed
    untested: str = ""  # why the players are no evidence


@dataclass(frozen=True, kw_only=True)
class Verdict(Measured):
    """Verdict on a claim."""

    effect: Interval
    theirs: Interval | None
    p: float  # of the claim's own test: against 0, or for "equal" of equality
    q: float  # false discovery rate of the test that the word rests on, in its family
    word: Word | None  # None for fewer than LEAST seeds
    seeds_needed: int | None = None  # to decide an inconclusive claim with a chance of 80 %
    power: float | None = None  # of an equality: its chance, if there is no difference


def judge(measured: Sequence[Measured]) -> list[Verdict]:
    """Return the verdicts on some claims; those of one family are corrected together."""
    families: defaultdict[str, list[Measured]] = defaultdict(list)
    for it in measured:
        families[it.claim.family].append(it)
    found = {it.claim: it for family in families.values() for it in _judge_family(family)}
    return [found[it.claim] for it in measured]


def _judge_family(measured: Sequence[Measured]) -> list[Verdict]:
    tested = [it for it in measured if len(it.values) >= LEAST and not it.untested]
    margins = [it for it in tested if it.claim.margin]
    differ = {it.claim: difference_p(it.values) for it in tested}
    equal = {it.claim: equality_p(it.values, it.claim.margin) for it in margins}
    q_differ = dict(zip(differ, benjamini_hochberg(list(differ.values())), strict=True))
    q_equal = dict(zip(equal, benjamini_hochberg(list(equal.values())), strict=True))
    return [
        _verdict(
            it,
            (differ.get(it.claim, 1.0), q_differ.get(it.claim, 1.0), _level(it.claim, differ)),
            (equal.get(it.claim, 1.0), q_equal.get(it.claim, 1.0), _level(it.claim, equal)),
        )
        for it in measured
    ]


def _level(claim: Claim, ps: dict[Claim, float]) -> float:
    """Return the level at which a claim passes at its rank among the p-values of its family."""
    rank = sum(p <= ps.get(claim, 1.0) for p in ps.values())
    return LEVEL * max(1, rank) / max(1, len(ps))


Test = tuple[float, float, float]  # p, q, and the level at its rank in the family


def _verdict(measured: Measured, differ: Test, equal: Test) -> Verdict:
    claim, values = measured.claim, measured.values
    effect, theirs = student(values), published_effect(claim)
    word: Word | None = _word(claim, effect, theirs, differ[1], equal[1])
    if measured.untested:
        word = "not tested"
    elif len(values) < LEAST:
        word = None
    own = equal if claim.kind == "equal" else differ
    needed = power = None
    if word == "inconclusive":
        beyond = claim.margin if claim.kind == "equal" else 0.0
        levels = (differ[2], equal[2])
        needed = seeds_to_decide(values, claim.margin, levels, beyond=beyond)
    if word == "equal":
        sd = float(np.std(values, ddof=1))
        power = equality_power(0.0, sd, len(values), claim.margin, equal[2]) if sd else 1.0
    q = {"equal": equal[1], "holds": differ[1], "reversed": differ[1]}.get(word or "", own[1])
    return Verdict(
        *(claim, values, measured.untested),
        effect=effect,
        theirs=theirs,
        p=own[0],
        q=q,
        word=word,
        seeds_needed=needed,
        power=power,
    )


def _word(
    claim: Claim, effect: Interval, theirs: Interval | None, q_differ: float, q_equal: float
) -> Word:
    """Return the word of a tested claim."""
    outside = min(abs(effect.low), abs(effect.high)) > claim.margin
    if q_equal <= LEVEL and (claim.kind == "equal" or q_differ > LEVEL):
        return "equal"
    if q_differ > LEVEL:
        return "inconclusive"
    if claim.kind == "equal":
        return "reversed" if outside else "inconclusive"
    if effect.mean > 0:
        much_smaller = theirs is not None and effect.high < theirs.mean / 2
        return "holds, much smaller" if much_smaller else "holds"
    if theirs is not None and finite(theirs) and effect.overlaps(theirs):
        return "inconclusive"
    return "reversed"


def measure(claim: Claim, scope: Scope, store: ResultStore) -> Measured:
    """Return the effect of each finished seed, without nan, and whether its players changed."""
    values = effects(claim, scope, store)
    return Measured(claim, tuple(values), claim.untested or _unchanged(claim, scope, store))


def _unchanged(claim: Claim, scope: Scope, store: ResultStore) -> str:
    """Return a sentence if half or more of a player's champions are their own starting points."""
    runs: dict[str, list[Run]] = defaultdict(list)
    for run in runs_of(claim, scope):
        if isinstance(store.result(run), TrainingResult):
            runs[run.preset].append(run)
    players = [
        preset
        for preset, several in runs.items()
        if 2 * sum(is_own_start(run, store) for run in several) >= len(several)
    ]
    return OWN_START.format(players=" and ".join(players)) if players else ""


def jobs_of(claim: Claim, scope: Scope) -> set[Job]:
    """Return the jobs that a claim needs."""
    seeds = (seed for line in claim.rows for seed in scope.games(line, claim.conditions))
    return {job for seed in seeds for job, _ in seed}


def runs_of(claim: Claim, scope: Scope) -> list[Run]:
    """Return the training runs that a claim rests on, those of its matches' players included."""
    runs: dict[Run, None] = {}
    for job in sorted(jobs_of(claim, scope), key=lambda job: job.title):
        runs.update(dict.fromkeys([job] if isinstance(job, Run) else job.runs))
    return list(runs)


def effects(claim: Claim, scope: Scope, store: ResultStore) -> list[float]:
    """Return the effect of each finished seed, without nan."""
    found = []
    for lines in zip(*(scope.games(line, claim.conditions) for line in claim.rows), strict=False):
        outcomes = [outcome_of(jobs, store) for jobs in lines]
        if all(outcome is not None for outcome in outcomes):
            found.append(claim.effect(outcomes))
    return [value for value in found if not np.isnan(value)]


def verdicts(claims: Sequence[Claim], scope: Scope, store: ResultStore) -> list[Verdict]:
    """Return the verdicts on some claims."""
    return judge([measure(claim, scope, store) for claim in claims])


def is_own_start(run: Run, store: ResultStore) -> bool:
    """Return whether the champion of a finished run is a member of its first generation.

    A champion whose weight file is missing counts as changed: git keeps only small files, and a
    champion that never left the zeros of its tables is small.
    """
    result = store.result(run)
    if not isinstance(result, TrainingResult) or not result.champions:
        return False
    return _is_member_of_start(run, store.champion_path(result.champions[0]))


@functools.cache
def _is_member_of_start(run: Run, path: Path) -> bool:
    if not path.exists() or not evolves(run):
        return False
    return untouched_share(load_champion(path).genome, first_players(run)) == 1
