"""Train a policy by MaskablePPO in self-play.

    python training/ppo.py [options]

The policy plays both sides of most games, and its own former self and the zoo in the others. The
folder of a run holds a checkpoint, champion.zip (a policy of Stable-Baselines3, which
training/benchmark.py takes), the scores against the yardsticks (curve.csv, curve.png), and what
TensorBoard shows (tensorboard --logdir runs). Needs torch and the extra sb3.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from training.rl.config import Settings, check
from training.runtime.cli import in_folder, run_command
from training.trainer.checkpoint import FILE_NAME

PACKAGES = ("torch", "stable_baselines3", "sb3_contrib")


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(train)


def train(arguments: list[str], console: Console) -> None:
    """Read the command line and carry out the run that it asks for."""
    settings = tyro.cli(
        Settings, args=arguments, prog="python training/ppo.py", description=__doc__
    )
    check(settings)
    try:
        from training.rl.loop import CHAMPION_FILE, PLOT_FILE, begin, carry_out
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        raise ValueError(
            f"PPO needs {error.name}: pip install 'checkers-laboratory[sb3]'"
        ) from error
    files = FILE_NAME, CHAMPION_FILE, PLOT_FILE
    with in_folder(settings.folder, *files, console, kept="the last checkpoint is kept"):
        run = begin(settings)
        with _progress(settings, run, console) as report:
            carry_out(settings, run, report)


@contextmanager
def _progress(settings: Settings, run: Any, console: Console) -> Iterator[Callable[[Any], None]]:
    """A bar on a terminal, and a line for every checkpoint elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[scores]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("ppo", total=settings.steps, completed=run.steps, rate="", scores="")
        shown = 0

        def report(run: Any) -> None:
            nonlocal shown
            speed, scores = bar.tasks[0].speed or 0.0, latest_scores(run.history)
            bar.update(task, completed=run.steps, rate=f"{speed:,.0f} actions/s", scores=scores)
            rows = len(run.history["steps"])
            if not console.is_terminal and rows > shown:
                shown = rows
                console.print(f"{run.history['steps'][-1]:,.0f} of {settings.steps:,}: {scores}")

        yield report


def latest_scores(history: dict[str, list[float]]) -> str:
    """The scores measured last, as text."""
    scores = {
        name.removeprefix("score/"): row[-1] for name, row in history.items() if "score/" in name
    }
    return ", ".join(f"{name} {score:.1%}" for name, score in scores.items())


if __name__ == "__main__":
    sys.exit(main())
