"""An evaluator of your own, compiled into the same search as all others.

It counts men and kings, and adds a little for every man by how far it has come.
"""

from typing import Any, NamedTuple

import agents
import checkers_env
from agents.baselines.material import piece_difference
from agents.evaluator import evaluate
from agents.search.player import AlphaBeta
from checkers_env.bits import popcount
from checkers_env.movegen import Position

FAR_HALF = (0x7FBFC0000, 0x00001FEFF)  # the last four rows on Black's, on White's way


class Advance(NamedTuple):
    """How much a man across the middle is worth beside the 1 that it counts."""

    bonus: float = 0.2


@evaluate.register(Advance)
def evaluate_advance(evaluator: Advance, position: Position, view: int, state: Any, scratch: Any):
    black = popcount(position.black & ~position.kings & FAR_HALF[0])
    white = popcount(position.white & ~position.kings & FAR_HALF[1])
    advanced = black - white if view == 0 else white - black
    return (piece_difference(position, view, 1.5) + evaluator.bonus * advanced) / 64


players = [
    agents.PlayerAgent("advance", AlphaBeta(Advance(), depth=4)),
    agents.make("material", depth=4, seed=1),
]
board = checkers_env.Board()
while not board.outcome():
    board.push(players[board.turn].act(board))
print(board, board.outcome())
