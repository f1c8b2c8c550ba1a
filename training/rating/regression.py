"""Fractional logistic regression (Papke and Wooldridge 1996) with errors for clustered rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


class Rows(NamedTuple):
    """Observations: the log-odds of `points` are `design` @ coefficients."""

    design: Any  # float64[rows, coefficients]
    points: Any  # float64[rows], 0 to 1
    weights: Any  # float64[rows]
    clusters: Any  # int64[rows], from 0 without a gap


def fit(rows: Rows) -> Any:
    """The coefficients of highest quasi-likelihood (float64[coefficients])."""
    design, points, weights, _ = rows

    def loss(coefficients: Any) -> Any:
        odds = design @ coefficients
        return weights @ (np.logaddexp(0, odds) - points * odds)

    def gradient(coefficients: Any) -> Any:
        return -slope(rows, coefficients)

    start = np.zeros(design.shape[1])
    hessian: Any = partial(curvature, rows)
    return minimize(loss, start, jac=gradient, hess=hessian, method="trust-exact", tol=1e-8).x


def slope(rows: Rows, coefficients: Any) -> Any:
    """The first derivatives of the log of the quasi-likelihood."""
    residuals = rows.points - expit(rows.design @ coefficients)
    return (rows.weights * residuals) @ rows.design


def curvature(rows: Rows, coefficients: Any) -> Any:
    """Its second derivatives, with the sign changed: a positive matrix."""
    expected = expit(rows.design @ coefficients)
    return rows.design.T @ (rows.design * (rows.weights * expected * (1 - expected))[:, None])


def covariance(observed: Rows, added: Rows, coefficients: Any) -> Any:
    """The errors of coefficients that were fitted to both kinds of rows together.

    A jackknife in one step: how far the coefficients move when a cluster of the observed rows is
    left out. With clusters of one size and design that is the sandwich estimate of Liang and Zeger
    (1986) with its correction for few clusters. The clusters of the added rows count as in the
    plain sandwich.
    """
    whole = curvature(observed, coefficients) + curvature(added, coefficients)
    left_out = list(_clusters(observed))
    moves = [
        np.linalg.solve(whole - curvature(some, coefficients), slope(some, coefficients))
        for some in left_out
    ]
    spread = np.transpose(moves) @ moves * (1 - 1 / len(left_out))
    moves = [np.linalg.solve(whole, slope(some, coefficients)) for some in _clusters(added)]
    return spread + np.transpose(moves) @ moves


def _clusters(rows: Rows) -> Iterator[Rows]:
    """The rows of each cluster."""
    order = np.argsort(rows.clusters, kind="stable")
    for chosen in np.split(order, np.flatnonzero(np.diff(rows.clusters[order])) + 1):
        yield Rows(*(column[chosen] for column in rows))
