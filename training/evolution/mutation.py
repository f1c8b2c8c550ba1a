"""Mutation and recombination of populations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from training.evolution.state import Population

KING_LEAST, KING_MOST = 1.0, 3.0


def mutate(
    parents: Population,
    weight_count: int,
    king_rule: str,
    rng: np.random.Generator,
    *,
    self_adaptive: bool = True,
    step_limit: float = np.inf,
) -> Population:
    """Make one offspring of each parent by self-adaptive mutation.

    For each weight j: s'(j) = s(j) exp(tau N_j(0, 1)), then w'(j) = w(j) + s'(j) N'_j(0, 1), with
    tau = 1 / sqrt(2 sqrt(N_w)) (Chellapilla & Fogel 1999, 2001; thesis, equations 3.1 and 3.2).
    N_w, the `weight_count`, counts weights and biases. The thesis prints one symbol for N and N'.
    One draw for both would make weights drift. Step sizes are at most `step_limit`; without
    `self_adaptive` they stay the same (thesis, equation 6.1).
    """
    tau = 1 / np.sqrt(2 * np.sqrt(weight_count))
    size = parents.genomes.shape
    steps = parents.steps
    if self_adaptive:
        steps = steps * np.exp(tau * rng.standard_normal(size))
    steps = np.minimum(steps, step_limit)
    genomes = parents.genomes + steps * rng.standard_normal(size)
    return Population(genomes, steps, KING_RULES[king_rule](parents.kings, rng))


def recombine(parents: Population, mates: int, rng: np.random.Generator) -> Population:
    """Return for each parent the mean of it and `mates` - 1 random others.

    Weights, step sizes and K are averaged: intermediate recombination (T. Bäck and H.-P. Schwefel,
    "An overview of evolutionary algorithms for parameter optimization", Evolutionary Computation
    1(1), 1993).
    """
    ranks = rng.random((parents.size, parents.size))
    np.fill_diagonal(ranks, -1.0)  # the lowest ranks are taken, so the parent itself always is
    chosen = parents.pick(np.argsort(ranks, axis=1)[:, :mates])
    return Population(
        chosen.genomes.mean(axis=1), chosen.steps.mean(axis=1), chosen.kings.mean(axis=1)
    )


def _lognormal(kings: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return K' = K exp(N(0, 1) / sqrt(2)), in [1, 3] (1999)."""
    factors = np.exp(rng.standard_normal(len(kings)) / np.sqrt(2))
    return np.clip(kings * factors, KING_LEAST, KING_MOST)


def _tenths(kings: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return K' = K + d, d one of -0.1, 0 and 0.1, in [1, 3] (2001)."""
    moves = rng.choice([-0.1, 0.0, 0.1], size=len(kings))
    return np.clip(kings + moves, KING_LEAST, KING_MOST)


def _fixed(kings: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return K' = K (the thesis)."""
    return kings.copy()


KING_RULES: dict[str, Callable[[NDArray[np.float64], np.random.Generator], NDArray[np.float64]]] = {
    "lognormal": _lognormal,
    "tenths": _tenths,
    "fixed": _fixed,
}
