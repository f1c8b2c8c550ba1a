"""The verdict on a league: its first result as one sentence."""

from __future__ import annotations

from training.league.records import League
from training.rating.clusters import opening_clusters
from training.rating.elo import EloEstimate, rate_league

FEWEST_OPENINGS = 5  # with fewer, nothing is said of which player is stronger


def verdict(league: League) -> str:
    """Return which of two players is stronger, or which of several leads, with the interval.

    Raises
    ------
    ValueError
        If no rating is possible.
    """
    rated = rate_league(league)
    first, second = sorted(range(len(league.entrants)), key=lambda player: -rated.elo[player])[:2]
    lead = rated.difference(first, second)
    names = league.entrants[first].name, league.entrants[second].name
    played = count_observations(league)
    if too_few_openings(league):
        return f"Too few openings to tell which is stronger: {played}."
    figures = f"{format_elo(lead)}, {played}"
    if lead.low <= 0:
        return f"Inconclusive: {names[0]} is {figures} ahead of {names[1]}."
    if len(league.entrants) == 2:
        return f"{names[0]} is stronger than {names[1]}: {figures}."
    return f"{names[0]} is the strongest: {figures} ahead of {names[1]}."


def too_few_openings(league: League) -> bool:
    """Return whether the games are too few independent observations for a comparison.

    A match of two may be from a single opening: its pairs of games are then the observations.
    """
    openings = {game.opening for game in league.games}
    if len(league.entrants) == 2:
        openings = set(opening_clusters(league.games).tolist())
    return len(openings) < FEWEST_OPENINGS


def count_observations(league: League) -> str:
    """Return the numbers of games and openings, as text."""
    games, openings = len(league.games), len({game.opening for game in league.games})
    return (
        f"{games:,} game{'' if games == 1 else 's'} from "
        f"{openings} opening{'' if openings == 1 else 's'}"
    )


def format_elo(estimate: EloEstimate) -> str:
    """Return a number of Elo points with its interval: ``+222 [+150, +300] Elo``."""
    return f"{estimate.elo:+.0f} [{estimate.low:+.0f}, {estimate.high:+.0f}] Elo"
