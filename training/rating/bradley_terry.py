"""Fractional logistic regression (Papke and Wooldridge 1996) with errors for clustered rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.league.records import GameRecord
from training.rating.clusters import opening_clusters
from training.runtime.extras import extra

with extra("train"):
    from scipy.special import expit

Floats = NDArray[np.float64]


class Observations(NamedTuple):
    """Observations: the log-odds of `points` are `design` @ coefficients.

    Attributes
    ----------
    design
        Regressors, shape (rows, coefficients).
    points
        Points, 0 to 1, shape (rows,).
    weights
        Weights, shape (rows,).
    clusters
        Cluster of each row, numbered from 0 without a gap, shape (rows,).
    """

    design: Floats
    points: Floats
    weights: Floats
    clusters: NDArray[np.int64]

    def pick(self, rows: NDArray[np.int64]) -> Observations:
        """Return some rows, given by their numbers, shape (n,)."""
        design, points, weights, clusters = self
        return Observations(design[rows], points[rows], weights[rows], clusters[rows])

    def join(self, other: Observations) -> Observations:
        """Return the rows of both; the clusters keep their numbers."""
        return Observations(
            np.concatenate([self.design, other.design]),
            np.concatenate([self.points, other.points]),
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.clusters, other.clusters]),
        )


def fit(rows: Observations) -> Floats:
    """Return the coefficients of highest quasi-likelihood, shape (coefficients,)."""
    with extra("train"):
        from scipy.optimize import minimize  # takes a quarter of a second

    design, points, weights, _ = rows

    def loss(coefficients: Floats) -> float:
        odds = design @ coefficients
        return float(weights @ (np.logaddexp(0, odds) - points * odds))

    def jacobian(coefficients: Floats) -> Floats:
        return -gradient(rows, coefficients)

    start = np.zeros(design.shape[1])
    hessian: Any = partial(information, rows)
    best = minimize(loss, start, jac=jacobian, hess=hessian, method="trust-exact", tol=1e-8)
    return np.asarray(best.x)


def gradient(rows: Observations, coefficients: Floats) -> Floats:
    """Return the gradient of the log quasi-likelihood, shape (coefficients,)."""
    residuals = rows.points - expit(rows.design @ coefficients)
    return np.asarray((rows.weights * residuals) @ rows.design)


def information(rows: Observations, coefficients: Floats) -> Floats:
    """Return the negative Hessian of the log quasi-likelihood, (coefficients, coefficients)."""
    expected = expit(rows.design @ coefficients)
    information = rows.design.T @ (
        rows.design * (rows.weights * expected * (1 - expected))[:, None]
    )
    return np.asarray(information)


def coefficient_covariance(
    observed: Observations, added: Observations, coefficients: Floats
) -> Floats:
    """Return the covariance of coefficients that were fitted to both kinds of rows together.

    The estimate is a one-step jackknife: it leaves out one cluster of the observed rows at a time.
    With clusters of one size and design it equals the sandwich estimate of Liang and Zeger (1986)
    with its correction for few clusters. The clusters of the added rows count as in the plain
    sandwich.

    Parameters
    ----------
    observed
        Rows of games.
    added
        Rows of the prior.
    coefficients
        Fit to both, shape (coefficients,).

    Returns
    -------
    Covariance, shape (coefficients, coefficients).
    """
    whole = information(observed, coefficients) + information(added, coefficients)
    left_out = list(_clusters(observed))
    moves = [
        np.linalg.solve(whole - information(some, coefficients), gradient(some, coefficients))
        for some in left_out
    ]
    spread = np.transpose(moves) @ moves * (1 - 1 / len(left_out))
    moves = [np.linalg.solve(whole, gradient(some, coefficients)) for some in _clusters(added)]
    return np.asarray(spread + np.transpose(moves) @ moves)


def _clusters(rows: Observations) -> Iterator[Observations]:
    """Yield the rows of each cluster."""
    order = np.argsort(rows.clusters, kind="stable")
    for chosen in np.split(order, np.flatnonzero(np.diff(rows.clusters[order])) + 1):
        yield rows.pick(chosen)


def count_meetings(games: Sequence[GameRecord], entrants: int) -> NDArray[np.int64]:
    """Return the number of games of each pair, shape (entrants, entrants), symmetric."""
    met = np.zeros((entrants, entrants), np.int64)
    for game in games:
        met[game.black, game.white] += 1
    return met + met.T


def game_observations(games: Sequence[GameRecord], entrants: int, first_move: bool) -> Observations:
    """Return the games as observations, clustered by opening.

    Parameters
    ----------
    games
        Games of the league.
    entrants
        Number of entrants.
    first_move
        Whether the last coefficient is the advantage of Black.
    """
    black = np.array([game.black for game in games])
    white = np.array([game.white for game in games])
    points = np.array([game.score for game in games])
    design = _design(black, white, entrants, first_move)
    return Observations(design, points, np.ones(len(games)), opening_clusters(games))


def prior_observations(met: NDArray[np.int64], draws: float, first_move: bool) -> Observations:
    """Return observations that pull all strengths together, like drawn games for each entrant.

    Drawn games alone would reduce the errors. So each pair of opponents gets four games instead,
    two wins of each, with weights that give the same strengths.

    Parameters
    ----------
    met
        Number of games of each pair (see :func:`count_meetings`), shape (entrants, entrants).
    draws
        Number of drawn games for each entrant, spread in proportion to its games.
    first_move
        Whether the last coefficient is the advantage of Black.
    """
    first, second = np.nonzero(np.triu(met, 1))
    share = draws * met / met.sum(axis=1)[:, None]
    weights = np.tile((share + share.T)[first, second] / 8, 4)
    black, white = np.tile(np.r_[first, second], 2), np.tile(np.r_[second, first], 2)
    pairs = np.arange(len(first))
    won, lost = np.ones(len(first)), np.zeros(len(first))
    design = _design(black, white, len(met), first_move)
    clusters = np.r_[pairs, pairs, pairs + len(first), pairs + len(first)]
    return Observations(design, np.r_[won, lost, lost, won], weights, clusters)


def _design(
    black: NDArray[np.int64], white: NDArray[np.int64], entrants: int, first_move: bool
) -> Floats:
    """Return regressors: 1 for Black, -1 for White, then 1 for Black's advantage.

    The first entrant has no column: its strength is 0.
    """
    design = np.zeros((len(black), entrants + 1))
    rows = np.arange(len(black))
    design[rows, black] += 1
    design[rows, white] -= 1
    design[:, entrants] = 1
    return design[:, 1 : entrants + first_move]
