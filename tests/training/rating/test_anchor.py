"""Anchor of a rating scale: its name, and the meaning of 0."""

import pytest

from training.league.records import Entrant
from training.rating.anchor import Anchor, describe_scale, find_anchor

ZERO = Entrant("material (depth 4)", "material", {"depth": 4})
DEEP = Entrant("material (depth 6)", "material", {"depth": 6})
OTHER = Entrant("blondie24 (depth 4)", "blondie24", {"depth": 4})


def test_piece_counter_at_4_plies_has_rating_0_anywhere():
    assert find_anchor([OTHER, ZERO, DEEP]) == Anchor("material (depth 4)", 0.0)
    assert find_anchor([OTHER, DEEP]) is None


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("material@depth=6=1000", Anchor("material (depth 6)", 1000)),
        ("material (depth 6)=-5.5", Anchor("material (depth 6)", -5.5)),
        ("blondie24=1e3", Anchor("blondie24 (depth 4)", 1000)),
        ("blondie24@depth=4=0", Anchor("blondie24 (depth 4)", 0)),
    ],
)
def test_anchor_may_be_named_as_in_tables_or_on_the_command_line(text, anchor):
    assert find_anchor([OTHER, ZERO, DEEP], text) == anchor


@pytest.mark.parametrize(
    "text", ["material", "=5", "blondie24=", "blondie24=inf", "blondie24=1e6", "blondie24=a"]
)
def test_unknown_anchor_is_refused(text):
    with pytest.raises(
        ValueError, match="an anchor is NAME=ELO, such as blondie24=1000, with at most 100,000 "
    ):
        find_anchor([OTHER, ZERO], text)


@pytest.mark.parametrize("text", ["material=0", "strong=0", "blondie24@depth=6=0"])
def test_ambiguous_anchor_is_refused(text):
    with pytest.raises(ValueError, match=r"no single player is named .*: the players are "):
        find_anchor([OTHER, ZERO, DEEP], text)


def test_scale_is_described():
    assert describe_scale(Anchor("material (depth 4)", 0.0)) == "0 Elo is material (depth 4)."
    assert describe_scale(Anchor("x", 1500.0)) == "The scale is fixed by x: +1500 Elo."
    assert "mean" in describe_scale(None)
