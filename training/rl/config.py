"""What a run of MaskablePPO is to do; nothing here needs torch."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agents.search.workspace import MAX_DEPTH
from training.runtime import validation


@dataclass(frozen=True)
class Learning:
    """The constants of PPO (Schulman et al., arXiv:1707.06347)."""

    hidden: tuple[int, ...] = (512, 256)
    """Neurons in the hidden layers of the policy network, and of the value network."""
    rollout: int = 64
    """Actions in each game between two updates."""
    batch: int = 2048
    """Samples in a step of the optimiser."""
    epochs: int = 2
    """Times that an update goes through its samples."""
    rate: float = 1e-3
    """Learning rate at the start; it falls to 0 in a straight line."""
    entropy: float = 0.01
    """Weight of the entropy at the start; it falls to a tenth of it in a straight line."""
    gamma: float = 0.999
    """Discount of an action: to win soon is a little better."""
    trace: float = 0.95
    """The lambda of generalised advantage estimation."""
    clip: float = 0.2
    """How much an update may change the ratio of probabilities before it gains nothing more."""


@dataclass(frozen=True)
class Settings:
    """What to learn from and how."""

    learning: Learning = field(default_factory=Learning)
    """Constants of PPO."""
    steps: int = 20_000_000
    """Actions to learn from, in all; the learning rate falls to 0 with the last one."""
    games: int = 512
    """Games at once."""
    alone: float = 0.6
    """Share of the games against oneself, in which the moves of both sides are learned from."""
    former: int = 4
    """Former policies met at once in the other games, drawn out of all those kept so far."""
    zoo: tuple[str, ...] = ("blondie24",)
    """Compiled players met in the other games, as agents.make takes them."""
    zoo_depth: int = 1
    """Plies that these search."""
    every: int = 16
    """Updates between two checkpoints: there the policy is kept, measured, and others are drawn."""
    measured_by: int = 400
    """Games against each yardstick at a checkpoint."""
    seed: int = 0
    """Seed of everything that is drawn."""
    out: Path | None = None
    """Folder of the run; by default runs/ppo-seed-SEED."""
    threads: int = os.cpu_count() or 1
    """Threads of torch. With 1, equal seeds give equal results; with more, bits may differ."""
    resume: bool = False
    """Go on with the run in the folder, from its last checkpoint."""

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self.out or Path("runs", f"ppo-seed-{self.seed}")

    @property
    def identity(self) -> dict[str, Any]:
        """What the results of the run depend on."""
        every = asdict(self)
        kept = every.pop("learning") | every
        return {name: kept[name] for name in kept if name not in ("out", "threads", "resume")}


RANGES = {
    "steps": (1, math.inf),
    "games": (2, math.inf),
    "alone": (0, 1),
    "former": (0, math.inf),
    "zoo_depth": (1, MAX_DEPTH),
    "every": (1, math.inf),
    "measured_by": (2, math.inf),
    "seed": (0, 2**32 - 1),
    "threads": (1, math.inf),
}
OF_LEARNING = {
    "rollout": (1, math.inf),
    "batch": (2, math.inf),
    "epochs": (1, math.inf),
    "rate": (1e-9, 1),
    "entropy": (0, 1),
    "gamma": (0, 1),
    "trace": (0, 1),
    "clip": (0, 1),
}


def check(settings: Settings) -> None:
    """Raise ValueError for settings that make no sense."""
    learning = settings.learning
    validation.validate_ranges(settings, RANGES)
    validation.validate_ranges(learning, OF_LEARNING)
    if not learning.hidden or min(learning.hidden) < 1:
        raise ValueError(f"hidden must be numbers from 1 on, not {learning.hidden}")
    if settings.alone == 0 and not settings.former and not settings.zoo:
        raise ValueError("alone is 0, but there is nobody to meet: say whom by --zoo or --former")
    samples = settings.games * learning.rollout
    if samples % learning.batch == 1:
        raise ValueError(
            f"games * rollout is {samples:,}, so that a batch of {learning.batch:,} would leave a "
            "single sample over, which cannot be normalised: change one of the three"
        )
