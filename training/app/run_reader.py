"""A run's folder, read while evolve.py or td.py works in it.

Every file there is replaced as a whole, so that each can be read at any moment; but two files read
one after the other may be of different generations.
"""

from __future__ import annotations

import csv
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

from training.app.serialize import Json
from training.regimes import regime_from_config
from training.trainer.ablations import ABLATIONS
from training.trainer.checkpoint import FILE_NAME, has_checkpoint, load_checkpoint
from training.trainer.loop import CHAMPION_FILE, CURVE_FILE, PLOT_FILE
from training.trainer.presets import PRESETS, TD_PRESETS


def runs(folder: Path) -> dict[str, Path]:
    """The runs of evolve.py and td.py in a folder by name, sorted; first the folder itself."""
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:  # it is not there yet
        return {}
    there = [folder.resolve(), *inside]
    return {path.name: path for path in there if has_checkpoint(path)}


def saved(run: Path) -> int:
    """When a run wrote its last checkpoint, in nanoseconds of Unix time; 0 for never."""
    return _written(run / FILE_NAME)


def is_running(run: Path) -> bool:
    """Whether a run has begun, or saved something since it last drew its curve, as it ended."""
    plotted = _written(run / PLOT_FILE)
    return not plotted or _written(run / CURVE_FILE) > plotted


def version(run: Path) -> str:
    """A text that changes when a run saves its state, the last that it writes each time."""
    return str(saved(run))


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def history(run: Path) -> dict[str, list[float | None]]:
    """The columns of curve.csv, None where nothing was measured; empty before it is written.

    Raises ValueError for a file that is no such table.
    """
    path = run / CURVE_FILE
    try:
        names, *rows = csv.reader(path.read_text("utf-8").splitlines())
        numbers = [[float(cell) for cell in row] for row in rows]
        columns = dict(zip(names, zip(*numbers, strict=True), strict=True))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not a curve of ours: {error}") from None
    return {
        name: [number if math.isfinite(number) else None for number in column]
        for name, column in columns.items()
    }


def generations(run: Path) -> int:
    """The last generation in curve.csv; 0 before it is written."""
    try:
        return max((run / CURVE_FILE).read_bytes().count(b"\n") - 2, 0)
    except FileNotFoundError:
        return 0


def overview(run: Path) -> Json:
    """How far a run is, and what it is.

    - ``version`` and ``running``: see :func:`version` and :func:`is_running`; ``saved``: seconds of
      Unix time; ``champion``: its weight file, None before there is one;
    - ``generation``: the last one in ``history``, which is that of :func:`history`;
    - ``regime``: its name; ``seed``; ``planned``: the generations of the preset of that name, since
      a run does not keep how many it was asked for; ``games`` in a generation. These two are None
      where they are not known.

    Raises ValueError for a checkpoint or a curve that cannot be read.
    """
    seen = version(run)  # before anything is read: whatever is written later changes it
    measured, champion = history(run), run / CHAMPION_FILE
    config_key = _config_key(run, saved(run))
    preset = (PRESETS | TD_PRESETS | ABLATIONS).get(config_key["name"])
    try:
        games = regime_from_config(config_key).games
    except ValueError:
        games = None
    return {
        "version": seen,
        "running": is_running(run),
        "saved": saved(run) / 1e9,
        "champion": str(champion) if champion.is_file() else None,
        "generation": max(len(measured.get("generation", ())) - 1, 0),
        "history": measured,
        "regime": config_key["name"],
        "seed": config_key["seed"],
        "planned": preset and preset.generations,
        "games": games,
    }


@lru_cache(64)
def _config_key(run: Path, saved: int) -> dict[str, Any]:
    config_key = load_checkpoint(run).config_key
    if not {"name", "seed"} <= set(config_key):
        raise ValueError(f"{str(run)!r} holds a run of no name or seed")
    return config_key
