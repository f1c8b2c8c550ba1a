"""Training loop of every regime: init, then step, measure, log and save a checkpoint."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from agents.search.interrupt import defer_signals
from agents.weights import LARGEST_WEIGHT, WeightsMetadata, save_weights
from checkers_env.files import write_atomically
from checkers_env.movegen import Position
from training.evolution.evaluation import performance_curve
from training.evolution.game_runner import GameRunner, open_game_runner
from training.evolution.metrics import (
    Metrics,
    append_row,
    evaluator_metrics,
    sample_positions,
)
from training.evolution.state import State
from training.regimes import Regime, constants_of, regimes
from training.runtime.curves import flush_scalars, plot_curve, to_csv, write_scalars
from training.runtime.executors import check_executor
from training.runtime.machine import processor, versions
from training.runtime.validation import Range, validate_ranges
from training.trainer.checkpoint import (
    FILE_NAME,
    Checkpoint,
    check_same_run,
    load_checkpoint,
    save_checkpoint,
)

if TYPE_CHECKING:
    from tensorboard.summary import Writer

CHAMPION_FILE, CURVE_FILE, PLOT_FILE = "champion.safetensors", "curve.csv", "curve.png"
CHAMPIONS_FOLDER = "champions"  # of the champions that a run keeps
SPEED = "speed/games_per_cpu_second"  # a metric


@dataclass(frozen=True)
class RunConfig:
    """Configuration of a run.

    Attributes
    ----------
    name
        Name of the preset.
    generations
        Generations in all, those of a resumed run included.
    folder
        Folder of the run, as a path or its text.
    threads
        Games at once.
    engine
        ``"kernel"`` (compiled) or ``"env"`` (the AEC environment, slow).
    curve_every, checkpoint_every
        Generations between points of the curve (0 for none), and between checkpoints.
    champion_every
        Generations between champions that are kept; 0 keeps only the last one.
    executor, address, plot
        As for :func:`training.runtime.executors.open_executor`; whether the curve is drawn.
    """

    name: str
    regime: Regime
    generations: Annotated[int, Range(1)]
    seed: Annotated[int, Range(0)]
    folder: Path
    threads: Annotated[int, Range(1)] = 1
    engine: str = "kernel"
    curve_every: Annotated[int, Range(0)] = 1
    checkpoint_every: Annotated[int, Range(1)] = 10
    champion_every: Annotated[int, Range(0)] = 0
    executor: str = "threads"
    address: str | None = None
    plot: bool = True

    def __post_init__(self) -> None:
        validate_ranges(self)
        object.__setattr__(self, "folder", Path(self.folder))
        if isinstance(self.regime, type) or not hasattr(self.regime, "kind"):
            raise ValueError(
                "regime must be an object of a regime's class, such as Coevolution() or "
                f"PRESETS['c0'].regime, not {self.regime!r:.100}"
            )
        if self.regime.kind not in regimes():
            name = type(self.regime).__name__
            raise ValueError(f"{name} is not registered: decorate it by training.regimes.register")
        if self.curve_every and self.regime.rules.max_moves == 1:
            raise ValueError(
                "max_moves must be at least 2: the games of the performance curve begin with a "
                "move by each side (or give curve_every 0)"
            )

    @property
    def config_key(self) -> dict[str, Any]:
        """Everything that decides the results of a run, except its number of generations."""
        constants = constants_of(self.regime)
        return {"name": self.name, "kind": self.regime.kind, **constants, "seed": self.seed}


def begin(config: RunConfig) -> Checkpoint:
    """Start a new run; return its first checkpoint.

    Raises
    ------
    ValueError
        If the folder holds a run already, or for an executor that does not exist.
    """
    check_executor(config.executor, config.threads, config.address)
    config.folder.mkdir(parents=True, exist_ok=True)
    if (config.folder / FILE_NAME).exists():
        otherwise = "choose another folder by --out"
        try:
            saved = load_checkpoint(config.folder).config_key
        except ValueError as error:
            raise ValueError(f"no run can begin here, {otherwise}: {error}") from None
        check_same_run(config.folder, saved, config.config_key)
        raise ValueError(
            f"{str(config.folder)!r} already holds a run: resume it by --resume (in Python, by "
            f"resume(config)), or {otherwise}"
        )
    checkpoint = Checkpoint(config.regime.init(config.seed), {}, config.config_key)
    save_checkpoint(config.folder, checkpoint)
    return checkpoint


def resume(config: RunConfig) -> Checkpoint:
    """Return the last checkpoint of a run.

    Raises
    ------
    ValueError
        If there is none, if it is of another run, or if no generation is left and no file missing.
    """
    checkpoint = load_checkpoint(config.folder)
    check_same_run(config.folder, checkpoint.config_key, config.config_key)
    if is_complete(config, checkpoint):
        raise ValueError(
            f"{str(config.folder)!r} has reached generation {checkpoint.state.generation}: "
            "to go on, ask for more by --generations"
        )
    return checkpoint


def is_complete(config: RunConfig, checkpoint: Checkpoint) -> bool:
    """Return whether no generation is left and no file is missing."""
    return checkpoint.state.generation >= config.generations and not missing_files(config)


def missing_files(config: RunConfig) -> list[str]:
    """Return the names of a run's files that a kill in its last second has left out."""
    names = (CHAMPION_FILE, CURVE_FILE, *([PLOT_FILE] if config.plot else []))
    return [name for name in names if not (config.folder / name).exists()]


