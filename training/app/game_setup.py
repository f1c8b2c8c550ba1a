"""What a game begins with: the start position, a card, moves, a FEN, or a game to go on with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from checkers_env import fen, pdn
from checkers_env.board import Board
from checkers_env.moves import Move
from checkers_env.openings import BALLOTS, parse_opening

REPETITION, NO_PROGRESS = 3, 40  # the rules by which games on the page are drawn
LONGEST = 2000  # moves


class Opening(NamedTuple):
    """A FEN, the moves that are made from it before the players' own, and whether it is standard.

    Standard are the start position and the cards of the ballots: games from elsewhere are not
    rated.
    """

    start: str = fen.START
    moves: tuple[str, ...] = ()
    standard: bool = True


def opening_of(text: str, rng: np.random.Generator) -> Opening:
    """The opening that a text asks for: ``two-move`` and ``three-move`` draw a card of the ballot,
    others are moves or a FEN, and nothing is the start position.

    Raises ValueError for what is none of these, and where there is nothing to play.
    """
    if text in BALLOTS:
        text = BALLOTS[text][int(rng.integers(len(BALLOTS[text])))]
    start, moves = parse_opening(text or None)
    board = Board.from_position(*start)
    standard = not text or any(text in cards for cards in BALLOTS.values())
    return _playable(Opening(board.fen(), tuple(map(str, moves)), standard))


def opening_from(text: str) -> Opening:
    """The position after the one game of a PDN text, its moves included. Raises ValueError."""
    games = pdn.loads(text)
    if len(games) != 1:
        raise ValueError(f"The PDN holds {len(games)} games: give one to go on with.")
    return _playable(Opening(games[0].start, tuple(map(str, games[0].moves)), False))


def board_of(start: str, moves: Iterable[str | Move]) -> Board:
    """The board of a game with the page's draw rules. Raises ValueError for an illegal move."""
    board = Board(start, max_moves=None, repetition=REPETITION, no_progress=NO_PROGRESS)
    for move in moves:
        if board.ply == LONGEST:
            raise ValueError(f"A game has at most {LONGEST} moves.")
        board.push(move)
    return board


def _playable(opening: Opening) -> Opening:
    if board_of(opening.start, opening.moves).outcome():
        raise ValueError("The game is over in that position: there is nothing to play.")
    return opening
