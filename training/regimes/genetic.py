"""Nguyen's genetic algorithm.

T. P. Nguyen, "A neuroevolutionary approach to draughts" (BSc project, Durham University), section
III.C: networks over the sums of the 91 sub-squares, five elites, and ten children by crossover and
mutation; a champion's progress is measured against the five champions before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agents.alphabeta import AlphaBeta
from agents.blondie.genome import ARCHITECTURES, Architecture, layers
from agents.match import Game
from agents.play import DrawRules
from agents.workspace import MAX_DEPTH
from checkers_env.openings import TWO_MOVE
from checkers_env.rules import BLACK, SQUARES, WHITE
from training.arena import Arena, Fixture
from training.metrics import Metrics, of_results
from training.population import Population, players_of
from training.ranges import check
from training.selection import best
from training.state import Champion, State, generator, remembered
from training.tournament import Payoff, hold, random_opponents

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
    "max_moves": (2, 100_000),
    "repetition": (0, 100),
    "king": (1.0, 3.0),
    "dominant": (0.0, 1.0),
    "perturbations": (1, 10_000),
    "memory_size": (1, 100_000),
    "champions": (1, 1000),
}


@dataclass(frozen=True)
class Genetic:
    """The constants of the method."""

    network: Literal["nguyen-91"] = "nguyen-91"
    """Which network is evolved."""
    opponents: int = 5
    """Games that each network plays as Black in a generation."""
    win: float = 2.0
    """Payoff of a won game."""
    draw: float = 0.0
    """Payoff of a drawn game."""
    loss: float = -1.0
    """Payoff of a lost game."""
    both_score: bool = True
    """Whether White scores too."""
    depth: int = 4
    """Plies of the search (1, 3, 4 and 6 in the text)."""
    own_leaves: bool = True
    """Judge leaves from the searching player's side, or from the side to move."""
    max_moves: int = 100
    """Moves by each side after which a game is drawn."""
    repetition: int = 3
    """Occurrences of a position that draw a game; 0 for no such rule."""
    king: float = 1.5
    """K, the worth of a king."""
    dominant: float = 0.75
    """Weights beyond this, of either sign, are swapped in a crossover."""
    perturbations: int = 1
    """Mutants that safe mutation chooses from; 1 for plain mutation."""
    memory_size: int = 64
    """Inputs that safe mutation compares outputs on."""
    champions: int = 5
    """Earlier champions that a new one is measured against."""

    def __post_init__(self) -> None:
        check(self, RANGES, {"network": ("nguyen-91",)})
        if self.repetition == 1:
            raise ValueError("repetition must be 0 or 2 to 100, not 1")

    @property
    def shape(self) -> Architecture:
        """The network's architecture."""
        return ARCHITECTURES[self.network]

    @property
    def rules(self) -> DrawRules:
        """When games are drawn."""
        return DrawRules(self.max_moves, self.repetition)

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
        return State(0, members, np.zeros(MEMBERS), remembered(rng), extra)

    def step(self, state: State, arena: Arena) -> tuple[State, Metrics]:
        """One generation: a tournament, five elites, and ten children of theirs."""
        rng = generator(state.rng)
        pairs = random_opponents(MEMBERS, self.opponents, rng)
        payoff = Payoff(self.win, self.draw, self.loss)
        games, scores = hold(
            self.players(state.population), pairs, self.rules, payoff, self.both_score, arena
        )
        elites = best(scores, ELITES, rng)
        memories = [None] * ELITES
        if self.perturbations > 1:
            memories = [memory(member, pairs, games, self.memory_size, rng) for member in elites]
        parents = state.population.genomes[elites]
        children = self.children(parents, scores[elites], memories, rng)
        genomes = np.concatenate([parents, children])
        generation = state.generation + 1
        births, kinds = state.extra["births"][elites], state.extra["kinds"][elites]
        champions = state.extra["champions"]
        measured = of_results([game.result for game in games], scores) | {
            "elites/age": float(np.mean(generation - births)),
            "elites/crossed": float(np.mean(kinds == CROSSED)),
        }
        measured |= self.progress(parents[0], champions, generation, arena)
        extra = {
            "births": np.append(births, np.full(len(children), generation)),
            "kinds": np.append(kinds, CHILDREN),
            "champions": np.concatenate([champions, parents[:1]])[-self.champions :],
        }
        members = Population(genomes, np.zeros((MEMBERS, 0)), np.full(MEMBERS, self.king))
        after = np.append(scores[elites], np.zeros(len(children)))
        return State(generation, members, after, remembered(rng), extra), measured

    def children(
        self, parents: Any, scores: Any, memories: list[Any], rng: np.random.Generator
    ) -> Any:
        """Four children each of the first two and of the second and third, one each of the rest."""
        made: list[Any] = []
        for first, second in ((0, 1), (1, 2)):
            made += self.crossed(
                parents[first], parents[second], scores[first] - scores[second], rng
            )
            made += [
                self.mutant(parents[member], memories[member], rng) for member in (first, second)
            ]
        made += [self.mutant(parents[member], memories[member], rng) for member in (3, 4)]
        return np.array(made)

    def crossed(self, first: Any, second: Any, lead: float, rng: np.random.Generator) -> list[Any]:
        """Two reciprocal children: one hidden node's dominant weights change places (III.C.4)."""
        leader = first if lead > 0 or (lead == 0 and rng.random() < 0.5) else second
        nodes = incoming(self.shape)
        weights = nodes[int(rng.integers(len(nodes) - 1))]  # the last is the output node
        swapped = weights[np.abs(leader[weights]) > self.dominant]
        one, other = first.copy(), second.copy()
        one[swapped], other[swapped] = second[swapped], first[swapped]
        return [one, other]

    def mutant(self, parent: Any, inputs: Any, rng: np.random.Generator) -> Any:
        """The parent with w + m / sqrt(2 sqrt(K)), m uniform in [-1, 1], kept in [-1, 1].

        Of several perturbations the one is taken that gives most of the remembered inputs an output
        of the same sign and at least as large (III.C.3, after Lehman et al. 2017).
        """
        size = 1 / np.sqrt(2 * np.sqrt(self.shape.weight_count))
        moves = rng.uniform(-1, 1, (self.perturbations, len(parent))) * size
        moves[:, -1] = 0.0
        mutants = np.clip(parent + moves, -1, 1)
        if self.perturbations == 1:
            return mutants[0]
        old = outputs(self.shape, parent, self.king, inputs)
        kept = [
            np.count_nonzero(
                outputs(self.shape, mutant, self.king, inputs) * np.sign(old) >= np.abs(old)
            )
            for mutant in mutants
        ]
        return mutants[int(np.argmax(kept))]

    def progress(self, champion: Any, earlier: Any, generation: int, arena: Arena) -> Metrics:
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
        fixtures = [
            fixture
            for other in others
            for card in cards
            for fixture in (Fixture(mine, other, card), Fixture(other, mine, card))
        ]
        games = arena.play(fixtures, self.rules)
        payoffs = [
            PROGRESS_PAYOFF.of(game.result, (BLACK, WHITE)[index % 2])
            for index, game in enumerate(games)
        ]
        return {"champion/progress": float(np.mean(payoffs))}

    def champion(self, state: State) -> Champion:
        """The best of the last tournament."""
        return Champion(self.network, state.population.genomes[0], self.king)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """The elites as players, the champion first."""
        return self.players(state.population.pick(slice(ELITES)))

    def tables(self, state: State) -> dict[str, dict[str, Any]]:
        """Tables of the regime's own to keep with a run: none."""
        return {}

    def players(self, population: Population) -> list[AlphaBeta]:
        """The members as players."""
        return players_of(self.shape, population, self.depth, self.own_leaves)


