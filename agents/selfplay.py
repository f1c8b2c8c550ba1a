"""What all learners have in common that play against themselves."""

from __future__ import annotations

from typing import NamedTuple


class Tally(NamedTuple):
    """What came of some games: how they ended, their plies, and the lessons drawn from them."""

    black_wins: int
    white_wins: int
    draws: int
    plies: int
    updates: int
    mean_error: float  # of |target - v|


def check_chances(lam: float, epsilon: float, random_plies: int) -> None:
    """Raise ValueError for a lambda, or chances in games, that there cannot be."""
    if not (0 <= lam <= 1 and 0 <= epsilon <= 1):
        raise ValueError(f"lambda and epsilon are from 0 to 1, not {lam!r} and {epsilon!r}")
    if random_plies < 0:
        raise ValueError(f"random_plies is 0 or more, not {random_plies}")
