"""Every kind of genome that can be evolved, and the evaluator that a genome makes.

A shape says how long its genomes are (``genome_size``), how many of the numbers are weights and
biases (``weight_count``), and what the last one, the weight of the piece difference, is fixed at
(``difference``; None where it is evolved too).
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.baselines.samuel import samuel
from agents.baselines.weighted_pieces import weighted_pieces
from agents.blondie.architecture import ARCHITECTURES, Architecture, decode
from agents.endgame.tables import load_tablebase
from agents.geometry import Drawing
from agents.mcts.player import MonteCarlo, monte_carlo
from agents.ntuple.network import ntuple, table_size
from agents.search.player import AlphaBeta
from agents.search.selective import Selective
from agents.treestrap.codec import unpack
from agents.treestrap.network import SIZE, STAGES, Windows, windows
from agents.weights import LARGEST_WEIGHT, WeightsMetadata, load_weights


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


NTUPLE, SAMUEL, WINDOWS = "ntuple", "samuel", "treestrap"


def load_player(path: Path | str, depth: int | None = None) -> AlphaBeta | MonteCarlo:
    """The player of a weight file, as it was trained unless a depth is given.

    Raises ValueError for a file that cannot be read, or whose genome does not fit its evaluator.
    """
    genome, metadata = load_weights(path)
    try:
        if metadata.architecture == WINDOWS:
            return windows_player(genome, depth or metadata.depth, **metadata.options)
        evaluator = evaluator_of(genome, metadata)
        if metadata.mcts_options and depth is None:
            perspective = metadata.root_perspective
            return monte_carlo(evaluator, root_perspective=perspective, **metadata.mcts_options)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{str(path)!r} cannot be played: {error}") from None
    return AlphaBeta(evaluator, depth or metadata.depth, root_perspective=metadata.root_perspective)


def windows_player(
    packed: Any, depth: int, *, step: float, entries: int = 0, endgame: int = 0
) -> AlphaBeta:
    """The player of packed tables, whose search is selective, with endgame tables if it has any.

    Raises ValueError for what is impossible.
    """
    if packed.dtype != np.uint8:
        raise ValueError(f"packed tables are uint8, not {packed.dtype}")
    if not (isinstance(step, float) and 0 < step <= 1):
        raise ValueError(f"the step of packed tables is above 0 and at most 1, not {step!r}")
    if entries != STAGES * SIZE:
        raise ValueError(f"it is for other windows: {entries} entries, not {STAGES * SIZE}")
    player = AlphaBeta(_windows(packed.tobytes(), step), depth, style=Selective())
    return player._replace(tablebase=load_tablebase(endgame)) if endgame else player


@functools.lru_cache(2)
def _windows(packed: bytes, step: float) -> Windows:
    """Unpacked tables, up to 190 MB that several players share."""
    return windows(unpack(np.frombuffer(packed, np.uint8)), step)


def evaluator_of(genome: Any, metadata: WeightsMetadata) -> Any:
    """The evaluator that a genome of numbers and its header describe; packed tables have none here.

    Raises ValueError if they do not fit.
    """
    if metadata.architecture == NTUPLE:
        options = dict(metadata.options)
        if "tuples" not in options:
            raise ValueError("its options have no tuples")
        drawing = tuple(tuple(map(int, squares)) for squares in options.pop("tuples"))
        return ntuple(drawing, genome, king=metadata.king, **options)
    if metadata.architecture == SAMUEL:
        return samuel(genome)
    shape = SHAPES.get(metadata.architecture)
    if shape is None:
        known = ", ".join([*SHAPES, NTUPLE, SAMUEL, WINDOWS])
        raise ValueError(f"it is for {metadata.architecture!r}; known are {known}")
    if genome.shape != (shape.genome_size,):
        what = f"{metadata.architecture} has {shape.genome_size}"
        raise ValueError(f"it holds {genome.shape} weights; {what}")
    if not np.all(np.abs(genome) <= LARGEST_WEIGHT):
        raise ValueError("it has weights that are no numbers, or too large to use")
    return evaluator_for(shape, genome, metadata.king)
