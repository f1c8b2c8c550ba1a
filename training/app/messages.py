"""Moves and results in plain words, for the eye and for screen readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checkers_env.board import Board, Outcome
from checkers_env.moves import Move, square_to_bit
from checkers_env.render.scene import SIDES

REASONS = {
    "no pieces": "{loser} has no pieces left",
    "no legal move": "{loser} cannot move",
    "repetition": "the same position has come up for the third time",
    "no progress": "40 moves by each side without a capture or a man's advance",
    "max moves": "the game has reached its number of moves",
}


def describe_move(board: Board, move: Move) -> str:
    """Return a sentence about a move, before the board makes it."""
    side, start, *path = SIDES[board.turn], *move.squares
    piece = "king" if board.kings >> square_to_bit(start) & 1 else "man"
    after = board.copy()
    after.push(move)
    promotes = after.kings >> square_to_bit(path[-1]) & 1 and piece == "man"
    verb = f"{'jumps' if move.captured else 'moves'} from {start} to {join_words(path, 'then')}"
    capture = f", capturing on {join_words(move.captured)}" if move.captured else ""
    return f"{side}'s {piece} {verb}{capture}{', and becomes a king' if promotes else ''}."


def explain_forced_capture(board: Board) -> str:
    """Return a sentence about the side to move's captures; an empty text without a capture."""
    moves = board.legal_moves
    if not (moves and moves[0].captured):
        return ""
    side = SIDES[board.turn]
    is_multiple = any(len(move.squares) > 2 for move in moves)
    rest = " A capture goes on as long as the same piece can jump." if is_multiple else ""
    return f"{side} must capture: {join_words(moves, 'or')}.{rest}"


def explain_illegal_move(board: Board, squares: Sequence[int]) -> str:
    """Return why these squares are not a whole legal move."""
    if not squares or not all(1 <= square <= 32 for square in squares):
        return "A move is a list of squares from 1 to 32."
    side, start, end = SIDES[board.turn], squares[0], squares[-1]
    if side_at(board, start) is None:
        return f"There is no piece on {start}."
    if side_at(board, start) != board.turn:
        return f"The piece on {start} is {SIDES[1 - board.turn]}'s, and {side} is to move."
    moves = [move for move in board.legal_moves if move.squares[0] == start]
    if not moves:
        captures = explain_forced_capture(board)
        if captures:
            return f"{captures} The piece on {start} cannot."
        return f"The piece on {start} is blocked."
    longer = [move for move in moves if move.squares[: len(squares)] == tuple(squares)]
    if len(squares) > 1 and longer:
        return f"The capture is not finished: {join_words(longer, 'or')}."
    choice = f"The piece on {start} can go {join_words(moves, 'or')}."
    if moves[0].captured:
        return f"A capture must be made when there is one. {choice}"
    if side_at(board, end) is not None and len(squares) > 1:
        return f"Square {end} is taken. {choice}"
    king = board.kings >> square_to_bit(start) & 1
    steps = "in any diagonal direction" if king else "diagonally forward"
    return f"A {'king' if king else 'man'} goes one square {steps}. {choice}"


def describe_outcome(outcome: Outcome, loser: int) -> str:
    """Return a sentence about the end of a game; `loser` is the side to move there."""
    reason = REASONS[outcome.reason].format(loser=SIDES[loser])
    if outcome.winner is None:
        return f"Drawn: {reason}."
    return f"{SIDES[outcome.winner]} wins: {reason}."


def side_at(board: Board, square: int) -> int | None:
    """Return the side with a piece on a square, or None."""
    bit = square_to_bit(square)
    return 0 if board.black >> bit & 1 else 1 if board.white >> bit & 1 else None


def join_words(items: Iterable[object], word: str = "and") -> str:
    """Join one or more items to a phrase: ``1, 2 and 3``."""
    *others, last = map(str, items)
    return f"{', '.join(others)} {word} {last}" if others else last
