"""Entry points of the installed commands that need the extra ``train``.

The module of a command is imported when the command is called. Without the extra, the message is
one line instead of a traceback.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from training.runtime.cli import run_command


def command(module: str) -> Callable[[], int]:
    """Return the entry point of a command, whose module's `main` returns the exit status."""

    def main() -> int:
        found: list[Callable[[], int]] = []
        status = run_command(lambda *_: found.append(import_module(module).main))
        return found[0]() if found else status

    return main


benchmark = command("training.benchmark")
compare = command("training.compare")
continual = command("training.continual")
reproduce = command("training.reproduce")