def incoming(shape: Architecture) -> list[Any]:
    """Where in a genome the weights and the bias of each node stand, hidden nodes first."""
    nodes, at, inputs = [], 0, len(shape.fields)
    for width in shape.hidden:
        for _ in range(width):
            nodes.append(np.arange(at, at + inputs + 1))
            at += inputs + 1
        inputs = width
    return nodes


def outputs(shape: Architecture, genome: Any, king: float, positions: Any) -> Any:
    """The network's values, for Black, of many positions (float64[positions])."""
    values = board_inputs(positions, king)
    for weights, biases in layers(shape, genome):
        values = np.tanh(values @ weights.T + biases)
    return values[:, 0]


def board_inputs(positions: Any, king: float) -> Any:
    """Positions, rows of three boards, as float64[positions, 32]: Black +, White -, kings K."""
    black, white, kings = (positions[:, [board]] >> SQUARES & 1 for board in range(3))
    return (black - white) * np.where(kings, king, 1.0)


def memory(member: int, pairs: Any, games: list[Game], size: int, rng: np.random.Generator) -> Any:
    """Positions of the games that a member has won, or of all its games: int64[size, 3]."""
    own = [
        (game, pair.index(member))
        for game, pair in zip(games, pairs, strict=True)
        if member in pair
    ]
    won = [game for game, side in own if game.result.winner == side] or [game for game, _ in own]
    rows = np.concatenate([boards(game) for game in won])
    return rows[rng.integers(len(rows), size=size)]


def boards(game: Game) -> Any:
    """Every position of a game: int64[plies, 3]."""
    board = game.board
    rows = []
    while board.moves:
        rows.append((board.black, board.white, board.kings))
        board.pop()
    return np.array(rows, np.int64)
