"""Evaluation of a generation's players against opponents that do not change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.baselines.heuristic import Heuristic
from agents.baselines.material import Material
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.evolution.game_runner import GameRunner, Matchup
from training.evolution.metrics import Metrics
from training.evolution.tournament import Payoff

OPPONENTS = {
    "curve/heuristic": Heuristic(),
    "curve/material": AlphaBeta(Material(), 1, tie=CHANCE),
}


def performance_curve(
    players: Sequence[Any], seed: int, generation: int, rules: DrawRules, runner: GameRunner
) -> Metrics:
    """Measure players against the heuristic player and the piece counter at 1 ply.

    Each player has one game a colour with each opponent, from the generation's ballot card.
    Training does not depend on these games. The curve is Skycak's; his games are not described. The
    result is the mean payoff (+1, 0 or -2 a game) by opponent.
    """
    card = TWO_MOVE[np.random.default_rng((seed, generation)).integers(len(TWO_MOVE))]
    metrics = {}
    for number, (name, opponent) in enumerate(OPPONENTS.items()):
        matchups: list[Matchup] = []
        for member, player in enumerate(players):
            matchups += both_colours(player, opponent, card, (seed, generation, number, member))
        payoffs = play_for(Payoff(), matchups, rules, runner)
        metrics[name] = float(np.mean(payoffs))
    return metrics


def both_colours(
    player: Any, opponent: Any, card: str | None, seed: tuple[int, ...]
) -> list[Matchup]:
    """Pair a player with an opponent for two games, first with Black, then with White."""
    return [
        Matchup(player, opponent, card, (*seed, BLACK)),
        Matchup(opponent, player, card, (*seed, WHITE)),
    ]


def play_for(
    payoff: Payoff, matchups: Sequence[Matchup], rules: DrawRules, runner: GameRunner
) -> list[float]:
    """Play games of :func:`both_colours`; return the player's payoff of each game."""
    games = runner.play(matchups, rules)
    return [payoff.of(game.result, (BLACK, WHITE)[index % 2]) for index, game in enumerate(games)]
