"""The table of a league: ratings, scores and their intervals; and its verdict in one sentence."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from checkers_env.files import write_atomically
from checkers_env.movegen import BLACK, WHITE
from training.league.records import GameRecord, League, WinDrawLoss
from training.rating.elo import Anchor, EloEstimate, LeagueRatings, rate_league
from training.rating.intervals import opening_clusters, player_points, score
from training.rating.zoo_scale import ANCHORS, agent_text, zoo_scale

FEWEST_OPENINGS = 5  # with fewer, nothing is said of which player is stronger


class StandingsRow(NamedTuple):
    """A line of the standings; `low` and `high` bound the rating, scores are from 0 to 1."""

    name: str
    elo: float
    low: float
    high: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    score_low: float
    score_high: float
    about: str = ""


def standings(
    league: League, anchor: Anchor | None = None, known: Mapping[int, float] | None = None
) -> list[StandingsRow]:
    """Return a row for each entrant, best first. Raise ValueError if no rating is possible."""
    rated = rate_league(league, anchor, known)
    lines = []
    for number, entrant in enumerate(league.entrants):
        games = [game for game in league.games if number in (game.black, game.white)]
        result = score(player_points(games, number), opening_clusters(games))
        rating = rated.rating(number)
        row = (entrant.name, *rating, len(games), *result[:-1], entrant.about)
        lines.append(StandingsRow._make(row))
    # Equal ratings differ in their last bits by processor: then the entrants' order decides.
    return sorted(lines, key=lambda line: -np.round(np.nan_to_num(line.elo), 6))


def write_standings(path: Path, league: League, lines: list[StandingsRow]) -> None:
    """Write the standings and the league as JSON, atomically."""
    content = {"standings": [line._asdict() for line in lines], "league": asdict(league)}
    write_atomically(path, json.dumps(content, indent=1).encode())


def headline(league: League, rated: LeagueRatings, player: int, known: Mapping[int, float]) -> str:
    """Return a player's rating, its scale, and the nearest players on it, in one sentence."""
    rating, entrant = rated.rating(player), league.entrants[player]
    if known:
        scale = "the zoo's scale (0: piece counter at 4 plies)"
        elo = {text.removesuffix("@depth=4"): float(zoo_scale()[text]) for text in ANCHORS}
    else:
        scale = "the scale of these players"
        elo = {it.name: points for it, points in zip(league.entrants, rated.elo, strict=True)}
        del elo[entrant.name]
    ladder = sorted(elo, key=lambda name: elo[name])
    place = sum(points <= rating.elo for points in elo.values())
    ends = f"above {ladder[-1]}", f"below {ladder[0]}"
    between = f"between {' and '.join(ladder[place - 1 : place + 1])}"
    where = between if 0 < place < len(ladder) else ends[place == 0]
    name, figures = entrant.name.rpartition(".py:")[2], format_elo(rating).removesuffix(" Elo")
    return f"{name}: {figures} on {scale}, {where}."


def broken_entrants(league: League) -> dict[int, str]:
    """Return the reason for each entrant that forfeited all of its games, by number."""
    reasons = {}
    for number, entrant in enumerate(league.entrants):
        games = [game for game in league.games if number in (game.black, game.white)]
        if games and all(game.forfeiter == number for game in games):
            count = f"it forfeits all of its games ({len(games)})"
            reasons[number] = f"{entrant.name} is broken: {count}. {games[0].reason}."
    return reasons


def reproductions(league: League) -> Iterator[str]:
    """Yield a command that shows the first failure, for each broken entrant."""
    for player in broken_entrants(league):
        game = next(game for game in league.games if game.forfeiter == player)
        start, agent = game.final_board().root().fen(), agent_text(league.entrants[player])
        code = (
            f"import agents, checkers_env, numpy; board = checkers_env.Board({json.dumps(start)}); "
            f"list(map(board.push, {json.dumps(game.moves)})); "
            f"agent = agents.make({json.dumps(agent)}); "
            'getattr(agent, "new_game", id)(numpy.random.default_rng(0)); '
            "board.push(agent.act(board))"
        )
        yield f"To see it: python -c {shlex.quote(code)}"


def summary(
    league: League, measured: int, anchor: Anchor | None, known: Mapping[int, float]
) -> str:
    """Return which entrants are broken, then the ratings of the measured ones, or the verdict.

    The measured entrants come first; there are none in a league of equals.
    """
    broken, count = broken_entrants(league), len(league.entrants)
    players = [number for number in range(measured or count) if number not in broken]
    if not players or count - len(broken) < 2:
        told = []
    elif too_few_openings(league) or not measured or (count == 2 and not known):
        told = [verdict(league)]
    else:
        rated = rate_league(league, anchor, known)
        told = [headline(league, rated, number, known) for number in players]
    return " ".join([*broken.values(), *told])


def verdict(league: League) -> str:
    """Return which of two players is stronger, or which of several leads, with the interval."""
    rated = rate_league(league)
    first, second = sorted(range(len(league.entrants)), key=lambda player: -rated.elo[player])[:2]
    lead = rated.difference(first, second)
    names = league.entrants[first].name, league.entrants[second].name
    games, openings = len(league.games), len({game.opening for game in league.games})
    played = (
        f"{games:,} game{'' if games == 1 else 's'} from "
        f"{openings} opening{'' if openings == 1 else 's'}"
    )
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


def format_elo(estimate: EloEstimate) -> str:
    """Return a number of Elo points with its interval: ``+222 [+150, +300] Elo``."""
    return f"{estimate.elo:+.0f} [{estimate.low:+.0f}, {estimate.high:+.0f}] Elo"


Key = TypeVar("Key", bound=Hashable)


class PlayerResult(NamedTuple):
    """A game as one of its two players has it."""

    player: int
    opponent: int
    side: int
    score: float
    game: GameRecord


def player_results(games: Iterable[GameRecord]) -> Iterator[PlayerResult]:
    """Yield both players' results of every game, Black's first."""
    for game in games:
        yield PlayerResult(game.black, game.white, BLACK, game.score, game)
        yield PlayerResult(game.white, game.black, WHITE, 1 - game.score, game)


def tallies(scores: Iterable[tuple[Key, float]]) -> dict[Key, WinDrawLoss]:
    """Count wins, draws and losses of each key; keys keep the order of their first game."""
    counts = Counter(scores)
    return {
        key: WinDrawLoss(counts[key, 1.0], counts[key, 0.5], counts[key, 0.0])
        for key in dict.fromkeys(key for key, _ in counts)
    }
