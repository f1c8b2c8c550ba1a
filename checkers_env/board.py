"""A game in progress: a position, the moves that led to it, and its draw rules."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, Self

import numpy as np

from checkers_env import fen as notation
from checkers_env import moves
from checkers_env.fen import position_to_letters
from checkers_env.movegen import (
    MAX_ROWS,
    NO_MOVE,
    PACKED_MOVE,
    ROW_WIDTH,
    Position,
    generate_successors,
)
from checkers_env.moves import Move, square_to_bit
from checkers_env.state import (
    ONGOING,
    REASONS,
    RULES,
    DrawRules,
    change_rules,
    has_lost,
    new_game,
    status,
)

LETTERS = ".bBwW"


class Outcome(NamedTuple):
    """The end of a game: the winner (BLACK, WHITE, or None for a draw) and the reason."""

    winner: int | None
    reason: str


class Board:
    """A position that moves are made on and taken back from.

    Parameters
    ----------
    fen
        The position to set up.
    rules
        The draw rules.
    **changes
        Draw rules by name: ``max_moves=100, repetition=None, no_progress=None,
        blocked_draws=False``. See :class:`checkers_env.DrawRules`.

    Raises
    ------
    ValueError
        For a bad FEN, and for a rule out of its range.
    """

    def __init__(
        self,
        fen: str = notation.START,
        *,
        rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
        **changes: Any,
    ) -> None:
        self.rules = change_rules(rules, changes, type(self))
        self._set_up(notation.parse(fen))

    @classmethod
    def from_position(cls, black: int, white: int, kings: int, turn: int, **rules: Any) -> Self:
        """Set up 35-bit boards.

        Parameters
        ----------
        black, white, kings, turn
            As in :class:`checkers_env.movegen.Position`.
        **rules
            Draw rules, as for the class.

        Raises
        ------
        ValueError
            For boards that overlap, and for a position that a FEN cannot hold.
        """
        given = (black, white, kings, turn)
        try:
            position = Position(*map(operator.index, given))
        except TypeError:
            raise ValueError(f"a position is four whole numbers, not {given}") from None
        notation.check_position(position)
        board = cls(notation.START, **rules)
        board._set_up(position)
        return board

    def _set_up(self, position: Position) -> None:
        self.black, self.white, self.kings, self.turn = position
        self.reversible_plies = 0
        self.moves: list[Move] = []
        self._past: list[tuple[int, int, int, int]] = []
        self._legal: tuple[Move, ...] | None = None
        self._successors: list[list[int]] = []

    @property
    def position(self) -> Position:
        """Return the 35-bit boards and the side to move, as kernels take them."""
        return Position(self.black, self.white, self.kings, self.turn)

    def root(self) -> Board:
        """Return a copy of the position before the first move, with the same draw rules."""
        root = self.copy()
        while root.moves:
            root.pop()
        return root

    @property
    def ply(self) -> int:
        """Count the turns made on this board."""
        return len(self.moves)

    @property
    def legal_moves(self) -> list[Move]:
        """Return the legal moves, in the order of `movegen.generate_successors`."""
        return list(self._generate())

    def _generate(self) -> tuple[Move, ...]:
        if self._legal is None:
            rows = np.empty((MAX_ROWS, ROW_WIDTH), np.int64)
            end = generate_successors(rows, 0, self.black, self.white, self.kings, self.turn)
            self._successors = rows[:end].tolist()
            self._legal = moves.unpack_moves([row[PACKED_MOVE] for row in self._successors])
        return self._legal

    def parse_move(self, text: str) -> Move:
        """Return the legal move that `text` writes.

        Accepts ``11-15``, ``22x15`` or, with each square, ``22x15x8``; between squares also ``:``,
        ``->``, ``to`` and other dashes, with spaces. ``-`` may write a capture, ``x`` a plain move.

        Raises
        ------
        ValueError
            For text that is malformed, illegal or ambiguous here.
        """
        return moves.find_move(text, self._generate())

    def push(self, move: Move | str) -> None:
        """Make a move, or the move that a text writes. Raise ValueError if it is illegal."""
        legal = self._generate()
        move = moves.find_move(move, legal) if isinstance(move, str) else move
        if move not in legal:
            raise ValueError(f"{move} is illegal: the legal moves are {moves.format_moves(legal)}")
        index = legal.index(move)
        man_moved = not self.kings >> square_to_bit(move.squares[0]) & 1
        self._past.append((self.black, self.white, self.kings, self.reversible_plies))
        self.moves.append(legal[index])
        self.black, self.white, self.kings, _ = self._successors[index]
        self.turn ^= 1
        self.reversible_plies = 0 if man_moved or move.captured else self.reversible_plies + 1
        self._legal = None

    def pop(self) -> Move:
        """Take back the last move and return it. Raise ValueError if there is none."""
        if not self.moves:
            raise ValueError("no move to take back: none was made on this board")
        self.black, self.white, self.kings, self.reversible_plies = self._past.pop()
        self.turn ^= 1
        self._legal = None
        return self.moves.pop()

    def outcome(self) -> Outcome | None:
        """Return how the game has ended, or None while it goes on. A loss comes before any draw."""
        game = new_game(self.rules)
        clocks = (self.ply, self.reversible_plies, self._earlier_occurrences())
        game[:RULES] = (self.black, self.white, self.kings, NO_MOVE, self.turn, *clocks)
        ending = status(game)
        if ending == ONGOING:
            return None
        return Outcome(1 - self.turn if has_lost(game, ending) else None, REASONS[ending])

    def _earlier_occurrences(self) -> int:
        if not self.rules.repetition or self.reversible_plies < 4:  # two moves there and two back
            return 0
        return self.earlier_positions().count(self.position)

    def earlier_positions(self) -> list[Position]:
        """Return the positions since the last capture or man's move, the oldest first."""
        since = self._past[self.ply - self.reversible_plies :]
        turns = range(self.turn - len(since), self.turn)
        return [Position(*past[:3], turn & 1) for past, turn in zip(since, turns, strict=True)]

    def piece_difference(self) -> int:
        """Return black pieces minus white ones, a king counting as one."""
        return self.black.bit_count() - self.white.bit_count()

    def fen(self) -> str:
        """Return the position in the FEN of Portable Draughts Notation."""
        return notation.format_position(*self.position)

    def copy(self) -> Self:
        """Return an independent board with the same position, moves and rules."""
        board = type(self).__new__(type(self))
        vars(board).update(vars(self))
        board.moves, board._past = self.moves.copy(), self._past.copy()
        return board

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        return self.position == other.position

    __hash__ = None  # type: ignore[assignment]  # a board changes

    def __repr__(self) -> str:
        return f"Board({self.fen()!r})"

    def __str__(self) -> str:
        squares = position_to_letters(self.position, LETTERS)
        ranks = [f"{_rank(squares, first)}   {first}-{first + 3}" for first in range(1, 33, 4)]
        return "\n".join([*ranks, f"{('Black', 'White')[self.turn]} to move"])

    def _repr_svg_(self) -> str:
        from checkers_env.render.svg import svg  # a Board needs no picture before

        return svg(self)


def _rank(squares: str, first: int) -> str:
    dark = squares[first - 1 : first + 3]
    return " ".join(f"  {piece}" if first % 8 == 1 else f"{piece}  " for piece in dark)
