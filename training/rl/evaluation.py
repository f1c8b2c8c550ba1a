"""Evaluation of an actor: games against players that do not change."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.baselines.heuristic import Heuristic
from agents.baselines.material import Material
from agents.baselines.random_player import RandomPlayer
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
from training.rl.actor import Actor, greedy_actions, policy_logits
from training.rl.game_pool import DRAW_RULES, observe, play_actions_in, unfinished

BASELINES: dict[str, Any] = {
    "random": RandomPlayer(),
    "heuristic": Heuristic(),
    "material-1": AlphaBeta(Material(), 1, tie=CHANCE),
    "material-2": AlphaBeta(Material(), 2, tie=CHANCE),
}


def evaluate_actor(actor: Actor, player: Any, games: int, rng: np.random.Generator) -> WinDrawLoss:
    """Play games between an actor and a compiled player.

    The cards of the two-move ballot come in turn, each with the actor as Black and then as White.

    Parameters
    ----------
    actor
        Plays its most probable action.
    player
        The opponent, as a player tuple of a kernel.
    games
        Number of games.
    rng
        Randomness of the opponent.

    Returns
    -------
    The actor's wins, draws and losses.
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
