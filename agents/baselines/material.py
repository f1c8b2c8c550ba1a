"""The piece counter: men and kings, and nothing else about the board."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.evaluator import evaluate
from checkers_env.bits import popcount
from checkers_env.jit import kernel
from checkers_env.movegen import Position

FULL_SCALE = 64.0  # any difference in pieces is worth less than a won game


class Material(NamedTuple):
    """An evaluator: the difference in pieces, a king counting `king` men (1 to 5)."""

    king: float = 1.5


@kernel
def piece_difference(position: Position, view: int, king: Any) -> Any:
    """Men and kings of `view` minus those of the other side, a king counting `king` men."""
    black, white, kings = position.black, position.white, position.kings
    men = popcount(black & ~kings) - popcount(white & ~kings)
    crowned = popcount(black & kings) - popcount(white & kings)
    difference = np.float32(men) + np.float32(king) * np.float32(crowned)
    return difference if view == 0 else -difference


@evaluate.register(Material)
def evaluate_material(
    material: Material, position: Position, view: int, state: Any, scratch: Any
) -> float:
    return piece_difference(position, view, material.king) / np.float32(FULL_SCALE)
