"""Evolution strategies in self-play: the mean of a distribution of networks learns, not a network.

A generation draws mirrored pairs of networks about the mean, m + s e and m - s e; the two of a pair
play each other, once with each colour. What they score says which way is up along e, and all of
it moves the mean: by OpenAI-ES (T. Salimans, J. Ho, X. Chen, S. Sidor and I. Sutskever, "Evolution
strategies as a scalable alternative to reinforcement learning", arXiv:1703.03864, 2017) with the
steps of Adam (D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015), or
by the separable CMA-ES (R. Ros and N. Hansen, "A simple modification in CMA-ES achieving linear
time and space complexity", PPSN X, 2008) of the library cmaes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from cmaes import SepCMA

from agents.architectures import SHAPES
from agents.blondie.architecture import ARCHITECTURES
from agents.search.player import AlphaBeta
from agents.search.workspace import MAX_DEPTH
from agents.weights import WeightsMetadata
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics, tournament_metrics
from training.evolution.mutation import KING_LEAST, KING_MOST
from training.evolution.state import (
    Champion,
    Population,
    State,
    make_players,
    rng_from_json,
    rng_to_json,
)
from training.evolution.tournament import Payoff, run_tournament
from training.runtime.validation import validate_ranges

Tell = Callable[[Any], tuple[Population, dict[str, Any]]]

MOMENTUM, SQUARES, TINY = 0.9, 0.999, 1e-8  # Adam's beta 1, beta 2 and epsilon
RANGES = {
    "pairs": (2, 10_000),
    "sigma": (1e-6, 1e3),
    "rate": (0.0, 1e3),
    "half_at": (0.0, 1e9),
    "depth": (1, MAX_DEPTH),
    "max_moves": (2, 100_000),
    "weight": (0.0, 1e3),
    "king": (KING_LEAST, KING_MOST),
}
CHOICES = {
    "network": ARCHITECTURES,
    "strategy": ("openai-es", "sep-cma-es"),
    "openings": ("none", "two-move"),
}


@dataclass(frozen=True)
class EvolutionStrategy:
    """The constants of the method."""

    results_version: ClassVar[int] = 1
    """Raise it when a change of code changes the results of a run."""

    network: str = "blondie24-2001-unsaturated"
    """What is evolved: blondie24-2001-unsaturated, blondie24-2001, blondie24-1999 ..."""
    strategy: Literal["openai-es", "sep-cma-es"] = "sep-cma-es"
    """How the mean moves."""
    pairs: int = 75
    """Mirrored pairs of networks in a generation; each plays two games."""
    sigma: float = 0.1
    """s, how far the networks are from the mean (at first, for sep-cma-es, which adapts it)."""
    rate: float = 0.01
    """Adam's step size (openai-es)."""
    half_at: float = 0.0
    """Generations after which the rate has halved, as rate / (1 + generation / this); 0: never."""
    openings: Literal["none", "two-move"] = "two-move"
    """Whether the games of each pair begin with a card drawn for them, or at the start."""
    depth: int = 4
    """Plies of the search."""
    own_leaves: bool = True
    """Judge leaves from the searching player's side (the papers), or from the side to move."""
    max_moves: int = 100
    """Moves by each side after which a game is drawn."""
    weight: float = 0.2
    """First weights of the mean are uniform in [-weight, weight]."""
    king: float = 1.5
    """K, the worth of a king."""

    parents = 1
    win, draw, loss = 1.0, 0.0, -1.0  # payoffs: what one of a pair wins the other loses
    both_score = True

    def __post_init__(self) -> None:
        validate_ranges(self, RANGES, CHOICES)

    @property
    def rules(self) -> DrawRules:
        """When games are drawn."""
        return DrawRules(self.max_moves)

    @property
    def games(self) -> int:
        """Games in a generation."""
        return 2 * self.pairs

    def rate_at(self, generation: int) -> float:
        """The rate after so many generations."""
        return self.rate / (1 + generation / self.half_at) if self.half_at else self.rate

    def init(self, seed: int) -> State:
        """A random mean."""
        rng = np.random.default_rng(seed)
        size = (1, SHAPES[self.network].genome_size)
        mean = rng.uniform(-self.weight, self.weight, size)
        population = Population(mean, np.full(size, self.sigma), np.full(1, self.king))
        return State(0, population, np.zeros(1), rng_to_json(rng))

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """One generation: pairs about the mean, their games, and where the mean goes."""
        rng, mean = rng_from_json(state.rng), state.population.genomes
        moves, tell = STRATEGIES[self.strategy](self, state, rng)
        numbers = np.arange(self.pairs)
        duels = list(zip(numbers.tolist(), (numbers + self.pairs).tolist(), strict=True))
        cards: list[str | None] = [None] * self.pairs
        if self.openings != "none":
            cards = rng.choice(TWO_MOVE, self.pairs).tolist()
        games, scores = run_tournament(
            self.players(np.concatenate([mean + moves, mean - moves])),
            duels + [(white, black) for black, white in duels],
            self.rules,
            Payoff(self.win, self.draw, self.loss),
            self.both_score,
            runner,
            openings=cards * 2,
        )
        population, extra = tell(scores[: self.pairs])  # the other's score is the negative
        measured = tournament_metrics([game.result for game in games], scores)
        return State(
            state.generation + 1, population, np.zeros(1), rng_to_json(rng), extra
        ), measured

    def champion(self, state: State) -> Champion:
        """The mean."""
        return Champion(self.network, state.population.genomes[0], self.king)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """The mean as a player."""
        return self.players(state.population.genomes)

    def files(self, state: State, metadata: WeightsMetadata) -> dict[str, bytes]:
        """Files of the regime's own to keep with a run, by name: none."""
        return {}

    def players(self, genomes: Any) -> list[AlphaBeta]:
        """Networks as players."""
        nothing, kings = np.zeros((len(genomes), 0)), np.full(len(genomes), self.king)
        members = Population(genomes, nothing, kings)
        return make_players(SHAPES[self.network], members, self.depth, self.own_leaves)


