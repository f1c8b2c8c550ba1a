"""Boards as SVG: well-formed, described in words, and equal to the image."""

from collections import Counter
from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from checkers_env import Board
from checkers_env.render.scene import CASING, Area, Disc, Label, Line, build_scene
from checkers_env.render.svg import svg
from tests.checkers_env.render.pixels import DOUBLE_JUMP, POSITION, after_double_jump

NAMESPACE = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def text_of(root: ElementTree.Element, tag: str) -> str:
    found = root.find(NAMESPACE + tag)
    assert found is not None
    return found.text or ""


def titles(text: str) -> list[str]:
    groups = parsed(text).findall(f"{NAMESPACE}g")
    return [title.text or "" for group in groups for title in group.findall(f"{NAMESPACE}title")]


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """Return a board after some random moves."""
    rng, board = np.random.default_rng(draw(st.integers(0, 2**32))), Board()
    for _ in range(draw(st.integers(0, 60))):
        if board.outcome():
            break
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    return board


@given(boards(), st.booleans())
def test_each_piece_is_a_named_group(board: Board, flipped: bool) -> None:
    _, white, black = board.fen().split(":")
    expected = [
        f"{side} king on {item[1:]}" if item.startswith("K") else f"{side} man on {item}"
        for side, items in (("White", white[1:]), ("Black", black[1:]))
        for item in items.split(",")
        if item
    ]
    found = titles(svg(board, last=False, flipped=flipped))
    assert Counter(found) == Counter(expected)


@given(boards(), st.booleans())
def test_svg_has_the_shapes_of_the_scene(board: Board, flipped: bool) -> None:
    last = board.moves[-1] if board.moves else None
    arrows = board.legal_moves
    root = parsed(svg(board, arrows=arrows, flipped=flipped))
    parts = build_scene(board, last, arrows=arrows, flipped=flipped)
    tags = {Disc: "circle", Line: "polyline", Area: "polygon", Label: "text"}
    expected = [tags[type(shape)] for part in parts for shape in part.shapes]
    drawn = [element.tag.removeprefix(NAMESPACE) for element in root.iter()]
    assert [tag for tag in drawn if tag in tags.values()] == expected
    discs = [shape for part in parts for shape in part.shapes if isinstance(shape, Disc)]
    circles = [(c.get("cx"), c.get("cy"), c.get("fill")) for c in root.iter(f"{NAMESPACE}circle")]
    assert circles == [(f"{d.centre[0]:g}", f"{d.centre[1]:g}", d.colour) for d in discs]


def test_svg_describes_the_board_in_words() -> None:
    root = parsed(svg(Board(POSITION)))
    assert root.get("role") == "img"
    assert text_of(root, "title") == "Checkers: White to move"
    pieces = "Black men: 12. Black kings: 3. White men: 18, 24. White kings: 31."
    assert text_of(root, "desc") == pieces
    board = after_double_jump()[0]
    assert text_of(parsed(svg(board, arrows=board.legal_moves[:1], flipped=True)), "desc") == (
        "Black men: 12, 19. White men: 32. Last move: 1x19. Captured: 6, 15. Arrows: 32-28. "
        "Seen from: Black's side."
    )
    assert text_of(parsed(svg(Board("B:W:BK18"))), "desc") == "Black kings: 18."


def test_arrow_leads_from_square_to_square() -> None:
    move = Board(DOUBLE_JUMP).legal_moves[0]
    text = svg(Board(DOUBLE_JUMP), arrows=[move])
    assert titles(text)[-1] == "Arrow 1x19"
    way = next(parsed(text).iter(f"{NAMESPACE}polyline"))
    assert (way.get("points"), way.get("stroke")) == ("96,32 224,160 352,288", CASING)
    assert svg(Board(DOUBLE_JUMP), arrows=(move for move in [move])) == text
