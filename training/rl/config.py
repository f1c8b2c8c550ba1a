"""Options and hyperparameters of a PPO run, by CleanRL's names; needs no torch."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from agents.search.workspace import MAX_DEPTH
from training.runtime.validation import NoEffectWith, Range, validate_ranges

WITHOUT_OTHERS = NoEffectWith(self_play_share=(1,))
UNKEYED = ("out", "threads", "resume")  # the results do not depend on them


@dataclass(frozen=True)
class PPOConfig:
    """A run of PPO (Schulman et al., arXiv:1707.06347) in self-play."""

    total_timesteps: Annotated[int, Range(1)] = 20_000_000
    """Actions to learn from, in all; the learning rate falls to 0 with the last one."""
    num_envs: Annotated[int, Range(2)] = 512
    """Games at once."""
    num_steps: Annotated[int, Range(1)] = 64
    """Actions in each game between two updates."""
    learning_rate: Annotated[float, Range(1e-9, 1)] = 1e-3
    """Learning rate at the start; it falls to 0 in a straight line."""
    gamma: Annotated[float, Range(0, 1)] = 0.999
    """Discount of an action: to win soon is a little better."""
    gae_lambda: Annotated[float, Range(0, 1)] = 0.95
    """Lambda of generalised advantage estimation."""
    minibatch_size: Annotated[int, Range(2)] = 2048
    """Samples in a step of the optimiser."""
    update_epochs: Annotated[int, Range(1)] = 2
    """Passes of an update over its samples."""
    clip_coef: Annotated[float, Range(0, 1)] = 0.2
    """Clipping of the probability ratio in the surrogate objective."""
    ent_coef: Annotated[float, Range(0, 1)] = 0.01
    """Weight of the entropy at the start; it falls to a tenth of it in a straight line."""
    hidden_sizes: tuple[int, ...] = (512, 256)
    """Neurons in the hidden layers of the policy network, and of the value network."""
    self_play_share: Annotated[float, Range(0, 1)] = 0.6
    """Share of the games against oneself, in which the moves of both sides are learned from."""
    num_past_policies: Annotated[int, WITHOUT_OTHERS, Range(0)] = 4
    """Past policies met at once in the other games, sampled from all of the run's checkpoints."""
    zoo: Annotated[tuple[str, ...], WITHOUT_OTHERS] = ("blondie24",)
    """Compiled players met in the other games, as agents.make takes them."""
    zoo_depth: Annotated[int, NoEffectWith(zoo=((),)), WITHOUT_OTHERS, Range(1, MAX_DEPTH)] = 1
    """Plies that the zoo's players search."""
    checkpoint_interval: Annotated[int, Range(1)] = 16
    """Updates between two checkpoints, at which the policy is evaluated and opponents change."""
    eval_games: Annotated[int, Range(2)] = 400
    """Games against each baseline at a checkpoint."""
    seed: Annotated[int, Range(0, 2**32 - 1)] = 0
    """Seed of all randomness."""
    out: Path | None = None
    """Folder of the run; by default runs/ppo-seed-SEED."""
    threads: Annotated[int, Range(1)] = os.cpu_count() or 1
    """Threads of torch. With 1, equal seeds give equal results; with more, bits may differ."""
    resume: bool = False
    """Go on with the run in the folder, from its last checkpoint."""

    @property
    def folder(self) -> Path:
        """Folder of the run."""
        return self.out or Path("runs", f"ppo-seed-{self.seed}")

    @property
    def key(self) -> dict[str, Any]:
        """The options that the results depend on."""
        return {name: value for name, value in asdict(self).items() if name not in UNKEYED}


def validate_config(config: PPOConfig) -> None:
    """Raise ValueError for options that are out of range or do not go together."""
    validate_ranges(config)
    if not config.hidden_sizes or min(config.hidden_sizes) < 1:
        raise ValueError(f"hidden_sizes must be numbers from 1 on, not {config.hidden_sizes}")
    if config.self_play_share == 0 and not config.num_past_policies and not config.zoo:
        raise ValueError(
            "self_play_share is 0 and there is no opponent: set --zoo or --num-past-policies"
        )
    samples = config.num_envs * config.num_steps
    if samples % config.minibatch_size == 1:
        raise ValueError(
            f"num_envs * num_steps is {samples:,}, so that minibatches of "
            f"{config.minibatch_size:,} leave a single sample over, which cannot be normalised: "
            "change one of the three"
        )
