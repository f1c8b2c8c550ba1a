"""What must work from the wheel alone: environments, players, page, scripts."""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path

import gymnasium
from pettingzoo.test import api_test

import agents
import checkers_env
from training.app.app import create_app  # noqa: F401 - it finds the templates and scripts

assert "site-packages" in agents.__file__
assert importlib.util.find_spec("torch") is None
api_test(checkers_env.env(), num_cycles=100)
env = gymnasium.make("checkers_env/Checkers-v0", opponent="material")
observation, _ = env.reset(seed=1)
env.step(env.action_space.sample(observation["action_mask"]))
players = {name: agents.make(name) for name in agents.available()}
for name in ("heuristic", "blondie24", "strong"):
    board = checkers_env.Board()
    assert players[name].act(board) in board.legal_moves, name
app = Path(str(importlib.util.find_spec("training.app").submodule_search_locations[0]))
assert list(app.rglob("*.js"))
assert list(app.rglob("*.jinja"))
scripts = [it for it in entry_points(group="console_scripts") if it.name.startswith("checkers-")]
paths = {it.name: shutil.which(it.name, path=sysconfig.get_path("scripts")) for it in scripts}
assert all(paths.values()), paths
assert all(callable(it.load()) for it in scripts)
subprocess.run([paths["checkers-play"], "--help"], check=True)
print(
    f"{len(players)} players and {len(scripts)} scripts work on Python {sys.version}, "
    f"gymnasium {gymnasium.__version__}"
)
