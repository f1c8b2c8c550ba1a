"""TreeStrap learning: targets for the positions of a game, and the updates towards them.

The target of a position is a lambda-return of search values (Sutton 1988). V is the value of a
search from the position, G the target of the next position, each for its side to move:

    target = (1 - lambda) * V - lambda * G

After the last position, -G is the result. If the move was random, the target is V: the rest of the
game says nothing about the position. If only one move was legal, there was no search, and the
target is -G. Each entry that the position sums then gets a share of the error (v is tanh of the
sum):

    w += alpha / terms * |E| / A * (target - v);    E += target - v;    A += |target - v|

This is temporal coherence (Beal and Smith 1999): the steps of an entry are large while its errors
agree in sign, and become small when they cancel out.

The positions inside a search are learnt in the same way (TreeStrap: Veness, Silver, Uther and Blair
2009). Their target is the value that the search found; a bound counts only if v violates it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.evaluator import evaluate, start_state
from agents.search.transposition import EXACT, LOWER, NONE, UPPER, position_of, tag_of
from agents.search.workspace import STATE_WIDTH
from agents.treestrap.network import SIZE, STAGES, TERMS, TreeStrapNetwork, stage_of, write_entries
from checkers_env.bits import lsb, prefetch
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position, must_jump

SEARCHED, FORCED, EXPLORED = range(3)  # kinds of moves
LARGEST_ALPHA = 10.0
SIGNED, ABSOLUTE = 0, 1  # sums of the errors of an entry
BLACK_WINS, WHITE_WINS, DRAWS, PLIES, UPDATES = range(5)  # counters


class TreeStrapConfig(NamedTuple):
    """Settings of the learner."""

    alpha: float = 2.0  # step size
    lam: float = 0.8  # Lambda of the returns
    depth: int = 4  # plies of the searches, 1 to 64
    epsilon: float = 0.05  # share of moves chosen at random
    # Most random plies after the opening; each number up to it is equally likely.
    random_plies: int = 8
    max_plies: int = 200  # plies after which a game is drawn
    # Learn only about positions without a capture: the search evaluates no others.
    quiet: bool = True
    # The second occurrence of a position ends a game as a draw, and the players know it.
    repetition: bool = True
    coherence: bool = True  # adapt the steps by temporal coherence; otherwise |E| / A is 1
    # Learn also about the positions inside a search that were searched to this many plies or more;
    # 0 for none.
    inner: int = 2


class LearnerState(NamedTuple):
    """Arrays of a learner for the kernels. Use :func:`learner_state` to make one."""

    network: TreeStrapNetwork
    errors: NDArray[np.float32]  # (STAGES, SIZE, 2): SIGNED and ABSOLUTE sums
    config: TreeStrapConfig
    positions: NDArray[np.int64]  # (plies, 4): the positions of a game
    values: NDArray[np.float64]  # (plies,): V
    kinds: NDArray[np.int64]  # (plies,)
    state: NDArray[np.int32]
    entries: NDArray[np.int64]  # (TERMS,)
    counters: NDArray[np.int64]  # (5,)
    deviation: NDArray[np.float64]  # (1,): sum of |target - v|


def learner_state(
    network: TreeStrapNetwork, errors: NDArray[np.float32], config: TreeStrapConfig
) -> LearnerState:
    """Return a learner that writes to the network's tables and `errors`, float32[STAGES, SIZE, 2].

    Raise ValueError for arrays that do not fit.
    """
    kinds = map(type, TreeStrapConfig())
    coerced = TreeStrapConfig._make(kind(value) for kind, value in zip(kinds, config, strict=True))
    if network.table.dtype != np.float32:
        raise ValueError(f"learning takes tables of float32, not of {network.table.dtype}")
    if errors.shape != (STAGES, SIZE, 2) or errors.dtype != np.float32:
        raise ValueError(f"errors are float32[{STAGES}, {SIZE}, 2], not {errors.shape}")
    return LearnerState(
        network,
        errors,
        coerced,
        np.zeros((coerced.max_plies + 1, 4), np.int64),
        np.zeros(coerced.max_plies + 1),
        np.zeros(coerced.max_plies + 1, np.int64),
        np.zeros(STATE_WIDTH, np.int32),
        np.zeros(TERMS, np.int64),
        np.zeros(5, np.int64),
        np.zeros(1),
    )


@kernel
def learn_game(learner: LearnerState, plies: int, result: float, scratch: KernelArg) -> None:
    """Learn from the positions of a game by lambda-returns (Sutton 1988).

    `result` is -1, 0 or +1 for the side to move at its end.
    """
    config, target = learner.config, result
    for ply in range(plies - 1, -1, -1):
        kind, value = learner.kinds[ply], learner.values[ply]
        target = -target
        if kind == EXPLORED:
            target = value
        elif kind == SEARCHED:
            target = (1.0 - config.lam) * value + config.lam * target
        row = learner.positions[ply]
        position = Position(row[0], row[1], row[2], row[3])
        move_towards(learner, position, target, EXACT, scratch)


@kernel
def treestrap_update(learner: LearnerState, ws: KernelArg, tt_namespace: int, scale: float) -> None:
    """Learn about the inner positions of a search (TreeStrap: Veness et al. 2009).

    These are the positions that the transposition table still holds. `scale` is the searcher's
    :func:`agents.evaluator.value_scale`.
    """
    for word in range(len(ws.stored)):
        bits, ws.stored[word] = ws.stored[word], 0
        while bits:
            entry = ws.table[word << 6 | lsb(bits)]
            bits &= bits - 1
            tag, bound = tag_of(entry), entry.bound
            if tag >> 8 == tt_namespace and tag & 127 >= learner.config.inner and bound != NONE:
                position = position_of(entry)
                target = min(max(entry.value / scale, -1.0), 1.0)
                move_towards(learner, position, target, bound, ws.scratch)


@kernel
def move_towards(
    learner: LearnerState, position: Position, target: float, bound: int, scratch: KernelArg
) -> None:
    """Move the entries of one position towards a target (temporal coherence: Beal and Smith 1999).

    A `bound` of LOWER or UPPER makes the target count on one side only.
    """
    if learner.config.quiet and must_jump(position):
        return
    network, config, entries = learner.network, learner.config, learner.entries
    state = learner.state[: len(network.empty)]
    start_state(network, position, position.turn, state)
    write_entries(network, position, position.turn, state, entries)
    stage = stage_of(position)
    weights, errors = network.table[stage], learner.errors[stage]
    for entry in entries:
        prefetch(errors, entry)
    error = target - evaluate(network, position, position.turn, state, scratch)
    if (bound == LOWER and error <= 0.0) or (bound == UPPER and error >= 0.0):
        return
    learner.counters[UPDATES] += 1
    learner.deviation[0] += abs(error)
    step = config.alpha * error / TERMS
    for entry in entries:
        sums = errors[entry]
        rate = 1.0
        if config.coherence and sums[ABSOLUTE] > 0.0:
            rate = abs(sums[SIGNED]) / sums[ABSOLUTE]
        weights[entry] += step * rate
        sums[SIGNED] += error
        sums[ABSOLUTE] += abs(error)
