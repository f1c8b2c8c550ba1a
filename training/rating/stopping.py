"""A match that a sequential test ends: after which game, whichever are being played beside it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile

from training.league.record import GameRecord
from training.rating.sprt import Sprt, pair_scores, sprt

Bounds = tuple[float, float]  # the two leads of entrant 0 over entrant 1, in Elo


def is_decided(games: Mapping[int, GameRecord], bounds: Bounds) -> bool:
    """Whether the test accepts a bound by the pairs of games (by their numbers) without a gap."""
    return bool(_test(_in_a_row(games), bounds).decision)


def until_decided(games: Mapping[int, GameRecord], bounds: Bounds) -> list[GameRecord]:
    """The games that it took, in order; all up to the first that is missing, if none decided."""
    row = _in_a_row(games)
    ends = range(2, len(row) + 1, 2)
    return row[: next((end for end in ends if _test(row[:end], bounds).decision), len(row))]


def verdict(games: list[GameRecord], bounds: Bounds) -> str:
    """What the test says of these games, as a sentence."""
    test = _test(games, bounds)
    what = {"elo0": f"{bounds[0]:+g} is accepted", "elo1": f"{bounds[1]:+g} is accepted"}
    return (
        f"Sequential test of leads of {bounds[0]:+g} and {bounds[1]:+g} Elo: "
        f"{what.get(test.decision, 'neither is accepted')} after {len(games)} games."
    )


def _test(row: list[GameRecord], bounds: Bounds) -> Sprt:
    return sprt(pair_scores(row[: len(row) // 2 * 2], 0, 1), *bounds)


def _in_a_row(games: Mapping[int, GameRecord]) -> list[GameRecord]:
    """The games up to the first that is missing."""
    return [games[number] for number in takewhile(games.__contains__, range(len(games)))]
