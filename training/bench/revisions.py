"""Another revision and this tree, measured in turns."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.progress import track

from training.experiments.inference import Interval, student

ROOT = Path(__file__).parents[2]
MODULE = "-m", "training.bench"
COMMANDS = {"training/bench": MODULE, "training/speed.py": ("training/speed.py",)}
"""Words of the command by the path that a revision has; the second is of older revisions."""
ORDERS = (0, 1), (1, 0)  # this tree first, the other revision first


def compare(revision: str, pairs: int, quick: bool, console: Console) -> dict[str, Interval]:
    """Measure this tree and another revision in turns; return the ratios of the speeds by name.

    The two take turns in going first. A first run of each compiles the kernels and is not counted.
    """
    if pairs < 2:
        raise ValueError(f"pairs must be at least 2, not {pairs}")
    measured: list[list[dict[str, float]]] = [[], []]
    with check_out(revision) as theirs, TemporaryDirectory() as folder:
        trees = ROOT, theirs
        turns = [0, 1, *chain.from_iterable(ORDERS[pair % 2] for pair in range(pairs))]
        for tree in track(turns, "measuring", console=console, transient=True):
            place = Path(folder, str(tree))
            place.mkdir(exist_ok=True)
            measured[tree].append(measure_tree(trees[tree], quick, place))
    ours, other = (runs[1:] for runs in measured)
    return {
        name: mean_ratio([run[name] for run in ours], [run[name] for run in other])
        for name in ours[0]
        if name in other[0]
    }


@contextmanager
def check_out(revision: str, repository: Path = ROOT) -> Iterator[Path]:
    """Check a revision out into a temporary folder for a with block.

    Raises ValueError for a revision that does not exist, and outside a git repository.
    """
    git = ["git", "-C", str(repository), "worktree"]
    with TemporaryDirectory(prefix="revision-") as folder:
        place = Path(folder, "tree")
        add = [*git, "add", "--detach", str(place), revision]
        added = subprocess.run(add, capture_output=True, text=True)
        if added.returncode:
            raise ValueError(f"no revision {revision!r} here: {added.stderr.strip()}")
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def measure_tree(tree: Path, quick: bool, folder: Path) -> dict[str, float]:
    """Measure a source tree in a process of its own; return the speeds by name.

    The folder keeps the tree's compiled kernels. Raises ChildProcessError if the bench fails.
    """
    output = folder / "measured.json"
    words = next((it for name, it in COMMANDS.items() if (tree / name).exists()), MODULE)
    command = [sys.executable, *words, "--json", str(output), *(["--quick"] if quick else [])]
    environment = os.environ | {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(folder / "cache")}
    ran = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise ChildProcessError(f"the bench of {str(tree)!r} failed: {ran.stderr.strip()[-500:]}")
    return {row["name"]: row["value"] for row in json.loads(output.read_bytes())["rows"]}


def mean_ratio(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """Return the geometric mean of the ratios of two measurements or more, with its interval."""
    return Interval(*map(math.exp, student(np.log(np.divide(ours, theirs)).tolist())))
