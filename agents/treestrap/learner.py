"""What a game teaches: a target for each of its positions, and how the tables move towards it.

The target is a lambda-return of search values (Sutton 1988): with V the value of a search from a
position and G the target of the next one, each as its side to move sees it,

    target = (1 - lambda) * V - lambda * G

After the last position -G is the result. Where a move was made at random, what follows says nothing
of the position, and V alone is the target; where only one move was legal nothing was searched, and
the target is -G. Each entry that the position adds up then gets its share of the error,

    w += alpha / terms * |E| / A * (target - v);    E += target - v;    A += |target - v|

v being tanh of the sum. This is temporal coherence (Beal and Smith 1999): the steps of an entry are
large as long as its errors agree, and become small when they cancel out.

A search also tells something of the positions inside it, and they are learnt about in the same way
(TreeStrap: Veness, Silver, Uther and Blair 2009): their target is the value that the search found,
or the bound, where v is on the wrong side of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.evaluator import evaluate, start_state
from agents.match_kernel import validate_self_play
from agents.search.transposition import EXACT, LOWER, NONE, UPPER
from agents.search.workspace import MAX_DEPTH, STATE_WIDTH
from agents.treestrap.network import SIZE, STAGES, TERMS, Windows, stage_of, write_entries
from checkers_env.jit import kernel
from checkers_env.movegen import Position, must_jump

SEARCHED, FORCED, EXPLORED = range(3)  # how a move came about
LARGEST_ALPHA = 10.0
SIGNED, ABSOLUTE = 0, 1  # sums of the errors of an entry
BLACK_WINS, WHITE_WINS, DRAWS, PLIES, UPDATES = range(5)  # counters


class Method(NamedTuple):
    """How to learn.

    alpha: step size. lam: lambda. depth: plies of the searches, 1 to 64. epsilon: how often a move
    is any at all. random_plies: how many plies after the opening are so, at most; each number up to
    it is equally likely. max_plies: after which a game is drawn. quiet: learn only about positions
    in which there is nothing to capture, the only ones that are evaluated. repetition: the second
    occurrence of a position ends a game as a draw, and the players know it. coherence: steps are
    adapted as above, otherwise |E| / A is 1. inner: if above 0, learn after each search about the
    positions inside it as well, as far as they were searched to so many plies.
    """

    alpha: float = 2.0
    lam: float = 0.8
    depth: int = 4
    epsilon: float = 0.05
    random_plies: int = 8
    max_plies: int = 200
    quiet: bool = True
    repetition: bool = True
    coherence: bool = True
    inner: int = 2


class Lesson(NamedTuple):
    """What is learnt with; made by :func:`lesson` only."""

    system: Windows
    errors: Any  # float32[STAGES, SIZE, 2]: SIGNED and ABSOLUTE sums
    method: Method
    positions: Any  # int64[plies, 4]: of a game
    values: Any  # float64[plies]: V
    kinds: Any  # int64[plies]
    state: Any  # int32[:]
    entries: Any  # int64[TERMS]
    counters: Any  # int64[5]
    deviation: Any  # float64[1]: sum of |target - v|


def lesson(system: Windows, errors: Any, method: Method) -> Lesson:
    """Prepare to learn. Raises ValueError for impossible settings, and for arrays that do not fit.

    `errors` is float32[STAGES, SIZE, 2] and written into, as the tables of `system` are.
    """
    kinds = map(type, Method())
    coerced = Method._make(kind(given) for kind, given in zip(kinds, method, strict=True))
    alpha, lam, depth, epsilon, random_plies, max_plies, *_, inner = coerced
    validate_self_play(lam, epsilon, random_plies)
    if not 0 < alpha <= LARGEST_ALPHA:
        raise ValueError(f"alpha is above 0 and at most {LARGEST_ALPHA}, not {alpha}")
    if not 1 <= depth <= MAX_DEPTH:
        raise ValueError(f"the depth of searches is 1 to {MAX_DEPTH}, not {depth}")
    if inner < 0 or max_plies < 1:
        raise ValueError(f"inner is 0 or more, max_plies 1 or more: not {inner} and {max_plies}")
    if system.table.dtype != np.float32:
        raise ValueError(f"learning takes tables of float32, not of {system.table.dtype}")
    if errors.shape != (STAGES, SIZE, 2) or errors.dtype != np.float32:
        raise ValueError(f"errors are float32[{STAGES}, {SIZE}, 2], not {errors.shape}")
    return Lesson(
        system,
        errors,
        coerced,
        np.zeros((max_plies + 1, 4), np.int64),
        np.zeros(max_plies + 1),
        np.zeros(max_plies + 1, np.int64),
        np.zeros(STATE_WIDTH, np.int32),
        np.zeros(TERMS, np.int64),
        np.zeros(5, np.int64),
        np.zeros(1),
    )


@kernel
def learn_game(lesson: Lesson, plies: int, result: float, scratch: Any) -> None:
    """Learn from a game of so many plies; `result` is what came of it for the side to move then."""
    method, target = lesson.method, result
    for ply in range(plies - 1, -1, -1):
        kind, value = lesson.kinds[ply], lesson.values[ply]
        target = -target
        if kind == EXPLORED:
            target = value
        elif kind == SEARCHED:
            target = (1.0 - method.lam) * value + method.lam * target
        row = lesson.positions[ply]
        position = Position(row[0], row[1], row[2], row[3])
        move_towards(lesson, position, target, EXACT, scratch)


@kernel
def learn_tree(lesson: Lesson, ws: Any, owner: int, scale: float) -> None:
    """Learn about the inner positions of a search, as far as its table still has them."""
    for at in range(len(ws.table)):
        entry = ws.table[at]
        tag, bound = entry.tag, entry.bound
        if tag >> 8 == owner and tag & 127 >= lesson.method.inner and bound != NONE:
            position = Position(entry.black, entry.white, entry.kings, tag >> 7 & 1)
            target = min(max(scale * entry.value, -1.0), 1.0)
            move_towards(lesson, position, target, bound, ws.scratch)


@kernel
def move_towards(
    lesson: Lesson, position: Position, target: float, bound: int, scratch: Any
) -> None:
    """Correct the entries of one position, which `bound` says is worth the target, more or less."""
    if lesson.method.quiet and must_jump(position):
        return
    system, method, entries = lesson.system, lesson.method, lesson.entries
    state = lesson.state[: len(system.empty)]
    start_state(system, position, position.turn, state)
    write_entries(system, position, position.turn, state, entries)
    error = target - evaluate(system, position, position.turn, state, scratch)
    if (bound == LOWER and error <= 0.0) or (bound == UPPER and error >= 0.0):
        return
    lesson.counters[UPDATES] += 1
    lesson.deviation[0] += abs(error)
    step = method.alpha * error / TERMS
    stage = stage_of(position)
    weights, errors = system.table[stage], lesson.errors[stage]
    for entry in entries:
        sums = errors[entry]
        rate = 1.0
        if method.coherence and sums[ABSOLUTE] > 0.0:
            rate = abs(sums[SIGNED]) / sums[ABSOLUTE]
        weights[entry] += step * rate
        sums[SIGNED] += error
        sums[ABSOLUTE] += abs(error)
