"""Coevolution of Blondie24.

K. Chellapilla and D. B. Fogel, "Evolving neural networks to play checkers without relying on
expert knowledge", IEEE Trans. Neural Networks 10(6), 1999; "Evolving an expert checkers playing
program without using human expertise", IEEE Trans. Evolutionary Computation 5(4), 2001;
B. Al-Khateeb's thesis (Nottingham, 2011), Algorithm 3.1 (player C0).

Fifteen parents make fifteen offspring. Each of the thirty plays Black in five games against others
drawn at random; both players score +1, 0 or -2; the fifteen with the highest scores are the next
parents.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from agents.architectures import NTUPLE, SHAPES, tables
from agents.ntuple.tuples import DRAWINGS, as_drawing, as_matrix, draw
from agents.search.player import AlphaBeta
from agents.search.workspace import MAX_DEPTH
from agents.weights import WeightsMetadata
from checkers_env.state import DrawRules
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics, tournament_metrics
from training.evolution.mutation import KING_LEAST, KING_MOST, KING_RULES, mutate
from training.evolution.state import (
    Champion,
    Population,
    State,
    make_players,
    random_population,
    rng_from_json,
    rng_to_json,
)
from training.evolution.tournament import PAIRINGS, Payoff, best, run_tournament
from training.runtime.validation import validate_ranges

CHOICES: dict[str, Collection[str]] = {
    "network": (
        "blondie24-1999",
        "blondie24-2001",
        "blondie24-2001-unsaturated",
        "weighted-pieces",
        *DRAWINGS,
    ),
    "pairing": PAIRINGS,
    "king_rule": KING_RULES,
}
RANGES = {
    "parents": (1, 10_000),
    "opponents": (1, 10_000),
    "depth": (1, MAX_DEPTH),
    "max_moves": (1, 100_000),
    "win": (-1e6, 1e6),
    "draw": (-1e6, 1e6),
    "loss": (-1e6, 1e6),
    "weight": (0.0, 1e3),
    "step_size": (0.0, 1e3),
    "king": (KING_LEAST, KING_MOST),
}


@dataclass(frozen=True)
class Coevolution:
    """The constants of the method."""

    results_version: ClassVar[int] = 1
    """Raise it when a change of code changes the results of a run."""

    network: str = "blondie24-2001"
    """What is evolved: blondie24-1999, blondie24-2001 (or -unsaturated), weighted-pieces, or the
    tables of n-tuples on the squares that td.py knows: walks-5 (drawn anew), table-6.1, singles ...
    """
    parents: int = 15
    """Networks that survive a generation; each has one offspring."""
    pairing: Literal["random", "round-robin", "common"] = "random"
    """Opponents drawn for each network, all others (thesis 4.2), or the same for all (Miconi)."""
    opponents: int = 5
    """Games that each network plays as Black in a generation (not in a round robin)."""
    win: float = 1.0
    """Payoff of a won game."""
    draw: float = 0.0
    """Payoff of a drawn game."""
    loss: float = -2.0
    """Payoff of a lost game."""
    both_score: bool = True
    """Whether White scores too (the thesis), or Black only (as Skycak reads the papers)."""
    piece_difference: bool = True
    """Whether the networks have the weight from the piece difference to the output (thesis 7.3)."""
    depth: int = 4
    """Plies of the search."""
    own_leaves: bool = True
    """Judge leaves from the searching player's side (the papers), or from the side to move."""
    max_moves: int = 100
    """Moves by each side after which a game is drawn."""
    weight: float = 0.2
    """First weights are uniform in [-weight, weight]."""
    step_size: float = 0.05
    """First step size of every weight."""
    self_adaptive: bool = True
    """Whether the step sizes are mutated too; otherwise they stay (n-tuples, thesis 6.1)."""
    king: float = 1.5
    """First K, the worth of a king."""
    king_rule: Literal["lognormal", "tenths", "fixed"] = "tenths"
    """How K is mutated: K exp(N(0,1)/sqrt 2) (1999), by -0.1, 0 or 0.1 (2001), not (thesis)."""

    def __post_init__(self) -> None:
        validate_ranges(self, RANGES, CHOICES)
        if self.pairing == "common" and self.opponents >= 2 * self.parents:
            raise ValueError(f"opponents must be fewer than the {2 * self.parents} networks")

    @property
    def rules(self) -> DrawRules:
        """When the games of the tournament are drawn."""
        return DrawRules(self.max_moves)

    @property
    def games(self) -> int:
        """Games in a generation."""
        drawn = PAIRINGS[self.pairing](2 * self.parents, self.opponents, np.random.default_rng(0))
        return len(drawn)

    def init(self, seed: int) -> State:
        """The first parents."""
        rng = np.random.default_rng(seed)
        extra = self.drawn(rng)
        parents = self.newcomers(self.shape(extra), self.parents, rng)
        return State(0, parents, np.zeros(self.parents), rng_to_json(rng), extra)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """One generation: replication, tournament, selection."""
        rng = rng_from_json(state.rng)
        shape = self.shape(state.extra)
        everyone = self.with_offspring(shape, state.population, rng)
        scores, measured = self.tournament(shape, everyone, runner, rng)
        chosen = best(scores, self.parents, rng)
        survivors, scores = everyone.pick(chosen), scores[chosen]
        return State(
            state.generation + 1, survivors, scores, rng_to_json(rng), state.extra
        ), measured

    def drawn(self, rng: np.random.Generator) -> dict[str, Any]:
        """What is drawn once for a run: the squares of n-tuples."""
        if self.network not in DRAWINGS:
            return {}
        return {"drawing": as_matrix(draw(self.network, rng))}

    def shape(self, extra: dict[str, Any]) -> Any:
        """The shape of the genomes (agents.architectures)."""
        if self.network not in DRAWINGS:
            return SHAPES[self.network]
        return tables(as_drawing(extra["drawing"]))

    def newcomers(self, shape: Any, members: int, rng: np.random.Generator) -> Population:
        """New random networks."""
        made = random_population(
            shape.genome_size, members, self.weight, self.step_size, self.king, rng
        )
        difference = shape.difference if self.piece_difference else 0.0
        if difference is not None:  # what has a step size of 0 stays as it is
            made.genomes[:, -1], made.steps[:, -1] = difference, 0.0
        return made

    def with_offspring(
        self, shape: Any, parents: Population, rng: np.random.Generator
    ) -> Population:
        """The parents, then one offspring of each."""
        count, adaptive = shape.weight_count, self.self_adaptive
        return parents.join(mutate(parents, count, self.king_rule, rng, self_adaptive=adaptive))

    def tournament(
        self, shape: Any, everyone: Population, runner: GameRunner, rng: np.random.Generator
    ) -> tuple[Any, Metrics]:
        """Each member's score (float64[members]), and what there is to say of the games."""
        pairs = PAIRINGS[self.pairing](everyone.size, self.opponents, rng)
        payoff = Payoff(self.win, self.draw, self.loss)
        players = self.players(shape, everyone)
        games, scores = run_tournament(players, pairs, self.rules, payoff, self.both_score, runner)
        return scores, tournament_metrics([game.result for game in games], scores)

    def champion(self, state: State) -> Champion:
        """The best of the last tournament."""
        genome, king = state.population.genomes[0], float(state.population.kings[0])
        if self.network not in DRAWINGS:
            return Champion(self.network, genome, king)
        options = {"tuples": self.shape(state.extra).drawing, "difference": float(genome[-1])}
        return Champion(NTUPLE, genome[:-1], king, options)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """The parents as players, the champion first."""
        return self.players(self.shape(state.extra), state.population.pick(slice(self.parents)))

    def files(self, state: State, metadata: WeightsMetadata) -> dict[str, bytes]:
        """Files of the regime's own to keep with a run, by name: none."""
        return {}

    def players(self, shape: Any, population: Population) -> list[AlphaBeta]:
        """The members as players."""
        return make_players(shape, population, self.depth, self.own_leaves)
