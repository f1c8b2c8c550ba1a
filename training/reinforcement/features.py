"""What the networks are given of an observation: the squares that are played on, and the clocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from checkers_env.planes import PLANES

CLOCKS = 3  # the last planes, each filled with one number
CELLS = PLANES * 64


def _chosen() -> Any:
    """Where in a flat observation the features stand: int64[163]."""
    chosen = np.indices((8, 8)).sum(axis=0) % 2 == 1  # the dark squares, as every side sees them
    planes = np.zeros((PLANES, 8, 8), np.bool_)
    planes[:-CLOCKS] = chosen
    planes[-CLOCKS:, 0, 1] = True
    return np.flatnonzero(planes)


CHOSEN = _chosen()
COUNT = len(CHOSEN)


def features(planes: Any) -> Any:
    """The features, float32[n, 163], of observations, float32[n, 8, 8, 8]."""
    return planes.reshape(-1, CELLS)[:, CHOSEN]


def spread(weights: Any) -> Any:
    """Weights of a layer for the features, float32[m, 163], as those for whole observations."""
    whole = np.zeros((len(weights), CELLS), np.float32)
    whole[:, CHOSEN] = weights
    return whole
