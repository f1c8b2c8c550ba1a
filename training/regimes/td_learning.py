"""Temporal-difference learning in self-play.

B. Al-Khateeb's thesis (Nottingham, 2011), Algorithms 6.3 (C5-N) and 6.4 (C1-N): one system plays
both sides, and after each move w += alpha (v(x') - v(x)) (1 - v(x)^2), v seen from Black's side; at
the end of a game its result stands for v(x'). A generation here is a number of games.

TD-leaf: J. Baxter, A. Tridgell and L. Weaver, "TDLeaf(lambda): combining temporal difference
learning with game-tree search", 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from agents.architectures import NTUPLE, SAMUEL
from agents.baselines.samuel import FEATURES, samuel
from agents.match import opening_line
from agents.ntuple.network import ntuple, table_size
from agents.ntuple.td import Learning
from agents.ntuple.td_selfplay import learn
from agents.ntuple.tuples import DRAWINGS, as_drawing, as_matrix, draw
from agents.search.player import AlphaBeta
from agents.search.workspace import MAX_DEPTH
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Champion, Population, State, rng_from_json, rng_to_json
from training.regimes.self_play import CARDS, RANGES, SelfPlay, measured
from training.runtime.validation import validate_ranges

OWN_RANGES = {
    "alpha": (1e-12, 1.0),
    "half_at": (0.0, 1e12),
    "search": (0, MAX_DEPTH),
    "king": (1.0, 5.0),
}


@dataclass(frozen=True)
class TDLearning(SelfPlay):
    """The constants of the method."""

    results_version: ClassVar[int] = 1
    """Raise it when a change of code changes the results of a run."""

    features: str = "walks-5"
    """What is weighed: tuples (walks-3, -4, -5, drawn anew; table-6.1, singles, subsquares-3, -4,
    subsquares-3-4), or samuel: a few features made by hand."""
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
    leaf: bool = False
    """Learn about the last position of the search's principal variation (TD-leaf)."""
    piece_difference: bool = True
    """Whether the piece difference is added to the entries of tuples (thesis 7.3)."""
    king: float = 1.0
    """The worth of a king in the piece difference."""
    games: int = 1000
    """Games in a generation."""
    depth: int = 1
    """Plies at which the player is measured, and plays by default."""
    max_moves: int = 100
    """Moves by each side after which a game is drawn."""

    def __post_init__(self) -> None:
        validate_ranges(
            self, RANGES | OWN_RANGES, {"features": (*DRAWINGS, SAMUEL), "openings": CARDS}
        )
        if self.leaf and not self.search:
            raise ValueError("leaf takes a search of 1 ply or more")

    def init(self, seed: int) -> State:
        """A drawing, and weights of zero."""
        rng = np.random.default_rng(seed)
        extra, size = {}, len(FEATURES)
        if self.features != SAMUEL:
            drawing = draw(self.features, rng)
            extra, size = {"drawing": as_matrix(drawing)}, table_size(drawing)
        weights = Population(np.zeros((1, size)), np.zeros((1, 0)), np.ones(1))
        return State(0, weights, np.zeros(1), rng_to_json(rng), extra)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play and learn from the games of a generation, in one thread."""
        rng = rng_from_json(state.rng)
        weights = state.population.genomes[0].copy()
        tally = learn(
            self.evaluator(state, weights),
            self.games,
            rng,
            self.learning,
            openings=self.lines(),
            rules=self.rules,
            first=state.generation * self.games,
        )
        learnt = Population(weights[None], np.zeros((1, 0)), state.population.kings)
        after = State(state.generation + 1, learnt, state.scores, rng_to_json(rng), state.extra)
        return after, measured(tally)

    def lines(self) -> Any:
        """The paths of the ballot's cards: int64[cards, plies]."""
        paths = [opening_line(card)[1] for card in CARDS[self.openings]]
        return np.array(paths, np.int64).reshape(len(paths), -1)

    @property
    def learning(self) -> Learning:
        """How to learn."""
        return Learning(
            self.alpha,
            self.half_at,
            self.lam,
            self.epsilon,
            self.random_plies,
            self.search,
            self.leaf,
        )

    def evaluator(self, state: State, weights: Any) -> Any:
        """The system with given weights."""
        if self.features == SAMUEL:
            return samuel(weights)
        return ntuple(as_drawing(state.extra["drawing"]), weights, king=self.king, **self.options)

    @property
    def options(self) -> dict[str, Any]:
        """What an n-tuple system needs beside its drawing, its table and its king."""
        return {"difference": float(self.piece_difference), "by_colour": True}

    def champion(self, state: State) -> Champion:
        """The system as it stands."""
        weights = state.population.genomes[0]
        if self.features == SAMUEL:
            return Champion(SAMUEL, weights, self.king)
        options = self.options | {"tuples": as_drawing(state.extra["drawing"])}
        return Champion(NTUPLE, weights, self.king, options)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """The system as a player."""
        return [AlphaBeta(self.evaluator(state, state.population.genomes[0]), self.depth)]
