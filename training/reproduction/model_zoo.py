"""Selection of the zoo's players: the seed with the best score in the validation."""

from __future__ import annotations

from typing import NamedTuple

from training.reproduction.effects import score
from training.reproduction.jobs import Run, run_of, with_seed
from training.reproduction.papers.seed_selection import FORTY, VALIDATION
from training.reproduction.papers.strong_player import STRONG
from training.reproduction.plan import Scope, outcome_of
from training.reproduction.results import ResultStore, TrainingResult


class Choice(NamedTuple):
    """A player's best seed, and the scores of all its seeds in the validation, in %.

    A player that measures itself has no scores. Its weights are in the zoo only.
    """

    run: Run
    result: TrainingResult
    scores: dict[int, float]


def choose(scope: Scope, store: ResultStore) -> dict[str, Choice]:
    """Return the best seed of each player that finished a validation; of equal ones the first."""
    found = {}
    for line in VALIDATION.rows:
        scores, runs = {}, dict[int, tuple[Run, TrainingResult]]()
        for seed, jobs in enumerate(scope.games(line, FORTY)):
            games = outcome_of(jobs, store)
            run = run_of(with_seed(line.first, seed), scope.scale)
            trained = store.result(run)
            if isinstance(trained, TrainingResult) and isinstance(games, list):
                scores[seed], runs[seed] = score(games), (run, trained)
        if scores:
            best = max(scores, key=lambda seed: scores[seed])
            found[line.first.name] = Choice(*runs[best], scores)
    alone = run_of(STRONG, scope.scale)
    if isinstance(trained := store.result(alone), TrainingResult):
        found[STRONG.name] = Choice(alone, trained, {})
    return found
