"""Explanations by kind of evaluator: its parts, and the contribution of every square."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.architectures import ARCHITECTURES
from agents.baselines.material import Material, piece_difference
from agents.baselines.piece_squares import MOST_PIECES, PieceSquares
from agents.baselines.samuel import FEATURES, Samuel, write_features
from agents.baselines.weighted_pieces import WeightedPieces
from agents.blondie.architecture import BLONDIE_2001, dense_layers, forward
from agents.blondie.network import Network
from agents.evaluator import evaluate_position, start_state, state_size
from agents.nnue.network import PAIRS, SMALL, Nnue, sums_at_output
from agents.ntuple.network import NTuple
from agents.piece_sums import OWN_MAN, board_view, square_content
from checkers_env.movegen import BLACK, SQUARES, Position

HIDDEN_SIZES = BLONDIE_2001.hidden[:-1]
PIECE_FEATURES = 5  # the first of Samuel's FEATURES are sums over pieces


class Cell(NamedTuple):
    """A node or an entry of an evaluator, and the squares that it looks at.

    `effect` is how much lower the total would be without it, None where that is not known.
    """

    squares: tuple[int, ...]
    activation: float
    effect: float | None = None


class Layer(NamedTuple):
    """Cells of one kind; `size` is the side of a sub-square, or the number of a tuple's squares."""

    name: str
    size: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Parts:
    """Parts of an evaluation; see :class:`agents.explanation.explain.Explanation`."""

    kind: str = "opaque"
    total: float = 0.0
    terms: dict[str, float] = field(default_factory=dict)
    squares: dict[int, float] = field(default_factory=dict)
    meaning: str = ""
    piece_difference: float | None = None
    layers: tuple[Layer, ...] = ()
    hidden: tuple[NDArray[np.float64], ...] = ()
    perspective: int = BLACK


@functools.singledispatch
def find_parts(evaluator: Any, position: Position) -> Parts:
    """Split the evaluation of a position for the side to move into its parts.

    A class that is unknown here is explained by its architecture; without one the result is empty.
    """
    same = (it for it in ARCHITECTURES.values() if it.evaluator is type(evaluator))
    explain = next((it.explain for it in same if it.explain), None)
    if explain is None:
        return Parts()
    terms = dict(explain(evaluator, position))
    return Parts(
        "linear",
        sum(terms.values()),
        terms,
        _removal_effects(position, lambda position: sum(explain(evaluator, position).values())),
        "how much lower the total would be without the piece",
    )


@find_parts.register
def _(network: Network, position: Position) -> Parts:
    view = BLACK if network.black_perspective else position.turn
    sign = 1.0 if view == position.turn else -1.0

    def split_output(position: Position) -> tuple[float, float]:
        """Return the part of the piece difference, and the rest."""
        difference = network.difference * piece_difference(position, view, network.king)
        return sign * float(difference), sign * forward_pass(network, position, view)[1]

    pieces, rest = split_output(position)
    activations, _ = forward_pass(network, position, view)
    layers: tuple[Layer, ...] = ()
    if network.black_perspective:
        layers = _subsquare_layers(_subsquare_sums(position, float(network.king)), view)
    elif len(activations) > len(HIDDEN_SIZES):
        first = activations.pop(0)
        layers = _subsquare_layers(first, view, _silencing_effects(network, first))
    return Parts(
        "network",
        pieces + rest,
        {"piece difference": pieces, "nodes": rest},
        _removal_effects(position, lambda position: sum(split_output(position))),
        "how much lower the sum at the output would be without the piece",
        pieces if network.difference else None,
        layers,
        tuple(layer[:size] for layer, size in zip(activations, HIDDEN_SIZES, strict=True)),
        view,
    )


def forward_pass(
    network: Network, position: Position, view: int
) -> tuple[list[NDArray[np.float64]], float]:
    """Evaluate a network in Python; `view` is the side whose pieces are positive at the input.

    Return the activations of each hidden layer, float64 of shape (width,), padded with zeros as in
    the kernels, and the sum at the output before tanh, without the piece difference.
    """
    state = np.zeros(state_size(network), np.int32)
    start_state(network, position, view, state)
    first = np.tanh(state * float(network.unit))
    *hidden, output = forward(dense_layers(network), first)
    return [first, *map(np.tanh, hidden)], float(output[0])


