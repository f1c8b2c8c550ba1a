"""Rendered positions of the environment, as text and as an image."""

import numpy as np

import checkers_env
from checkers_env import Board, Move
from checkers_env.actions import move_to_actions
from tests.checkers_env.render.pixels import (
    DOUBLE_JUMP,
    after_double_jump,
    image_of,
)


def test_position_inside_a_capture_is_rendered() -> None:
    board, move = after_double_jump()
    first, second = move_to_actions(move, 0)
    text = checkers_env.env(opening=DOUBLE_JUMP, render_mode="ansi")
    image = checkers_env.env(opening=DOUBLE_JUMP, render_mode="rgb_array")
    text.reset()
    image.reset()
    assert np.array_equal(image.render(), image_of(DOUBLE_JUMP))
    text.step(first)
    image.step(first)
    assert text.render() == f"{Board('B:W15,32:B10,12')}: the piece on 10 jumps on"
    middle = image_of("B:W15,32:B10,12", Move((1, 10), (6,)), 10)
    assert np.array_equal(image.render(), middle)
    image.step(second)
    assert np.array_equal(image.render(), image_of(board.fen(), move))
