"""Who plays whom, and what it scores: against a plain count."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from agents.play import DRAW, Result
from checkers_env.game import MOVE_LIMIT, NO_PIECES
from checkers_env.rules import BLACK, WHITE
from training.tournament import Payoff, random_opponents, total_scores

ERRORS = 5


def random_results(count, rng):
    winners = rng.choice([DRAW, BLACK, WHITE], size=count)
    return [
        Result(int(winner), MOVE_LIMIT if winner == DRAW else NO_PIECES, 60) for winner in winners
    ]


@pytest.mark.parametrize(("members", "games"), [(30, 5), (2, 1), (2, 7), (3, 2), (30, 1)])
def test_each_plays_black_equally_often_and_never_itself(members, games):
    pairs = random_opponents(members, games, np.random.default_rng(members))
    assert Counter(black for black, _ in pairs) == dict.fromkeys(range(members), games)
    assert all(white in range(members) and white != black for black, white in pairs)


def test_opponents_are_uniform_and_drawn_with_replacement():
    members, games = 5, 4000
    pairs = random_opponents(members, games, np.random.default_rng(0))
    counts = Counter(pairs)
    assert len(counts) == members * (members - 1)
    for count in counts.values():
        assert abs(count - games / 4) < ERRORS * np.sqrt(games * 3 / 16)
    repeats = sum(first == second for first, second in pairwise(pairs))
    assert abs(repeats - len(pairs) / 4) < ERRORS * np.sqrt(len(pairs) * 3 / 16)


def test_payoffs_of_the_papers():
    payoff = Payoff()
    for side in (BLACK, WHITE):
        assert payoff.of(Result(side, NO_PIECES, 50), side) == 1
        assert payoff.of(Result(1 - side, NO_PIECES, 50), side) == -2
        assert payoff.of(Result(DRAW, MOVE_LIMIT, 200), side) == 0


@pytest.mark.parametrize("payoff", [Payoff(), Payoff(2.0, 0.25, -1.0)])
@pytest.mark.parametrize("both", [True, False])
def test_scores_against_a_plain_count(payoff, both):
    rng = np.random.default_rng(1)
    pairs = random_opponents(7, 4, rng)
    results = random_results(len(pairs), rng)
    expected = []
    for member in range(7):
        wins = draws = losses = 0
        for (black, white), result in zip(pairs, results, strict=True):
            if member == black or (both and member == white):
                own = BLACK if member == black else WHITE
                wins += result.winner == own
                losses += result.winner == 1 - own
                draws += result.winner == DRAW
        expected.append(wins * payoff.win + draws * payoff.draw + losses * payoff.loss)
    scores = total_scores(results, pairs, 7, payoff, both)
    assert scores.dtype == np.float64
    assert list(scores) == expected


def test_results_and_pairs_must_match():
    with pytest.raises(ValueError, match="zip"):
        total_scores([Result(BLACK, NO_PIECES, 50)], [(0, 1), (1, 0)], 2, Payoff(), True)
