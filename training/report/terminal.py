"""A league on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from checkers_env.openings import parse_opening
from training.league.records import League
from training.rating.intervals import Score, score_match
from training.rating.pentanomial import count_pairs, normalized_elo
from training.rating.thesis_ratings import rate_match
from training.report.standings import StandingsRow, format_elo, player_results, too_few_openings

MOST_ORDERED = 1000  # games: the thesis's matches have 86, and 5000 orderings of more take long
PAIRS = "pairs of 0, ½, 1, 1½ and 2 points"
TOO_FEW = "too few openings"


def print_league(
    league: League,
    lines: Sequence[StandingsRow],
    scale: str,
    *,
    verdict: str,
    thesis: bool,
    placed: bool,
) -> None:
    """Print the verdict, the standings and, of a match of two, its statistics.

    If entrant 0 was placed by games with all others, its scores replace the standings.
    """
    console = Console(highlight=False)
    console.print(Text(verdict, style="bold"))
    console.print(opponents_table(league, lines) if placed else standings_table(lines))
    console.print(Text(scale))
    if len(league.entrants) == 2:
        console.print(match_table(league, thesis))
    for line in (*forfeits(league), *answer_counts(league)):
        console.print(line, markup=False)


def standings_table(lines: Sequence[StandingsRow]) -> Table:
    """Return the standings as a table, the best first."""
    table = _table("player", "Elo", "95 %", "W-D-L", "score (95 %)")
    for place, line in enumerate(lines, 1):
        table.add_row(
            str(place),
            Text(line.name),
            f"{line.elo:+.0f}",
            f"{line.low:+.0f} to {line.high:+.0f}",
            f"{line.wins}-{line.draws}-{line.losses}",
            f"{line.score:.1%} ({100 * line.score_low:.1f} to {100 * line.score_high:.1f})",
        )
    return table


def match_table(league: League, thesis: bool = False) -> Table:
    """Return a match of two: scores by colour, pairs, normalized Elo, likelihood of superiority."""
    names = [entrant.name for entrant in league.entrants]
    match, games = score_match(league.games, 0, 1), league.games
    table = _table(f"{names[0]} against {names[1]}", "")
    for colour, part in (("as Black", match.as_black), ("as White", match.as_white)):
        if part:
            table.add_row("", colour, _result(part))
    table.add_row("", PAIRS, "-".join(map(str, count_pairs(games, 0, 1))))
    normalized = normalized_elo(games, 0, 1)
    few = too_few_openings(league)
    superiority = TOO_FEW if few else f"{match.total.los:.1%}"
    table.add_row("", "likelihood of superiority", superiority)
    if few or normalized is None:
        table.add_row("", "normalized Elo", TOO_FEW if few else "unknown: all pairs are equal")
    else:
        table.add_row("", "normalized Elo", format_elo(normalized).removesuffix(" Elo"))
    results = match.total.wins, match.total.draws, match.total.losses
    if thesis and sum(results) > MOST_ORDERED:
        table.add_row("", "the thesis's ratings", f"only for up to {MOST_ORDERED:,} games")
    elif thesis:
        table.add_row("", "the thesis's ratings, formula", _thesis(*results, "written"))
        table.add_row("", "as printed", _thesis(*results, "printed"))
    return table


def forfeits(league: League) -> Iterator[str]:
    """Yield a sentence for each entrant that forfeited games."""
    for number, entrant in enumerate(league.entrants):
        lost = [game for game in league.games if game.forfeiter == number]
        if lost:
            first = f"game {lost[0].number + 1}: {lost[0].reason}"
            yield f"{entrant.name} forfeited {len(lost)} of its games, the first being {first}"


def opponents_table(league: League, lines: Sequence[StandingsRow]) -> Table:
    """Return the score of entrant 0 against each opponent, the best opponent first."""
    numbers = {entrant.name: number for number, entrant in enumerate(league.entrants)}
    table = _table(f"{league.entrants[0].name} against", "Elo", "W-D-L, score")
    for line in lines:
        if opponent := numbers[line.name]:
            total = score_match(league.games, 0, opponent).total
            table.add_row("", Text(line.name), f"{line.elo:+.0f}", _result(total))
    return table


def move_time(league: League, player: int) -> Iterator[str]:
    """Yield the mean time of a player's moves, if they were timed."""
    mine = [it for it in player_results(league.games) if it.player == player]
    seconds = sum(it.game.seconds[it.side] for it in mine)
    plies = sum(len(it.game.moves) - len(parse_opening(it.game.opening)[1]) for it in mine)
    if seconds:
        yield f"{league.entrants[player].name}: {2000 * seconds / plies:.3g} ms a move."


def answer_counts(league: League) -> Iterator[str]:
    """Yield a sentence for each language model: its answers of each kind."""
    for number, entrant in enumerate(league.entrants):
        counts: Counter[str] = Counter()
        for it in player_results(league.games):
            if it.player == number:
                counts.update(it.game.answers[it.side])
        if total := counts.total():
            kinds = (f"{count:,} {kind} ({count / total:.1%})" for kind, count in counts.items())
            yield f"{entrant.name}: of {total:,} answers {', '.join(kinds)}"


def _table(name: str, *others: str) -> Table:
    """Return a table that folds long cells in a narrow terminal."""
    right = (Column(other, justify="right", overflow="fold") for other in others)
    return Table("", Column(Text(name), overflow="fold"), *right, box=SIMPLE)


def _thesis(wins: int, draws: int, losses: int, mode: str) -> str:
    both = rate_match(wins, draws, losses, np.random.default_rng(0), mode=mode)
    return " and ".join(f"{one.mean:.0f} ({one.grade})" for one in both)


def _result(part: Score) -> str:
    return f"{part.wins}-{part.draws}-{part.losses}, {part.mean:.1%}"
