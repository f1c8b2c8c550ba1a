"""Who survives."""

from __future__ import annotations

from typing import Any

import numpy as np


def best(scores: Any, count: int, rng: np.random.Generator) -> Any:
    """The indices of the `count` highest scores, best first, equals in random order."""
    return np.lexsort((rng.random(len(scores)), -np.asarray(scores)))[:count]
