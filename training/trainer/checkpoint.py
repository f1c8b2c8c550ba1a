"""Checkpoint of a run: one safetensors file, written atomically."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save

from agents.weights import open_safetensors
from checkers_env.files import write_atomically
from training.evolution.state import State
from training.regimes import SearchSettings, regimes
from training.runtime.run_folder import config_diff

FILE_NAME = "checkpoint.safetensors"
HEADER = "checkers-laboratory run"
FORMAT = 2
_FORMAT_1_FIELDS = {"own_leaves": "root_perspective"}

T = TypeVar("T")


@dataclass(frozen=True)
class Checkpoint:
    """A run between two generations.

    Attributes
    ----------
    state
        The regime's state.
    history
        Metrics by name, a value a generation.
    config_key
        What the results depend on: :attr:`training.trainer.loop.RunConfig.config_key`.
    """

    state: State
    history: dict[str, list[float]]
    config_key: dict[str, Any]


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
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_atomically(folder / FILE_NAME, save(arrays, metadata={HEADER: json.dumps(header)}))


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
    """Read the checkpoint of a folder, of this format or the one before.

    Raises
    ------
    ValueError
        For a checkpoint that is missing, damaged or of another kind.
    """
    with checkpoint_errors(folder):
        header, arrays = read_checkpoint(folder, HEADER, 1, FORMAT)
        if header["format"] == 1:
            header, arrays = _upgrade(header, arrays)
        named = {name: arrays[f"state/{name}"] for name in header["arrays"]}
        state = State(header["generation"], header["rng"], named)
        config_key = header["config"]
        if not isinstance(config_key, dict):
            raise ValueError(f"its configuration is {type(config_key).__name__}, not an object")
    history = {name: array.tolist() for name, array in strip_prefix("history/", arrays).items()}
    return Checkpoint(state, history, config_key)


def _upgrade(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Turn a checkpoint of format 1 into one of format 2.

    Format 1 had no `kind`: the names of the constants say which regime it is. Every state had
    genomes, step sizes, kings and scores, filled with dummies where a regime has none.
    """
    config = {_FORMAT_1_FIELDS.get(name, name): it for name, it in header["identity"].items()}
    later = {it.name for it in fields(SearchSettings)}  # constants that format 1 did not have
    constants = set(config) - {"name", "seed"} - later
    known = {kind: {it.name for it in fields(it)} - later for kind, it in regimes().items()}
    kind = next((kind for kind, names in known.items() if names == constants), None)
    state = {name: arrays[name] for name in ("genomes", "steps", "kings", "scores")}
    extra = strip_prefix("extra/", arrays)
    if "drawing" in extra:
        extra["tuples"] = extra.pop("drawing")
    if kind == "social-learning":
        extra = {
            name if name in ("sources", "tuples") else f"pool/{name}": extra[name] for name in extra
        }
    elif kind == "genetic-algorithm":
        del state["steps"], state["kings"]
    elif kind == "evolution-strategy":
        state = {"mean": state["genomes"][0], "steps": state["steps"][0]}
        extra = {name: array[0] if array.ndim == 2 else array for name, array in extra.items()}
    elif kind in ("td-learning", "treestrap"):
        state = {"weights": state["genomes"][0]}
    for name in [name for name in extra if name.startswith(("hall-", "reigning-"))]:
        extra[name.replace("-", "/", 1)] = extra.pop(name)
    state |= extra
    upgraded = {f"state/{name}": array for name, array in state.items()}
    upgraded |= {name: array for name, array in arrays.items() if name.startswith("history/")}
    if kind:
        config = {"name": config["name"], "kind": kind, **config}
    return header | {"arrays": sorted(state), "config": config}, upgraded


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
    folder: Path, kind: str, *formats: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a folder's checkpoint.

    Parameters
    ----------
    folder
        Folder of the run.
    kind
        Name of the header.
    formats
        Accepted format numbers.

    Raises
    ------
    ValueError
        For another header or format.
    """
    with open_safetensors(folder / FILE_NAME) as file:
        text = (file.metadata() or {}).get(kind)
        if text is None:
            raise ValueError(f"it has no {kind!r} header")
        header = json.loads(text)
        if header["format"] not in formats:
            raise ValueError(f"its format is {header['format']!r}, not {formats[-1]}")
        return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def check_same_run(folder: Path, saved: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Raise ValueError if a checkpoint belongs to another configuration.

    Parameters
    ----------
    folder
        Folder of the run, for the error.
    saved
        Configuration in the checkpoint.
    config
        Configuration of the run to resume.
    """
    if different := config_diff(saved, config):
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
