"""What the networks are given of an observation: the squares played on, and the move clock."""

from __future__ import annotations

from typing import Any

import numpy as np

from checkers_env.observation import PLANES

CLOCK = 5  # the plane of the limit of moves; those after it are of rules that are off here
CELLS = PLANES * 64


def _chosen() -> Any:
    """Where in a flat observation the features stand: int64[161]."""
    dark = np.indices((8, 8)).sum(axis=0) % 2 == 1  # as both sides see them
    planes = np.zeros((PLANES, 8, 8), np.bool_)
    planes[:CLOCK] = dark
    planes[CLOCK, 0, 1] = True
    return np.flatnonzero(planes)


CHOSEN = _chosen()
COUNT = len(CHOSEN)


def features(planes: Any) -> Any:
    """The features, float32[n, 161], of observations, float32[n, 8, 8, 8]."""
    return planes.reshape(-1, CELLS)[:, CHOSEN]


def spread(weights: Any) -> Any:
    """Weights of a layer for the features, float32[m, 161], as those for whole observations."""
    whole = np.zeros((len(weights), CELLS), np.float32)
    whole[:, CHOSEN] = weights
    return whole
