"""Lock of a run's folder, and comparison of configurations."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from checkers_env.files import make_folder, remove_temporary_files

LOCK = "lock"
LONGEST_NAME = 80  # characters


def short_name(text: str) -> str:
    """Return a name for files: dashes in place of special characters, a hash for a long end."""
    name = re.sub("[^A-Za-z0-9_.=]+", "-", text).strip("-.")
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return name


@contextmanager
def lock_run_folder(folder: Path, otherwise: str) -> Iterator[None]:
    """Keep other processes out of a folder for a with block.

    The folder is made if it does not exist, and removed again if it stays empty. Temporary files of
    a killed process are removed.

    Raises
    ------
    ValueError
        If another process holds the lock; `otherwise` is what the user can do but wait.
    """
    made = make_folder(folder)
    lock = FileLock(folder / LOCK, mode=0o666)  # for all users of the folder
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ValueError(
            f"another session is at work in {str(folder)!r}: wait for it, or {otherwise}"
        ) from None
    try:
        remove_temporary_files(folder)
        yield
    finally:
        try:
            with suppress(OSError):  # not empty, or gone: the error of the work matters more
                _remove_empty(folder, made)
        finally:
            lock.release()  # last: the folder must be locked while it is removed


def _remove_empty(folder: Path, made: Sequence[Path]) -> None:
    """Remove the lock of a folder with nothing else in it, and then the folders that were made."""
    if all(path.name == LOCK and not path.stat().st_size for path in folder.iterdir()):
        (folder / LOCK).unlink()
        for path in made:
            path.rmdir()


def config_diff(saved: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Say in what two configurations differ, for an error's message; nothing if they are equal."""
    return "; ".join(_differences(saved, config))


def _differences(
    saved: Mapping[str, Any], config: Mapping[str, Any], within: str = ""
) -> Iterator[str]:
    for name in sorted({*saved, *config}):
        one, other = saved.get(name), config.get(name)
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            yield from _differences(one, other, f"{within}{name}.")
        elif one != other:
            yield f"{within}{name} is {one!r} there and {other!r} here"
