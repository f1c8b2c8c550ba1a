"""Al-Khateeb 2011, chapter 5: individual and social learning."""

from __future__ import annotations

from training.experiments.jobs import Player
from training.experiments.tables import POOL, RATINGS, RESULTS, START, WINS, Table, league, row

C0, RR = Player("c0"), Player("blondie24-rr")
# Copies of the ten strategies that are printed, the oldest first.
POOL_OF_C10 = (0, 1, 1, 2, 4, 7, 5, 6, 7, 8)
_SIX = ("c1", "c200", "c100", "c50", "c20", "c10")

TABLES = (
    Table(
        "table-5.1",
        "the social pool of C10 after 160 generations",
        POOL,
        (row(Player("c10", generations=160), (), 10, 0.9, 1.6, 6.6),),
        note="Theirs are the figures of the ten rows that are printed.",
    ),
    Table(
        "table-5.2",
        "wins in a league of C1 to C10, 430 games each",
        WINS,
        league(
            _SIX,
            (
                (22, 14, 12, 10, 8, 66),
                (35, 29, 22, 16, 10, 112),
                (39, 25, 21, 17, 12, 114),
                (40, 37, 26, 21, 18, 142),
                (47, 41, 32, 27, 15, 162),
                (59, 55, 49, 41, 34, 238),
            ),
        ),
    ),
    Table(
        "table-5.3",
        "C1 to C10 against C0, two-move ballot",
        RESULTS,
        (
            row("c1", C0, 20, 22, 44),
            row("c200", C0, 27, 31, 28),
            row("c100", C0, 30, 30, 26),
            row("c50", C0, 40, 21, 25),
            row("c20", C0, 44, 22, 20),
            row("c10", C0, 51, 20, 15),
        ),
    ),
    Table(
        "table-5.4",
        "C1 to C10 against Blondie24-RR, two-move ballot",
        RESULTS,
        (
            row("c1", RR, 17, 16, 53),
            row("c200", RR, 20, 29, 37),
            row("c100", RR, 22, 28, 36),
            row("c50", RR, 30, 17, 39),
            row("c20", RR, 31, 25, 30),
            row("c10", RR, 43, 18, 25),
        ),
    ),
    Table(
        "table-5.5",
        "C1 to C10 against C0 and Blondie24-RR from the start position",
        START,
        (
            row("c1", C0, "lost", "drawn"),
            row("c1", RR, "lost", "lost"),
            row("c200", C0, "drawn", "drawn"),
            row("c200", RR, "lost", "lost"),
            row("c100", C0, "won", "drawn"),
            row("c100", RR, "lost", "lost"),
            row("c50", C0, "won", "won"),
            row("c50", RR, "lost", "drawn"),
            row("c20", C0, "won", "won"),
            row("c20", RR, "drawn", "drawn"),
            row("c10", C0, "won", "won"),
            row("c10", RR, "won", "won"),
        ),
    ),
    Table(
        "table-5.6",
        "ratings of C1 to C10 and C0",
        RATINGS,
        (
            row("c1", C0, 1190.20, 28.81, 1288.07, 27.47),
            row("c200", C0, 1134.32, 28.14, 1148.69, 26.87),
            row("c100", C0, 1175.19, 28.26, 1173.69, 27.01),
            row("c50", C0, 1197.75, 27.65, 1110.59, 26.62),
            row("c20", C0, 1320.93, 28.69, 1227.47, 27.63),
            row("c10", C0, 1424.95, 28.45, 1288.49, 27.49),
        ),
    ),
    Table(
        "table-5.7",
        "ratings of C1 to C10 and Blondie24-RR",
        RATINGS,
        (
            row("c1", RR, 1258.97, 28.38, 1415.01, 27.15),
            row("c200", RR, 1190.51, 26.64, 1258.98, 25.38),
            row("c100", RR, 1113.61, 27.41, 1168.74, 26.12),
            row("c50", RR, 1303.45, 30.02, 1339.21, 28.67),
            row("c20", RR, 1194.45, 28.48, 1187.32, 27.23),
            row("c10", RR, 1205.58, 25.88, 1082.35, 25.07),
        ),
    ),
    Table("table-5.8", "C10-RR against C0", RESULTS, (row("c10-rr", C0, 49, 20, 15),)),
    Table("table-5.9", "C10-RR against Blondie24-RR", RESULTS, (row("c10-rr", RR, 41, 22, 23),)),
    Table("table-5.10", "C10-RR against C10", RESULTS, (row("c10-rr", "c10", 35, 23, 28),)),
    Table(
        "table-5.11",
        "C10-RR from the start position",
        START,
        tuple(row("c10-rr", other, "won", "won") for other in (C0, RR, "c10")),
    ),
    Table(
        "table-5.12",
        "ratings of C10-RR and its opponents",
        RATINGS,
        (
            row("c10-rr", C0, 1405.51, 27.54, 1264.71, 26.66),
            row("c10-rr", RR, 1250.44, 28.71, 1171.91, 27.61),
            row("c10-rr", "c10", 1229.99, 29.08, 1188.00, 27.86),
        ),
    ),
)
