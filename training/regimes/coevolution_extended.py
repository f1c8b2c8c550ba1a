"""Coevolution with what helps evolution to learn, each an option that is off by default.

Beside first steps and opponents, which :class:`Coevolution` has: a bound on the step sizes;
recombination (T. Bäck and H.-P. Schwefel, "An overview of evolutionary algorithms for parameter
optimization", Evolutionary Computation 1(1), 1993); openings, the same for all; a hall of fame
(C. D. Rosin and R. K. Belew, "New methods for competitive coevolution", Evolutionary Computation
5(1), 1997); and a league of the parents that the champion comes from.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from checkers_env.openings import TWO_MOVE
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics, tournament_metrics
from training.evolution.mutation import mutate, recombine
from training.evolution.state import Champion, Population, State, rng_from_json, rng_to_json
from training.evolution.tournament import PAIRINGS, Pairs, Payoff, best, run_tournament
from training.regimes.coevolution import Coevolution
from training.runtime.validation import validate_ranges

HALL, REIGNING = "hall", "reigning"
LEARNING_RANGES = {
    "step_limit": (0.0, 1e3),
    "mates": (1, 10_000),
    "hall": (0, 10_000),
    "league_every": (0, 1_000_000),
}


@dataclass(frozen=True)
class ExtendedCoevolution(Coevolution):
    """The constants of the method: those of coevolution, and its own."""

    results_version: ClassVar[int] = 1
    """Raise it when a change of code changes the results of a run."""

    step_limit: float = 0.0
    """Greatest step size; 0 for no limit."""
    mates: int = 1
    """Parents whose mean an offspring is mutated from: its own and others drawn; at most all."""
    openings: Literal["none", "two-move"] = "none"
    """two-move: in each generation as many cards as a network has games, the same for all."""
    return_games: bool = False
    """Whether all games are played a second time with colours changed."""
    hall: int = 0
    """Former champions, a random sample of all so far, that each network plays as Black."""
    league_every: int = 0
    """Generations between leagues of the parents and the reigning champion, whose winner reigns
    then; 0: the best of the last tournament is the champion."""

    def __post_init__(self) -> None:
        super().__post_init__()
        validate_ranges(self, LEARNING_RANGES, {"openings": ("none", "two-move")})

    @property
    def games(self) -> int:
        """Games in a generation, those of leagues shared out among the generations."""
        league = self.parents * (self.parents + 1) / self.league_every if self.league_every else 0
        return len(self.fixtures(np.random.default_rng(0))[0]) + round(league)

    def init(self, seed: int) -> State:
        """The first parents, who are the first hall of fame too; one of them reigns."""
        state = super().init(seed)
        extra = stored(HALL, state.population.pick(np.arange(self.hall) % self.parents))
        extra |= stored(REIGNING, state.population.pick([0]))
        return replace(state, extra=state.extra | extra)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """One generation: replication, tournament, selection, and perhaps a league."""
        rng, generation, extra = rng_from_json(state.rng), state.generation + 1, state.extra
        shape, hall = self.shape(extra), kept(HALL, extra)
        everyone = self.with_offspring(shape, state.population, rng)
        pairs, cards = self.fixtures(rng)
        payoff = Payoff(self.win, self.draw, self.loss)
        players = self.players(shape, everyone.join(hall))
        games, scores = run_tournament(
            players, pairs, self.rules, payoff, self.both_score, runner, openings=cards
        )
        scores = scores[: everyone.size]
        measured = tournament_metrics([game.result for game in games], scores)
        chosen = best(scores, self.parents, rng)
        survivors, scores = everyone.pick(chosen), scores[chosen]
        if self.hall:
            extra = extra | stored(HALL, sampled(hall, survivors.pick([0]), generation, rng))
        if self.league_every and generation % self.league_every == 0:
            members = survivors.join(kept(REIGNING, extra))
            extra = extra | stored(REIGNING, self.winner(shape, members, runner, rng))
        return State(generation, survivors, scores, rng_to_json(rng), extra), measured

    def with_offspring(
        self, shape: Any, parents: Population, rng: np.random.Generator
    ) -> Population:
        """The parents, then as many offspring."""
        offspring = mutate(
            recombine(parents, self.mates, rng) if self.mates > 1 else parents,
            shape.weight_count,
            self.king_rule,
            rng,
            self_adaptive=self.self_adaptive,
            step_limit=self.step_limit or np.inf,
        )
        return parents.join(offspring)

    def fixtures(self, rng: np.random.Generator) -> tuple[Pairs, list[str | None]]:
        """Black and White of each game of a generation, and its opening.

        The members' numbers are followed by those of the hall of fame. What a network plays as
        Black stands together.
        """
        members = 2 * self.parents
        pairs = PAIRINGS[self.pairing](members, self.opponents, rng)
        pairs += itertools.product(range(members), range(members, members + self.hall))
        pairs.sort(key=lambda pair: pair[0])
        cards: list[str | None] = [None] * len(pairs)
        if self.openings != "none":
            drawn = np.resize(rng.permutation(TWO_MOVE), len(pairs) // members)
            cards = drawn.tolist() * members
        return (both_ways(pairs), cards * 2) if self.return_games else (pairs, cards)

    def winner(
        self, shape: Any, members: Population, runner: GameRunner, rng: np.random.Generator
    ) -> Population:
        """The best of a league: each pair with both colours of a card drawn for it."""
        pairs = list(itertools.combinations(range(members.size), 2))
        cards = rng.choice(TWO_MOVE, len(pairs)).tolist() * 2
        payoff, players = Payoff(self.win, self.draw, self.loss), self.players(shape, members)
        _, scores = run_tournament(
            players, both_ways(pairs), self.rules, payoff, True, runner, openings=cards
        )
        return members.pick(best(scores, 1, rng))

    def champion(self, state: State) -> Champion:
        """Who reigns; without leagues the best of the last tournament."""
        if not self.league_every:
            return super().champion(state)
        return super().champion(replace(state, population=kept(REIGNING, state.extra)))


def both_ways(pairs: Pairs) -> Pairs:
    """The pairs, then all of them with colours changed."""
    return pairs + [(white, black) for black, white in pairs]


def sampled(
    hall: Population, champion: Population, generation: int, rng: np.random.Generator
) -> Population:
    """The hall of fame after a generation: every champion so far has an equal chance to be in it.

    J. S. Vitter, "Random sampling with a reservoir", ACM Trans. Math. Software 11(1), 1985.
    """
    place = int(rng.integers(hall.size + generation))
    return hall.put(place, champion) if place < hall.size else hall


def stored(name: str, members: Population) -> dict[str, Any]:
    """Members as arrays for a checkpoint."""
    return {f"{name}-{part}": array for part, array in vars(members).items()}


def kept(name: str, extra: dict[str, Any]) -> Population:
    """What :func:`stored` has stored."""
    return Population(*(extra[f"{name}-{part}"] for part in ("genomes", "steps", "kings")))
