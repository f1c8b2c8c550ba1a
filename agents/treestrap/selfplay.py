"""Self-play of the network; it learns after each game."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import DRAWN, Tablebase
from agents.evaluator import NO_HIT, probe_tablebase, value_scale
from agents.match_kernel import SelfPlayStats
from agents.search.alphabeta import search
from agents.search.interrupt import defer_signals
from agents.search.root_order import shuffle, swap_rows
from agents.search.selective import FULL_WIDTH, clear_move_ordering
from agents.search.workspace import NAMESPACES, workspace
from agents.treestrap.learner import (
    DRAWS,
    EXPLORED,
    FORCED,
    PLIES,
    SEARCHED,
    UPDATES,
    LearnerState,
    TreeStrapConfig,
    learn_game,
    learner_state,
    treestrap_update,
)
from agents.treestrap.network import TreeStrapNetwork
from checkers_env.bits import borrowed
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import (
    BLACK,
    START_BLACK,
    START_WHITE,
    Position,
    generate_successors,
    successor,
)

START = ((START_BLACK, START_WHITE, 0, BLACK),)
EMPTY = -1  # boards of an entry that is of no position and no namespace
WITH_VALUES = FULL_WIDTH._replace(takes_shortcuts=False)  # its table has more values to learn from
UNDECIDED = 2.0  # a result; the others are +1, 0 and -1 for the side to move


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
    learner = learner_state(network, errors, config)
    ws = workspace()
    searcher = network if tables is None else TablebaseEvaluator(network, tables)
    with defer_signals(ws):
        play_games(learner, searcher, games, positions, ws, rng)
    counts = learner.counters.tolist()
    return SelfPlayStats._make([*counts, float(learner.deviation[0]) / max(counts[UPDATES], 1)])


@kernel
def play_games(
    learner: LearnerState,
    searcher: KernelArg,
    games: int,
    starts: KernelArg,
    ws: KernelArg,
    rng: KernelArg,
) -> None:
    """Play the games, and learn from each, until the stop flag is set."""
    learner, searcher = borrowed(learner), borrowed(searcher)
    ws, starts = borrowed(ws), borrowed(starts)
    for _ in range(games):
        clear_table(ws)
        start = sample_start(learner.config.random_plies, starts, ws.rows, rng)
        plies, result, turn = play_one(learner, searcher, start, ws, rng)
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
    learner: LearnerState, searcher: KernelArg, start: Position, ws: KernelArg, rng: KernelArg
) -> tuple[int, float, int]:
    """Play and record a game, or its plies until the stop flag is set.

    Return its plies, the result (-1, 0 or +1), and the side that the result is for.
    """
    config, here = learner.config, start
    for ply in range(config.max_plies + 1):
        row = learner.positions[ply]
        row[0], row[1], row[2], row[3] = here.black, here.white, here.kings, here.turn
        count = generate_successors(ws.rows, 0, here.black, here.white, here.kings, here.turn)
        result = find_result(searcher, here, count == 0)
        if result != UNDECIDED:
            return ply, result, here.turn
        if (
            ply == config.max_plies
            or ws.stop[0]
            or (config.repetition and occurred_before(learner.positions, ply, here))
        ):
            return ply, 0.0, here.turn
        here = choose_and_record(learner, searcher, ply, here, count, ws, rng)
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
    learner: LearnerState,
    searcher: KernelArg,
    ply: int,
    here: Position,
    count: int,
    ws: KernelArg,
    rng: KernelArg,
) -> Position:
    """Choose a move, and record its kind and value; return the next position."""
    config, rows, mover, scale = learner.config, ws.rows, here.turn, value_scale(searcher)
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
            treestrap_update(learner, ws, ws.counts[NAMESPACES], scale)
            ws.counts[NAMESPACES] += 1  # the weights have changed: the table is out of date
    learner.values[ply] = min(max(value / scale, -1.0), 1.0)
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
