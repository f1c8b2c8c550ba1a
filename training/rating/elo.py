"""The Elo scale: from a difference in rating to an expected score, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from training.league.records import Entrant, League
from training.rating import bradley_terry
from training.rating.bradley_terry import Observations, coefficient_covariance, fit
from training.runtime.extras import extra

with extra("train"):
    from scipy.sparse.csgraph import connected_components
    from scipy.special import expit, logit
    from scipy.stats import t as student

ELO_PER_LOGIT = 400 / math.log(10)  # Elo points per unit of log-odds


def expected_score(difference: Any) -> Any:
    """Return the expected score, 0 to 1, of a player who is `difference` Elo points stronger."""
    return expit(difference / ELO_PER_LOGIT)


def elo_difference(score: Any) -> Any:
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
    """The strengths of a league's entrants.

    Attributes
    ----------
    elo
        float64[entrants].
    covariance
        Of their errors, float64[entrants, entrants], in squared Elo points.
    freedom
        Degrees of freedom: the clusters less one.
    confidence
        Of the intervals, such as 0.95.
    first_move
        What playing Black is worth, or None if that was not asked for.
    """

    elo: Any
    covariance: Any
    freedom: int
    confidence: float
    first_move: EloEstimate | None

    def rating(self, player: int) -> EloEstimate:
        """Return an entrant's rating; the interval is that of its distance from the anchor."""
        variance = self.covariance[player, player]
        return _estimate(self.elo[player], variance, self.freedom, self.confidence)

    def difference(self, first: int, second: int) -> EloEstimate:
        """How much stronger one entrant is than another."""
        return _estimate(*self._difference(first, second), self.freedom, self.confidence)

    def los(self, first: int, second: int) -> float:
        """Return the likelihood of superiority: the confidence that `first` is the stronger."""
        if first == second:
            return 0.5
        elo, variance = self._difference(first, second)
        return float(student.cdf(elo / np.sqrt(variance), self.freedom))

    def _difference(self, first: int, second: int) -> tuple[Any, Any]:
        errors = self.covariance[np.ix_([first, second], [first, second])]
        return self.elo[first] - self.elo[second], np.trace(errors) - 2 * errors[0, 1]


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
    anchor
        The name of an entrant and its rating; without it the mean rating is 0.
    first_move
        Allow for what playing Black is worth.
    prior
        So many drawn games are added for each entrant, spread over its opponents in proportion to
        the games with them: who won everything stays finite, and a match of 86 games moves by 1 %
        towards a draw. In the errors they count as a pair of games won and a pair lost.

    Raises ValueError where the games do not connect all entrants, because their distances would
    then come from the prior alone; for an unknown anchor; for a prior that is not above 0; and for
    a confidence that is not between 0 and 1.
    """
    if not prior > 0:
        raise ValueError(f"a prior of {prior} games: it is above 0")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence}: it lies between 0 and 1")
    entrants, games = league.entrants, league.games
    if len(entrants) < 2 or not games:
        raise ValueError("nothing to rate: it takes two entrants and a game")
    met = bradley_terry.count_meetings(games, len(entrants))
    _check_connected(entrants, met)
    anchoring, elo = _anchoring(entrants, anchor)
    observed = bradley_terry.game_observations(games, len(entrants), first_move)
    added = bradley_terry.prior_observations(met, prior, first_move)
    coefficients = fit(Observations(*map(np.concatenate, zip(observed, added, strict=True))))
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
    half = np.sqrt(max(variance, 0.0)) * student.ppf((1 + confidence) / 2, freedom)
    return EloEstimate(float(elo), float(elo - half), float(elo + half))


def _anchoring(entrants: Sequence[Entrant], anchor: tuple[str, float] | None) -> tuple[Any, float]:
    """From the distances of all but the first entrant from the first one to everybody's ratings."""
    distances = np.eye(len(entrants))[:, 1:]
    if anchor is None:
        return distances - distances.mean(axis=0), 0.0
    names = [entrant.name for entrant in entrants]
    if names.count(anchor[0]) != 1:
        raise ValueError(f"no single entrant is named {anchor[0]!r}: choose from {names}")
    return distances - distances[names.index(anchor[0])], anchor[1]


def _check_connected(entrants: Sequence[Entrant], met: Any) -> None:
    count, groups = connected_components(met, directed=False)
    if count == 1:
        return
    names = [
        " ".join(
            entrant.name for entrant, its in zip(entrants, groups, strict=True) if its == group
        )
        for group in range(count)
    ]
    raise ValueError(f"no common scale, for these groups have not met: {'; '.join(names)}")
