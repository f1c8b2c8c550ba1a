"""The one loop that every regime runs in: init, then step, measure, log and checkpoint."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tensorboard.summary import Writer

from agents.search.interrupt import undisturbed
from agents.weights import WeightsMetadata, save_weights
from checkers_env.files import write_atomically
from checkers_env.movegen import Position
from training.evolution.evaluation import curve, is_log_spaced, scores
from training.evolution.game_runner import GameRunner, open_game_runner
from training.evolution.metrics import (
    Metrics,
    append_row,
    evaluator_metrics,
    population_metrics,
    sample_positions,
)
from training.evolution.state import State
from training.regimes import Regime, TreeStrap
from training.runtime.curves import plot_curve, to_csv
from training.runtime.executors import check_executor
from training.runtime.validation import validate_ranges
from training.trainer.checkpoint import (
    FILE_NAME,
    Checkpoint,
    check_same_run,
    load_checkpoint,
    save_checkpoint,
)

CHAMPION_FILE, CURVE_FILE, PLOT_FILE = "champion.safetensors", "curve.csv", "curve.png"
SPEED = "speed/games_per_cpu_second"  # a measurement
LIBRARIES = ("checkers-laboratory", "numba", "llvmlite", "numpy")

RANGES = {
    "generations": (1, math.inf),
    "seed": (0, math.inf),
    "threads": (1, math.inf),
    "yardstick_every": (0, math.inf),
    "checkpoint_every": (1, math.inf),
}


@dataclass(frozen=True)
class RunConfig:
    """A run: what identifies it, and how it is to be carried out.

    Attributes
    ----------
    yardstick_every
        Generations between two points of the performance curve; 0 for none.
    checkpoint_every
        Generations between two checkpoints.
    executor, address
        Where games are played (see :func:`training.runtime.executors.open_executor`).
    """

    name: str
    regime: Regime
    generations: int
    seed: int
    folder: Path
    threads: int = 1
    engine: str = "kernel"
    yardstick_every: int = 1
    checkpoint_every: int = 10
    executor: str = "threads"
    address: str | None = None

    def __post_init__(self) -> None:
        validate_ranges(self, RANGES)
        if self.yardstick_every and self.regime.max_moves < 2:
            raise ValueError(
                "max_moves must be at least 2: the games of the performance curve begin with a "
                "move by each side (or give yardstick_every 0)"
            )

    @property
    def config_key(self) -> dict[str, Any]:
        """What the results of a run depend on, beside its number of generations."""
        return {"name": self.name, **asdict(self.regime), "seed": self.seed}


def begin(plan: RunConfig) -> Checkpoint:
    """The start of a new run.

    Raises ValueError if the folder holds one already, or for an executor that there is not.
    """
    check_executor(plan.executor, plan.threads, plan.address)
    plan.folder.mkdir(parents=True, exist_ok=True)
    if (plan.folder / FILE_NAME).exists():
        otherwise = "choose another folder by --out"
        try:
            there = load_checkpoint(plan.folder).config_key
        except ValueError as error:
            raise ValueError(f"no run can begin here, {otherwise}: {error}") from None
        check_same_run(plan.folder, there, plan.config_key)
        raise ValueError(
            f"{str(plan.folder)!r} already holds a run: go on with it by --resume, or {otherwise}"
        )
    checkpoint = Checkpoint(plan.regime.init(plan.seed), {}, plan.config_key)
    save_checkpoint(plan.folder, checkpoint)
    return checkpoint


def resume(plan: RunConfig) -> Checkpoint:
    """The last checkpoint of a run.

    Raises ValueError if there is none, if it is of another run, or if nothing is left to do.
    """
    checkpoint = load_checkpoint(plan.folder)
    check_same_run(plan.folder, checkpoint.config_key, plan.config_key)
    if checkpoint.state.generation >= plan.generations:
        raise ValueError(
            f"{str(plan.folder)!r} has reached generation {checkpoint.state.generation}: "
            "to go on, ask for more by --generations"
        )
    return checkpoint


def train(
    plan: RunConfig, checkpoint: Checkpoint, progress: Callable[[State, Metrics], None]
) -> Checkpoint:
    """Run to the last generation, telling `progress` of each; return the final checkpoint.

    Whatever stops it, what was reached by then is saved first.
    """
    positions = sample_positions()
    with (
        open_game_runner(plan.threads, plan.engine, plan.executor, plan.address) as runner,
        closing(Writer(str(plan.folder))) as log,
    ):
        try:
            if not checkpoint.history:
                checkpoint = recorded(
                    checkpoint, measure(plan, checkpoint.state, runner, positions)
                )
                write_events(log, checkpoint)
            while checkpoint.state.generation < plan.generations:
                checkpoint = generation(plan, checkpoint, runner, positions)
                write_events(log, checkpoint)
                if checkpoint.state.generation % plan.checkpoint_every == 0:
                    save_results(plan, checkpoint)
                    save_checkpoint(plan.folder, checkpoint)
                    log.flush()
                progress(checkpoint.state, latest(checkpoint.history))
        finally:
            with undisturbed():  # a second Ctrl-C must not keep the first one from saving
                save_results(plan, checkpoint)
                title = f"{plan.name}, seed {plan.seed}"
                plot_curve(checkpoint.history, title, plan.folder / PLOT_FILE)
                save_checkpoint(plan.folder, checkpoint)
    return checkpoint


def generation(
    plan: RunConfig, checkpoint: Checkpoint, runner: GameRunner, positions: Sequence[Position]
) -> Checkpoint:
    """Let one generation pass, and measure it."""
    began = time.thread_time() + runner.seconds
    state, measured = plan.regime.step(checkpoint.state, runner)
    speed = plan.regime.games / (time.thread_time() + runner.seconds - began)
    measured |= {SPEED: speed} | measure(plan, state, runner, positions)
    if isinstance(plan.regime, TreeStrap) and plan.yardstick_every:
        measured |= own_scores(plan.regime, plan.seed, state, runner)
    return recorded(replace(checkpoint, state=state), measured)


def measure(
    plan: RunConfig, state: State, runner: GameRunner, positions: Sequence[Position]
) -> Metrics:
    """The parents of a state, before they replicate."""
    players = plan.regime.contenders(state)
    measured = population_metrics(state.population.pick(slice(len(players))))
    measured |= evaluator_metrics(players[0].evaluator, positions)
    if plan.yardstick_every and state.generation % plan.yardstick_every == 0:
        measured |= curve(players, plan.seed, state.generation, plan.regime.rules, runner)
    return measured


def own_scores(regime: TreeStrap, seed: int, state: State, runner: GameRunner) -> Metrics:
    """The player against the regime's own yardsticks, at generations further and further apart."""
    if not is_log_spaced(state.generation):
        return {}
    (player,), drawn = regime.contenders(state), (seed, state.generation)
    return scores(player, regime.yardsticks, regime.cards, drawn, regime.rules, runner)


