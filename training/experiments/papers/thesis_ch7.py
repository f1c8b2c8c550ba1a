"""Al-Khateeb 2011, chapter 7: the piece difference, and the plies of training."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from training.experiments.jobs import Conditions, Player
from training.experiments.tables import (
    BY_MATERIAL,
    BY_PLAYING_OUT,
    DRAWS,
    LOSSES,
    RATINGS,
    RESULTS,
    START,
    WINS,
    Measure,
    Row,
    Table,
    league,
    row,
)

FOURTEEN = Conditions(games=14, repetition=3, play_out=8)
THOUSAND = Conditions(games=1000, depth=4)
_XCHECKERS = Player("material", depth=6)  # stands in for xcheckers, which is not available

C0 = ("c0-1ply", "c0-2ply", "c0-3ply", "c0")
RR = ("blondie24-rr-1ply", "blondie24-rr-2ply", "blondie24-rr-3ply", "blondie24-rr")
C10 = ("c10-1ply", "c10-2ply", "c10-3ply", "c10")
C5 = ("c5-n0.001-1ply", "c5-n0.001-2ply", "c5-n0.001-3ply", "c5-n0.001-4ply")
_PAIRS = tuple((here, there) for place, here in enumerate(C0) for there in C0[place + 1 :])
_RR_PAIRS = tuple((here, there) for place, here in enumerate(RR) for there in RR[place + 1 :])
_NPD = {
    "c0": (59, 14, 13),
    "blondie24-rr": (61, 16, 9),
    "c10": (55, 16, 15),
    "c5-n0.001": (60, 12, 14),
}


def _pairs(
    pairs: Sequence[tuple[str, str]], figures: Sequence[Sequence[float | str]]
) -> tuple[Row, ...]:
    return tuple(row(*pair, *theirs) for pair, theirs in zip(pairs, figures, strict=True))


def _leagues(
    first: int,
    players: Sequence[str],
    figures: Sequence[Sequence[Sequence[float]]],
    note: str = "",
) -> tuple[Table, ...]:
    """Return the tables of wins, draws and losses of a league."""
    measures: Sequence[tuple[str, Measure]] = (("wins", WINS), ("draws", DRAWS), ("losses", LOSSES))
    return tuple(
        Table(
            f"table-7.{number}",
            f"{what} in a league of {players[-1]} trained at 1 to 4 plies, 258 games each",
            measure,
            league(players, lines),
            note=note,
        )
        for number, ((what, measure), lines) in enumerate(
            zip(measures, figures, strict=True), first
        )
    )


TABLES = (
    Table(
        "table-7.1",
        "Blondie24 against a piece counter, 14 games, draws decided by material",
        BY_MATERIAL,
        (row("blondie24-2001", "material", 12, 0, 2),),
        FOURTEEN,
    ),
    Table(
        "table-7.2",
        "Blondie24 against a piece counter, 14 games, draws played out",
        BY_PLAYING_OUT,
        (row("blondie24-2001", "material", 10, 3, 1),),
        FOURTEEN,
        note="Theirs were played out by Blitz98, ours by the piece counter at 8 plies.",
    ),
    Table(
        "table-7.3",
        "Hughes's evolved piece counter against a piece counter, 1000 games",
        RESULTS,
        (row("hughes", "material", 680, 300, 20),),
        THOUSAND,
        note="At 4 plies each, from ballot cards drawn by the seed.",
    ),
    Table(
        "table-7.4",
        "Hughes's evolved piece counter against xcheckers, 1000 games",
        RESULTS,
        (row("hughes", _XCHECKERS, 220, 660, 120),),
        THOUSAND,
        note=f"xcheckers does not exist here; {_XCHECKERS} plays in its place.",
    ),
    *(
        Table(
            f"table-7.{number}",
            f"{player} with and without the piece difference",
            RESULTS,
            (row(player, f"{player}-npd", *theirs),),
        )
        for number, (player, theirs) in enumerate(_NPD.items(), 5)
    ),
    Table(
        "table-7.9",
        "with and without the piece difference, from the start position",
        START,
        tuple(row(player, f"{player}-npd", "won", "won") for player in _NPD),
    ),
    Table(
        "table-7.10",
        "ratings with and without the piece difference",
        RATINGS,
        _pairs(
            tuple((player, f"{player}-npd") for player in _NPD),
            (
                (1481.25, 27.40, 1267.42, 26.73),
                (1466.79, 25.05, 1217.84, 24.60),
                (1431.34, 27.27, 1251.00, 26.51),
                (1512.50, 28.08, 1301.35, 27.36),
            ),
        ),
    ),
    *_leagues(
        11,
        C0,
        (
            ((28, 17, 13, 58), (33, 24, 19, 76), (45, 31, 27, 103), (59, 40, 35, 134)),
            ((25, 24, 14, 63), (25, 31, 27, 83), (24, 31, 26, 91), (14, 27, 26, 67)),
            ((33, 45, 59, 137), (28, 31, 40, 99), (17, 24, 33, 74), (13, 19, 27, 59)),
        ),
        note="As printed: C3Ply's draws add up to 81, not 91; C4Ply's 35 wins over C3Ply are 33 "
        "among C3Ply's losses, which makes 86 games.",
    ),
    Table(
        "table-7.14",
        "ratings of C0 trained at 1 to 4 plies",
        RATINGS,
        _pairs(
            _PAIRS,
            (
                (1188.94, 28.94, 1206.24, 27.62),
                (1146.58, 27.40, 1266.18, 26.14),
                (1264.11, 27.21, 1474.99, 26.14),
                (1179.47, 26.85, 1205.10, 25.60),
                (1114.61, 27.17, 1200.21, 25.88),
                (1176.02, 28.26, 1205.26, 26.98),
            ),
        ),
    ),
    Table(
        "table-7.15",
        "C0 trained at 1 to 4 plies, from the start position",
        START,
        _pairs(
            _PAIRS,
            (
                ("lost", "drawn"),
                ("lost", "lost"),
                ("lost", "lost"),
                ("lost", "drawn"),
                ("lost", "lost"),
                ("lost", "lost"),
            ),
        ),
    ),
    *_leagues(
        16,
        RR,
        (
            ((28, 20, 14, 62), (32, 29, 21, 82), (42, 34, 27, 103), (57, 46, 39, 142)),
            ((26, 24, 15, 65), (26, 23, 19, 68), (24, 23, 20, 67), (15, 19, 20, 54)),
            ((32, 42, 57, 131), (28, 34, 46, 108), (20, 29, 39, 88), (14, 21, 27, 62)),
        ),
    ),
    Table(
        "table-7.19",
        "ratings of Blondie24-RR trained at 1 to 4 plies",
        RATINGS,
        _pairs(
            _RR_PAIRS,
            (
                (1187.79, 28.86, 1200.74, 27.55),
                (1160.17, 28.15, 1252.67, 26.84),
                (1256.00, 27.71, 1450.51, 26.58),
                (1194.62, 29.30, 1212.04, 27.98),
                (1335.38, 28.72, 1440.84, 27.43),
                (1348.31, 29.24, 1495.93, 27.91),
            ),
        ),
    ),
    Table(
        "table-7.20",
        "Blondie24-RR trained at 1 to 4 plies, from the start position",
        START,
        tuple(row(*pair, "lost", "lost") for pair in _RR_PAIRS),
    ),
    Table(
        "table-7.21",
        "C10 trained at 4 plies and at 1",
        RESULTS,
        (row("c10", "c10-1ply", 56, 16, 14),),
    ),
    Table(
        "table-7.22",
        "C5-N0.001 trained at 4 plies and at 1",
        RESULTS,
        (row("c5-n0.001-4ply", "c5-n0.001-1ply", 51, 20, 15),),
    ),
    Table(
        "table-7.23",
        "ratings of C10 and C5-N0.001 trained at 4 plies and at 1",
        RATINGS,
        (
            row("c10", "c10-1ply", 1437.24, 27.20, 1245.47, 26.48),
            row("c5-n0.001-4ply", "c5-n0.001-1ply", 1354.60, 27.43, 1196.35, 26.63),
        ),
    ),
    Table(
        "table-7.24",
        "C10 and C5-N0.001 trained at 1 ply against 4 plies, from the start position",
        START,
        (
            row("c10-1ply", "c10", "lost", "lost"),
            row("c5-n0.001-1ply", "c5-n0.001-4ply", "lost", "lost"),
        ),
    ),
    Table(
        "training-ply",
        "C10 and C5-N0.001 trained at 1 to 4 plies, each against the one trained a ply less deep",
        RESULTS,
        tuple(row(deep, flat) for players in (C10, C5) for flat, deep in pairwise(players)),
        note="Not in the thesis, which trains these two at 1 and 4 plies only.",
    ),
    Table(
        "below-trained-ply",
        "players that search fewer plies than they were trained with, and players trained at those",
        RESULTS,
        tuple(
            row(Player(players[-1], depth=depth), Player(players[depth - 1], depth=depth))
            for players in (C0, RR)
            for depth in (1, 2, 3)
        ),
        note="The thesis (7.8) advises to train at 4 plies and to play at more, without figures.",
    ),
)
