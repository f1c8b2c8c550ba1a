"""Elo ratings of a league, with intervals and an anchor; Elo differences and expected scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit
from scipy.special import stdtrit as student_quantile

from training.league.records import Entrant, League
from training.rating import bradley_terry
from training.rating.bradley_terry import (
    ORIGIN,
    coefficient_covariance,
    fit,
    mismatch_covariance,
)
from training.rating.intervals import TAIL
from training.rating.zoo_scale import agent_text

Number = TypeVar("Number", float, NDArray[np.float64])

ELO_PER_LOGIT = 400 / math.log(10)  # Elo points per unit of log-odds
# Drawn games to add for each entrant, spread over its opponents in proportion to its games. They
# keep the rating of an entrant that won all games finite, and move a match of 86 games by 1 %
# towards a draw. In the errors they count as two games won and two lost.
PRIOR = 1.0
ZERO = "material@depth=4"  # is 0 wherever it plays: scales of different leagues can be compared
LARGEST_ELO = 100_000  # by which a given rating may differ from 0


def expected_score(difference: Number) -> Number:
    """Return the expected score, 0 to 1, of a player that is `difference` Elo points stronger."""
    return expit(difference / ELO_PER_LOGIT)


def elo_difference(score: Number) -> Number:
    """Return the difference in Elo points with expected score `score`; infinite at 0 and 1."""
    return ELO_PER_LOGIT * logit(score)


def mismatch(one: Number, other: Number) -> NDArray[np.float64]:
    """Return by how many Elo points the results of two players deviate from their ratings.

    It is a standard deviation beyond chance, measured in the zoo's league: some players suit each
    other better than their ratings say, weak ones most, and all the more the further apart.
    """
    weakest = np.minimum(one, other)
    return np.asarray(np.hypot(np.where(weakest < -200, 70.0, 25.0), (one - other) / 4))


class Anchor(NamedTuple):
    """The player whose rating is given: an entrant by its name in tables, and its rating."""

    name: str
    elo: float


class EloEstimate(NamedTuple):
    """A number of Elo points with its 95 % interval."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LeagueRatings:
    """Ratings of a league's entrants."""

    elo: NDArray[np.float64]  # (entrants,)
    covariance: NDArray[np.float64]  # of their errors in squared Elo points, (entrants, entrants)
    freedom: int  # degrees of freedom: the number of clusters less one

    def rating(self, player: int) -> EloEstimate:
        """Return an entrant's rating; the interval is that of its distance from the anchor."""
        return self._estimate(np.eye(len(self.elo))[player])

    def difference(self, first: int, second: int) -> EloEstimate:
        """Return the rating of entrant `first` less that of `second`."""
        each = np.eye(len(self.elo))
        return self._estimate(each[first] - each[second])

    def _estimate(self, contrast: NDArray[np.float64]) -> EloEstimate:
        elo, variance = contrast @ self.elo, float(contrast @ self.covariance @ contrast)
        half = np.sqrt(max(variance, 0.0)) * student_quantile(self.freedom, 1 - TAIL)
        return EloEstimate(float(elo), float(elo - half), float(elo + half))


def rate_league(
    league: League, anchor: Anchor | None = None, known: Mapping[int, float] | None = None
) -> LeagueRatings:
    """Rate all entrants; without an anchor the mean rating is 0.

    `known` are the ratings of some entrants, by number, on a scale of other games. They replace the
    anchor. The errors then allow for the :func:`mismatch` of each pair.

    Raise ValueError if the games do not connect all entrants: the prior alone would then decide
    their distance.
    """
    entrants, games = league.entrants, league.games
    if len(entrants) < 2 or not games:
        raise ValueError("a rating needs at least two entrants and one game")
    met = bradley_terry.count_meetings(games, len(entrants))
    linked = met.copy()
    linked[np.ix_(list(known or ()), list(known or ()))] = 1
    _check_connected(entrants, linked)
    given = {number: elo / ELO_PER_LOGIT for number, elo in known.items()} if known else ORIGIN
    observed = bradley_terry.game_observations(games, len(entrants), given)
    added = bradley_terry.prior_observations(met, PRIOR, given)
    coefficients = fit(observed.join(added))
    errors = coefficient_covariance(observed, added, coefficients) * ELO_PER_LOGIT**2
    strengths = np.delete(np.eye(len(entrants)), list(given), axis=1)  # by the coefficients
    origin = np.zeros(len(entrants))
    if known:
        origin[list(known)] = list(known.values())
        elo = origin + ELO_PER_LOGIT * strengths @ coefficients[:-1]
        players = np.array([(game.black, game.white) for game in games])
        low, high = np.sort(players).T
        deviations = np.where(players[:, 0] == low, 1, -1) * mismatch(elo[low], elo[high])
        pairs = low * len(entrants) + high
        errors += mismatch_covariance(observed, added, coefficients, pairs, deviations)
    else:
        names = [entrant.name for entrant in entrants]
        strengths -= strengths[names.index(anchor.name)] if anchor else strengths.mean(axis=0)
        origin += anchor.elo if anchor else 0.0
    return LeagueRatings(
        origin + ELO_PER_LOGIT * strengths @ coefficients[:-1],
        strengths @ errors[:-1, :-1] @ strengths.T,
        max(int(observed.clusters.max()), 1),
    )


def _check_connected(entrants: Sequence[Entrant], met: NDArray[np.int64]) -> None:
    count, groups = connected_components(met, directed=False)
    if count > 1:
        names = [
            " ".join(it.name for it, its in zip(entrants, groups, strict=True) if its == group)
            for group in range(count)
        ]
        raise ValueError(f"no common scale: these groups have not met: {'; '.join(names)}")


def find_anchor(entrants: Sequence[Entrant], text: str = "") -> Anchor | None:
    """Return the anchor of a text ``NAME=ELO``, where NAME is as in tables or on a command line.

    Without text the piece counter at 4 plies is 0; if it does not play, there is no anchor. Raise
    ValueError for other text, and for a name that no single entrant has.
    """
    if not text:
        found = _named(entrants, ZERO)
        return Anchor(found[0].name, 0.0) if len(found) == 1 else None
    name, _, number = text.rpartition("=")
    try:
        elo = float(number)
    except ValueError:
        elo = math.nan
    if not (name and abs(elo) <= LARGEST_ELO):
        raise ValueError(
            f"an anchor is NAME=ELO, such as blondie24=1000, with at most {LARGEST_ELO:,} points, "
            f"not {text!r}"
        )
    found = _named(entrants, name)
    if len(found) != 1:
        names = ", ".join(entrant.name for entrant in entrants)
        raise ValueError(f"no single player is named {name!r}: the players are {names}")
    return Anchor(found[0].name, elo)


def _named(entrants: Sequence[Entrant], text: str) -> list[Entrant]:
    """Return the entrants with this name or this text; else those of this agent."""
    exact = [entrant for entrant in entrants if text in (entrant.name, agent_text(entrant))]
    return exact or [entrant for entrant in entrants if entrant.agent == text]


def describe_scale(anchor: Anchor | None, known: Mapping[int, float] | None = None) -> str:
    """Return the meaning of 0, as a sentence."""
    if known:
        return "0 Elo is the piece counter at 4 plies; opponents from the zoo have its ratings."
    if anchor is None:
        return "0 Elo is the mean of these players: compare no ratings of different leagues."
    if not anchor.elo:
        return f"0 Elo is {anchor.name}."
    return f"The scale is fixed by {anchor.name}: {anchor.elo:+g} Elo."
