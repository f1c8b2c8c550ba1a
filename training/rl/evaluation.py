"""Evaluation of an actor: games against players that do not change, and the plot of its scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from agents.baselines.heuristic import Heuristic, RandomPlayer
from agents.baselines.material import Material
from agents.search.interrupt import defer_signals
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from agents.search.workspace import workspace
from agents.single_agent.vector_env import play_opponent
from checkers_env.envs import vector_kernels as kernels
from checkers_env.envs.vector_kernels import new_batch, opening_states
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from training.league.records import WinDrawLoss
from training.rl.game_pool import DRAW_RULES, observe, play_actions_in, unfinished
from training.rl.policy import Actor, greedy_actions, policy_logits
from training.runtime.curves import new_figure, save_figure

BASELINES: dict[str, Any] = {
    "random": RandomPlayer(),
    "heuristic": Heuristic(),
    "material-1": AlphaBeta(Material(), 1, tie=CHANCE),
    "material-2": AlphaBeta(Material(), 2, tie=CHANCE),
}


def evaluate_actor(actor: Actor, player: Any, games: int, rng: np.random.Generator) -> WinDrawLoss:
    """Play games between an actor and a compiled player.

    The cards of the two-move ballot come in turn, each with the actor as Black and then as White.
    """
    batch = new_batch(games, opening_states(TWO_MOVE, DRAW_RULES))._replace(
        choices=np.array([BLACK, WHITE])
    )
    numbers = np.arange(games)
    cards, colours = numbers // 2 % len(TWO_MOVE), numbers % 2
    kernels.begin_games(batch, batch.openings, numbers, cards + len(TWO_MOVE) * colours)
    batch.actors[:] = batch.seats
    ws = workspace()
    while True:
        with defer_signals():
            play_opponent(player, 0, batch, ws, rng)
        live = np.flatnonzero(unfinished(batch))
        if not len(live):
            break
        features, mask = observe(batch, live)
        play_actions_in(batch, live, greedy_actions(policy_logits(actor, features), mask))
    outcome = kernels.empty_output(games)
    kernels.write_rewards(batch, outcome)
    return WinDrawLoss(*(int((outcome.reward == reward).sum()) for reward in (1, 0, -1)))


def plot_scores(history: dict[str, list[float]], title: str, path: Path) -> None:
    """Plot the score against each baseline over the steps of training."""
    figure, axes = new_figure()
    millions = np.array(history["steps"]) / 1e6
    for number, name in enumerate(BASELINES):
        scores, style = history[f"score/{name}"], ("-", "--")[number % 2]  # curves may coincide
        axes.plot(millions, scores, marker=".", linestyle=style, label=f"against {name}")
    axes.axhline(0.5, color="grey", linewidth=0.7)
    axes.set(
        xlabel="millions of actions learned from",
        ylabel="score (a win 1, a draw ½)",
        ylim=(-0.02, 1.02),
        title=title,
    )
    save_figure(figure, path)
