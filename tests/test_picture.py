"""The moving picture of the README: the game and the bytes that its script makes."""

import runpy
from xml.etree import ElementTree

from checkers_env import BLACK
from tests import ROOT


def test_script_makes_the_same_picture_again():
    script = runpy.run_path(str(ROOT / "docs" / "make_picture.py"))
    game = script["play"]()
    assert game.outcome().winner == BLACK  # as the picture says
    made = (ROOT / "docs" / "picture.svg").read_bytes()
    assert script["picture"](game).encode() == made
    assert len(made) < 600_000
    frames = [each for each in ElementTree.fromstring(made) if each.get("class", "")[:1] == "f"]
    assert len(frames) == len(game.moves) + 1
