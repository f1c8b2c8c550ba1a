"""Verdicts on claims: players are the independent samples, not games.

Each effect has two tests: whether it differs from 0, and whether it is within a margin of 0. A
decision has a false discovery rate of at most 5 % among the tests of its family (Benjamini &
Hochberg 1995).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from training.experiments.claims import Claim
from training.experiments.crossed import contrast, crossed
from training.experiments.inference import LEVEL, Estimate, benjamini_hochberg, independent
from training.experiments.jobs import (
    AS_THE_THESIS,
    VALIDATION_SEED,
    Job,
    Match,
    Player,
    match_of,
    with_seed,
)
from training.experiments.measures import score
from training.experiments.plan import SEEDS, Scope, outcome_of
from training.experiments.results import ResultStore

LEAST = 3  # seeds that a verdict needs
PANEL = (
    *(Player(name, seed=VALIDATION_SEED) for name in ("samuel", "c5-leaf")),
    *(Player(name, seed=0) for name in ("walks-4", "learns", "learns-squares")),
)

Finding = Literal["leads", "trails", "no difference", "undecided"]
VerdictLabel = Literal["confirmed", "confirmed, smaller", "refuted", "undecided", "not testable"]
LABELS: tuple[VerdictLabel, ...] = get_args(VerdictLabel)


@dataclass(frozen=True)
class Measured:
    """Effect of a claim, before any verdict."""

    claim: Claim
    estimate: Estimate
    seeds: str  # "10"; "10 x 10" if all champions meet, "10 (planned)" if they are to
    values: tuple[float, ...] = ()  # one for each seed
    looks: int = 1  # at the data, this one counted

    @property
    def is_tested(self) -> bool:
        """Whether there are enough seeds, and players that are evidence."""
        return self.estimate.df >= LEAST - 1 and not self.claim.untestable

    @property
    def awaits_new_seeds(self) -> bool:
        """Whether the seeds that the plan leaves out are all that there are."""
        return self.claim.seeds[:1] > (0,) and self.seeds.endswith("(planned)")


@dataclass(frozen=True)
class Verdict:
    """Verdict on a claim."""

    measured: Measured
    finding: Finding | None  # None for fewer than LEAST seeds, or players that are no evidence
    label: VerdictLabel | None
    p: float  # of the test that the finding rests on
    q: float  # its false discovery rate in its family

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.measured.claim

    @property
    def has_their_size(self) -> bool | None:
        """Whether our interval has the paper's own figure; None where there is none."""
        theirs = self.claim.theirs
        return None if theirs is None else theirs.mean in self.measured.estimate.interval


def judge(measured: Sequence[Measured]) -> list[Verdict]:
    """Return the verdicts on some claims; those of one family are corrected together."""
    families: defaultdict[str, list[Measured]] = defaultdict(list)
    for it in measured:
        if it.is_tested:
            families[it.claim.family].append(it)
    found = {
        it.claim: verdict
        for family in families.values()
        for it, verdict in zip(family, _judge_family(family), strict=True)
    }
    return [found.get(it.claim) or _without_test(it) for it in measured]


def _without_test(measured: Measured) -> Verdict:
    return Verdict(measured, None, "not testable" if measured.claim.untestable else None, 1.0, 1.0)


def _judge_family(measured: Sequence[Measured]) -> Iterator[Verdict]:
    # A second look is a second chance: its p counts twice.
    differ = [min(1.0, it.looks * it.estimate.difference_p) for it in measured]
    equal = [min(1.0, it.looks * it.estimate.equality_p(it.claim.margin)) for it in measured]
    tests = zip(differ, benjamini_hochberg(differ), equal, benjamini_hochberg(equal), strict=True)
    for it, (p_differ, q_differ, p_equal, q_equal) in zip(measured, tests, strict=True):
        finding = find(it, q_differ, q_equal)
        of_equality = finding == "no difference" or (
            finding == "undecided" and it.claim.kind == "equal"
        )
        p, q = (p_equal, q_equal) if of_equality else (p_differ, q_differ)
        yield Verdict(it, finding, label(it, finding), p, q)


def find(measured: Measured, q_differ: float, q_equal: float) -> Finding:
    """Return what is found here, whatever the claim."""
    mean, low, high = measured.estimate.interval
    if measured.awaits_new_seeds:
        return "undecided"
    if q_equal <= LEVEL:
        return "no difference"
    if q_differ <= LEVEL and max(-low, high) > measured.claim.margin:
        return "leads" if mean > 0 else "trails"
    return "undecided"


def label(measured: Measured, finding: Finding) -> VerdictLabel:
    """Return what the finding says of the claim."""
    claim, (_, low, high) = measured.claim, measured.estimate.interval
    if finding == "undecided":
        return "undecided"
    if claim.kind == "equal":
        if finding == "no difference":
            return "confirmed"
        return "refuted" if max(low, -high) > claim.margin else "undecided"
    if finding != "leads":
        return "refuted"
    smaller = claim.theirs is not None and high < claim.theirs.mean / 2
    return "confirmed, smaller" if smaller else "confirmed"


def verdicts(claims: Sequence[Claim], scope: Scope, store: ResultStore) -> list[Verdict]:
    """Return the verdicts on some claims."""
    return judge([measure(claim, scope, store) for claim in claims])


def measure(claim: Claim, scope: Scope, store: ResultStore) -> Measured:
    """Return the effect by all pairings or the panel, if they are played, or else seed by seed."""
    if scope == Scope():
        first = replace(claim, seeds=claim.seeds[: -claim.second_look], second_look=0)
        for looks, planned in ((2, claim), (1, first)) if claim.second_look else ((1, claim),):
            if found := _measure_planned(planned, store):
                return replace(found, claim=claim, looks=looks)
    values = effects(claim, scope, store)
    seeds = f"{len(values)} (planned)" if claim.seeds and scope == Scope() else str(len(values))
    return Measured(claim, independent(values), seeds, tuple(values))


