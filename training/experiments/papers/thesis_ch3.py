"""Al-Khateeb 2011, chapter 3: ten runs of C0, of which the one with most wins is C0."""

from __future__ import annotations

from training.experiments.jobs import Player
from training.experiments.tables import WINS_AND_LOSSES, Table, row

# Wins of C0(1) to C0(10) against each other, in the order of the table.
TEN_WINS = (
    (0, 22, 25, 20, 19, 17, 23, 24, 22, 20),
    (20, 0, 20, 22, 24, 21, 20, 21, 23, 24),
    (21, 19, 0, 20, 21, 19, 18, 23, 21, 22),
    (25, 23, 18, 0, 20, 24, 20, 24, 18, 19),
    (24, 20, 23, 19, 0, 18, 20, 22, 22, 21),
    (21, 24, 22, 23, 20, 0, 22, 20, 23, 22),
    (24, 18, 20, 21, 21, 19, 0, 19, 18, 20),
    (25, 17, 19, 24, 20, 20, 17, 0, 22, 23),
    (21, 22, 21, 18, 22, 24, 20, 24, 0, 22),
    (19, 22, 24, 20, 21, 22, 20, 21, 24, 0),
)
_SUMS = tuple(zip(map(sum, TEN_WINS), map(sum, zip(*TEN_WINS, strict=True)), strict=True))
TEN = tuple(Player("c0", seed=seed) for seed in range(len(TEN_WINS)))

TABLES = (
    Table(
        "table-3.2",
        "ten C0 against each other, 774 games each",
        WINS_AND_LOSSES,
        tuple(
            row(player, tuple(other for other in TEN if other != player), *sums)
            for player, sums in zip(TEN, _SUMS, strict=True)
        ),
        note="Their C0(1) is no more our first one than any other: compare the spread.",
    ),
)
