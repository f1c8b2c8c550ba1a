"""Fractional logistic regression (Papke and Wooldridge 1996) with errors for clustered rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from training.league.records import GameRecord
from training.rating.intervals import opening_clusters

Floats = NDArray[np.float64]
Strengths = Mapping[int, float]  # known strengths in log-odds, by the entrant's number

ORIGIN: Strengths = {0: 0.0}


class Observations(NamedTuple):
    """Rows of the regression: the log-odds of `points` are offsets + design @ coefficients."""

    design: Floats  # (rows, coefficients)
    points: Floats  # 0 to 1, (rows,)
    weights: Floats  # (rows,)
    clusters: NDArray[np.int64]  # of each row, from 0 without a gap, (rows,)
    offsets: Floats  # of the entrants whose strength is known, (rows,)

    def join(self, other: Observations) -> Observations:
        """Return the rows of both; the clusters keep their numbers."""
        return Observations._make(map(np.concatenate, zip(self, other, strict=True)))

    def odds(self, coefficients: Floats) -> Floats:
        """Return the log-odds of each row, shape (rows,)."""
        return np.asarray(self.offsets + self.design @ coefficients)

    def each_cluster(self) -> Iterator[Observations]:
        """Yield the rows of each cluster."""
        order = np.argsort(self.clusters, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(self.clusters[order])) + 1):
            yield Observations._make(column[rows] for column in self)


def fit(rows: Observations) -> Floats:
    """Return the coefficients of highest quasi-likelihood, shape (coefficients,)."""
    from scipy.optimize import minimize  # takes a quarter of a second

    def loss(coefficients: Floats) -> float:
        odds = rows.odds(coefficients)
        return float(rows.weights @ (np.logaddexp(0, odds) - rows.points * odds))

    def jacobian(coefficients: Floats) -> Floats:
        return -gradient(rows, coefficients)

    start, hessian = np.zeros(rows.design.shape[1]), partial(information, rows)
    best = minimize(loss, start, jac=jacobian, hess=hessian, method="trust-exact", tol=1e-8)
    return np.asarray(best.x)


def gradient(rows: Observations, coefficients: Floats) -> Floats:
    """Return the gradient of the log quasi-likelihood, shape (coefficients,)."""
    residuals = rows.points - expit(rows.odds(coefficients))
    return np.asarray((rows.weights * residuals) @ rows.design)


def information(rows: Observations, coefficients: Floats) -> Floats:
    """Return the negative Hessian of the log quasi-likelihood, (coefficients, coefficients)."""
    return np.asarray(rows.design.T @ (rows.design * _scales(rows, coefficients)[:, None]))


def _scales(rows: Observations, coefficients: Floats) -> Floats:
    """Return the information of each row on its log-odds, shape (rows,)."""
    expected = expit(rows.odds(coefficients))
    return np.asarray(rows.weights * expected * (1 - expected))


def coefficient_covariance(
    observed: Observations, added: Observations, coefficients: Floats
) -> Floats:
    """Return the covariance of coefficients that were fitted to games and prior together.

    The estimate is a one-step jackknife: it leaves out one cluster of the observed rows at a time.
    With clusters of one size and design it equals the sandwich estimate of Liang and Zeger (1986)
    with its correction for few clusters. The clusters of the added rows count as in the plain
    sandwich.
    """
    whole = information(observed, coefficients) + information(added, coefficients)
    moves = [
        np.linalg.solve(whole - information(some, coefficients), gradient(some, coefficients))
        for some in observed.each_cluster()
    ]
    spread = np.transpose(moves) @ moves * (1 - 1 / len(moves))
    moves = [np.linalg.solve(whole, gradient(some, coefficients)) for some in added.each_cluster()]
    return np.asarray(spread + np.transpose(moves) @ moves)


def mismatch_covariance(
    observed: Observations,
    added: Observations,
    coefficients: Floats,
    pairs: NDArray[np.int64],
    deviations: Floats,
) -> Floats:
    """Return the covariance of coefficients by independent errors of the pairs' offsets.

    `pairs` are numbers of each observed row's pair, `deviations` the standard deviations of its
    offset, with one sign for the rows in which the same player is Black, both of shape (rows,).
    """
    whole = information(observed, coefficients) + information(added, coefficients)
    pulls = observed.design * (_scales(observed, coefficients) * deviations)[:, None]
    sums = [pulls[pairs == pair].sum(axis=0) for pair in np.unique(pairs)]
    moves = np.linalg.solve(whole, np.transpose(sums))
    return np.asarray(moves @ moves.T)


def count_meetings(games: Sequence[GameRecord], entrants: int) -> NDArray[np.int64]:
    """Return the number of games of each pair, shape (entrants, entrants), symmetric."""
    met = np.zeros((entrants, entrants), np.int64)
    for game in games:
        met[game.black, game.white] += 1
    return met + met.T


def game_observations(
    games: Sequence[GameRecord], entrants: int, known: Strengths = ORIGIN
) -> Observations:
    """Return the games as observations, clustered by opening."""
    black, white = np.array([(game.black, game.white) for game in games]).T
    points = np.array([game.score for game in games])
    design, offsets = _design(black, white, entrants, known)
    return Observations(design, points, np.ones(len(games)), opening_clusters(games), offsets)


def prior_observations(
    met: NDArray[np.int64], draws: float, known: Strengths = ORIGIN
) -> Observations:
    """Return observations that pull all strengths together, like drawn games for each entrant.

    Drawn games alone would reduce the errors. So each pair of opponents gets four games instead,
    two wins of each, with weights that give the same strengths. An entrant has `draws` games,
    spread in proportion to the games that it played; one of a known strength has none.
    """
    first, second = np.nonzero(np.triu(met, 1))
    share = draws * met / np.maximum(met.sum(axis=1), 1)[:, None]
    if known is not ORIGIN:
        share[list(known)] = 0.0
    weights = np.tile((share + share.T)[first, second] / 8, 4)
    black, white = np.tile(np.r_[first, second], 2), np.tile(np.r_[second, first], 2)
    pairs = np.arange(len(first))
    won, lost = np.ones(len(first)), np.zeros(len(first))
    clusters = np.r_[pairs, pairs, pairs + len(first), pairs + len(first)]
    points = np.r_[won, lost, lost, won]
    design, offsets = _design(black, white, len(met), known)
    return Observations(design, points, weights, clusters, offsets)


def _design(
    black: NDArray[np.int64], white: NDArray[np.int64], entrants: int, known: Strengths
) -> tuple[Floats, Floats]:
    """Return regressors: 1 for Black, -1 for White, then 1 for Black's advantage; and offsets.

    An entrant of a known strength has no column: it is in the offsets.
    """
    design = np.zeros((len(black), entrants + 1))
    rows = np.arange(len(black))
    design[rows, black] += 1
    design[rows, white] -= 1
    design[:, entrants] = 1
    offsets = design[:, list(known)] @ np.fromiter(known.values(), float)
    return np.delete(design, list(known), axis=1), offsets
