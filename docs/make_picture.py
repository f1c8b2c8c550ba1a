"""Make docs/picture.svg, the moving picture of the README: a game beside the network's inside.

    python docs/make_picture.py

Blondie24 plays the piece counter. Each frame is a position of that game, with the activations of
Blondie24's nodes there. The picture is one SVG file without scripts: a frame is a group that a
CSS animation makes visible for its turn. The same command makes the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import agents
from agents.explanation.explain import Explanation
from checkers_env import BLACK, Board, Move, openings
from checkers_env.files import write_atomically
from checkers_env.moves import square_to_bit
from checkers_env.render.scene import CROWNS, DARK, DISCS, LIGHT, MOVED, RIMS

OUT = Path(__file__).with_name("picture.svg")
PLAYER, DEPTH = "blondie24", 6
OPPONENT, OPPONENT_DEPTH = "material", 4
SEED = 2
OPENING = openings.TWO_MOVE[10]
SECONDS, HOLD = 0.9, 4  # of a frame; the last one takes as long as HOLD others
WIDTH, HEIGHT = 800, 440
TILE = 44  # side of a square
BOARD_LEFT, BOARD_TOP = 20, 56
BOARD = 8 * TILE
LEFT, RIGHT = 408, 780  # of the network
CELL, GAP = 15, 11  # side of a node over a part of the board; between its grids
GRID_TOP, HIDDEN_TOP, OUTPUT_TOP, PLOT_TOP = 58, 206, 260, 326
PLOT_HEIGHT = 76
GOOD, BAD, FAINT, INK = "#0b5fa5", "#c1670a", "#e6e2da", "#222222"
CROWN = "M-8 6H8L10-6 4-2 0-8-4-2-10-6z"
LEVELS = 6  # shades of a colour, from FAINT on


def play() -> Board:
    """Play the game of the picture, Blondie24 as Black."""
    board = Board()
    for move in OPENING.split():
        board.push(move)
    players = (
        agents.make(PLAYER, depth=DEPTH, seed=SEED),
        agents.make(OPPONENT, depth=OPPONENT_DEPTH, seed=SEED),
    )
    while not board.outcome():
        board.push(players[board.turn].act(board))
    return board


def explain(board: Board) -> Explanation:
    """Return Blondie24's view of a position, Black being to move.

    Its inputs are the pieces as Black sees them; the side to move is no input.
    """
    player = agents.make(PLAYER, depth=DEPTH)
    return agents.explain(player, Board("B" + board.fen()[1:]))


def picture(game: Board) -> str:
    """Return the SVG text of a finished game."""
    boards = [Board()]
    for move in game.moves:
        boards.append(boards[-1].copy())
        boards[-1].push(move)
    seen = [explain(board) for board in boards]
    values = [explanation.value or 0.0 for explanation in seen]
    beats = len(boards) + HOLD - 1
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="system-ui,sans-serif" role="img">',
        "<title>Blondie24 plays checkers, beside the activations of its network</title>",
        f"<style>{style(beats)}</style>",
        *background(),
    ]
    for number, (board, explanation) in enumerate(zip(boards, seen, strict=True)):
        last = number == len(boards) - 1
        name = ' class="f l"' if last else ' class="f"'
        lines.append(f'<g{name} style="animation-delay:{number * SECONDS:.1f}s">')
        lines += pieces(board, board.moves[-1] if board.moves else None)
        lines += network(explanation)
        lines += plot(values[: number + 1], len(boards))
        lines += caption(board, number, game if last else None)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


def style(beats: int) -> str:
    """Return the style sheet; without motion only the last frame is shown."""
    show = "0%{{visibility:visible}}{0:.3f}%,to{{visibility:hidden}}"
    each, last = show.format(100 / beats), show.format(100 * HOLD / beats)
    return (
        f"@keyframes f{{{each}}}@keyframes l{{{last}}}.f{{visibility:hidden;"
        f"animation:f {beats * SECONDS:.1f}s step-end infinite}}.l{{animation-name:l}}"
        "@media(prefers-reduced-motion:reduce){.f{animation:none}.l{visibility:visible}}"
        f"text{{fill:{INK};font-size:13px}}.b{{font-weight:bold;font-size:15px}}"
    )


def background() -> Iterator[str]:
    """Draw what all frames share."""
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#fff"/><defs>'
    for side in (0, 1):
        disc = f'<circle r="{0.38 * TILE:.0f}" fill="{DISCS[side]}" stroke="{RIMS[side]}"/>'
        crown = f'<path d="{CROWN}" fill="{CROWNS[side]}"/>'
        yield f'<g id="m{side}">{disc}</g><g id="k{side}">{disc}{crown}</g>'
    yield "</defs>"
    yield f'<path d="{box(BOARD_LEFT, BOARD_TOP, BOARD)}" fill="{LIGHT}"/>'
    dark = "".join(box(*corner(square), TILE) for square in range(1, 33))
    yield f'<path d="{dark}" fill="{DARK}"/>'
    yield text(BOARD_LEFT, 28, "Blondie24 (black) against a piece counter", "b")
    yield text(LEFT, 28, "Inside Blondie24's network", "b")
    yield text(LEFT, GRID_TOP - 8, "91 nodes, each over a part of the board")
    x = LEFT
    for size in range(3, 9):
        yield text(x, GRID_TOP + 6 * CELL + 16, f"{size}x{size}")
        x += (9 - size) * CELL + GAP
    yield text(LEFT, HIDDEN_TOP - 8, "40 nodes (blue: plus, amber: minus)")
    yield text(LEFT, OUTPUT_TOP - 8, "10 nodes")
    yield text(LEFT, PLOT_TOP - 10, "its value of the position")
    yield text(RIGHT - 44, PLOT_TOP + 6, "won")
    yield text(RIGHT - 44, PLOT_TOP + PLOT_HEIGHT, "lost")
    middle = PLOT_TOP + PLOT_HEIGHT // 2
    yield f'<path d="M{LEFT} {middle}H{RIGHT - 50}" stroke="{FAINT}" stroke-width="2"/>'


def pieces(board: Board, last: Move | None) -> Iterator[str]:
    """Draw the pieces, and the squares of the last move."""
    if last:
        yield f'<path d="{"".join(box(*corner(at), TILE) for at in last.squares)}" fill="{MOVED}"/>'
    for square in range(1, 33):
        bit = 1 << square_to_bit(square)
        if not (board.black | board.white) & bit:
            continue
        kind = ("k" if board.kings & bit else "m") + str(int(bool(board.white & bit)))
        x, y = corner(square)
        yield f'<use href="#{kind}" x="{x + TILE // 2}" y="{y + TILE // 2}"/>'


def network(explanation: Explanation) -> Iterator[str]:
    """Draw the nodes: one path for each shade."""
    shades: defaultdict[int, list[str]] = defaultdict(list)
    x = LEFT
    for layer in explanation.layers:
        side = 9 - layer.size
        for number, cell in enumerate(layer.cells):
            row, column = divmod(number, side)
            place = x + column * CELL, GRID_TOP + row * CELL
            shades[shade(cell.activation)].append(box(*place, CELL - 1))
        x += side * CELL + GAP
    first, second = explanation.hidden
    for width, top, nodes in ((9, HIDDEN_TOP, first), (18, OUTPUT_TOP, second)):
        for number, activation in enumerate(nodes.tolist()):
            shades[shade(activation)].append(box(LEFT + number * width, top, width - 1))
    for level in sorted(shades):
        yield f'<path d="{"".join(shades[level])}" fill="{colour(level)}"/>'


def plot(values: Sequence[float], total: int) -> Iterator[str]:
    """Draw the values of the game so far."""
    step = (RIGHT - 50 - LEFT) / (total - 1)
    points = [
        (LEFT + number * step, PLOT_TOP + PLOT_HEIGHT * (1 - value) / 2)
        for number, value in enumerate(values)
    ]
    x, y = points[-1]
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    yield f'<polyline points="{line}" fill="none" stroke="{GOOD}" stroke-width="2"/>'
    yield f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="{GOOD}"/>'


def caption(board: Board, number: int, finished: Board | None) -> Iterator[str]:
    """Write the number of the move, the move, and how the game ended."""
    outcome = finished.outcome() if finished else None
    if outcome:
        words = "Blondie24 wins" if outcome.winner == BLACK else f"the end: {outcome.reason}"
    elif board.moves:
        words = f"move {(number + 1) // 2}: {board.moves[-1]}"
    else:
        words = "the start position"
    yield text(BOARD_LEFT, BOARD_TOP + BOARD + 20, words)


def corner(square: int) -> tuple[int, int]:
    """Return the upper left corner of a square; Black looks up the board."""
    row, place = divmod(square - 1, 4)
    column = 2 * place + (1 - row % 2)
    return BOARD_LEFT + (7 - column) * TILE, BOARD_TOP + (7 - row) * TILE


def box(x: int, y: int, side: int) -> str:
    """Return a square as a part of a path."""
    return f"M{x} {y}h{side}v{side}h-{side}z"


def shade(activation: float) -> int:
    """Return the level of an activation, -LEVELS to LEVELS."""
    return round(LEVELS * max(-1.0, min(1.0, activation)))


def colour(level: int) -> str:
    """Return the colour of a level: blue for plus, amber for minus."""
    ends = _channels(FAINT), _channels(GOOD if level > 0 else BAD)
    weight = abs(level) / LEVELS
    return "#" + "".join(
        f"{round(start + weight * (end - start)):02x}" for start, end in zip(*ends, strict=True)
    )


def _channels(name: str) -> Iterable[int]:
    return (int(name[at : at + 2], 16) for at in (1, 3, 5))


def text(x: int, y: int, words: str, name: str = "") -> str:
    """Return a line of text."""
    return f'<text x="{x}" y="{y}"{f" class={name!r}" if name else ""}>{words}</text>'


def main() -> None:
    """Play the game and write the picture."""
    write_atomically(OUT, picture(play()).encode())


if __name__ == "__main__":
    main()
