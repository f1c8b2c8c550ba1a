"""Train a policy by MaskablePPO in self-play.

    python training/ppo.py [options]

The policy plays both sides of most games; in the others it meets its past policies and the zoo. The
folder of a run holds a checkpoint, the policy as champion.zip (for training/benchmark.py), the
scores against the baselines (curve.csv, curve.png), and the logs of TensorBoard (tensorboard
--logdir runs). Needs torch and the extra sb3.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from training.rl.config import PPOConfig, validate_config
from training.runtime.cli import in_folder, read_options, run_command
from training.trainer.checkpoint import FILE_NAME


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(run_ppo)


def run_ppo(arguments: list[str], console: Console) -> None:
    """Read the command line and train."""
    config = read_options(PPOConfig, arguments, "python training/ppo.py", __doc__)
    validate_config(config)
    from training.rl.loop import CHAMPION_FILE, PLOT_FILE, start_run, train

    files = FILE_NAME, CHAMPION_FILE, PLOT_FILE

    def complete() -> bool:
        from training.rl.checkpoint import saved_steps

        return saved_steps(config.folder) >= config.total_timesteps

    with in_folder(config.folder, *files, console, complete, kept="the last checkpoint is kept"):
        run = start_run(config)
        with _show_progress(config, run, console) as progress:
            train(config, run, progress)


@contextmanager
def _show_progress(
    config: PPOConfig, run: Any, console: Console
) -> Iterator[Callable[[Any], None]]:
    """Show a progress bar on a terminal, and a line for every checkpoint elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[scores]}"),
    )
    total = config.total_timesteps
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("ppo", total=total, completed=run.steps, rate="", scores="")
        printed = 0

        def progress(run: Any) -> None:
            nonlocal printed
            speed, scores = bar.tasks[0].speed or 0.0, format_scores(run.history)
            bar.update(task, completed=run.steps, rate=f"{speed:,.0f} actions/s", scores=scores)
            rows = len(run.history["steps"])
            if not console.is_terminal and rows > printed:
                printed = rows
                console.print(f"{run.history['steps'][-1]:,.0f} of {total:,}: {scores}")

        yield progress


def format_scores(history: dict[str, list[float]]) -> str:
    """Return the scores of the last checkpoint as text."""
    scores = [(name, row[-1]) for name, row in history.items() if "score/" in name]
    return ", ".join(f"{name.removeprefix('score/')} {score:.1%}" for name, score in scores)


if __name__ == "__main__":
    sys.exit(main())
