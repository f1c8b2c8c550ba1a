"""The ballots against the reference tables and the rules."""

import itertools

import pytest

from checkers_env import fen, openings
from checkers_env.board import Board
from checkers_env.state import DrawRules
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


def test_eleven_man_ballot_has_the_published_number_of_openings():
    assert len(set(openings.ELEVEN_MAN)) == len(openings.ELEVEN_MAN) == 2500


BEHIND = {
    "9-13": "6-9",
    "9-14": "5-9",
    "10-14": "7-10",
    "10-15": "6-10",
    "11-15": "8-11",
    "11-16": "7-11",
    "12-16": "8-12",
}  # the first moves, and what is played if their man is off: read off a diagram


def turned(move):
    return "-".join(str(33 - int(square)) for square in move.split("-"))


def test_eleven_man_openings_are_drawn_by_the_rules():
    reached = set()
    for black, white in itertools.product(range(5, 13), repeat=2):
        men = ",".join(str(it) for it in range(1, 13) if it != black)
        others = ",".join(str(33 - it) for it in range(1, 13) if it != white)
        for first, reply in itertools.product(BEHIND, repeat=2):
            board = Board(f"B:W{others}:B{men}")
            board.push(BEHIND[first] if first.startswith(f"{black}-") else first)
            board.push(turned(BEHIND[reply] if reply.startswith(f"{white}-") else reply))
            reached.add(board.position)
    assert reached == {Board(opening).position for opening in openings.ELEVEN_MAN}


@pytest.mark.parametrize(
    ("text", "start", "moves"),
    [
        (None, fen.START, ()),
        ("", fen.START, ()),
        ("9-13 22-18", fen.START, ("9-13", "22-18")),
        (openings.ELEVEN_MAN[0], openings.ELEVEN_MAN[0], ()),
    ],
)
def test_opening_board_has_the_moves_and_the_rules(text, start, moves):
    rules = DrawRules(max_moves=7, repetition=3, no_progress=9, blocked_draws=True)
    board = openings.opening_board(text, rules)
    assert (board.rules, tuple(map(str, board.moves))) == (rules, moves)
    assert board.root() == Board(start)
    position, moves, actions = openings.parse_opening(text)
    assert (position, moves) == (Board(start).position, tuple(board.moves))
    assert len(actions) == len(moves)
    assert openings.opening_board(text).rules == DrawRules()
