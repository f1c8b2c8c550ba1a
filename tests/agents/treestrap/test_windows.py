"""The large n-tuple network against a naive computation."""

from agents.treestrap.windows import (
    COUNTS,
    OFFSETS,
    WINDOWS,
    count_entry,
)
from checkers_env.board import Board
from checkers_env.movegen import SQUARES, Position
from tests.agents.search.test_alphabeta import random_boards

FENS = (
    "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29",
    "W:WK1:BK32",
    "B:W13:B1,2,3,4,5,6,7,8,9,10,11,12",
)


def boards():
    """Return positions of 2 to 24 pieces."""
    return [*map(Board, FENS), *random_boards(3, 40, 120)]


def reading(seen):
    """Return the index of a window's contents; in windows of 12 squares only men count."""
    if len(seen) == 8:
        return int("".join(map(str, seen)), 5)
    return int("".join("2" if here == 3 else "0" if here == 1 else "1" for here in seen), 3)


def named(mover, pieces):
    """Return a position's stage and its entries, read square by square."""
    seen = {}
    for square in range(1, 33):
        piece = pieces.get(square if mover == "b" else 33 - square, "")
        worth = 1 + piece.isupper() if piece else 0
        seen[square] = 2 + worth if piece.lower() == mover else 2 - worth
    entries = [
        offset + reading([seen[square] for square in squares])
        for offset, squares in zip(OFFSETS, WINDOWS, strict=False)
    ]
    numbers = [list(seen.values()).count(digit) for digit in (3, 4, 1, 0)]
    entries.append(
        COUNTS + sum(n * 13**power for n, power in zip(numbers, (3, 2, 1, 0), strict=True))
    )
    return (len(pieces) - 1) // 6, entries


def test_piece_counts_above_twelve_count_as_twelve():
    kings = sum(1 << int(bit) for bit in SQUARES[:14])
    position = Position(kings, 1 << int(SQUARES[31]), kings, 0)
    assert count_entry(position) == COUNTS + 12 * 13**2 + 13
