"""Training loop: phases of updates, each of which ends with a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import numpy as np

from agents.agent import PlayerAgent
from agents.registry import make
from checkers_env.files import write_atomically
from training.evolution.metrics import append_row
from training.league.entrants import search_depth
from training.rl.config import PPOConfig
from training.runtime.curves import flush_scalars, to_csv, write_scalars
from training.trainer.checkpoint import FILE_NAME

try:
    import torch
    from tensorboard.summary import Writer

    from training.rl.checkpoint import PPORun, load_run, save_run
    from training.rl.evaluation import BASELINES, evaluate_actor, plot_scores
    from training.rl.game_pool import FinishedGames, GamePool, OpponentPool
    from training.rl.learner import collect_rollout, model_to_zip, new_model, update
    from training.rl.policy import copy_actor
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] in ("agents", "checkers_env", "training"):
        raise
    install = "pip install 'checkers-laboratory[sb3]'"
    raise ModuleNotFoundError(f"PPO needs {error.name}: {install}") from error

CHAMPION_FILE, CURVE_FILE, PLOT_FILE = "champion.zip", "curve.csv", "curve.png"


def start_run(config: PPOConfig) -> PPORun:
    """Start a new run, or restore the one to resume."""
    torch.set_num_threads(config.threads)
    if (config.folder / FILE_NAME).exists() and not config.resume:
        raise ValueError(
            f"{str(config.folder)!r} already holds a run: resume it by --resume, "
            "or choose another folder by --out"
        )
    make_zoo_opponents(config, np.random.default_rng(0))  # raises before there is a folder
    rng = np.random.default_rng(config.seed)
    model = new_model(config, rng)
    num_opponents = config.num_past_policies + len(config.zoo)
    games = GamePool(config.num_envs, num_opponents, config.self_play_share, rng)
    run = PPORun(model, games, OpponentPool(), rng)
    if config.resume:
        load_run(config.folder, run, config.key)
    else:
        config.folder.mkdir(parents=True, exist_ok=True)
        run.pool.add(copy_actor(model.policy))
        save_run(config.folder, run, config.key)
    if run.steps >= config.total_timesteps:
        raise ValueError(
            f"the run in {str(config.folder)!r} has come to its end, and its learning rate to 0: "
            "a longer one is a run of its own, in another folder (--out)"
        )
    return run


def train(config: PPOConfig, run: PPORun, progress: Callable[[PPORun], None]) -> None:
    """Train to the last step.

    An interruption loses the updates after the last checkpoint; a resumed run repeats them.
    """
    with closing(Writer(str(config.folder))) as log:
        if not run.history:
            log_metrics(run, evaluate_run(config, run), log)
            progress(run)
        while run.steps < config.total_timesteps:
            metrics = run_phase(config, run, progress)
            run.pool.add(copy_actor(run.model.policy))
            log_metrics(run, metrics | evaluate_run(config, run), log)
            save_outputs(config, run)
            flush_scalars(log)
            progress(run)


def run_phase(
    config: PPOConfig, run: PPORun, progress: Callable[[PPORun], None]
) -> dict[str, float]:
    """Run the updates up to the next checkpoint; return their metrics."""
    began, before = time.process_time(), run.steps
    past = run.pool.sample(config.num_past_policies, run.rng)
    actors = [run.pool.actors[index] for index in past]
    run.games.set_opponents([*actors, *make_zoo_opponents(config, run.rng)])
    rows, ended = [], []
    for _ in range(config.checkpoint_interval):
        ended += collect_rollout(run.model, run.games, run.rng)
        rows.append(update(run.model, config, 1 - run.steps / config.total_timesteps))
        run.steps += config.num_envs * config.num_steps
        progress(run)
        if run.steps >= config.total_timesteps:
            break
    finished = FinishedGames(*map(np.concatenate, zip(*ended, strict=True)))
    for slot, index in enumerate(past):
        run.pool.update_score(index, finished.rewards[finished.slots == slot])
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    speed = (run.steps - before) / (time.process_time() - began)
    return means | game_metrics(config, finished) | {"speed/steps_per_cpu_second": speed}


def make_zoo_opponents(config: PPOConfig, rng: np.random.Generator) -> list[PlayerAgent]:
    """Return the players of the zoo with empty workspaces. Raise ValueError for unknown ones."""
    players = []
    for name in config.zoo:
        agent = make(name)
        if search_depth(agent) is not None:
            agent = make(name, depth=config.zoo_depth)
        if not isinstance(agent, PlayerAgent) or agent.blunder:
            raise ValueError(f"{name!r} in the zoo is no compiled player, or blunders")
        own_rng = np.random.default_rng(rng.integers(2**63))
        players.append(replace(agent, rng=own_rng))
    return players


def game_metrics(config: PPOConfig, games: FinishedGames) -> dict[str, float]:
    """Return the metrics of finished games, without those of kinds that were not played."""
    self_play = games.slots == config.num_past_policies + len(config.zoo)
    past = games.slots < config.num_past_policies
    values = {
        "games/draws": games.rewards[self_play] == 0,
        "games/plies": games.plies,
        "games/score_former": (games.rewards[past] + 1) / 2,
        "games/score_zoo": (games.rewards[~self_play & ~past] + 1) / 2,
    }
    return {name: float(array.mean()) for name, array in values.items() if len(array)}


def evaluate_run(config: PPOConfig, run: PPORun) -> dict[str, float]:
    """Return the policy's score against each baseline; the run's generator is not used."""
    actor, seed = copy_actor(run.model.policy), (config.seed, run.steps)
    return {
        f"score/{name}": evaluate_actor(
            actor, baseline, config.eval_games, np.random.default_rng((*seed, number))
        ).score
        for number, (name, baseline) in enumerate(BASELINES.items())
    }


def log_metrics(run: PPORun, metrics: dict[str, float], log: Writer) -> None:
    """Add a row to the history and to TensorBoard."""
    metrics = {"steps": float(run.steps), **metrics}
    run.history = append_row(run.history, metrics)
    write_scalars(log, metrics, run.steps)


def save_outputs(config: PPOConfig, run: PPORun) -> None:
    """Write the policy, the curve as table and plot, and the checkpoint."""
    folder, columns = config.folder, {"steps": run.history["steps"], **run.history}
    write_atomically(folder / CHAMPION_FILE, model_to_zip(run.model))
    write_atomically(folder / CURVE_FILE, to_csv(columns))
    plot_scores(run.history, f"MaskablePPO, seed {config.seed}", folder / PLOT_FILE)
    save_run(folder, run, config.key)
