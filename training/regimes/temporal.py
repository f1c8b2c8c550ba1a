"""Temporal-difference learning of n-tuple systems in self-play.

B. Al-Khateeb's thesis (Nottingham, 2011), Algorithms 6.3 (C5-N) and 6.4 (C1-N): one system plays
both sides, and after each move w += alpha (v(x') - v(x)) (1 - v(x)^2), v seen from Black's side; at
the end of a game its result stands for v(x'). A generation here is a number of games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agents.alphabeta import AlphaBeta
from agents.load import NTUPLE
from agents.match import opening_line
from agents.ntuple.drawing import DRAWINGS, Drawing, draw
from agents.ntuple.ntuple import NTuple, ntuple, table_size
from agents.ntuple.td import Learning, learn
from agents.play import DrawRules
from agents.workspace import MAX_DEPTH
from checkers_env.openings import THREE_MOVE, TWO_MOVE
from training.arena import Arena
from training.metrics import Metrics
from training.population import Population
from training.ranges import check
from training.state import Champion, State, generator, remembered

CARDS = {"none": (None,), "two-move": TWO_MOVE, "three-move": THREE_MOVE}
RANGES = {
    "alpha": (1e-12, 1.0),
    "half_at": (0.0, 1e12),
    "lam": (0.0, 1.0),
    "epsilon": (0.0, 1.0),
    "random_plies": (0, 200),
    "search": (0, MAX_DEPTH),
    "king": (1.0, 5.0),
    "games": (1, 1_000_000),
    "depth": (1, MAX_DEPTH),
    "max_moves": (2, 100_000),
}


@dataclass(frozen=True)
class TemporalDifference:
    """The constants of the method."""

    tuples: str = "walks-5"
    """Which squares: walks-3, -4, -5 (drawn anew), thesis (Table 6.1), singles, subsquares-3 ..."""
    alpha: float = 0.001
    """Step size."""
    half_at: float = 0.0
    """Games after which alpha is half its first value, if it is to shrink: alpha h / (h + g)."""
    lam: float = 0.0
    """Lambda: how much each earlier position learns of an error (0 in the thesis)."""
    epsilon: float = 0.0
    """How often a move is made at random."""
    random_plies: int = 0
    """Plies at the start of each game that are made at random."""
    openings: Literal["none", "two-move", "three-move"] = "none"
    """The ballot that games are opened from."""
    search: int = 0
    """Plies of the search that chooses moves in training; 0: the successors as they stand."""
    piece_difference: bool = True
    """Whether the piece difference is added to the entries (thesis 7.3)."""
    king: float = 1.0
    """The worth of a king in the piece difference."""
    games: int = 1000
    """Games in a generation."""
    depth: int = 1
    """Plies at which the player is measured, and plays by default."""
    max_moves: int = 100
    """Moves by each side after which a game is drawn."""

    own_leaves = True
    parents = 1

    def __post_init__(self) -> None:
        check(self, RANGES, {"tuples": DRAWINGS, "openings": CARDS})

    @property
    def rules(self) -> DrawRules:
        """When games are drawn."""
        return DrawRules(self.max_moves)

    def init(self, seed: int) -> State:
        """A drawing, and tables of zeros."""
        rng = np.random.default_rng(seed)
        drawing = draw(self.tuples, rng)
        table = Population(np.zeros((1, table_size(drawing))), np.zeros((1, 0)), np.ones(1))
        return State(0, table, np.zeros(1), remembered(rng), {"drawing": as_matrix(drawing)})

    def step(self, state: State, arena: Arena) -> tuple[State, Metrics]:
        """Play and learn from the games of a generation, in one thread."""
        rng = generator(state.rng)
        table = state.population.genomes[0].copy()
        learning = Learning(
            self.alpha, self.half_at, self.lam, self.epsilon, self.random_plies, self.search
        )
        tally = learn(
            self.system(state, table),
            self.games,
            rng,
            learning,
            openings=self.lines(),
            rules=self.rules,
            first=state.generation * self.games,
        )
        learnt = Population(table[None], np.zeros((1, 0)), state.population.kings)
        measured = {
            "games/draws": tally.draws / self.games,
            "games/black_wins": tally.black_wins / self.games,
            "games/plies": tally.plies / self.games,
            "td/error": tally.mean_error,
        }
        after = State(state.generation + 1, learnt, state.scores, remembered(rng), state.extra)
        return after, measured

    def lines(self) -> Any:
        """The paths of the ballot's cards: int64[cards, plies]."""
        paths = [opening_line(card)[1] for card in CARDS[self.openings]]
        return np.array(paths, np.int64).reshape(len(paths), -1)

    def system(self, state: State, table: Any) -> NTuple:
        """The evaluator with a given table."""
        return ntuple(as_drawing(state.extra["drawing"]), table, **self.options())

    def options(self) -> dict[str, Any]:
        """What the evaluator needs beside its drawing and its table."""
        return {
            "difference": float(self.piece_difference),
            "king": self.king,
            "by_colour": True,
        }

    def champion(self, state: State) -> Champion:
        """The system as it stands."""
        options = self.options() | {"drawing": as_drawing(state.extra["drawing"])}
        return Champion(NTUPLE, state.population.genomes[0], options.pop("king"), options)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """The system as a player."""
        return [AlphaBeta(self.system(state, state.population.genomes[0]), self.depth)]

    def tables(self, state: State) -> dict[str, dict[str, Any]]:
        """Tables of the regime's own to keep with a run: none."""
        return {}


def as_matrix(drawing: Drawing) -> Any:
    """A drawing as float64[tuples, longest], shorter tuples filled up with zeros."""
    longest = max(map(len, drawing))
    return np.array([[*squares, *[0] * (longest - len(squares))] for squares in drawing], float)


def as_drawing(matrix: Any) -> Drawing:
    """The drawing that :func:`as_matrix` has made a matrix of."""
    return tuple(tuple(int(square) for square in row if square) for row in matrix)
