"""The machine and the libraries that made a result."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("checkers-laboratory", "numba", "llvmlite", "numpy")


def processor() -> str:
    """Return the name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that results depend on, by name."""
    return {**{name: version(name) for name in LIBRARIES}, "python": platform.python_version()}