def _measure_planned(claim: Claim, store: ResultStore) -> Measured | None:
    """Return the effect by the games or runs of all seeds that are planned, if they are there."""
    first = len(claim.seeds) - claim.second_look
    count = f"{first}+{claim.second_look}" if claim.second_look else str(first)
    if (scores := pairing_scores(claim, store)) is not None:
        sides = claim.rows[0].first, claim.rows[0].others[0]
        counts = " x ".join(count if side.seed is None else "1" for side in sides)
        return Measured(claim, crossed(scores), counts, tuple(scores.mean(axis=1)))
    if (groups := panel_scores(claim, store)) is not None:
        assert claim.effect.contrast is not None
        estimate = contrast(claim.effect.contrast(len(groups)).tolist(), groups)
        return Measured(claim, estimate, count)
    values = effects(claim, Scope(seeds=len(claim.seeds)), store) if uncrossed(claim) else []
    if values and len(values) == len(claim.seeds):
        return Measured(claim, independent(values), count, tuple(values))
    return None


def pairing_scores(claim: Claim, store: ResultStore) -> NDArray[np.float64] | None:
    """Return the effect of all pairings of the claim's seeds; None unless all are played."""
    rows = [_figures(line, lambda it: claim.effect.of([it]), store) for line in pairings(claim)]
    return None if not rows or None in rows else np.array(rows, float)


def panel_scores(claim: Claim, store: ResultStore) -> list[list[float]] | None:
    """Return the scores of each player's champions against the panel; None unless all are there."""
    groups = []
    for seeds in panel_games(claim):
        each = [_figures(games, score, store) for games in seeds]
        groups.append([float(np.mean(scores)) for scores in each if scores])
        if len(groups[-1]) < len(seeds):
            return None
    return groups or None


def _figures(
    matches: Sequence[tuple[Match, bool]], of: Callable[[Any], float], store: ResultStore
) -> list[float] | None:
    """Return a figure of each match's games; None unless all are played."""
    played = [outcome_of([match], store) for match in matches]
    return None if None in played else [of(games) for games in played]


def pairings(claim: Claim) -> list[list[tuple[Match, bool]]]:
    """Return the matches of all champions of a claim's two players, by the seeds of the first."""
    if claim.effect.contrast is not None or uncrossed(claim):
        return []
    return [
        [
            match_of(
                with_seed(line.first, first),
                with_seed(line.others[0], second),
                first,
                claim.conditions,
                1.0,
            )
            for second in claim.seeds
        ]
        for line in claim.rows
        for first in claim.seeds
    ]


def panel_games(claim: Claim) -> list[list[list[tuple[Match, bool]]]]:
    """Return the matches with the panel, by player and seed, if the claim is on an order."""
    if claim.effect.contrast is None:
        return []
    return [_against_panel(player, claim.seeds) for player in players_of(claim)]


def choices(claim: Claim) -> dict[Player, list[list[tuple[Match, bool]]]]:
    """Return the matches with the panel, by seed, that a claim's best of ten runs are chosen by."""
    sides = (side for line in claim.rows for side in (line.first, *line.others))
    best = [it for it in sides if it.trained and it.seed is not None] if pairings(claim) else []
    return {side: _against_panel(replace(side, seed=None), range(SEEDS)) for side in best}


def _against_panel(player: Player, seeds: Iterable[int]) -> list[list[tuple[Match, bool]]]:
    return [
        [match_of(with_seed(player, seed), it, seed, AS_THE_THESIS, 1.0) for it in PANEL]
        for seed in seeds
    ]


def uncrossed(claim: Claim) -> list[Job]:
    """Return the jobs of a claim's seeds, if it is on training, or on games with fixed others."""
    others = [*chain.from_iterable(line.others for line in claim.rows)]
    crosses = len(others) == 1 or any(it.trained and it.seed is None for it in others)
    if crosses or not claim.seeds:
        return []
    return sorted(jobs_of(claim, Scope(seeds=len(claim.seeds))), key=repr)


def planned_jobs(claims: Iterable[Claim]) -> list[Job]:
    """Return the pairings and the panel's games of claims, and all their runs."""
    wanted: dict[Job, None] = {}
    for claim in claims:
        panel = chain(*panel_games(claim), *choices(claim).values())
        for job in chain(uncrossed(claim), (it for it, _ in chain(*pairings(claim), *panel))):
            wanted |= dict.fromkeys((*(job.runs if isinstance(job, Match) else ()), job))
    return list(wanted)


def players_of(claim: Claim) -> list[Player]:
    """Return the players of a claim on an order, the weakest first."""
    firsts = [line.first for line in claim.rows]
    weakest = claim.rows[0].others[:1] if len(claim.rows[0].others) == 1 else ()
    return [*weakest, *firsts]


def jobs_of(claim: Claim, scope: Scope) -> set[Job]:
    """Return the jobs that a claim needs, for champions of equal seeds."""
    seeds = (seed for line in claim.rows for seed in scope.games(line, claim.conditions))
    return {job for seed in seeds for job, _ in seed}


def effects(claim: Claim, scope: Scope, store: ResultStore) -> list[float]:
    """Return the effect of each finished seed, without nan."""
    found = []
    for lines in zip(*(scope.games(line, claim.conditions) for line in claim.rows), strict=False):
        outcomes = [outcome_of(jobs, store) for jobs in lines]
        if all(outcome is not None for outcome in outcomes):
            found.append(claim.effect.of(outcomes))
    return [value for value in found if not np.isnan(value)]
