"""Every kind of genome that can be evolved, and the evaluator that a genome makes.

A shape says how long its genomes are (``genome_size``), how many of the numbers are weights and
biases (``weight_count``), and what the last one, the weight of the piece difference, is fixed at
(``difference``; None where it is evolved too).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from agents.baselines.weighted import weighted_pieces
from agents.blondie.genome import ARCHITECTURES, Architecture, decode
from agents.ntuple.ntuple import ntuple, table_size
from agents.squares import Drawing


class PieceWeights(NamedTuple):
    """The weighted piece counter: one weight for each square, and K (Hughes 2003)."""

    weight_count: int = 32
    genome_size: int = 33
    difference: float | None = 0.0


class Tables(NamedTuple):
    """The look-up tables of an n-tuple system (thesis, chapter 6)."""

    drawing: Drawing
    weight_count: int
    genome_size: int
    difference: float | None = 1.0


def tables(drawing: Drawing) -> Tables:
    """The shape of the tables of a drawing."""
    return Tables(drawing, table_size(drawing), table_size(drawing) + 1)


SHAPES: dict[str, Any] = {
    **ARCHITECTURES,
    "weighted-pieces": PieceWeights(),
}


@functools.singledispatch
def evaluator_for(shape: Any, genome: Any, king: float) -> Any:
    """Prepare a genome (float64[genome_size]) for the kernels."""
    raise TypeError(f"{shape!r} is no shape of a genome")


@evaluator_for.register
def _(shape: Architecture, genome: Any, king: float) -> Any:
    return decode(shape, genome, king)


@evaluator_for.register
def _(shape: PieceWeights, genome: Any, king: float) -> Any:
    return weighted_pieces(genome[:-1], king)


@evaluator_for.register
def _(shape: Tables, genome: Any, king: float) -> Any:
    return ntuple(shape.drawing, genome[:-1].copy(), difference=genome[-1], king=king)
