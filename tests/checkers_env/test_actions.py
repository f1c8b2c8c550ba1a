"""Actions against the moves of a board."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers_env import BLACK, WHITE, Board, Move
from checkers_env import actions as codes
from checkers_env import state as state
from checkers_env.movegen import PACKED_MOVE
from checkers_env.moves import unpack_move


@st.composite
def boards(draw: Any) -> Board:
    """Draw any position with up to 12 pieces a side, men never on their king row."""
    squares = draw(st.lists(st.integers(1, 32), min_size=2, max_size=24, unique=True))
    half = len(squares) // 2
    sections = []
    sides = (("W", squares[:half], range(1, 5)), ("B", squares[half:], range(29, 33)))
    for letter, own, last_row in sides:
        kings = draw(st.sets(st.sampled_from(own))) | (set(own) & set(last_row))
        sections.append(letter + ",".join("K" * (square in kings) + str(square) for square in own))
    return Board(":".join([draw(st.sampled_from("BW")), *sections]))


def new_game(board: Board) -> tuple[Any, Any]:
    game, history = np.zeros(state.GAME_LENGTH, np.int64), np.zeros((4, 4), np.int64)
    state.set_position(game, history, board.black, board.white, board.kings, board.turn)
    return game, history


def legal_actions(game: Any) -> list[int]:
    mask = np.zeros(codes.ACTIONS, np.int8)
    codes.write_mask(mask, game)
    return list(np.flatnonzero(mask).tolist())


def turns(game: Any, history: Any, before: tuple[int, ...] = ()) -> dict[tuple[int, ...], Move]:
    """Yield every sequence of actions of a turn, and its move."""
    found = {}
    for action in legal_actions(game):
        game_now, history_now = game.copy(), history.copy()
        event = codes.play_action(game_now, history_now, action)
        played = (*before, action)
        if event == codes.AGAIN:
            found |= turns(game_now, history_now, played)
        else:
            found[played] = unpack_move(int(history_now[1, PACKED_MOVE]))
    return found


@given(boards())
def test_each_legal_move_equals_its_sequence_of_actions(board: Board) -> None:
    expected = {tuple(codes.move_to_actions(move, board.turn)): move for move in board.legal_moves}
    assert len(expected) == len(board.legal_moves)
    assert turns(*new_game(board)) == expected


@given(boards(), st.integers(-1000, 1000))
def test_illegal_action_changes_nothing(board: Board, action: int) -> None:
    game, history = new_game(board)
    if action not in legal_actions(game):
        before = game.copy(), history.copy()
        assert codes.play_action(game, history, action) == codes.ILLEGAL
        np.testing.assert_array_equal(game, before[0])
        np.testing.assert_array_equal(history, before[1])


@pytest.mark.parametrize(
    ("move", "turn", "expected"),
    [
        ("22x15x8", WHITE, [40, 68]),
        ("11-15", BLACK, [40]),
        (Move((11, 15)), BLACK, [40]),
        (Move((22, 18)), WHITE, [40]),
        (Move((11, 16)), BLACK, [41]),
        (Move((15, 11)), BLACK, [58]),
        (Move((16, 11)), BLACK, [63]),
        (Move((22, 15, 8), (18, 11)), WHITE, [40, 68]),
        (Move((22, 15, 8), (18, 11)), BLACK, [86, 58]),
    ],
)
def test_action_numbers_equal_hand_computed_ones(
    move: Move, turn: int, expected: list[int]
) -> None:
    assert codes.move_to_actions(move, turn) == expected


@given(boards())
def test_description_of_an_action_names_every_legal_move_that_begins_with_it(board: Board) -> None:
    for move in board.legal_moves:
        words = codes.describe_action(codes.move_to_actions(move, board.turn)[0], board.turn)
        assert ("x" if move.captured else "-").join(map(str, move.squares[:2])) in words


MOVES = ("11-18", "1-32", "5-4", "12-13", "11-11")
MOVES += (Move((10, 18), (14,)), Move((29, 33)), Move((0, 4)))  # type: ignore[assignment]
SIDES = ("player_0", "black", 2, -1, None)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        *((codes.describe_action, (it, BLACK), f"{it} is not one of 0 to 127") for it in (-1, 128)),
        *((codes.move_to_actions, (it, BLACK), f"no piece moves like {it}") for it in MOVES),
        *((codes.move_to_actions, ("11-15", it), f"or 1 for White, not {it!r}") for it in SIDES),
        *((codes.describe_action, (40, it), f"or 1 for White, not {it!r}") for it in SIDES),
    ],
)
def test_wrong_arguments_are_refused(function: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(*arguments)
