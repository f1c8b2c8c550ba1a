"""Evolution that learns: the value of each change to the regime of 2001, and of all together."""

from __future__ import annotations

from training.experiments.jobs import Conditions
from training.experiments.papers.other_papers import UNSATURATED, early
from training.experiments.tables import SCORE, Table, row
from training.trainer.presets import ABLATIONS

BEST_NETWORK, BEST = "learns", "learns-squares"
NAMES = ("blondie24-2001", *ABLATIONS)
# Also measured after a quarter of the run.
QUARTERED = ("blondie24-2001", UNSATURATED, BEST_NETWORK)

TABLES = tuple(
    Table(
        f"learns-{plies}-plies",
        f"champions of changed evolution against the piece counter, both at {plies} plies",
        SCORE,
        (
            *(row(name, "material") for name in NAMES),
            *(row(early(name, 4), "material") for name in QUARTERED),
        ),
        Conditions(depth=plies),
        note="Each is trained with as many games as in the papers, 126,000 at 4 plies, or with a "
        "quarter of them. What each changes: docs/learning.md.",
    )
    for plies in (4, 6)
)
