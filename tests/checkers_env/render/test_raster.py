"""The rasteriser against matplotlib's polygons and distances from points."""

import math
from typing import Any

import numpy as np
import pytest
from matplotlib.path import Path as Outline

from checkers_env.render import scene
from checkers_env.render.raster import paint
from checkers_env.render.scene import Area, Disc, Line, Part


def covered(*shapes: scene.Shape) -> Any:
    """Return the pixels of which a white shape on black covers more than half."""
    black = Area(((0, 0), (512, 0), (512, 512), (0, 512)), "#000000")
    return paint([Part("", (black, *shapes))])[..., 0] > 127.5


COLUMN, ROW = np.meshgrid(np.arange(512) + 0.5, np.arange(512) + 0.5)
CENTRES = np.stack([COLUMN.ravel(), ROW.ravel()], axis=-1)


@pytest.mark.parametrize("seed", range(5))
def test_polygon_is_filled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    angles, radii = np.sort(rng.uniform(0, 2 * math.pi, 9)), rng.uniform(20, 200, 9)
    x, y = rng.uniform(0, 512, 2)  # a star, perhaps over the edge of the picture
    points = [
        (x + r * math.cos(a), y + r * math.sin(a)) for a, r in zip(angles, radii, strict=True)
    ]
    inside = Outline([*points, points[0]], closed=True).contains_points(CENTRES)
    assert np.array_equal(covered(Area(tuple(points), "#ffffff")), inside.reshape(512, 512))


@pytest.mark.parametrize("seed", range(5))
def test_lines_and_discs_cover_their_neighbourhood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (start, end), width = rng.uniform(0, 512, (2, 2)), rng.uniform(3, 40)
    aside = np.array([start[1] - end[1], end[0] - start[0]]) / math.dist(start, end) * width / 2
    sides = Outline([start + aside, end + aside, end - aside, start - aside, start + aside])
    near = sides.contains_points(CENTRES).reshape(512, 512)
    for x, y in (start, end):
        near |= np.hypot(COLUMN - x, ROW - y) < width / 2
    assert np.array_equal(covered(Line((tuple(start), tuple(end)), width, "#ffffff")), near)
    near = np.hypot(COLUMN - x, ROW - y) < width
    assert np.array_equal(covered(Disc((x, y), width, "#ffffff")), near)


def test_edges_are_smooth() -> None:
    disc = Disc((256.0, 256.0), 24.0, "#ffffff")
    image = paint([Part("", (disc,))])[..., 0] / 255
    assert image.sum() == pytest.approx(math.pi * 24**2, rel=0.002)
