"""TreeStrap learning: self-play of the network, which learns after each game.

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
from numpy.typing import ArrayLike, NDArray

from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import DRAWN, Tablebase
from agents.evaluator import NO_HIT, evaluate, probe_tablebase, start_state, value_scale
from agents.match_kernel import SelfPlayStats
from agents.search.alphabeta import search
from agents.search.interrupt import defer_signals
from agents.search.root_order import shuffle, swap_rows
from agents.search.selective import FULL_WIDTH, clear_move_ordering
from agents.search.transposition import EXACT, LOWER, NONE, UPPER, position_of, tag_of
from agents.search.workspace import NAMESPACES, STATE_WIDTH, workspace
from agents.treestrap.network import SIZE, STAGES, TERMS, TreeStrapNetwork, stage_of, write_entries
from checkers_env.bits import borrowed, lsb, prefetch
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK,
    START_BLACK,
    START_WHITE,
    Position,
    generate_successors,
    must_jump,
    successor,
)

SEARCHED, FORCED, EXPLORED = range(3)  # kinds of moves
LARGEST_ALPHA = 10.0
SIGNED, ABSOLUTE = 0, 1  # sums of the errors of an entry
BLACK_WINS, WHITE_WINS, DRAWS, PLIES, UPDATES = range(5)  # counters
START = ((START_BLACK, START_WHITE, 0, BLACK),)
EMPTY = -1  # boards of an entry that is of no position and no namespace
WITH_VALUES = FULL_WIDTH._replace(takes_shortcuts=False)  # its table has more values to learn from
UNDECIDED = 2.0  # a result; the others are +1, 0 and -1 for the side to move


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
    searcher: KernelArg  # evaluates in searches: the network, or with endgame tables
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
    network: TreeStrapNetwork,
    errors: NDArray[np.float32],
    config: TreeStrapConfig,
    tables: Tablebase | None = None,
) -> LearnerState:
    """Return a learner that writes to the network's tables and `errors`, float32[STAGES, SIZE, 2].

    Its searches probe endgame tables, if there are any. Raise ValueError for arrays that do not
    fit.
    """
    kinds = map(type, TreeStrapConfig())
    coerced = TreeStrapConfig._make(kind(value) for kind, value in zip(kinds, config, strict=True))
    if network.table.dtype != np.float32:
        raise ValueError(f"learning takes tables of float32, not of {network.table.dtype}")
    if errors.shape != (STAGES, SIZE, 2) or errors.dtype != np.float32:
        raise ValueError(f"errors are float32[{STAGES}, {SIZE}, 2], not {errors.shape}")
    return LearnerState(
        network,
        network if tables is None else TablebaseEvaluator(network, tables),
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
    write_entries(position, position.turn, state, entries)
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


def learn(
    network: TreeStrapNetwork,
    errors: NDArray[np.float32],
    games: int,
    rng: np.random.Generator,
    config: TreeStrapConfig = TreeStrapConfig(),  # noqa: B008 - immutable
    *,
    starts: ArrayLike = START,
    tables: Tablebase | None = None,
) -> SelfPlayStats:
    """Play games of the network against itself; change `network` and `errors` in place.

    Ctrl-C ends the games at once. The weights are then those of an unfinished game. Several calls
    with one generator equal a single call. `errors`, float32[STAGES, SIZE, 2], are zeros at first.
    Each game begins with a random one of `starts`, int64[positions, 4]: black, white, kings, turn.
    With endgame tables the searches probe them, and a game ends at a position in them.

    Raise ValueError for arrays that do not fit.
    """
    positions = np.array(starts, np.int64)
    if positions.ndim != 2 or positions.shape[1] != 4:
        raise ValueError("starts are positions, one or more: black, white, kings and turn")
    learner, ws = learner_state(network, errors, config, tables), workspace()
    with defer_signals(ws):
        play_games(learner, games, positions, ws, rng)
    counts = learner.counters.tolist()
    return SelfPlayStats._make([*counts, float(learner.deviation[0]) / max(counts[UPDATES], 1)])


@kernel
def play_games(
    learner: LearnerState, games: int, starts: KernelArg, ws: KernelArg, rng: KernelArg
) -> None:
    """Play the games, and learn from each, until the stop flag is set."""
    learner, starts, ws = borrowed(learner), borrowed(starts), borrowed(ws)
    for _ in range(games):
        clear_table(ws)
        start = sample_start(learner.config.random_plies, starts, ws.rows, rng)
        plies, result, turn = play_one(learner, start, ws, rng)
        if ws.stop[0]:
            return
        learner.counters[PLIES] += plies
        if result == 0.0:
            learner.counters[DRAWS] += 1
        else:
            learner.counters[turn if result > 0.0 else 1 - turn] += 1
        learn_game(learner, plies, result, ws.scratch)


@kernel
def clear_table(ws: KernelArg) -> None:
    """Clear the transposition table: its content decides what is learnt."""
    ws.counts[NAMESPACES] = 0
    clear_move_ordering(ws)
    for at in range(len(ws.table)):
        entry = ws.table[at]
        entry.black = entry.white = EMPTY


@kernel
def sample_start(random_plies: int, starts: KernelArg, rows: KernelArg, rng: KernelArg) -> Position:
    """Return a random starting position after some random plies."""
    row = starts[rng.integers(0, len(starts)) if len(starts) > 1 else 0]
    here = Position(row[0], row[1], row[2], row[3])
    plies = rng.integers(0, random_plies + 1) if random_plies else 0
    for _ in range(plies):
        count = generate_successors(rows, 0, here.black, here.white, here.kings, here.turn)
        if count == 0:
            break
        here = successor(rows[rng.integers(0, count)], here.turn)
    return here


@kernel
def play_one(
    learner: LearnerState, start: Position, ws: KernelArg, rng: KernelArg
) -> tuple[int, float, int]:
    """Play and record a game, or its plies until the stop flag is set.

    Return its plies, the result (-1, 0 or +1), and the side that the result is for.
    """
    config, here = learner.config, start
    for ply in range(config.max_plies + 1):
        row = learner.positions[ply]
        row[0], row[1], row[2], row[3] = here.black, here.white, here.kings, here.turn
        count = generate_successors(ws.rows, 0, here.black, here.white, here.kings, here.turn)
        result = find_result(learner.searcher, here, count == 0)
        if result != UNDECIDED:
            return ply, result, here.turn
        if (
            ply == config.max_plies
            or ws.stop[0]
            or (config.repetition and occurred_before(learner.positions, ply, here))
        ):
            return ply, 0.0, here.turn
        here = choose_and_record(learner, ply, here, count, ws, rng)
    return 0, 0.0, here.turn


@kernel
def find_result(searcher: KernelArg, position: Position, over: bool) -> float:
    """Return the result for the side to move, -1, 0 or +1, or UNDECIDED.

    A searcher with endgame tables knows more results.
    """
    plies = probe_tablebase(searcher, position, over)
    if plies == NO_HIT:
        return -1.0 if over else UNDECIDED
    if plies == DRAWN:
        return 0.0
    return 1.0 if plies & 1 else -1.0


@kernel
def occurred_before(positions: KernelArg, ply: int, position: Position) -> bool:
    """Return whether the position, reached at `ply`, occurred before in the game."""
    men = (position.black | position.white) & ~position.kings
    for back in range(ply - 2, -1, -2):
        then = positions[back]
        if (then[0] | then[1]) & ~then[2] != men:
            return False
        if then[0] == position.black and then[1] == position.white:
            return True
    return False


@kernel
def choose_and_record(
    learner: LearnerState, ply: int, here: Position, count: int, ws: KernelArg, rng: KernelArg
) -> Position:
    """Choose a move, and record its kind and value; return the next position."""
    config, searcher, rows, mover = learner.config, learner.searcher, ws.rows, here.turn
    if count == 1:
        learner.kinds[ply] = FORCED
        return successor(rows[0], mover)
    explores = config.epsilon > 0.0 and rng.random() < config.epsilon
    learner.kinds[ply] = EXPLORED if explores else SEARCHED
    shuffle(rows, count, rng)
    chance = successor(rows[0], mover)
    new = new_first(learner, ply, mover, rows, count) if config.repetition else count
    chosen, value = successor(rows[count - 1], mover), 0.0
    if new:
        search(WITH_VALUES, searcher, here, config.depth, True, ws.counts[NAMESPACES], ws, new)
        found = ws.frames[0].value
        if new == count or found >= 0.0:
            chosen, value = successor(rows[ws.frames[0].best], mover), found
        if config.inner:
            treestrap_update(learner, ws, ws.counts[NAMESPACES], value_scale(searcher))
            ws.counts[NAMESPACES] += 1  # the weights have changed: the table is out of date
    learner.values[ply] = min(max(value / value_scale(searcher), -1.0), 1.0)
    return chance if explores else chosen


@kernel
def new_first(learner: LearnerState, ply: int, mover: int, rows: KernelArg, count: int) -> int:
    """Move successors that are no repetition to the front; return how many there are."""
    new = 0
    for at in range(count):
        if not occurred_before(learner.positions, ply + 1, successor(rows[at], mover)):
            swap_rows(rows, new, at)
            new += 1
    return new
