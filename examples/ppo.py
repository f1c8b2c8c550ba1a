"""Learn by MaskablePPO for seconds, then enter the policy as an agent. Needs the extra sb3."""

from pathlib import Path
from tempfile import TemporaryDirectory

import agents
import checkers_env
from training.rl.config import PPOConfig
from training.rl.loop import start_run, train

with TemporaryDirectory() as folder:
    config = PPOConfig(
        total_timesteps=50_000,
        num_envs=64,
        num_steps=32,
        minibatch_size=512,
        hidden_sizes=(64, 64),
        checkpoint_interval=8,
        eval_games=100,
        threads=1,
        out=Path(folder),
    )
    run = start_run(config)
    train(config, run, progress=lambda run: None)
    champion = agents.make(f"{folder}/champion.zip")

for steps, score in zip(run.history["steps"], run.history["score/random"], strict=True):
    print(f"after {steps:6,.0f} actions it scores {score:.0%} against a random player")

board, players = checkers_env.Board(), [champion, agents.make("random", seed=1)]
while not board.outcome():
    board.push(players[board.turn].act(board))
print(f"Black learned, White plays at random: {board.outcome()}")
