"""Temporal-difference learning in self-play.

B. Al-Khateeb's thesis (Nottingham, 2011), Algorithms 6.3 (C5-N) and 6.4 (C1-N): one system plays
both sides, and after each move w += alpha (v(x') - v(x)) (1 - v(x)^2), v seen from Black's side; at
the end of a game its result stands for v(x'). A generation here is a number of games.

TD-leaf: J. Baxter, A. Tridgell and L. Weaver, "TDLeaf(lambda): combining temporal difference
learning with game-tree search", 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

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
from training.evolution.state import Arrays, ChampionWeights, State, rng_from_json, rng_to_json
from training.regimes import register
from training.regimes.self_play import CARDS, SelfPlayRegime, self_play_metrics
from training.runtime.validation import OneOf, Range, validate_ranges


@register
@dataclass(frozen=True)
class TDLearning(SelfPlayRegime):
    """Constants of the method."""

    kind: ClassVar[str] = "td-learning"
    results_version: ClassVar[int] = 1

    features: Annotated[str, OneOf((*DRAWINGS, SAMUEL))] = "walks-5"
    """Features: n-tuples (walks-3, -4 and -5, a random sample; table-6.1, singles, subsquares-3,
    -4 and -3-4), or samuel: eight features of Samuel's."""
    alpha: Annotated[float, Range(1e-12, 1.0)] = 0.001
    """Step size."""
    half_at: Annotated[float, Range(0.0, 1e12)] = 0.0
    """Games after which alpha is half its first value: alpha h / (h + g); 0: it stays the same."""
    lam: Annotated[float, Range(0.0, 1.0)] = 0.0
    """Lambda: how much each earlier position learns of an error (0 in the thesis)."""
    epsilon: Annotated[float, Range(0.0, 1.0)] = 0.0
    """Share of random moves."""
    random_plies: Annotated[int, Range(0, 200)] = 0
    """Random plies at the start of each game."""
    openings: Literal["none", "two-move", "three-move"] = "none"
    """Ballot of the games' openings."""
    search: Annotated[int, Range(0, MAX_DEPTH)] = 0
    """Plies of the search that selects moves in training; 0: the values of the successors."""
    leaf: bool = False
    """Learn about the last position of the search's principal variation (TD-leaf)."""
    piece_difference: bool = True
    """Whether the piece difference is added to the entries of tuples (thesis 7.3)."""
    king: Annotated[float, Range(1.0, 5.0)] = 1.0
    """The worth of a king in the piece difference."""
    games: Annotated[int, Range(1, 1_000_000)] = 1000
    """Games in a generation."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 1
    """Plies of the search when it is measured, and in play by default."""
    max_moves: Annotated[int, Range(2, 100_000)] = 100
    """Moves by each side after which a game is drawn."""

    def __post_init__(self) -> None:
        validate_ranges(self)
        if self.leaf and not self.search:
            raise ValueError("leaf takes a search of 1 ply or more")

    def init(self, seed: int) -> State:
        """Sample the tuples; all weights are 0."""
        rng = np.random.default_rng(seed)
        arrays: dict[str, NDArray[Any]] = {"weights": np.zeros(len(FEATURES))}
        if self.features != SAMUEL:
            drawing = draw(self.features, rng)
            arrays = {"tuples": as_matrix(drawing), "weights": np.zeros(table_size(drawing))}
        return State(0, rng_to_json(rng), arrays)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play the games of a generation in one thread and learn from them."""
        rng = rng_from_json(state.rng)
        weights = state.arrays["weights"].copy()
        stats = learn(
            self.evaluator(state.arrays, weights),
            self.games,
            rng,
            self.learning,
            openings=self.opening_paths(),
            rules=self.rules,
            first=state.generation * self.games,
        )
        arrays = {**state.arrays, "weights": weights}
        return State(state.generation + 1, rng_to_json(rng), arrays), self_play_metrics(stats)

    def opening_paths(self) -> NDArray[np.int64]:
        """Return the packed moves of the ballot's cards, shape (cards, plies)."""
        paths = [opening_line(card)[1] for card in CARDS[self.openings]]
        return np.array(paths, np.int64).reshape(len(paths), -1)

    @property
    def learning(self) -> Learning:
        """Constants of the learning rule."""
        return Learning(
            self.alpha,
            self.half_at,
            self.lam,
            self.epsilon,
            self.random_plies,
            self.search,
            self.leaf,
        )

    def evaluator(self, arrays: Arrays, weights: NDArray[np.float64]) -> Any:
        """Return the system with these weights, shape (entries,); learning changes them."""
        if self.features == SAMUEL:
            return samuel(weights)
        return ntuple(as_drawing(arrays["tuples"]), weights, king=self.king, **self.options)

    @property
    def options(self) -> dict[str, Any]:
        """Options of an n-tuple system beside its tuples, weights and king."""
        return {"difference": float(self.piece_difference), "by_colour": True}

    def champion(self, state: State, member: int = 0) -> ChampionWeights:
        """Return the current weights."""
        weights = state.arrays["weights"]
        if self.features == SAMUEL:
            return ChampionWeights(SAMUEL, weights, self.king)
        options = self.options | {"tuples": as_drawing(state.arrays["tuples"])}
        return ChampionWeights(NTUPLE, weights, self.king, options)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """Return the system as a player."""
        return [AlphaBeta(self.evaluator(state.arrays, state.arrays["weights"]), self.depth)]
