"""An evaluator of your own: compiled into the search, evolved, and trained by self-play.

Its value is tanh of the piece difference and two weighted features. One call of
`architectures.register` lets training, weight files and the web page know it.
"""

from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import agents
from agents.architectures import Architecture, register
from agents.baselines.material import piece_difference
from agents.evaluator import (
    advance_state,
    apply_gradient,
    evaluate,
    is_antisymmetric,
    logit,
    start_state,
    state_size,
)
from agents.simd import tanh
from checkers_env.bits import popcount
from checkers_env.board import Board
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import BLACK, Position
from training.regimes import Regime
from training.regimes.coevolution import Coevolution
from training.regimes.td_learning import TDLearning
from training.trainer.loop import CHAMPION_FILE, RunConfig, begin, train

FAR_HALF = (0x7FBFC0000, 0x00001FEFF)  # the last four rows on Black's and on White's way
BACK_ROW = (0x00000000F, 0x780000000)  # the first row of Black and of White
FEATURES = ("advanced men", "men on the back row")
SCALE = 0.1  # of the sum: keeps tanh away from its limits


class Advance(NamedTuple):
    """Piece difference, where a king counts `king` men, and weighted features."""

    weights: NDArray[np.float64]
    king: float


@kernel
def write_features(position: Position, view: int, state: KernelArg) -> None:
    black, white = position.black & ~position.kings, position.white & ~position.kings
    state[0] = popcount(black & FAR_HALF[0]) - popcount(white & FAR_HALF[1])
    state[1] = popcount(black & BACK_ROW[0]) - popcount(white & BACK_ROW[1])
    if view != BLACK:
        state[0], state[1] = -state[0], -state[1]


@state_size.register(Advance)
def size_advance(evaluator: Advance) -> int:
    return 2


@start_state.register(Advance)
def start_advance(evaluator: Advance, position: Position, view: int, state: KernelArg) -> None:
    write_features(position, view, state)


@advance_state.register(Advance)
def advance_advance(
    evaluator: Advance, before: Position, after: Position, view: int, old: KernelArg, new: KernelArg
) -> None:
    write_features(after, view, new)


@logit.register(Advance)
def sum_advance(evaluator: Advance, position: Position, view: int, state: KernelArg) -> float:
    worth = float(piece_difference(position, view, evaluator.king))
    for i in range(len(state)):
        worth += evaluator.weights[i] * state[i]
    return SCALE * worth


@evaluate.register(Advance)
def evaluate_advance(
    evaluator: Advance, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    return tanh(logit(evaluator, position, view, state))


# Coevolution needs none of the two following functions; temporal differences do.
@apply_gradient.register(Advance)
def teach_advance(evaluator: Advance, state: KernelArg, step: float) -> None:
    for i in range(len(state)):
        evaluator.weights[i] += step * SCALE * state[i]


@is_antisymmetric.register(Advance)
def is_advance_antisymmetric(evaluator: Advance) -> bool:
    return True


def explain(evaluator: Advance, position: Position) -> dict[str, float]:
    """Return the parts of the logit for the side to move, which the web page shows."""
    state = np.zeros(len(FEATURES), np.int32)
    write_features(position, position.turn, state)
    pieces = float(piece_difference(position, position.turn, evaluator.king))
    parts = dict(zip(FEATURES, SCALE * evaluator.weights * state, strict=True))
    return {"piece difference": SCALE * pieces} | parts


register("advance", Architecture(Advance, Advance, size=2, initial=(0.2, 0.2), explain=explain))


def train_champion(name: str, regime: Regime) -> str:
    """Train for a few generations; return the champion's weight file."""
    config = RunConfig(name, regime, generations=3, seed=0, folder=Path(mkdtemp()) / name)
    train(config, begin(config), lambda state, metrics: None)
    return str(config.folder / CHAMPION_FILE)


if __name__ == "__main__":
    evolved = train_champion("evolved", Coevolution("advance", parents=4, opponents=2, depth=2))
    taught = train_champion("taught", TDLearning("advance", games=50, alpha=0.05, depth=2))
    players = [agents.make(evolved), agents.make(taught)]
    board = Board()
    while not board.outcome():
        board.push(players[board.turn].act(board))
    print(*(player.player.evaluator for player in players), board, board.outcome(), sep="\n")
