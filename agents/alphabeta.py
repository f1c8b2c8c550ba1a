"""The player that searches: alpha-beta over any evaluator."""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.choose import choose, looks_back, uses_chance
from agents.search import search
from agents.style import FULL_WIDTH, selective
from checkers_env.bits import borrowed
from checkers_env.jit import kernel
from checkers_env.rules import PATH, Position


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
        return ws.rows[0, PATH]
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
