"""The scene of a position, checked by its pixels."""

import itertools

import numpy as np
import pytest

import checkers_env
from checkers_env import Move
from checkers_env.render import scene
from tests.checkers_env.render.pixels import (
    CELLS,
    DOUBLE_JUMP,
    POSITION,
    after_double_jump,
    cell,
    has,
    image_of,
    moved,
    number,
    rgb,
)


@pytest.mark.parametrize(("viewer", "flipped"), [("player_1", False), ("player_0", True)])
def test_board_is_drawn_from_the_players_side(viewer: str, flipped: bool) -> None:
    env = checkers_env.env(opening=POSITION)
    env.reset()
    seen = env.observe(viewer)["observation"][:4].any(axis=0)
    image = image_of(POSITION, flipped=flipped)
    bare = (rgb(scene.LIGHT), rgb(scene.DARK))
    for row, column in itertools.product(range(8), range(8)):
        beside_a_crown = tuple(image[row * 64 + 32, column * 64 + 12])
        assert (beside_a_crown not in bare) == seen[row, column]


@pytest.mark.parametrize(
    ("square", "side", "king"),
    [(3, 0, True), (12, 0, False), (18, 1, False), (24, 1, False), (31, 1, True)],
)
def test_pieces_are_discs_of_their_colour_and_kings_have_crowns(
    square: int, side: int, king: bool
) -> None:
    image = cell(image_of(POSITION), square)
    assert tuple(image[32, 32]) == rgb((scene.CROWNS if king else scene.DISCS)[side])
    assert tuple(image[32, 12]) == rgb(scene.DISCS[side])
    assert not has(image, scene.DISCS[1 - side])
    assert has(image, scene.CROWNS[side]) == king


def test_flipped_picture_is_turned_round_except_its_numbers() -> None:
    board, move = after_double_jump()
    upright, flipped = (image_of(board.fen(), move, flipped=flip) for flip in (False, True))
    for square in CELLS:
        assert np.array_equal(number(flipped, square, True), number(upright, square))
    difference = upright.astype(int) - np.rot90(flipped, 2)
    differing = (abs(difference) > 2).any(axis=-1)  # matplotlib rounds
    for square in CELLS:
        number(differing, square)[:] = False
        number(np.rot90(differing, 2), square, True)[:] = False
    assert not differing.any()


def test_last_move_is_tinted_and_its_captures_are_crossed() -> None:
    board, move = after_double_jump()
    image = image_of(board.fen(), move)
    assert moved(image) == {1, 6, 10, 15, 19}
    for square in (6, 15):
        assert tuple(cell(image, square)[32, 32]) == rgb(scene.DISCS[0])  # the cross
        assert tuple(cell(image, square)[32, 44]) == rgb(scene.DISCS[1])  # what was captured
    for square in (1, 10):
        assert (cell(image, square)[13:] == rgb(scene.MOVED)).all()
    assert moved(image_of(board.fen())) == set()


def test_arrow_follows_its_move() -> None:
    image = image_of(DOUBLE_JUMP, arrows=[Move((1, 10, 19), (6, 15))])
    assert {square for square in CELLS if has(cell(image, square), scene.ARROW)} == {
        1, 6, 10, 15, 19,
    }  # fmt: skip


@pytest.mark.parametrize("squares", [(), (5,), (0, 5), (29, 33)])
def test_impossible_arrow_is_refused(squares: tuple[int, ...]) -> None:
    message = "is not 1 to 32" if len(squares) == 2 else "a move has a start and an end"
    with pytest.raises(ValueError, match=message):
        image_of(POSITION, Move(squares))
    with pytest.raises(ValueError, match=message):
        image_of(POSITION, arrows=[Move(squares)])
