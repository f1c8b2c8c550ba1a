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
from typing import Any, Literal

import numpy as np

from agents.alphabeta import AlphaBeta
from agents.play import DrawRules
from agents.shapes import SHAPES
from agents.workspace import MAX_DEPTH
from training.arena import Arena
from training.metrics import Metrics, of_results
from training.population import Population, players_of, random_population
from training.ranges import check
from training.selection import best
from training.state import Champion, State, generator, remembered
from training.tournament import PAIRINGS, Payoff, hold
from training.variation import KING_LEAST, KING_MOST, KING_RULES, mutate

NETWORKS = ("blondie24-1999", "blondie24-2001", "weighted-pieces", "5-tuples", "1-tuples")
CHOICES: dict[str, Collection[str]] = {
    "network": NETWORKS,
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

    network: Literal[
        "blondie24-1999", "blondie24-2001", "weighted-pieces", "5-tuples", "1-tuples"
    ] = "blondie24-2001"
    """What is evolved: a network, the weights of a piece counter, or the tables of n-tuples."""
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
        check(self, RANGES, CHOICES)
        if self.pairing == "common" and self.opponents >= 2 * self.parents:
            raise ValueError(f"opponents must be fewer than the {2 * self.parents} networks")

    @property
    def shape(self) -> Any:
        """The shape of the genomes (agents.shapes)."""
        return SHAPES[self.network]

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
        return State(0, self.newcomers(self.parents, rng), np.zeros(self.parents), remembered(rng))

    def step(self, state: State, arena: Arena) -> tuple[State, Metrics]:
        """One generation: replication, tournament, selection."""
        rng = generator(state.rng)
        everyone = self.with_offspring(state.population, rng)
        scores, measured = self.tournament(everyone, arena, rng)
        survivors = best(scores, self.parents, rng)
        after = State(
            state.generation + 1, everyone.pick(survivors), scores[survivors], remembered(rng)
        )
        return after, measured

    def newcomers(self, members: int, rng: np.random.Generator) -> Population:
        """New random networks."""
        shape = self.shape
        made = random_population(
            shape.genome_size, members, self.weight, self.step_size, self.king, rng
        )
        difference = shape.difference if self.piece_difference else 0.0
        if difference is not None:  # what has a step size of 0 stays as it is
            made.genomes[:, -1], made.steps[:, -1] = difference, 0.0
        return made

    def with_offspring(self, parents: Population, rng: np.random.Generator) -> Population:
        """The parents, then one offspring of each."""
        count = self.shape.weight_count
        offspring = mutate(parents, count, self.king_rule, rng, self_adaptive=self.self_adaptive)
        return parents.join(offspring)

    def tournament(
        self, everyone: Population, arena: Arena, rng: np.random.Generator
    ) -> tuple[Any, Metrics]:
        """Each member's score (float64[members]), and what there is to say of the games."""
        pairs = PAIRINGS[self.pairing](everyone.size, self.opponents, rng)
        payoff = Payoff(self.win, self.draw, self.loss)
        games, scores = hold(
            self.players(everyone), pairs, self.rules, payoff, self.both_score, arena
        )
        return scores, of_results([game.result for game in games], scores)

    def champion(self, state: State) -> Champion:
        """The best of the last tournament."""
        best_one = state.population
        return Champion(self.network, best_one.genomes[0], float(best_one.kings[0]))

    def contenders(self, state: State) -> list[AlphaBeta]:
        """The parents as players, the champion first."""
        return self.players(state.population.pick(slice(self.parents)))

    def tables(self, state: State) -> dict[str, dict[str, Any]]:
        """Tables of the regime's own to keep with a run: names, and columns by their headings."""
        return {}

    def players(self, population: Population) -> list[AlphaBeta]:
        """The members as players."""
        return players_of(self.shape, population, self.depth, self.own_leaves)
