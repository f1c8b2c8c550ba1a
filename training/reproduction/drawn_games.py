"""Sections of the page: the claims with drawn games decided by pieces, and draws by the lead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from training.reproduction.claims import Claim
from training.reproduction.effects import LEAD, advantage, decided, share_drawn, share_led
from training.reproduction.jobs import Player
from training.reproduction.papers.tie_rules import DRAWS_AND_LEAD
from training.reproduction.plan import Scope, figures
from training.reproduction.results import ResultStore
from training.reproduction.tables import (
    DRAWS,
    LOSSES,
    RESULTS,
    WINS,
    WINS_AND_LOSSES,
    Table,
    brief,
    interval,
)
from training.reproduction.verdicts import Verdict, effects, verdicts

CARDS = 43
LEADS = ((0, 5), (5, 10), (10, 20), (20, 51))  # points: % of the score above one half


def lines(judged: Sequence[Verdict], scope: Scope, store: ResultStore) -> Iterator[str]:
    """Yield the section in Markdown: every claim about scores, as played and decided.

    Parameters
    ----------
    judged
        Verdicts of the page.
    scope
        Seeds and scale.
    store
        Results.
    """
    scores = [it for it in judged if it.claim.effect is advantage and it.values]
    if not scores:
        return
    claims: list[Claim] = [it.claim for it in scores]
    again = verdicts([replace(claim, effect=decided) for claim in claims], scope, store)
    yield from ("## Drawn games", "", _ABOUT, "")
    yield (
        f"| claim | drawn, % | of them with a lead of {LEAD} pieces, % | effect as played "
        "| effect if draws go to the side with more pieces | verdict then |"
    )
    yield "|---|---:|---:|---:|---:|---|"
    for played, then in zip(scores, again, strict=True):
        drawn, led = (
            _mean(effects(replace(played.claim, effect=share), scope, store))
            for share in (share_drawn, share_led)
        )
        yield (
            f"| {played.claim.says} | {drawn} | {led} | {interval(played.values)} "
            f"| {interval(then.values)} | {then.word or 'too few seeds'} |"
        )
    yield ""


def by_lead(tables: Sequence[Table], scope: Scope, store: ResultStore) -> Iterator[str]:
    """Yield the share of drawn games by the lead, in Markdown: the thesis's matches, and ours.

    Parameters
    ----------
    tables
        Tables of the page; without the table of a rule there is no section.
    scope
        Seeds and scale.
    store
        Results.
    """
    rules = [table for table in tables if table.measure is DRAWS_AND_LEAD]
    ours = {table.title: chain.from_iterable(figures(table, scope, store)) for table in rules}
    played = {title: [(it[0], it[1]) for it in matches] for title, matches in ours.items()}
    if not any(played.values()):
        return
    yield from ("## Draws and leads", "", _ABOUT_LEADS, "")
    heads = [f"{least} to {most}" for least, most in LEADS]
    yield f"| matches | {' | '.join(heads)} |"
    yield "|---|" + "---:|" * len(heads)
    for title, matches in {**thesis_matches(tables), **played}.items():
        if matches:
            cells = " | ".join(_drawn(matches, *ends) for ends in LEADS)
            yield f"| {title} | {cells} |"
    yield ""


def thesis_matches(tables: Sequence[Table]) -> dict[str, list[tuple[float, float]]]:
    """Return the share of drawn games and the lead of the thesis's matches, both in %.

    Parameters
    ----------
    tables
        Tables, of which those with the thesis's results count. Of a player's games against several
        others only the sum is used.

    Returns
    -------
    Matches of equals (Tables 3.2 and 4.1), and all others between its players.
    """
    equals: list[Sequence[Any]] = []
    others: list[Sequence[Any]] = []
    leagues: dict[tuple[Player, ...], dict[str, Any]] = defaultdict(dict)
    for table in tables:
        for line in table.rows if table.name.startswith("table-") else ():
            if table.measure is WINS_AND_LOSSES:
                won, lost = map(float, line.theirs)
                equals.append((won, 2 * CARDS * len(line.others) - won - lost, lost))
            elif table.measure is RESULTS and line.theirs and line.others[0].trained:
                others.append(line.theirs)
            elif table.measure in (WINS, DRAWS, LOSSES) and len(line.others) == 1:
                ordered = line.first.name < line.others[0].name
                if ordered:
                    leagues[line.first, *line.others][table.measure.columns[0]] = line.theirs[0]
    names = RESULTS.columns
    others += [tuple(it[name] for name in names) for it in leagues.values() if len(it) == 3]
    return {
        "the thesis, Tables 3.2 and 4.1: equals": list(map(_drawn_and_lead, equals)),
        "the thesis, all other matches": list(map(_drawn_and_lead, others)),
    }


def _drawn_and_lead(results: Sequence[Any]) -> tuple[float, float]:
    won, drawn, lost = results
    games = won + drawn + lost
    return 100 * drawn / games, 100 * (won + drawn / 2) / games - 50


def _drawn(matches: Sequence[tuple[float, float]], least: float, most: float) -> str:
    """Format the mean share of draws of the matches whose lead is in a range, and their number."""
    found = [drawn for drawn, lead in matches if least <= abs(lead) < most]
    return f"{np.mean(found):.0f} % of {len(found)}" if found else ""


def _mean(values: Sequence[float]) -> str:
    return brief(float(np.mean(values))) if values else ""


_ABOUT_LEADS = (
    "Share of drawn games by the lead: how far the better player's score lies above 50 %. Each "
    "cell is the mean over matches, and their number."
)
_ABOUT = (
    "A game is drawn after 100 moves of each side, even if one is ahead. These are the claims "
    "about scores once more, with every drawn game given to the side that has more pieces at its "
    "end."
)
