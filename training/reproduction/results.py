"""What is kept of a finished job: one small file each, which a later session finds and trusts.

The name of a file ends with the key of its job (configuration, seed and digest of the code), so
that what was made otherwise is never taken for it. A training run's record is a safetensors file
with a JSON header, a match's is JSON; both carry a digest of their content.

Weights are kept as float32, and a table that is half empty without its zeros. The champion *is*
what the record holds: every match is played from it, so that it replays exactly.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.weights import WeightsMetadata, from_sparse, metadata_from_fields, to_sparse
from checkers_env.files import write_atomically
from training.reproduction.jobs import KEY_DIGITS, Match, Run, key_of
from training.trainer.loop import LIBRARIES, processor

HEADER, FORMAT = "checkers-laboratory record", 1
SEPARATE = ("job", "origin")  # what is no part of a result


@dataclass(frozen=True)
class Origin:
    """Where and with what a record was made; no part of the result.

    `clock` are the CPU-seconds that a training run had taken at each point of its curves.
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
class Trained:
    """The result of a training run.

    Attributes
    ----------
    job
        The configuration, the seed and the digest of the code.
    genomes
        float32[members, weights], the champion first; none where no match takes them.
    headers
        For each of them the fields of a weight file's header.
    generations
        int[points]: the last generation of each point of the curves.
    curves
        By the name of what was measured: float32[points], means over the generations of a point.
    beginning
        By name: float64 of the first generations one by one.
    pool
        Of social learning, by name: float32[strategies], in the order of publication.
    """

    job: dict[str, Any]
    genomes: Any
    headers: tuple[dict[str, Any], ...]
    generations: Any
    curves: dict[str, Any]
    beginning: dict[str, Any]
    pool: dict[str, Any]
    origin: Origin

    @property
    def digest(self) -> str:
        """A digest of the result."""
        content = hashlib.sha256(json.dumps(self.headers, sort_keys=True).encode())
        for name, array in sorted(_arrays(self).items()):
            content.update(f"{name}{array.dtype}{array.shape}".encode() + array.tobytes())
        return content.hexdigest()[:16]

    def player(self, member: int) -> str:
        """A digest of one player."""
        header = json.dumps(self.headers[member], sort_keys=True).encode()
        return hashlib.sha256(header + self.genomes[member].tobytes()).hexdigest()[:16]


@dataclass(frozen=True)
class Played:
    """The result of a match; one entry a game, the pairs of an opening one after the other.

    Attributes
    ----------
    job
        Digests of the players, the conditions, the seed and the digest of the code.
    openings
        Of each pair; in the first game `first` is Black, in the second White.
    results
        "W", "D" or "L" for each game, as `first` has it.
    differences
        The pieces of `first` less the other's at the end.
    plies
        Lengths, the opening included.
    reasons
        How many games ended why.
    played_out
        As `results`, with the drawn games played out; "" where that was not asked for.
    moves
        A digest of all moves.
    """

    job: dict[str, Any]
    openings: tuple[str, ...]
    results: str
    differences: tuple[int, ...]
    plies: tuple[int, ...]
    reasons: dict[str, int]
    played_out: str
    moves: str
    origin: Origin

    @property
    def digest(self) -> str:
        """A digest of the result."""
        return key_of({name: it for name, it in asdict(self).items() if name not in SEPARATE})


Result = Trained | Played


def path_of(folder: Path, job: Run | Match, key: str) -> Path:
    """The file of a job's record; a key "*" stands for any."""
    kind, suffix = ("runs", "safetensors") if isinstance(job, Run) else ("matches", "json")
    name = re.sub(r"[^a-z0-9.]+", "-", job.title.lower()).strip("-")
    return folder / kind / f"{name}-{key}.{suffix}"


def older(folder: Path, job: Run | Match) -> Iterator[Path]:
    """The records of a job of that name, made by whatever code."""
    pattern = path_of(folder, job, "[0-9a-f]" * KEY_DIGITS)
    return iter(sorted(pattern.parent.glob(pattern.name)))


