"""Yardstick of the search: alpha-beta in plain Python, with the network in numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.blondie.architecture import NetworkLayout, forward, scaled_layers
from agents.match_kernel import DRAW
from checkers_env.movegen import (
    BLACK,
    MAX_ROWS,
    ROW_WIDTH,
    SQUARES,
    Position,
    can_jump,
    can_move,
    generate_successors,
)

_ROWS = np.zeros((MAX_ROWS, ROW_WIDTH), np.int64)


def successors(position: Position) -> list[Position]:
    """Return the successors, in the order of :func:`checkers_env.movegen.generate_successors`."""
    rows = _ROWS[: generate_successors(_ROWS, 0, *position)].tolist()
    return [Position(black, white, kings, 1 - position.turn) for black, white, kings, _ in rows]


class PlainSearch:
    """Alpha-beta to `depth` plies with a genome's network; it counts its evaluations."""

    def __init__(
        self, layout: NetworkLayout, genome: NDArray[np.float64], king: float, depth: int
    ) -> None:
        parts, self.difference = scaled_layers(layout, genome, king)
        (self.first, self.bias), *self.dense = [
            (np.ascontiguousarray(weights, np.float32), biases.astype(np.float32))
            for weights, biases in parts
        ]
        self.king, self.depth, self.evaluations = king, depth, 0

    def inputs(self, position: Position, view: int) -> NDArray[np.float32]:
        """Return the squares from the side of `view`, shape (32,): a man 1, a king K, theirs minus.

        White's view is the board turned round.
        """
        boards = np.array(position[:3], "<u8").view(np.uint8)
        black, white, kings = np.unpackbits(boards, bitorder="little").reshape(3, 64)[:, SQUARES]
        pieces = (black - white.astype(np.float32)) * (1 + (self.king - 1) * kings)
        return pieces.astype(np.float32) if view == BLACK else -pieces[::-1].astype(np.float32)

    def output(self, sums: NDArray[np.float32], pieces: float) -> float:
        """Return the network's value from its first layer's sums and the piece difference."""
        output = forward(self.dense, np.tanh(sums))[-1][0]
        return float(np.tanh(output + self.difference * pieces))

    def evaluate(self, position: Position, view: int) -> float:
        """Return the evaluation of a position for side `view`."""
        squares = self.inputs(position, view)
        return self.output(self.first @ squares + self.bias, squares.sum())

    def select_successor(self, position: Position) -> Position:
        """Return the successor of the best move, the first of equal moves."""
        choices, alpha = successors(position), -2.0
        best = choices[0]
        for after in choices if len(choices) > 1 else ():
            value = -self._value(after, self.depth - 1, -2.0, -alpha, position.turn)
            if value > alpha:
                alpha, best = value, after
        return best

    def _value(
        self, position: Position, remaining: int, alpha: float, beta: float, root: int
    ) -> float:
        """Return the value for the side to move; the search goes deeper while jumps are due."""
        side = position.turn
        own, opponent = position[side], position[1 - side]
        if not can_move(own, opponent, position.kings, side):
            return -1.0
        if remaining <= 0 and not can_jump(own, opponent, position.kings, side):
            self.evaluations += 1
            value = self.evaluate(position, root)
            return value if side == root else -value
        best = -2.0
        for after in successors(position):
            best = max(best, -self._value(after, remaining - 1, -beta, -max(alpha, best), root))
            if best >= beta:
                break
        return best


def play_plainly(players: Sequence[PlainSearch], start: Position, max_moves: int = 100) -> int:
    """Play a game; return its winner or DRAW."""
    position, seen = start, {start}
    for _ in range(2 * max_moves):
        if not successors(position):
            return 1 - position.turn
        position = players[position.turn].select_successor(position)
        # Both players depend on the position only: a repetition means an endless cycle.
        if position in seen:
            return DRAW
        seen.add(position)
    return DRAW if successors(position) else 1 - position.turn
