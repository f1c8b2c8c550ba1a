"""Al-Khateeb 2011, chapter 3: ten runs of C0, of which the one with most wins is C0."""

from __future__ import annotations

from training.reproduction.jobs import Player
from training.reproduction.tables import WINS_AND_LOSSES, Table, row

# Wins and losses of C0(1) to C0(10) against the nine others.
_SUMS = (
    (192, 200),
    (195, 187),
    (184, 192),
    (191, 187),
    (189, 188),
    (197, 184),
    (180, 180),
    (187, 198),
    (194, 193),
    (193, 193),
)
_TEN = tuple(Player("c0", seed=seed) for seed in range(len(_SUMS)))

TABLES = (
    Table(
        "table-3.2",
        "ten C0 against each other, 774 games each",
        WINS_AND_LOSSES,
        tuple(
            row(player, tuple(other for other in _TEN if other != player), *sums)
            for player, sums in zip(_TEN, _SUMS, strict=True)
        ),
        note="Their C0(1) is no more our first one than any other: compare the spread.",
    ),
)
