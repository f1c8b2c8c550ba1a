"""Text and pictures of a position, and PettingZoo's rendering test."""

import warnings

import numpy as np
import pytest
from pettingzoo.test import render_test

import checkers_env
from checkers_env import Board, render
from checkers_env.actions import actions_of
from checkers_env.moves import Move

POSITION = "W:W18,24,K31:B12,K3"
DOUBLE_JUMP = "B:W6,15,32:B1,12"
CENTRES = {3: (0, 5), 12: (2, 7), 18: (4, 3), 24: (5, 6), 31: (7, 4), 1: (0, 1)}  # row, column


def cell(image: render.Image, square: int) -> render.Image:
    row, column = CENTRES[square]
    return image[row * 64 : row * 64 + 64, column * 64 : column * 64 + 64]


def has_colour(image: render.Image, colour: tuple[int, int, int]) -> bool:
    return bool((image == np.array(colour, np.uint8)).all(axis=-1).any())


def test_pettingzoo_accepts_each_mode() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        render_test(checkers_env.env)


@pytest.mark.parametrize(
    ("square", "side", "king"), [(3, 0, 1), (12, 0, 0), (18, 1, 0), (24, 1, 0), (31, 1, 1)]
)
def test_a_piece_is_a_disc_of_its_colour_and_a_king_is_crowned(
    square: int, side: int, king: bool
) -> None:
    image = cell(render.rgb_array(Board(POSITION)), square)
    assert has_colour(image, render.DISCS[side])
    assert not has_colour(image, render.DISCS[1 - side])
    assert has_colour(image, render.CROWN) == king


def test_squares_are_shaded() -> None:
    image = render.rgb_array(Board("B:W:B"))
    assert image.shape == (512, 512, 3)
    assert image.dtype == np.uint8
    assert (cell(image, 1) == render.DARK).all()
    assert (image[:64, :64] == render.LIGHT).all()
    assert (image[448:, :64] == render.DARK).all()  # a dark square in each player's left corner
    assert (image == np.rot90(image, 2)).all()


def test_text_is_the_boards() -> None:
    env = checkers_env.env(opening=POSITION, render_mode="ansi")
    env.reset()
    assert env.render() == str(Board(POSITION))


def test_the_middle_of_a_capture_shows() -> None:
    first, _ = actions_of(Move((1, 10, 19), (6, 15)), 0)
    env = checkers_env.env(opening=DOUBLE_JUMP, render_mode="ansi")
    env.reset()
    env.step(first)
    assert env.render() == f"{Board('B:W15,32:B10,12')}: the piece on 10 jumps on"
    assert not has_colour(render.rgb_array(Board(POSITION)), render.LIFTED)
    assert has_colour(cell(render.rgb_array(Board(POSITION), 18), 18), render.LIFTED)


def test_a_human_reads_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    env = checkers_env.env(render_mode="human")
    env.reset()
    assert capsys.readouterr().out == f"{Board()}\n"
    env.step(36)
    assert "White to move" in capsys.readouterr().out
    assert env.render() is None


def test_a_finished_game_is_rendered() -> None:
    env = checkers_env.env(opening="B:W6:B1", render_mode="ansi")
    env.reset()
    env.step(actions_of(Move((1, 10), (6,)), 0)[0])
    assert env.terminations["player_1"]
    assert env.render() == str(Board("W:W:B10"))


def test_rendering_without_a_mode_warns() -> None:
    env = checkers_env.env()
    env.reset()
    with pytest.warns(UserWarning, match="choose a render_mode"):
        assert env.render() is None
