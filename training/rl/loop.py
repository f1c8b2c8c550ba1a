"""A run of MaskablePPO: phases of updates, each of which ends with a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

import numpy as np
import torch
from tensorboard.summary import Writer

from agents.agent import PlayerAgent
from agents.registry import make
from agents.search.workspace import table_bits, workspace
from agents.single_agent.vector_env import CompiledOpponent
from checkers_env.files import write_atomically
from training.evolution.metrics import append_row
from training.league.entrants import search_depth
from training.rl.actor import actor_of
from training.rl.checkpoint import Run, load_run, save_run
from training.rl.config import Settings
from training.rl.evaluation import YARDSTICKS, evaluate
from training.rl.game_pool import Ended, Games
from training.rl.model import as_zip, new_model
from training.rl.opponent_pool import Pool
from training.rl.plots import plot_scores
from training.rl.ppo_update import roll_out, update
from training.runtime.curves import to_csv
from training.trainer.checkpoint import FILE_NAME

CHAMPION_FILE, CURVE_FILE, PLOT_FILE = "champion.zip", "curve.csv", "curve.png"


def begin(settings: Settings) -> Run:
    """The start of a new run, or of one to be gone on with.

    Raises ValueError for a folder that holds a run when it should not, or none when it should, and
    for players of the zoo that are none.
    """
    torch.set_num_threads(settings.threads)
    if (settings.folder / FILE_NAME).exists() and not settings.resume:
        raise ValueError(
            f"{str(settings.folder)!r} already holds a run: go on with it by --resume, "
            "or choose another folder by --out"
        )
    zoo(settings, np.random.default_rng(0))  # raises for what is no player, before there is a run
    rng = np.random.default_rng(settings.seed)
    model = new_model(settings.learning, settings.games, settings.seed, rng)
    games = Games(settings.games, settings.former + len(settings.zoo), settings.alone, rng)
    run = Run(model, games, Pool(), rng)
    if settings.resume:
        load_run(settings.folder, run, settings.identity)
    else:
        settings.folder.mkdir(parents=True, exist_ok=True)
        run.pool.keep(actor_of(model.policy))
        save_run(settings.folder, run, settings.identity)
    if run.steps >= settings.steps:
        raise ValueError(
            f"the run in {str(settings.folder)!r} has come to its end, and its learning rate to 0: "
            "a longer one is a run of its own, in another folder (--out)"
        )
    return run


def carry_out(settings: Settings, run: Run, progress: Callable[[Run], None]) -> None:
    """Go on to the last step, telling `progress` of each update and each checkpoint.

    When it is interrupted, what was reached since the last checkpoint is lost, and comes about
    again when the run is gone on with.
    """
    with closing(Writer(str(settings.folder))) as log:
        if not run.history:
            record(run, measure(settings, run), log)
            progress(run)
        while run.steps < settings.steps:
            measured = phase(settings, run, progress)
            run.pool.keep(actor_of(run.model.policy))
            record(run, measured | measure(settings, run), log)
            save(settings, run)
            log.flush()
            progress(run)


def phase(settings: Settings, run: Run, progress: Callable[[Run], None]) -> dict[str, float]:
    """The updates up to the next checkpoint; return what is measured of them."""
    began, before = time.process_time(), run.steps
    former = run.pool.draw(settings.former, run.rng)
    run.games.meet([*(run.pool.actors[it] for it in former), *zoo(settings, run.rng)])
    rows, ended = [], []
    for _ in range(settings.every):
        ended += roll_out(run.model, run.games, run.rng)
        rows.append(update(run.model, settings.learning, 1 - run.steps / settings.steps))
        run.steps += settings.games * settings.learning.rollout
        progress(run)
        if run.steps >= settings.steps:
            break
    done = Ended(*map(np.concatenate, zip(*ended, strict=True)))
    for slot, index in enumerate(former):
        run.pool.note(index, done.rewards[done.slots == slot])
    measured = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    speed = (run.steps - before) / (time.process_time() - began)
    return measured | of_games(settings, done) | {"speed/steps_per_cpu_second": speed}


def zoo(settings: Settings, rng: np.random.Generator) -> list[CompiledOpponent]:
    """The players of the zoo, with nothing in memory. Raises ValueError for what is no such."""
    players = []
    for name in settings.zoo:
        agent = make(name)
        if search_depth(agent) is not None:
            agent = make(name, depth=settings.zoo_depth)
        if not isinstance(agent, PlayerAgent):
            raise ValueError(f"{name!r} in the zoo is no compiled player")
        luck = np.random.default_rng(rng.integers(2**63))
        players.append(CompiledOpponent(agent.player, workspace(table_bits(agent.player)), luck))
    return players


def of_games(settings: Settings, done: Ended) -> dict[str, float]:
    """What is measured of games that have ended, but for kinds of which there were none."""
    alone = done.slots == settings.former + len(settings.zoo)
    kinds = {
        "games/draws": done.rewards[alone] == 0,
        "games/plies": done.plies,
        "games/score_former": (done.rewards[done.slots < settings.former] + 1) / 2,
        "games/score_zoo": (done.rewards[~alone & (done.slots >= settings.former)] + 1) / 2,
    }
    return {name: float(values.mean()) for name, values in kinds.items() if len(values)}


def measure(settings: Settings, run: Run) -> dict[str, float]:
    """The score of the policy as it is against each yardstick; nothing depends on these games."""
    actor, drawn = actor_of(run.model.policy), (settings.seed, run.steps)
    return {
        f"score/{name}": evaluate(
            actor, yardstick, settings.measured_by, np.random.default_rng((*drawn, number))
        ).score
        for number, (name, yardstick) in enumerate(YARDSTICKS.items())
    }


def record(run: Run, measured: dict[str, float], log: Writer) -> None:
    """Add a row to the history, and tell TensorBoard."""
    measured = {"steps": float(run.steps), **measured}
    run.history = append_row(run.history, measured)
    for name, number in measured.items():
        log.add_scalar(name, number, run.steps)


def save(settings: Settings, run: Run) -> None:
    """Write the policy, the table and the picture of what was measured, and the checkpoint."""
    folder, columns = settings.folder, {"steps": run.history["steps"], **run.history}
    write_atomically(folder / CHAMPION_FILE, as_zip(run.model))
    write_atomically(folder / CURVE_FILE, to_csv(columns))
    plot_scores(run.history, f"MaskablePPO, seed {settings.seed}", folder / PLOT_FILE)
    save_run(folder, run, settings.identity)
