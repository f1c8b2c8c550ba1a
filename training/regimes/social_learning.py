"""Individual and social learning.

B. Al-Khateeb's thesis (Nottingham, 2011), Algorithm 5.2: players C10, C20, C50, C100, C200 and C1,
and C10-RR of section 5.5. Thirty players evolve as in coevolution, but every M generations the best
are copied into a pool. Every N generations each player judges itself by its normalised score, in
place of selection and mutation. The best publish their strategies, and the satisfied keep theirs.
Each of the others copies one from the pool, starts afresh or stays, with equal probability.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from agents.architectures import Encoding, sample_options
from agents.continual.pool import rank_strategies
from agents.weights import WeightsMetadata
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Population, State, rng_from_json
from training.evolution.tournament import best
from training.regimes import register
from training.regimes.coevolution import Coevolution
from training.runtime.curves import to_csv
from training.runtime.validation import NoEffectWith, Range

MAX_POOL_SCORE = 2.0**500
POOL_FILE, POOL_TABLE = "pool.safetensors", "pool.csv"
POOL = "pool/"  # prefix of the pool among the state's arrays
OWN = -1.0  # source of a strategy that is not in the pool


@dataclass(frozen=True)
class SocialPool(Population):
    """Published strategies in the order of publication."""

    names: NDArray[np.float64]  # numbers given at publication
    scores: NDArray[np.float64]  # weights of the roulette
    reused: NDArray[np.float64]  # number of copies made of each
    generations: NDArray[np.float64]  # of publication


def published(players: Population, names: NDArray[np.float64], generation: int) -> SocialPool:
    """Return a pool of new strategies."""
    ones = np.ones(players.size)
    columns = {"scores": ones, "reused": 0 * ones, "generations": generation * ones}
    return SocialPool(**vars(players), names=names, **columns)


@register
@dataclass(frozen=True)
class SocialLearning(Coevolution):
    """Constants of the method: those of coevolution, and its own."""

    kind: ClassVar[str] = "social-learning"
    results_version: ClassVar[int] = 1

    publish_every: Annotated[int, Range(1, 1_000_000), NoEffectWith(social_every=(1,))] = 5
    """M: generations between publications of the best (individual learning)."""
    social_every: Annotated[int, Range(1, 1_000_000)] = 10
    """N: generations between rounds of social learning."""
    satisfied: Annotated[float, Range(0.0, 1.0)] = 0.9
    """Normalised score from which a player keeps its strategy."""
    pool_limit: Annotated[int, Range(0, 1_000_000)] = 0
    """Strategies in the pool at most, the latest ones (C1: 1); 0 for no limit."""
    all_random: bool = True
    """Whether all of the first tournament are random, or half are offspring."""
    doubling: bool = False
    """Double a pool score when its strategy is the best again, instead of adding 1."""

    def init(self, seed: int) -> State:
        """Sample the first players, twice as many as there are parents; the pool is empty."""
        rng = np.random.default_rng(seed)
        members = 2 * self.parents
        options = sample_options(self.network, rng)
        encoding = self.encoding(options)
        players = self.entrants(encoding, self.first_members(encoding, rng), rng)
        pool = published(players.pick([]), np.zeros(0), 0)
        arrays = options | pool.to_arrays(POOL) | {"sources": np.full(members, OWN)}
        return self.next_state(0, players, np.zeros(members), rng, arrays)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play the tournament; then learn socially, or publish if due and evolve."""
        rng = rng_from_json(state.rng)
        generation = state.generation + 1
        encoding = self.encoding(state.arrays)
        scores, metrics = self.tournament(encoding, state.population, runner, rng)
        order = best(scores, len(scores), rng)
        players, scores = state.population.pick(order), scores[order]
        pool, sources = SocialPool.from_arrays(state.arrays, POOL), state.arrays["sources"][order]
        if generation % self.social_every == 0:
            won = normalise(scores) == 1
            pool, sources = self.publish(pool, players, sources, won, generation)
            players, sources, scores, pool = self.learn(
                encoding, players, sources, scores, pool, rng
            )
        else:
            if generation % self.publish_every == 0:
                won = scores == scores[0]
                pool, sources = self.publish(pool, players, sources, won, generation)
            players = self.with_offspring(encoding, players.pick(slice(self.parents)), rng)
            sources = np.append(sources[: self.parents], np.full(self.parents, OWN))
            scores = np.append(scores[: self.parents], np.zeros(self.parents))
        metrics |= {
            "pool/size": float(pool.size),
            "pool/users": float(np.count_nonzero(np.isin(sources, pool.names))),
        }
        arrays = {**state.arrays, **pool.to_arrays(POOL), "sources": sources}
        return self.next_state(generation, players, scores, rng, arrays), metrics

    def files(self, state: State, metadata: WeightsMetadata) -> dict[str, bytes]:
        """Return the pool as in the thesis's Table 5.1, and for :mod:`agents.continual.agent`."""
        pool = SocialPool.from_arrays(state.arrays, POOL)
        columns = {
            "player": pool.names + 1,
            "generation": pool.generations,
            "pool score": pool.scores,
            "reused": pool.reused,
        }
        table = {POOL_TABLE: to_csv(columns)}
        champions = [self.champion_of(state, pool.pick([row])) for row in range(pool.size)]
        if not champions:
            return table
        strategies = rank_strategies(
            metadata,
            genomes=[genome for genome, _ in champions],
            kings=pool.kings,
            scores=pool.scores,
            generations=pool.generations,
            numbers=pool.names + 1,
        )
        return table | {POOL_FILE: strategies.content()}

    def publish(
        self,
        pool: SocialPool,
        players: Population,
        sources: NDArray[np.float64],
        won: NDArray[np.bool_],
        generation: int,
    ) -> tuple[SocialPool, NDArray[np.float64]]:
        """Publish the strategies of those who `won`; return the pool and the sources after that.

        A winner whose strategy is in the pool raises its score there; any other strategy is added
        with a score of 1. Beyond the limit, the oldest strategies leave the pool. The players come
        best first, equals in random order. A source is the name of a player's strategy in the pool,
        or OWN; sources and `won` have shape (members,).
        """
        if self.pool_limit:
            won = won & (np.cumsum(won) <= self.pool_limit)
        again = np.isin(pool.names, sources[won])
        raised = np.minimum(pool.scores * 2, MAX_POOL_SCORE) if self.doubling else pool.scores + 1
        new = np.flatnonzero(won & ~np.isin(sources, pool.names))
        first = float(pool.names[-1]) + 1 if pool.size else 0.0
        names = np.arange(first, first + len(new))
        pool = replace(pool, scores=np.where(again, raised, pool.scores))
        pool = pool.join(published(players.pick(new), names, generation))
        sources = sources.copy()
        sources[new] = names
        return pool.pick(slice(-self.pool_limit, None)) if self.pool_limit else pool, sources

    def learn(
        self,
        encoding: Encoding,
        players: Population,
        sources: NDArray[np.float64],
        scores: NDArray[np.float64],
        pool: SocialPool,
        rng: np.random.Generator,
    ) -> tuple[Population, NDArray[np.float64], NDArray[np.float64], SocialPool]:
        """Give each unsatisfied player a strategy of the pool, a new one, or its own again.

        The results are players, sources, scores and pool after that. New strategies have a score
        of 0.
        """
        unsatisfied = np.flatnonzero(normalise(scores) < self.satisfied)
        sources, scores, reused = sources.copy(), scores.copy(), pool.reused.copy()
        for member in unsatisfied.tolist():
            choice = rng.integers(3)
            if choice == 0:
                row = rng.choice(len(pool.names), p=pool.scores / pool.scores.sum())
                players = players.put(member, pool.pick([row]))
                sources[member] = pool.names[row]
                scores[member] = 0.0
                reused[row] += 1
            elif choice == 1:
                players = players.put(member, self.random_members(encoding, 1, rng))
                sources[member], scores[member] = OWN, 0.0
        return players, sources, scores, replace(pool, reused=reused)


def normalise(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale scores, shape (members,), to [0, 1] (equation 5.1); equal scores become 1."""
    least, most = np.min(scores), np.max(scores)
    return (scores - least) / (most - least) if most > least else np.ones(len(scores))
