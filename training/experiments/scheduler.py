"""Scheduler: the order of the jobs, their expected times, and the deadline.

Runs that differ in their length only are one training lineage. They share a work folder, and the
longer run continues the shorter one.
"""

from __future__ import annotations

import functools
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from safetensors import SafetensorError, safe_open

from checkers_env.files import open_regular
from training.experiments.jobs import Job, Match, Run, get_preset, run_key
from training.experiments.results import Result, ResultStore
from training.experiments.worker import Deadline, play, train
from training.runtime.run_folder import short_name
from training.trainer.checkpoint import FILE_NAME, HEADER

TICK = 1.0  # seconds between two progress reports
PER_TRAINING_GAME = 0.004  # CPU-seconds of a training game, for a preset without measurements
PER_GAME, PER_PLY = 0.05, 2.2  # CPU-seconds of a game at 6 plies, and their growth factor a ply


class Progress(NamedTuple):
    """Progress of a session, in expected CPU-seconds and in jobs."""

    seconds: float
    all_seconds: float
    jobs_done: int
    jobs: int


@dataclass(frozen=True)
class ExecutionContext:
    """Executor, number of workers, work folder and deadline of a session.

    The deadline is in seconds, as time.time() counts them.
    """

    executor: Executor
    workers: int
    work: Path
    deadline: float = float("inf")


class Costs:
    """Expected CPU times of jobs, estimated from finished jobs."""

    def __init__(self, store: ResultStore, jobs: Sequence[Job], work: Path) -> None:
        self._work = work
        self._measured: dict[str, list[float]] = defaultdict(list)
        for job in jobs:
            if (result := store.result(job)) is not None:
                self.learn(job, result)

    def learn(self, job: Job, result: Result) -> None:
        """Add the CPU time of a finished job to the estimates."""
        self._measured[_kind(job)].append(result.origin.cpu_seconds / _games(job))

    def expected(self, job: Job, undone: Iterable[Job] = ()) -> float:
        """Return the expected CPU-seconds of a job from its checkpoint on.

        Jobs in `undone` are done before it: a run continues the shorter runs of its lineage.
        """
        measured = self._measured.get(_kind(job))
        each = sum(measured) / len(measured) if measured else _prior(job)
        whole = each * _games(job)
        if isinstance(job, Run):
            stands = generations_done(folder_of(self._work, job))
            shorter = (
                run.length for run in training_lineage(job, undone) if run.length < job.length
            )
            whole *= 1 - max([stands, *shorter]) / job.length
        return whole


def undone(jobs: Sequence[Job], store: ResultStore, champions: bool = False) -> list[Job]:
    """Return the jobs to do: jobs without a result, and runs whose weight files are missing.

    Without `champions`, only the weight files that a match to play needs are trained again.
    """
    missing = {job for job in jobs if store.result(job) is None}
    players = {run for job in missing if isinstance(job, Match) for run in job.runs}
    needed = {job for job in jobs if isinstance(job, Run)} if champions else players
    return [job for job in jobs if job in missing or (job in needed and _lacks(job, store))]


def _lacks(job: Job, store: ResultStore) -> bool:
    return isinstance(job, Run) and store.lacks_champion(job)


