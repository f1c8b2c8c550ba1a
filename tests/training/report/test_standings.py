"""Standings, and the verdict: one sentence, whose figures are those of the ratings."""

from dataclasses import replace

import numpy as np
import pytest

from tests.training.rating.simulated import league
from training.league.records import Entrant, GameRecord, League
from training.league.schedule import schedule_games
from training.rating.elo import rate_league
from training.report import standings as report
from training.report.standings import format_elo, verdict
from training.report.terminal import forfeits


@pytest.mark.parametrize("elo", [(200, 0), (0, 200)])
def test_stronger_of_two_is_named_with_its_lead(elo):
    played = league(elo, 43, np.random.default_rng(3))
    better = int(np.argmax(elo))
    lead = rate_league(played).difference(better, 1 - better)
    assert verdict(played) == (
        f"player {better} is stronger than player {1 - better}: {format_elo(lead)}, "
        "86 games from 43 openings."
    )
    assert lead.low > 0


def test_equals_are_inconclusive():
    text = verdict(league((0, 0), 43, np.random.default_rng(4)))
    assert text.startswith("Inconclusive: player ")
    assert "43 openings ahead of player" in text


def test_leader_of_many_is_named():
    text = verdict(league((0, 300, 0, 0), 43, np.random.default_rng(5)))
    assert text.startswith("player 1 is the strongest: +")


def test_few_openings_are_no_evidence():
    few, enough = (league((900, 0), n, np.random.default_rng(6)) for n in (4, 5))
    assert verdict(few) == ("Too few openings to tell which is stronger: 8 games from 4 openings.")
    assert "Too few" not in verdict(enough)
    several = league((900, 0, 0, 0), 1, np.random.default_rng(6))  # six pairs of players
    assert verdict(several).startswith("Too few openings to tell which is stronger: 12 games from")


def test_forfeit_is_what_the_referee_says_and_not_what_an_agent_says():
    played = league((0, 0), 5, np.random.default_rng(7))
    reasons = [
        "Black forfeits: it died",
        "draw agreed, claimed by Black: White forfeits: it cheats",
    ]
    games = [replace(game, reason=it) for game, it in zip(played.games, reasons, strict=False)]
    black = played.entrants[games[0].black].name
    assert [*forfeits(replace(played, games=tuple(games)))] == [
        f"{black} forfeited 1 of its games, the first being game 1: Black forfeits: it died"
    ]


def test_equal_ratings_keep_the_order_of_the_entrants(monkeypatch):
    entrants = tuple(Entrant(name, name) for name in ("one", "two", "three"))
    fixtures = schedule_games([(0, 1), (0, 2), (1, 2)], ["9-13 22-18", "9-13 24-20"])
    games = tuple(GameRecord(*fixture, 0.5, "max moves", 0, ()) for fixture in fixtures)
    equals = League(entrants, {}, games)
    rated = rate_league(equals)
    noise = np.array([0.0, 1e-12, 2e-12])
    monkeypatch.setattr(
        report, "rate_league", lambda *given, **options: replace(rated, elo=rated.elo + noise)
    )
    assert [line.name for line in report.standings(equals)] == ["one", "two", "three"]
