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
from training.evolution.evaluation import curve, is_spread, scores
from training.evolution.game_runner import Arena, open_arena
from training.evolution.metrics import (
    Metrics,
    of_evaluator,
    of_population,
    sample_positions,
    with_row,
)
from training.evolution.state import State
from training.regimes import DeepSelfPlay, Regime
from training.runtime.curves import as_csv, plot_curve
from training.runtime.executors import check_executor
from training.runtime.validation import check
from training.trainer.checkpoint import (
    FILE_NAME,
    Checkpoint,
    check_same,
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
class Plan:
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
        check(self, RANGES)
        if self.yardstick_every and self.regime.max_moves < 2:
            raise ValueError(
                "max_moves must be at least 2: the games of the performance curve begin with a "
                "move by each side (or give yardstick_every 0)"
            )

    @property
    def identity(self) -> dict[str, Any]:
        """What the results of a run depend on, beside its number of generations."""
        return {"name": self.name, **asdict(self.regime), "seed": self.seed}


def begin(plan: Plan) -> Checkpoint:
    """The start of a new run.

    Raises ValueError if the folder holds one already, or for an executor that there is not.
    """
    check_executor(plan.executor, plan.threads, plan.address)
    plan.folder.mkdir(parents=True, exist_ok=True)
    if (plan.folder / FILE_NAME).exists():
        otherwise = "choose another folder by --out"
        try:
            there = load_checkpoint(plan.folder).identity
        except ValueError as error:
            raise ValueError(f"no run can begin here, {otherwise}: {error}") from None
        check_same(plan.folder, there, plan.identity)
        raise ValueError(
            f"{str(plan.folder)!r} already holds a run: go on with it by --resume, or {otherwise}"
        )
    checkpoint = Checkpoint(plan.regime.init(plan.seed), {}, plan.identity)
    save_checkpoint(plan.folder, checkpoint)
    return checkpoint


def resume(plan: Plan) -> Checkpoint:
    """The last checkpoint of a run.

    Raises ValueError if there is none, if it is of another run, or if nothing is left to do.
    """
    checkpoint = load_checkpoint(plan.folder)
    check_same(plan.folder, checkpoint.identity, plan.identity)
    if checkpoint.state.generation >= plan.generations:
        raise ValueError(
            f"{str(plan.folder)!r} has reached generation {checkpoint.state.generation}: "
            "to go on, ask for more by --generations"
        )
    return checkpoint


def carry_out(
    plan: Plan, checkpoint: Checkpoint, progress: Callable[[State, Metrics], None]
) -> Checkpoint:
    """Run to the last generation, telling `progress` of each; return the final checkpoint.

    Whatever stops it, what was reached by then is saved first.
    """
    positions = sample_positions()
    with (
        open_arena(plan.threads, plan.engine, plan.executor, plan.address) as arena,
        closing(Writer(str(plan.folder))) as log,
    ):
        try:
            if not checkpoint.history:
                checkpoint = recorded(checkpoint, measure(plan, checkpoint.state, arena, positions))
                write_events(log, checkpoint)
            while checkpoint.state.generation < plan.generations:
                checkpoint = generation(plan, checkpoint, arena, positions)
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
    plan: Plan, checkpoint: Checkpoint, arena: Arena, positions: Sequence[Position]
) -> Checkpoint:
    """Let one generation pass, and measure it."""
    began = time.thread_time() + arena.seconds
    state, measured = plan.regime.step(checkpoint.state, arena)
    speed = plan.regime.games / (time.thread_time() + arena.seconds - began)
    measured |= {SPEED: speed} | measure(plan, state, arena, positions)
    if isinstance(plan.regime, DeepSelfPlay) and plan.yardstick_every:
        measured |= own_scores(plan.regime, plan.seed, state, arena)
    return recorded(replace(checkpoint, state=state), measured)


def measure(plan: Plan, state: State, arena: Arena, positions: Sequence[Position]) -> Metrics:
    """The parents of a state, before they replicate."""
    players = plan.regime.contenders(state)
    measured = of_population(state.population.pick(slice(len(players))))
    measured |= of_evaluator(players[0].evaluator, positions)
    if plan.yardstick_every and state.generation % plan.yardstick_every == 0:
        measured |= curve(players, plan.seed, state.generation, plan.regime.rules, arena)
    return measured


def own_scores(regime: DeepSelfPlay, seed: int, state: State, arena: Arena) -> Metrics:
    """The player against the regime's own yardsticks, at generations further and further apart."""
    if not is_spread(state.generation):
        return {}
    (player,), drawn = regime.contenders(state), (seed, state.generation)
    return scores(player, regime.yardsticks, regime.cards, drawn, regime.rules, arena)


def recorded(checkpoint: Checkpoint, measured: Metrics) -> Checkpoint:
    """The checkpoint with another row of history."""
    return replace(checkpoint, history=with_row(checkpoint.history, measured))


def latest(history: dict[str, list[float]]) -> Metrics:
    """What was measured last."""
    return {name: row[-1] for name, row in history.items() if not math.isnan(row[-1])}


def write_events(log: Writer, checkpoint: Checkpoint) -> None:
    """Tell TensorBoard what was measured last."""
    for name, number in latest(checkpoint.history).items():
        log.add_scalar(name, number, checkpoint.state.generation)


def save_results(plan: Plan, checkpoint: Checkpoint) -> None:
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
    write_atomically(plan.folder / CURVE_FILE, as_csv(measurements))
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
