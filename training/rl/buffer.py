"""Rollout buffer of a zero-sum game whose two sides share one policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

COLUMNS = (
    *("observations", "actions", "values", "log_probs", "advantages", "returns"),
    "action_masks",
)


class ZeroSumBuffer(MaskableRolloutBuffer):  # type: ignore[misc]
    """Rollout buffer whose rewards and values are those of the side to move.

    In a multi-jump one side acts several times in a row, so that the next value has no fixed sign.
    Advantages are therefore computed from Black's perspective, and their signs restored.

    Attributes
    ----------
    signs
        float32[steps, n]: 1 where Black is to move, -1 where White is.
    """

    signs: NDArray[np.float32]

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
        """Compute advantages and returns of a full buffer.

        Parameters
        ----------
        last_values, last_signs
            Value and sign of the position after the rollout, float32[n].
        dones
            Whether the last step ended the game, bool[n].
        """
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
