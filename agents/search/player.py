"""The player that searches: alpha-beta over any evaluator."""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.endgame.probe import NEVER, known, probe
from agents.evaluator import advance_state, evaluate, foresee, start_state, state_size
from agents.player import choose, looks_back, uses_chance
from agents.search.alphabeta import search
from agents.search.selective import FULL_WIDTH, selective
from checkers_env.bits import borrowed, popcount
from checkers_env.jit import kernel
from checkers_env.movegen import PACKED_MOVE, Position, successor


class AlphaBeta(NamedTuple):
    """Searches `depth` plies (1 to 64) with an evaluator.

    With `random_ties`, equally good moves have equal chances; otherwise the first one is played.
    With `own_leaves`, leaves are judged from the searching player's side, as in the papers;
    otherwise from the side to move there. The `style` is full-width, as in the papers, or
    selective.
    """

    evaluator: Any
    depth: int
    random_ties: bool = False
    own_leaves: bool = True
    style: Any = FULL_WIDTH


@uses_chance.register(AlphaBeta)
def breaks_ties(player: AlphaBeta) -> bool:
    return player.random_ties


@looks_back.register(AlphaBeta)
def avoids_repetition(player: AlphaBeta) -> bool:
    return selective(player.style)


@choose.register(AlphaBeta)
def choose_by_search(
    player: AlphaBeta, position: Position, ws: Any, count: int, owner: int, rng: Any
) -> int:
    if count == 1:
        return ws.rows[0, PACKED_MOVE]
    player, ws = borrowed(player), borrowed(ws)
    if player.random_ties:
        shuffle(ws.rows, count, rng)
    evaluator, depth, _, own_leaves, style = player
    return search(style, evaluator, position, depth, own_leaves, owner, ws, count)


@kernel
def shuffle(rows: Any, count: int, rng: Any) -> None:
    """Put the first `count` rows in random order."""
    for row in range(count - 1, 0, -1):
        other = rng.integers(0, row + 1)
        for column in range(rows.shape[1]):
            rows[row, column], rows[other, column] = rows[other, column], rows[row, column]


LONGEST = 1000  # plies: more than any ending takes


class Informed(NamedTuple):
    """An :class:`agents.search.player.AlphaBeta` that knows endings.

    In a position that the tables have, it keeps to the quickest win, to all moves that draw or to
    the slowest loss, and chooses among these as it would without tables.
    """

    evaluator: Any
    depth: int
    random_ties: bool
    own_leaves: bool
    style: Any
    tables: Any  # agents.endgame.probe.Endgame


class Foresighted(NamedTuple):
    """An evaluator for which the search stops where the tables begin."""

    evaluator: Any
    tables: Any


def informed(player: AlphaBeta, tables: Any) -> Informed:
    """The player with endgame tables."""
    return Informed(*player, tables)


def searching_evaluator(player: AlphaBeta | Informed) -> Any:
    """The evaluator that a player's search asks."""
    if isinstance(player, Informed):
        return Foresighted(player.evaluator, player.tables)
    return player.evaluator


@uses_chance.register(Informed)
def informed_breaks_ties(player: Informed) -> bool:
    return player.random_ties


@looks_back.register(Informed)
def informed_avoids_repetition(player: Informed) -> bool:
    return selective(player.style)


@choose.register(Informed)
def choose_with_tables(
    player: Informed, position: Position, ws: Any, count: int, owner: int, rng: Any
) -> int:
    evaluator, depth, random_ties, own_leaves, style, tables = player
    if popcount(position.black | position.white) <= tables.numbering.pieces:
        count = keep_best(borrowed(tables), position, borrowed(ws.rows), count)
        plain = AlphaBeta(evaluator, depth, random_ties, own_leaves, style)
        return choose(plain, position, ws, count, owner, rng)
    seeing = AlphaBeta(Foresighted(evaluator, tables), depth, random_ties, own_leaves, style)
    return choose(seeing, position, ws, count, owner, rng)


@kernel
def keep_best(tables: Any, position: Position, rows: Any, count: int) -> int:
    """Bring the moves that the tables call best to the front, in their order; return how many."""
    best, kept = -2 * LONGEST, 0
    for at in range(count):
        plies, worth = known(tables, successor(rows[at], position.turn)), 0
        if plies != NEVER:
            worth = plies - LONGEST if plies & 1 else LONGEST - plies
        if worth > best:
            best, kept = worth, 0
        if worth == best:
            for column in range(rows.shape[1]):
                rows[kept, column], rows[at, column] = rows[at, column], rows[kept, column]
            kept += 1
    return kept


@evaluate.register(Foresighted)
def evaluate_foresighted(
    seer: Foresighted, position: Position, view: int, state: Any, scratch: Any
) -> float:
    """Half of what the evaluator says, so that no opinion outweighs what the tables know."""
    return evaluate(seer.evaluator, position, view, state, scratch) / 2


@state_size.register(Foresighted)
def foresighted_state_size(seer: Foresighted) -> int:
    return state_size(seer.evaluator)


@start_state.register(Foresighted)
def start_foresighted_state(seer: Foresighted, position: Position, view: int, state: Any) -> None:
    start_state(seer.evaluator, position, view, state)


@advance_state.register(Foresighted)
def advance_foresighted_state(
    seer: Foresighted, before: Position, after: Position, view: int, old: Any, new: Any
) -> None:
    advance_state(seer.evaluator, before, after, view, old, new)


@foresee.register(Foresighted)
def foresee_end(seer: Foresighted, position: Position, over: bool) -> int:
    return 0 if over else probe(seer.tables, position)
