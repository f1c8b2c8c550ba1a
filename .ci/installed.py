"""What must work from the wheel alone: environments, players, page, scripts."""

import contextlib
import importlib.util
import io
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
players = agents.available()
for name in players:
    board = checkers_env.Board()
    assert agents.make(name).act(board) in board.legal_moves, name
app = Path(str(importlib.util.find_spec("training.app").submodule_search_locations[0]))
assert list(app.rglob("*.js"))
assert list(app.rglob("*.jinja"))
scripts = [it for it in entry_points(group="console_scripts") if it.name.startswith("checkers-")]
assert {"checkers-play", "checkers-benchmark"} < {it.name for it in scripts}
for script in scripts:  # in this process: to start one takes seconds
    path = shutil.which(script.name, path=sysconfig.get_path("scripts"))
    assert path is not None, script.name
    sys.argv = [path, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as told:
        try:
            status = script.load()()
        except SystemExit as end:
            status = end.code
    assert not status, script.name
    assert "--help" in told.getvalue(), script.name
subprocess.run([path, "--help"], check=True, stdout=subprocess.DEVNULL)  # the file itself, once
print(
    f"{len(players)} players and {len(scripts)} scripts work on Python {sys.version}, "
    f"gymnasium {gymnasium.__version__}"
)
