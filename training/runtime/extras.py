"""Packages that the plain installation leaves out, by the extra that installs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Name the extra, and the command that installs it, if an import in the with block fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}: {install_command(name)}", name=error.name) from None


def require(name: str, *packages: str) -> None:
    """Raise ModuleNotFoundError, with the extra's name, if one of its packages is not installed."""
    with extra(name):
        for package in packages:
            if find_spec(package) is None:
                raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def install_command(name: str) -> str:
    """Return the command that installs an extra, in a clone of the repository."""
    return f"pip install '.[{name}]'"
