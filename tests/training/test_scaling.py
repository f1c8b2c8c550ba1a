"""The command that measures how cost grows, at its smallest."""

from pathlib import Path

import pytest
from rich.console import Console

from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001
from training import scaling
from training.costs.curves import deeper, sample_matchups

TINY = scaling.ScalingEffort(3, 1, (1, 2), (1, 2), (0, 1), 4, 2, 1)


def test_page_has_every_table_and_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaling, "QUICK", TINY)
    monkeypatch.setattr(scaling, "WORKERS", (("threads", 1), ("processes", 1)))
    target = tmp_path / "costs.md"
    scaling.measure(["--quick", "--page", str(target)], Console())
    text = target.read_text()
    for heading in ("Plies", "Population", "Weights", "Workers on this machine", "A cluster"):
        assert f"\n## {heading}" in text
    assert "| processes | 1 |" in text
    assert "| 100,000 |" in text
    assert "(costs.svg)" in text
    assert (tmp_path / "costs.svg").read_bytes().lstrip().startswith(b"<?xml")


def test_larger_networks_play_legal_games_of_their_size() -> None:
    layout = deeper(2)
    assert layout.weight_count == BLONDIE_2001.weight_count + 40 * (91 + 1) - 40 * 92 + 2 * 40 * 41
    matchups = sample_matchups(layout, 3)
    assert len(matchups) == 3
    assert all(matchup.black is not matchup.white for matchup in matchups)


def test_no_pair_of_a_sample_meets_twice() -> None:
    for games in (1, 2, 30, 100):
        matchups = sample_matchups(BLONDIE_1999, games)
        assert len({(id(each.black), id(each.white)) for each in matchups}) == games


def test_a_page_in_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="page is a file in a folder that exists"):
        scaling.measure(["--quick", "--page", str(tmp_path / "no" / "x.md")], Console())
