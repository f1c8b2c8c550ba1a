"""Train a small network on the search values of self-play, in rounds: the strong player.

A teacher plays itself, and each position is recorded with the value of its search (after A. L.
Samuel, "Some studies in machine learning using the game of checkers II", 1967; the cycle of
playing, searching and learning is that of T. Anthony, Z. Tian and D. Barber, "Thinking fast and
slow with deep learning and tree search", 2017). The network learns from the latest positions in
random order; then it is the next teacher. A generation is a number of games, or of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from agents.endgame.tables import DIGESTS, load_tablebase
from agents.nnue.learner import PARTS, Examples, Learner, learn, start_learner, to_examples
from agents.nnue.network import nnue, pack_genome
from agents.nnue.sampling import SamplingConfig, sample
from agents.registry import make
from agents.search.player import AlphaBeta
from agents.search.selective import Selective
from agents.search.workspace import MAX_DEPTH
from checkers_env.openings import opening_board
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Champion, State, rng_to_json
from training.regimes import make_champion, register
from training.regimes.self_play import CARDS, SelfPlayRegime
from training.runtime.executors import stop_requested
from training.runtime.validation import NoEffectWith, Range, validate_ranges

OF_SIDES = NoEffectWith(sides=(0,))
WARM_UP = 500  # steps in which the rate rises


@register
@dataclass(frozen=True)
class Bootstrap(SelfPlayRegime):
    """Constants of the method."""

    kind: ClassVar[str] = "bootstrap"
    results_version: ClassVar[int] = 2
    curve_options = ("engine",)

    start: str = "strong-2"
    """First teacher, by name or weight file: a player that searches selectively."""
    play: Annotated[int, Range(1, 100_000)] = 50
    """Generations of games with one teacher."""
    study: Annotated[int, Range(1, 100_000)] = 10
    """Generations of learning that follow, without games; over them the rate falls to 0."""
    parts: Annotated[int, Range(1, 1000)] = 2
    """Parts of a generation's games, which can be played at once; another number, other games."""
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
    lam: Annotated[float, Range(0.0, 1.0)] = 0.9
    """Share of the search value in a target; the rest is the result of the game."""
    endgame: int = 4
    """Pieces of the endgame tables used in training and play (2 to 5)."""
    window: Annotated[int, Range(1, 1_000_000_000)] = 45_000_000
    """Positions to learn from: the latest ones."""
    steps: Annotated[int, Range(1, 1_000_000)] = 2_500
    """Steps in a generation of learning."""
    batch: Annotated[int, Range(1, 1_000_000)] = 16_384
    """Positions of a step, drawn with replacement; a multiple of 4."""
    rate: Annotated[float, Range(0.0, 1.0)] = 0.01
    """Step size at the start of learning."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 4
    """Plies of the search when it is measured, and in play by default."""

    def __post_init__(self) -> None:
        validate_ranges(self)
        if self.endgame not in DIGESTS:
            raise ValueError(f"endgame must be 2 to {max(DIGESTS)}, not {self.endgame}")
        if self.batch % PARTS:
            raise ValueError(f"batch must be a multiple of {PARTS}, not {self.batch}")

    def init(self, seed: int) -> State:
        """Begin with random weights, without positions."""
        rng = np.random.default_rng(seed)
        arrays: dict[str, NDArray[Any]] = {
            **start_learner(rng)._asdict(),
            **Examples(np.zeros((0, 3), np.uint32), np.zeros(0, np.float32))._asdict(),
            "teacher": np.zeros(0, np.float32),
            "seed": np.array([seed], np.uint64),
        }
        return State(0, rng_to_json(rng), arrays)

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play the games of a generation, or learn from the latest positions."""
        arrays, generation = dict(state.arrays), state.generation
        rounds, begun = divmod(generation, self.play + self.study)
        if begun < self.play:
            if rounds and not begun:
                arrays["teacher"] = arrays["genome"]
            play = partial(self._play, arrays["teacher"], int(arrays["seed"][0]), generation)
            parts = runner.map(play, range(self.parts))
            new = Examples(*map(np.concatenate, zip(*parts, strict=True)))
            for name, array in new._asdict().items():
                arrays[name] = np.concatenate([arrays[name], array])[-self.window :]
            metrics = {
                "samples/count": float(len(arrays["targets"])),
                "samples/mean_size": float(np.abs(new.targets).mean()),
            }
        else:
            examples = Examples(arrays["boards"], arrays["targets"])
            rng = np.random.default_rng([int(arrays["seed"][0]), self.parts, generation])
            count = len(examples.targets)
            batches = (rng.integers(0, count, self.batch) for _ in range(self.steps))
            learnt = (begun - self.play) * self.steps
            done = learnt + np.arange(self.steps)
            falling = 1 - done / (self.study * self.steps)
            rates = self.rate * np.minimum(1, (done + 1) / WARM_UP) * falling
            learner = Learner(*(arrays[name] for name in Learner._fields))
            steps = rounds * self.study * self.steps + learnt
            learner, error = learn(
                learner, examples, batches, rates.astype(np.float32), steps, runner.map_threads
            )
            arrays |= learner._asdict()
            metrics = {"learning/error": error}
        return State(generation + 1, state.rng, arrays), metrics

    def _play(
        self, teacher: NDArray[np.float32], seed: int, generation: int, part: int
    ) -> Examples:
        """Play a part of a generation's games, unless asked to stop; return their positions."""
        first, last = (self.games * at // self.parts for at in (part, part + 1))
        samples = sample(
            nnue(teacher) if teacher.size else start_network(self.start),
            last - first,
            np.random.default_rng([seed, part, generation]),
            self.configure(SamplingConfig),
            starts=[opening_board(card).position for card in CARDS[self.openings]],
            tables=load_tablebase(self.endgame),
            stop=stop_requested,
        )
        return to_examples(samples)

    def metrics(self, state: State) -> Metrics:
        """Summarise the weights."""
        return {"weights/rms": float(np.sqrt(np.mean(state.arrays["genome"] ** 2)))}

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the network."""
        genome = pack_genome(state.arrays["genome"])
        return make_champion(self, state, "nnue", genome, options={"endgame": self.endgame})

    def contenders(self, state: State) -> list[AlphaBeta]:
        """Return the network as a player."""
        player = AlphaBeta(nnue(state.arrays["genome"]), self.depth)
        return [player._replace(tablebase=load_tablebase(self.endgame))]


def start_network(start: str) -> Any:
    """Return the evaluator of the first teacher.

    Raises
    ------
    ValueError
        For an unknown player, or one that does not search selectively.
    """
    agent = make(Path(start) if Path(start).is_file() else start)
    player = getattr(agent, "player", None)
    if not (isinstance(player, AlphaBeta) and isinstance(player.style, Selective)):
        raise ValueError(f"start must be a player that searches selectively, not {start!r}")
    return player.evaluator
