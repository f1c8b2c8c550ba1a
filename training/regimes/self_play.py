"""Base of the regimes in which one player plays both sides and learns from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from agents.match_kernel import SelfPlayStats
from checkers_env.openings import BALLOTS
from checkers_env.state import DrawRules
from training.evolution.metrics import Metrics, population_metrics
from training.evolution.state import State
from training.regimes import Regime
from training.runtime.validation import Range

CARDS = {"none": (None,), **BALLOTS}


@dataclass(frozen=True, kw_only=True)
class SelfPlayRegime(Regime):
    """A regime of one player, whose state has ``weights``."""

    games: Annotated[int, Range(1, 1_000_000)] = 1000
    """Games in a generation."""
    max_moves: Annotated[int, Range(2, 100_000)] = 100
    """Moves by each side after which a game is drawn."""

    curve_options: ClassVar[tuple[str, ...]] = ("threads", "engine", "executor", "address")
    root_perspective = True
    parents = 1
    king = 1.0  # a regime with K as a constant has its own

    @property
    def rules(self) -> DrawRules:
        """Draw rules of games against others."""
        return DrawRules(self.max_moves)

    def configure(self, kind: Any, **others: Any) -> Any:
        """Return the configuration of a kernel: the constants of the same names, and others."""
        own = {name: getattr(self, name) for name in kind._fields if hasattr(self, name)}
        return kind(**own | others)

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
