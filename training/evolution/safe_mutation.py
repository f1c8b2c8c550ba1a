"""The mutation of T. P. Nguyen's "A neuroevolutionary approach to draughts", section III.C.3.

Safe mutation, after Lehman et al. 2017, tries several mutants and keeps the one that agrees best
with its parent on positions of games that the parent has won.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.blondie.architecture import Architecture, layers
from agents.match import Game
from checkers_env.movegen import SQUARES


def mutate_safely(
    shape: Architecture, parent: Any, inputs: Any, perturbations: int, rng: np.random.Generator
) -> Any:
    """The parent with w + m / sqrt(2 sqrt(K)), m uniform in [-1, 1], kept in [-1, 1].

    Of several perturbations the one is taken that gives most of the remembered `inputs` (as of
    :func:`board_inputs`) an output of the same sign and at least as large; the first of equals.
    """
    size = 1 / np.sqrt(2 * np.sqrt(shape.weight_count))
    moves = rng.uniform(-1, 1, (perturbations, len(parent))) * size
    moves[:, -1] = 0.0  # there is no weight from the piece difference
    mutants = np.clip(parent + moves, -1, 1)
    if perturbations == 1:
        return mutants[0]
    old = outputs(shape, parent, inputs)
    kept = [
        np.count_nonzero(outputs(shape, genome, inputs) * np.sign(old) >= np.abs(old))
        for genome in mutants
    ]
    return mutants[int(np.argmax(kept))]


def outputs(shape: Architecture, genome: Any, inputs: Any) -> Any:
    """The network's values, for Black, of many positions (float64[positions])."""
    values = inputs
    for weights, biases in layers(shape, genome):
        values = np.tanh(values @ weights.T + biases)
    return values[:, 0]


def board_inputs(positions: Any, king: float) -> Any:
    """Positions, rows of three boards, as float64[positions, 32]: Black +, White -, kings K."""
    black, white, kings = (positions[:, [board]] >> SQUARES & 1 for board in range(3))
    return (black - white) * np.where(kings, king, 1.0)


def memory(member: int, pairs: Any, games: list[Game], size: int, rng: np.random.Generator) -> Any:
    """Positions of the games that a member has won, or of all its games: int64[size, 3]."""
    own = [
        (game, pair.index(member))
        for game, pair in zip(games, pairs, strict=True)
        if member in pair
    ]
    won = [game for game, side in own if game.result.winner == side] or [game for game, _ in own]
    rows = np.concatenate([boards(game) for game in won])
    return rows[rng.integers(len(rows), size=size)]


def boards(game: Game) -> Any:
    """Every position of a game: int64[plies, 3]."""
    board = game.board
    rows = []
    while board.moves:
        rows.append((board.black, board.white, board.kings))
        board.pop()
    return np.array(rows, np.int64)
