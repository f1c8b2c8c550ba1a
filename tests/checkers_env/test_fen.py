"""FEN: what is read, written and refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers_env import fen
from checkers_env.board import Board
from tests import oracle


def is_position(pieces):
    colours = [piece.lower() for piece in pieces.values()]
    return max(colours.count("b"), colours.count("w")) <= 12 and not any(
        piece in "bw" and oracle.cell(square)[0] == oracle.KING_ROW[piece]
        for square, piece in pieces.items()
    )


PIECES = st.dictionaries(st.integers(1, 32), st.sampled_from("bwBW")).filter(is_position)


@given(st.sampled_from("bw"), PIECES)
def test_positions_round_trip(side, pieces):
    text = oracle.write_fen(side, pieces)
    assert fen.format_position(*fen.parse(text)) == text


@given(st.sampled_from("bw"), PIECES)
def test_each_square_is_read_to_its_bit(side, pieces):
    black, white, kings, turn = fen.parse(oracle.write_fen(side, pieces))
    bits = {square: 1 << (square - 1 + (square - 1) // 8) for square in pieces}
    assert black == sum(bits[square] for square, piece in pieces.items() if piece in "bB")
    assert white == sum(bits[square] for square, piece in pieces.items() if piece in "wW")
    assert kings == sum(bits[square] for square, piece in pieces.items() if piece.isupper())
    assert turn == "bw".index(side)


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("W:B12,K3:W18,24,K31", fen.EXAMPLE),
        (" W : W18, 24 ,K31 : B12,K3 . ", fen.EXAMPLE),
        ("W:WK31,24,18:BK3,12.", fen.EXAMPLE),
        ("W:W 18, 24, K31:B 12,K3:H0:F1", fen.EXAMPLE),
        ("W : W 18 , 24, K31 : B 12, K3", fen.EXAMPLE),
        ("B:W21-32:B1-12", fen.START),
        ("W:WK5-7,9:B", "W:WK5,K6,K7,9:B"),
        ("W:W18,24,K31,:B12,K3,", fen.EXAMPLE),
        ("w:w18,24,k31:b12,k3", fen.EXAMPLE),
        ("?:W9:B", "B:W9:B"),
    ],
)
def test_alternative_spellings_are_read(text, usual):
    assert fen.parse(text) == fen.parse(usual)


def test_man_on_its_king_row_is_a_king_if_lenient():
    assert Board("W:W4,5:B29-32", lenient=True) == Board("W:WK4,5:BK29-32")
    assert fen.is_unusual("W:W4,5:B29-32")
    assert not fen.is_unusual("W:WK4,5:BK29-32:H0:F1.")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "side to move '' is neither"),
        ("R:W18:B12", "side to move 'R' is neither"),
        ("W:W18", "no section for black"),
        ("W:B12", "no section for white"),
        ("W", "no section for black"),
        ("W:W18:W19:B12", "two sections for white"),
        ("W:W18:B12:Hx", "section 'HX' begins with neither"),
        ("W:W0:B12", "square 0 is not 1 to 32"),
        ("W:W18:B33", "square 33 is not 1 to 32"),
        ("W:W18:B30-33", "square 33 is not 1 to 32"),
        ("W:W18:B9-7", "range '9-7' runs backwards"),
        ("W:W18,18:B12", "square 18 is named twice"),
        ("W:W18:BK18", "square 18 is named twice"),
        ("W:W18:B29", "black man on 29, its king row: write K29"),
        ("W:W4:B12", "white man on 4, its king row: write K4"),
        ("B:W21-32:B1-13", "13 black pieces: at most 12"),
        ("W:W18,,:B12", "'' is not a square"),
        ("W:W1 8:B12", "'1 8' is not a square"),
        ("W:W18:BQ3", "'Q3' is not a square"),
        ("W:W18:B\u0663", "'\u0663' is not a square"),
    ],
)
def test_errors_name_the_fault(text, wrong):
    with pytest.raises(ValueError, match="bad FEN") as error:
        Board(text)
    assert wrong in str(error.value)
    assert repr(text) in str(error.value)
    assert fen.EXAMPLE in str(error.value)
