"""Writing files so that nothing is lost."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")  # the names that write_atomically gives


def check_output(option: str, path: Path) -> None:
    """Raise ValueError unless a file can be written there, before the work that it is for."""
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{option} is a file in a folder that exists, not {str(path)!r}")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at any moment either the old or the whole new one is there.

    Of several who write a file at once, one is the last: its content stays.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_temporary_files(folder: Path) -> None:
    """Remove the half-written files of killed processes from a folder that nobody writes to now."""
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)
