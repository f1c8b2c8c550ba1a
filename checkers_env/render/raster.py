"""Scenes as images, painted with numpy alone."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from checkers_env.render.scene import SIZE, Area, Disc, Label, Line, Part, Point, Shape

# The points of each digit on a grid of 5 by 7: column and row, from the upper left.
DIGITS = (
    "10 30 41 45 36 16 05 01 10",
    "02 20 26",
    "01 10 30 41 42 06 46",
    "00 40 22 32 43 45 36 16 05",
    "36 30 04 44",
    "40 00 02 32 43 45 36 16 05",
    "30 10 01 05 16 36 45 43 32 02",
    "00 40 16",
    "13 33 42 41 30 10 01 02 13 04 05 16 36 45 44 33",
    "16 36 45 41 30 10 01 03 14 44",
)
ADVANCE = 5.7  # columns from digit to digit
SLENDER = 0.85  # the width of a column to the height of a row
WEIGHT = 1.1  # width of a stroke, in rows


def strokes(label: Label) -> list[Line]:
    """Return the lines that write a label, a digit each."""
    row = label.height / (6 + WEIGHT)
    column = row * SLENDER
    left, top = label.at[0] + row * WEIGHT / 2, label.at[1] - row * (6 + WEIGHT / 2)
    return [
        Line(
            tuple(
                (left + column * (place * ADVANCE + int(point[0])), top + row * int(point[1]))
                for point in DIGITS[int(digit)].split()
            ),
            row * WEIGHT,
            label.colour,
        )
        for place, digit in enumerate(label.text)
    ]


Image = NDArray[np.uint8]
Grid = NDArray[np.float32]
Layer = tuple[tuple[slice, slice, slice], Grid, Grid]


def paint(parts: Iterable[Part]) -> Image:
    """Paint a scene with smooth edges: uint8, shape (512, 512, 3)."""
    image = np.zeros((3, SIZE, SIZE), np.float32)  # colours first: numpy blends so much faster
    for part in parts:
        for shape in part.shapes:
            for window, uncovered, colour in _layers(shape):
                image[window] *= uncovered
                image[window] += colour
    return np.ascontiguousarray(image.round().astype(np.uint8).transpose(1, 2, 0))


@functools.lru_cache(2048)
def _layers(shape: Shape) -> list[Layer]:
    return [_layer(simple) for simple in (strokes(shape) if isinstance(shape, Label) else [shape])]


def _layer(shape: Disc | Line | Area) -> Layer:
    """Return the pixels around a shape, its share left of each, and the colour it adds."""
    outline: tuple[Point, ...]
    match shape:
        case Disc(centre, reach):
            outline = (centre, centre)
        case Line(outline, width):
            reach = width / 2
        case Area(points):
            outline, reach = (*points, points[0]), 0
    left, top = np.maximum(np.min(outline, 0) - reach - 1, 0).astype(int)
    right, bottom = np.minimum(np.max(outline, 0) + reach + 1, SIZE).astype(int)
    y, x = np.mgrid[top:bottom, left:right].astype(np.float32) + 0.5
    inside = reach - _distance(outline, x, y)  # pixels, negative outside
    if isinstance(shape, Area):
        inside = np.where(_is_inside(outline, x, y), -inside, inside)
    cover = np.clip(inside + 0.5, 0, 1)
    colour = np.array(list(bytes.fromhex(shape.colour[1:])), np.float32)[:, None, None]
    return np.s_[:, top:bottom, left:right], 1 - cover, cover * colour


def _distance(points: Iterable[Point], x: Grid, y: Grid) -> Grid:
    """Return the distance from each point to the nearest line; one of no length is a point."""
    nearest = np.full(x.shape, np.inf, np.float32)
    for (ax, ay), (bx, by) in itertools.pairwise(points):
        dx, dy = bx - ax, by - ay
        along = np.clip(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy or 1), 0, 1)
        nearest = np.minimum(nearest, np.hypot(x - ax - along * dx, y - ay - along * dy))
    return nearest


def _is_inside(outline: Iterable[Point], x: Grid, y: Grid) -> NDArray[np.bool_]:
    """Return whether a ray to the right of a point crosses the outline an odd number of times."""
    odd = np.zeros(x.shape, bool)
    for (ax, ay), (bx, by) in itertools.pairwise(outline):
        if ay != by:
            odd ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    return odd
