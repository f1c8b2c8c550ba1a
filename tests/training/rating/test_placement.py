"""Known ratings of the zoo, and the games that place an agent on their scale."""

import dataclasses

import numpy as np
import pytest

from tests.training.rating.simulated import league, pairs, record
from training.league.records import Entrant, League
from training.league.schedule import BALLOTS, challenge_pairings, schedule_games
from training.rating import elo as rating
from training.rating.elo import Anchor, expected_score, mismatch, rate_league
from training.rating.placement import ENOUGH, MOST_GAMES, placement_rounds
from training.rating.zoo_scale import known_ratings

LADDER = dict(enumerate((-700.0, -300.0, -60.0, 0.0, 30.0, 60.0, 120.0, 300.0, 800.0), 1))
ENTRANTS = tuple(Entrant(f"player {number}", "none") for number in range(len(LADDER) + 1))
FIXTURES = schedule_games(challenge_pairings([0], sorted(LADDER)), BALLOTS["two-move"])


def test_only_the_conditions_of_the_zoo_have_its_ratings():
    texts = ("c0", {"depth": 4}), ("c0", {"depth": 6}), ("random", {}), ("zoo/c0.safetensors", {})
    entrants = [Entrant(name, name, options) for name, options in texts]
    assert known_ratings(entrants) == {0: -4.0, 2: -716.0}
    assert known_ratings(entrants, 1) == {2: -716.0}


def test_one_known_opponent_is_an_anchor_with_its_mismatch(monkeypatch):
    monkeypatch.setattr(rating, "PRIOR", 1e-9)
    games = league([120.0, 0.0], 200, np.random.default_rng(3))
    anchored = rate_league(games, Anchor("player 1", 50.0))
    known = rate_league(games, known={1: 50.0})
    assert known.elo == pytest.approx(anchored.elo, abs=1e-3)
    assert known.rating(1) == (50.0, 50.0, 50.0)
    added = known.covariance[0, 0] - anchored.covariance[0, 0]
    assert np.sqrt(added) == pytest.approx(mismatch(known.elo[0], 50.0), rel=0.01)


def test_several_known_opponents_share_the_mismatch():
    """By refits with other ratings of the opponents, drawn from their deviations."""
    rng = np.random.default_rng(5)
    games = league([80.0, 0.0, 100.0, 150.0], 40, rng)
    mine = dataclasses.replace(
        games, games=tuple(it for it in games.games if it.black * it.white == 0)
    )
    known = {1: 0.0, 2: 100.0, 3: 150.0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rating, "mismatch", lambda one, other: 0.0 * one)
        alone = rate_league(mine, known=known).covariance[0, 0]
        shifted = [
            rate_league(mine, known={it: elo + rng.normal(0, 30) for it, elo in known.items()}).elo[
                0
            ]
            for _ in range(200)
        ]
        patch.setattr(rating, "mismatch", lambda one, other: 30.0 + 0.0 * one)
        whole = rate_league(mine, known=known).covariance[0, 0]
    assert np.sqrt(whole - alone) == pytest.approx(np.std(shifted), rel=0.15)


def placed(score, seed=0):
    """Return the games of all rounds, where a function gives the agent's score by an opponent."""
    games, rounds = {}, []
    empty = League(ENTRANTS, {})
    for batch in placement_rounds(empty, FIXTURES, LADDER, games, seed):
        rounds.append(batch)
        for it in batch:
            mine = score(it.black or it.white)
            points = mine if it.black == 0 else 1 - mine
            games[it.number] = dataclasses.replace(
                record(it.black, it.white, it.opening, points), number=it.number
            )
    return rounds, rate_league(
        dataclasses.replace(empty, games=tuple(games.values())), known=LADDER
    )


def test_nearest_opponents_are_met_most_until_the_interval_is_narrow():
    elo = 40.0

    def play():
        rng = np.random.default_rng(1)

        def score(opponent):
            chance = expected_score(elo - LADDER[opponent])
            return float(pairs([chance, chance], 0.5, 0.0, 1, rng)[0, 0])

        return placed(score)

    rounds, rated = play()
    assert play()[0] == rounds
    flat = [fixture for batch in rounds for fixture in batch]
    assert len(set(flat)) == len(flat) <= MOST_GAMES
    estimate = rated.rating(0)
    assert estimate.low < elo < estimate.high
    assert estimate.high - estimate.low <= 2 * ENOUGH
    games = np.bincount([it.black or it.white for it in flat], minlength=len(ENTRANTS))
    assert games[[3, 4, 5, 6]].min() > games[[1, 2, 8, 9]].max()


@pytest.mark.parametrize("points", [0.0, 1.0])
def test_agent_beyond_all_opponents_is_not_played_on(points):
    rounds, rated = placed(lambda opponent: points)
    assert sum(map(len, rounds)) < 200
    assert (rated.rating(0).elo > 800) == points


def test_agent_that_forfeits_every_game_plays_one_round(monkeypatch):
    monkeypatch.setattr("training.league.records.GameRecord.forfeiter", 0)
    assert len(placed(lambda opponent: 0.0)[0]) == 1
