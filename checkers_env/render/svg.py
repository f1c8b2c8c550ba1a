"""Scenes as SVG, for notebooks and pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree

from checkers_env.moves import Move, squares_of
from checkers_env.render.scene import (
    SIDES,
    SIZE,
    Area,
    BoardLike,
    Disc,
    Label,
    Line,
    Point,
    Shape,
    build_scene,
)

ROOT = {
    "xmlns": "http://www.w3.org/2000/svg",
    "role": "img",
    "viewBox": f"0 0 {SIZE} {SIZE}",
    "font-family": "system-ui, sans-serif",
    "style": "max-width: 100%; height: auto",
}
FONT_SIZE = 1.4  # to the height of a digit


class Svg(str):
    """SVG text, which a notebook shows as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def svg(
    board: BoardLike,
    *,
    last: Move | str | bool = True,
    arrows: Iterable[Move | str] = (),
    fill: Mapping[int, str] | None = None,
    size: float = 400,
    flipped: bool = False,
) -> Svg:
    """Draw a board as SVG text that describes the position in words and needs no other file.

    Parameters
    ----------
    board
        The board, with its last move.
    last
        The move whose squares are tinted and whose captures are marked: True is the last one made
        on the board, if any, False none. Text has each square of the move.
    arrows
        Moves to draw as arrows, a multi-jump along all of its squares; text as for `last`.
    fill
        Colours of squares, by number.
    size
        Width and height in pixels; on a narrower page the picture shrinks.
    flipped
        Whether Black looks up the board, not White.

    Raises
    ------
    ValueError
        For a size that is not positive, and for a move with a square outside 1-32.
    """
    if not 0 < size < math.inf:
        raise ValueError(f"size must be a positive number of pixels, not {size!r}")
    drawn = [Move(arrow) if isinstance(arrow, str) else arrow for arrow in arrows]
    last = Move(last) if isinstance(last, str) else last
    shown = last if isinstance(last, Move) else board.moves[-1] if last and board.moves else None
    root = ElementTree.Element("svg", ROOT, width=f"{size:g}", height=f"{size:g}")
    _add_text(root, "title", f"Checkers: {SIDES[board.turn]} to move")
    _add_text(root, "desc", _in_words(board, shown, drawn, flipped))
    for part in build_scene(board, shown, arrows=drawn, fill=fill, flipped=flipped):
        group = ElementTree.SubElement(root, "g")
        if part.title:
            _add_text(group, "title", part.title)
        group.extend(_element(shape) for shape in part.shapes)
    return Svg(ElementTree.tostring(root, "unicode"))


def _in_words(board: BoardLike, last: Move | None, arrows: list[Move], flipped: bool) -> str:
    facts: list[tuple[str, Sequence[object]]] = [
        (f"{side} {kind}", squares_of(own & crowned))
        for side, own in zip(SIDES, (board.black, board.white), strict=True)
        for kind, crowned in (("men", ~board.kings), ("kings", board.kings))
    ]
    if last:
        facts += [("Last move", [last]), ("Captured", last.captured)]
    facts += [("Arrows", arrows), ("Seen from", ["Black's side"] if flipped else [])]
    return " ".join(f"{name}: {', '.join(map(str, items))}." for name, items in facts if items)


def _add_text(parent: ElementTree.Element, tag: str, text: str) -> None:
    ElementTree.SubElement(parent, tag).text = text


def _element(shape: Shape) -> ElementTree.Element:
    match shape:
        case Disc((x, y), radius, colour):
            place = {"cx": f"{x:g}", "cy": f"{y:g}", "r": f"{radius:g}"}
            return ElementTree.Element("circle", place, fill=colour)
        case Area(points, colour):
            return ElementTree.Element("polygon", points=_written(points), fill=colour)
        case Line(points, width, colour):
            stroke = {"stroke": colour, "stroke-width": f"{width:g}", "fill": "none"}
            ends = {"stroke-linecap": "round", "stroke-linejoin": "round"}
            return ElementTree.Element("polyline", stroke | ends, points=_written(points))
        case Label((x, y), text, height, colour):
            place = {"x": f"{x:g}", "y": f"{y:g}", "font-size": f"{FONT_SIZE * height:g}"}
            label = ElementTree.Element("text", place, fill=colour)
            label.text = text
            return label


def _written(points: Iterable[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
