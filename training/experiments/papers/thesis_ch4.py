"""Al-Khateeb 2011, chapter 4, and the paper of 2009: the round robin."""

from __future__ import annotations

from training.experiments.jobs import Player
from training.experiments.tables import (
    DIFFERENCES,
    RATINGS,
    RESULTS,
    START,
    WINS_AND_LOSSES,
    Table,
    row,
)

C0, RR, RR_2009 = Player("c0"), Player("blondie24-rr"), Player("blondie24-rr", generations=145)
# The thesis's opponents are not available; these players stand in for them.
ONLINE, WINCHECK = Player("heuristic"), Player("material", depth=8)
SXCHECKERS = Player("c5-leaf", depth=8, seed=0)
STAND_INS = {
    "an online program": ONLINE,
    "WinCheck3D": WINCHECK,
    "SXcheckers": SXCHECKERS,
}

FIVE = tuple(Player("blondie24-rr", member=member) for member in range(5))
# Wins of each of the five against each other, in the order of the table.
FIVE_WINS = (
    (0, 24, 20, 25, 19),
    (20, 0, 21, 24, 20),
    (18, 21, 0, 22, 23),
    (19, 23, 23, 0, 18),
    (20, 20, 21, 20, 0),
)
_FIVE_SUMS = tuple(zip(map(sum, FIVE_WINS), map(sum, zip(*FIVE_WINS, strict=True)), strict=True))
# Final piece differences as red and as white, of C0 and of Blondie24-RR.
DIFFERENCES_PRINTED = {
    "an online program": ((4, 2), (7, 4)),
    "WinCheck3D": ((-7, -8), (-2, -4)),
    "SXcheckers": ((-8, -8), (-4, -5)),
}

TABLES = (
    Table(
        "table-4.1",
        "the five best of the last generation of Blondie24-RR against each other, 344 games each",
        WINS_AND_LOSSES,
        tuple(
            row(player, tuple(other for other in FIVE if other != player), *sums)
            for player, sums in zip(FIVE, _FIVE_SUMS, strict=True)
        ),
    ),
    Table(
        "table-4.2",
        "Blondie24-RR against C0 from the start position",
        START,
        (row(RR, C0, "won", "drawn"),),
    ),
    *(
        Table(
            f"table-4.{number}",
            f"C0 and Blondie24-RR against {program}: pieces ahead at the end",
            DIFFERENCES,
            tuple(
                row(player, STAND_INS[program], *figures)
                for player, figures in zip((C0, RR), differences, strict=True)
            ),
            note=f"{program} does not exist here; {STAND_INS[program]} plays in its place.",
        )
        for number, (program, differences) in enumerate(DIFFERENCES_PRINTED.items(), 3)
    ),
    Table(
        "table-4.6", "Blondie24-RR against C0, two-move ballot", RESULTS, (row(RR, C0, 47, 26, 13),)
    ),
    Table(
        "table-4.7",
        "ratings of Blondie24-RR and C0",
        RATINGS,
        (row(RR, C0, 1251.67, 25.76, 1102.89, 25.06),),
    ),
    Table(
        "table-2009-1",
        "Al-Khateeb and Kendall 2009, Table 1: Blondie24-R and Blondie24-RR (145 generations)",
        START,
        (
            row(C0, RR_2009, "drawn"),
            row(RR_2009, C0, "won"),
            *(
                row(player, STAND_INS[program], result)
                for player in (C0, RR_2009)
                for program, result in (
                    ("an online program", "won"),
                    ("WinCheck3D", "lost"),
                    ("SXcheckers", "lost"),
                )
            ),
        ),
        note="The programs do not exist here: see tables 4.3 to 4.5 for who plays in their place.",
    ),
    Table(
        "miconi",
        "Al-Khateeb 2011, 4.4: the same few opponents for all (Miconi 2009)",
        RESULTS,
        (row("c0-common", C0), row("c0-common", RR)),
        note="The thesis asks whether this is as good, and has no figures.",
    ),
)
