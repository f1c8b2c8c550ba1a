"""The command that compares values with results."""

import re

import pytest
from rich.console import Console

from tests.training.report.test_calibration import random_game
from training.calibrate import calibrate
from training.league.records import Entrant, League, save_league


@pytest.fixture
def league(tmp_path):
    games = tuple(random_game(seed, score=seed % 3 / 2) for seed in range(12))
    entrants = Entrant("one", "random"), Entrant("other", "random")
    save_league(tmp_path / "league.json", League(entrants, {}, games))
    return tmp_path


def test_a_table_for_each_agent_and_a_diagram(league, tmp_path, capsys):
    plot = tmp_path / "diagram.svg"
    calibrate([str(league), "material", "--depth", "2", "--plot", str(plot)], Console(stderr=True))
    printed = capsys.readouterr().out
    assert "material" in printed
    assert re.search(r"24 +12 +(nan|-?0\.\d\d)", printed)
    assert plot.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["materiel"], "unknown agent 'materiel'"),
        (["random"], "not limited by depth"),
        (["material", "--plot", "no/such/folder/x.svg"], "plot"),
    ],
)
def test_bad_arguments_are_named(league, arguments, message):
    with pytest.raises(ValueError, match=message):
        calibrate([str(league), *arguments], Console(stderr=True))


def test_no_agent_is_an_error(league, capsys):
    with pytest.raises(SystemExit):
        calibrate([str(league)], Console(stderr=True))
    assert "name one agent or more" in capsys.readouterr().err


def test_a_missing_league_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"league\.json"):
        calibrate([str(tmp_path), "material"], Console(stderr=True))
