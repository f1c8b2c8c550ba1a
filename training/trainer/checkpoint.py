"""A run's memory on disk: one safetensors file, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from checkers_env.files import write_atomically
from training.evolution.state import Population, State
from training.runtime.run_folder import config_diff

FILE_NAME = "checkpoint.safetensors"
HEADER = "checkers-laboratory run"
FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """A state, what was measured in each generation so far, and what identifies the run."""

    state: State
    history: dict[str, list[float]]
    config_key: dict[str, Any]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in place of the one before; arrays keep their dtypes."""
    state, population = checkpoint.state, checkpoint.state.population
    arrays = {
        "genomes": population.genomes,
        "steps": population.steps,
        "kings": population.kings,
        "scores": state.scores,
    }
    arrays |= {f"history/{name}": np.array(row, float) for name, row in checkpoint.history.items()}
    arrays |= {f"extra/{name}": array for name, array in state.extra.items()}
    header = {
        "format": FORMAT,
        "generation": state.generation,
        "rng": state.rng,
        "identity": checkpoint.config_key,
    }
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_atomically(folder / FILE_NAME, save(arrays, metadata={HEADER: json.dumps(header)}))


def has_checkpoint(folder: Path) -> bool:
    """Whether a folder has a checkpoint, and not one of another kind of run; damaged ones count."""
    path = folder / FILE_NAME
    if not path.is_file():
        return False
    try:
        with safe_open(str(path), framework="numpy") as file:
            return HEADER in (file.metadata() or {})
    except (SafetensorError, OSError):
        return True


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read the checkpoint of a run's folder. Raises ValueError for one that cannot be used."""
    with checkpoint_errors(folder):
        header, arrays = read_checkpoint(folder, HEADER, FORMAT)
        population = Population(arrays["genomes"], arrays["steps"], arrays["kings"])
        extra = strip_prefix("extra/", arrays)
        state = State(header["generation"], population, arrays["scores"], header["rng"], extra)
        config_key = header["identity"]
    history = {name: array.tolist() for name, array in strip_prefix("history/", arrays).items()}
    return Checkpoint(state, history, config_key)


@contextmanager
def checkpoint_errors(folder: Path) -> Iterator[None]:
    """Turn what goes wrong while a folder's checkpoint is read into a ValueError that names it."""
    path = folder / FILE_NAME
    try:
        yield
    except FileNotFoundError:
        raise ValueError(f"there is no run to resume in {str(folder)!r}") from None
    except KeyError as error:
        raise ValueError(f"{str(path)!r} is not a checkpoint of ours: it lacks {error}") from None
    except (SafetensorError, OSError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{str(path)!r} is not a checkpoint of ours: {error}") from None


def read_checkpoint(
    folder: Path, kind: str, *versions: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a folder's checkpoint, which must be of that kind and format."""
    with safe_open(str(folder / FILE_NAME), framework="numpy") as file:
        text = (file.metadata() or {}).get(kind)
        if text is None:
            raise ValueError(f"it has no {kind!r} header")
        header = json.loads(text)
        if header["format"] not in versions:
            raise ValueError(f"its format is {header['format']!r}, not {versions[-1]}")
        return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def check_same_run(folder: Path, there: dict[str, Any], asked: dict[str, Any]) -> None:
    """Raise ValueError if a folder's run is not the one asked for, by what identifies them."""
    if different := config_diff(there, asked):
        raise ValueError(
            f"{str(folder)!r} holds another run: {different}; choose another folder by --out"
        )


def strip_prefix(prefix: str, entries: dict[str, Any]) -> dict[str, Any]:
    """The entries whose names begin with `prefix`, by the rest of their names."""
    return {
        name.removeprefix(prefix): entry
        for name, entry in entries.items()
        if name.startswith(prefix)
    }
