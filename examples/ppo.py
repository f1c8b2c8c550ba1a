"""Learn by MaskablePPO for seconds, then enter the policy as an agent. Needs the extra sb3."""

from pathlib import Path
from tempfile import TemporaryDirectory

import agents
import checkers_env
from training.rl.config import Learning, Settings
from training.rl.loop import begin, carry_out

learning = Learning(hidden=(64, 64), rollout=32, batch=512)
with TemporaryDirectory() as folder:
    settings = Settings(
        learning, steps=50_000, games=64, every=8, measured_by=100, threads=1, out=Path(folder)
    )
    run = begin(settings)
    carry_out(settings, run, progress=lambda run: None)
    champion = agents.make(f"{folder}/champion.zip")

for steps, score in zip(run.history["steps"], run.history["score/random"], strict=True):
    print(f"after {steps:6,.0f} actions it scores {score:.0%} against a random player")

board, players = checkers_env.Board(), [champion, agents.make("random", seed=1)]
while not board.outcome():
    board.push(players[board.turn].act(board))
print(f"Black learned, White plays at random: {board.outcome()}")
