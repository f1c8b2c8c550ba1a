"""Kernels that check every index: none is out of bounds, and games and learning are the same.

Elsewhere an index out of bounds reads or writes other memory without a word.
"""

import os
import subprocess
import sys

import pytest

from tests import ROOT

TRAINING = [
    ["evolve.py", "blondie24-2001", "--generations", "1"],
    ["td.py", "c5-n0.001", "--generations", "1"],
]
PLAY = """
import zlib
import numpy as np
import agents, checkers_env
from checkers_env import sample

rng = np.random.default_rng(24)
env = checkers_env.make_vec(32)
observation, _ = env.reset(seed=1)
seen = 0
for _ in range(150):
    observation, *_ = env.step(sample(observation["action_mask"], rng))
    seen = zlib.crc32(observation["observation"].tobytes(), seen)
print(seen, checkers_env.perft(checkers_env.Board(), 6))
players = [agents.make("strong", nodes=500), agents.make("c5-n0.001", depth=3)]
board = checkers_env.Board(max_moves=60)
while not board.outcome():
    board.push(players[board.turn].act(board))
print(board.fen(), board.outcome())
"""


def output(words, checked):
    environment = os.environ | ({"NUMBA_BOUNDSCHECK": "1"} if checked else {})
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_games_are_the_same_where_every_index_is_checked():
    assert output(["-c", PLAY], True) == output(["-c", PLAY], False)


@pytest.mark.parametrize("words", TRAINING, ids=lambda words: words[1])
def test_learning_is_the_same_where_every_index_is_checked(words, tmp_path):
    champions = []
    for checked in (True, False):
        folder = tmp_path / str(checked)
        output([f"training/{words[0]}", *words[1:], "--out", str(folder)], checked)
        champions.append((folder / "champion.safetensors").read_bytes())
    assert champions[0] == champions[1]
