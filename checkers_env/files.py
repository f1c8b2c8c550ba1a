"""Atomic writes, and reads that never wait."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Literal

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")  # the names that write_atomically gives


def check_output(option: str, path: Path) -> None:
    """Raise ValueError unless a file can be written at `path`, before the work starts."""
    if (path.exists() and not path.is_file()) or not path.parent.is_dir():
        raise ValueError(f"{option} is a file in a folder that exists, not {str(path)!r}")
    try:
        TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(f"{option} {str(path)!r} cannot be written: {error}") from error


def check_folder(option: str, path: Path) -> None:
    """Raise ValueError if `path` or a folder above it is a file, before the work starts."""
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            what = "not" if place == path else "not below"
            raise ValueError(f"{option} must be a folder, {what} the file {str(place)!r}")


def open_regular(path: str | os.PathLike[str], mode: Literal["rb", "ab"] = "rb") -> BinaryIO:
    """Open a regular file that exists to read or append bytes, without ever waiting.

    Raise OSError for a folder, a pipe, a socket or a device: both could block for ever.
    """
    # Windows has none of these but O_BINARY. O_NONBLOCK: a pipe without a writer opens at once.
    names = ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")
    path = os.fspath(path)
    access = os.O_RDONLY if mode == "rb" else os.O_WRONLY | os.O_APPEND
    descriptor = os.open(path, access | sum(getattr(os, name, 0) for name in names))
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "Not a regular file but a pipe or a device", path)
        return os.fdopen(descriptor, mode)
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a regular file. Raise OSError as :func:`open_regular` does."""
    with open_regular(path) as file:
        return file.read()


def resolve_inside(folder: Path, name: str) -> Path:
    """Return the real path of a folder's file, whether there is one or not.

    Raise OSError for a link that leads out of the folder, and for links in a circle.
    """
    try:
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()):
            return path
    except RuntimeError as error:  # of Python before 3.13, for a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder / name)) from error
    raise OSError(errno.EINVAL, "A link that leads out of its folder", str(folder / name))


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file so that readers see either the old file or the whole new one.

    The same holds after a power cut; the new file is on the disk when this returns. If several
    processes write the same file, the last one wins.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    flush_folder(path.parent)


def make_folder(folder: Path) -> list[Path]:
    """Make a folder that a power cut does not lose; return it and its parents that are new."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in made:
        flush_folder(path.parent)
    return made


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_temporary_files(folder: Path) -> None:
    """Remove the half-written files of killed processes from a folder not in use."""
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)
