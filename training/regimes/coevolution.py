"""Coevolution of Blondie24.

K. Chellapilla and D. B. Fogel, "Evolving neural networks to play checkers without relying on
expert knowledge", IEEE Trans. Neural Networks 10(6), 1999; "Evolving an expert checkers playing
program without using human expertise", IEEE Trans. Evolutionary Computation 5(4), 2001;
B. Al-Khateeb's thesis (Nottingham, 2011), Algorithm 3.1 (player C0).

Fifteen parents make fifteen offspring. Each of the thirty plays Black in five games against random
others, and both players score +1, 0 or -2. The fifteen best are the next parents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from agents.architectures import EVOLVABLE, Encoding, find_encoding, sample_options
from agents.search.player import AlphaBeta
from agents.search.workspace import MAX_DEPTH
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics, population_metrics, tournament_metrics
from training.evolution.mutation import KING_LEAST, KING_MOST, mutate
from training.evolution.state import (
    Arrays,
    Champion,
    Population,
    State,
    rng_from_json,
    rng_to_json,
)
from training.evolution.tournament import PAIRINGS, best
from training.regimes import make_champion, register
from training.regimes.tournament_play import PAYOFFS, TournamentRegime
from training.runtime.validation import NoEffectWith, OneOf, Range, validate_ranges

READS_KING = NoEffectWith(network=EVOLVABLE.where(lambda entry: not entry.reads_king))
TAKES_DIFFERENCE = NoEffectWith(network=EVOLVABLE.where(lambda entry: not entry.takes_difference))


@register
@dataclass(frozen=True)
class Coevolution(TournamentRegime):
    """Constants of the method."""

    kind: ClassVar[str] = "coevolution"
    results_version: ClassVar[int] = 1

    network: Annotated[str, OneOf(EVOLVABLE)] = "blondie24-2001"
    """Architecture: a network (blondie24-1999, blondie24-2001 ...), weighted-pieces, samuel, tables
    of n-tuples (walks-5, table-6.1, singles ...; with -sum: without tanh), or your own."""
    parents: Annotated[int, Range(1, 10_000)] = 15
    """Networks that survive a generation; each has one offspring."""
    pairing: Literal["random", "round-robin", "common"] = "random"
    """Opponents: random for each network, all others (thesis 4.2), or the same for all (Miconi)."""
    opponents: Annotated[int, Range(1, 10_000), NoEffectWith(pairing=("round-robin",))] = 5
    """Games of each network as Black in a generation (not in a round robin)."""
    win: Annotated[float, PAYOFFS] = 1.0
    """Payoff of a won game."""
    draw: Annotated[float, PAYOFFS] = 0.0
    """Payoff of a drawn game."""
    loss: Annotated[float, PAYOFFS] = -2.0
    """Payoff of a lost game."""
    both_score: bool = True
    """Whether White scores too (the thesis), or Black only (as Skycak reads the papers)."""
    piece_difference: Annotated[bool, TAKES_DIFFERENCE] = True
    """Whether the networks have the weight from the piece difference to the output (thesis 7.3)."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 4
    """Plies of the search."""
    root_perspective: bool = True
    """Judge leaves from the searching player's side (the papers), or from the side to move."""
    max_moves: Annotated[int, Range(1, 100_000)] = 100
    """Moves by each side after which a game is drawn."""
    all_random: bool = False
    """Whether all of the first tournament are random (the thesis), or half are offspring."""
    weight: Annotated[float, Range(0.0, 1e3)] = 0.2
    """First weights are uniform in [-weight, weight]."""
    step_size: Annotated[float, Range(0.0, 1e3)] = 0.05
    """First step size of every weight."""
    self_adaptive: bool = True
    """Whether step sizes mutate too; otherwise they stay the same (thesis, equation 6.1)."""
    king: Annotated[float, Range(KING_LEAST, KING_MOST), READS_KING] = 1.5
    """First K, the worth of a king."""
    king_rule: Annotated[Literal["lognormal", "tenths", "fixed"], READS_KING] = "tenths"
    """Mutation of K: K exp(N(0,1)/sqrt 2) (1999), by -0.1, 0 or 0.1 (2001), none (thesis)."""

    def __post_init__(self) -> None:
        validate_ranges(self)
        if self.pairing == "common" and self.opponents >= 2 * self.parents:
            raise ValueError(f"opponents must be fewer than the {2 * self.parents} networks")

    @property
    def games(self) -> int:
        """Games in a generation."""
        pairs = PAIRINGS[self.pairing](2 * self.parents, self.opponents, np.random.default_rng(0))
        return len(pairs)

    def init(self, seed: int) -> State:
        """Sample the first parents, or the first tournament."""
        rng = np.random.default_rng(seed)
        options = sample_options(self.network, rng)
        members = self.first_members(self.encoding(options), rng)
        return self.next_state(0, members, np.zeros(members.size), rng, options)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Replicate, play the tournament and select."""
        rng = rng_from_json(state.rng)
        encoding = self.encoding(state.arrays)
        members = self.entrants(encoding, state.population, rng)
        scores, metrics = self.tournament(encoding, members, runner, rng)
        chosen = best(scores, self.parents, rng)
        survivors, scores = members.pick(chosen), scores[chosen]
        return self.next_state(state.generation + 1, survivors, scores, rng, state.arrays), metrics

    def next_state(
        self,
        generation: int,
        members: Population,
        scores: NDArray[np.float64],
        rng: np.random.Generator,
        arrays: Arrays,
    ) -> State:
        """Build a state of a population, its scores, shape (members,), and other arrays."""
        arrays = {**arrays, **members.to_arrays(), "scores": scores}
        return State(generation, rng_to_json(rng), arrays)

    def encoding(self, arrays: Arrays) -> Encoding:
        """Return the encoding of the genomes (:mod:`agents.architectures`)."""
        return find_encoding(self.network, arrays)

    def first_members(self, encoding: Encoding, rng: np.random.Generator) -> Population:
        """Sample the parents, or twice as many for the first tournament."""
        return self.random_members(encoding, self.parents * (1 + self.all_random), rng)

    def random_members(
        self, encoding: Encoding, members: int, rng: np.random.Generator
    ) -> Population:
        """Sample a population of the regime's network."""
        size = members, encoding.genome_size
        genomes = rng.uniform(-self.weight, self.weight, size)
        sample = Population(genomes, np.full(size, self.step_size), np.full(members, self.king))
        architecture = encoding.architecture
        if architecture.initial is not None:
            sample.genomes[:, : encoding.size] += architecture.initial
        if architecture.difference != "none":
            difference = architecture.fixed_difference if self.piece_difference else 0.0
            if difference is not None:  # a weight whose step size is 0 never changes
                sample.genomes[:, -1], sample.steps[:, -1] = difference, 0.0
        return sample

    def entrants(
        self, encoding: Encoding, members: Population, rng: np.random.Generator
    ) -> Population:
        """Return all members of the first tournament, or the parents with their offspring."""
        if members.size > self.parents:
            return members
        return self.with_offspring(encoding, members, rng)

    def with_offspring(
        self, encoding: Encoding, parents: Population, rng: np.random.Generator
    ) -> Population:
        """Return the parents followed by one offspring of each."""
        return parents.join(self.offspring(encoding, parents, rng))

    def offspring(
        self, encoding: Encoding, parents: Population, rng: np.random.Generator
    ) -> Population:
        """Mutate each parent."""
        count, adaptive = encoding.weight_count, self.self_adaptive
        return mutate(parents, count, self.king_rule, rng, self_adaptive=adaptive)

    def tournament(
        self, encoding: Encoding, members: Population, runner: GameRunner, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], Metrics]:
        """Play the games of a generation; return scores, shape (members,), and metrics."""
        pairs = PAIRINGS[self.pairing](members.size, self.opponents, rng)
        games, scores = self.play(self.players(encoding, members), pairs, runner, rng)
        return scores, tournament_metrics([game.result for game in games], scores)

    def metrics(self, state: State) -> Metrics:
        """Summarise the parents."""
        parents = state.population.pick(slice(self.parents))
        return population_metrics(parents.genomes, parents.kings, parents.steps)

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the best of the last tournament, or another survivor."""
        score = float(state.scores[member])
        return self.champion_of(state, state.population.pick([member]), score)

    def champion_of(self, state: State, member: Population, score: float = 0.0) -> Champion:
        """Return the content of the weight file of a population's only member."""
        encoding, king = self.encoding(state.arrays), float(member.kings[0])
        genome, options = encoding.decode(member.genomes[0])
        own = {"options": options, "search_options": self.search_options}
        return make_champion(self, state, encoding.stored_as, genome, king, score=score, **own)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """Return the parents as players, the champion first."""
        return self.players(self.encoding(state.arrays), state.population.pick(slice(self.parents)))

    def players(self, encoding: Encoding, population: Population) -> list[AlphaBeta]:
        """Return the members as players."""
        return self.make_players(encoding, population.genomes, population.kings)
