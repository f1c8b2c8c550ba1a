"""Presets of the strong player without one ingredient at a time, of the same CPU time each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from training.trainer.presets import TD_PRESETS, Preset

STRONG: Any = TD_PRESETS["strong-1"]
BASE = "strong-base"
GENERATIONS, SECONDS = 16, 60  # generations and CPU-seconds of each run

# Changed constants, and games in a generation: as many as take SECONDS / GENERATIONS, by one
# measurement each.
CHANGES: dict[str, tuple[str, int, dict[str, Any]]] = {
    BASE: ("as it is", 540, {}),
    "strong-1-ply": ("learns from searches of 1 ply", 3890, {"search": 1}),
    "strong-2-plies": ("learns from searches of 2 plies", 2810, {"search": 2}),
    "strong-3-plies": ("learns from searches of 3 plies", 1190, {"search": 3}),
    "strong-6-plies": ("learns from searches of 6 plies", 110, {"search": 6}),
    "strong-no-tree": ("learns nothing of positions inside searches", 680, {"inner": 0}),
    "strong-no-lambda": ("learns from its own search only, lambda 0", 490, {"lam": 0.0}),
    "strong-no-coherence": ("the same step for all weights", 630, {"coherence": False}),
    "strong-no-coherence-0.2": (
        "the same step for all weights, alpha 0.2",
        510,
        {"coherence": False, "alpha": 0.2},
    ),
    "strong-captures": ("learns about positions with captures as well", 490, {"quiet": False}),
    "strong-no-repetition": ("does not know of repetitions", 420, {"repetition": False}),
    "strong-no-ballot": (
        "games from the start position and some random plies",
        540,
        {"openings": "none"},
    ),
    "strong-no-random-plies": ("no random plies after the ballot", 570, {"random_plies": 0}),
    "strong-no-openings": (
        "all games from the start position, none of it at random",
        490,
        {"openings": "none", "random_plies": 0},
    ),
    "strong-no-epsilon": ("no random moves after the opening", 480, {"epsilon": 0.0}),
    "strong-no-endgame": ("without endgame tables in training and play", 500, {"endgame": 0}),
}

STRONG_ABLATIONS = {
    name: Preset(
        replace(STRONG.regime, games=games, **changed), GENERATIONS, STRONG.source, what, SECONDS
    )
    for name, (what, games, changed) in CHANGES.items()
}
