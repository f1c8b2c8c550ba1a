"""Successors against those of OpenSpiel's checkers, along random games that OpenSpiel plays.

OpenSpiel turns the board by 180 degrees, plays a multi-jump as several actions of one player, and
draws after 40 turns without a capture; the games here go on as long as it lets them.
"""

import re

import numpy as np
import pytest

from checkers_env import movegen
from checkers_env.moves import unpack_move

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: no second opinion")

POSITIONS = 5_000
PIECES = {"o": "b", "8": "B", "+": "w", "*": "W"}


def square_at(column, rank):
    """Return our square 1-32 of a cell in algebraic notation: a1 is square 4, h8 square 29."""
    row = rank - 1
    return 4 * row + (7 - column) // 2 + 1


OFFSETS = {  # where OpenSpiel's diagram, ranks 8 to 1 of ten characters each, shows a square
    square_at(column, rank): 10 * (8 - rank) + 1 + column
    for rank in range(1, 9)
    for column in range(8)
    if (column + rank) % 2
}


def boards_of(state):
    """Return black, white and kings as 35-bit boards."""
    text = str(state)
    black = white = kings = 0
    for square, offset in OFFSETS.items():
        bit = 1 << (square - 1 + (square - 1) // 8)
        piece = PIECES.get(text[offset], "")
        black |= bit * (piece in ("b", "B"))
        white |= bit * (piece in ("w", "W"))
        kings |= bit * (piece in ("B", "W"))
    return black, white, kings


def turns(state):
    """Yield every whole turn from a state: its squares and its final state."""
    player = state.current_player()
    for action in state.legal_actions():
        name = state.action_to_string(action)
        start, end = (
            square_at("abcdefgh".index(letter), int(rank))
            for letter, rank in re.findall(r"([a-h])([1-8])", name)
        )
        after = state.child(action)
        if after.is_terminal() or after.current_player() != player:
            yield (start, end), after
        else:
            for squares, final in turns(after):
                yield (start, *squares), final


def successors(rows, black, white, kings, side):
    end = movegen.generate_successors(rows, 0, black, white, kings, side)
    for row in rows[:end].tolist():
        *position, packed = row
        yield unpack_move(packed).squares, tuple(position)


def random_games(rng):
    """Yield positions of random games: boards, side to move, and OpenSpiel's turns."""
    game = pyspiel.load_game("checkers")
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            allowed = list(turns(state))
            yield state, allowed
            state = allowed[rng.integers(len(allowed))][1]


def test_successors_equal_those_of_openspiel():
    rows = np.empty((movegen.MAX_ROWS, movegen.ROW_WIDTH), np.int64)
    games = random_games(np.random.default_rng(0))
    for _, (state, allowed) in zip(range(POSITIONS), games, strict=False):
        theirs = {(squares, boards_of(after)) for squares, after in allowed}
        ours = set(successors(rows, *boards_of(state), state.current_player()))
        assert ours == theirs, str(state)
