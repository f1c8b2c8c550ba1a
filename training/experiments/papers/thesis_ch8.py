"""Al-Khateeb 2011, chapter 8: the ranking of all players."""

from __future__ import annotations

from training.experiments.tables import RESULTS, START, Table, row

_ORDER = ("c10-rr", "c10", "c5-n0.001", "blondie24-rr", "c0")
_PAIRS = tuple((here, there) for place, here in enumerate(_ORDER) for there in _ORDER[place + 1 :])
_AS_WHITE = {("c10", "c5-n0.001"): "drawn", ("blondie24-rr", "c0"): "drawn"}

TABLES = (
    Table(
        "table-8.1",
        "the five players, the best first, from the start position",
        START,
        tuple(row(*pair, "won", _AS_WHITE.get(pair, "won")) for pair in _PAIRS),
    ),
    Table(
        "ranking",
        "the same players with the two-move ballot",
        RESULTS,
        tuple(row(*pair) for pair in _PAIRS),
        note="Not in the thesis as one table: tables 4.6, 5.3, 5.4, 5.8 to 5.10 and 6.10 have it.",
    ),
)
