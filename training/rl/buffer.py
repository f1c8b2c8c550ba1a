"""The rollout of a game of two sides that share one policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples


class ZeroSumBuffer(MaskableRolloutBuffer):  # type: ignore[misc]
    """A rollout in which whoever was to move acted, and whose rewards and values are the mover's.

    What is good for one side is bad for the other, and a multi-jump gives several samples of the
    same side in a row: advantages are therefore reckoned as Black sees the game, where rewards and
    values add up as in any other, and then given back to the mover.
    """

    views: Any  # float32[steps, n]: 1 where Black is to move, -1 where White is

    def __init__(self, *arguments: Any, rng: np.random.Generator, **options: Any) -> None:
        self._rng = rng
        super().__init__(*arguments, **options)

    def reset(self) -> None:
        super().reset()
        self.views = np.ones((self.buffer_size, self.n_envs), np.float32)

    def finish(self, last_values: Any, last_views: Any, dones: Any) -> None:
        """Work out advantages and returns, by the values and views of what follows the rollout."""
        self.rewards *= self.views
        self.values *= self.views
        last = torch.as_tensor(last_values * last_views)
        self.compute_returns_and_advantage(last, dones)
        for array in (self.rewards, self.values, self.advantages, self.returns):
            array *= self.views

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:
        """All samples in batches, in a new order each time."""
        count = self.buffer_size * self.n_envs
        columns = [
            torch.from_numpy(array.reshape(count, -1))
            for array in (
                self.observations,
                self.actions,
                self.values,
                self.log_probs,
                self.advantages,
                self.returns,
                self.action_masks,
            )
        ]
        order = torch.from_numpy(self._rng.permutation(count))
        for rows in torch.split(order, batch_size or count):
            seen, actions, *numbers, masks = (column[rows] for column in columns)
            values, log_probs, advantages, returns = (number.flatten() for number in numbers)
            yield MaskableRolloutBufferSamples(
                seen, actions, values, log_probs, advantages, returns, masks
            )
