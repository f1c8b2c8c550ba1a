"""A run's memory on disk: one safetensors file, written whole or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save

from checkers_env.files import write_atomically
from training.rl.actor import Actor
from training.rl.game_pool import Games
from training.rl.opponent_pool import Pool
from training.trainer.checkpoint import (
    FILE_NAME,
    check_same_run,
    checkpoint_errors,
    read_checkpoint,
    strip_prefix,
)

HEADER = "checkers-laboratory ppo"
FORMAT = 1
BATCH = ("games", "history", "events", "actors", "seats", "opponents", "numbers", "used")


@dataclass
class Run:
    """All that the rest of a run depends on, and what was measured in it so far."""

    model: Any  # MaskablePPO
    games: Games
    pool: Pool
    rng: np.random.Generator
    steps: int = 0
    history: dict[str, list[float]] = field(default_factory=dict)


def save_run(folder: Path, run: Run, identity: dict[str, Any]) -> None:
    """Write a checkpoint in place of the one before."""
    arrays = {f"weights/{name}": it.numpy() for name, it in run.model.policy.state_dict().items()}
    for number, moments in run.model.policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimiser/{number}/{name}": it.numpy() for name, it in moments.items()}
    for number, actor in enumerate(run.pool.actors):
        for depth, (weight, bias) in enumerate(zip(*actor, strict=True)):
            arrays[f"pool/{number}/{depth}/weight"] = weight.numpy()
            arrays[f"pool/{number}/{depth}/bias"] = bias.numpy()
    arrays |= {f"games/{name}": getattr(run.games.batch, name) for name in BATCH}
    arrays |= {f"history/{name}": np.array(row) for name, row in run.history.items()}
    arrays["scores"] = np.array(run.pool.scores)
    header = {
        "format": FORMAT,
        "steps": run.steps,
        "rng": run.rng.bit_generator.state,
        "identity": identity,
    }
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_atomically(folder / FILE_NAME, save(arrays, metadata={HEADER: json.dumps(header)}))


def load_run(folder: Path, run: Run, identity: dict[str, Any]) -> None:
    """Put into `run`, a new one of this identity, what the checkpoint of a folder holds.

    Raises ValueError for a checkpoint that is missing, broken, or of another run.
    """
    with checkpoint_errors(folder):
        header, arrays = read_checkpoint(folder, HEADER, FORMAT)
        there = header["identity"]
    check_same_run(folder, there, json.loads(json.dumps(identity)))
    with checkpoint_errors(folder):
        _fill(run, header, arrays)


def _fill(run: Run, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    run.model.policy.load_state_dict(strip_prefix("weights/", tensors))
    optimiser = run.model.policy.optimizer
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in strip_prefix("optimiser/", tensors).items():
        number, _, key = name.partition("/")
        moments.setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})
    run.pool = Pool(_actors(strip_prefix("pool/", tensors)), arrays["scores"].tolist())
    run.games.go_on_from({name: arrays[f"games/{name}"] for name in BATCH})
    run.rng.bit_generator.state = header["rng"]
    run.steps = int(header["steps"])
    run.history = {name: row.tolist() for name, row in strip_prefix("history/", arrays).items()}
    if {len(row) for row in run.history.values()} - {len(run.history.get("steps", []))}:
        raise ValueError("its history has gaps")


def _actors(tensors: dict[str, torch.Tensor]) -> list[Actor]:
    """The policies of a pool, out of tensors named NUMBER/DEPTH/weight and NUMBER/DEPTH/bias."""
    numbers = {int(name.split("/")[0]) for name in tensors}
    depths = range(len({name.split("/")[1] for name in tensors}))
    return [
        Actor(
            tuple(tensors[f"{number}/{depth}/weight"] for depth in depths),
            tuple(tensors[f"{number}/{depth}/bias"] for depth in depths),
        )
        for number in sorted(numbers)
    ]
