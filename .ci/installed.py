"""What must work where nothing but the wheel was installed: players, page and scripts; no torch."""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path

import agents
import checkers_env
from training.app.app import create_app  # noqa: F401 - it finds the templates and scripts

assert "site-packages" in agents.__file__
assert importlib.util.find_spec("torch") is None
for name in agents.available():
    board = checkers_env.Board()
    assert agents.make(name).act(board) in board.legal_moves, name
app = Path(str(importlib.util.find_spec("training.app").submodule_search_locations[0]))
assert list(app.rglob("*.js"))
assert list(app.rglob("*.jinja"))
scripts = [
    it.name for it in entry_points(group="console_scripts") if it.name.startswith("checkers-")
]
assert "checkers-play" in scripts
for script in scripts:
    path = shutil.which(script, path=sysconfig.get_path("scripts"))
    subprocess.run([path, "--help"], check=True, stdout=subprocess.DEVNULL)
print(f"{len(agents.available())} players and {len(scripts)} scripts work on Python {sys.version}")
