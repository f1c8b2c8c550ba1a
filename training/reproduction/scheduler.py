"""The jobs are done: which one is next, how long it will take, and when to stop.

Runs that differ in nothing but their length are one course of training: they share a work folder,
and the longer goes on from where the shorter has ended.
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

from training.reproduction.jobs import Job, Match, Run, get_preset, key_of, run_key
from training.reproduction.results import Result, ResultStore
from training.reproduction.worker import Deadline, play, train
from training.trainer.checkpoint import FILE_NAME, HEADER

TICK = 1.0  # seconds between two looks at the clock
PER_TRAINING_GAME = 0.004  # CPU-seconds, of a preset that was never measured
PER_GAME, PER_PLY = 0.05, 2.2  # CPU-seconds of a game at 6 plies, and how they grow with a ply


class Progress(NamedTuple):
    """How far it is, in CPU-seconds as expected."""

    seconds: float
    all_seconds: float
    jobs_done: int
    jobs: int


@dataclass(frozen=True)
class ExecutionContext:
    """Executor, number of workers, work folder and deadline of a session."""

    executor: Executor
    workers: int
    work: Path
    deadline: float = float("inf")  # as time.time() counts


class Costs:
    """What jobs are expected to take, from those that are done."""

    def __init__(self, store: ResultStore, jobs: Sequence[Job], work: Path) -> None:
        self._work = work
        self._measured: dict[str, list[float]] = defaultdict(list)
        for job in jobs:
            if (result := store.result(job)) is not None:
                self.learn(job, result)

    def learn(self, job: Job, result: Result) -> None:
        """Take note of what a job took."""
        self._measured[_kind(job)].append(result.origin.cpu_seconds / _games(job))

    def expected(self, job: Job, undone: Iterable[Job] = ()) -> float:
        """The CPU-seconds that a job will take, or take on from where it stands.

        With the jobs that are `undone`, from where the shorter runs of its course will have ended.
        """
        measured = self._measured.get(_kind(job))
        each = sum(measured) / len(measured) if measured else _prior(job)
        whole = each * _games(job)
        if isinstance(job, Run):
            stands = generations_done(folder_of(self._work, job))
            shorter = (run.length for run in course(job, undone) if run.length < job.length)
            whole *= 1 - max([stands, *shorter]) / job.length
        return whole


def undone(jobs: Sequence[Job], store: ResultStore, champions: bool = False) -> list[Job]:
    """Return the jobs to do: those without a result, and runs whose weight files are needed.

    Those of the matches that are not played are; with `champions`, those of all runs.
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
    """Do the jobs of :func:`undone`, in order, as far as there is time; return what is left.

    A match waits for its players, and a run for the shorter ones of its course. No job is begun
    that would end after the deadline; at the deadline those that run are stopped. Every result is
    written when its job ends.
    """
    costs = Costs(store, jobs, context.work)
    left = dict.fromkeys(undone(jobs, store, champions))
    for job in jobs:
        if job not in left:
            _clear(job, left, context)  # what a session that was killed has left
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
        before = len(left)
        begun = {*stopped, *(job for job, _ in running.values())}
        for job in list(left):
            if len(running) == context.workers:
                break
            if job in begun or _waits(job, left):
                continue
            if time.time() + costs.expected(job) > context.deadline:
                continue
            # Its players were lost, or an equal run has ended.
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
        now = done + sum(min(time.time() - began, expected[job]) for job, began in running.values())
        report(Progress(now, whole, len(jobs) - len(left), len(jobs)))


def _begin(job: Job, store: ResultStore, context: ExecutionContext) -> Future[Result | None]:
    deadline = Deadline(context.deadline)
    if isinstance(job, Run):
        return context.executor.submit(train, job, folder_of(context.work, job), deadline)
    return context.executor.submit(play, job, *store.champions(job), deadline)


def _waits(job: Job, left: Iterable[Job]) -> bool:
    """Whether another of the jobs that are left must be done before."""
    if isinstance(job, Run):
        return min(course(job, left), key=lambda run: run.length) != job
    return any(run in left for run in job.runs)


def _clear(job: Job, left: Iterable[Job], context: ExecutionContext) -> None:
    """Remove the work folder of a run that is done, unless one that is left goes on from there."""
    if not isinstance(job, Run):
        return
    folder = folder_of(context.work, job)
    if folder not in [folder_of(context.work, run) for run in course(job, left)]:
        shutil.rmtree(folder, ignore_errors=True)


def course(job: Run, jobs: Iterable[Job]) -> list[Run]:
    """Those of some jobs that are one course of training with a run, itself included."""
    return [it for it in jobs if isinstance(it, Run) and _course_name(it) == _course_name(job)]


@functools.cache
def _course_name(job: Run) -> str:
    """The name of a run's course: of all that its result depends on, but for its length."""
    rest = {name: it for name, it in job.configuration.items() if name != "generations"}
    return f"{job.preset}-seed-{job.seed}-{key_of(rest)}"


def folder_of(work: Path, job: Run) -> Path:
    """Where a run keeps its checkpoint while it is not finished: in the folder of its course.

    A run that is shorter than what is there already has a folder of its own.
    """
    shared = work / _course_name(job)
    return (
        shared
        if generations_done(shared) <= job.length
        else work / f"{job.title}-{run_key(job.configuration)}"
    )


def generations_done(folder: Path) -> int:
    """How far the run in a folder has come; 0 where there is none."""
    try:
        with safe_open(str(folder / FILE_NAME), framework="numpy") as file:
            return int(json.loads(file.metadata()[HEADER])["generation"])
    except (SafetensorError, OSError, KeyError, TypeError, ValueError):
        return 0


def _kind(job: Job) -> str:
    """Jobs of one kind take as long for a game."""
    if isinstance(job, Run):
        return job.preset
    return f"{job.first.name} - {job.second.name} at {_plies(job)}"


def _plies(job: Match) -> int:
    """Of the player that looks further ahead."""
    return max(player.depth or job.conditions.depth for player in (job.first, job.second))


@functools.cache
def _games(job: Job) -> int:
    return job.length * job.regime.games if isinstance(job, Run) else job.games


def _prior(job: Job) -> float:
    """CPU-seconds for a game of a job of which none was done yet."""
    if isinstance(job, Match):
        return float(PER_GAME * PER_PLY ** (_plies(job) - 6))
    preset = get_preset(job.preset)
    return preset.cpu_seconds / preset.games if preset.cpu_seconds else PER_TRAINING_GAME
