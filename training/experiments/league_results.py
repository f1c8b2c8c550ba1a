"""The zoo's leagues on disk: one JSON line for each pair of entrants, and for each examination.

``results/league.jsonl`` holds the games of the common league and of the examinations.
``results/examinations.jsonl`` holds the other findings of the examinations. The key of a line is
its entrants with the hashes of their weight files, the conditions, and the search's
`results_version`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from filelock import FileLock

from agents.agent_spec import WEIGHTS_SUFFIX
from agents.search.alphabeta import RESULTS_VERSION
from checkers_env.files import read_regular, remove_temporary_files
from training.experiments.champions import name_champion
from training.experiments.json_lines import JsonLines, Row, check_fields
from training.experiments.measures import POINTS
from training.experiments.results import LOCK
from training.league.records import Entrant, GameRecord, League
from training.league.schedule import LeagueFixture, Pairing

PAIRS, EXAMINATIONS = "league.jsonl", "examinations.jsonl"


@dataclass(frozen=True)
class LeaguePlan:
    """Entrants, games and conditions of a league."""

    name: str  # "zoo", or the player of an examination
    entrants: tuple[Entrant, ...]
    conditions: dict[str, Any]  # options of benchmark.py that differ from their defaults
    pairings: Sequence[Pairing]
    fixtures: Sequence[LeagueFixture]  # pair by pair, equally many for each
    sample: int = 0  # games, about, whose first halves the results keep

    @property
    def games_per_pair(self) -> int:
        """Number of games of a pair."""
        return len(self.fixtures) // len(self.pairings)

    def is_sampled(self, number: int) -> bool:
        """Return whether the results keep the first half of a game."""
        return bool(self.sample) and number % max(1, len(self.fixtures) // self.sample) == 0

    def pair_keys(self) -> list[Row]:
        """Return the key fields of each pair's line."""
        described = [describe(entrant) for entrant in self.entrants]
        return [
            {
                "league": self.name,
                "number": place * self.games_per_pair,
                "first": described[first],
                "second": described[second],
                "conditions": self.conditions,
                "results_version": {"search": RESULTS_VERSION},
            }
            for place, (first, second) in enumerate(self.pairings)
        ]


class LeagueStore:
    """Lines of leagues and examinations in a folder of results."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pairs = JsonLines(folder / PAIRS, itemgetter("league", "number"), check_pair)
        self._examinations = JsonLines(folder / EXAMINATIONS, _examination_order, check_examination)

    def games(self, plan: LeaguePlan) -> dict[int, GameRecord]:
        """Return the games in the results by number, without their moves."""
        found = {}
        for row in self._rows(plan):
            for place, letter in enumerate(row["results"]):
                number, black, white, opening = plan.fixtures[row["number"] + place]
                score = POINTS[letter] if place % 2 == 0 else 1 - POINTS[letter]
                found[number] = GameRecord(number, black, white, opening, score, "", 0, ())
        return found

    def beginnings(self, plan: LeaguePlan) -> list[tuple[str, ...]]:
        """Return the first halves of the sampled games, moves as text."""
        rows = self._rows(plan)
        return [tuple(moves.split()) for row in rows for moves in row["beginnings"].values()]

    def findings(self, plan: LeaguePlan) -> list[str] | None:
        """Return the sentences of an examination, or None if there is no current one."""
        key = _examination_key(plan)
        row = self._examinations.get(key)
        if row is None or any(row[name] != value for name, value in key.items()):
            return None
        return list(row["findings"])

    def add(self, plan: LeaguePlan, league: League, findings: Sequence[str] = ()) -> None:
        """Write a finished league; it replaces the league of its name.

        A pair that has a current line keeps it: its games may lack their moves.
        """
        games = {game.number: game for game in league.games}
        known = {row["number"]: row for row in self._rows(plan)}
        rows = [
            known[key["number"]] if key["number"] in known else pair_row(plan, key, games)
            for key in plan.pair_keys()
        ]
        self._folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self._folder / LOCK):
            remove_temporary_files(self._folder)
            self._pairs.refresh()
            self._pairs.put(rows, drop=lambda row: row["league"] == plan.name)
            if findings:
                self._examinations.refresh()
                self._examinations.put([_examination_key(plan) | {"findings": list(findings)}])

    def _rows(self, plan: LeaguePlan) -> list[Row]:
        rows = [(key, self._pairs.get(key)) for key in plan.pair_keys()]
        return [
            row
            for key, row in rows
            if row is not None
            and all(row[name] == value for name, value in key.items())
            and len(row["results"]) == plan.games_per_pair
        ]


def describe(entrant: Entrant) -> Row:
    """Return an entrant's agent and options, and the hash of its weight file if it has one."""
    path = Path(entrant.agent)
    if not entrant.agent.endswith(WEIGHTS_SUFFIX):
        return {"agent": entrant.agent, **entrant.options}
    weights = name_champion(read_regular(path))
    return {"agent": path.name.removesuffix(WEIGHTS_SUFFIX), "weights": weights, **entrant.options}


def pair_row(plan: LeaguePlan, key: Row, games: Mapping[int, GameRecord]) -> Row:
    """Return the line of a pair."""
    numbers = range(key["number"], key["number"] + plan.games_per_pair)
    played = [games[number] for number in numbers]
    letters = {score: letter for letter, score in POINTS.items()}
    scores = [game.score if place % 2 == 0 else 1 - game.score for place, game in enumerate(played)]
    return key | {
        "results": "".join(letters[score] for score in scores),
        "plies": [len(game.moves) for game in played],
        "reasons": dict(sorted(Counter(game.reason for game in played).items())),
        "beginnings": {
            str(number): " ".join(games[number].moves[: max(len(games[number].moves) // 2, 1)])
            for number in numbers
            if plan.is_sampled(number)
        },
    }


def check_pair(row: Row) -> None:
    """Raise ValueError if the line of a pair is inconsistent."""
    check_fields(row, PAIR_FIELDS)
    if not len(row["results"]) == len(row["plies"]) == sum(row["reasons"].values()):
        raise ValueError("its results, plies and reasons differ in their number of games")
    if not set(row["results"]) <= POINTS.keys():
        raise ValueError("its results have letters other than W, D and L")


def check_examination(row: Row) -> None:
    """Raise ValueError if the line of an examination is damaged."""
    check_fields(row, EXAMINATION_FIELDS)


PAIR_FIELDS = {
    "league": str,
    "number": int,
    "first": dict,
    "second": dict,
    "conditions": dict,
    "results_version": dict,
    "results": str,
    "plies": list,
    "reasons": dict,
    "beginnings": dict,
}
EXAMINATION_FIELDS = {"player": dict, "results_version": dict, "findings": list}


def _examination_key(plan: LeaguePlan) -> Row:
    return {"player": describe(plan.entrants[0]), "results_version": {"search": RESULTS_VERSION}}


def _examination_order(row: Row) -> tuple[Any, ...]:
    return (row["player"]["agent"],)
