"""Piece counter: the difference in men and kings, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.evaluator import evaluate
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, Position

FULL_SCALE = 64.0  # keeps any difference in pieces below the value of a won game


class Material(NamedTuple):
    """Evaluator: the difference in pieces; a king counts `king` men (1 to 5)."""

    king: float = 1.5


@kernel
def piece_difference(position: Position, view: int, king: KernelArg) -> KernelArg:
    """Return the pieces of side `view` minus the opponent's in men, float32."""
    black, white, kings = position.black, position.white, position.kings
    men = popcount(black & ~kings) - popcount(white & ~kings)
    crowned = popcount(black & kings) - popcount(white & kings)
    difference = np.float32(men) + np.float32(king) * np.float32(crowned)
    return difference if view == BLACK else -difference


@evaluate.register(Material)
def evaluate_material(
    material: Material, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    return piece_difference(position, view, material.king) / np.float32(FULL_SCALE)
