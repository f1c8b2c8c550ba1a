"""Results on disk: one JSON line for each training run and match, and a weight file a champion.

::

    results/runs.jsonl           training runs: configuration, curves, names of the champions
    results/matches.jsonl        matches: players, cards, results
    results/starts.jsonl         champions of evolution against generation 0
    results/environments.json    processors and versions, by the key in the lines
    results/champions/           weight files; large/ holds those that git does not keep

The key of a line is its configuration, its seed and its `results_version`; for a match also the
champions of its players. A champion's file has the SHA-256 hash of its bytes as its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from checkers_env.files import read_regular, remove_temporary_files, write_atomically
from training.evolution.state import Champion
from training.experiments.champions import champion_path, load_champion, write_champions
from training.experiments.jobs import Job, Match, Player, Run, key_of, match_key, run_key, run_of
from training.experiments.json_lines import JsonLines, Row
from training.experiments.result_rows import (
    check_match,
    check_run,
    from_json,
    match_fields,
    match_order,
    run_order,
    to_json,
)
from training.experiments.starting_point import STARTS, check_start, start_fields
from training.runtime.machine import processor, versions

RUNS, MATCHES, ENVIRONMENTS = "runs.jsonl", "matches.jsonl", "environments.json"
LOCK = ".lock"
UNDATED = "2026-11-23"  # day by which all lines without a date were there
NOT_COMPARED = ("origin", "files", "start")


@dataclass(frozen=True)
class Origin:
    """CPU time and environment of a result; two equal results may differ in it."""

    cpu_seconds: float
    clock: Sequence[float] = ()  # CPU-seconds of a training run up to each point of its curves
    processor: str = field(default_factory=processor)
    versions: dict[str, str] = field(default_factory=versions)
    date: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training run."""

    champions: tuple[str, ...]  # hashes of the weight files, the champion first; may be empty
    points: NDArray[np.int32]  # last generation of each point of the curves
    curves: dict[str, NDArray[np.float32]]  # measurements: means over a point's generations
    pool: dict[str, NDArray[np.float32]]  # columns of the social pool, shape (strategies,)
    origin: Origin
    files: Mapping[str, bytes] = field(default_factory=dict)  # by hash; empty if read from disk
    start: Mapping[str, Any] = field(default_factory=dict)  # the champion against generation 0

    def curve(self, name: str) -> NDArray[np.float32]:
        """Return the known points of a curve; none of a curve that the run lacks."""
        line = self.curves.get(name, np.empty(0, np.float32))
        return line[~np.isnan(line)]


@dataclass(frozen=True)
class MatchResult:
    """The result of a match; one entry a game, the two games of an opening side by side."""

    openings: tuple[str, ...]  # of each pair of games, in the first of which `first` is Black
    results: str  # "W", "D" or "L" for each game, from the side of `first`
    differences: tuple[int, ...]  # pieces of `first` less the other's at the end of each game
    plies: tuple[int, ...]  # of each game, its opening included
    reasons: dict[str, int]  # number of games by the reason of their end
    played_out: str  # like `results`, drawn games played on; "" without this condition
    moves: str  # hash of all moves
    origin: Origin


Result = TrainingResult | MatchResult


