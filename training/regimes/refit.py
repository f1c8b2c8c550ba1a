"""Fit tapered tables to the search values of self-play: the second half of the strong player.

A player that has learnt by temporal differences (:mod:`training.regimes.treestrap`) begins. It
plays itself, and each position is recorded with the value of its search (after A. L. Samuel, "Some
studies in machine learning using the game of checkers II", 1967; the cycle of playing, searching
and fitting is that of T. Anthony, Z. Tian and D. Barber, "Thinking fast and slow with deep learning
and tree search", 2017). After 6, 12, 24 ... generations tables are fitted to all positions so far,
always from the first player's, and these then play on. A generation is a number of games.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from agents.endgame.tables import DIGESTS, load_tablebase
from agents.registry import make
from agents.search.player import AlphaBeta
from agents.search.workspace import MAX_DEPTH
from agents.treestrap.codec import STEP, pack
from agents.treestrap.fitting import fit
from agents.treestrap.network import SIZE, STAGES, TreeStrapNetwork
from agents.treestrap.sampling import Samples, SamplingConfig, sample
from agents.treestrap.tapered import TAPERED_ENTRIES, pack_network, unpack_network
from checkers_env.openings import TWO_MOVE, opening_board
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Champion, State, rng_from_json, rng_to_json
from training.regimes import make_champion, register
from training.regimes.self_play import CARDS, SelfPlayRegime
from training.runtime.validation import NoEffectWith, Range, validate_ranges

OF_SIDES = NoEffectWith(sides=(0,))


@register
@dataclass(frozen=True)
class Refit(SelfPlayRegime):
    """Constants of the method."""

    kind: ClassVar[str] = "refit"
    results_version: ClassVar[int] = 1

    start: str = "strong-1"
    """Player to begin with, by name or weight file: one that preset `strong-1` has trained."""
    nodes: Annotated[int, Range(1, 1_000_000)] = 500
    """Positions that a search for a move visits."""
    side_nodes: Annotated[int, Range(1, 1_000_000), OF_SIDES] = 300
    """Positions that the search of a position aside of the game visits."""
    sides: Annotated[int, Range(0, 100)] = 2
    """Positions aside of each position of a game, which random moves lead to."""
    side_plies: Annotated[int, Range(1, 100), OF_SIDES] = 4
    """Most random plies that lead there."""
    epsilon: Annotated[float, Range(0.0, 1.0)] = 0.02
    """Share of random moves."""
    openings: Literal["none", "two-move", "three-move", "eleven-man"] = "three-move"
    """Ballot of the games' openings."""
    random_plies: Annotated[int, Range(0, 200)] = 10
    """Random plies after the opening, at most."""
    lam: Annotated[float, Range(0.0, 1.0)] = 0.95
    """Share of the search value in a target; the rest is the result of the game."""
    endgame: int = 4
    """Pieces of the endgame tables used in training and play (2 to 5)."""
    passes: Annotated[int, Range(1, 100)] = 4
    """Passes of a fit over all positions."""
    rate: Annotated[float, Range(1e-6, 1.0)] = 0.015
    """Step size of the windows' weights."""
    pair_rate: Annotated[float, Range(0.0, 1.0)] = 0.02
    """Step size of the weights of pairs."""
    first_fit: Annotated[int, Range(1, 1_000_000)] = 6
    """Generations before the first fit; the others come after 2, 4, 8 ... times as many."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 4
    """Plies of the search when it is measured, and in play by default."""
    cards: Annotated[int, Range(1, len(TWO_MOVE))] = len(TWO_MOVE)
    """Cards of the two-move ballot in its own evaluation, a game a colour with each."""

    def __post_init__(self) -> None:
        validate_ranges(self)
        if self.endgame not in DIGESTS:
            raise ValueError(f"endgame must be 2 to {max(DIGESTS)}, not {self.endgame}")

    def init(self, seed: int) -> State:
        """Begin without positions, with the first player."""
        start_tables(self.start)  # an error before the games, not after them
        arrays: dict[str, NDArray[Any]] = {
            "packed": np.zeros(0, np.uint8),
            "positions": np.zeros((0, 4), np.int64),
            "targets": np.zeros(0, np.float32),
        }
        return State(0, rng_to_json(np.random.default_rng(seed)), arrays)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play the games of a generation in one thread; fit the tables when it is time."""
        rng, generation = rng_from_json(state.rng), state.generation + 1
        new = sample(
            self._network(state),
            self.games,
            rng,
            self.configure(SamplingConfig),
            starts=[opening_board(card).position for card in CARDS[self.openings]],
            tables=load_tablebase(self.endgame),
        )
        positions = np.concatenate([state.arrays["positions"], new.positions])
        targets = np.concatenate([state.arrays["targets"], new.targets])
        packed = state.arrays["packed"]
        if self.fits_at(generation):
            rates = self.rate, self.pair_rate
            samples = Samples(positions, targets)
            packed = pack_network(*fit(start_tables(self.start), samples, self.passes, rng, rates))
        arrays = {"packed": packed, "positions": positions, "targets": targets}
        metrics = {
            "samples/count": float(len(targets)),
            "samples/mean_size": float(np.abs(new.targets).mean()),
        }
        return State(generation, rng_to_json(rng), arrays), metrics

    def fits_at(self, generation: int) -> bool:
        """Return whether the tables are fitted after a generation."""
        times, rest = divmod(generation, self.first_fit)
        return rest == 0 and times.bit_count() == 1

    def metrics(self, state: State) -> Metrics:
        """Summarise nothing: the weights are packed."""
        return {}

    measured_at = fits_at

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the tables of the last fit; before it, those of the first player."""
        options = {"step": STEP, "entries": TAPERED_ENTRIES, "endgame": self.endgame}
        if (packed := state.arrays["packed"]).size:
            return make_champion(self, state, "tapered", packed, options=options)
        options["entries"] = STAGES * SIZE
        packed = pack(start_tables(self.start))
        return make_champion(self, state, "treestrap", packed, options=options)

    def contenders(self, state: State) -> list[AlphaBeta]:
        """Return the present tables as a player."""
        player = AlphaBeta(self._network(state), self.depth)
        return [player._replace(tablebase=load_tablebase(self.endgame))]

    def _network(self, state: State) -> Any:
        """Return the evaluator that plays: the last fit's, or the first player's."""
        packed = state.arrays["packed"]
        return unpack_network(packed) if packed.size else start_network(self.start)


def start_network(start: str) -> TreeStrapNetwork:
    """Return the evaluator of the player to begin with.

    Raises
    ------
    ValueError
        For an unknown player, or one of another kind.
    """
    agent = make(Path(start) if Path(start).is_file() else start)
    evaluator = getattr(getattr(agent, "player", None), "evaluator", None)
    if not isinstance(evaluator, TreeStrapNetwork):
        raise ValueError(f"start must be a player trained by treestrap, not {start!r}")
    return evaluator


@functools.lru_cache(1)
def start_tables(start: str) -> NDArray[np.float32]:
    """Return the tables of the player to begin with, float32, shape (STAGES, SIZE)."""
    network = start_network(start)
    return network.table.astype(np.float32) * np.float32(network.step)