def work_through(
    jobs: Sequence[Job],
    store: ResultStore,
    context: ExecutionContext,
    report: Callable[[Progress], None],
    champions: bool = False,
) -> list[Job]:
    """Do the jobs of :func:`undone` in order, until the deadline.

    A match waits for its players, and a run for the shorter runs of its lineage. No job starts that
    would end after the deadline, and running jobs stop at the deadline. Each result is written
    when its job ends. Returns the jobs that are left. `report` is called before the first job
    starts, and every second.
    """
    costs = Costs(store, jobs, context.work)
    left = dict.fromkeys(undone(jobs, store, champions))
    for job in jobs:
        if job not in left:
            _clear(job, left, context)  # the folder that a killed session left behind
    expected = {job: costs.expected(job, left) for job in left}
    whole, done, stopped = sum(expected.values()), 0.0, set[Job]()
    running: dict[Future[Result | None], tuple[Job, float]] = {}

    def finish(job: Job, result: Result) -> None:
        nonlocal done
        del left[job]
        done += expected[job]
        costs.learn(job, result)
        _clear(job, left, context)

    while True:
        now = done + sum(min(time.time() - began, expected[job]) for job, began in running.values())
        report(Progress(now, whole, len(jobs) - len(left), len(jobs)))
        before = len(left)
        begun = {*stopped, *(job for job, _ in running.values())}
        for job in list(left):
            if len(running) == context.workers:
                break
            if job in begun or _waits(job, left):
                continue
            if time.time() + costs.expected(job) > context.deadline:
                continue
            # Either its players' weights were missing only, or an equal run has ended.
            if (result := store.result(job)) is not None and not _lacks(job, store):
                finish(job, result)
                continue
            running[_begin(job, store, context)] = job, time.time()
        if not running and len(left) == before:
            return list(left)
        for future in wait(running, TICK, FIRST_COMPLETED).done:
            job, _ = running.pop(future)
            result = future.result()
            if result is None:
                stopped.add(job)
                continue
            store.add(job, result)
            finish(job, result)


def _begin(job: Job, store: ResultStore, context: ExecutionContext) -> Future[Result | None]:
    deadline = Deadline(context.deadline)
    if isinstance(job, Run):
        return context.executor.submit(train, job, folder_of(context.work, job), deadline)
    return context.executor.submit(play, job, *store.champions(job), deadline)


def _waits(job: Job, left: Iterable[Job]) -> bool:
    """Return whether one of the jobs in `left` must be done before `job`."""
    if isinstance(job, Run):
        return min(training_lineage(job, left), key=lambda run: run.length) != job
    return any(run in left for run in job.runs)


def _clear(job: Job, left: Iterable[Job], context: ExecutionContext) -> None:
    """Remove the work folder of a finished run, unless a run in `left` continues it."""
    if not isinstance(job, Run):
        return
    folder = folder_of(context.work, job)
    if folder not in [folder_of(context.work, run) for run in training_lineage(job, left)]:
        shutil.rmtree(folder, ignore_errors=True)


def training_lineage(job: Run, jobs: Iterable[Job]) -> list[Run]:
    """Return the runs among `jobs` that belong to the training lineage of `job`."""
    return [it for it in jobs if isinstance(it, Run) and it.lineage == job.lineage]


def folder_of(work: Path, job: Run) -> Path:
    """Return the folder of a run's checkpoint: its lineage's, or its own if that is too far on."""
    shared = work / short_name(job.lineage)
    if generations_done(shared) <= job.length:
        return shared
    return work / short_name(f"{job.title}-{run_key(job.configuration)}")


def generations_done(folder: Path) -> int:
    """Return the generation of the checkpoint in a folder; 0 if there is none."""
    try:
        open_regular(folder / FILE_NAME).close()
        with safe_open(str(folder / FILE_NAME), framework="numpy") as file:
            return int(json.loads(file.metadata()[HEADER])["generation"])
    except (SafetensorError, OSError, KeyError, TypeError, ValueError):
        return 0


def _kind(job: Job) -> str:
    """Return the kind of a job; jobs of one kind take the same time a game."""
    if isinstance(job, Run):
        return job.preset
    return f"{job.first.name} - {job.second.name} at {_plies(job)}"


def _plies(job: Match) -> int:
    """Return the search depth of the deeper player."""
    return max(player.depth or job.conditions.depth for player in (job.first, job.second))


@functools.cache
def _games(job: Job) -> int:
    return job.length * job.regime.games if isinstance(job, Run) else job.games


def _prior(job: Job) -> float:
    """Return the expected CPU-seconds a game for a kind of job without a finished one."""
    if isinstance(job, Match):
        return float(PER_GAME * PER_PLY ** (_plies(job) - 6))
    preset = get_preset(job.preset)
    return preset.cpu_seconds / preset.games if preset.cpu_seconds else PER_TRAINING_GAME
