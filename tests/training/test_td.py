"""The td command: interrupted generations, and options without effect."""

import signal
import sys
import time
from dataclasses import asdict

import numpy as np
import pytest

from tests.training.commands import SECONDS, run_here, start
from training import td
from training.trainer.checkpoint import load_checkpoint
from training.trainer.presets import TD_PRESETS

ENDLESS = ["--regime.search", 64, "--curve-every", 0, "--generations", 1]
COMMAND = """
import sys
from training import td
from training.regimes import td_learning

def announced(learn):
    def call(*arguments, **options):
        print("learns", flush=True)
        return learn(*arguments, **options)
    return call

td_learning.learn = announced(td_learning.learn)
sys.exit(td.main())
"""


def test_interrupted_generation_ends_at_once_and_is_dropped(tmp_path):
    process = start(sys.executable, "-c", COMMAND, "c5-n0.001", *ENDLESS, "--out", tmp_path)
    try:
        while process.stdout.readline() != "learns\n":
            assert process.poll() is None
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "--resume" in said
    state = load_checkpoint(tmp_path).state
    np.testing.assert_equal(asdict(state), asdict(TD_PRESETS["c5-n0.001"].regime.init(0)))


@pytest.mark.parametrize("words", ["--threads 2", "--engine=env", "--executor ray"])
def test_options_of_the_curve_are_refused_without_a_curve(tmp_path, monkeypatch, capsys, words):
    given = [*words.split(), "--curve-every", 0, "--generations", 1, "--out", tmp_path / "run"]
    status, _, error = run_here(td, ["c5-n0.001", *given], monkeypatch, capsys)
    option = words.replace("=", " ").split()[0]
    expected = f"error: {option} has no effect with --curve-every 0: leave it out\n"
    assert (status, error) == (1, expected)
    assert not (tmp_path / "run").exists()


def test_strong_plays_in_threads_without_a_curve(tmp_path, monkeypatch, capsys):
    given = ["strong", "--curve-every", 0, "--threads", 2, "--regime.games", 2, "--generations", 1]
    assert run_here(td, [*given, "--out", tmp_path], monkeypatch, capsys)[0] == 0
