"""Champions' weight files: immutable, and named by the hash of their bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.weights import load_weights, metadata_to_fields, pack_weights
from checkers_env.files import read_regular, remove_temporary_files, write_atomically
from training.evolution.state import Champion
from training.experiments.jobs import Run

CHAMPIONS, LARGE = "champions", "large"
LARGEST_IN_GIT = 100_000  # bytes of a file; larger ones are trained again when they are needed
HASH_DIGITS = 16
# Names of fields and options in format 1.
OLD_FIELDS = {"root_perspective": "own_leaves", "mcts_options": "playouts", "extra": "made"}
OLD_OPTIONS = {"tuples": "drawing"}


def encode_champion(player: Champion, run: Run, generation: int) -> bytes:
    """Encode a champion as a weight file, which :mod:`agents.weights` reads.

    Equal champions give equal bytes, and thus equal names: the header stays in format 1, whichever
    format :mod:`agents.weights` writes.
    """
    genome = np.ascontiguousarray(player.genome, np.float32)
    options = {OLD_OPTIONS.get(name, name): it for name, it in player.metadata.options.items()}
    made: dict[str, Any] = {"versions": {}, "extra": {}, "format": 1, "generation": generation}
    metadata = replace(player.metadata, regime=run.preset, seed=run.seed, options=options, **made)
    fields = metadata_to_fields(metadata)
    header = {OLD_FIELDS.get(name, name): value for name, value in fields.items()}
    return pack_weights(genome, header)


def name_champion(content: bytes) -> str:
    """Return the name of a weight file: the first 16 digits of its SHA-256 hash."""
    return hashlib.sha256(content).hexdigest()[:HASH_DIGITS]


def load_champion(path: Path) -> Champion:
    """Read a champion's weight file. Raise ValueError if its hash is not its name."""
    name = name_champion(read_regular(path))
    if name != path.stem:
        raise ValueError(
            f"{str(path)!r} is damaged (its hash is {name}): restore it, or delete it to train it "
            "again"
        )
    genome, metadata = load_weights(path)
    return Champion(genome.astype(np.float64), metadata)


def champion_path(folder: Path, name: str) -> Path:
    """Return the path of a weight file in a folder of results, whether it exists or not."""
    large = folder / CHAMPIONS / LARGE / f"{name}.safetensors"
    return large if large.exists() else folder / CHAMPIONS / large.name


def write_champions(folder: Path, files: Mapping[str, bytes], *, in_git: bool = True) -> None:
    """Write weight files. Existing files stay as they are."""
    for name, content in files.items():
        small = in_git and len(content) <= LARGEST_IN_GIT
        place = folder / CHAMPIONS / ("" if small else LARGE)
        place.mkdir(parents=True, exist_ok=True)
        remove_temporary_files(place)
        path = place / f"{name}.safetensors"
        if not path.exists():
            write_atomically(path, content)
