"""Self-play with a limit of positions a move, recorded as positions and search values.

The targets of :mod:`agents.nnue.learner`. Each move is chosen by a selective search, whose
value is the target of the position. A search meets other positions than a game does: most follow
a mistake. So some random moves lead aside from each position of the game, and what they lead to
is searched and recorded, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import DRAWN, Tablebase
from agents.evaluator import NO_HIT, probe_tablebase, value_scale
from agents.match_kernel import find_row
from agents.search.alphabeta import INFINITY, search
from agents.search.interrupt import defer_signals
from agents.search.root_order import shuffle
from agents.search.selective import (
    FORMER,
    Selective,
    clear_move_ordering,
    count_reversible_plies,
    set_position_history,
)
from agents.search.workspace import MAX_DEPTH, NAMESPACES, workspace
from checkers_env.bits import borrowed
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position, generate_successors, must_jump, successor
from checkers_env.state import repetition_period

TABLE_BITS = 14  # of the transposition table
UNDECIDED = 2.0  # a result; the others are +1, 0 and -1 for the side to move
NO_PROGRESS = 80  # reversible plies after which a game is drawn


class SamplingConfig(NamedTuple):
    """Settings of the games."""

    nodes: int = 500  # positions visited by the search for a move
    side_nodes: int = 300  # positions visited by the search of a position aside of the game
    sides: int = 2  # positions aside of each position of the game
    side_plies: int = 4  # most random plies that lead to them; each number from 1 is equally likely
    epsilon: float = 0.02  # share of moves chosen at random
    random_plies: int = 10  # most random plies after the opening
    max_plies: int = 300  # plies after which a game is drawn
    # Share of the search value in the target of a position of the game. The rest is the result.
    lam: float = 0.95


class Samples(NamedTuple):
    """Positions where the side to move has no capture, and their targets."""

    positions: NDArray[np.int64]  # (samples, 4): black, white, kings, turn
    targets: NDArray[np.float32]  # (samples,): for the side to move, -1 to +1


class Sampler(NamedTuple):
    """Arrays of a sampler for the kernels."""

    config: SamplingConfig
    style: Selective
    side_style: Selective
    searcher: KernelArg
    starts: NDArray[np.int64]
    positions: NDArray[np.int64]  # (plies, 4): the positions of a game
    samples: Samples  # room for a batch of games
    from_game: NDArray[np.bool_]  # (samples,): false for those aside


def sample(
    network: KernelArg,
    games: int,
    rng: np.random.Generator,
    config: SamplingConfig = SamplingConfig(),  # noqa: B008 - immutable
    *,
    starts: ArrayLike,
    tables: Tablebase,
    stop: Callable[[], bool] = lambda: False,
) -> Samples:
    """Play games of a network against itself, and record positions with their search values.

    Each game begins with a random one of `starts`, int64[positions, 4]: black, white, kings, turn.
    Searches probe the endgame tables, and a game ends at a position in them. Raise ValueError for
    starts that are no positions.
    """
    positions = np.array(starts, np.int64)
    if positions.ndim != 2 or positions.shape[1] != 4 or not len(positions):
        raise ValueError("starts are positions, one or more: black, white, kings and turn")
    most = config.max_plies * (1 + config.sides)
    sampler = Sampler(
        config,
        FORMER._replace(table_bits=TABLE_BITS, nodes=config.nodes),
        FORMER._replace(table_bits=TABLE_BITS, nodes=config.side_nodes),
        TablebaseEvaluator(network, tables),
        positions,
        np.zeros((config.max_plies + 1, 4), np.int64),
        Samples(np.zeros((most, 4), np.int64), np.zeros(most, np.float32)),
        np.zeros(most, np.bool_),
    )
    ws, batch = workspace(TABLE_BITS), [[array[:0] for array in sampler.samples]]
    for _ in range(games):
        if stop():
            break
        with defer_signals(ws):
            count = sample_game(sampler, ws, rng)
        batch.append([array[:count].copy() for array in sampler.samples])
    return Samples(*map(np.concatenate, zip(*batch, strict=True)))


@kernel
def sample_game(sampler: Sampler, ws: KernelArg, rng: KernelArg) -> int:
    """Play a game, or until the stop flag is set; return the number of recorded samples."""
    sampler, ws = borrowed(sampler), borrowed(ws)
    config, rows = sampler.config, ws.rows
    ws.counts[NAMESPACES] += 1
    clear_move_ordering(ws)
    here = sample_start(config.random_plies, sampler.starts, rows, rng)
    reversible, count = 0, 0
    for ply in range(config.max_plies + 1):
        if ws.stop[0]:
            break
        row = sampler.positions[ply]
        row[0], row[1], row[2], row[3] = here.black, here.white, here.kings, here.turn
        moves = generate_successors(rows, 0, here.black, here.white, here.kings, here.turn)
        result = find_result(sampler.searcher, here, moves == 0)
        if result == UNDECIDED and (
            ply == config.max_plies
            or reversible >= NO_PROGRESS
            or repetition_period(sampler.positions, ply, here.black, here.white, reversible)
        ):
            result = 0.0
        if result != UNDECIDED:
            blend_result(sampler, count, here.turn, result)
            return count
        shuffle(rows, moves, rng)
        chosen = successor(rows[0], here.turn)
        if moves > 1:
            chance = chosen
            set_position_history(ws, sampler.positions, ply, reversible)
            chosen, count = search_and_record(sampler, sampler.style, here, ws, moves, count)
            count = sample_sides(sampler, here, ws, count, rng)
            if rng.random() < config.epsilon:
                chosen = chance
        reversible = count_reversible_plies(reversible, here, chosen)
        here = chosen
    return count


@kernel
def search_and_record(
    sampler: Sampler, style: Selective, position: Position, ws: KernelArg, moves: int, count: int
) -> tuple[Position, int]:
    """Search a position, and record it with its value if the side to move has no capture.

    A search whose limit is below its first line has no value; its position is not recorded. Return
    the position after the best move, and the number of samples.
    """
    tag = ws.counts[NAMESPACES] << 1 | position.turn
    path = search(style, sampler.searcher, position, MAX_DEPTH, True, tag, ws, moves)
    after = successor(ws.rows[find_row(ws.rows, moves, path)], position.turn)
    found = ws.frames[0].value
    if must_jump(position) or found == -INFINITY:
        return after, count
    row = sampler.samples.positions[count]
    row[0], row[1], row[2], row[3] = position.black, position.white, position.kings, position.turn
    value = found / value_scale(sampler.searcher)
    sampler.samples.targets[count] = min(max(value, -1.0), 1.0)
    sampler.from_game[count] = True
    return after, count + 1


@kernel
def sample_sides(
    sampler: Sampler, here: Position, ws: KernelArg, count: int, rng: KernelArg
) -> int:
    """Record positions that random moves lead to; return the number of samples."""
    rows = ws.rows
    for _ in range(sampler.config.sides):
        position = here
        plies = 1 + rng.integers(0, sampler.config.side_plies)
        while True:
            black, white, kings, side = position
            moves = generate_successors(rows, 0, black, white, kings, side)
            if not moves or (plies <= 0 and not must_jump(position)):
                break
            position = successor(rows[rng.integers(0, moves)], side)
            plies -= 1
        if find_result(sampler.searcher, position, moves == 0) == UNDECIDED:
            ws.reversible_plies[0], before = 0, count
            _, count = search_and_record(sampler, sampler.side_style, position, ws, moves, count)
            if count > before:
                sampler.from_game[before] = False
    return count


@kernel
def blend_result(sampler: Sampler, count: int, side: int, result: float) -> None:
    """Blend the result of a game for side `side` into the targets of its positions."""
    lam, samples = sampler.config.lam, sampler.samples
    for at in range(count):
        if sampler.from_game[at]:
            own = result if samples.positions[at, 3] == side else -result
            samples.targets[at] = lam * samples.targets[at] + (1.0 - lam) * own


@kernel
def sample_start(random_plies: int, starts: KernelArg, rows: KernelArg, rng: KernelArg) -> Position:
    """Return a random starting position after some random plies."""
    row = starts[rng.integers(0, len(starts)) if len(starts) > 1 else 0]
    here = Position(row[0], row[1], row[2], row[3])
    for _ in range(rng.integers(0, random_plies + 1) if random_plies else 0):
        count = generate_successors(rows, 0, here.black, here.white, here.kings, here.turn)
        if count == 0:
            break
        here = successor(rows[rng.integers(0, count)], here.turn)
    return here


@kernel
def find_result(searcher: KernelArg, position: Position, over: bool) -> float:
    """Return the result for the side to move or UNDECIDED; endgame tables know more results."""
    plies = probe_tablebase(searcher, position, over)
    if plies == NO_HIT:
        return -1.0 if over else UNDECIDED
    if plies == DRAWN:
        return 0.0
    return 1.0 if plies & 1 else -1.0
