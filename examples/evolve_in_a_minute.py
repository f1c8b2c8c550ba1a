"""Evolve networks in a minute by Blondie24's method with a search of 2 plies.

The command line does the same with a progress bar, curves and checkpoints: training/evolve.py.
"""

from dataclasses import replace

import numpy as np

from agents.match import play_game
from checkers_env.openings import TWO_MOVE
from training.evolution.game_runner import open_game_runner
from training.trainer.presets import PRESETS

GENERATIONS = 30

regime = replace(PRESETS["blondie24-2001"].regime, depth=2)
state = regime.init(seed=1)
first = regime.contenders(state)[0]
with open_game_runner(workers=2) as runner:
    for _ in range(GENERATIONS):
        state, metrics = regime.step(state, runner)
        if state.generation % 10 == 0:
            print(f"generation {state.generation}: {metrics['games/draws']:.0%} of games drawn")

last, points = regime.contenders(state)[0], 0.0
for opening in TWO_MOVE:
    for black, white in ((last, first), (first, last)):
        winner = play_game(
            black, white, opening=opening, rng=np.random.default_rng(0)
        ).result.winner
        points += {0: black is last, 1: white is last}.get(winner, 0.5)
print(f"The champion scores {points:g} of {2 * len(TWO_MOVE)} against the first one")
