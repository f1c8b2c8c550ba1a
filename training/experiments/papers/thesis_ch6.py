"""Al-Khateeb 2011, chapter 6: n-tuple systems, evolved and by temporal differences."""

from __future__ import annotations

from collections.abc import Sequence

from training.experiments.tables import RATINGS, RESULTS, START, Row, Table, row

FOUR = ("c0", "blondie24-rr", "c10", "c10-rr")
_NAMES = dict(zip(FOUR, ("C0", "Blondie24-RR", "C10", "C10-RR"), strict=True))


def _four(player: str, figures: Sequence[Sequence[float | str]]) -> tuple[Row, ...]:
    """Return a row for the player against each of the four."""
    return tuple(row(player, other, *theirs) for other, theirs in zip(FOUR, figures, strict=True))


def _by_four(player: str, figures: Sequence[Sequence[float | str]]) -> tuple[Row, ...]:
    """Return a row for each of the four against the player."""
    return tuple(row(other, player, *theirs) for other, theirs in zip(FOUR, figures, strict=True))


TABLES = (
    Table(
        "table-6.1",
        "the drawing of Table 6.1 in place of random walks",
        RESULTS,
        tuple(row("c5-n0.001-table-6.1", other) for other in ("c5-n0.001", "c0")),
        note="Table 6.1 prints the squares of one drawing: C5-N0.001 with it, against our draws.",
    ),
    Table(
        "table-6.2",
        "C0, Blondie24-RR, C10 and C10-RR against C5-tuple, two-move ballot",
        RESULTS,
        _by_four("c5-tuple", ((43, 23, 20), (47, 21, 18), (43, 23, 20), (58, 15, 13))),
    ),
    Table(
        "table-6.3",
        "C5-tuple from the start position",
        START,
        _four("c5-tuple", (("lost", "drawn"), ("lost", "lost")) * 2),
    ),
    Table(
        "table-6.4",
        "ratings of C5-tuple and its opponents",
        RATINGS,
        _four(
            "c5-tuple",
            (
                (1175.50, 27.06, 1275.01, 28.06),
                (1195.76, 26.94, 1321.18, 27.86),
                (1176.03, 27.04, 1274.40, 28.05),
                (1254.55, 26.16, 1461.32, 26.83),
            ),
        ),
    ),
    Table(
        "table-6.5",
        "C0, Blondie24-RR, C10 and C10-RR against C1-tuple, two-move ballot",
        RESULTS,
        _by_four("c1-tuple", ((46, 22, 18), (48, 21, 17), (47, 24, 15), (58, 16, 12))),
    ),
    Table(
        "table-6.6",
        "C1-tuple from the start position",
        START,
        _four("c1-tuple", (("lost", "drawn"), ("lost", "lost")) * 2),
    ),
    Table(
        "table-6.7",
        "ratings of C1-tuple and its opponents",
        RATINGS,
        _four(
            "c1-tuple",
            (
                (1180.63, 26.61, 1303.47, 27.53),
                (1190.59, 26.56, 1326.75, 27.43),
                (1138.90, 25.74, 1280.62, 26.55),
                (1235.57, 25.86, 1447.89, 26.49),
            ),
        ),
    ),
    Table(
        "table-6.8",
        "C5-N with alpha 0.01, 0.001 and 0.0001 against each other",
        RESULTS,
        (
            row("c5-n0.001", "c5-n0.01", 41, 15, 30),
            row("c5-n0.001", "c5-n0.0001", 45, 12, 29),
            row("c5-n0.01", "c5-n0.0001", 44, 11, 31),
        ),
    ),
    Table(
        "table-6.9",
        "ratings of C5-N with alpha 0.01, 0.001 and 0.0001",
        RATINGS,
        (
            row("c5-n0.001", "c5-n0.01", 1228.28, 30.75, 1182.09, 29.48),
            row("c5-n0.001", "c5-n0.0001", 1438.72, 30.90, 1370.54, 29.66),
            row("c5-n0.01", "c5-n0.0001", 1447.86, 31.22, 1393.70, 29.94),
        ),
        note='The SD of C5-N0.01 in the first row is printed as "2948".',
    ),
    Table(
        "table-6.10",
        "C0, Blondie24-RR, C10 and C10-RR against C5-N0.001, two-move ballot",
        RESULTS,
        _by_four("c5-n0.001", ((30, 10, 46), (29, 19, 38), (37, 20, 29), (49, 16, 21))),
    ),
    Table(
        "table-6.11",
        "C5-N0.001 from the start position",
        START,
        _four("c5-n0.001", (("won", "won"), ("won", "won"), ("lost", "drawn"), ("lost", "lost"))),
    ),
    Table(
        "table-6.12",
        "ratings of C5-N0.001 and its opponents",
        RATINGS,
        _four(
            "c5-n0.001",
            (
                (1451.85, 31.23, 1382.87, 29.97),
                (1209.79, 29.54, 1169.43, 28.32),
                (1255.27, 28.01, 1291.06, 29.28),
                (1280.09, 28.37, 1400.12, 29.40),
            ),
        ),
    ),
    Table(
        "table-6.13",
        "C1-N with alpha 0.01, 0.001 and 0.0001 against each other",
        RESULTS,
        (
            row("c1-n0.001", "c1-n0.01", 43, 14, 29),
            row("c1-n0.001", "c1-n0.0001", 40, 20, 26),
            row("c1-n0.01", "c1-n0.0001", 40, 14, 32),
        ),
    ),
    Table(
        "table-6.14",
        "ratings of C1-N with alpha 0.01, 0.001 and 0.0001",
        RATINGS,
        (
            row("c1-n0.001", "c1-n0.01", 1401.31, 30.64, 1342.21, 29.40),
            row("c1-n0.001", "c1-n0.0001", 1254.37, 29.12, 1192.82, 27.95),
            row("c1-n0.01", "c1-n0.0001", 1389.33, 30.93, 1353.43, 29.63),
        ),
    ),
    Table(
        "table-6.15",
        "C0, Blondie24-RR, C10 and C10-RR against C1-N0.001, two-move ballot",
        RESULTS,
        _by_four("c1-n0.001", ((28, 19, 39), (24, 31, 31), (38, 26, 22), (54, 12, 20))),
    ),
    Table(
        "table-6.16",
        "C1-N0.001 from the start position",
        START,
        _four("c1-n0.001", (("won", "won"), ("won", "won"), ("lost", "lost"), ("lost", "lost"))),
    ),
    Table(
        "table-6.17",
        "ratings of C1-N0.001 and its opponents",
        RATINGS,
        _four(
            "c1-n0.001",
            (
                (1314.14, 29.62, 1265.35, 28.41),
                (1108.78, 27.25, 1077.25, 26.11),
                (1140.79, 26.97, 1210.30, 28.04),
                (1331.53, 29.06, 1480.38, 30.07),
            ),
        ),
    ),
    Table(
        "table-6.18",
        "C5-N0.001 against C1-N0.001, two-move ballot",
        RESULTS,
        (row("c5-n0.001", "c1-n0.001", 29, 35, 22),),
    ),
)
