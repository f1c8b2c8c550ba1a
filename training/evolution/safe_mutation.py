"""Mutation of T. P. Nguyen's "A neuroevolutionary approach to draughts", section III.C.3.

Safe mutation (after Lehman et al. 2017) tries several mutants. It takes the one that agrees best
with its parent on positions of games that the parent has won.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.blondie.architecture import NetworkLayout, forward, layers
from agents.match import MatchGame
from checkers_env.movegen import SQUARES


def mutate_safely(
    layout: NetworkLayout,
    parent: NDArray[np.float64],
    inputs: NDArray[np.float64] | None,
    perturbations: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the parent with w + m / sqrt(2 sqrt(K)), m uniform in [-1, 1], clipped to [-1, 1].

    Of several perturbations, return the first that gives the most inputs an output of the same sign
    and at least as large. The inputs are those of :func:`board_inputs`; None for one perturbation.
    """
    size = 1 / np.sqrt(2 * np.sqrt(layout.weight_count))
    moves = rng.uniform(-1, 1, (perturbations, len(parent))) * size
    moves[:, -1] = 0.0  # there is no weight from the piece difference
    mutants = np.clip(parent + moves, -1, 1)
    if perturbations == 1 or inputs is None:
        return np.asarray(mutants[0])
    before = outputs(layout, parent, inputs)
    agreements = [
        np.count_nonzero(outputs(layout, genome, inputs) * np.sign(before) >= np.abs(before))
        for genome in mutants
    ]
    return np.asarray(mutants[int(np.argmax(agreements))])


def outputs(
    layout: NetworkLayout, genome: NDArray[np.float64], inputs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the network's values of :func:`board_inputs` for Black, shape (positions,)."""
    return np.tanh(forward(layers(layout, genome), inputs)[-1])[:, 0]


def board_inputs(positions: NDArray[np.int64], king: float) -> NDArray[np.float64]:
    """Turn bitboards, shape (positions, 3), into inputs: Black +1, White -1, kings times K."""
    black, white, kings = (positions[:, [board]] >> SQUARES & 1 for board in range(3))
    return (black - white) * np.where(kings, king, 1.0)


def sample_won_positions(
    member: int,
    pairs: Sequence[tuple[int, int]],
    games: Sequence[MatchGame],
    size: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Sample positions of the games that a member has won, or of all its games if it won none.

    `pairs` are Black and White of each game. The result is bitboards of Black, White and kings,
    shape (size, 3).
    """
    own = [
        (game, pair.index(member))
        for game, pair in zip(games, pairs, strict=True)
        if member in pair
    ]
    won = [game for game, side in own if game.result.winner == side] or [game for game, _ in own]
    rows = np.concatenate([bitboards(game) for game in won])
    return rows[rng.integers(len(rows), size=size)]


def bitboards(game: MatchGame) -> NDArray[np.int64]:
    """Return every position of a game but the first, the last one first, shape (plies, 3)."""
    board = game.board
    rows = []
    while board.moves:
        rows.append((board.black, board.white, board.kings))
        board.pop()
    return np.array(rows, np.int64)
