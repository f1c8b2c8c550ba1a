"""Evolution strategies in self-play: the mean of a distribution of networks learns.

A generation samples mirrored pairs of networks about the mean, m + s e and m - s e. The two of a
pair play each other, once with each colour. Their scores estimate the gradient along e, and all
pairs together move the mean: by OpenAI-ES (T. Salimans, J. Ho, X. Chen, S. Sidor and I. Sutskever,
"Evolution strategies as a scalable alternative to reinforcement learning", arXiv:1703.03864, 2017)
with the steps of Adam (D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR
2015), or by the separable CMA-ES (R. Ros and N. Hansen, "A simple modification in CMA-ES achieving
linear time and space complexity", PPSN X, 2008) of the library cmaes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from agents.architectures import WITHOUT_OPTIONS, Encoding
from agents.search.player import AlphaBeta
from agents.search.workspace import MAX_DEPTH
from checkers_env.openings import TWO_MOVE
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics, population_metrics, tournament_metrics
from training.evolution.mutation import KING_LEAST, KING_MOST
from training.evolution.state import Champion, State, rng_from_json, rng_to_json
from training.evolution.tournament import both_ways
from training.regimes import make_champion, register
from training.regimes.tournament_play import TournamentRegime
from training.runtime.validation import NoEffectWith, OneOf, Range, validate_ranges

Tell = Callable[[NDArray[np.float64]], dict[str, NDArray[Any]]]

READS_KING = NoEffectWith(network=WITHOUT_OPTIONS.where(lambda entry: not entry.reads_king))
OF_OPENAI_ES = NoEffectWith(strategy=("sep-cma-es",))
BETA1, BETA2, EPS = 0.9, 0.999, 1e-8  # of Adam


@register
@dataclass(frozen=True)
class EvolutionStrategy(TournamentRegime):
    """Constants of the method."""

    kind: ClassVar[str] = "evolution-strategy"
    results_version: ClassVar[int] = 1

    network: Annotated[str, OneOf(WITHOUT_OPTIONS)] = "blondie24-2001-unsaturated"
    """Evolved network: blondie24-2001-unsaturated, blondie24-2001, blondie24-1999 ..."""
    strategy: Literal["openai-es", "sep-cma-es"] = "sep-cma-es"
    """Update of the mean."""
    pairs: Annotated[int, Range(2, 10_000)] = 75
    """Mirrored pairs of networks in a generation; each plays two games."""
    sigma: Annotated[float, Range(1e-6, 1e3)] = 0.1
    """s, the networks' distance from the mean (for sep-cma-es the first one: it adapts it)."""
    rate: Annotated[float, Range(0.0, 1e3), OF_OPENAI_ES] = 0.01
    """Adam's step size (openai-es)."""
    half_at: Annotated[float, Range(0.0, 1e9), OF_OPENAI_ES] = 0.0
    """Generations after which the rate has halved, as rate / (1 + generation / this); 0: never."""
    openings: Literal["none", "two-move"] = "two-move"
    """Opening of each pair's games: a random card of its own, or the start position."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 4
    """Plies of the search."""
    root_perspective: bool = True
    """Judge leaves from the searching player's side (the papers), or from the side to move."""
    max_moves: Annotated[int, Range(2, 100_000)] = 100
    """Moves by each side after which a game is drawn."""
    weight: Annotated[float, Range(0.0, 1e3)] = 0.2
    """First weights of the mean are uniform in [-weight, weight]."""
    king: Annotated[float, Range(KING_LEAST, KING_MOST), READS_KING] = 1.5
    """K, the worth of a king."""

    parents = 1
    win, draw, loss = 1.0, 0.0, -1.0  # zero-sum: the scores of a pair cancel out
    both_score = True

    def __post_init__(self) -> None:
        validate_ranges(self)

    @property
    def games(self) -> int:
        """Games in a generation."""
        return 2 * self.pairs

    def rate_at(self, generation: int) -> float:
        """Return the rate after some generations."""
        return self.rate / (1 + generation / self.half_at) if self.half_at else self.rate

    def init(self, seed: int) -> State:
        """Sample the mean."""
        rng = np.random.default_rng(seed)
        encoding = Encoding(self.network)
        mean = rng.uniform(-self.weight, self.weight, encoding.genome_size)
        if encoding.architecture.initial is not None:
            mean[: encoding.size] += encoding.architecture.initial
        return State(0, rng_to_json(rng), {"mean": mean, "steps": np.full(mean.shape, self.sigma)})

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Sample pairs about the mean, play their games and move the mean."""
        rng, mean = rng_from_json(state.rng), state.arrays["mean"]
        moves, tell = STRATEGIES[self.strategy](self, state, rng)
        numbers = np.arange(self.pairs)
        duels = list(zip(numbers.tolist(), (numbers + self.pairs).tolist(), strict=True))
        cards: list[str | None] = [None] * self.pairs
        if self.openings != "none":
            cards = rng.choice(TWO_MOVE, self.pairs).tolist()
        players = self.players(np.concatenate([mean + moves, mean - moves]))
        games, scores = self.play(players, both_ways(duels), runner, rng, cards * 2)
        arrays = tell(scores[: self.pairs])  # the other's score is the negative
        metrics = tournament_metrics([game.result for game in games], scores)
        return State(state.generation + 1, rng_to_json(rng), arrays), metrics

    def metrics(self, state: State) -> Metrics:
        """Summarise the mean and the step sizes."""
        arrays = state.arrays
        return population_metrics(arrays["mean"], np.full(1, self.king), arrays["steps"])

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the mean."""
        options = self.search_options
        mean = state.arrays["mean"]
        return make_champion(self, state, self.network, mean, self.king, search_options=options)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """Return the mean as a player."""
        return self.players(state.arrays["mean"][None])

    def players(self, genomes: NDArray[np.float64]) -> list[AlphaBeta]:
        """Return networks, shape (members, genome_size), as players."""
        kings = np.full(len(genomes), self.king)
        return self.make_players(Encoding(self.network), genomes, kings)


