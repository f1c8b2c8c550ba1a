"""Elo ratings of a league, with intervals; Elo differences and expected scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from training.league.records import Entrant, League
from training.rating import bradley_terry
from training.rating.bradley_terry import coefficient_covariance, fit
from training.runtime.extras import extra

with extra("train"):
    from scipy.sparse.csgraph import connected_components
    from scipy.special import expit, logit
    from scipy.special import stdtr as student_cdf
    from scipy.special import stdtrit as student_quantile

Number = TypeVar("Number", float, NDArray[np.float64])

ELO_PER_LOGIT = 400 / math.log(10)  # Elo points per unit of log-odds


def expected_score(difference: Number) -> Number:
    """Return the expected score, 0 to 1, of a player that is `difference` Elo points stronger."""
    return expit(difference / ELO_PER_LOGIT)


def elo_difference(score: Number) -> Number:
    """Return the difference in Elo points with expected score `score`; infinite at 0 and 1."""
    return ELO_PER_LOGIT * logit(score)


PRIOR = 1.0


class EloEstimate(NamedTuple):
    """A number of Elo points with its confidence interval."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LeagueRatings:
    """Ratings of a league's entrants.

    Attributes
    ----------
    elo
        Ratings in Elo points, shape (entrants,).
    covariance
        Covariance of their errors in squared Elo points, shape (entrants, entrants).
    freedom
        Degrees of freedom: the number of clusters less one.
    confidence
        Level of the intervals, e.g. 0.95.
    first_move
        Advantage of Black in Elo points, or None if it was not fitted.
    """

    elo: NDArray[np.float64]
    covariance: NDArray[np.float64]
    freedom: int
    confidence: float
    first_move: EloEstimate | None

    def rating(self, player: int) -> EloEstimate:
        """Return an entrant's rating; the interval is that of its distance from the anchor."""
        variance = self.covariance[player, player]
        return _estimate(self.elo[player], variance, self.freedom, self.confidence)

    def difference(self, first: int, second: int) -> EloEstimate:
        """Return the rating of entrant `first` less that of `second`."""
        return _estimate(*self._difference(first, second), self.freedom, self.confidence)

    def los(self, first: int, second: int) -> float:
        """Return the likelihood of superiority: the confidence that `first` is the stronger."""
        if first == second:
            return 0.5
        elo, variance = self._difference(first, second)
        return float(student_cdf(self.freedom, elo / np.sqrt(variance)))

    def _difference(self, first: int, second: int) -> tuple[float, float]:
        errors = self.covariance[np.ix_([first, second], [first, second])]
        difference = self.elo[first] - self.elo[second]
        return float(difference), float(np.trace(errors) - 2 * errors[0, 1])


def rate_league(
    league: League,
    *,
    anchor: tuple[str, float] | None = None,
    first_move: bool = True,
    prior: float = PRIOR,
    confidence: float = 0.95,
) -> LeagueRatings:
    """Rate all entrants.

    Parameters
    ----------
    league
        The league.
    anchor
        Name of an entrant and its rating; by default the mean rating is 0.
    first_move
        Whether to fit the advantage of Black.
    prior
        Number of drawn games to add for each entrant, spread over its opponents in proportion to
        its games. They keep the rating of an entrant that won all games finite, and move a match of
        86 games by 1 % towards a draw. In the errors they count as two games won and two lost.
    confidence
        Level of the intervals, between 0 and 1.

    Raises
    ------
    ValueError
        If the games do not connect all entrants: the prior alone would then decide their distance.
        If the anchor is unknown, `prior` is not above 0, or `confidence` not between 0 and 1.
    """
    if not prior > 0:
        raise ValueError(f"prior must be above 0 games, not {prior}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    entrants, games = league.entrants, league.games
    if len(entrants) < 2 or not games:
        raise ValueError("a rating needs at least two entrants and one game")
    met = bradley_terry.count_meetings(games, len(entrants))
    _check_connected(entrants, met)
    anchoring, elo = _anchoring(entrants, anchor)
    observed = bradley_terry.game_observations(games, len(entrants), first_move)
    added = bradley_terry.prior_observations(met, prior, first_move)
    coefficients = fit(observed.join(added))
    errors = coefficient_covariance(observed, added, coefficients) * ELO_PER_LOGIT**2
    freedom = max(int(observed.clusters.max()), 1)
    others = len(entrants) - 1
    return LeagueRatings(
        elo + ELO_PER_LOGIT * anchoring @ coefficients[:others],
        anchoring @ errors[:others, :others] @ anchoring.T,
        freedom,
        confidence,
        _estimate(ELO_PER_LOGIT * coefficients[-1], errors[-1, -1], freedom, confidence)
        if first_move
        else None,
    )


def _estimate(elo: float, variance: float, freedom: int, confidence: float) -> EloEstimate:
    half = np.sqrt(max(variance, 0.0)) * student_quantile(freedom, (1 + confidence) / 2)
    return EloEstimate(float(elo), float(elo - half), float(elo + half))


def _anchoring(
    entrants: Sequence[Entrant], anchor: tuple[str, float] | None
) -> tuple[NDArray[np.float64], float]:
    """Return a matrix and a number that turn distances from the first entrant into ratings.

    The matrix has the shape (entrants, entrants - 1); the number is added to all ratings.
    """
    distances = np.eye(len(entrants))[:, 1:]
    if anchor is None:
        return distances - distances.mean(axis=0), 0.0
    names = [entrant.name for entrant in entrants]
    if names.count(anchor[0]) != 1:
        raise ValueError(f"anchor must be the name of one entrant of {names}, not {anchor[0]!r}")
    return distances - distances[names.index(anchor[0])], anchor[1]


def _check_connected(entrants: Sequence[Entrant], met: NDArray[np.int64]) -> None:
    count, groups = connected_components(met, directed=False)
    if count == 1:
        return
    names = [
        " ".join(
            entrant.name for entrant, its in zip(entrants, groups, strict=True) if its == group
        )
        for group in range(count)
    ]
    raise ValueError(f"no common scale: these groups have not met: {'; '.join(names)}")
