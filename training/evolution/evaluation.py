"""Players of a generation against players that do not change: the performance curve, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.baselines.heuristic import Heuristic
from agents.baselines.material import Material
from agents.match_kernel import DRAW
from agents.search.player import AlphaBeta
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.evolution.game_runner import GameRunner, Matchup
from training.evolution.metrics import Metrics
from training.evolution.tournament import Payoff

OPPONENTS = {
    "curve/heuristic": Heuristic(),
    "curve/material": AlphaBeta(Material(), 1, random_ties=True),
}
_PAYOFF = Payoff()


def curve(
    players: Sequence[Any], seed: int, generation: int, rules: DrawRules, runner: GameRunner
) -> Metrics:
    """The mean payoff (+1, 0 or -2 a game) of `players` against each yardstick.

    As Skycak's performance curve. Each player has one game a colour with each opponent, from the
    ballot card of the generation; nothing of the run itself depends on these games.
    """
    card = TWO_MOVE[np.random.default_rng((seed, generation)).integers(len(TWO_MOVE))]
    measured = {}
    for number, (name, opponent) in enumerate(OPPONENTS.items()):
        matchups = []
        for member, player in enumerate(players):
            for side in (BLACK, WHITE):
                black, white = (player, opponent) if side == BLACK else (opponent, player)
                drawn = (seed, generation, number, member, side)
                matchups.append(Matchup(black, white, card, drawn))
        games = runner.play(matchups, rules)
        payoffs = [_PAYOFF.of(game.result, index % 2) for index, game in enumerate(games)]
        measured[name] = float(np.mean(payoffs))
    return measured


def scores(
    player: Any,
    plies: Sequence[int],
    cards: int,
    drawn: tuple[int, ...],
    rules: DrawRules,
    runner: GameRunner,
) -> Metrics:
    """Scores (a win 1, a draw 1/2) of a player against the piece counter, both at each of `plies`.

    From the first `cards` of the two-move ballot, a game a colour; `drawn` is the seed of chance.
    """
    measured = {}
    for depth in plies:
        own, opponent = player._replace(depth=depth), AlphaBeta(Material(), depth, random_ties=True)
        matchups = []
        for number, card in enumerate(TWO_MOVE[:cards]):
            for side in (BLACK, WHITE):
                black, white = (own, opponent) if side == BLACK else (opponent, own)
                matchups.append(Matchup(black, white, card, (*drawn, depth, number, side)))
        games = runner.play(matchups, rules)
        winners = [game.result.winner for game in games]
        won = [winner == (BLACK, WHITE)[number % 2] for number, winner in enumerate(winners)]
        even = [winner == DRAW for winner in winners]
        measured[f"score/material-{depth}"] = float(np.mean(won) + np.mean(even) / 2)
    return measured


def is_log_spaced(generation: int) -> bool:
    """Whether it is one of 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on, two to a doubling."""
    return generation > 0 and generation // (generation & -generation) in (1, 3)