def train(
    config: RunConfig, checkpoint: Checkpoint, progress: Callable[[State, Metrics], None]
) -> Checkpoint:
    """Train to the last generation; save the progress if something stops it.

    What a generation leaves is written before it counts as reached. If a signal comes in between,
    a resumed run computes the generation again. Where no generation is left, only write the run's
    files again.

    Parameters
    ----------
    config
        Configuration of the run.
    checkpoint
        Start, from :func:`begin` or :func:`resume`.
    progress
        Called with the state and the metrics of each generation.

    Returns
    -------
    The final checkpoint.
    """
    from tensorboard.summary import Writer  # takes a second to import

    if checkpoint.state.generation >= config.generations:
        save_outputs(config, checkpoint)
        return checkpoint
    positions = sample_positions()
    with (
        open_game_runner(config.threads, config.engine, config.executor, config.address) as runner,
        closing(Writer(str(config.folder))) as log,
    ):
        try:
            if not checkpoint.history:
                metrics = measure(config, checkpoint.state, runner, positions)
                checkpoint = record(config, with_metrics(checkpoint, metrics), log)
            while checkpoint.state.generation < config.generations:
                following = run_generation(config, checkpoint, runner, positions)
                checkpoint = record(config, following, log)
                if checkpoint.state.generation % config.checkpoint_every == 0:
                    save_results(config, checkpoint)
                    save_checkpoint(config.folder, checkpoint)
                    flush_scalars(log)
                progress(checkpoint.state, latest_metrics(checkpoint.history))
        finally:
            with defer_signals():  # a second Ctrl-C must not keep the first one from saving
                try:
                    save_outputs(config, checkpoint)
                finally:
                    save_checkpoint(config.folder, checkpoint)
    return checkpoint


def record(config: RunConfig, checkpoint: Checkpoint, log: Writer) -> Checkpoint:
    """Write the last row for TensorBoard, and the champion if its turn has come."""
    write_events(log, checkpoint)
    keep_champion(config, checkpoint.state)
    return checkpoint


def run_generation(
    config: RunConfig, checkpoint: Checkpoint, runner: GameRunner, positions: Sequence[Position]
) -> Checkpoint:
    """Run and measure one generation; `positions` are those of evaluator_metrics."""
    regime, began = config.regime, time.thread_time() + runner.seconds
    state, metrics = regime.step(checkpoint.state, runner)
    speed = regime.games / (time.thread_time() + runner.seconds - began)
    metrics |= {SPEED: speed} | measure(config, state, runner, positions)
    return with_metrics(replace(checkpoint, state=state), metrics)


def measure(
    config: RunConfig, state: State, runner: GameRunner, positions: Sequence[Position]
) -> Metrics:
    """Measure the parents of a state before they replicate."""
    regime = config.regime
    players = regime.contenders(state)
    metrics = regime.metrics(state) | evaluator_metrics(players[0].evaluator, positions)
    if config.curve_every and state.generation % config.curve_every == 0:
        metrics |= performance_curve(players, config.seed, state.generation, regime.rules, runner)
    return metrics


def with_metrics(checkpoint: Checkpoint, metrics: Metrics) -> Checkpoint:
    """Return the checkpoint with one more row of history."""
    return replace(checkpoint, history=append_row(checkpoint.history, metrics))


def latest_metrics(history: dict[str, list[float]]) -> Metrics:
    """Return the metrics of the last row."""
    return {name: row[-1] for name, row in history.items() if not math.isnan(row[-1])}


def write_events(log: Writer, checkpoint: Checkpoint) -> None:
    """Write the metrics of the last row for TensorBoard."""
    write_scalars(log, latest_metrics(checkpoint.history), checkpoint.state.generation)


def save_results(config: RunConfig, checkpoint: Checkpoint) -> None:
    """Write the champion's weights, the metrics and the regime's own files.

    The checkpoint is written after them: a run that is killed in between writes them again.
    """
    state = checkpoint.state
    metadata = save_champion(config, state, config.folder / CHAMPION_FILE)
    columns = {"generation": range(state.generation + 1), **checkpoint.history}
    write_atomically(config.folder / CURVE_FILE, to_csv(columns))
    for name, content in config.regime.files(state, metadata).items():
        write_atomically(config.folder / name, content)


def save_outputs(config: RunConfig, checkpoint: Checkpoint) -> None:
    """Write all files of a run but its checkpoint."""
    save_results(config, checkpoint)
    if config.plot:
        title = f"{config.name}, seed {config.seed}"
        plot_curve(checkpoint.history, title, config.folder / PLOT_FILE)


def save_champion(config: RunConfig, state: State, path: Path) -> WeightsMetadata:
    """Write the champion of a state as a weight file, and return the file's metadata.

    Raises
    ------
    ValueError
        For weights that no player can use.
    """
    genome, header = config.regime.champion(state)
    if not np.all(np.abs(genome) <= LARGEST_WEIGHT):
        raise ValueError(
            f"the champion of generation {state.generation} has weights that are no numbers, or "
            f"beyond {LARGEST_WEIGHT:g}: no player can use them; try smaller steps"
        )
    metadata = replace(
        header,
        regime=config.name,
        seed=config.seed,
        versions=versions(),
        extra=header.extra | {"processor": processor()},
    )
    save_weights(path, genome, metadata)
    return metadata


def keep_champion(config: RunConfig, state: State) -> None:
    """Write the champion of a generation to the run's folder of champions, if its turn has come."""
    if config.champion_every and state.generation % config.champion_every == 0:
        folder = config.folder / CHAMPIONS_FOLDER
        folder.mkdir(exist_ok=True)
        name = f"{config.name}-seed-{config.seed}-generation-{state.generation}.safetensors"
        save_champion(config, state, folder / name)
