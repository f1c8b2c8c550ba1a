"""A PPO run on disk: one safetensors file, written atomically."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training.rl.game_pool import GamePool, OpponentPool
from training.rl.policy import Actor
from training.trainer.checkpoint import (
    check_same_run,
    checkpoint_errors,
    read_checkpoint,
    strip_prefix,
    write_checkpoint,
)

HEADER = "checkers-laboratory ppo"
FORMAT = 2


@dataclass
class PPORun:
    """All that the rest of a run depends on, and the metrics of its checkpoints so far."""

    model: Any  # MaskablePPO
    games: GamePool
    pool: OpponentPool
    rng: np.random.Generator
    steps: int = 0
    history: dict[str, list[float]] = field(default_factory=dict)


def save_run(folder: Path, run: PPORun, key: dict[str, Any]) -> None:
    """Replace the checkpoint of a folder."""
    arrays = {f"weights/{name}": it.numpy() for name, it in run.model.policy.state_dict().items()}
    for number, moments in run.model.policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimiser/{number}/{name}": it.numpy() for name, it in moments.items()}
    for number, actor in enumerate(run.pool.actors):
        for layer, (weight, bias) in enumerate(zip(*actor, strict=True)):
            arrays[f"pool/{number}/{layer}/weight"] = weight.numpy()
            arrays[f"pool/{number}/{layer}/bias"] = bias.numpy()
    arrays |= run.games.state()
    arrays |= {f"history/{name}": np.array(row) for name, row in run.history.items()}
    arrays["scores"] = np.array(run.pool.scores)
    header = {
        "format": FORMAT,
        "steps": run.steps,
        "rng": run.rng.bit_generator.state,
        "identity": key,
    }
    write_checkpoint(folder, HEADER, header, arrays)


def saved_steps(folder: Path) -> int:
    """Return the steps of the checkpoint of a folder."""
    return int(read_checkpoint(folder, HEADER, FORMAT)[0]["steps"])


def load_run(folder: Path, run: PPORun, key: dict[str, Any]) -> None:
    """Restore a new run of the same config from the checkpoint of a folder.

    Raises ValueError for a checkpoint that is missing, damaged, of another format or another run.
    """
    with checkpoint_errors(folder):
        header, arrays = read_checkpoint(folder, HEADER, FORMAT)
        saved_key = header["identity"]
    check_same_run(folder, saved_key, key)
    with checkpoint_errors(folder):
        _restore(run, header, arrays)


def _restore(run: PPORun, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    run.model.policy.load_state_dict(strip_prefix("weights/", tensors))
    optimiser = run.model.policy.optimizer
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in strip_prefix("optimiser/", tensors).items():
        number, _, key = name.partition("/")
        moments.setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})
    actors = _read_actors(strip_prefix("pool/", tensors))
    run.pool = OpponentPool(actors, arrays["scores"].tolist())
    run.games.restore(arrays)
    run.rng.bit_generator.state = header["rng"]
    run.steps = int(header["steps"])
    history = strip_prefix("history/", arrays)
    run.history = {name: row.tolist() for name, row in history.items()}
    if {len(row) for row in run.history.values()} - {len(run.history.get("steps", []))}:
        raise ValueError("its history has gaps")


def _read_actors(tensors: dict[str, torch.Tensor]) -> list[Actor]:
    """Return the policies in tensors named NUMBER/LAYER/weight and NUMBER/LAYER/bias."""
    numbers = {int(name.split("/")[0]) for name in tensors}
    layers = range(len({name.split("/")[1] for name in tensors}))
    return [
        Actor(
            tuple(tensors[f"{number}/{layer}/weight"] for layer in layers),
            tuple(tensors[f"{number}/{layer}/bias"] for layer in layers),
        )
        for number in sorted(numbers)
    ]
