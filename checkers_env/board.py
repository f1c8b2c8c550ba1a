"""A game in progress: a position, the moves that led to it, and its draw rules."""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from checkers_env import fen as notation
from checkers_env import moves
from checkers_env.actions import move_to_actions, play_action
from checkers_env.fen import position_to_letters
from checkers_env.movegen import (
    BLACK,
    MAX_ROWS,
    NO_MOVE,
    PACKED_MOVE,
    ROW_WIDTH,
    WHITE,
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
RESULTS = {BLACK: "1-0", WHITE: "0-1", None: "1/2-1/2"}
NO_HISTORY = np.empty((0, ROW_WIDTH), np.int64)


class Outcome(NamedTuple):
    """The end of a game: the winner (BLACK, WHITE, or None for a draw) and the reason."""

    winner: int | None
    reason: str


class Board:
    """A position that moves are made on and taken back from.

    A turn can also be played by actions, as in the environments (:mod:`checkers_env.actions`).
    Until the last jump of a multi-jump the board shows the position before it, with the same side
    to move. Then only actions go on: moves and FEN raise ValueError.

    Parameters
    ----------
    fen
        The position to set up.
    lenient
        Whether a man on its king row is read as a king.
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
        lenient: bool = False,
        rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
        **changes: Any,
    ) -> None:
        self.rules = change_rules(rules, changes, type(self))
        self._set_up(notation.parse(fen, lenient=lenient))

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
        self._past: list[tuple[int, int, int, int, tuple[int, ...]]] = []
        self._jumps: tuple[int, ...] = ()  # actions of an unfinished multi-jump
        self._legal: tuple[Move, ...] | None = None
        self._successors: list[list[int]] = []

    @property
    def position(self) -> Position:
        """Return the 35-bit boards and the side to move, as kernels take them."""
        return Position(self.black, self.white, self.kings, self.turn)

    def root(self) -> Board:
        """Return a copy of the position before the first move, with the same draw rules."""
        root = self.copy()
        while root.moves or root._jumps:
            root.pop()
        return root

    @property
    def ply(self) -> int:
        """Count the turns made on this board."""
        return len(self.moves)

    @property
    def legal_moves(self) -> list[Move]:
        """Return the legal moves, in the order of `movegen.generate_successors`."""
        self._check_turn()
        return list(self._generate())

    @property
    def legal_actions(self) -> list[int]:
        """Return the legal actions, in ascending order; in a multi-jump those that continue it."""
        done = len(self._jumps)
        return sorted({actions[done] for _, actions in self._continuations(self._jumps)})

    def _continuations(self, jumps: tuple[int, ...]) -> list[tuple[Move, tuple[int, ...]]]:
        """Return the legal moves that begin with some actions, each with all of its actions."""
        moves = [(move, _actions_of(move, self.turn)) for move in self._generate()]
        return [(move, actions) for move, actions in moves if actions[: len(jumps)] == jumps]

    def _check_turn(self) -> None:
        """Raise ValueError in the middle of a multi-jump."""
        if self._jumps:
            raise ValueError("a multi-jump is not complete: only legal_actions continue it")

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
        self._check_turn()
        return moves.find_move(text, self._generate())

    def push(self, move: Move | str) -> None:
        """Make a move, or the move that a text writes. Raise ValueError if it is illegal."""
        self._check_turn()
        legal = self._generate()
        move = moves.find_move(move, legal) if isinstance(move, str) else move
        if move not in legal:
            raise ValueError(f"{move} is illegal: the legal moves are {moves.format_moves(legal)}")
        index = legal.index(move)
        man_moved = not self.kings >> square_to_bit(move.squares[0]) & 1
        self._past.append((self.black, self.white, self.kings, self.reversible_plies, ()))
        self.moves.append(legal[index])
        self.black, self.white, self.kings, _ = self._successors[index]
        self.turn ^= 1
        self.reversible_plies = 0 if man_moved or move.captured else self.reversible_plies + 1
        self._legal = None

    def push_action(self, action: int) -> None:
        """Play an action, 0-127. Raise ValueError if it is illegal."""
        jumps = (*self._jumps, action)
        found = self._continuations(jumps)
        if not found:
            raise ValueError(f"action {action!r} is illegal: the legal ones: {self.legal_actions}")
        move, actions = found[0]
        if len(actions) > len(jumps):
            self._jumps = actions[: len(jumps)]  # whole numbers, as kernels take them
            return
        before, self._jumps = self._jumps, ()
        self.push(move)
        self._past[-1] = (*self._past[-1][:4], before)

    def pop(self) -> Move:
        """Take back the last move and return it. Raise ValueError if there is none.

        Of a multi-jump that was played by actions only the last jump is taken back, and returned if
        others had to follow it.
        """
        if jumps := self._jumps:
            self._jumps = jumps[:-1]
            move, at = self._continuations(jumps)[0][0], len(self._jumps)
            return Move(move.squares[at : at + 2], move.captured[at : at + 1])
        if not self.moves:
            raise ValueError("no move to take back: none was made on this board")
        self.black, self.white, self.kings, self.reversible_plies, self._jumps = self._past.pop()
        self.turn ^= 1
        self._legal = None
        return self.moves.pop()

    def outcome(self) -> Outcome | None:
        """Return how the game has ended, or None while it goes on. A loss comes before any draw."""
        game = self.to_array()
        ending = status(game)
        if ending == ONGOING:
            return None
        return Outcome(1 - self.turn if has_lost(game, ending) else None, REASONS[ending])

    @property
    def is_over(self) -> bool:
        """Return whether the game has ended."""
        return self.outcome() is not None

    @property
    def result(self) -> str:
        """Return the result as in PDN; Black has won ``1-0``, and ``*`` is no result yet."""
        outcome = self.outcome()
        return RESULTS[outcome.winner] if outcome else "*"

    def to_array(self) -> NDArray[np.int64]:
        """Return the game as kernels take it (:mod:`checkers_env.state`), with all actions."""
        game = new_game(self.rules)
        clocks = (self.ply, self.reversible_plies, self._earlier_occurrences())
        game[:RULES] = (self.black, self.white, self.kings, NO_MOVE, self.turn, *clocks)
        for action in self._jumps:
            play_action(game, NO_HISTORY, action)
        return game

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
        self._check_turn()
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
        return (self.position, self._jumps) == (other.position, other._jumps)

    __hash__ = None  # type: ignore[assignment]  # a board changes

    def __repr__(self) -> str:
        return f"Board({notation.format_position(*self.position)!r})"

    def __str__(self) -> str:
        squares = position_to_letters(self.position, LETTERS)
        ranks = [f"{_rank(squares, first)}   {first}-{first + 3}" for first in range(1, 33, 4)]
        return "\n".join([*ranks, f"{('Black', 'White')[self.turn]} to move"])

    def _repr_svg_(self) -> str:
        from checkers_env.render.svg import svg  # a Board needs no picture before

        return svg(self)


@functools.cache
def _actions_of(move: Move, turn: int) -> tuple[int, ...]:
    return tuple(move_to_actions(move, turn))


def _rank(squares: str, first: int) -> str:
    dark = squares[first - 1 : first + 3]
    return " ".join(f"  {piece}" if first % 8 == 1 else f"{piece}  " for piece in dark)
