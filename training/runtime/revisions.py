"""Checkouts of other revisions, and scripts that run in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]


@contextmanager
def check_out(revision: str, repository: Path = ROOT) -> Iterator[Path]:
    """Check a revision of a repository out into a temporary folder for a with block.

    Raises ValueError for a revision that does not exist, and outside a git repository.
    """
    with TemporaryDirectory(prefix="revision-") as folder:
        place = Path(folder, "tree")
        try:
            _git(repository, "worktree", "add", "--detach", str(place), revision)
        except subprocess.CalledProcessError as error:
            raise ValueError(f"no revision {revision!r} here: {error.stderr.strip()}") from None
        try:
            yield place
        finally:
            _git(repository, "worktree", "remove", "--force", str(place))


def run_json(tree: Path, script: str, options: Sequence[str], folder: Path) -> Any:
    """Run a script of a source tree with ``--json FILE``; return the file's content.

    The tree's packages are imported; `folder` is for its compiled kernels and the file.

    Raises
    ------
    ChildProcessError
        If the script fails.
    """
    output = folder / "measured.json"
    environment = os.environ | {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(tree / script), *options, "--json", str(output)]
    ran = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise ChildProcessError(f"{script} of {str(tree)!r} failed: {ran.stderr.strip()[-500:]}")
    return json.loads(output.read_bytes())


def _git(repository: Path, *arguments: str) -> None:
    command = ["git", "-C", str(repository), *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True)
