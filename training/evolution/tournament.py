"""Tournament of a generation: pairings, payoffs and truncation selection."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.match import MatchGame
from agents.match_kernel import DRAW, Result
from checkers_env.movegen import BLACK, WHITE
from checkers_env.state import DrawRules
from training.evolution.game_runner import GameRunner, Matchup

Pairs = list[tuple[int, int]]  # Black and White of each game


class Payoff(NamedTuple):
    """Value of a game to a player; a loss is -2 in all the papers but Nguyen's."""

    win: float = 1.0
    draw: float = 0.0
    loss: float = -2.0

    def of(self, result: Result, side: int) -> float:
        """Return the payoff of the player of `side`."""
        if result.winner == DRAW:
            return self.draw
        return self.win if result.winner == side else self.loss


def random_opponents(members: int, games: int, rng: np.random.Generator) -> Pairs:
    """Pair each member as Black with `games` others, sampled with replacement."""
    samples = rng.integers(members - 1, size=(members, games))
    return [
        (black, int(other) + int(other >= black))
        for black in range(members)
        for other in samples[black]
    ]


def round_robin(members: int, games: int, rng: np.random.Generator) -> Pairs:
    """Pair each member as Black with each other (thesis, Algorithm 4.1)."""
    return list(itertools.permutations(range(members), 2))


def common_opponents(members: int, games: int, rng: np.random.Generator) -> Pairs:
    """Pair each member as Black with the same few opponents (Miconi 2009; thesis 4.4).

    The sample has one opponent more than `games`, so that the opponents play as many games
    themselves.
    """
    opponents = rng.choice(members, size=min(games + 1, members), replace=False).tolist()
    return [
        (black, white)
        for black in range(members)
        for white in [other for other in opponents if other != black][:games]
    ]


def both_ways(pairs: Pairs) -> Pairs:
    """Return the pairs, then all of them with colours changed."""
    return pairs + [(white, black) for black, white in pairs]


PAIRINGS: dict[str, Callable[[int, int, np.random.Generator], Pairs]] = {
    "random": random_opponents,
    "round-robin": round_robin,
    "common": common_opponents,
}


def total_scores(
    results: Sequence[Result],
    pairs: Sequence[tuple[int, int]],
    members: int,
    payoff: Payoff,
    both: bool,
) -> NDArray[np.float64]:
    """Add up each member's payoffs, shape (members,); without `both`, Black's only."""
    scores = np.zeros(members)
    for result, (black, white) in zip(results, pairs, strict=True):
        scores[black] += payoff.of(result, BLACK)
        if both:
            scores[white] += payoff.of(result, WHITE)
    return scores


def run_tournament(
    players: Sequence[Any],
    pairs: Pairs,
    rules: DrawRules,
    payoff: Payoff,
    both: bool,
    runner: GameRunner,
    seed: tuple[int, ...] = (),
    openings: Sequence[str | None] | None = None,
) -> tuple[list[MatchGame], NDArray[np.float64]]:
    """Play the games of all pairs; return them, and the score of each player, shape (players,).

    The number of the game is added to the seed of the players' chance. `openings` has one for each
    game; None for the start position.
    """
    matchups = [
        Matchup(players[black], players[white], opening, (*seed, number))
        for number, ((black, white), opening) in enumerate(
            zip(pairs, openings or [None] * len(pairs), strict=True)
        )
    ]
    games = runner.play(matchups, rules)
    results = [game.result for game in games]
    return games, total_scores(results, pairs, len(players), payoff, both)


def best(scores: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the `count` members with the highest scores, best first (truncation selection).

    Equal scores are ordered at random.
    """
    return np.lexsort((rng.random(len(scores)), -np.asarray(scores)))[:count]
