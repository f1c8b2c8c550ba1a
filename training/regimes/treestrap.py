"""Self-play of a large n-tuple system that learns the values of searches: the strong player.

The tables are those of B. Al-Khateeb's thesis (Nottingham, 2011, chapter 6), with larger windows.
Learning is by TD(lambda) towards the values of a search (R. S. Sutton, "Learning to predict by the
methods of temporal differences", 1988), with a step size for each weight (D. F. Beal and M. C.
Smith, "Temporal coherence and prediction decay in TD learning", 1999). The positions inside the
searches are learnt about too (J. Veness, D. Silver, W. Uther and A. Blair, "Bootstrapping from game
tree search", 2009). The player knows nothing but the rules. A generation is a number of games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from agents.endgame.tables import DIGESTS, load_tablebase
from agents.search.player import AlphaBeta
from agents.search.workspace import MAX_DEPTH
from agents.treestrap.codec import STEP, pack
from agents.treestrap.learner import LARGEST_ALPHA, TreeStrapConfig, learn
from agents.treestrap.network import SIZE, STAGES, treestrap_network
from checkers_env.openings import TWO_MOVE, opening_board
from training.evolution.evaluation import is_log_spaced
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Champion, State, rng_from_json, rng_to_json
from training.regimes import make_champion, register
from training.regimes.self_play import CARDS, SelfPlayRegime, self_play_metrics
from training.runtime.validation import Range, validate_ranges


@register
@dataclass(frozen=True)
class TreeStrap(SelfPlayRegime):
    """Constants of the method."""

    kind: ClassVar[str] = "treestrap"
    results_version: ClassVar[int] = 1

    alpha: Annotated[float, Range(1e-6, LARGEST_ALPHA)] = 2.0
    """Step size; each weight of a position gets an equal share."""
    lam: Annotated[float, Range(0.0, 1.0)] = 0.8
    """Lambda: how much later positions count beside a position's own search."""
    search: Annotated[int, Range(1, MAX_DEPTH)] = 4
    """Plies of the search that selects moves in training, and whose values are learnt."""
    epsilon: Annotated[float, Range(0.0, 1.0)] = 0.05
    """Share of random moves."""
    openings: Literal["none", "two-move", "three-move"] = "three-move"
    """Ballot of the games' openings."""
    random_plies: Annotated[int, Range(0, 200)] = 8
    """Random plies after the opening, at most."""
    quiet: bool = True
    """Learn only about positions without a capture; only those are evaluated."""
    repetition: bool = True
    """In training, a repeated position is a draw, and the searches know it."""
    coherence: bool = True
    """Adapt the step size of each weight (temporal coherence)."""
    inner: Annotated[int, Range(0, MAX_DEPTH)] = 2
    """Learn also about positions inside a search, from this remaining depth up; 0: do not."""
    endgame: int = 0
    """Pieces of the endgame tables used in training and play (2 to 5); 0 for none."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 4
    """Plies of the search when it is measured, and in play by default."""
    cards: Annotated[int, Range(1, len(TWO_MOVE))] = len(TWO_MOVE)
    """Cards of the two-move ballot in its own evaluation, a game a colour with each."""

    def __post_init__(self) -> None:
        validate_ranges(self)
        if self.endgame not in (0, *DIGESTS):
            raise ValueError(f"endgame must be 0 or 2 to {max(DIGESTS)}, not {self.endgame}")

    def init(self, seed: int) -> State:
        """Set all weights to 0."""
        rng = np.random.default_rng(seed)
        errors = np.zeros((STAGES, SIZE, 2), np.float32)
        return self._state(0, treestrap_network().table, errors, rng)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play the games of a generation in one thread and learn from them."""
        rng, system = rng_from_json(state.rng), treestrap_network(table_of(state))
        errors = np.zeros((STAGES, SIZE, 2), np.float32)
        errors.reshape(-1, 2)[state.arrays["entries"]] = state.arrays["errors"]
        stats = learn(
            system,
            errors,
            self.games,
            rng,
            self.configure(TreeStrapConfig, depth=self.search, max_plies=2 * self.max_moves),
            starts=[opening_board(card).position for card in CARDS[self.openings]],
            tables=load_tablebase(self.endgame) if self.endgame else None,
        )
        after = self._state(state.generation + 1, system.table, errors, rng)
        entries = float(len(after.arrays["entries"]))
        return after, self_play_metrics(stats) | {"td/entries": entries}

    def _state(
        self,
        generation: int,
        table: NDArray[np.float32],
        errors: NDArray[np.float32],
        rng: np.random.Generator,
    ) -> State:
        """Build a state of the entries that learning has touched, and of the first one.

        The arrays are ``entries`` (int32), their ``weights`` and their sums of ``errors``
        (float32, as they are learnt), shapes (entries,), (entries,) and (entries, 2).
        """
        touched = errors.view(np.uint64).ravel() != 0  # both sums of an entry at once
        touched[0] = True
        entries = np.flatnonzero(touched).astype(np.int32)
        arrays = {
            "entries": entries,
            "weights": table.ravel()[entries],
            "errors": errors.reshape(-1, 2)[entries],
        }
        return State(generation, rng_to_json(rng), arrays)

    def measured_at(self, generation: int) -> bool:
        """Return whether the player is measured: after generations 1, 2, 3, 4, 6, 8, 12 ..."""
        return is_log_spaced(generation)

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the current tables, rounded and packed."""
        options = {"step": STEP, "entries": STAGES * SIZE}
        if self.endgame:
            options["endgame"] = self.endgame
        return make_champion(self, state, "treestrap", pack(table_of(state)), options=options)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """Return the tables as a player."""
        player = AlphaBeta(treestrap_network(table_of(state)), self.depth)
        if self.endgame:
            player = player._replace(tablebase=load_tablebase(self.endgame))
        return [player]


def table_of(state: State) -> NDArray[np.float32]:
    """Return the whole tables of a state, shape (STAGES, SIZE)."""
    table = np.zeros(STAGES * SIZE, np.float32)
    table[state.arrays["entries"]] = state.arrays["weights"]
    return table.reshape(STAGES, SIZE)
