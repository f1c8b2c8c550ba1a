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

from dataclasses import dataclass
from typing import Literal

import numpy as np

from agents.alphabeta import AlphaBeta
from agents.blondie.genome import ARCHITECTURES, Architecture, decode
from agents.play import DrawRules
from agents.workspace import MAX_DEPTH
from training.arena import Arena, Fixture
from training.metrics import Metrics, of_results
from training.population import Population, random_population
from training.selection import best
from training.state import State, generator, remembered
from training.tournament import Payoff, random_opponents, total_scores
from training.variation import KING_LEAST, KING_MOST, KING_RULES, mutate

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

    network: Literal["blondie24-1999", "blondie24-2001"] = "blondie24-2001"
    """Which network is evolved."""
    parents: int = 15
    """Networks that survive a generation; each has one offspring."""
    opponents: int = 5
    """Games that each network plays as Black in a generation."""
    win: float = 1.0
    """Payoff of a won game."""
    draw: float = 0.0
    """Payoff of a drawn game."""
    loss: float = -2.0
    """Payoff of a lost game."""
    both_score: bool = True
    """Whether White scores too (the thesis), or Black only (as Skycak reads the papers)."""
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
    king: float = 1.5
    """First K, the worth of a king."""
    king_rule: Literal["lognormal", "tenths", "fixed"] = "tenths"
    """How K is mutated: K exp(N(0,1)/sqrt 2) (1999), by -0.1, 0 or 0.1 (2001), not (thesis)."""

    def __post_init__(self) -> None:
        for name, known in (("network", ARCHITECTURES), ("king_rule", KING_RULES)):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(f"{name} must be {least} to {most}, not {value}")

    @property
    def shape(self) -> Architecture:
        """The network's architecture."""
        return ARCHITECTURES[self.network]

    @property
    def rules(self) -> DrawRules:
        """When the games of the tournament are drawn."""
        return DrawRules(self.max_moves)

    @property
    def games(self) -> int:
        """Games in a generation."""
        return 2 * self.parents * self.opponents

    def init(self, seed: int) -> State:
        """The first parents."""
        rng = np.random.default_rng(seed)
        population = random_population(
            self.shape, self.parents, self.weight, self.step_size, self.king, rng
        )
        return State(0, population, np.zeros(self.parents), remembered(rng))

    def step(self, state: State, arena: Arena) -> tuple[State, Metrics]:
        """One generation: replication, tournament, selection."""
        rng = generator(state.rng)
        offspring = mutate(state.population, self.shape.weight_count, self.king_rule, rng)
        everyone = state.population.join(offspring)
        pairs = random_opponents(everyone.size, self.opponents, rng)
        players = self.players(everyone)
        fixtures = [Fixture(players[black], players[white]) for black, white in pairs]
        results = arena.play(fixtures, self.rules)
        payoff = Payoff(self.win, self.draw, self.loss)
        scores = total_scores(results, pairs, everyone.size, payoff, self.both_score)
        survivors = best(scores, self.parents, rng)
        after = State(
            state.generation + 1, everyone.pick(survivors), scores[survivors], remembered(rng)
        )
        return after, of_results(results, scores)

    def players(self, population: Population) -> list[AlphaBeta]:
        """The members as players."""
        return [
            AlphaBeta(decode(self.shape, genome, king), self.depth, False, self.own_leaves)
            for genome, king in zip(population.genomes, population.kings, strict=True)
        ]