def _silencing_effects(network: Network, first: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much lower the output is without each node of the first layer, shape (width,)."""
    *_, outputs = forward(dense_layers(network), first * (1 - np.eye(len(first) + 1, len(first))))
    return outputs[-1, 0] - outputs[:-1, 0]


def _subsquare_layers(
    activations: NDArray[np.float64], view: int, effects: NDArray[np.float64] | None = None
) -> tuple[Layer, ...]:
    """Return the 91 sub-squares by size, each size row by row from Black's side."""
    sizes = [size for size in range(3, 9) for _ in range((9 - size) ** 2)]
    known = [None] * len(sizes) if effects is None else effects.tolist()
    members = (sorted(_from_view(np.flatnonzero(it) + 1, view)) for it in BLONDIE_2001.fields)
    cells = list(map(Cell, map(tuple, members), activations.tolist(), known))
    order = slice(None, None, 1 if view == BLACK else -1)
    return _group("{0}x{0} squares", sizes[order], cells[order])


def _subsquare_sums(position: Position, king: float) -> NDArray[np.float64]:
    """Return the sum of the pieces on each sub-square, shape (91,); Black's are positive."""
    worths = _worths(position, king)
    return BLONDIE_2001.fields @ np.array([worths.get(square, 0.0) for square in range(1, 33)])


@find_parts.register
def _(system: NTuple, position: Position) -> Parts:
    view = int(board_view(system, position.turn))
    sign = 1.0 if view == position.turn else -1.0
    state = np.zeros(state_size(system), np.int32)
    start_state(system, position, view, state)
    entries = system.table[state[: system.tuples]]
    squares, cells = dict.fromkeys(range(1, 33), 0.0), list[Cell]()
    for number, entry in enumerate(entries.tolist()):
        members = np.flatnonzero(system.features[SQUARES, OWN_MAN, number]) + 1
        cells.append(Cell(tuple(_from_view(members, view)), entry, sign * entry))
        for square in cells[-1].squares:
            squares[square] += sign * entry / len(members)
    pieces, weight = 0.0, system.difference if position.turn == BLACK else -system.difference
    for square, worth in _worths(position, system.king).items():
        squares[square] += weight * worth
        pieces += weight * worth
    tables = sign * float(entries.sum())
    return Parts(
        "ntuple",
        tables + pieces,
        {"piece difference": pieces, "tables": tables},
        squares,
        "each tuple's entry, shared evenly by its squares, and the piece itself",
        pieces if system.difference else None,
        _group("tuples of {}", [len(cell.squares) for cell in cells], cells),
        perspective=view,
    )


@find_parts.register
def _(network: Nnue, position: Position) -> Parts:
    state, nodes = np.zeros(state_size(network), np.int32), np.zeros(PAIRS, np.float32)

    def split_sum(position: Position) -> tuple[float, float]:
        start_state(network, position, position.turn, state)
        return sums_at_output(network, position, position.turn, state, nodes)

    squares = _removal_effects(position, lambda position: sum(split_sum(position)))
    rest, blocks = split_sum(position)
    return Parts(
        "network",
        rest + blocks,
        {"blocks": blocks, "network": rest},
        squares,
        "how much lower the sum at the output would be without the piece",
        hidden=(nodes[:SMALL].astype(np.float64),),
        perspective=position.turn,
    )


def _group(name: str, sizes: Iterable[int], cells: Iterable[Cell]) -> tuple[Layer, ...]:
    """Return the cells of each size as a layer."""
    groups: dict[int, list[Cell]] = {}
    for size, cell in zip(sizes, cells, strict=True):
        groups.setdefault(size, []).append(cell)
    return tuple(Layer(name.format(size), size, tuple(groups[size])) for size in sorted(groups))


@find_parts.register
def _(system: Samuel, position: Position) -> Parts:
    def amounts(position: Position) -> NDArray[np.float64]:
        features = np.zeros(len(FEATURES), np.int32)
        write_features(position, position.turn, features)
        return system.weights * features

    terms = dict(zip(FEATURES, amounts(position).tolist(), strict=True))
    return Parts(
        "linear",
        sum(terms.values()),
        terms,
        _removal_effects(position, lambda other: float(amounts(other)[:PIECE_FEATURES].sum())),
        "what the piece adds to the features " + ", ".join(FEATURES[:PIECE_FEATURES]),
        terms["men"] + terms["kings"],
    )


@find_parts.register(Material)
@find_parts.register(WeightedPieces)
def _(counter: Material | WeightedPieces, position: Position) -> Parts:
    def evaluate(position: Position) -> float:
        return float(evaluate_position(counter, position, position.turn))

    squares = _removal_effects(position, evaluate)
    parts = _counted(position, squares, evaluate(position))
    is_plain = isinstance(counter, Material)
    return replace(parts, piece_difference=parts.total) if is_plain else parts


@find_parts.register
def _(tables: PieceSquares, position: Position) -> Parts:
    occupied = _occupied_squares(position)
    share = np.array([len(occupied), MOST_PIECES - len(occupied)]) * tables.unit
    share *= 1 if position.turn == BLACK else -1
    squares = {
        at: float(tables.features[bit, square_content(position, bit, BLACK), :2] @ share)
        for at, bit in occupied
    }
    return _counted(position, squares, sum(squares.values()))


def _counted(position: Position, squares: dict[int, float], total: float) -> Parts:
    """Return the parts of an evaluation that is a sum over pieces."""
    own_pieces = position.black if position.turn == BLACK else position.white
    own = sum(squares[at] for at, bit in _occupied_squares(position) if own_pieces >> bit & 1)
    terms = {"own pieces": own, "opponent's pieces": total - own}
    return Parts("linear", total, terms, squares, "what the piece counts")


def _occupied_squares(position: Position) -> list[tuple[int, int]]:
    """Return the number and the bit of each square with a piece."""
    pieces = position.black | position.white
    return [(at + 1, int(bit)) for at, bit in enumerate(SQUARES) if pieces >> int(bit) & 1]


def _from_view(squares: Iterable[int], view: int) -> list[int]:
    """Return standard numbers of a side's squares: White's are numbered from the other end."""
    return [int(square) if view == BLACK else 33 - int(square) for square in squares]


def _worths(position: Position, king: float) -> dict[int, float]:
    """Return the worth of the piece on each square in men; Black's are positive."""
    worths = {}
    for square, bit in _occupied_squares(position):
        worth = king if position.kings >> bit & 1 else 1.0
        worths[square] = worth if position.black >> bit & 1 else -worth
    return worths


def _removal_effects(position: Position, evaluate: Callable[[Position], float]) -> dict[int, float]:
    """Return by square how much lower the evaluation is without the piece there."""
    total, effects = evaluate(position), {}
    for square, bit in _occupied_squares(position):
        black, white, kings = (board & ~(1 << bit) for board in position[:3])
        effects[square] = total - evaluate(Position(black, white, kings, position.turn))
    return effects
