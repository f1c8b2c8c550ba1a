"""Games of the tables against themselves, each followed by its lesson."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.endgame.evaluator import TablebaseEvaluator
from agents.endgame.probe import DRAWN
from agents.evaluator import NO_HIT, probe_tablebase
from agents.match_kernel import SelfPlayStats
from agents.search.alphabeta import search
from agents.search.interrupt import defer_signals
from agents.search.player import shuffle
from agents.search.selective import FULL_WIDTH, clear_move_ordering
from agents.search.workspace import workspace
from agents.treestrap.learner import (
    DRAWS,
    EXPLORED,
    FORCED,
    PLIES,
    SEARCHED,
    UPDATES,
    Lesson,
    Method,
    learn_game,
    learn_tree,
    lesson,
)
from agents.treestrap.network import Windows
from checkers_env.bits import borrowed
from checkers_env.jit import kernel
from checkers_env.movegen import (
    BLACK,
    START_BLACK,
    START_WHITE,
    Position,
    generate_successors,
    successor,
)

START = ((START_BLACK, START_WHITE, 0, BLACK),)
NOBODYS = -1  # a tag that no search has
UNDECIDED = 2.0  # as a result; the others are +1, 0 and -1 for the side to move


def learn(
    system: Windows,
    errors: Any,
    games: int,
    rng: np.random.Generator,
    method: Method = Method(),  # noqa: B008 - immutable
    *,
    starts: Any = START,
    tables: Any = None,
) -> SelfPlayStats:
    """Play games against oneself; change `system` and `errors` in place after each.

    Parameters
    ----------
    errors
        float32[STAGES, SIZE, 2]: the sums of errors so far; zeros in the beginning.
    rng
        Decides on openings, random moves and between equal ones. The same generator for all calls
        makes several calls the same as one.
    starts
        Positions (black, white, kings, turn); each game begins with one of them, drawn at random.
    tables
        Endgame tables (:class:`agents.endgame.probe.Tablebase`): searches probe them, and games end
        where the tables begin.

    Raises ValueError for impossible settings.
    """
    if games < 0:
        raise ValueError(f"games are 0 or more, not {games}")
    positions = np.array(starts, np.int64)
    if positions.ndim != 2 or positions.shape[1] != 4:
        raise ValueError("starts are positions, one or more: black, white, kings and turn")
    student = lesson(system, errors, method)
    ws = workspace()
    searcher, scale = (system, 1.0) if tables is None else (TablebaseEvaluator(system, tables), 2.0)
    with defer_signals():
        play_games(student, searcher, scale, games, positions, ws, rng)
    counted = student.counters.tolist()
    return SelfPlayStats._make([*counted, float(student.deviation[0]) / max(counted[UPDATES], 1)])


@kernel
def play_games(
    lesson: Lesson, searcher: Any, scale: float, games: int, starts: Any, ws: Any, rng: Any
) -> None:
    """Play `games` games, and learn from each.

    What the searches find is multiplied by `scale`: a TablebaseEvaluator halves evaluations.
    """
    lesson, searcher = borrowed(lesson), borrowed(searcher)
    ws, starts = borrowed(ws), borrowed(starts)
    for _ in range(games):
        wipe(ws)
        start = opened(lesson.method, starts, ws.rows, rng)
        plies, result, turn = play_one(lesson, searcher, scale, start, ws, rng)
        lesson.counters[PLIES] += plies
        if result == 0.0:
            lesson.counters[DRAWS] += 1
        else:
            lesson.counters[turn if result > 0.0 else 1 - turn] += 1
        learn_game(lesson, plies, result, ws.scratch)


@kernel
def wipe(ws: Any) -> None:
    """Clear what searches remember: what is in their table, and so is learnt, depends on it."""
    ws.counts[2] = 0
    clear_move_ordering(ws)
    for at in range(len(ws.table)):
        entry = ws.table[at]
        entry.tag = NOBODYS


@kernel
def opened(method: Method, starts: Any, rows: Any, rng: Any) -> Position:
    """One of the starting positions, and some random plies."""
    row = starts[rng.integers(0, len(starts)) if len(starts) > 1 else 0]
    here = Position(row[0], row[1], row[2], row[3])
    plies = rng.integers(0, method.random_plies + 1) if method.random_plies else 0
    for _ in range(plies):
        count = generate_successors(rows, 0, here.black, here.white, here.kings, here.turn)
        if count == 0:
            break
        here = successor(rows[rng.integers(0, count)], here.turn)
    return here


@kernel
def play_one(
    lesson: Lesson, searcher: Any, scale: float, start: Position, ws: Any, rng: Any
) -> tuple[int, float, int]:
    """Play a game and write it down: its plies, the result, and the side it is seen from."""
    method, here = lesson.method, start
    for ply in range(method.max_plies + 1):
        row = lesson.positions[ply]
        row[0], row[1], row[2], row[3] = here.black, here.white, here.kings, here.turn
        count = generate_successors(ws.rows, 0, here.black, here.white, here.kings, here.turn)
        result = result_of(searcher, here, count == 0)
        if result != UNDECIDED:
            return ply, result, here.turn
        if ply == method.max_plies or (method.repetition and stood(lesson, ply, here)):
            return ply, 0.0, here.turn
        here = choose_and_note(lesson, searcher, scale, ply, here, count, ws, rng)
    return 0, 0.0, here.turn


@kernel
def result_of(searcher: Any, position: Position, over: bool) -> float:
    """The result for the side to move, or UNDECIDED."""
    plies = probe_tablebase(searcher, position, over)
    if plies == NO_HIT:
        return -1.0 if over else UNDECIDED
    if plies == DRAWN:
        return 0.0
    return 1.0 if plies & 1 else -1.0


@kernel
def stood(lesson: Lesson, ply: int, position: Position) -> bool:
    """Whether the position, reached at `ply`, was there before in the game."""
    men = (position.black | position.white) & ~position.kings
    for back in range(ply - 2, -1, -2):
        then = lesson.positions[back]
        if (then[0] | then[1]) & ~then[2] != men:
            return False
        if then[0] == position.black and then[1] == position.white:
            return True
    return False


@kernel
def choose_and_note(
    lesson: Lesson,
    searcher: Any,
    scale: float,
    ply: int,
    here: Position,
    count: int,
    ws: Any,
    rng: Any,
) -> Position:
    """The position to go on with; what is to be learnt from the choice is written down."""
    method, rows, mover = lesson.method, ws.rows, here.turn
    if count == 1:
        lesson.kinds[ply] = FORCED
        return successor(rows[0], mover)
    explores = method.epsilon > 0.0 and rng.random() < method.epsilon
    lesson.kinds[ply] = EXPLORED if explores else SEARCHED
    shuffle(rows, count, rng)
    chance = successor(rows[0], mover)
    new = new_first(lesson, ply, mover, rows, count) if method.repetition else count
    chosen, value = successor(rows[count - 1], mover), 0.0
    if new:
        search(FULL_WIDTH, searcher, here, method.depth, True, ws.counts[2], ws, new)
        found = ws.frames[0].value
        if new == count or found >= 0.0:
            chosen, value = successor(rows[ws.frames[0].best], mover), found
        if method.inner:
            learn_tree(lesson, ws, ws.counts[2], scale)
            ws.counts[2] += 1  # the weights have changed, and with them what the table says
    lesson.values[ply] = min(max(scale * value, -1.0), 1.0)
    return chance if explores else chosen


@kernel
def new_first(lesson: Lesson, ply: int, mover: int, rows: Any, count: int) -> int:
    """Bring the successors that have not stood in the game to the front; return how many."""
    new = 0
    for at in range(count):
        if not stood(lesson, ply + 1, successor(rows[at], mover)):
            for column in range(rows.shape[1]):
                rows[new, column], rows[at, column] = rows[at, column], rows[new, column]
            new += 1
    return new
