"""Reader of a run's folder while evolve.py or td.py writes to it.

The run replaces each file as a whole, so every file can be read at any moment. Two files may be of
different generations.
"""

from __future__ import annotations

import csv
import math
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from checkers_env.files import read_regular, resolve_inside
from training.app.request_body import Json
from training.league.game import printable
from training.regimes import regime_from_config
from training.trainer.checkpoint import FILE_NAME, has_checkpoint, load_checkpoint
from training.trainer.loop import CHAMPION_FILE, CHAMPIONS_FOLDER, CURVE_FILE, PLOT_FILE
from training.trainer.presets import ABLATIONS, PRESETS, TD_PRESETS

# Columns of curve.csv that the page does not draw; they would be half of what it loads.
UNUSED_COLUMNS = {
    "champion/spread",
    "games/draws",
    "games/plies",
    "score/best",
    "score/mean",
    "weight/mean",
}
_KEPT_NAME = re.compile(r".*generation-([0-9]{1,9})\.safetensors")


def find_runs(folder: Path) -> dict[str, Path]:
    """Return the runs in a folder by name, sorted; the folder itself comes first if it is a run."""
    try:
        subfolders = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:  # the folder does not exist yet
        return {}
    return {printable(path.name): path for path in [folder.resolve(), *subfolders] if is_run(path)}


def is_run(folder: Path) -> bool:
    """Return whether a folder holds a run; a damaged checkpoint counts, a link does not."""
    try:
        resolve_inside(folder, FILE_NAME)
        return has_checkpoint(folder)
    except OSError:
        return False


def save_time_ns(run: Path) -> int:
    """Return the time of a run's last checkpoint, in nanoseconds of Unix time; 0 without one."""
    return _mtime_ns(run / FILE_NAME)


def is_running(run: Path) -> bool:
    """Return whether a run has yet to plot its curve, which it does at its end."""
    plot_time = _mtime_ns(run / PLOT_FILE)
    return not plot_time or _mtime_ns(run / CURVE_FILE) > plot_time


def run_version(run: Path) -> str:
    """Return a text that changes with every checkpoint, the last file that a run writes."""
    return str(save_time_ns(run))


def _mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def read_history(run: Path) -> dict[str, list[float | None]]:
    """Return the columns of curve.csv, None for missing values; empty if there is no file yet.

    Raise ValueError for a file of another form, and for a link that leads out of the folder.
    """
    path = run / CURVE_FILE
    try:
        text = read_regular(resolve_inside(run, CURVE_FILE)).decode("utf-8")
        names, *rows = csv.reader(text.splitlines())
        numbers = [_numbers(line, row) for line, row in enumerate(rows, 2)]
        columns = dict(zip(names, zip(*numbers, strict=True), strict=True))
    except FileNotFoundError:
        return {}
    except (ValueError, OSError, csv.Error) as error:
        raise ValueError(f"{str(path)!r} is not a valid curve: {error}") from None
    return {
        name: [number if math.isfinite(number) else None for number in column]
        for name, column in columns.items()
    }


def _numbers(line: int, row: list[str]) -> list[float]:
    try:
        return [float(cell) for cell in row]
    except ValueError:  # without the cell, which need not be for the page
        raise ValueError(f"line {line} does not hold numbers only") from None


def find_champions(run: Path) -> dict[int, Path]:
    """Return the weight files of the champions that a run has kept, by generation."""
    try:
        folder = resolve_inside(run, CHAMPIONS_FOLDER)
        named = {path: _KEPT_NAME.fullmatch(path.name) for path in folder.iterdir()}
    except OSError:  # it keeps none
        return {}
    kept = {int(match[1]): path for path, match in named.items() if match and _is_file(path)}
    return dict(sorted(kept.items()))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def last_generation(run: Path) -> int:
    """Return the last generation in curve.csv; 0 if there is no file yet, or none of a run's."""
    try:
        content = read_regular(resolve_inside(run, CURVE_FILE))
    except OSError:  # the page of the run says why
        return 0
    return max(content.count(b"\n") - 2, 0)


def read_run(run: Path) -> Json:
    """Return a run's state, configuration and measurements; times are seconds of Unix time.

    The champions are pairs of generation and path. A checkpoint does not hold the run's number of
    generations: that of the preset of its name stands for it. Raise ValueError if the checkpoint
    or the curve cannot be read.
    """
    version = run_version(run)  # before all other reads: any later checkpoint changes it
    history, champion = read_history(run), run / CHAMPION_FILE
    config_key = _load_config_key(run, save_time_ns(run))
    preset = (PRESETS | TD_PRESETS | ABLATIONS).get(config_key["name"])
    try:
        games = regime_from_config(config_key).games
    except ValueError:
        games = None
    return {
        "version": version,
        "running": is_running(run),
        "save_time": save_time_ns(run) / 1e9,
        "champion": str(champion) if champion.is_file() else None,
        "champions": [[number, str(path)] for number, path in find_champions(run).items()],
        "generation": max(len(history.get("generation", ())) - 1, 0),
        "history": {name: row for name, row in history.items() if name not in UNUSED_COLUMNS},
        "regime": config_key["name"],
        "seed": config_key["seed"],
        "preset_generations": preset and preset.generations,
        "games_per_generation": games,
    }


@lru_cache(64)
def _load_config_key(run: Path, save_ns: int) -> dict[str, Any]:
    config_key = load_checkpoint(run).config_key
    if not (isinstance(config_key.get("name"), str) and "seed" in config_key):
        raise ValueError(f"{str(run)!r} holds a run of no name or seed")
    return config_key
