"""One session at a time in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from checkers_env.files import remove_temporary_files

LOCK = "lock"


@contextmanager
def lock_run_folder(folder: Path, otherwise: str) -> Iterator[None]:
    """Keep other processes out of a folder, which is made if need be, but not left behind empty.

    What a killed process has left half written there is removed. Raises ValueError if one is at
    work there; `otherwise` is what can be done but wait for it.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK, mode=0o666)  # whoever may write to the folder may take it
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
            with suppress(OSError):  # one that is not empty, or gone; what ended the work is told
                _remove_empty(folder, made)
        finally:
            lock.release()  # last: what is removed is still ours


def _remove_empty(folder: Path, made: Sequence[Path]) -> None:
    """Remove the lock of a folder with nothing else in it, and then the folders that were made."""
    if all(path.name == LOCK and not path.stat().st_size for path in folder.iterdir()):
        (folder / LOCK).unlink()
        for path in made:
            path.rmdir()


def config_diff(there: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """In what two of them differ, for an error's message; empty where they are the same."""
    return "; ".join(_differences(there, asked))


def _differences(
    there: Mapping[str, Any], asked: Mapping[str, Any], within: str = ""
) -> Iterator[str]:
    for name in sorted({*there, *asked}):
        one, other = there.get(name), asked.get(name)
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            yield from _differences(one, other, f"{within}{name}.")
        elif one != other:
            yield f"{within}{name} is {one!r} there and {other!r} here"
