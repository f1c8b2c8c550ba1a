"""Pairs of games from one opening with colours swapped: normalized Elo and a sequential test.

The test is the generalised one of the engine testers, for pentanomial results: a pair scores 0,
1/4, 1/2, 3/4 or 1, and the pairs are independent, not the games.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit as student_quantile

from training.league.records import GameRecord
from training.rating.elo import ELO_PER_LOGIT, EloEstimate, expected_score
from training.rating.intervals import TAIL, opening_clusters, player_points

PAIR_SCORES = np.arange(5) / 4
ERROR = 0.05  # probability with which the test may accept the wrong lead
BOUND = math.log((1 - ERROR) / ERROR)  # of the log-likelihood ratio, at which the test stops

Leads = tuple[float, float]  # two hypotheses: leads of entrant 0 over entrant 1 in Elo


def count_pairs(games: Sequence[GameRecord], first: int, second: int) -> NDArray[np.int64]:
    """Count pairs in which `first` scored 0, 1/2, 1, 3/2 and 2 points against `second`, shape (5,).

    A pair is the n-th game of an opening with one colour and the n-th with the other. A game
    without a partner does not count.
    """
    counts = np.zeros(5, np.int64)
    points: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for game in _between(games, first, second):
        is_black = game.black == first
        points[game.opening][is_black].append(game.score if is_black else 1 - game.score)
    for as_white, as_black in points.values():
        for pair in zip(as_white, as_black, strict=False):
            counts[round(2 * sum(pair))] += 1
    return counts


def normalized_elo(games: Sequence[GameRecord], first: int, second: int) -> EloEstimate | None:
    """Return the normalized Elo of `first` against `second`; None if all pairs score the same.

    It is the distance of the score from 1/2 in standard deviations of a game. The scale makes it
    equal Elo if no game is drawn. Unlike Elo it does not shrink if most games are drawn (M. Van den
    Bergh, "Normalized Elo", 2021).
    """
    counts = count_pairs(games, first, second)
    if np.count_nonzero(counts) < 2:
        return None
    pairs = counts.sum()
    mean = counts @ PAIR_SCORES / pairs
    deviation = np.sqrt(2 * (counts @ (PAIR_SCORES - mean) ** 2) / pairs)  # of a single game
    clusters = len(np.unique(opening_clusters(_between(games, first, second))))
    elo = 2 * ELO_PER_LOGIT * (mean - 0.5) / deviation
    quantile = student_quantile(max(clusters - 1, 1), 1 - TAIL)
    half = 2 * ELO_PER_LOGIT * quantile / np.sqrt(2 * clusters)
    return EloEstimate(float(elo), float(elo - half), float(elo + half))


def _between(games: Sequence[GameRecord], first: int, second: int) -> list[GameRecord]:
    return [game for game in games if {game.black, game.white} == {first, second}]


def likelihood_ratio(pair_scores: Sequence[float], leads: Leads) -> float:
    """Return the log-likelihood ratio of the second lead to the first.

    The ratio is that of a normal mean with the variance of the scores. One pair won and one pair
    lost are added to them: otherwise the first two equal pairs would end the match.
    """
    if not -math.inf < leads[0] < leads[1] < math.inf:
        raise ValueError(f"elo0 must be below elo1, and both finite, not {leads[0]} and {leads[1]}")
    scores = np.asarray(pair_scores, float)
    low, high = map(expected_score, leads)
    mean = scores.mean() if scores.size else 0.5
    variance = np.mean((np.append(scores, (0, 1)) - mean) ** 2)
    return float(len(scores) * (high - low) * (2 * mean - low - high) / (2 * variance))


def pair_scores(games: Sequence[GameRecord], first: int, second: int) -> list[float]:
    """Return the mean score of `first` against `second` in each opening that has both colours.

    The score of an opening is the mean of both colours' mean scores.
    """
    met = _between(games, first, second)
    black = np.array([game.black == first for game in met], bool)
    scores, openings = player_points(met, first), opening_clusters(met)
    count = openings.max(initial=-1) + 1
    played, points = (
        np.stack([np.bincount(openings[its], weights[its], count) for its in (black, ~black)])
        for weights in (np.ones(len(scores)), scores)
    )
    both = played.all(axis=0)
    means: list[float] = ((points[:, both] / played[:, both]).sum(axis=0) / 2).tolist()
    return means


def accepted_lead(row: Sequence[GameRecord], leads: Leads) -> float | None:
    """Return the lead that the test accepts after the whole pairs of a row of games, if any."""
    ratio = likelihood_ratio(pair_scores(row[: len(row) // 2 * 2], 0, 1), leads)
    return leads[ratio > 0] if abs(ratio) >= BOUND else None


def is_decided(games: Mapping[int, GameRecord], leads: Leads) -> bool:
    """Return whether the test is decided by the games (given by number) before the first gap."""
    return accepted_lead(_in_a_row(games), leads) is not None


def games_until_decision(games: Mapping[int, GameRecord], leads: Leads) -> list[GameRecord]:
    """Return the games up to the decision, or up to the first missing one."""
    row = _in_a_row(games)
    ends = range(2, len(row) + 1, 2)
    decided = (end for end in ends if accepted_lead(row[:end], leads) is not None)
    return row[: next(decided, len(row))]


def sprt_sentence(games: Sequence[GameRecord], leads: Leads) -> str:
    """Return the result of the test as a sentence."""
    lead = accepted_lead(games, leads)
    accepted = "neither" if lead is None else f"{lead:+g}"
    return (
        f"Sequential test of leads of {leads[0]:+g} and {leads[1]:+g} Elo: "
        f"{accepted} is accepted after {len(games)} games."
    )


def _in_a_row(games: Mapping[int, GameRecord]) -> list[GameRecord]:
    """Return the games up to the first missing number."""
    return [games[number] for number in takewhile(games.__contains__, range(len(games)))]
