"""Records of older code taken over, where the new code is seen to do the same.

Code changes more often than what it does. A run of older code whose first generations the new code
repeats to the last bit, and a match that it repeats move by move, are as good as new. One of a kind
and code is tried, the one with the first seed; the others follow it.
"""

from __future__ import annotations

import math
import re
import shutil
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from training.reproduction.jobs import Match, Run
from training.reproduction.plan import Job, Ledger
from training.reproduction.results import Result, Trained, load_result, older
from training.reproduction.scheduler import Shop
from training.reproduction.worker import Order, play, train


class Told(NamedTuple):
    """How many records were taken over, were not the same, and were not tried for want of time."""

    taken: int
    refused: int
    untried: int


class Found(NamedTuple):
    """A record of older code that may do for a job."""

    job: Job
    path: Path
    result: Result


def adopt(jobs: Sequence[Job], ledger: Ledger, shop: Shop) -> Told:
    """Take over what can be; a record that is taken over gets its new name."""
    taken = refused = untried = 0
    for kind in (Run, Match):  # the runs first: a match is known by its players
        wanted = [job for job in jobs if isinstance(job, kind) and ledger.result(job) is None]
        groups = candidates(wanted, ledger)
        trials = [begin_trial(group[0].job, ledger, shop) for group in groups]
        for group, trial in zip(groups, trials, strict=True):
            again = trial.result()
            if isinstance(group[0].job, Run):
                shutil.rmtree(trial_folder(shop, group[0].job), ignore_errors=True)
            if again is None:
                untried += len(group)
                continue
            if not same(group[0], again):
                refused += len(group)
                continue
            for job, path, result in group:
                ledger.add(job, replace(result, job=ledger.identity(job) or {}))
                path.unlink()
                taken += 1
    return Told(taken, refused, untried)


def candidates(wanted: Sequence[Job], ledger: Ledger) -> list[list[Found]]:
    """Records of older code by kind and code, the first seeds first.

    What both codes know of the configuration is the same.
    """
    groups: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for job in wanted:
        identity = ledger.identity(job)
        for path in older(ledger.folder, job):
            result = load_result(path)
            if identity is not None and _agree(identity, result.job):
                groups[kind_of(job), result.job["code"]].append(Found(job, path, result))
                break
    return list(groups.values())


def _agree(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether two configurations have the same values wherever both have one."""
    for name in (new.keys() & old.keys()) - {"code"}:
        here, there = new[name], old[name]
        nested = isinstance(here, dict) and isinstance(there, dict)
        if not (_agree(here, there) if nested else here == there):
            return False
    return True


def begin_trial(job: Job, ledger: Ledger, shop: Shop) -> Future[Result | None]:
    """The beginning of a run, or a whole match, by the new code."""
    order = Order(shop.deadline)
    if isinstance(job, Match):
        return shop.executor.submit(play, job, *ledger.opponents(job), order)
    folder = trial_folder(shop, job)
    shutil.rmtree(folder, ignore_errors=True)
    return shop.executor.submit(train, beginning(job), folder, order)


def trial_folder(shop: Shop, job: Run) -> Path:
    """Where the beginning of a run is tried: not where the run itself may stand."""
    return shop.work / f"trial-{job.title}"


def beginning(job: Run) -> Run:
    """The first generations of a run."""
    return replace(job, generations=min(job.generations, math.ceil(job.trial / job.scale)))


def same(old: Found, again: Result) -> bool:
    """Whether a trial repeats a record, as far as it goes."""
    if not isinstance(again, Trained) or not isinstance(old.result, Trained):
        return old.result.digest == again.digest
    whole = old.result.generations[-1] == again.generations[-1]
    if whole and not np.array_equal(old.result.genomes, again.genomes):
        return False
    known = old.result.beginning.keys() & again.beginning.keys()
    rows = [(old.result.beginning[name], again.beginning[name]) for name in known]
    return bool(rows) and all(
        np.array_equal(here[: len(there)], there[: len(here)], equal_nan=True)
        for here, there in rows
    )


def kind_of(job: Job) -> str:
    """Jobs of one kind differ in their seeds only."""
    return re.sub(r"seed.\d+", "", job.title)