class ResultStore:
    """Results in a folder.

    Several processes may add to one folder. Each addition replaces a file atomically: a killed
    process loses no earlier result. A damaged line raises ValueError.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = JsonLines(folder / RUNS, run_order, check_run)
        self._matches = JsonLines(folder / MATCHES, match_order, check_match)
        self._starts = JsonLines(folder / STARTS, run_order, check_start)
        self._environments = _read_environments(folder / ENVIRONMENTS)
        self._results: dict[Job, Result] = {}
        self._missing: set[Job] = set()

    def result(self, job: Job) -> Result | None:
        """Return the result of a job, or None if it is missing or out of date."""
        if job not in self._results and job not in self._missing:
            row = self._row(job)
            key = run_key if isinstance(job, Run) else match_key
            if row is None or key(row) != self._key(job):
                self._missing.add(job)
            else:
                self._results[job] = self._decode(job, row)
        return self._results.get(job)

    def date(self, jobs: Iterable[Job]) -> str:
        """Return the day of the newest result of some jobs, e.g. ``2026-11-23``; "" for none."""
        found = [result.origin.date for job in jobs if (result := self.result(job)) is not None]
        return max(found, default="")

    def is_out_of_date(self, job: Job) -> bool:
        """Return whether a job's only result has another configuration, version or champion."""
        return self._row(job) is not None and self.result(job) is None

    def lacks_champion(self, run: Run) -> bool:
        """Return whether a weight file of a finished run is missing."""
        result = self.result(run)
        return isinstance(result, TrainingResult) and not all(
            self.champion_path(name).exists() for name in result.champions
        )

    def champion_path(self, name: str) -> Path:
        """Return the path of a champion's weight file, whether it exists or not."""
        return champion_path(self.folder, name)

    def champions(self, match: Match) -> tuple[Champion | None, Champion | None]:
        """Load the trained players of a match; None for an agent that :func:`agents.make` knows.

        Raises ValueError if a weight file is missing or damaged.
        """
        return self._champion(match.first, match), self._champion(match.second, match)

    def add(self, job: Job, result: Result) -> None:
        """Write a result, and the weight files of a run.

        A run that was trained again for its weight files keeps its line. Raises ValueError if its
        champions are others than the line's.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / LOCK):
            remove_temporary_files(self.folder)
            self._refresh()
            self._results.pop(job, None)
            if isinstance(result, TrainingResult):
                assert isinstance(job, Run)
                if recorded := self.result(job):
                    _check_same(job, recorded, result)
                write_champions(self.folder, result.files, in_git=not job.is_variant)
                if result.start:
                    self._starts.put([start_fields(job, result.champions[0]) | dict(result.start)])
                if recorded:
                    return
            environment = self._write_environment(result.origin)
            lines = self._runs if isinstance(job, Run) else self._matches
            lines.put([self._encode(job, result, environment)])
        if isinstance(result, TrainingResult):
            result = replace(result, files={})
        self._missing.clear()  # a match lacks a result while its players' runs do
        self._results[job] = result

    def add_start(self, run: Run, start: Mapping[str, Any]) -> None:
        """Write the comparison of a finished run's champion with generation 0."""
        result = self.result(run)
        assert isinstance(result, TrainingResult)
        with FileLock(self.folder / LOCK):
            self._starts.refresh()
            self._starts.put([start_fields(run, result.champions[0]) | dict(start)])
        del self._results[run]

    def _refresh(self) -> None:
        self._missing.clear()
        self._environments = _read_environments(self.folder / ENVIRONMENTS)
        self._runs.refresh()
        self._matches.refresh()
        self._starts.refresh()

    def _row(self, job: Job) -> Row | None:
        if isinstance(job, Run):
            return self._runs.get(job.configuration)
        return self._matches.get(match_fields(job))

    def _key(self, job: Job) -> str | None:
        """Return the key of a job's line; None for a match whose players are not all trained."""
        if isinstance(job, Run):
            return run_key(job.configuration)
        names = [self._champion_name(player, job) for player in (job.first, job.second)]
        players = zip((job.first, job.second), names, strict=True)
        if any(player.trained and name is None for player, name in players):
            return None
        return match_key(match_fields(job) | {"champions": names})

    def _champion_name(self, player: Player, match: Match) -> str | None:
        """Return the hash of a player's weight file; None for an agent or an unfinished run."""
        result = self.result(run_of(player, match.scale)) if player.trained else None
        if result is None:
            return None
        assert isinstance(result, TrainingResult)
        if not result.champions:
            raise ValueError(f"the run of {player} keeps no weights: it plays no matches")
        return result.champions[min(player.member, len(result.champions) - 1)]

    def _champion(self, player: Player, match: Match) -> Champion | None:
        name = self._champion_name(player, match)
        if name is None:
            return None
        path = self.champion_path(name)
        if not path.exists():
            raise ValueError(f"the weight file of {player} is missing: {str(path)!r}")
        return load_champion(path)

    def _write_environment(self, origin: Origin) -> str:
        """Write a new environment (processor and versions); return its key."""
        environment = {"processor": origin.processor, "versions": origin.versions}
        key = key_of(environment)[:8]
        if key not in self._environments:
            self._environments[key] = environment
            text = json.dumps(self._environments, indent=1, sort_keys=True)
            write_atomically(self.folder / ENVIRONMENTS, f"{text}\n".encode())
        return key

    def _encode(self, job: Job, result: Result, environment: str) -> Row:
        origin: Row = {
            "cpu_seconds": result.origin.cpu_seconds,
            "date": result.origin.date,
            "environment": environment,
        }
        if result.origin.clock:
            origin["clock"] = list(result.origin.clock)
        if isinstance(result, TrainingResult):
            assert isinstance(job, Run)
            return job.configuration | {
                "champions": list(result.champions),
                "points": result.points.tolist(),
                "curves": {name: to_json(line) for name, line in result.curves.items()},
                "pool": {name: to_json(line) for name, line in result.pool.items()},
                "origin": origin,
            }
        assert isinstance(job, Match)
        names = [self._champion_name(player, job) for player in (job.first, job.second)]
        row = match_fields(job) | {"champions": names} | vars(result) | {"origin": origin}
        del row["openings"]
        return row

    def _start(self, row: Row) -> Row:
        """Return the comparison of a run's present champion with generation 0, if there is one."""
        start = self._starts.get(row) or {}
        return start if [start.get("champion")] == row["champions"][:1] else {}

    def _decode(self, job: Job, row: Row) -> Result:
        made, key = row["origin"], row["origin"]["environment"]
        if key not in self._environments:
            raise ValueError(f"{str(self.folder / ENVIRONMENTS)!r} lacks {key!r}: restore it")
        clock = tuple(made.get("clock", ()))
        date = made.get("date", UNDATED)
        origin = Origin(made["cpu_seconds"], clock, **self._environments[key], date=date)
        if isinstance(job, Run):
            return TrainingResult(
                tuple(row["champions"]),
                np.array(row["points"], np.int32),
                {name: from_json(line) for name, line in row["curves"].items()},
                {name: from_json(line) for name, line in row["pool"].items()},
                origin,
                start=self._start(row),
            )
        return MatchResult(
            job.openings,
            row["results"],
            tuple(row["differences"]),
            tuple(row["plies"]),
            row["reasons"],
            row["played_out"],
            row["moves"],
            origin,
        )


def differences(one: Result, other: Result) -> list[str]:
    """Return the names of the parts in which two results differ; the origin does not count."""
    names = [it.name for it in fields(one) if it.name not in NOT_COMPARED]
    return [name for name in names if not _equal(getattr(one, name), getattr(other, name))]


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other, equal_nan=True))
    return bool(one == other)


def _check_same(job: Run, recorded: Result, result: TrainingResult) -> None:
    assert isinstance(recorded, TrainingResult)
    if result.champions != recorded.champions:
        raise ValueError(
            f"{job.title} was trained again, and its champion is {', '.join(result.champions)}, "
            f"not {', '.join(recorded.champions)} as recorded. Nothing was written. If a change of "
            f"code was to change results, raise results_version of {type(job.regime).__name__} or "
            "RESULTS_VERSION of the search"
        )


def _read_environments(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(read_regular(path))) if path.exists() else {}
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is damaged ({error}): restore it") from None
