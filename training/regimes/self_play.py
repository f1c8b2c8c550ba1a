"""Base of the regimes in which one player plays both sides and learns from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.match_kernel import SelfPlayStats
from checkers_env.openings import BALLOTS
from checkers_env.state import DrawRules
from training.evolution.metrics import Metrics, population_metrics
from training.evolution.state import State
from training.regimes import Regime

CARDS = {"none": (None,), **BALLOTS}


class SelfPlayRegime(Regime):
    """A regime of one player, whose state has ``weights``."""

    root_perspective = True
    parents = 1
    king = 1.0  # a regime with K as a constant has its own
    max_moves: Any

    @property
    def rules(self) -> DrawRules:
        """Draw rules of games against others."""
        return DrawRules(self.max_moves)

    def metrics(self, state: State) -> Metrics:
        """Summarise the weights."""
        return population_metrics(state.arrays["weights"], np.full(1, self.king))


def self_play_metrics(stats: SelfPlayStats) -> Metrics:
    """Summarise the games of a generation."""
    games = stats.black_wins + stats.white_wins + stats.draws
    return {
        "games/draws": stats.draws / games,
        "games/black_wins": stats.black_wins / games,
        "games/plies": stats.plies / games,
        "td/error": stats.mean_error,
    }