def openai_es(
    regime: EvolutionStrategy, state: State, rng: np.random.Generator
) -> tuple[Any, Tell]:
    """Moves away from the mean, float64[pairs, genome_size], and what to make of their scores.

    The estimated gradient is the mean of the moves, each weighed by its score; Adam follows it.
    """
    mean, steps = state.population.genomes, state.population.steps
    moves = steps * rng.standard_normal((regime.pairs, mean.shape[1]))
    nothing = np.zeros_like(mean)
    momentum, squares = (state.extra.get(name, nothing) for name in ("momentum", "squares"))

    def tell(scores: Any) -> tuple[Population, dict[str, Any]]:
        gradient, count = (scores[:, None] * moves / steps).mean(axis=0), state.generation + 1
        first = MOMENTUM * momentum + (1 - MOMENTUM) * gradient
        second = SQUARES * squares + (1 - SQUARES) * gradient**2
        unbiased = np.sqrt(second / (1 - SQUARES**count)) + TINY
        step = regime.rate_at(state.generation) * first / (1 - MOMENTUM**count) / unbiased
        extra = {"momentum": first, "squares": second}
        return Population(mean + step, steps, state.population.kings), extra

    return moves, tell


def sep_cma_es(
    regime: EvolutionStrategy, state: State, rng: np.random.Generator
) -> tuple[Any, Tell]:
    """The same by the separable CMA-ES, to which the two of a pair are two solutions."""
    mean = state.population.genomes[0]
    optimiser = SepCMA(mean.copy(), regime.sigma, population_size=regime.games)
    if state.extra:
        scalars = {"_sigma": float(state.extra["_sigma"][0]), "_g": state.generation}
        optimiser.__setstate__(optimiser.__getstate__() | state.extra | scalars)
    optimiser.reseed_rng(int(rng.integers(2**32)))
    moves = np.array([optimiser.ask() - mean for _ in range(regime.pairs)])

    def tell(scores: Any) -> tuple[Population, dict[str, Any]]:
        solutions = []  # of equal pairs the two stand together, and cancel out
        for move, score in zip(moves, scores.tolist(), strict=True):
            solutions += [(mean + move, -score), (mean - move, score)]
        optimiser.tell(solutions)
        held = optimiser.__getstate__()
        extra = {name: held[name].copy() for name in ("_C", "_pc", "_p_sigma")}
        extra["_sigma"] = np.full(1, held["_sigma"])
        steps = held["_sigma"] * np.sqrt(held["_C"])
        return Population(optimiser.mean[None], steps[None], state.population.kings), extra

    return moves, tell


STRATEGIES: dict[
    str, Callable[[EvolutionStrategy, State, np.random.Generator], tuple[Any, Tell]]
] = {"openai-es": openai_es, "sep-cma-es": sep_cma_es}
