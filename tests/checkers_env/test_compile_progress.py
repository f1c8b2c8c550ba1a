"""The line that is shown while kernels are compiled."""

import os
import pty
import subprocess
import sys

from tests import ROOT

PROGRAM = """
from checkers_env import compile_progress
compile_progress.DELAY = 0
from checkers_env import Board, movegen
movegen.has_move(Board().position)
print("done")
"""


def compile_with(stderr, cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=stderr)


def test_a_terminal_shows_what_is_compiled_and_is_wiped(tmp_path):
    ours, theirs = pty.openpty()
    done = compile_with(theirs, tmp_path)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    assert done.stdout == b"done\n"
    lines = shown.split("\r")
    assert "compiling has_move, once on this machine: 0 kernels" in shown
    assert any("now can_move" in line for line in lines)
    assert lines[-1] == ""
    assert lines[-2].strip() == ""


def test_a_pipe_gets_one_line(tmp_path):
    done = compile_with(subprocess.PIPE, tmp_path)
    assert done.stderr.decode().count("\n") == 1
    assert "compiling kernels for this machine" in done.stderr.decode()
    again = compile_with(subprocess.PIPE, tmp_path)
    assert again.stderr == b""
