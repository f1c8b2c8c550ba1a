"""Atomic writes."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")  # the names that write_atomically gives


def check_output(option: str, path: Path) -> None:
    """Raise ValueError unless a file can be written at `path`, before the work starts."""
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{option} is a file in a folder that exists, not {str(path)!r}")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at any moment either the old or the whole new one is there.

    If several processes write the same file, the last one wins.
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
    """Remove the half-written files of killed processes from a folder not in use."""
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)
