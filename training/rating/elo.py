"""The Elo scale: from a difference in rating to an expected score, and back."""

from __future__ import annotations

import math
from typing import Any

from scipy.special import expit, logit

POINTS = 400 / math.log(10)  # Elo points per unit of log-odds


def expected_score(difference: Any) -> Any:
    """The expected score, 0 to 1, of a player who is `difference` Elo points stronger."""
    return expit(difference / POINTS)


def elo_difference(score: Any) -> Any:
    """The difference in Elo points that makes `score` the expected one; infinite at 0 and 1."""
    return POINTS * logit(score)