def save_result(path: Path, result: Result) -> None:
    """Write a record, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = _packed(result) if isinstance(result, Trained) else _printed(result)
    write_atomically(path, content)


def load_result(path: Path) -> Result:
    """Read a record. Raises ValueError that names the file for one that cannot be trusted."""
    try:
        result, digest = _unpacked(path) if path.suffix == ".safetensors" else _parsed(path)
        if result.digest != digest:
            raise ValueError(f"its content has the digest {result.digest}, not {digest}")
        if not path.stem.endswith(f"-{key_of(result.job)}"):
            raise ValueError(f"it is of the job {key_of(result.job)}")
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the record {str(path)!r} is damaged ({error}): delete it, and it is made again"
        ) from None
    return result


def differences(one: Result, other: Result) -> list[str]:
    """What two results of a job do not have in common: names of parts."""
    if one.digest == other.digest:
        return []
    if isinstance(one, Played) and isinstance(other, Played):
        here, there = asdict(one), asdict(other)
        return [name for name in here if name not in SEPARATE and here[name] != there[name]]
    assert isinstance(one, Trained)
    assert isinstance(other, Trained)
    parts, others = _arrays(one), _arrays(other)
    found = [
        name
        for name in sorted({*parts, *others})
        if not (name in parts and name in others and _equal(parts[name], others[name]))
    ]
    return found or ["headers"]


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other, equal_nan=True))


def weights(result: Trained, member: int = 0) -> tuple[Any, WeightsMetadata]:
    """A player's genome (float64) and header, as :func:`agents.weights.save_weights` takes them."""
    return result.genomes[member].astype(np.float64), metadata_from_fields(result.headers[member])


def _arrays(result: Trained) -> dict[str, Any]:
    """Everything of a run that is not text."""
    arrays = {"genomes": result.genomes, "generations": result.generations}
    parts = {"curve": result.curves, "beginning": result.beginning, "pool": result.pool}
    for part, columns in parts.items():
        arrays |= {f"{part}/{name}": array for name, array in columns.items()}
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _packed(result: Trained) -> bytes:
    arrays = _arrays(result)
    if (parts := to_sparse(result.genomes)) is not None:
        arrays |= {"genomes": parts[0], "present": parts[1]}
    header = {
        "format": FORMAT,
        "digest": result.digest,
        "job": result.job,
        "shape": list(result.genomes.shape),
        "headers": result.headers,
        "origin": asdict(result.origin),
    }
    return bytes(save(arrays, metadata={HEADER: json.dumps(header, sort_keys=True)}))


def _unpacked(path: Path) -> tuple[Trained, str]:
    with safe_open(str(path), framework="numpy") as file:
        header = json.loads((file.metadata() or {})[HEADER])
        _check_format(header)
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    genomes = arrays.pop("genomes")
    if "present" in arrays:
        genomes = from_sparse(genomes, arrays.pop("present"), header["shape"])
    parts: dict[str, dict[str, Any]] = {"curve": {}, "beginning": {}, "pool": {}}
    generations = arrays.pop("generations")
    for name, array in arrays.items():
        part, _, column = name.partition("/")
        parts[part][column] = array
    return Trained(
        header["job"],
        genomes,
        tuple(header["headers"]),
        generations,
        parts["curve"],
        parts["beginning"],
        parts["pool"],
        _origin(header["origin"]),
    ), header["digest"]


def _printed(result: Played) -> bytes:
    fields = {"format": FORMAT, "digest": result.digest, **asdict(result)}
    return (json.dumps(fields, sort_keys=True) + "\n").encode()


def _parsed(path: Path) -> tuple[Played, str]:
    fields = json.loads(path.read_text("utf-8"))
    _check_format(fields)
    del fields["format"]
    digest = fields.pop("digest")
    for name in ("openings", "differences", "plies"):
        fields[name] = tuple(fields[name])
    return Played(**fields | {"origin": _origin(fields["origin"])}), digest


def _origin(fields: dict[str, Any]) -> Origin:
    return Origin(**fields | {"clock": tuple(fields.get("clock", ()))})


def _check_format(header: Any) -> None:
    if header["format"] != FORMAT:
        raise ValueError(f"its format is {header['format']!r}, not {FORMAT}")
