"""An explanation as SVG: a board of contributions, and the parts of the evaluation beside it."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from agents.explanation.evaluators import Layer, Parts
from checkers_env.board import Board
from checkers_env.render.scene import DARK, SIDES
from checkers_env.render.svg import ROOT, Svg, svg

BOARD, GAP = 400, 24
LEFT, RIGHT = BOARD + GAP, 360  # left edge and width of the panel beside the board
LINE = 18
NAMES = 120  # width of the names beside the bars
CELL, CELLS = 12, 30  # side of a cell of a strip, and cells in a row
LARGEST_GRID = 6  # rows of the smallest sub-squares
GOOD, BAD, INK, FAINT = "#0b5fa5", "#9a5f00", "#222222", "#e6e2da"


def draw(parts: Parts, agent: str, board: Board, value: float | None) -> Svg:
    """Draw an evaluation; `value` is for the side to move, -1 to 1, None if the agent has none."""
    mover = SIDES[board.turn]
    shown = "no value" if value is None else f"{value:+.3f} for {mover}"
    title = f"{agent} sees {shown}"
    panel = Element("g", transform=f"translate({LEFT} 0)")
    y = _add_text(panel, title, LINE, weight="bold")
    y = _add_bars(panel, parts.terms, y)
    if parts.squares:
        y = _add_text(panel, f"Blue squares count for {mover}, amber ones against.", y)
    grids = [layer for layer in parts.layers if len(layer.cells) == (9 - layer.size) ** 2]
    if parts.layers:
        y = _add_text(panel, f"Layers, {SIDES[parts.perspective]}'s pieces as plus:", y + 6)
    y = _add_grids(panel, grids, y) if grids else y
    for layer in parts.layers if not grids else ():
        y = _add_strip(panel, layer.name, [cell.activation for cell in layer.cells], y)
    for number, nodes in enumerate(parts.hidden, 1):
        y = _add_strip(panel, f"hidden layer {number}: {len(nodes)} nodes", nodes.tolist(), y)
    width, height = LEFT + RIGHT, max(BOARD, y + 6)
    size = {"viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height)}
    root = Element("svg", ROOT | size, style=f"{ROOT['style']}; background: white")
    SubElement(root, "title").text = title
    root.append(_board(board, parts.squares))
    root.append(panel)
    return Svg(ElementTree.tostring(root, "unicode"))


def _board(board: Board, contributions: dict[int, float]) -> Element:
    most = max(map(abs, contributions.values()), default=0.0) or 1.0
    fill = {square: _blend(DARK, amount / most) for square, amount in contributions.items()}
    element = ElementTree.fromstring(svg(board, last=False, size=BOARD, fill=fill))
    for each in element.iter():  # it is put into another picture of the same namespace
        each.tag = each.tag.rpartition("}")[2]
    return element


def _add_text(parent: Element, text: str, y: int, x: int = 0, weight: str = "normal") -> int:
    """Write a line of text; return the y of the next."""
    font = {"font-size": "13", "fill": INK, "font-weight": weight}
    SubElement(parent, "text", font, x=str(x), y=str(y)).text = text
    return y + LINE


def _add_bars(parent: Element, terms: dict[str, float], y: int) -> int:
    """Draw the terms as bars to both sides of an axis; return the y of what follows."""
    most = max(map(abs, terms.values()), default=0.0) or 1.0
    half = (RIGHT - NAMES - 64) // 2
    axis = NAMES + half
    for name, amount in terms.items():
        length = half * abs(amount) / most
        left = axis if amount >= 0 else axis - length
        _add_box(parent, left, y - 11, length, 12, GOOD if amount >= 0 else BAD)
        _add_text(parent, f"{amount:+.3f}", y, axis + half + 6)
        y = _add_text(parent, name, y)
    return y


def _add_grids(parent: Element, layers: Sequence[Layer], y: int) -> int:
    """Draw the nodes of each size of sub-squares as a grid, two rows of three grids."""
    width = RIGHT // 3
    for number, layer in enumerate(layers):
        left, side = number % 3 * width, 9 - layer.size
        _add_text(parent, f"{layer.size}x{layer.size}", y, left)
        for index, cell in enumerate(layer.cells):
            row, column = divmod(index, side)
            place = left + column * CELL, y + 5 + row * CELL
            squares = ", ".join(map(str, cell.squares))
            _add_cell(parent, *place, cell.activation, f"squares {squares}")
        if number % 3 == 2:
            y += (LARGEST_GRID if number == 2 else 3) * CELL + 2 * LINE
    return y


def _add_strip(parent: Element, name: str, nodes: Sequence[float], y: int) -> int:
    """Draw nodes as cells side by side; return the y of what follows."""
    y = _add_text(parent, name, y) - LINE + 5
    for number, activation in enumerate(nodes):
        row, column = divmod(number, CELLS)
        _add_cell(parent, column * CELL, y + row * CELL, activation, f"node {number + 1}")
    return y + (len(nodes) + CELLS - 1) // CELLS * CELL + LINE


def _add_cell(parent: Element, x: float, y: float, activation: float, name: str) -> None:
    colour = _blend(FAINT, max(-1.0, min(1.0, activation)))
    box = _add_box(parent, x, y, CELL - 1, CELL - 1, colour)
    SubElement(box, "title").text = f"{name}: {activation:+.3f}"


def _add_box(
    parent: Element, x: float, y: float, width: float, height: float, colour: str
) -> Element:
    place = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:.1f}", "height": f"{height:g}"}
    return SubElement(parent, "rect", place, fill=colour)


def _blend(base: str, amount: float) -> str:
    """Return a colour between `base` (0) and GOOD (1) or BAD (-1)."""
    full = GOOD if amount > 0 else BAD
    pairs = ((int(base[i : i + 2], 16), int(full[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * abs(amount)):02x}" for a, b in pairs)
