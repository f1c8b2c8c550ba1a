"""Readers of files never wait: a pipe, a device or a circle of links is refused with its name."""

import os
import subprocess
import sys

import pytest

from tests import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")

# Each reader in turn, in a process of its own: some hang with the GIL held.
READERS = """
import sys
from pathlib import Path

from rich.console import Console

import agents
from agents.continual.agent import load_record
from agents.continual.pool import load_pool
from agents.weights import load_weights
from checkers_env import pdn
from training.app.run_reader import read_history
from training.experiments.champions import load_champion
from training.experiments.league_results import LeagueStore
from training.experiments.results import ResultStore
from training.league.journal import Journal
from training.league.records import load_league
from training.league.schedule import read_openings
from training.trainer.checkpoint import load_checkpoint
from training.zoo import fill

READERS = (
    ("a.pdn", pdn.load),
    ("a.safetensors", load_weights),
    ("a.safetensors", load_pool),
    ("a.safetensors", agents.make),
    ("a.safetensors", lambda path: agents.make(f"continual:{path}")),
    ("a.py", lambda path: agents.make(f"{path}:factory")),
    ("a.zip", agents.make),
    ("a.json", lambda path: load_record(path, "", 1)),
    ("a.txt", lambda path: read_openings(str(path))),
    ("games.jsonl", lambda path: Journal(path).resume({}, [])),
    ("league.json", load_league),
    ("curve.csv", lambda path: read_history(path.parent)),
    ("checkpoint.safetensors", lambda path: load_checkpoint(path.parent)),
    ("a.safetensors", load_champion),
    ("runs.jsonl", lambda path: ResultStore(path.parent)),
    ("league.jsonl", lambda path: LeagueStore(path.parent)),
    ("README.md", lambda path: fill([f"--readme={path}"], Console())),
)
for folder in map(Path, sys.argv[1:]):
    for file, read in READERS:
        try:
            print("read", read(folder / file), flush=True)
        except (ValueError, OSError) as error:
            print(str(folder / file) in str(error), type(error).__name__, error, flush=True)
"""
FILES = (
    *("a.pdn", "a.safetensors", "a.py", "a.zip", "a.json", "a.txt"),
    *("games.jsonl", "league.json", "curve.csv", "checkpoint.safetensors"),
    *("runs.jsonl", "league.jsonl", "README.md"),
)


KINDS = {
    "pipe": os.mkfifo,
    "circle": lambda path: path.symlink_to(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
}


def test_every_reader_refuses_at_once_and_names_the_file(tmp_path):
    for kind, make in KINDS.items():
        (tmp_path / kind).mkdir()
        for name in FILES:
            make(tmp_path / kind / name)
    command = [sys.executable, "-c", READERS, *(str(tmp_path / kind) for kind in KINDS)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stderr
    assert len(lines) == 17 * len(KINDS)
    assert [line for line in lines if not line.startswith("True ")] == []