def recorded(checkpoint: Checkpoint, measured: Metrics) -> Checkpoint:
    """The checkpoint with another row of history."""
    return replace(checkpoint, history=append_row(checkpoint.history, measured))


def latest(history: dict[str, list[float]]) -> Metrics:
    """What was measured last."""
    return {name: row[-1] for name, row in history.items() if not math.isnan(row[-1])}


def write_events(log: Writer, checkpoint: Checkpoint) -> None:
    """Tell TensorBoard what was measured last."""
    for name, number in latest(checkpoint.history).items():
        log.add_scalar(name, number, checkpoint.state.generation)


def save_results(plan: RunConfig, checkpoint: Checkpoint) -> None:
    """Write the champion's weights, the table of measurements, and the regime's own files.

    The checkpoint is written after them: whoever is killed before goes on and writes them again.
    """
    state, regime = checkpoint.state, plan.regime
    champion = regime.champion(state)
    versions = {name: version(name) for name in LIBRARIES}
    metadata = WeightsMetadata(
        architecture=champion.architecture,
        king=champion.king,
        regime=plan.name,
        seed=plan.seed,
        generation=state.generation,
        depth=regime.depth,
        own_leaves=regime.own_leaves,
        mcts_options=champion.mcts_options,
        options=champion.options,
        versions=versions | {"python": platform.python_version()},
        extra={"score": float(state.scores[0]), "processor": processor()},
    )
    save_weights(plan.folder / CHAMPION_FILE, champion.genome, metadata)
    measurements = {"generation": range(state.generation + 1), **checkpoint.history}
    write_atomically(plan.folder / CURVE_FILE, to_csv(measurements))
    for name, content in regime.files(state, metadata).items():
        write_atomically(plan.folder / name, content)


def processor() -> str:
    """The name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
