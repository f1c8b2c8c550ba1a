"""Moves as text: written, parsed and refused."""

import re

import numpy as np
import pytest

from checkers_env.board import Board
from checkers_env.moves import Move
from tests import oracle

KINGS_ONLY = "B:WK32:BK1"
TWO_ROUTES = "B:W6,7,14,15:BK2"  # round the four men either way, back to where it started
TWO_ENDS = "W:WK1:B6,7,15,16"  # 1x3, or on and on to 12


@pytest.mark.parametrize("seed", range(10))
def test_every_legal_move_is_parsed_from_its_text(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        board = Board(oracle.write_fen(*oracle.random_position(rng)))
        texts = [str(move) for move in board.legal_moves]
        assert len(set(texts)) == len(texts)
        assert [board.parse_move(text) for text in texts] == board.legal_moves


def test_moves_are_written_short_unless_ambiguous():
    short, long = Board(TWO_ENDS), Board(TWO_ROUTES)
    assert [str(move) for move in short.legal_moves] == ["1x3", "1x12"]
    assert [str(move) for move in long.legal_moves] == ["2x9x18x11x2", "2x11x18x9x2"]
    assert long.parse_move("2x9x18x11x2").captured == (6, 14, 15, 7)
    assert short.parse_move("1x10x19x12") == short.parse_move("1x12")
    assert not short.legal_moves[0].ambiguous
    assert long.legal_moves[0].ambiguous


@pytest.mark.parametrize(
    "mark", ["-", "x", "X", ":", "\u00d7", "\u2013", "\u2014", "\u2212", "->", "\u2192", "to"]
)
def test_other_marks_between_squares_are_read(mark):
    for text in (f"1{mark}10{mark}19{mark}12", f"1 {mark} 12", f" 1{mark}12\n"):
        assert str(Board(TWO_ENDS).parse_move(text)) == "1x12"
    assert str(Board(KINGS_ONLY).parse_move(f"1{mark}6")) == "1-6"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("22x8", "leaves out a square of the jump"),
        ("4x13", "leaves out a square"),
        ("9", "is not a move"),
        ("9-33", "square 33"),
    ],
)
def test_move_is_made_from_text_with_each_square(text, wrong):
    assert Move("22x15x8").captured == (18, 11)
    with pytest.raises(ValueError, match=wrong):
        Move(text)


@pytest.mark.parametrize(
    ("fen", "text", "wrong"),
    [
        (TWO_ROUTES, "2x2", "ambiguous: write 2x9x18x11x2 or 2x11x18x9x2"),
        (TWO_ENDS, "1x10", "illegal: the legal moves are 1x3, 1x12"),
        (TWO_ENDS, "1x19x12", "illegal"),
        (KINGS_ONLY, "32-27", "illegal: the legal moves are 1-5, 1-6"),
        ("B:W18:B", "1-5", "illegal: the legal moves are none"),
        (KINGS_ONLY, "1-33", "names square 33: squares are 1 to 32"),
        (KINGS_ONLY, "0-5", "names square 0"),
        (KINGS_ONLY, "1-6-9", "illegal"),
        (KINGS_ONLY, "1", "not a move: write 11-15, 22x15 for a capture"),
        (KINGS_ONLY, "1 6", "not a move"),
        (KINGS_ONLY, "1--6", "not a move"),
        (KINGS_ONLY, "", "not a move"),
        (KINGS_ONLY, "b2-c3", "not a move"),
        (KINGS_ONLY, "\u0661-\u0666", "not a move"),
        (KINGS_ONLY, f"1-{'6' * 5000}", "not a move"),
    ],
)
def test_text_that_is_not_a_legal_move_is_refused(fen, text, wrong):
    board = Board(fen)
    for act in (board.parse_move, board.push):
        with pytest.raises(ValueError, match=re.escape(repr(text))) as error:
            act(text)
        assert wrong in str(error.value)
    assert board == Board(fen)
