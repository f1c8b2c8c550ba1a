"""Which of a player's seeds stands in the zoo: the one that did best in the validation."""

from __future__ import annotations

from typing import NamedTuple

from training.reproduction.effects import score
from training.reproduction.jobs import run_of, settled
from training.reproduction.papers.seed_selection import FORTY, VALIDATION
from training.reproduction.papers.strong_player import LONG_RUN
from training.reproduction.plan import Ledger, Scope
from training.reproduction.results import Played, Trained
from training.reproduction.tables import Seen, seen


class Choice(NamedTuple):
    """A player's best seed, and how all its seeds did (per cent of 160 games).

    There are no scores of a player that measured itself: its record has no weights, only the zoo.
    """

    run: Trained
    seed: int
    scores: dict[int, float]


def choose(scope: Scope, ledger: Ledger) -> dict[str, Choice]:
    """The best seed of each player that has one with a finished validation; the first of equals."""
    found = {}
    for line in VALIDATION.rows:
        scores, runs = {}, {}
        for seed, jobs in enumerate(scope.games(line, FORTY)):
            played = [ledger.result(job) for job, _ in jobs]
            run = ledger.result(run_of(settled(line.first, seed), scope.scale))
            games: list[Seen] = []
            for result, (_, turned) in zip(played, jobs, strict=True):
                games += seen(result, turned) if isinstance(result, Played) else []
            if isinstance(run, Trained) and None not in played:
                scores[seed], runs[seed] = score(games), run
        if scores:
            best = max(scores, key=lambda seed: scores[seed])
            found[line.first.name] = Choice(runs[best], best, scores)
    alone = run_of(LONG_RUN, scope.scale)
    if isinstance(run := ledger.result(alone), Trained):
        found[LONG_RUN.name] = Choice(run, alone.seed, {})
    return found
