"""Checkpoint of a run: one safetensors file, written atomically."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save

from agents.weights import open_safetensors
from checkers_env.files import write_atomically
from training.evolution.state import State
from training.runtime.run_folder import config_diff

FILE_NAME = "checkpoint.safetensors"
CHECKSUM = "sha256"  # a field of the header, which older checkpoints lack
HEADER = "checkers-laboratory run"
FORMAT = 2

T = TypeVar("T")


@dataclass(frozen=True)
class Checkpoint:
    """A run between two generations."""

    state: State
    history: dict[str, list[float]]  # metrics by name, a value a generation
    config_key: dict[str, Any]  # what the results depend on: of RunConfig


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint of a folder; arrays keep their dtypes."""
    state = checkpoint.state
    arrays = {f"state/{name}": array for name, array in state.arrays.items()}
    arrays |= {f"history/{name}": np.array(row, float) for name, row in checkpoint.history.items()}
    header = {
        "format": FORMAT,
        "generation": state.generation,
        "rng": state.rng,
        "arrays": sorted(state.arrays),
        "config": checkpoint.config_key,
    }
    write_checkpoint(folder, HEADER, header, arrays)


def write_checkpoint(
    folder: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Replace the checkpoint of a folder, with a checksum of its content.

    `kind` is the name of the header, which is for JSON.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({**header, CHECKSUM: checksum(header, arrays)})
    write_atomically(folder / FILE_NAME, save(arrays, metadata={kind: text}))


def checksum(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of a header, but for its own field, and of contiguous arrays."""
    others = {name: value for name, value in header.items() if name != CHECKSUM}
    digest = hashlib.sha256(json.dumps(others).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def has_checkpoint(folder: Path) -> bool:
    """Return whether a folder holds a run of a regime; a damaged checkpoint counts."""
    path = folder / FILE_NAME
    if not path.is_file():
        return False
    try:
        with open_safetensors(path) as file:
            return HEADER in (file.metadata() or {})
    except (SafetensorError, OSError):
        return True


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read the checkpoint of a folder.

    Raises
    ------
    ValueError
        For a checkpoint that is missing, damaged, or of another kind or format.
    """
    with checkpoint_errors(folder):
        header, arrays = read_checkpoint(folder, HEADER, FORMAT)
        named = {name: arrays[f"state/{name}"] for name in header["arrays"]}
        state = State(header["generation"], header["rng"], named)
        config_key = header["config"]
        if not isinstance(config_key, dict):
            raise ValueError(f"its configuration is {type(config_key).__name__}, not an object")
        history = {name: array.tolist() for name, array in strip_prefix("history/", arrays).items()}
        state.validate()
        for name, row in history.items():
            if len(row) not in (0, state.generation + 1):
                expected = f"{state.generation + 1}, one a generation"
                raise ValueError(f"its history of {name} has {len(row)} values, not {expected}")
    return Checkpoint(state, history, config_key)


@contextmanager
def checkpoint_errors(folder: Path) -> Iterator[None]:
    """Turn errors in reading a folder's checkpoint into a ValueError that names the file."""
    path = folder / FILE_NAME
    try:
        yield
    except FileNotFoundError:
        raise ValueError(f"there is no run to resume in {str(folder)!r}") from None
    except KeyError as error:
        raise ValueError(f"{str(path)!r} is not a valid checkpoint: it lacks {error}") from None
    except (
        *(SafetensorError, OSError, TypeError, ValueError, RuntimeError),
        *(AttributeError, IndexError),
    ) as error:
        raise ValueError(f"{str(path)!r} is not a valid checkpoint: {error}") from None


def read_checkpoint(
    folder: Path, kind: str, number: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a folder's checkpoint.

    Raises
    ------
    ValueError
        For another kind or format, and if the checksum of a header that has one is not that
        of the content.
    """
    with open_safetensors(folder / FILE_NAME) as file:
        text = (file.metadata() or {}).get(kind)
        if text is None:
            raise ValueError(f"it has no {kind!r} header")
        header = json.loads(text)
        if header["format"] != number:
            raise ValueError(f"its format is {header['format']!r}, not {number}")
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if CHECKSUM in header and header[CHECKSUM] != checksum(header, arrays):
        raise ValueError("its content has changed since it was saved")
    return header, arrays


def check_same_run(folder: Path, saved: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Raise ValueError if the checkpoint of a folder belongs to another configuration."""
    if different := config_diff(saved, json.loads(json.dumps(config))):
        raise ValueError(
            f"{str(folder)!r} holds another run: {different}; choose another folder by --out"
        )


def strip_prefix(prefix: str, entries: Mapping[str, T]) -> dict[str, T]:
    """Return the entries whose names begin with `prefix`, by the rest of their names."""
    return {
        name.removeprefix(prefix): entry
        for name, entry in entries.items()
        if name.startswith(prefix)
    }
