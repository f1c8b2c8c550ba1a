"""The ballots against the reference tables and the rules."""

import pytest

from checkers_env import openings
from checkers_env.board import Board
from tests import DATA


def rows(name):
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def test_two_move_ballot_equals_the_published_one():
    assert [row[0] for row in rows("two_move.tsv") if row[2] == "in"] == list(openings.TWO_MOVE)
    assert len(openings.TWO_MOVE) == 43


def test_three_move_ballot_equals_the_published_one():
    assert [row[1] for row in rows("three_move.tsv") if row[2] == "in"] == list(openings.THREE_MOVE)
    assert len(set(openings.THREE_MOVE)) == 156


def test_names_belong_to_openings_of_the_ballot():
    assert openings.NAMES["9-13 22-18 11-15"] == "Edinburgh Single"
    assert openings.NAMES.keys() <= set(openings.THREE_MOVE)


@pytest.mark.parametrize("opening", openings.TWO_MOVE + openings.THREE_MOVE)
def test_every_opening_can_be_played(opening):
    board = Board()
    for move in opening.split():
        board.push(move)
    assert " ".join(map(str, board.moves)) == opening
