"""A run's memory on disk: one safetensors file, written whole or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from checkers_env.files import write_atomically
from training.population import Population
from training.state import State

FILE_NAME = "checkpoint.safetensors"
HEADER = "checkers-laboratory run"
FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """A state, what was measured in each generation so far, and what identifies the run."""

    state: State
    history: dict[str, list[float]]
    identity: dict[str, Any]


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in place of the one before."""
    state, population = checkpoint.state, checkpoint.state.population
    arrays = {
        "genomes": population.genomes,
        "steps": population.steps,
        "kings": population.kings,
        "scores": state.scores,
    }
    arrays |= {f"history/{name}": np.array(row) for name, row in checkpoint.history.items()}
    arrays |= {f"extra/{name}": array for name, array in state.extra.items()}
    header = {
        "format": FORMAT,
        "generation": state.generation,
        "rng": state.rng,
        "identity": checkpoint.identity,
    }
    arrays = {name: np.array(array, np.float64, order="C") for name, array in arrays.items()}
    write_atomically(folder / FILE_NAME, save(arrays, metadata={HEADER: json.dumps(header)}))


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read the checkpoint of a run's folder. Raises ValueError for one that cannot be used."""
    path = folder / FILE_NAME
    try:
        with safe_open(str(path), framework="numpy") as file:
            text = (file.metadata() or {}).get(HEADER)
            if text is None:
                raise ValueError(f"it has no {HEADER!r} header")
            header = json.loads(text)
            if header["format"] != FORMAT:
                raise ValueError(f"its format is {header['format']!r}, not {FORMAT}")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        population = Population(arrays["genomes"], arrays["steps"], arrays["kings"])
        extra = _below("extra/", arrays)
        state = State(header["generation"], population, arrays["scores"], header["rng"], extra)
        identity = header["identity"]
    except FileNotFoundError:
        raise ValueError(f"there is no run to resume in {str(folder)!r}") from None
    except KeyError as error:
        raise ValueError(f"{str(path)!r} is not a checkpoint of ours: it lacks {error}") from None
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise ValueError(f"{str(path)!r} is not a checkpoint of ours: {error}") from None
    history = {name: array.tolist() for name, array in _below("history/", arrays).items()}
    return Checkpoint(state, history, identity)


def _below(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays whose names begin with `prefix`, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
