"""One session at a time in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from checkers_env.files import remove_left_over

LOCK = "lock"


@contextmanager
def alone(folder: Path, otherwise: str) -> Iterator[None]:
    """Keep other processes out of a folder, which is made if need be, but not left behind empty.

    What a killed process has left half written there is removed. Raises ValueError if one is at
    work there; `otherwise` is what can be done but wait for it.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ValueError(
            f"another session is at work in {str(folder)!r}: wait for it, or {otherwise}"
        ) from None
    try:
        remove_left_over(folder)
        yield
    finally:
        lock.release()
        if {path.name for path in folder.iterdir()} <= {LOCK}:
            (folder / LOCK).unlink(missing_ok=True)
            with suppress(OSError):  # one that is not empty
                for path in made:
                    path.rmdir()
