"""Validation: games outside the papers' tables, which select the seeds of the zoo.

Players that measure themselves take no part: their runs keep no weights. Of the changes to
evolution the best network and the best of all take part. Other readings of evolved n-tuples do not.
"""

from __future__ import annotations

from training.experiments.jobs import PLAYERS, SPARE, Conditions, Player, Run
from training.experiments.papers.coevolution_ablations import BEST, BEST_NETWORK
from training.experiments.papers.evolved_tuples import PLAIN
from training.experiments.tables import SCORE, Table, row
from training.trainer.presets import ABLATIONS

PANEL = (
    Player("material"),
    *(Player(name, seed=SPARE) for name in ("c5-n0.001", "c5-leaf", "samuel")),
)
FORTY = Conditions(games=40, ballot="three-move")
READINGS = {*PLAIN.values(), "c1-n0.001-1ply", "c1-n0.001-4ply"}  # of players that take part

VALIDATION = Table(
    "validation",
    "every player against a panel, 160 games from three-move cards",
    SCORE,
    tuple(
        row(player, PANEL)
        for player in PLAYERS
        if (player not in ABLATIONS or player in (BEST_NETWORK, BEST))
        and player not in READINGS
        and not Run(player, 0, 1).measures_itself
    ),
    FORTY,
    note="The best of a player's seeds here stands in the zoo. Its opponents, their seeds and the "
    "openings are in no other table.",
)

TABLES = (VALIDATION,)
