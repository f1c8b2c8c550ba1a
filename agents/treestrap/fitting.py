"""Fit a tapered network to positions and their values, in several passes over all of them.

The step of a weight w towards the target t of a position of value v is that of Adagrad (Duchi,
Hazan and Singer, "Adaptive subgradient methods", 2011) on the cross-entropy of tanh:

    g = (t - v) * share;    G += g^2;    w += rate * g / sqrt(G + EPS)

The share is that of the weight's stage in the position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.ntuple.indices import start_indices
from agents.search.interrupt import defer_signals
from agents.simd import tanh
from agents.treestrap.network import INDEX_PARTS, SIZE, STAGES, TERMS, write_entries
from agents.treestrap.sampling import Samples
from agents.treestrap.tapered import PAIRED_PIECES, PARTS, PIECE_KINDS, taper, write_piece_kinds
from checkers_env.bits import popcount
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position

EPS = 0.05  # of Adagrad
FIRST_SUM = 1.0  # G of weights that begin with what has been learnt before
LAST_RATE = 0.25  # share of the rates in the last pass
BATCH = 1 << 14  # samples between two moments for Ctrl-C
MOST_TERMS = TERMS + PAIRED_PIECES * (PAIRED_PIECES - 1) // 2


class Weights(NamedTuple):
    """Weights of a tapered network as they are learnt, in units of the logit."""

    table: NDArray[np.float32]  # (SIZE, STAGES)
    pairs: NDArray[np.float32]  # (PIECE_KINDS ** 2, STAGES)


class Fitter(NamedTuple):
    """Arrays of a fit for the kernels."""

    weights: Weights
    sums: Weights  # G
    rates: tuple[float, float]  # of the table and the pairs
    features: NDArray[np.int32]
    empty: NDArray[np.int32]
    state: NDArray[np.int32]
    kinds: NDArray[np.int64]  # (24,)
    entries: NDArray[np.int64]  # (MOST_TERMS,): rows of the table, then rows of the pairs


def fit(
    start: NDArray[np.float32],
    samples: Samples,
    passes: int,
    rng: np.random.Generator,
    rates: tuple[float, float] = (0.015, 0.02),
) -> Weights:
    """Fit a network to samples, in passes over all of them, each in a random order.

    `start` is float32[STAGES, SIZE]; the pairs start at 0. `rates` are the step sizes of the table
    and the pairs; the last pass has a quarter of them.
    """
    weights = Weights(np.ascontiguousarray(start.T), np.zeros((PIECE_KINDS**2, STAGES), np.float32))
    if weights.table.shape != (SIZE, STAGES) or weights.table.dtype != np.float32:
        raise ValueError(f"start is float32[{STAGES}, {SIZE}], not {start.dtype}{start.shape}")
    sums = Weights(np.full_like(weights.table, FIRST_SUM), np.zeros_like(weights.pairs))
    fitter = Fitter(
        weights,
        sums,
        rates,
        *INDEX_PARTS,
        np.zeros_like(INDEX_PARTS[1]),
        np.zeros(24, np.int64),
        np.zeros(MOST_TERMS, np.int64),
    )
    for number in range(passes):
        if number == passes - 1:
            fitter = fitter._replace(rates=(LAST_RATE * rates[0], LAST_RATE * rates[1]))
        order = rng.permutation(len(samples.targets))
        for first in range(0, len(order), BATCH):
            with defer_signals():
                part = order[first : first + BATCH]
                fit_pass(fitter, samples.positions, samples.targets, part)
    return weights


@kernel
def fit_pass(fitter: Fitter, positions: KernelArg, targets: KernelArg, order: KernelArg) -> None:
    """Move the weights towards the target of each position in `order` once."""
    for at in order:
        row = positions[at]
        position = Position(row[0], row[1], row[2], row[3])
        end = write_rows(fitter, position)
        stage, parts = taper(position)
        upper = np.float32(parts) / np.float32(PARTS)
        shares = np.float32(1.0) - upper, upper
        total = np.float32(0.0)
        for share, level in zip(shares, (stage, stage + 1)):  # noqa: B905 - no numba
            total += share * sum_rows(fitter, end, level)
        error = np.float32(targets[at] - tanh(total))
        for share, level in zip(shares, (stage, stage + 1)):  # noqa: B905
            if share > 0:
                move_rows(fitter, end, level, error * share)


@kernel
def write_rows(fitter: Fitter, position: Position) -> int:
    """Write the rows of the table and of the pairs that a position sums; return their end."""
    entries, state = fitter.entries, fitter.state
    start_indices(fitter.features, fitter.empty, position, position.turn, state)
    write_entries(position, position.turn, state, entries)
    end = TERMS
    if popcount(position.black | position.white) <= PAIRED_PIECES:
        count = write_piece_kinds(position, fitter.kinds)
        for i in range(count):
            for j in range(i):
                one, other = fitter.kinds[i], fitter.kinds[j]
                entries[end] = max(one, other) * PIECE_KINDS + min(one, other)
                end += 1
    return end


@kernel
def sum_rows(fitter: Fitter, end: int, stage: int) -> KernelArg:
    """Return the sum of the written rows' weights in a stage, float32."""
    table, pairs, total = fitter.weights.table, fitter.weights.pairs, np.float32(0.0)
    for i in range(TERMS):
        total += table[fitter.entries[i], stage]
    for i in range(TERMS, end):
        total += pairs[fitter.entries[i], stage]
    return total


@kernel
def move_rows(fitter: Fitter, end: int, stage: int, gradient: float) -> None:
    """Move the written rows' weights in a stage by a step of Adagrad."""
    square, (rate, pair_rate) = gradient * gradient, fitter.rates
    for i in range(end):
        if i < TERMS:
            weights, sums, step = fitter.weights.table, fitter.sums.table, rate * gradient
        else:
            weights, sums, step = fitter.weights.pairs, fitter.sums.pairs, pair_rate * gradient
        entry = fitter.entries[i]
        sums[entry, stage] += square
        weights[entry, stage] += step / np.sqrt(sums[entry, stage] + EPS)