def openai_es(
    regime: EvolutionStrategy, state: State, rng: np.random.Generator
) -> tuple[NDArray[np.float64], Tell]:
    """Sample moves away from the mean by OpenAI-ES, shape (pairs, genome_size).

    The estimated gradient is the mean of the moves, each weighted by its score; Adam follows it.
    The second result turns scores, shape (pairs,), into the next state's arrays.
    """
    mean, steps = state.arrays["mean"], state.arrays["steps"]
    moves = steps * rng.standard_normal((regime.pairs, len(mean)))
    first, second = (
        state.arrays.get(name, np.zeros_like(mean)) for name in ("momentum", "squares")
    )

    def tell(scores: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        gradient, count = (scores[:, None] * moves / steps).mean(axis=0), state.generation + 1
        momentum = BETA1 * first + (1 - BETA1) * gradient
        squares = BETA2 * second + (1 - BETA2) * gradient**2
        unbiased = np.sqrt(squares / (1 - BETA2**count)) + EPS
        step = regime.rate_at(state.generation) * momentum / (1 - BETA1**count) / unbiased
        return {"mean": mean + step, "steps": steps, "momentum": momentum, "squares": squares}

    return moves, tell


def sep_cma_es(
    regime: EvolutionStrategy, state: State, rng: np.random.Generator
) -> tuple[NDArray[np.float64], Tell]:
    """Sample moves as :func:`openai_es`, by the separable CMA-ES with two solutions a pair."""
    from cmaes import SepCMA  # takes half a second, with all of scipy.stats

    mean = state.arrays["mean"]
    optimiser = SepCMA(mean.copy(), regime.sigma, population_size=regime.games)
    saved = {name: state.arrays[name] for name in CMA_ARRAYS if name in state.arrays}
    if saved:
        scalars = {"_sigma": float(state.arrays["_sigma"][0]), "_g": state.generation}
        optimiser.__setstate__(optimiser.__getstate__() | saved | scalars)
    optimiser.reseed_rng(int(rng.integers(2**32)))
    moves = np.array([optimiser.ask() - mean for _ in range(regime.pairs)])

    def tell(scores: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        solutions = []  # with equal scores the two of a pair cancel out
        for move, score in zip(moves, scores.tolist(), strict=True):
            solutions += [(mean + move, -score), (mean - move, score)]
        optimiser.tell(solutions)
        internal = optimiser.__getstate__()
        return {
            "mean": optimiser.mean,
            "steps": internal["_sigma"] * np.sqrt(internal["_C"]),
            "_sigma": np.full(1, internal["_sigma"]),
            **{name: internal[name].copy() for name in CMA_ARRAYS},
        }

    return moves, tell


CMA_ARRAYS = ("_C", "_pc", "_p_sigma")  # attributes of the library's optimiser
STRATEGIES = {"openai-es": openai_es, "sep-cma-es": sep_cma_es}
