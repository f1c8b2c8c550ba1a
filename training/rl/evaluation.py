"""How strong an actor is: games against players that do not change."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.baselines.heuristic import Heuristic
from agents.baselines.material import Material
from agents.baselines.random_player import Uniform
from agents.search.interrupt import undisturbed
from agents.search.player import AlphaBeta
from agents.search.workspace import workspace
from agents.single_agent.vector_env import play_opponent
from checkers_env.envs import vector_kernels as kernels
from checkers_env.envs.vector_kernels import new_batch, opening_states
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from training.rl.actor import Actor, best, logits
from training.rl.game_pool import RULES, act_in, going_on, look_at

YARDSTICKS: dict[str, Any] = {
    "random": Uniform(),
    "heuristic": Heuristic(),
    "material-1": AlphaBeta(Material(), 1, random_ties=True),
    "material-2": AlphaBeta(Material(), 2, random_ties=True),
}


class Tally(NamedTuple):
    """Games counted, as the actor sees them."""

    won: int
    drawn: int
    lost: int

    @property
    def score(self) -> float:
        """A point for a win and half of one for a draw, in the mean of the games."""
        return (self.won + self.drawn / 2) / sum(self)


def evaluate(actor: Actor, player: Any, games: int, rng: np.random.Generator) -> Tally:
    """Games of an actor, at its best action, with a compiled player.

    From the cards of the two-move ballot in turn, each with Black and then with White.
    """
    batch = new_batch(games, opening_states(TWO_MOVE, RULES))._replace(
        choices=np.array([BLACK, WHITE])
    )
    numbers = np.arange(games)
    cards, colours = numbers // 2 % len(TWO_MOVE), numbers % 2
    kernels.begin_games(batch, batch.openings, numbers, cards + len(TWO_MOVE) * colours)
    batch.actors[:] = batch.seats
    ws = workspace()
    while True:
        with undisturbed():
            play_opponent(player, 0, batch, ws, rng)
        live = np.flatnonzero(going_on(batch))
        if not len(live):
            break
        seen, mask = look_at(batch, live)
        act_in(batch, live, best(logits(actor, seen), mask))
    outcome = kernels.empty_output(games)
    kernels.write_rewards(batch, outcome)
    return Tally(*(int((outcome.reward == reward).sum()) for reward in (1, 0, -1)))
