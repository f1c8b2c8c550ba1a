"""Coevolution with options that help evolution to learn, each off by default.

Beside the first step sizes and the opponents of :class:`Coevolution`: a bound on the step sizes;
recombination (T. Bäck and H.-P. Schwefel, "An overview of evolutionary algorithms for parameter
optimization", Evolutionary Computation 1(1), 1993); openings, the same for all; a hall of fame
(C. D. Rosin and R. K. Belew, "New methods for competitive coevolution", Evolutionary Computation
5(1), 1997); and leagues of the parents whose winner is the champion.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from agents.architectures import Encoding
from checkers_env.openings import TWO_MOVE
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics, tournament_metrics
from training.evolution.mutation import mutate, recombine
from training.evolution.state import Champion, Population, State, rng_from_json
from training.evolution.tournament import PAIRINGS, Pairs, best, both_ways
from training.regimes import register
from training.regimes.coevolution import Coevolution
from training.runtime.validation import Range

HALL, REIGNING = "hall/", "reigning/"  # prefixes of populations among the state's arrays


@register
@dataclass(frozen=True)
class ExtendedCoevolution(Coevolution):
    """Constants of the method: those of coevolution, and its own."""

    kind: ClassVar[str] = "coevolution-extended"
    results_version: ClassVar[int] = 1

    step_limit: Annotated[float, Range(0.0, 1e3)] = 0.0
    """Greatest step size; 0 for no limit."""
    mates: Annotated[int, Range(1, 10_000)] = 1
    """Parents whose mean is mutated to an offspring: its own and random others; at most all."""
    openings: Literal["none", "two-move"] = "none"
    """two-move: in each generation as many cards as a network has games, the same for all."""
    return_games: bool = False
    """Whether all games are played a second time with colours changed."""
    hall: Annotated[int, Range(0, 10_000)] = 0
    """Former champions, a random sample of all so far, that each network plays as Black."""
    league_every: Annotated[int, Range(0, 1_000_000)] = 0
    """Generations between leagues of the parents and the reigning champion, whose winner reigns
    then; 0: the best of the last tournament is the champion."""

    @property
    def games(self) -> int:
        """Games in a generation, with an equal share of those of the leagues."""
        league = self.parents * (self.parents + 1) / self.league_every if self.league_every else 0
        return len(self.fixtures(np.random.default_rng(0))[0]) + round(league)

    def init(self, seed: int) -> State:
        """Sample the first parents: they are the first hall of fame too, and one of them reigns."""
        state = super().init(seed)
        hall = state.population.pick(np.arange(self.hall) % self.parents)
        reigning = state.population.pick([0])
        arrays = {**state.arrays, **hall.to_arrays(HALL), **reigning.to_arrays(REIGNING)}
        return replace(state, arrays=arrays)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Replicate, play the tournament, select, and play a league if one is due."""
        rng, generation, arrays = rng_from_json(state.rng), state.generation + 1, {**state.arrays}
        encoding, hall = self.encoding(arrays), Population.from_arrays(arrays, HALL)
        members = self.entrants(encoding, state.population, rng)
        pairs, cards = self.fixtures(rng)
        players = self.players(encoding, members.join(hall))
        games, scores = self.play(players, pairs, runner, rng, cards)
        scores = scores[: members.size]
        metrics = tournament_metrics([game.result for game in games], scores)
        chosen = best(scores, self.parents, rng)
        survivors, scores = members.pick(chosen), scores[chosen]
        if self.hall:
            arrays |= reservoir_sample(hall, survivors.pick([0]), generation, rng).to_arrays(HALL)
        if self.league_every and generation % self.league_every == 0:
            entrants = survivors.join(Population.from_arrays(arrays, REIGNING))
            arrays |= self.league_winner(encoding, entrants, runner, rng).to_arrays(REIGNING)
        return self.next_state(generation, survivors, scores, rng, arrays), metrics

    def offspring(
        self, encoding: Encoding, parents: Population, rng: np.random.Generator
    ) -> Population:
        """Mutate each parent, or the mean of it and its mates."""
        return mutate(
            recombine(parents, self.mates, rng) if self.mates > 1 else parents,
            encoding.weight_count,
            self.king_rule,
            rng,
            self_adaptive=self.self_adaptive,
            step_limit=self.step_limit or np.inf,
        )

    def fixtures(self, rng: np.random.Generator) -> tuple[Pairs, list[str | None]]:
        """Return Black and White of each game of a generation, and its opening.

        The hall of fame has the numbers after the members. A network's games as Black are
        consecutive.
        """
        members = 2 * self.parents
        pairs = PAIRINGS[self.pairing](members, self.opponents, rng)
        pairs += itertools.product(range(members), range(members, members + self.hall))
        pairs.sort(key=lambda pair: pair[0])
        cards: list[str | None] = [None] * len(pairs)
        if self.openings != "none":
            sample = np.resize(rng.permutation(TWO_MOVE), len(pairs) // members)
            cards = sample.tolist() * members
        return (both_ways(pairs), cards * 2) if self.return_games else (pairs, cards)

    def league_winner(
        self, encoding: Encoding, members: Population, runner: GameRunner, rng: np.random.Generator
    ) -> Population:
        """Return the best of a league: each pair plays both colours of a card of its own."""
        pairs = list(itertools.combinations(range(members.size), 2))
        cards = rng.choice(TWO_MOVE, len(pairs)).tolist() * 2
        both = replace(self, both_score=True)
        _, scores = both.play(self.players(encoding, members), both_ways(pairs), runner, rng, cards)
        return members.pick(best(scores, 1, rng))

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the reigning champion, without a score; without leagues, a survivor."""
        if not self.league_every:
            return super().champion(state, member)
        return self.champion_of(state, Population.from_arrays(state.arrays, REIGNING))


def reservoir_sample(
    hall: Population, champion: Population, generation: int, rng: np.random.Generator
) -> Population:
    """Return the next hall of fame, which each champion so far is in with equal probability.

    Source: J. S. Vitter, "Random sampling with a reservoir", ACM Trans. Math. Software 11(1), 1985.
    `champion` is a population of one; `generation` is the number of champions so far.
    """
    place = int(rng.integers(hall.size + generation))
    return hall.put(place, champion) if place < hall.size else hall
