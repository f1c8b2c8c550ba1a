"""Samuel's features against a naive reading of the board."""

import numpy as np

from agents.baselines.samuel import FEATURES, samuel
from agents.evaluator import start_state, state_size
from checkers_env.board import Board
from tests import oracle
from tests.agents.search.test_alphabeta import random_boards

CENTRE = {square for square in range(1, 33) if set(oracle.cell(square)) <= {2, 3, 4, 5}}


def counts(side, pieces, mover):
    """Count each feature of one side."""
    men = [square for square, piece in pieces.items() if piece == side]
    own = [square for square, piece in pieces.items() if piece.lower() == side]
    home = oracle.KING_ROW[oracle.OTHER[side]]
    rows = [oracle.cell(square)[0] for square in men]
    steps = sum(len(oracle._simple_moves(pieces, square)) for square in own)
    return {
        "men": len(men),
        "kings": len(own) - len(men),
        "advancement": sum(abs(row - home) for row in rows),
        "centre": len(CENTRE.intersection(own)),
        "back row": rows.count(home),
        "mobility": steps,
        "threats": sum(len(first_jumps(pieces, square)) for square in own),
        "turn": int(mover == side),
    }


def first_jumps(pieces, square):
    """Return the squares on which a piece lands with its first jump."""
    return {turn.squares[1] for turn in oracle._captures(pieces, square)}


def features(mover, pieces, side):
    """Return FEATURES from the view of `side`."""
    own, others = (counts(each, pieces, mover) for each in (side, oracle.OTHER[side]))
    return [own[name] - others[name] for name in FEATURES]


def some_positions(seed, count):
    """Return positions of games, of their endings, and some that no game reaches."""
    rng = np.random.default_rng(seed)
    for board in random_boards(seed, count, 120):
        yield oracle.read_fen(board.fen())
        yield oracle.random_position(rng)


def position(mover, pieces):
    return Board(oracle.write_fen(mover, pieces)).position


def weights(seed, scale=0.1):
    return np.random.default_rng(seed).normal(0, scale, len(FEATURES))


def test_features_equal_a_naive_computation():
    system, seen = samuel(), []
    state = np.zeros(state_size(system), np.int32)
    for mover, pieces in some_positions(1, 150):
        for view, side in enumerate("bw"):
            start_state(system, position(mover, pieces), view, state)
            assert state.tolist() == features(mover, pieces, side), (mover, pieces, side)
            seen.append(state.tolist())
    assert np.all(np.ptp(seen, axis=0) > [4, 4, 10, 4, 2, 10, 4, 1])  # none of them is idle
