"""Tournaments: fixtures and scores against a plain count."""

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest

from agents.match import MatchGame, opening_line
from agents.match_kernel import DRAW, Result
from checkers_env.movegen import BLACK, WHITE
from checkers_env.state import MOVE_LIMIT, NO_PIECES, DrawRules
from training.evolution.game_runner import Matchup
from training.evolution.tournament import (
    PAIRINGS,
    Payoff,
    common_opponents,
    random_opponents,
    round_robin,
    run_tournament,
    total_scores,
)
from training.regimes.coevolution import Coevolution

ERRORS = 5


def random_results(count, rng):
    winners = rng.choice([DRAW, BLACK, WHITE], size=count)
    return [
        Result(int(winner), MOVE_LIMIT if winner == DRAW else NO_PIECES, 60) for winner in winners
    ]


@pytest.mark.parametrize(("members", "games"), [(30, 5), (2, 1), (2, 7), (3, 2), (30, 1)])
def test_each_member_plays_black_equally_often_and_never_itself(members, games):
    pairs = random_opponents(members, games, np.random.default_rng(members))
    assert Counter(black for black, _ in pairs) == dict.fromkeys(range(members), games)
    assert all(white in range(members) and white != black for black, white in pairs)


def test_opponents_are_sampled_uniformly_with_replacement():
    members, games = 5, 4000
    pairs = random_opponents(members, games, np.random.default_rng(0))
    counts = Counter(pairs)
    assert len(counts) == members * (members - 1)
    for count in counts.values():
        assert abs(count - games / 4) < ERRORS * np.sqrt(games * 3 / 16)
    repeats = sum(first == second for first, second in pairwise(pairs))
    assert abs(repeats - len(pairs) / 4) < ERRORS * np.sqrt(len(pairs) * 3 / 16)


@pytest.mark.parametrize("members", [2, 3, 6, 30])
@pytest.mark.parametrize("games", [1, 5])
def test_round_robin_has_each_ordered_pair_once_and_uses_no_generator(members, games):
    rng = np.random.default_rng(0)
    pairs = round_robin(members, games, rng)
    assert len(pairs) == members * (members - 1)
    assert set(pairs) == set(permutations(range(members), 2))
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize(("members", "games"), [(30, 5), (6, 2), (2, 1), (4, 3), (30, 29), (3, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_common_opponents_are_the_same_for_all(members, games, seed):
    pairs = common_opponents(members, games, np.random.default_rng(seed))
    assert Counter(black for black, _ in pairs) == dict.fromkeys(range(members), games)
    assert len(set(pairs)) == len(pairs)
    assert all(black != white for black, white in pairs)
    met = {black: {white for one, white in pairs if one == black} for black in range(members)}
    drawn = set().union(*met.values())
    assert len(drawn) == games + 1
    outside = [met[black] for black in range(members) if black not in drawn]
    assert all(whites == outside[0] for whites in outside)
    for black in drawn:
        assert met[black] == drawn - {black} or (black not in met[black] == outside[0])


def test_common_opponents_are_sampled_uniformly_each_time():
    members, games, rounds = 8, 2, 4000
    rng, counts = np.random.default_rng(5), Counter()
    for _ in range(rounds):
        pairs = common_opponents(members, games, rng)
        counts.update({white for _, white in pairs})
    share = (games + 1) / members
    assert set(counts) == set(range(members))
    for count in counts.values():
        assert abs(count - rounds * share) < ERRORS * np.sqrt(rounds * share * (1 - share))


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize(("parents", "opponents"), [(15, 5), (1, 1), (3, 2)])
def test_regime_knows_its_number_of_games(pairing, parents, opponents):
    regime = Coevolution(parents=parents, opponents=opponents, pairing=pairing)
    pairs = PAIRINGS[pairing](2 * parents, opponents, np.random.default_rng(9))
    assert regime.games == len(pairs)
    rivals = 2 * parents - 1 if pairing == "round-robin" else opponents
    assert regime.games == 2 * parents * rivals


def test_payoffs_are_those_of_the_papers():
    payoff = Payoff()
    for side in (BLACK, WHITE):
        assert payoff.of(Result(side, NO_PIECES, 50), side) == 1
        assert payoff.of(Result(1 - side, NO_PIECES, 50), side) == -2
        assert payoff.of(Result(DRAW, MOVE_LIMIT, 200), side) == 0


@pytest.mark.parametrize("payoff", [Payoff(), Payoff(2.0, 0.25, -1.0)])
@pytest.mark.parametrize("both", [True, False])
def test_scores_equal_a_plain_count(payoff, both):
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


def test_every_fixture_is_played_with_its_own_seed():
    asked, rules, pairs = [], DrawRules(7), [(0, 1), (2, 0), (1, 2), (0, 1)]
    winners = [BLACK, DRAW, WHITE, WHITE]

    class Decided:
        def play(self, fixtures, given):
            asked.append((fixtures, given))
            results = [Result(winner, NO_PIECES, 9) for winner in winners]
            return [MatchGame(result, opening_line(None)[0], ()) for result in results]

    for seed in ((), (5, 6)):
        players = ["first", "second", "third"]
        games, scores = run_tournament(players, pairs, rules, Payoff(), True, Decided(), seed)
        fixtures, given = asked.pop()
        assert given is rules
        assert fixtures == [
            Matchup(players[black], players[white], None, (*seed, number))
            for number, (black, white) in enumerate(pairs)
        ]
        assert [game.result.winner for game in games] == winners
        assert list(scores) == [1 - 2, -2 - 2 + 1, 1]


def test_results_and_fixtures_must_match():
    with pytest.raises(ValueError, match="zip"):
        total_scores([Result(BLACK, NO_PIECES, 50)], [(0, 1), (1, 0)], 2, Payoff(), True)
