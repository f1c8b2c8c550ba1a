"""Scenes as images, by matplotlib, which is imported at the first image."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checkers_env.render.scene import SIZE, Area, Disc, Label, Line, Part

FONT_SIZE = 1.37  # to the height of a digit

Image = NDArray[np.uint8]


def paint(parts: Iterable[Part]) -> Image:
    """Paint a scene with smooth edges: uint8, shape (512, 512, 3)."""
    from matplotlib.backends import backend_agg
    from matplotlib.colors import to_rgb
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    agg: Any = backend_agg
    renderer = agg.RendererAgg(SIZE, SIZE, 72)  # a point is a pixel
    upwards: Any = Affine2D().scale(1, -1).translate(0, SIZE)
    for shape in (shape for part in parts for shape in part.shapes):
        pen, path, place = renderer.new_gc(), Path.unit_circle(), upwards
        pen.set_snap(False)
        pen.set_linewidth(0)
        match shape:
            case Disc(centre, radius):
                place = Affine2D().scale(radius).translate(*centre) + upwards
            case Area(points):
                path = Path(points)
            case Line(points, width):
                path = Path(points)
                pen.set_linewidth(width)
                pen.set_foreground(shape.colour)
                pen.set_capstyle("round")
                pen.set_joinstyle("round")
            case Label((x, y), text, height):
                path, place = _outline(text, height), Affine2D().translate(x, SIZE - y)
        face = None if isinstance(shape, Line) else to_rgb(shape.colour)
        renderer.draw_path(pen, path, place, face)
    return np.array(np.asarray(renderer.buffer_rgba())[..., :3])


@functools.cache
def _outline(text: str, height: float) -> Any:
    """Return the outline of a number, which takes longer than to paint it."""
    from matplotlib.textpath import TextPath

    return TextPath((0, 0), text, FONT_SIZE * height)
