"""Results on disk: one JSON line for each training run and match, and a weight file a champion.

::

    results/runs.jsonl           training runs: configuration, curves, names of the champions
    results/matches.jsonl        matches: players, cards, results
    results/environments.json    processors and versions, by the key that the lines have
    results/champions/           weight files; large/ holds those that git does not keep

A line is found by its configuration, its seed and its `results_version`. A match is found by the
champions of its players too. A champion's file is named by the SHA-256 hash of its bytes.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from checkers_env.files import remove_temporary_files, write_atomically
from checkers_env.openings import BALLOTS
from training.reproduction.champions import (
    Champion,
    champion_path,
    load_champion,
    write_champions,
)
from training.reproduction.jobs import Job, Match, Player, Run, key_of, match_key, run_key, run_of
from training.reproduction.json_lines import JsonLines, Row
from training.reproduction.result_rows import (
    check_match,
    check_run,
    from_json,
    match_fields,
    match_order,
    run_order,
    to_json,
)
from training.trainer.loop import LIBRARIES, processor

RUNS, MATCHES, ENVIRONMENTS = "runs.jsonl", "matches.jsonl", "environments.json"
LOCK = ".lock"
NOT_COMPARED = ("origin", "files")


@dataclass(frozen=True)
class Origin:
    """Where and with what a result was made. It is no part of the result.

    Attributes
    ----------
    cpu_seconds
        CPU time of the job.
    clock
        CPU-seconds that a training run had taken at each point of its curves.
    processor
        Its model name.
    versions
        Of Python and the libraries, by name.
    """

    cpu_seconds: float
    clock: Sequence[float] = ()
    processor: str = field(default_factory=processor)
    versions: dict[str, str] = field(
        default_factory=lambda: {
            **{name: version(name) for name in LIBRARIES},
            "python": platform.python_version(),
        }
    )


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training run.

    Attributes
    ----------
    champions
        Hashes of the weight files, the champion first. Empty where no match needs the weights.
    points
        Last generation of each point of the curves, shape (points,).
    curves
        By the name of the measurement: means over the generations of a point, shape (points,).
    pool
        Of social learning, by the name of the column: one value for each published strategy.
    files
        Content of the weight files by hash. Empty in a result that was read from disk.
    """

    champions: tuple[str, ...]
    points: NDArray[np.int32]
    curves: dict[str, NDArray[np.float32]]
    pool: dict[str, NDArray[np.float32]]
    origin: Origin
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class MatchResult:
    """The result of a match; one entry a game, the two games of an opening side by side.

    Attributes
    ----------
    openings
        Of each pair of games. `first` is Black in the pair's first game, White in its second.
    results
        "W", "D" or "L" for each game, from the side of `first`.
    differences
        Pieces of `first` less the other's in the final position.
    plies
        Lengths, the opening included.
    reasons
        Number of games by the reason of their end.
    played_out
        Like `results`, with the drawn games played out; "" where the match does not ask for it.
    moves
        Hash of all moves.
    """

    openings: tuple[str, ...]
    results: str
    differences: tuple[int, ...]
    plies: tuple[int, ...]
    reasons: dict[str, int]
    played_out: str
    moves: str
    origin: Origin


Result = TrainingResult | MatchResult


