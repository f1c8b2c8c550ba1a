"""Placement of an agent on the zoo's scale: games with the opponents that tell most about it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from training.league.records import GameRecord, League
from training.league.schedule import LeagueFixture
from training.rating.elo import ELO_PER_LOGIT, expected_score, mismatch, rate_league

ENOUGH = 40.0  # Elo points: half of the interval that ends the games
MOST_GAMES = 400
FIRST_ELO = 400  # of the opponents of the first round, whose searches are short
PAIRS = 10  # pairs of games in a later round
SURE = 0.02  # a result of less probability tells nothing more

Pair: TypeAlias = tuple[LeagueFixture, ...]  # the games of an opening, with either colour


def placement_rounds(
    league: League,
    fixtures: Sequence[LeagueFixture],
    known: Mapping[int, float],
    games: Mapping[int, GameRecord],
    seed: int,
) -> Iterator[list[LeagueFixture]]:
    """Yield the games of each round; entrant 0 meets those whose ratings are known.

    The caller adds the records to `games` before it asks for the next round. The rounds depend on
    their results and the seed only. They end when the interval is narrow, at MOST_GAMES, when all
    games are forfeited, and when no opponent's result is open.
    """
    waiting = shuffled_pairs(fixtures, seed)
    played = dict.fromkeys(waiting, 0)
    chosen = [number for number in waiting if known[number] < FIRST_ELO]
    numbers: list[int] = []
    while chosen:
        batch = [fixture for number in chosen for fixture in waiting[number].popleft()]
        for fixture in batch:
            played[fixture.black or fixture.white] += 1
        yield batch
        numbers = sorted([*numbers, *(fixture.number for fixture in batch)])
        results = tuple(games[number] for number in numbers if number in games)
        if len(numbers) + 2 * PAIRS > MOST_GAMES or all(it.forfeiter == 0 for it in results):
            return
        estimate = rate_league(replace(league, games=results), known=known).rating(0)
        if max(estimate.high - estimate.elo, estimate.elo - estimate.low) <= ENOUGH:
            return
        left = {number: len(pairs) for number, pairs in waiting.items()}
        chosen = choose_opponents(estimate.elo, known, played, left)


def shuffled_pairs(fixtures: Sequence[LeagueFixture], seed: int) -> dict[int, deque[Pair]]:
    """Return the pairs of games of each opponent of entrant 0, in random order."""
    pairs = defaultdict(list)
    for pair in zip(fixtures[::2], fixtures[1::2], strict=True):
        pairs[pair[0].black or pair[0].white].append(pair)
    rng = np.random.default_rng(seed)
    return {
        number: deque(its[place] for place in rng.permutation(len(its)))
        for number, its in pairs.items()
    }


def choose_opponents(
    elo: float, known: Mapping[int, float], played: Mapping[int, int], left: Mapping[int, int]
) -> list[int]:
    """Return the opponents of the next pairs of games: each adds most to the information.

    Games with one opponent tell less and less, since its results deviate by :func:`mismatch`.
    """
    played, left, chosen = dict(played), dict(left), []
    expected = {number: expected_score(elo - rating) for number, rating in known.items()}
    open_ones = [it for it in left if SURE < expected[it] < 1 - SURE]

    def gain(number: int) -> float:
        share = expected[number] * (1 - expected[number]) / ELO_PER_LOGIT**2
        before, after = (games * share for games in (played[number], played[number] + 2))
        variance = float(mismatch(elo, known[number])) ** 2
        return after / (1 + variance * after) - before / (1 + variance * before)

    for _ in range(PAIRS):
        candidates = [number for number in open_ones if left[number]]
        if candidates:
            best = max(candidates, key=gain)
            chosen.append(best)
            played[best] += 2
            left[best] -= 1
    return chosen
