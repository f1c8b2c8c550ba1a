"""Harm commands at random moments, resume them, and compare with runs that nobody harmed.

The default takes a minute, an hour is::

    CHAOS_SECONDS=3600 pytest -m slow tests/test_chaos.py

CHAOS_SEED chooses other moments.
"""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress

import pytest

from tests import ROOT
from tests.training.test_power_cut import champion, figures, games

SECONDS = float(os.environ.get("CHAOS_SECONDS", "60"))
SEED = int(os.environ.get("CHAOS_SEED", "0"))
MOST_HARMS = 6  # of one run, which may then end in peace
TRAINING = ["--regime.depth", "1", "--checkpoint-every", "1", "--threads", "2"]


COMMANDS = {
    "evolve": (["c0", "--generations", "30", *TRAINING], ["--resume"], champion),
    "td": (["c1-n0.001", "--generations", "20", *TRAINING[2:]], ["--resume"], champion),
    "benchmark": (["random", "--against", "material", "--depth", "2"], ["--resume"], games),
    "compare": (["c0", "c10", "--seeds", "2", "--scale", "0.02", "--depth", "1"], [], figures),
}
HARMS = ("SIGKILL", "SIGTERM", "SIGINT", "full disk", "closed output", "stopped")


def start(name, resume, folder, *, bytes_left=None, stdout=subprocess.DEVNULL):
    options, resuming, _ = COMMANDS[name]
    paths = ["--out", str(folder)]
    if name == "compare":
        paths += ["--results", str(folder / "results")]

    def limit():
        if bytes_left is not None:  # of any one file: writes beyond fail as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, bytes_left))

    command = [sys.executable, str(ROOT / "training" / f"{name}.py"), *options]
    return subprocess.Popen(
        [*command, *(resuming if resume else []), *paths],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=limit,
    )


def finish(process):
    """Return the exit status and the errors; kill what is left of the session."""
    try:
        _, errors = process.communicate(timeout=300)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, errors


def harm(name, kind, resume, folder, rng, usual):
    """Run a command and harm it at a random moment."""
    moment = rng.uniform(0, usual)
    if kind == "full disk":
        return finish(start(name, resume, folder, bytes_left=int(10 ** rng.uniform(0, 5))))
    if kind == "closed output":
        process = start(name, resume, folder, stdout=subprocess.PIPE)
        process.stdout.close()
        process.stdout = None
        return finish(process)
    process = start(name, resume, folder)
    time.sleep(moment)
    with suppress(ProcessLookupError):
        if kind == "stopped":  # as by Ctrl-Z, and on again
            os.killpg(process.pid, signal.SIGSTOP)
            time.sleep(0.5)
            os.killpg(process.pid, signal.SIGCONT)
        else:
            os.kill(process.pid, getattr(signal, kind))
    return finish(process)


def is_import(status, errors):
    """Return whether SIGINT came while Python imported the modules, before the command began."""
    return status == -signal.SIGINT and "in run_command" not in errors


@pytest.mark.slow
def test_harmed_commands_reach_the_same_results(tmp_path):
    expected, usual = {}, {}
    for name, (_, _, result) in COMMANDS.items():
        for attempt in ("warm up", "measure"):
            folder, began = tmp_path / f"{name} {attempt}", time.monotonic()
            status, errors = finish(start(name, False, folder))
            assert status == 0, errors
            usual[name] = time.monotonic() - began
        expected[name] = result(folder)
    rng, end, done = random.Random(SEED), time.monotonic() + SECONDS, Counter()
    number = 0
    while time.monotonic() < end:
        name, folder = rng.choice(list(COMMANDS)), tmp_path / str(number)
        result, history, resume = COMMANDS[name][2], [], False
        for turn in range(MOST_HARMS + 2):  # in peace twice: there may be nothing to resume yet
            kind = rng.choice(HARMS) if turn < MOST_HARMS else "none"
            if kind == "none":
                status, errors = finish(start(name, resume, folder))
            else:
                status, errors = harm(name, kind, resume, folder, rng, usual[name])
            history.append((kind, status))
            done[kind] += 1
            assert "Traceback" not in errors or is_import(status, errors), (
                f"seed {SEED}, run {number}, {name}: {history}; {errors}"
            )
            if status == 0 or "has reached generation" in errors:
                break
            resume = "to resume in" not in errors and folder.exists()
        else:
            pytest.fail(f"seed {SEED}, run {number}, {name}: {history}; {errors}")
        assert result(folder) == expected[name], (SEED, number, name, history)
        done[name] += 1
        number += 1
    print(f"\n{number} runs: {dict(sorted(done.items()))}")
    assert number