class ResultStore:
    """The results in a folder.

    Several processes may add to one folder. Each addition replaces a file as a whole, so that a
    killed process loses no result that was added.

    Raises ValueError for a damaged line.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = JsonLines(folder / RUNS, run_order, check_run)
        self._matches = JsonLines(folder / MATCHES, match_order, check_match)
        self._environments = _read_environments(folder / ENVIRONMENTS)
        self._results: dict[Job, Result] = {}

    def result(self, job: Job) -> Result | None:
        """Return the result of a job, or None if it is not there or out of date."""
        if job not in self._results:
            row = self._row(job)
            if row is None or _key_of_row(row) != self._key(job):
                return None
            self._results[job] = self._decode(row)
        return self._results[job]

    def is_out_of_date(self, job: Job) -> bool:
        """Tell whether the only result has another configuration, version or champion."""
        return self._row(job) is not None and self.result(job) is None

    def lacks_champion(self, run: Run) -> bool:
        """Tell whether a weight file of a finished run is missing."""
        result = self.result(run)
        return isinstance(result, TrainingResult) and not all(
            self.champion_path(name).exists() for name in result.champions
        )

    def champion_path(self, name: str) -> Path:
        """Return the path of a champion's weight file, whether it exists or not."""
        return champion_path(self.folder, name)

    def champions(self, match: Match) -> tuple[Champion | None, Champion | None]:
        """Load the trained players of a match; None for an agent that is known by name.

        Raises ValueError for a weight file that is missing or damaged.
        """
        return self._champion(match.first, match), self._champion(match.second, match)

    def add(self, job: Job, result: Result) -> None:
        """Write a result, and the weight files of a run.

        A run that was trained again for its weight files keeps its line. Raises ValueError if its
        champions are not those of the line.
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
                write_champions(self.folder, result.files)
                if recorded:
                    return
            environment = self._write_environment(result.origin)
            lines = self._runs if isinstance(job, Run) else self._matches
            lines.put([self._encode(job, result, environment)])
        if isinstance(result, TrainingResult):
            result = replace(result, files={})
        self._results[job] = result

    def _refresh(self) -> None:
        self._environments = _read_environments(self.folder / ENVIRONMENTS)
        self._runs.refresh()
        self._matches.refresh()

    def _row(self, job: Job) -> Row | None:
        if isinstance(job, Run):
            return self._runs.get(job.configuration)
        return self._matches.get(match_fields(job))

    def _key(self, job: Job) -> str | None:
        """Return what a job's line is found by; None for a match with an untrained player."""
        if isinstance(job, Run):
            return run_key(job.configuration)
        names = [self._champion_name(player, job) for player in (job.first, job.second)]
        players = zip((job.first, job.second), names, strict=True)
        if any(player.trained and name is None for player, name in players):
            return None
        return match_key(match_fields(job) | {"champions": names})

    def _champion_name(self, player: Player, match: Match) -> str | None:
        """Return the hash of a player's weight file; None without a run, or without training."""
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
            raise ValueError(f"the weight file of {player} is not there: {str(path)!r}")
        return load_champion(path)

    def _write_environment(self, origin: Origin) -> str:
        """Return the key of a processor and its versions, and write them if they are new."""
        environment = {"processor": origin.processor, "versions": origin.versions}
        key = key_of(environment)[:8]
        if key not in self._environments:
            self._environments[key] = environment
            text = json.dumps(self._environments, indent=1, sort_keys=True)
            write_atomically(self.folder / ENVIRONMENTS, f"{text}\n".encode())
        return key

    def _encode(self, job: Job, result: Result, environment: str) -> Row:
        origin: Row = {"cpu_seconds": result.origin.cpu_seconds, "environment": environment}
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
        outcome = {
            name: value
            for name, value in vars(result).items()
            if name not in ("openings", "origin")
        }
        return match_fields(job) | {"champions": names, **outcome, "origin": origin}

    def _decode(self, row: Row) -> Result:
        made, key = row["origin"], row["origin"]["environment"]
        if key not in self._environments:
            raise ValueError(f"{str(self.folder / ENVIRONMENTS)!r} lacks {key!r}: restore it")
        clock = tuple(made.get("clock", ()))
        origin = Origin(made["cpu_seconds"], clock, **self._environments[key])
        if "preset" in row:
            return TrainingResult(
                tuple(row["champions"]),
                np.array(row["points"], np.int32),
                {name: from_json(line) for name, line in row["curves"].items()},
                {name: from_json(line) for name, line in row["pool"].items()},
                origin,
            )
        ballot = ("", *BALLOTS[row["conditions"]["ballot"]])
        return MatchResult(
            tuple(ballot[card] for card in row["cards"]),
            row["results"],
            tuple(row["differences"]),
            tuple(row["plies"]),
            row["reasons"],
            row["played_out"],
            row["moves"],
            origin,
        )


def differences(one: Result, other: Result) -> list[str]:
    """Name the parts in which two results of a job differ; the origin does not count."""
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
            f"not {', '.join(recorded.champions)} as recorded. Nothing was written. If the code "
            f"was to change results, raise results_version of {type(job.regime).__name__}, or "
            "RESULTS_VERSION of the search"
        )


def _read_environments(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_bytes())) if path.exists() else {}
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is damaged ({error}): restore it") from None


def _key_of_row(row: Row) -> str:
    return run_key(row) if "preset" in row else match_key(row)
