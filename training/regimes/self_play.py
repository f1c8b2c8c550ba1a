"""What the regimes have in common in which one player plays both sides and learns from it."""

from __future__ import annotations

from typing import Any

from agents.match_kernel import Tally
from agents.search.workspace import MAX_DEPTH
from agents.weights import WeightsMetadata
from checkers_env.openings import BALLOTS
from checkers_env.state import DrawRules
from training.evolution.metrics import Metrics
from training.evolution.state import State

CARDS = {"none": (None,), **BALLOTS}
RANGES = {
    "lam": (0.0, 1.0),
    "epsilon": (0.0, 1.0),
    "random_plies": (0, 200),
    "games": (1, 1_000_000),
    "depth": (1, MAX_DEPTH),
    "max_moves": (2, 100_000),
}


class SelfPlay:
    """A regime of one player."""

    own_leaves = True
    parents = 1
    max_moves: Any

    @property
    def rules(self) -> DrawRules:
        """When games are drawn, those between its players and others."""
        return DrawRules(self.max_moves)

    def files(self, state: State, metadata: WeightsMetadata) -> dict[str, bytes]:
        """Files of the regime's own to keep with a run, by name: none."""
        return {}


def measured(tally: Tally) -> Metrics:
    """What is measured in the games of a generation."""
    games = tally.black_wins + tally.white_wins + tally.draws
    return {
        "games/draws": tally.draws / games,
        "games/black_wins": tally.black_wins / games,
        "games/plies": tally.plies / games,
        "td/error": tally.mean_error,
    }
