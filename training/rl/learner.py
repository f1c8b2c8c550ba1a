"""The learner: MaskablePPO in self-play, where every action on either side is a sample."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from stable_baselines3.common.logger import Logger

from checkers_env.actions import ACTIONS
from checkers_env.observation import PLANES
from training.rl.config import PPOConfig
from training.rl.game_pool import FinishedGames, GamePool
from training.rl.policy import NUM_FEATURES, expand_weights, sample_actions

COLUMNS = (
    *("observations", "actions", "values", "log_probs", "advantages", "returns"),
    "action_masks",
)


class ZeroSumBuffer(MaskableRolloutBuffer):  # type: ignore[misc]
    """Rollout buffer whose rewards and values are those of the side to move.

    In a multi-jump one side acts several times in a row, so that the next value has no fixed sign.
    Advantages are therefore computed from Black's perspective, and their signs restored.
    """

    signs: NDArray[np.float32]  # [steps, n]: 1 where Black is to move, -1 where White is

    def __init__(self, *arguments: Any, rng: np.random.Generator, **options: Any) -> None:
        self._rng = rng
        super().__init__(*arguments, **options)

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        self.signs = np.ones((self.buffer_size, self.n_envs), np.float32)

    def compute_advantages(
        self,
        last_values: NDArray[np.float32],
        last_signs: NDArray[np.float32],
        dones: NDArray[np.bool_],
    ) -> None:
        """Compute advantages and returns, given the values after the rollout, float32[n]."""
        self.rewards *= self.signs
        self.values *= self.signs
        last = torch.as_tensor(last_values * last_signs)
        self.compute_returns_and_advantage(last, dones)
        for array in (self.rewards, self.values, self.advantages, self.returns):
            array *= self.signs

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:
        """Yield all samples in batches, in a new order each time."""
        count = self.buffer_size * self.n_envs
        columns = [torch.from_numpy(getattr(self, name).reshape(count, -1)) for name in COLUMNS]
        order = torch.from_numpy(self._rng.permutation(count))
        for rows in torch.split(order, batch_size or count):
            observations, actions, *numbers, masks = (column[rows] for column in columns)
            values, log_probs, advantages, returns = (number.flatten() for number in numbers)
            yield MaskableRolloutBufferSamples(
                observations, actions, values, log_probs, advantages, returns, masks
            )


FIRST_LAYERS = ("mlp_extractor.policy_net.0.weight", "mlp_extractor.value_net.0.weight")


def new_model(config: PPOConfig, rng: np.random.Generator) -> MaskablePPO:
    """Return an untrained model; `rng` orders the samples of its updates."""
    model = _build_model(
        spaces.Box(0, 1, (NUM_FEATURES,), np.float32),
        list(config.hidden_sizes),
        config.num_envs,
        learning_rate=lambda progress_remaining: config.learning_rate * progress_remaining,
        n_steps=config.num_steps,
        batch_size=config.minibatch_size,
        n_epochs=config.update_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_coef,
        rollout_buffer_class=ZeroSumBuffer,
        rollout_buffer_kwargs={"rng": rng},
        seed=config.seed,
    )
    model.set_logger(Logger(None, []))
    return model


def model_to_zip(model: MaskablePPO) -> bytes:
    """Return the policy as a file of Stable-Baselines3 for whole observations, float32[8, 8, 8].

    The first layers get weights of 0 for inputs that are no feature, so that the policy acts as the
    learner does. The file loads without reading the pickles in it.
    """
    weights = dict(model.policy.state_dict())
    for name in FIRST_LAYERS:
        weights[name] = torch.from_numpy(expand_weights(weights[name].numpy()))
    space = spaces.Box(0, 1, (PLANES, 8, 8), np.float32)
    whole = _build_model(space, model.policy_kwargs["net_arch"], 1, n_steps=2, batch_size=2)
    whole.policy.load_state_dict(weights)
    file, packed = io.BytesIO(), io.BytesIO()
    whole.save(file)
    with ZipFile(file) as plain, ZipFile(packed, "w", ZIP_DEFLATED) as smaller:
        for name in plain.namelist():
            smaller.writestr(name, plain.read(name))
    return packed.getvalue()


def _build_model(
    space: spaces.Box, hidden_sizes: list[int], num_envs: int, **options: Any
) -> MaskablePPO:
    """Return a model without an environment: spaces and number of games are set here."""
    kwargs = {"net_arch": hidden_sizes}  # plain numbers, which a file keeps without pickling them
    model = MaskablePPO(
        "MlpPolicy",
        None,
        policy_kwargs=kwargs,
        device="cpu",
        _init_setup_model=False,
        **options,
    )
    model.observation_space, model.action_space = space, spaces.Discrete(ACTIONS)
    model.n_envs = num_envs
    model._setup_model()
    return model


FINAL_ENTROPY_SHARE = 0.1
TRAIN_METRICS = (
    "train/approx_kl",
    "train/clip_fraction",
    "train/entropy_loss",
    "train/explained_variance",
    "train/learning_rate",
    "train/policy_gradient_loss",
    "train/value_loss",
)


def collect_rollout(
    model: MaskablePPO, games: GamePool, rng: np.random.Generator
) -> list[FinishedGames]:
    """Fill the model's buffer by playing; return the games that ended in each step."""
    buffer: Any = model.rollout_buffer
    buffer.reset()
    starts, finished = np.zeros(games.count, np.bool_), []
    for step in range(model.n_steps):
        features, mask, buffer.signs[step] = games.features, games.mask, games.signs
        logits, values = forward(model, features)
        actions, log_probs = sample_actions(logits.numpy(), mask, rng)
        rewards, over, ended = games.step(actions)
        estimates = values, torch.from_numpy(log_probs)
        buffer.add(features, actions, rewards, starts, *estimates, action_masks=mask)
        starts = over
        finished.append(ended)
    _, values = forward(model, games.features)
    buffer.compute_advantages(values.flatten().numpy(), games.signs, starts)
    return finished


@torch.no_grad()
def forward(model: MaskablePPO, features: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits, float32[n, 128], and values, float32[n, 1], of features, float32[n, 161]."""
    policy: Any = model.policy
    for_actions, for_values = policy.mlp_extractor(torch.from_numpy(features))
    return policy.action_net(for_actions), policy.value_net(for_values)


def update(model: MaskablePPO, config: PPOConfig, progress_remaining: float) -> dict[str, float]:
    """Update the model by its buffer; learning rate and entropy weight fall with the run."""
    model._current_progress_remaining = progress_remaining
    share = FINAL_ENTROPY_SHARE + (1 - FINAL_ENTROPY_SHARE) * progress_remaining
    model.ent_coef = config.ent_coef * share
    model.train()
    metrics = {name: float(model.logger.name_to_value[name]) for name in TRAIN_METRICS}
    model.logger.dump()
    return metrics
