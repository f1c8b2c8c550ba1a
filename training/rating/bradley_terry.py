"""Fractional logistic regression (Papke and Wooldridge 1996) with errors for clustered rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from training.league.records import GameRecord
from training.rating.clusters import opening_clusters
from training.runtime.extras import extra

with extra("train"):
    from scipy.optimize import minimize
    from scipy.special import expit


class Observations(NamedTuple):
    """Observations: the log-odds of `points` are `design` @ coefficients."""

    design: Any  # float64[rows, coefficients]
    points: Any  # float64[rows], 0 to 1
    weights: Any  # float64[rows]
    clusters: Any  # int64[rows], from 0 without a gap


def fit(rows: Observations) -> Any:
    """Return the coefficients of highest quasi-likelihood, float64[coefficients]."""
    design, points, weights, _ = rows

    def loss(coefficients: Any) -> Any:
        odds = design @ coefficients
        return weights @ (np.logaddexp(0, odds) - points * odds)

    def jacobian(coefficients: Any) -> Any:
        return -gradient(rows, coefficients)

    start = np.zeros(design.shape[1])
    hessian: Any = partial(information, rows)
    return minimize(loss, start, jac=jacobian, hess=hessian, method="trust-exact", tol=1e-8).x


def gradient(rows: Observations, coefficients: Any) -> Any:
    """Return the gradient of the log quasi-likelihood, float64[coefficients]."""
    residuals = rows.points - expit(rows.design @ coefficients)
    return (rows.weights * residuals) @ rows.design


def information(rows: Observations, coefficients: Any) -> Any:
    """Its second derivatives, with the sign changed: a positive matrix."""
    expected = expit(rows.design @ coefficients)
    return rows.design.T @ (rows.design * (rows.weights * expected * (1 - expected))[:, None])


def coefficient_covariance(observed: Observations, added: Observations, coefficients: Any) -> Any:
    """Return the covariance of coefficients that were fitted to both kinds of rows together.

    A jackknife in one step: how far the coefficients move when a cluster of the observed rows is
    left out. With clusters of one size and design that is the sandwich estimate of Liang and Zeger
    (1986) with its correction for few clusters. The clusters of the added rows count as in the
    plain sandwich.
    """
    whole = information(observed, coefficients) + information(added, coefficients)
    left_out = list(_clusters(observed))
    moves = [
        np.linalg.solve(whole - information(some, coefficients), gradient(some, coefficients))
        for some in left_out
    ]
    spread = np.transpose(moves) @ moves * (1 - 1 / len(left_out))
    moves = [np.linalg.solve(whole, gradient(some, coefficients)) for some in _clusters(added)]
    return spread + np.transpose(moves) @ moves


def _clusters(rows: Observations) -> Iterator[Observations]:
    """Yield the rows of each cluster."""
    order = np.argsort(rows.clusters, kind="stable")
    for chosen in np.split(order, np.flatnonzero(np.diff(rows.clusters[order])) + 1):
        yield Observations(*(column[chosen] for column in rows))


def count_meetings(games: Sequence[GameRecord], entrants: int) -> Any:
    """How often any two have met (int64[entrants, entrants], symmetric)."""
    met = np.zeros((entrants, entrants), np.int64)
    for game in games:
        met[game.black, game.white] += 1
    return met + met.T


def game_observations(games: Sequence[GameRecord], entrants: int, first_move: bool) -> Observations:
    """Return the games as observations, clustered by opening."""
    black = np.array([game.black for game in games])
    white = np.array([game.white for game in games])
    points = np.array([game.score for game in games])
    design = _design(black, white, entrants, first_move)
    return Observations(design, points, np.ones(len(games)), opening_clusters(games))


def prior_observations(met: Any, draws: float, first_move: bool) -> Observations:
    """`draws` drawn games for each entrant, in proportion to its games with each opponent.

    Drawn games between equals would seem to be free of error. So any two who have met (`met`, of
    :func:`meetings`) get a pair of games that one of them wins and a pair that the other wins,
    weighted to make the same strengths.
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


def _design(black: Any, white: Any, entrants: int, first_move: bool) -> Any:
    """1 for Black and -1 for White, the first entrant left out as zero; then 1 for Black's move."""
    design = np.zeros((len(black), entrants + 1))
    rows = np.arange(len(black))
    design[rows, black] += 1
    design[rows, white] -= 1
    design[:, entrants] = 1
    return design[:, 1 : entrants + first_move]
