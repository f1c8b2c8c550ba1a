"""Plan of the experiments: all tables, their seeds and jobs, and their figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from training.experiments.jobs import (
    AS_THE_THESIS,
    VALIDATION_SEED,
    Conditions,
    Job,
    Match,
    Player,
    match_of,
    run_of,
    with_seed,
)
from training.experiments.measures import PlayerGame, player_games
from training.experiments.results import ResultStore, TrainingResult
from training.experiments.tables import EXPERIMENTS, Row, Table
from training.trainer.presets import ABLATIONS

SEEDS, FEWER = 10, 5  # seeds of the players in OFTEN, which conclusions rest on, and of the others
FEWEST = 3  # seeds of the grid of evolved n-tuples
OFTEN = frozenset(
    {
        *("blondie24-1999", "blondie24-2001", "c0", "blondie24-rr", "c10", "c10-rr"),
        *("c5-n0.001", "c5-n0.001-1ply", "c5-n0.001-4ply"),
        *("c1-n0.001", "c1-n0.001-1ply", "c1-n0.001-4ply"),
        *("c5-tuple-sum", "c1-tuple-sum"),
        *("c0-npd", "blondie24-rr-npd", "c10-npd", "c5-n0.001-npd"),
        *ABLATIONS,
    }
)
GRID = frozenset(
    line.first for size in (5, 1) for line in EXPERIMENTS[f"evolved-{size}-tuples"].rows
)


@dataclass(frozen=True)
class Scope:
    """Size of the experiments."""

    seeds: int | None = None  # of each player; None for 10 or 5 by player
    scale: float = 1.0  # below 1: share of the generations, parents, games, cards and seeds

    def __post_init__(self) -> None:
        if not 0 < self.scale <= 1:
            raise ValueError(f"scale must be above 0 and at most 1, not {self.scale}")
        if self.seeds is not None and self.seeds < 1:
            raise ValueError(f"seeds must be at least 1, not {self.seeds}")
        if self.seeds is not None and self.seeds > VALIDATION_SEED:
            raise ValueError(f"seeds must be at most {VALIDATION_SEED}, not {self.seeds}")

    def seeds_of(self, player: Player) -> int:
        """Return the number of seeds of a trained player."""
        if self.seeds is not None:
            return self.seeds
        if replace(player, seed=None) in GRID:
            return max(1, round(FEWEST * self.scale))
        return max(1, round((SEEDS if player.name in OFTEN else FEWER) * self.scale))

    def has(self, player: Player) -> bool:
        """Return whether a player with this seed takes part."""
        if not player.trained or player.seed is None:
            return True
        # The panel of the validation; that of a trial is the piece counter alone.
        in_panel = self.scale == 1 and player.seed >= VALIDATION_SEED
        return in_panel or player.seed < max(2, self.seeds_of(player))

    def games(
        self, line: Row, conditions: Conditions = AS_THE_THESIS
    ) -> Iterator[list[tuple[Job, bool]]]:
        """Yield the jobs of each seed, and whether the row's first player is the match's second."""
        others = [other for other in line.others if self.has(other)]
        if not self.has(line.first) or bool(line.others) != bool(others):
            return
        free = [
            player for player in (line.first, *others) if player.trained and player.seed is None
        ]
        for seed in range(min(map(self.seeds_of, free), default=1)):
            if not others:
                yield [(run_of(with_seed(line.first, seed), self.scale), False)]
                continue
            first = with_seed(line.first, seed)
            rest = [it for it in others if with_seed(it, seed) != first]  # none plays itself
            if rest:
                yield [match_of(first, it, seed, conditions, self.scale) for it in rest]

    def jobs(self, tables: Iterable[Table]) -> list[Job]:
        """Return all jobs of some tables, each once, sorted by seed."""
        wanted: dict[Job, None] = {}
        for table in tables:
            for line in table.rows:
                for job, _ in chain.from_iterable(self.games(line, table.conditions)):
                    if isinstance(job, Match):
                        wanted.update(dict.fromkeys(job.runs))
                    wanted[job] = None
        return sorted(wanted, key=lambda job: job.seed)


def figures(table: Table, scope: Scope, store: ResultStore) -> list[list[Sequence[float]]]:
    """Return the figures of a table: rows x seeds x columns, of finished seeds only."""
    return [
        [
            table.measure.of(outcome)
            for jobs in scope.games(line, table.conditions)
            if (outcome := outcome_of(jobs, store)) is not None
        ]
        for line in table.rows
    ]


def outcome_of(
    jobs: Sequence[tuple[Job, bool]], store: ResultStore
) -> list[PlayerGame] | TrainingResult | None:
    """Return a row's games of a seed, or its training result; None if they are not all done."""
    games: list[PlayerGame] = []
    for job, turned in jobs:
        result = store.result(job)
        if result is None or isinstance(result, TrainingResult):
            return result
        games += player_games(result, turned)
    return games
