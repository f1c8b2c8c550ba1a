"""Who plays whom in a generation, and what the games score."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.match import Game
from agents.match_kernel import DRAW, Result
from checkers_env.movegen import BLACK, WHITE
from checkers_env.state import DrawRules
from training.evolution.game_runner import GameRunner, Matchup

Pairs = list[tuple[int, int]]  # Black and White of each game


class Payoff(NamedTuple):
    """What a game is worth to a player; for the loser it is -2 in all the papers but one."""

    win: float = 1.0
    draw: float = 0.0
    loss: float = -2.0

    def of(self, result: Result, side: int) -> float:
        """The payoff of the player who had `side`."""
        if result.winner == DRAW:
            return self.draw
        return self.win if result.winner == side else self.loss


def random_opponents(members: int, games: int, rng: np.random.Generator) -> Pairs:
    """Each member as Black against `games` others, drawn with replacement."""
    draws = rng.integers(members - 1, size=(members, games))
    return [
        (black, int(draw) + int(draw >= black)) for black in range(members) for draw in draws[black]
    ]


def round_robin(members: int, games: int, rng: np.random.Generator) -> Pairs:
    """Each member as Black against each other; `games` is not used (thesis, Algorithm 4.1)."""
    return list(itertools.permutations(range(members), 2))


def common_opponents(members: int, games: int, rng: np.random.Generator) -> Pairs:
    """Each member as Black against the same few (Miconi 2009; thesis 4.4).

    One more than `games` are drawn, so that those who are among them have as many games.
    """
    drawn = rng.choice(members, size=min(games + 1, members), replace=False).tolist()
    return [
        (black, white)
        for black in range(members)
        for white in [other for other in drawn if other != black][:games]
    ]


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
) -> Any:
    """The payoffs of each member (float64[members]): of both players of a game, or Black only."""
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
) -> tuple[list[Game], Any]:
    """Play the games of all pairs: the games, and each player's score (float64[players]).

    What players leave to chance is drawn from `seed` and the number of the game; `openings` are
    those of the games, without which all begin at the start.
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


def best(scores: Any, count: int, rng: np.random.Generator) -> Any:
    """The indices of the `count` highest scores, best first, equals in random order."""
    return np.lexsort((rng.random(len(scores)), -np.asarray(scores)))[:count]
