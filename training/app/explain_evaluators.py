"""What there is to see of each kind of evaluator: its parts, and what every square contributes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from agents.architectures import find_explanation
from agents.baselines.material import Material, piece_difference
from agents.baselines.samuel import FEATURES, Samuel, write_features
from agents.baselines.weighted_pieces import WeightedPieces
from agents.blondie.architecture import BLONDIE_2001, dense_layers, forward
from agents.blondie.network import Network
from agents.evaluator import evaluate_position, start_state, state_size
from agents.ntuple.indices import OWN_MAN
from agents.ntuple.network import NTuple, board_view
from checkers_env.movegen import BLACK, SQUARES, Position
from training.app.serialize import Json

HIDDEN = BLONDIE_2001.hidden[:-1]
PER_PIECE = 5  # the first of Samuel's FEATURES are sums over pieces


class Inside(NamedTuple):
    """What there is to see of an evaluator, as inside.describe has it, for the side to move.

    `pieces` is the part of the total that the difference in men and kings makes; None without one.
    """

    kind: str = "opaque"
    total: float = 0.0
    terms: dict[str, float] = {}  # noqa: RUF012 - never written to
    squares: dict[int, float] = {}  # noqa: RUF012 - never written to
    meaning: str = ""
    pieces: float | None = None
    layers: tuple[Json, ...] = ()
    hidden: tuple[Any, ...] = ()
    seen_by: int = BLACK


@functools.singledispatch
def look_inside(evaluator: Any, position: Position) -> Inside:
    """What there is to see of an evaluator in a position.

    Of a class that is unknown here, it is what its architecture explains, or nothing.
    """
    explain = find_explanation(evaluator)
    if explain is None:
        return Inside()
    terms = dict(explain(evaluator, position))
    return Inside(
        "linear",
        sum(terms.values()),
        terms,
        _without_each(position, lambda position: sum(explain(evaluator, position).values())),
        "how much lower the total would be without the piece",
    )


@look_inside.register
def _(network: Network, position: Position) -> Inside:
    view = BLACK if network.by_colour else position.turn
    sign = 1.0 if view == position.turn else -1.0

    def amounts(position: Position) -> tuple[float, float]:
        """Of the piece difference, and of everything else."""
        difference = network.difference * piece_difference(position, view, network.king)
        return sign * float(difference), sign * _activations(network, position, view)[1]

    pieces, rest = amounts(position)
    nodes, _ = _activations(network, position, view)
    layers: tuple[Json, ...] = ()
    if network.by_colour:
        layers = _subsquares(_sums(position, float(network.king)), view)
    elif len(nodes) > len(HIDDEN):
        layers = _subsquares(nodes.pop(0), view)
    return Inside(
        "network",
        pieces + rest,
        {"piece difference": pieces, "nodes": rest},
        _without_each(position, lambda position: sum(amounts(position))),
        "how much lower the sum at the output would be without the piece",
        pieces if network.difference else None,
        layers,
        tuple(layer[:width] for layer, width in zip(nodes, HIDDEN, strict=True)),
        view,
    )


def _activations(network: Network, position: Position, view: int) -> tuple[list[Any], float]:
    """The layers of nodes for `view`, and the sum at the output without the piece difference.

    A layer is float64[width], padded with zeros as the kernels have it.
    """
    state = np.zeros(state_size(network), np.int32)
    start_state(network, position, view, state)
    first = np.tanh(state * float(network.unit))
    *hidden, output = forward(dense_layers(network), first)
    return [first, *map(np.tanh, hidden)], float(output[0])


def _subsquares(activations: Any, view: int) -> tuple[Json, ...]:
    """The 91 sub-squares by size, each size row by row, whatever side they are seen from."""
    layers, at = [], 0
    for size in range(3, 9):
        count = (9 - size) ** 2
        cells = [
            {
                "squares": sorted(_squares(np.flatnonzero(BLONDIE_2001.fields[node]) + 1, view)),
                "activation": float(activations[node]),
            }
            for node in range(at, at + count)
        ]
        at += count
        in_order = cells if view == BLACK else cells[::-1]
        layers.append({"name": f"{size}x{size} squares", "size": size, "cells": in_order})
    return tuple(layers)


def _sums(position: Position, king: float) -> Any:
    """The sum of the pieces on each sub-square, Black's positive."""
    seen = np.zeros(32)
    for square, bit in _pieces(position):
        worth = king if position.kings >> bit & 1 else 1.0
        seen[square - 1] = worth if position.black >> bit & 1 else -worth
    return BLONDIE_2001.fields @ seen


