"""Temporal-difference learning in self-play.

Source: B. Al-Khateeb's thesis (Nottingham, 2011), Algorithms 6.3 (C5-N) and 6.4 (C1-N).

One network plays both sides. After each move w += alpha (v(x') - v(x)) (1 - v(x)^2), with v from
Black's side. At the end of a game the result stands for v(x'). A generation is a number of games.

TD-leaf: J. Baxter, A. Tridgell and L. Weaver, "TDLeaf(lambda): combining temporal difference
learning with game-tree search", 1998.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from agents.architectures import EVOLVABLE, LEARNABLE, Encoding, find_encoding, sample_options
from agents.match import opening_line
from agents.ntuple.td import TDConfig, learn
from agents.search.player import AlphaBeta
from agents.search.workspace import MAX_DEPTH
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Arrays, Champion, State, rng_from_json, rng_to_json
from training.regimes import make_champion, register
from training.regimes.self_play import CARDS, SelfPlayRegime, self_play_metrics
from training.runtime.validation import NoEffectWith, OneOf, Range, validate_ranges

OF_TUPLES = NoEffectWith(features=LEARNABLE.where(lambda entry: entry.difference != "option"))
OF_KING = NoEffectWith(
    features=LEARNABLE.where(lambda entry: not entry.reads_king), piece_difference=(False,)
)


@register
@dataclass(frozen=True)
class TDLearning(SelfPlayRegime):
    """Constants of the method."""

    kind: ClassVar[str] = "td-learning"
    results_version: ClassVar[int] = 1

    features: Annotated[str, OneOf(LEARNABLE)] = "walks-5"
    """Architecture: n-tuples (walks-3, -4 and -5, a random sample; table-6.1, singles,
    subsquares-3, -4 and -3-4), samuel (eight features of Samuel's), or your own."""
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
    piece_difference: Annotated[bool, OF_TUPLES] = True
    """Whether the piece difference is added to the entries of tuples (thesis 7.3)."""
    by_colour: Annotated[bool, OF_TUPLES] = True
    """Whether tuples read the board as Black sees it, or as the viewing side does (Algorithm 6.3
    speaks of "our" pieces, and of a value that Black's win raises)."""
    king: Annotated[float, Range(1.0, 5.0), OF_KING] = 1.0
    """The worth of a king in the piece difference."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 1
    """Plies of the search when it is measured, and in play by default."""

    def __post_init__(self) -> None:
        if self.features in EVOLVABLE and self.features not in LEARNABLE:
            raise ValueError(
                f"features cannot be {self.features!r}, which evolution can train only: its "
                "evaluator does not implement agents.evaluator.logit, or its weights are fixed"
            )
        validate_ranges(self)
        if self.leaf and not self.search:
            raise ValueError("leaf takes a search of 1 ply or more")

    def init(self, seed: int) -> State:
        """Sample the tuples; weights begin at 0, or where the architecture says."""
        rng = np.random.default_rng(seed)
        arrays = sample_options(self.features, rng)
        arrays["weights"] = self.encoding(arrays).initial_weights()
        return State(0, rng_to_json(rng), arrays)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play the games of a generation in one thread and learn from them."""
        rng = rng_from_json(state.rng)
        weights = state.arrays["weights"].copy()
        stats = learn(
            self.evaluator(state.arrays, weights),
            self.games,
            rng,
            self.configure(TDConfig, depth=self.search),
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

    def evaluator(self, arrays: Arrays, weights: NDArray[np.float64]) -> Any:
        """Return the system with these weights, shape (size,); learning changes them."""
        encoding = self.encoding(arrays)
        return encoding.architecture.build(weights, self.king, **encoding.options)

    def encoding(self, arrays: Arrays) -> Encoding:
        """Return the encoding of the weights, with the options of this regime."""
        encoding = find_encoding(self.features, arrays)
        if encoding.architecture.difference != "option":
            return encoding
        own = {"difference": float(self.piece_difference), "by_colour": self.by_colour}
        return Encoding(self.features, {**encoding.options, **own})

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the current weights."""
        encoding, weights = self.encoding(state.arrays), state.arrays["weights"]
        options = dict(encoding.options)
        return make_champion(self, state, encoding.stored_as, weights, self.king, options=options)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """Return the system as a player."""
        return [AlphaBeta(self.evaluator(state.arrays, state.arrays["weights"]), self.depth)]
