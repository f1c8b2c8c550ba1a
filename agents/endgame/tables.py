"""Endgame tables on disk: worked out once, cached for the user, checked when they are read."""

from __future__ import annotations

import hashlib
import logging
import os
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_dir
from rich.console import Console
from rich.progress import Progress

from agents.endgame.indexing import count_positions, make_indexing
from agents.endgame.probe import Tablebase
from agents.endgame.retrograde import solve
from checkers_env.files import write_atomically

# SHA-256 of each file: the results of endings are facts, so each file has one right content.
DIGESTS = {
    2: "0626922a215fa903bc466f7f590a8cdfd22022ef9cbe8ea8293ad0b59dab55b3",
    3: "2b9e248331b2fda056acf6e418230639dfb4e462e3ab103689dd390998788b9c",
    4: "9a6898046749ce3cf906457c9d66a9a43c416da13a45f787cee7bf6510a1d99b",
    5: "60d33df3d1d7948c1cd32c2dd7bb10cde207d4956a410b56c4c244fd7984f427",
}

logger = logging.getLogger(__name__)


def load_tablebase(pieces: int = 4, folder: Path | str | None = None) -> Tablebase:
    """Load the endgame tables of 2 to `pieces` pieces, 5 at most, or work them out.

    Up to 4 pieces take a few seconds. 5 pieces take some minutes, 600 MB of memory and 140 MB of
    disk. A process loads each folder's tables once. Missing and damaged files of the folder, by
    default :func:`cache_directory`, are written again.
    """
    if not isinstance(pieces, int) or pieces not in DIGESTS:
        raise ValueError(f"endgame tables are for 2 to 5 pieces, not {pieces!r}")
    return _load(pieces, Path(folder or cache_directory()))


def cache_directory() -> Path:
    """Return the folder of the tables, in ``$CHECKERS_CACHE_DIR`` or in the user's cache folder."""
    place = os.environ.get("CHECKERS_CACHE_DIR") or user_cache_dir("checkers-laboratory", False)
    return Path(place, "endgame")


@cache
def _load(pieces: int, folder: Path) -> Tablebase:
    sizes = [count_positions(count) for count in range(2, pieces + 1)]
    tables = Tablebase(make_indexing(pieces), np.empty(sum(sizes), np.uint8))
    parts = np.split(tables.plies, np.cumsum(sizes)[:-1])
    for count, part in enumerate(parts, 2):
        path = folder / f"{count}-pieces.plies"
        if not _read(path, part, DIGESTS[count]):
            _solve(tables, count)
            if _digest(part) != DIGESTS[count]:
                raise RuntimeError(f"the endings of {count} pieces came out wrong: please report")
            _write(path, part)
    return tables


def _read(path: Path, part: NDArray[np.uint8], digest: str) -> bool:
    """Fill `part` from a file; return False if the file is missing or damaged."""
    try:
        content = np.fromfile(path, np.uint8)
    except OSError:
        return False
    if _digest(content) != digest:
        logger.warning("%s is damaged: it will be worked out again", path)
        return False
    part[:] = content
    return True


def _solve(tables: Tablebase, pieces: int) -> None:
    """Work out the endings of so many pieces, with a progress bar on a terminal."""
    console = Console(stderr=True)
    if pieces == max(DIGESTS) and not console.is_terminal:
        logger.warning("working out the endgame tables of 5 pieces: some minutes, once only")
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"Endings of {pieces} pieces", total=count_positions(pieces))
        for count in solve(tables, pieces):
            bar.advance(task, count)


def _write(path: Path, part: NDArray[np.uint8]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, part.tobytes())
    except OSError as error:
        logger.warning("the endgame tables are not cached: %s", error)


def _digest(content: NDArray[np.uint8]) -> str:
    return hashlib.sha256(content.data).hexdigest()
