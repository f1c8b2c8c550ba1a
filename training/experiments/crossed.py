"""Crossed matches: every champion of one player against every champion of another.

The effect has three sources of chance: the seed of each player, and the pairing with its games.
Variance components are estimated by the analysis of variance of two crossed random effects, with
the degrees of freedom of Satterthwaite (1946).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from training.experiments.inference import Estimate, independent


def crossed(scores: ArrayLike) -> Estimate:
    """Estimate the mean of scores of shape (seeds of A, seeds of B), both two or more.

    The variance of the mean of n times m pairings is (A + B - E) / nm, for the mean squares of
    rows, columns and remainder. Where that is less than A or B alone would give, the larger of
    these counts.
    """
    table = np.asarray(scores, float)
    n, m = table.shape
    rows, columns = table.mean(1, keepdims=True), table.mean(0, keepdims=True)
    mean = table.mean()
    a = m * np.sum((rows - mean) ** 2) / (n - 1)
    b = n * np.sum((columns - mean) ** 2) / (m - 1)
    e = np.sum((table - rows - columns + mean) ** 2) / ((n - 1) * (m - 1))
    square, df = max((a, n - 1.0), (b, m - 1.0))
    if a + b - e >= square and square > 0:
        terms = a**2 / (n - 1) + b**2 / (m - 1) + e**2 / ((n - 1) * (m - 1))
        square = a + b - e
        df = square**2 / terms
    return Estimate(float(mean), math.sqrt(square / (n * m)), float(df))


def contrast(weights: Sequence[float], groups: Sequence[Sequence[float]]) -> Estimate:
    """Estimate a weighted sum of the means of independent groups, one value a seed (Welch 1947)."""
    parts = [independent(group) for group in groups]
    squares = [(w * part.error) ** 2 for w, part in zip(weights, parts, strict=True)]
    below = sum(s**2 / part.df for s, part in zip(squares, parts, strict=True) if part.df)
    df = sum(squares) ** 2 / below if below else float(sum(part.df for part in parts))
    mean = sum(w * part.mean for w, part in zip(weights, parts, strict=True))
    return Estimate(mean, math.sqrt(sum(squares)), df)
