"""Individual and social learning.

B. Al-Khateeb's thesis (Nottingham, 2011), Algorithm 5.2: players C10, C20, C50, C100, C200 and C1,
and C10-RR of section 5.5. Thirty players evolve as in coevolution, but every M generations the best
are copied into a pool, and every N generations, instead of selection and mutation, each player
judges itself by its normalised score: the best publish their strategies, the satisfied keep
theirs, and the others copy one out of the pool, start afresh or stay, with equal chances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from agents.continual.pool import rank_strategies
from agents.weights import WeightsMetadata
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Population, State, rng_from_json, rng_to_json
from training.evolution.tournament import best
from training.regimes.coevolution import Coevolution
from training.runtime.curves import to_csv
from training.runtime.validation import validate_ranges

SOCIAL_RANGES = {
    "publish_every": (1, 1_000_000),
    "social_every": (1, 1_000_000),
    "satisfied": (0.0, 1.0),
    "pool_limit": (0, 1_000_000),
}
GREATEST = 2.0**500  # a pool score
POOL_FILE, POOL_TABLE = "pool.safetensors", "pool.csv"
ITS_OWN = -1.0  # the source of a strategy that is not in the pool


@dataclass(frozen=True)
class Pool:
    """Published strategies in the order of publication; float64 arrays, a row a strategy."""

    strategies: Population
    names: Any  # [size]: numbers given at publication
    scores: Any  # [size]: what the roulette goes by
    reused: Any  # [size]: how often each was copied
    generations: Any  # [size]: when each was published

    def pick(self, rows: Any) -> Pool:
        """Some of the strategies, in the given order."""
        return Pool(
            self.strategies.pick(rows),
            self.names[rows],
            self.scores[rows],
            self.reused[rows],
            self.generations[rows],
        )


@dataclass(frozen=True)
class SocialLearning(Coevolution):
    """The constants of the method: those of coevolution, and its own."""

    results_version: ClassVar[int] = 1
    """Raise it when a change of code changes the results of a run."""

    publish_every: int = 5
    """M: generations between publications of the best (individual learning)."""
    social_every: int = 10
    """N: generations between rounds of social learning."""
    satisfied: float = 0.9
    """Normalised score from which a player keeps its strategy."""
    pool_limit: int = 0
    """StrategyPool in the pool at most, the latest ones (C1: 1); 0 for no limit."""
    doubling: bool = False
    """Double a pool score when its strategy is the best again, instead of adding 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        validate_ranges(self, SOCIAL_RANGES, {})

    def init(self, seed: int) -> State:
        """The first players, twice as many as there are parents, and an empty pool."""
        rng = np.random.default_rng(seed)
        members = 2 * self.parents
        drawn = self.drawn(rng)
        players = self.newcomers(self.shape(drawn), members, rng)
        pool = Pool(players.pick([]), *np.zeros((4, 0)))
        extra = drawn | packed(pool, np.full(members, ITS_OWN))
        return State(0, players, np.zeros(members), rng_to_json(rng), extra)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """One generation: a tournament, and what its number asks for."""
        rng = rng_from_json(state.rng)
        generation = state.generation + 1
        shape = self.shape(state.extra)
        scores, measured = self.tournament(shape, state.population, runner, rng)
        order = best(scores, len(scores), rng)
        players, scores = state.population.pick(order), scores[order]
        pool, sources = unpacked(state.extra)
        sources = sources[order]
        if generation % self.social_every == 0:
            won = normalised(scores) == 1
            pool, sources = self.published(pool, players, sources, won, generation)
            players, sources, scores, pool = self.learn(shape, players, sources, scores, pool, rng)
        else:
            if generation % self.publish_every == 0:
                won = scores == scores[0]
                pool, sources = self.published(pool, players, sources, won, generation)
            players = self.with_offspring(shape, players.pick(slice(self.parents)), rng)
            sources = np.append(sources[: self.parents], np.full(self.parents, ITS_OWN))
            scores = np.append(scores[: self.parents], np.zeros(self.parents))
        measured |= {
            "pool/size": float(pool.strategies.size),
            "pool/users": float(np.count_nonzero(np.isin(sources, pool.names))),
        }
        extra = state.extra | packed(pool, sources)
        return State(generation, players, scores, rng_to_json(rng), extra), measured

    def files(self, state: State, metadata: WeightsMetadata) -> dict[str, bytes]:
        """The pool: as the thesis's Table 5.1 shows it, and for :mod:`agents.continual.agent`.

        `metadata` is the champion's.
        """
        pool, _ = unpacked(state.extra)
        columns = {
            "player": pool.names + 1,
            "generation": pool.generations,
            "pool score": pool.scores,
            "reused": pool.reused,
        }
        table = {POOL_TABLE: to_csv(columns)}
        champions = [
            self.champion(replace(state, population=pool.strategies.pick([row])))
            for row in range(pool.strategies.size)
        ]
        if not champions:
            return table
        strategies = rank_strategies(
            metadata,
            genomes=[champion.genome for champion in champions],
            kings=[champion.king for champion in champions],
            scores=pool.scores,
            generations=pool.generations,
            numbers=pool.names + 1,
        )
        return table | {POOL_FILE: strategies.content()}

    def published(
        self, pool: Pool, players: Population, sources: Any, won: Any, generation: int
    ) -> tuple[Pool, Any]:
        """The pool after the winners have published, and the sources of all strategies then.

        A winner whose strategy is in the pool raises its score there; any other is added with a
        score of 1. What is more than the limit goes, the oldest first.
        """
        if self.pool_limit:  # the members stand best first, equals in random order
            won = won & (np.cumsum(won) <= self.pool_limit)
        again = np.isin(pool.names, sources[won])
        raised = np.minimum(pool.scores * 2, GREATEST) if self.doubling else pool.scores + 1
        new = np.flatnonzero(won & ~np.isin(sources, pool.names))
        names = (pool.names[-1] + 1 if len(pool.names) else 0.0) + np.arange(len(new))
        pool = Pool(
            pool.strategies.join(players.pick(new)),
            np.append(pool.names, names),
            np.append(np.where(again, raised, pool.scores), np.ones(len(new))),
            np.append(pool.reused, np.zeros(len(new))),
            np.append(pool.generations, np.full(len(new), generation)),
        )
        sources = sources.copy()
        sources[new] = names
        return pool.pick(slice(-self.pool_limit, None)) if self.pool_limit else pool, sources

    def learn(
        self,
        shape: Any,
        players: Population,
        sources: Any,
        scores: Any,
        pool: Pool,
        rng: np.random.Generator,
    ) -> tuple[Population, Any, Any, Pool]:
        """Social learning of those who are not satisfied; new strategies have a score of 0."""
        unsatisfied = np.flatnonzero(normalised(scores) < self.satisfied)
        sources, scores, reused = sources.copy(), scores.copy(), pool.reused.copy()
        for member in unsatisfied.tolist():
            choice = rng.integers(3)
            if choice == 0:
                drawn = rng.choice(len(pool.names), p=pool.scores / pool.scores.sum())
                players = players.put(member, pool.strategies.pick([drawn]))
                sources[member] = pool.names[drawn]
                scores[member] = 0.0
                reused[drawn] += 1
            elif choice == 1:
                players = players.put(member, self.newcomers(shape, 1, rng))
                sources[member], scores[member] = ITS_OWN, 0.0
        return players, sources, scores, replace(pool, reused=reused)


def normalised(scores: Any) -> Any:
    """Scores scaled to [0, 1] (equation 5.1); where all are equal, everybody has 1."""
    least, most = np.min(scores), np.max(scores)
    return (scores - least) / (most - least) if most > least else np.ones(len(scores))


def packed(pool: Pool, sources: Any) -> dict[str, Any]:
    """The pool, and the sources of the players' strategies, as arrays for a checkpoint."""
    arrays = {**vars(pool), **vars(pool.strategies), "sources": sources}
    del arrays["strategies"]
    return arrays


def unpacked(arrays: dict[str, Any]) -> tuple[Pool, Any]:
    """What :func:`packed` has packed."""
    strategies = Population(*(arrays[name] for name in ("genomes", "steps", "kings")))
    columns = (arrays[name] for name in ("names", "scores", "reused", "generations"))
    return Pool(strategies, *columns), arrays["sources"]
