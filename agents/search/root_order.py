"""Order of the moves at the root, and the choice between equally good ones.

The papers do not say which of several best moves is played. A full-width search plays the first row
of the highest value, so the order of the rows is the whole rule. Values do not depend on it: below
the root no order changes what alpha-beta returns.
"""

from __future__ import annotations

from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import PACKED_MOVE

FIRST, LAST, CHANCE = range(3)
TIES = ("first", "last", "chance")
"""Names of the tie rules: `>` in a loop over the moves, `>=`, and equal chances."""
BY_DIRECTION, BY_PIECE = range(2)
ORDERS = ("direction", "piece")
"""Names of the orders.

- ``"direction"``: as :func:`checkers_env.movegen.generate_successors` writes them. Simple moves go
  by direction first (forward to the mover's right, forward to its left, then back), and then by
  square from the mover's own back row. Captures go by piece, from that row on.
- ``"piece"``: piece by piece from the top left corner of the thesis's board (2.6.1.2), which is
  from square 32 to square 1 for both sides; the moves of a piece by the squares that they lead to,
  in the same order.
"""

_ALIGNED = 60  # bits behind the leading 1 of a packed move of ten squares


@kernel
def order_rows(rows: KernelArg, count: int, order: int, tie: int, rng: KernelArg) -> None:
    """Put the root's rows in the order in which the search prefers equal ones."""
    if order == BY_PIECE:
        sort_by_piece(rows, count)
    if tie == CHANCE:
        shuffle(rows, count, rng)
    elif tie == LAST:
        for row in range(count // 2):
            swap_rows(rows, row, count - 1 - row)


@kernel
def shuffle(rows: KernelArg, count: int, rng: KernelArg) -> None:
    """Put the first `count` rows in random order."""
    for row in range(count - 1, 0, -1):
        swap_rows(rows, row, rng.integers(0, row + 1))


@kernel
def sort_by_piece(rows: KernelArg, count: int) -> None:
    """Sort rows by the squares of their moves, from square 32 down."""
    for row in range(1, count):
        at = row
        while at > 0 and route_key(rows[at, PACKED_MOVE]) > route_key(rows[at - 1, PACKED_MOVE]):
            swap_rows(rows, at, at - 1)
            at -= 1


@kernel
def route_key(path: int) -> int:
    """Return a packed move with its first square at the left, so that keys compare by squares."""
    while path >> _ALIGNED == 0:
        path <<= 6
    return path


@kernel
def swap_rows(rows: KernelArg, one: int, other: int) -> None:
    """Exchange two rows."""
    for column in range(rows.shape[1]):
        rows[one, column], rows[other, column] = rows[other, column], rows[one, column]
