"""What the page says of moves in plain words, for the eye and for screen readers."""

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


def spoken(board: Board, move: Move) -> str:
    """The move that is about to be made on a board, as a sentence."""
    side, start, *others = SIDES[board.turn], *move.squares
    piece = "king" if board.kings >> square_to_bit(start) & 1 else "man"
    after = board.copy()
    after.push(move)
    crowned = after.kings >> square_to_bit(others[-1]) & 1 and piece == "man"
    how = f"{'jumps' if move.captured else 'moves'} from {start} to {listed(others, 'then')}"
    taken = f", capturing on {listed(move.captured)}" if move.captured else ""
    return f"{side}'s {piece} {how}{taken}{', and becomes a king' if crowned else ''}."


def advice(board: Board) -> str:
    """Why the side to move has not all moves to choose from; nothing if it has."""
    moves = board.legal_moves
    if not (moves and moves[0].captured):
        return ""
    side = SIDES[board.turn]
    goes_on = any(len(move.squares) > 2 for move in moves)
    rest = " A capture goes on as long as the same piece can jump." if goes_on else ""
    return f"{side} must capture: {listed(moves, 'or')}.{rest}"


def refusal(board: Board, squares: Sequence[int]) -> str:
    """Why no legal move goes along these squares, or begins with them."""
    if not squares or not all(1 <= square <= 32 for square in squares):
        return "A move is a list of squares from 1 to 32."
    side, start, end = SIDES[board.turn], squares[0], squares[-1]
    if owner(board, start) is None:
        return f"There is no piece on {start}."
    if owner(board, start) != board.turn:
        return f"The piece on {start} is {SIDES[1 - board.turn]}'s, and {side} is to move."
    moves = [move for move in board.legal_moves if move.squares[0] == start]
    if not moves:
        must = advice(board)
        return (
            f"{must} The piece on {start} cannot." if must else f"The piece on {start} is blocked."
        )
    going_on = [move for move in moves if move.squares[: len(squares)] == tuple(squares)]
    if len(squares) > 1 and going_on:
        return f"The capture is not finished: {listed(going_on, 'or')}."
    choice = f"The piece on {start} can go {listed(moves, 'or')}."
    if moves[0].captured:
        return f"A capture must be made when there is one. {choice}"
    if owner(board, end) is not None and len(squares) > 1:
        return f"Square {end} is taken. {choice}"
    king = board.kings >> square_to_bit(start) & 1
    steps = "in any diagonal direction" if king else "diagonally forward"
    return f"A {'king' if king else 'man'} goes one square {steps}. {choice}"


def ending(outcome: Outcome, loser: int) -> str:
    """How a game ended; `loser` is the side that could not go on."""
    reason = REASONS[outcome.reason].format(loser=SIDES[loser])
    if outcome.winner is None:
        return f"Drawn: {reason}."
    return f"{SIDES[outcome.winner]} wins: {reason}."


def owner(board: Board, square: int) -> int | None:
    """The side that has a piece on a square, or None."""
    bit = square_to_bit(square)
    return 0 if board.black >> bit & 1 else 1 if board.white >> bit & 1 else None


def listed(items: Iterable[object], word: str = "and") -> str:
    """Items, one or more, as a phrase: ``1, 2 and 3``."""
    *others, last = map(str, items)
    return f"{', '.join(others)} {word} {last}" if others else last
