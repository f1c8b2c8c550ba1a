"""Nguyen's genetic algorithm.

T. P. Nguyen, "A neuroevolutionary approach to draughts" (BSc project, Durham University): networks
over the sums of the 91 sub-squares (section III.A), moves by minimax or by Monte Carlo tree search
with early playout termination (III.B), five elites, and ten children by crossover and mutation
(III.C); a champion's progress is measured against the five champions before it (III.D).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from agents.blondie.architecture import NGUYEN, NGUYEN_LOGISTIC, Architecture
from agents.mcts.player import monte_carlo
from agents.search.workspace import MAX_DEPTH
from agents.weights import WeightsMetadata
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.evolution.crossover import crossover
from training.evolution.game_runner import GameRunner, Matchup
from training.evolution.metrics import Metrics, tournament_metrics
from training.evolution.safe_mutation import board_inputs, memory, mutate_safely
from training.evolution.state import (
    Champion,
    Population,
    State,
    make_players,
    rng_from_json,
    rng_to_json,
)
from training.evolution.tournament import Payoff, best, random_opponents, run_tournament
from training.runtime.validation import validate_ranges

NETWORKS = {"tanh": NGUYEN, "logistic": NGUYEN_LOGISTIC}
PROGRESS_PAYOFF = Payoff(1.0, 0.0, -1.0)
MEMBERS, ELITES = 15, 5
MUTANT, CROSSED = 0.0, 1.0  # how a member came about
CHILDREN = np.array([CROSSED, CROSSED, MUTANT, MUTANT] * 2 + [MUTANT, MUTANT])
RANGES = {
    "opponents": (1, 10_000),
    "win": (-1e6, 1e6),
    "draw": (-1e6, 1e6),
    "loss": (-1e6, 1e6),
    "depth": (1, MAX_DEPTH),
    "simulations": (0, 1_000_000),
    "cut": (1, 200),
    "skew": (0.0, 1.0),
    "max_moves": (2, 100_000),
    "repetition": (0, 100),
    "king": (1.0, 3.0),
    "dominant": (0.0, 1.0),
    "perturbations": (1, 10_000),
    "memory_size": (1, 100_000),
    "champions": (1, 1000),
}


@dataclass(frozen=True)
class GeneticAlgorithm:
    """The constants of the method."""

    results_version: ClassVar[int] = 1
    """Raise it when a change of code changes the results of a run."""

    activation: Literal["tanh", "logistic"] = "tanh"
    """Of every node: tanh (III.A), or 2 / (1 + e^-x) - 1 as in the figure there."""
    opponents: int = 5
    """Games that each network plays as Black in a generation (III.C.2)."""
    win: float = 2.0
    """Payoff of a won game (III.C.2)."""
    draw: float = 0.0
    """Payoff of a drawn game."""
    loss: float = -1.0
    """Payoff of a lost game."""
    both_score: bool = True
    """Whether White scores too."""
    depth: int = 4
    """Plies of the search (III.B, III.D, IV.A: 1, 3, 4 and 6)."""
    simulations: int = 0
    """Playouts a move of MCTS-EPT, which then takes the place of the search (III.B); 0: none."""
    cut: int = 6
    """Plies of a playout before the network judges it (III.B)."""
    skew: float = 0.5
    """Probability that a playout's move is the hand-made heuristic's, not a random one (III.B)."""
    own_leaves: bool = True
    """Judge leaves from the searching player's side, or from the side to move."""
    max_moves: int = 100
    """Moves by each side after which a game is drawn (III.C.2)."""
    repetition: int = 3
    """Occurrences of a position that draw a game (III.C.2); 0 for no such rule."""
    blocked_draws: bool = False
    """Whether a side with pieces that cannot move draws (I); players still count it as lost."""
    king: float = 1.5
    """K, the worth of a king (III.A)."""
    dominant: float = 0.75
    """Weights beyond this, of either sign, are swapped in a crossover (III.C.4)."""
    perturbations: int = 1
    """Mutants that safe mutation chooses from (III.C.3); 1 for plain mutation."""
    memory_size: int = 64
    """Inputs that safe mutation compares outputs on (III.C.3)."""
    champions: int = 5
    """Earlier champions that a new one is measured against (III.D)."""

    def __post_init__(self) -> None:
        validate_ranges(self, RANGES, {"activation": NETWORKS})
        if self.repetition == 1:
            raise ValueError("repetition must be 0 or 2 to 100, not 1")

    @property
    def shape(self) -> Architecture:
        """The network's architecture."""
        return NETWORKS[self.activation]

    @property
    def rules(self) -> DrawRules:
        """When games are drawn."""
        return DrawRules(self.max_moves, self.repetition or None, blocked_draws=self.blocked_draws)

    @property
    def mcts_options(self) -> dict[str, Any]:
        """Options of the Monte Carlo tree search that chooses moves; none for alpha-beta."""
        if not self.simulations:
            return {}
        return {"simulations": self.simulations, "cut": self.cut, "skew": self.skew}

    @property
    def parents(self) -> int:
        """Members that survive a generation."""
        return ELITES

    @property
    def games(self) -> int:
        """Games in a generation."""
        return MEMBERS * self.opponents

    def init(self, seed: int) -> State:
        """Fifteen networks with weights uniform in [-1, 1]."""
        rng = np.random.default_rng(seed)
        genomes = rng.uniform(-1, 1, (MEMBERS, self.shape.genome_size))
        genomes[:, -1] = 0.0  # there is no weight from the piece difference
        members = Population(genomes, np.zeros((MEMBERS, 0)), np.full(MEMBERS, self.king))
        extra = {
            "births": np.zeros(MEMBERS),
            "kinds": np.full(MEMBERS, MUTANT),
            "champions": np.zeros((0, self.shape.genome_size)),
        }
        return State(0, members, np.zeros(MEMBERS), rng_to_json(rng), extra)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """One generation: a tournament, five elites, and ten children of theirs."""
        rng = rng_from_json(state.rng)
        pairs = random_opponents(MEMBERS, self.opponents, rng)
        chance = int(rng.integers(2**63)) if self.simulations else 0
        players, payoff = self.players(state.population), Payoff(self.win, self.draw, self.loss)
        games, scores = run_tournament(
            players, pairs, self.rules, payoff, self.both_score, runner, (chance,)
        )
        elites = best(scores, ELITES, rng)
        memories = [None] * ELITES
        if self.perturbations > 1:
            size = self.memory_size
            memories = [
                board_inputs(memory(member, pairs, games, size, rng), self.king)
                for member in elites
            ]
        parents = state.population.genomes[elites]
        children = self.children(parents, scores[elites], memories, rng)
        genomes = np.concatenate([parents, children])
        generation = state.generation + 1
        births, kinds = state.extra["births"][elites], state.extra["kinds"][elites]
        champions = state.extra["champions"]
        measured = tournament_metrics([game.result for game in games], scores) | {
            "elites/age": float(np.mean(generation - births)),
            "elites/crossed": float(np.mean(kinds == CROSSED)),
        }
        measured |= self.progress(parents[0], champions, generation, runner)
        extra = {
            "births": np.append(births, np.full(len(children), generation)),
            "kinds": np.append(kinds, CHILDREN),
            "champions": np.concatenate([champions, parents[:1]])[-self.champions :],
        }
        members = Population(genomes, np.zeros((MEMBERS, 0)), np.full(MEMBERS, self.king))
        after = np.append(scores[elites], np.zeros(len(children)))
        return State(generation, members, after, rng_to_json(rng), extra), measured

    def children(
        self, parents: Any, scores: Any, memories: list[Any], rng: np.random.Generator
    ) -> Any:
        """Four children each of the first two and of the second and third, one each of the rest."""

        def mutants(*members: int) -> list[Any]:
            return [
                mutate_safely(
                    self.shape, parents[member], memories[member], self.perturbations, rng
                )
                for member in members
            ]

        made: list[Any] = []
        for first, second in ((0, 1), (1, 2)):
            lead = scores[first] - scores[second]
            made += crossover(self.shape, parents[first], parents[second], lead, self.dominant, rng)
            made += mutants(first, second)
        return np.array(made + mutants(3, 4))

    def progress(self, champion: Any, earlier: Any, generation: int, runner: GameRunner) -> Metrics:
        """The mean of mean payoffs against earlier champions, six games with each (III.D).

        Networks that always play alike would repeat one game three times: the three games of a
        colour begin with three cards of the two-move ballot.
        """
        if not len(earlier):
            return {}
        cards = np.random.default_rng(generation).choice(TWO_MOVE, 3, replace=False).tolist()
        kings = np.full(len(earlier) + 1, self.king)
        genomes = np.concatenate([[champion], earlier])
        mine, *others = self.players(Population(genomes, genomes, kings))
        meetings = [
            (*pair, card)
            for other in others
            for card in cards
            for pair in ((mine, other), (other, mine))
        ]
        matchups = [
            Matchup(*meeting, (generation, number)) for number, meeting in enumerate(meetings)
        ]
        games = runner.play(matchups, self.rules)
        payoffs = [
            PROGRESS_PAYOFF.of(game.result, (BLACK, WHITE)[index % 2])
            for index, game in enumerate(games)
        ]
        return {"champion/progress": float(np.mean(payoffs))}

    def champion(self, state: State) -> Champion:
        """The best of the last tournament."""
        genome = state.population.genomes[0]
        return Champion(self.shape.name, genome, self.king, mcts_options=self.mcts_options)

    def contenders(self, state: State) -> list[Any]:
        """The elites as players, the champion first."""
        return self.players(state.population.pick(slice(ELITES)))

    def files(self, state: State, metadata: WeightsMetadata) -> dict[str, bytes]:
        """Files of the regime's own to keep with a run, by name: none."""
        return {}

    def players(self, population: Population) -> list[Any]:
        """The members as players: AlphaBeta, or MonteCarlo where there are `simulations`."""
        searching = make_players(self.shape, population, self.depth, self.own_leaves)
        if not self.simulations:
            return list(searching)
        options = {"own_leaves": self.own_leaves, **self.mcts_options}
        return [monte_carlo(player.evaluator, **options) for player in searching]
