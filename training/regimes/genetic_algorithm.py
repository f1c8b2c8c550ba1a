"""Nguyen's genetic algorithm.

Source: T. P. Nguyen, "A neuroevolutionary approach to draughts" (BSc project, Durham University).

The networks read the sums of the 91 sub-squares (section III.A). They play by minimax or by Monte
Carlo tree search with early playout termination (III.B). A generation keeps five elites and has ten
children by crossover and mutation (III.C). A champion's progress is its score against the five
champions before it (III.D).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from agents.architectures import Encoding
from agents.blondie.architecture import NGUYEN, NGUYEN_LOGISTIC, NetworkLayout
from agents.mcts.player import monte_carlo
from agents.search.workspace import MAX_DEPTH
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.evolution.crossover import crossover
from training.evolution.evaluation import both_colours, play_for
from training.evolution.game_runner import GameRunner, Matchup
from training.evolution.metrics import Metrics, population_metrics, tournament_metrics
from training.evolution.safe_mutation import board_inputs, mutate_safely, sample_won_positions
from training.evolution.state import Champion, State, rng_from_json, rng_to_json
from training.evolution.tournament import Payoff, best, random_opponents
from training.regimes import make_champion, register
from training.regimes.tournament_play import PAYOFFS, TournamentRegime
from training.runtime.validation import NoEffectWith, Range, validate_ranges

NETWORKS = {"tanh": NGUYEN, "logistic": NGUYEN_LOGISTIC}
OF_SIMULATIONS = NoEffectWith(simulations=(0,))
PROGRESS_PAYOFF = Payoff(1.0, 0.0, -1.0)
MEMBERS, ELITES = 15, 5
MUTANT, CROSSED = 0.0, 1.0  # origin of a member
CHILDREN = np.array([CROSSED, CROSSED, MUTANT, MUTANT] * 2 + [MUTANT, MUTANT])


@register
@dataclass(frozen=True)
class GeneticAlgorithm(TournamentRegime):
    """Constants of the method."""

    kind: ClassVar[str] = "genetic-algorithm"
    results_version: ClassVar[int] = 1

    activation: Literal["tanh", "logistic"] = "tanh"
    """Of every node: tanh (III.A), or 2 / (1 + e^-x) - 1 as in the figure there."""
    opponents: Annotated[int, Range(1, 10_000)] = 5
    """Games of each network as Black in a generation (III.C.2)."""
    win: Annotated[float, PAYOFFS] = 2.0
    """Payoff of a won game (III.C.2)."""
    draw: Annotated[float, PAYOFFS] = 0.0
    """Payoff of a drawn game."""
    loss: Annotated[float, PAYOFFS] = -1.0
    """Payoff of a lost game."""
    both_score: bool = True
    """Whether White scores too."""
    depth: Annotated[int, Range(1, MAX_DEPTH), NoEffectWith("simulations")] = 4
    """Plies of the search (III.B, III.D, IV.A: 1, 3, 4 and 6)."""
    simulations: Annotated[int, Range(0, 1_000_000)] = 0
    """Playouts a move of MCTS-EPT in place of the search (III.B); 0: search."""
    cut: Annotated[int, Range(1, 200), OF_SIMULATIONS] = 6
    """Plies of a playout before the network evaluates it (III.B)."""
    skew: Annotated[float, Range(0.0, 1.0), OF_SIMULATIONS] = 0.5
    """Probability that a playout's move is the heuristic player's, not a random one (III.B)."""
    root_perspective: bool = True
    """Judge leaves from the searching player's side, or from the side to move."""
    max_moves: Annotated[int, Range(2, 100_000)] = 100
    """Moves by each side after which a game is drawn (III.C.2)."""
    repetition: Annotated[int, Range(0, 100)] = 3
    """Occurrences of a position that draw a game (III.C.2); 0 for no such rule."""
    blocked_draws: bool = False
    """Whether a side with pieces that cannot move draws (I); searches still count it as lost."""
    king: Annotated[float, Range(1.0, 3.0)] = 1.5
    """K, the worth of a king (III.A)."""
    dominant: Annotated[float, Range(0.0, 1.0)] = 0.75
    """Weights beyond this, of either sign, are swapped in a crossover (III.C.4)."""
    perturbations: Annotated[int, Range(1, 10_000)] = 1
    """Mutants that safe mutation selects from (III.C.3); 1 for plain mutation."""
    memory_size: Annotated[int, Range(1, 100_000), NoEffectWith(perturbations=(1,))] = 64
    """Inputs on which safe mutation compares outputs (III.C.3)."""
    champions: Annotated[int, Range(1, 1000)] = 5
    """Earlier champions that measure a new one (III.D)."""

    parents = ELITES

    def __post_init__(self) -> None:
        validate_ranges(self)
        if self.repetition == 1:
            raise ValueError("repetition must be 0 or 2 to 100, not 1")
        if self.simulations and self.search_options:
            names = ", ".join(self.search_options)
            raise ValueError(f"{names}: for a search by plies only; leave out simulations")

    @property
    def layout(self) -> NetworkLayout:
        """Architecture of the networks."""
        return NETWORKS[self.activation]

    @property
    def rules(self) -> DrawRules:
        """Draw rules of the games."""
        return DrawRules(self.max_moves, self.repetition or None, blocked_draws=self.blocked_draws)

    @property
    def mcts_options(self) -> dict[str, Any]:
        """Options of the Monte Carlo tree search that chooses moves; none for alpha-beta."""
        if not self.simulations:
            return {}
        return {"simulations": self.simulations, "cut": self.cut, "skew": self.skew}

    @property
    def games(self) -> int:
        """Games in a generation."""
        return MEMBERS * self.opponents

    def games_seed(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Return a seed of the players' chance; Monte Carlo tree search always uses it."""
        return (int(rng.integers(2**63)),) if self.simulations else super().games_seed(rng)

    def init(self, seed: int) -> State:
        """Sample fifteen networks with weights uniform in [-1, 1]."""
        rng = np.random.default_rng(seed)
        genomes = rng.uniform(-1, 1, (MEMBERS, self.layout.genome_size))
        genomes[:, -1] = 0.0  # there is no weight from the piece difference
        arrays = {
            "genomes": genomes,
            "scores": np.zeros(MEMBERS),
            "births": np.zeros(MEMBERS),
            "kinds": np.full(MEMBERS, MUTANT),
            "champions": np.zeros((0, self.layout.genome_size)),
        }
        return State(0, rng_to_json(rng), arrays)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play a tournament, select five elites, and make ten children of them."""
        rng, arrays, generation = rng_from_json(state.rng), state.arrays, state.generation + 1
        pairs = random_opponents(MEMBERS, self.opponents, rng)
        games, scores = self.play(self.players(arrays["genomes"]), pairs, runner, rng)
        elites = best(scores, ELITES, rng)
        memories: list[NDArray[np.float64] | None] = [None] * ELITES
        if self.perturbations > 1:
            size = self.memory_size
            memories = [
                board_inputs(sample_won_positions(member, pairs, games, size, rng), self.king)
                for member in elites.tolist()
            ]
        parents = arrays["genomes"][elites]
        children = self.children(parents, scores[elites], memories, rng)
        births, kinds = arrays["births"][elites], arrays["kinds"][elites]
        metrics = tournament_metrics([game.result for game in games], scores) | {
            "elites/age": float(np.mean(generation - births)),
            "elites/crossed": float(np.mean(kinds == CROSSED)),
        }
        metrics |= self.progress(parents[0], arrays["champions"], generation, runner)
        arrays = {
            "genomes": np.concatenate([parents, children]),
            "scores": np.append(scores[elites], np.zeros(len(children))),
            "births": np.append(births, np.full(len(children), generation)),
            "kinds": np.append(kinds, CHILDREN),
            "champions": np.concatenate([arrays["champions"], parents[:1]])[-self.champions :],
        }
        return State(generation, rng_to_json(rng), arrays), metrics

    def children(
        self,
        parents: NDArray[np.float64],
        scores: NDArray[np.float64],
        memories: Sequence[NDArray[np.float64] | None],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Make four children of the first two parents, four of the next two, one each of the rest.

        `parents` are the elites' genomes, best first, with their `scores`, and network inputs for
        safe mutation as `memories`, or None. The result has shape (10, genome_size).
        """

        def mutants(*members: int) -> list[NDArray[np.float64]]:
            return [
                mutate_safely(
                    self.layout, parents[member], memories[member], self.perturbations, rng
                )
                for member in members
            ]

        children: list[NDArray[np.float64]] = []
        for first, second in ((0, 1), (1, 2)):
            lead = scores[first] - scores[second]
            pair = parents[first], parents[second]
            children += crossover(self.layout, *pair, lead, self.dominant, rng)
            children += mutants(first, second)
        return np.array(children + mutants(3, 4))

    def progress(
        self,
        champion: NDArray[np.float64],
        earlier: NDArray[np.float64],
        generation: int,
        runner: GameRunner,
    ) -> Metrics:
        """Measure a champion against earlier ones, six games with each (III.D).

        The paper repeats each game three times, which deterministic players would play alike. Here
        the three games of a colour begin with three cards of the two-move ballot, by the number of
        the generation.
        """
        if not len(earlier):
            return {}
        cards = np.random.default_rng(generation).choice(TWO_MOVE, 3, replace=False).tolist()
        player, *others = self.players(np.concatenate([[champion], earlier]))
        games = [
            matchup
            for other in others
            for card in cards
            for matchup in both_colours(player, other, card, ())
        ]
        matchups: list[Matchup] = [
            matchup._replace(seed=(generation, number)) for number, matchup in enumerate(games)
        ]
        payoffs = play_for(PROGRESS_PAYOFF, matchups, self.rules, runner)
        return {"champion/progress": float(np.mean(payoffs))}

    def metrics(self, state: State) -> Metrics:
        """Summarise the elites."""
        return population_metrics(state.arrays["genomes"][:ELITES], np.full(ELITES, self.king))

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the best of the last tournament, or another elite."""
        genome, score = state.arrays["genomes"][member], float(state.scores[member])
        own = {"mcts_options": self.mcts_options, "search_options": self.search_options}
        return make_champion(self, state, self.layout.name, genome, self.king, score=score, **own)

    def contenders(self, state: State) -> list[Any]:
        """Return the elites as players, the champion first."""
        return self.players(state.arrays["genomes"][:ELITES])

    def players(self, genomes: NDArray[np.float64]) -> list[Any]:
        """Return networks, shape (members, genome_size), as players by search or MCTS."""
        kings = np.full(len(genomes), self.king)
        players = self.make_players(Encoding(self.layout.name), genomes, kings)
        if not self.simulations:
            return list(players)
        options = {"root_perspective": self.root_perspective, **self.mcts_options}
        return [monte_carlo(player.evaluator, **options) for player in players]
