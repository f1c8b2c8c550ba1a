"""Inputs of the networks: the playable squares of an observation, and the move clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checkers_env.observation import PLANES

CLOCK = 5  # plane of the move limit; the planes after it belong to rules that are off here
CELLS = PLANES * 64


def _feature_indices() -> NDArray[np.int64]:
    """Return the indices of the features in a flat observation, int64[161]."""
    dark = np.indices((8, 8)).sum(axis=0) % 2 == 1
    planes = np.zeros((PLANES, 8, 8), np.bool_)
    planes[:CLOCK] = dark
    planes[CLOCK, 0, 1] = True
    return np.flatnonzero(planes)


FEATURE_INDICES = _feature_indices()
NUM_FEATURES = len(FEATURE_INDICES)


def select_features(planes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the features, float32[n, 161], of observations, float32[n, 8, 8, 8]."""
    return planes.reshape(-1, CELLS)[:, FEATURE_INDICES]


def expand_weights(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Expand weights for features, float32[m, 161], to whole observations, float32[m, 512]."""
    whole = np.zeros((len(weights), CELLS), np.float32)
    whole[:, FEATURE_INDICES] = weights
    return whole