@look_inside.register
def _(system: NTuple, position: Position) -> Inside:
    seen = int(board_view(system, position.turn))
    sign = 1.0 if seen == position.turn else -1.0
    state = np.zeros(state_size(system), np.int32)
    start_state(system, position, seen, state)
    entries = system.table[state]
    squares = dict.fromkeys(range(1, 33), 0.0)
    cells: dict[int, list[Json]] = {}
    for number, entry in enumerate(entries.tolist()):
        touched = np.flatnonzero(system.features[SQUARES, OWN_MAN, number]) + 1
        tuple_squares = _squares(touched, seen)
        cells.setdefault(len(touched), []).append({"squares": tuple_squares, "activation": entry})
        for square in tuple_squares:
            squares[square] += sign * entry / len(touched)
    pieces = 0.0
    for square, bit in _pieces(position):
        alone = _only(position, bit)
        worth = system.difference * float(piece_difference(alone, position.turn, system.king))
        squares[square] += worth
        pieces += worth
    tables = sign * float(entries.sum())
    return Inside(
        "ntuple",
        tables + pieces,
        {"piece difference": pieces, "tables": tables},
        squares,
        "each tuple's entry, shared evenly by its squares, and the piece itself",
        pieces if system.difference else None,
        tuple(
            {"name": f"tuples of {size}", "size": size, "cells": cells[size]}
            for size in sorted(cells)
        ),
        seen_by=seen,
    )


@look_inside.register
def _(system: Samuel, position: Position) -> Inside:
    amounts = system.weights * _features(position)
    squares = {}
    for square, bit in _pieces(position):
        alone = system.weights * _features(_only(position, bit))
        squares[square] = float(alone[:PER_PIECE].sum())
    terms = dict(zip(FEATURES, amounts.tolist(), strict=True))
    return Inside(
        "linear",
        sum(terms.values()),
        terms,
        squares,
        "what the piece adds to the features " + ", ".join(FEATURES[:PER_PIECE]),
        terms["men"] + terms["kings"],
    )


def _features(position: Position) -> Any:
    found = np.zeros(len(FEATURES), np.int32)
    write_features(position, position.turn, found)
    return found


@look_inside.register(Material)
@look_inside.register(WeightedPieces)
def _(counter: Material | WeightedPieces, position: Position) -> Inside:
    def worth(position: Position) -> float:
        return float(evaluate_position(counter, position, position.turn))

    squares = _without_each(position, worth)
    own = position.black if position.turn == BLACK else position.white
    mine = sum(squares[square] for square, bit in _pieces(position) if own >> bit & 1)
    whole = worth(position)
    return Inside(
        "linear",
        whole,
        {"own pieces": mine, "opponent's pieces": whole - mine},
        squares,
        "what the piece counts",
        whole if isinstance(counter, Material) else None,
    )


def _pieces(position: Position) -> list[tuple[int, int]]:
    """The squares with a piece, and their bits."""
    pieces = position.black | position.white
    return [(at + 1, int(bit)) for at, bit in enumerate(SQUARES) if pieces >> int(bit) & 1]


def _squares(seen: Any, view: int) -> list[int]:
    """Standard numbers of squares as a side sees them: White sees the board turned round."""
    return [int(square) if view == BLACK else 33 - int(square) for square in seen]


def _only(position: Position, bit: int) -> Position:
    """The piece on `bit` alone on the board."""
    black, white, kings = (board & 1 << bit for board in position[:3])
    return Position(black, white, kings, position.turn)


def _without_each(position: Position, amount: Callable[[Position], float]) -> dict[int, float]:
    """For each square with a piece, how much lower the amount is when that is taken off."""
    whole, lower = amount(position), {}
    for square, bit in _pieces(position):
        black, white, kings = (board & ~(1 << bit) for board in position[:3])
        lower[square] = whole - amount(Position(black, white, kings, position.turn))
    return lower
