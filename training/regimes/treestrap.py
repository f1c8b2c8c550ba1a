"""Self-play of a large n-tuple system towards the values of searches: a strong player.

After the n-tuple systems of B. Al-Khateeb's thesis (Nottingham, 2011, chapter 6), with larger
windows and other learning: TD(lambda) towards the values of a search (R. S. Sutton, "Learning to
predict by the methods of temporal differences", 1988), and a step of its own for each weight (D. F.
Beal and M. C. Smith, "Temporal coherence and prediction decay in TD learning", 1999); the positions
inside the searches are learnt about too (J. Veness, D. Silver, W. Uther and A. Blair,
"Bootstrapping from game tree search", 2009). Nothing is told to the player but the rules. A
generation is a number of games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from agents.architectures import WINDOWS
from agents.endgame.tables import DIGESTS, endgame
from agents.match import opening_line
from agents.search.player import AlphaBeta, Informed, informed
from agents.search.workspace import MAX_DEPTH
from agents.treestrap.codec import STEP, pack
from agents.treestrap.learner import LARGEST_ALPHA, Method
from agents.treestrap.network import SIZE, STAGES, windows
from agents.treestrap.selfplay import learn
from checkers_env.board import Board
from checkers_env.movegen import Position
from checkers_env.openings import TWO_MOVE
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Champion, Population, State, rng_from_json, rng_to_json
from training.regimes.self_play import CARDS, RANGES, SelfPlay, measured
from training.runtime.validation import validate_ranges

OWN_RANGES = {
    "alpha": (1e-6, LARGEST_ALPHA),
    "search": (1, MAX_DEPTH),
    "inner": (0, MAX_DEPTH),
    "cards": (1, len(TWO_MOVE)),
}


@dataclass(frozen=True)
class TreeStrap(SelfPlay):
    """The constants of the method."""

    results_version: ClassVar[int] = 1
    """Raise it when a change of code changes the results of a run."""

    alpha: float = 2.0
    """Step size, of which each weight of a position gets an equal share."""
    lam: float = 0.8
    """Lambda: how much what comes later counts beside a position's own search."""
    search: int = 4
    """Plies of the search that chooses moves in training, and is learnt from."""
    epsilon: float = 0.05
    """How often a move is made at random."""
    openings: Literal["none", "two-move", "three-move"] = "three-move"
    """The ballot that games are opened from."""
    random_plies: int = 8
    """Plies made at random after that, at most."""
    quiet: bool = True
    """Learn only about positions without a capture, which are those that are evaluated."""
    repetition: bool = True
    """In training, a position that comes back is a draw, and the players know it."""
    coherence: bool = True
    """Adapt the step size of each weight (temporal coherence)."""
    inner: int = 2
    """Learn also about the positions inside a search that were searched to so many plies; 0: no."""
    endgame: int = 0
    """Pieces of the endgame tables used in training and play (2 to 5); 0 for none."""
    games: int = 1000
    """Games in a generation."""
    depth: int = 4
    """Plies at which the player is measured, and plays by default."""
    max_moves: int = 100
    """Moves by each side after which a game is drawn."""
    cards: int = len(TWO_MOVE)
    """Cards of the two-move ballot from which it is measured, with either colour."""

    yardsticks = (4, 6)
    """Plies at which it is measured against the piece counter, both searching so deep."""

    def __post_init__(self) -> None:
        validate_ranges(self, RANGES | OWN_RANGES, {"openings": CARDS})
        if self.endgame not in (0, *DIGESTS):
            raise ValueError(f"endgame must be 0 or 2 to {max(DIGESTS)}, not {self.endgame}")

    def init(self, seed: int) -> State:
        """Weights of zero."""
        rng = np.random.default_rng(seed)
        nothing = np.zeros((STAGES, SIZE, 2), np.float32)
        return self._state(0, windows().table, nothing, rng)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play and learn from the games of a generation, in one thread."""
        rng, system = rng_from_json(state.rng), windows(table_of(state))
        errors = np.zeros((STAGES, SIZE, 2), np.float32)
        errors.reshape(-1, 2)[state.extra["entries"]] = state.extra["errors"]
        tally = learn(
            system,
            errors,
            self.games,
            rng,
            self.method,
            starts=[after(card) for card in CARDS[self.openings]],
            tables=endgame(self.endgame) if self.endgame else None,
        )
        learnt = self._state(state.generation + 1, system.table, errors, rng)
        entries = float(len(learnt.extra["entries"]))
        return learnt, measured(tally) | {"td/entries": entries}

    def _state(self, generation: int, table: Any, errors: Any, rng: np.random.Generator) -> State:
        """The entries that learning has touched; the first one stands there in any case.

        Weights and errors are float32, as they are learnt, and entries int32.
        """
        touched = errors.view(np.uint64).ravel() != 0  # both sums of an entry at once
        touched[0] = True
        entries = np.flatnonzero(touched).astype(np.int32)
        extra = {"entries": entries, "errors": errors.reshape(-1, 2)[entries]}
        population = Population(table.ravel()[None, entries], np.zeros((1, 0)), np.ones(1))
        return State(generation, population, np.zeros(1), rng_to_json(rng), extra)

    @property
    def method(self) -> Method:
        """How to learn."""
        return Method(
            self.alpha,
            self.lam,
            self.search,
            self.epsilon,
            self.random_plies,
            2 * self.max_moves,
            self.quiet,
            self.repetition,
            self.coherence,
            self.inner,
        )

    def champion(self, state: State) -> Champion:
        """The tables as they stand, rounded and packed."""
        options = {"step": STEP, "entries": STAGES * SIZE}
        if self.endgame:
            options["endgame"] = self.endgame
        return Champion(WINDOWS, pack(table_of(state)), 1.0, options)

    def contenders(self, state: State) -> list[AlphaBeta | Informed]:
        """The tables as a player."""
        player = AlphaBeta(windows(table_of(state)), self.depth)
        return [informed(player, endgame(self.endgame)) if self.endgame else player]


def table_of(state: State) -> Any:
    """The tables of a state: float32[STAGES, SIZE]."""
    table = np.zeros(STAGES * SIZE, np.float32)
    table[state.extra["entries"]] = state.population.genomes[0]
    return table.reshape(STAGES, SIZE)


def after(card: str | None) -> Position:
    """The position after the moves of a card."""
    board = Board.from_position(*opening_line(card)[0])
    for word in (card or "").split():
        board.push(word)
    return board.position
