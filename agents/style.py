"""How a search goes about its work: full-width, as in the papers, or selective.

Shannon's types A and B (C. E. Shannon, "Programming a computer for playing chess", 1950).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from checkers_env.jit import generic


class FullWidth(NamedTuple):
    """Every move is searched to the same depth: the value is that of plain minimax.

    `deepens_by` are the plies from one search to the next, of which the last one has the depth.
    """

    deepens_by: int = 2


FULL_WIDTH = FullWidth()
LARGEST_TABLE = 20  # bits: 42 MB
NODES_A_SECOND = 4e6  # about


class Selective(NamedTuple):
    """A principal-variation search that looks less far where it matters less.

    What is found at one depth serves at smaller ones too, a position that stood before in the game
    or on the line is a draw, and a win is worth more the sooner it comes, and always more than what
    the evaluator thinks.

    Attributes
    ----------
    deepens_by
        Plies from one search to the next.
    reduces
        Quiet moves that are late in the order are searched less far, and again to the full depth
        if they turn out well; 0: no, else how many moves come before.
    nodes
        Positions visited after which the search ends; 0: no limit.
    table_bits
        The table of positions has two to this power entries (40 bytes each).
    """

    deepens_by: int = 1
    reduces: int = 3
    nodes: int = 0
    table_bits: int = 16


def for_time(style: Selective, seconds: float) -> Selective:
    """The style with a table for all positions that a move of so many seconds may visit.

    The table is never smaller than before, nor larger than LARGEST_TABLE.
    """
    positions = min(max(seconds * NODES_A_SECOND, 1.0), 2.0**LARGEST_TABLE)
    return style._replace(table_bits=max(math.ceil(math.log2(positions)), style.table_bits))


@generic
def selective(style: Any) -> bool:
    """Whether a search in this style is selective: known when it is compiled."""
    return False


@selective.register(Selective)
def is_selective(style: Selective) -> bool:
    return True
