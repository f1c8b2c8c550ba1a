"""The evolve command: output, errors and resumed runs."""

import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest

from agents.weights import load_weights
from tests.training.commands import (
    SECONDS,
    assert_equal_but_for_speed,
    command_of,
    ended,
    start,
    wait_for,
)
from training import evolve
from training.runtime.run_folder import lock_run_folder
from training.trainer import cli as trainer
from training.trainer import loop
from training.trainer.checkpoint import FILE_NAME, load_checkpoint
from training.trainer.cli import duration
from training.trainer.loop import CURVE_FILE
from training.trainer.presets import ABLATIONS, PRESETS

ALL = PRESETS | ABLATIONS
SCRIPT = Path(evolve.__file__)
SMALL = shlex.split(
    "blondie24-1999 --regime.parents 2 --regime.opponents 1 --regime.depth 1 "
    "--regime.max-moves 30 --threads 1 --seed 1"
)
ENDLESS = "1000000"

WAYS = {
    "script": [sys.executable, str(SCRIPT)],
    "module": [sys.executable, "-m", "training.evolve"],
}


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line in this process; return its exit status and output."""
    return command_of(evolve, monkeypatch, capsys)


def one_line(text, start_of_it):
    lines = [line for line in text.splitlines() if line.strip()]
    assert "Traceback" not in text
    assert len(lines) == 1
    assert lines[0].startswith(start_of_it)
    return lines[0]


def test_shell_calls_the_installed_command_where_there_is_one(tmp_path, monkeypatch):
    python = tmp_path / "python"
    monkeypatch.setattr(trainer.sys, "executable", str(python))
    monkeypatch.setenv("PATH", "")
    assert trainer.shell_words(trainer.TD) == ["python", "training/td.py"]
    installed = tmp_path / "checkers-td"
    installed.write_text("#!/bin/sh\n")
    installed.chmod(0o755)
    assert trainer.shell_words(trainer.TD) == [str(installed)]
    assert trainer.shell_words(trainer.EVOLVE) == ["python", "training/evolve.py"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert trainer.shell_words(trainer.TD) == ["checkers-td"]


def test_list_shows_every_preset(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = ended(command("--list"))
    rows = {line.split()[0]: line for line in said.splitlines() if line.strip()}
    assert set(ALL) == set(rows) - {"regime", next(name for name in rows if "\u2500" in name)}
    for name, preset in ALL.items():
        time = duration(preset.cpu_seconds)
        for shown in (preset.source, preset.what, f"{preset.games:,}", time):
            assert f" {shown} " in rows[name]
        assert ("(default)" in rows[name]) == (name == "blondie24-2001")
    for name, games in (("c10", "126,000"), ("blondie24-rr", "121,800")):
        assert rows[name].split()[-3] == games
    assert not list(tmp_path.iterdir())


def test_run_prints_the_folder_of_its_results(command, tmp_path):
    said = ended(command(*SMALL, "--generations", 2, "--out", tmp_path / "run"))
    assert "generation 2 of 2" in said
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"checkpoint.safetensors", "champion.safetensors", "curve.csv", "curve.png"} <= names
    for name in ("champion.safetensors", "curve.png"):
        assert str(tmp_path / "run" / name) in said
    assert load_weights(tmp_path / "run" / "champion.safetensors")[1].generation == 2


def test_folder_is_named_after_regime_and_seed(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command(*SMALL, "--generations", 1)[0] == 0
    assert load_checkpoint(Path("runs/blondie24-1999-seed-1")).state.generation == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("mine", "no regime 'mine' (python training/evolve.py --list shows all"),
        ("blondie", "no regime 'blondie': did you mean blondie24"),
        ("strong", "'strong' is trained by another program: python training/td.py strong"),
        ("c0 --generations 0", "generations must be at least 1, not 0"),
        ("c0 --threads 0", "threads must be at least 1, not 0"),
        ("c0 --threads 100000000", "workers (threads) must be at most 1,000, not 100000000"),
        ("c0 --seed -1", "seed must"),
        ("c0 --checkpoint-every 0", "checkpoint_every must be at least 1, not 0"),
        ("c0 --curve-every -1", "curve_every must be at least 0, not -1"),
        ("c0 --out=", "--out takes a path, not an empty text"),
        ("c0 --regime.depth two", "--regime.depth"),
        ("c0 --regime.king-rule hundredths", "hundredths"),
        ("c0 --regime.publish-every 5", "--regime.publish-every"),
        ("c0 --regime.pairing swiss", "swiss"),
        ("c10 --regime.satisfied nan", "satisfied must be"),
        (
            "blondie24-rr --regime.opponents 5",
            "--regime.opponents has no effect with --regime.pair",
        ),
        ("learns --regime.rate=0.1", "--regime.rate has no effect with --regime.strategy sep-cma"),
        ("c0 --engine paper", "paper"),
        ("c0 --executor processes --address here:1", "an address is for the executor 'ray'"),
        ("c0 --regime.colour red", "--regime.colour"),
        ("c0 c1", "c1"),
        ("--seed 3 c0", "a regime comes first: python training/evolve.py c0 [options]"),
    ],
)
def test_invalid_options_are_refused(command, tmp_path, words, message):
    status, said = command(*words.split(), "--out", tmp_path / "run")
    assert status not in (0, None)
    assert message in said
    assert "Traceback" not in said
    folder = tmp_path / "run"
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.parametrize("place", ["a_file", "a_file/below", "/proc/below"])
@pytest.mark.parametrize("options", [[], ["--resume"]])
def test_unwritable_folder_is_named(command, tmp_path, place, options):
    (tmp_path / "a_file").write_text("what was here before")
    said = ended(command(*SMALL, "--out", tmp_path / place, *options), 1)
    assert str(tmp_path / place) in one_line(said, "error: ")
    assert (tmp_path / "a_file").read_text() == "what was here before"


def test_folder_with_a_run_is_not_overwritten(command, tmp_path):
    words = [*SMALL, "--generations", 1, "--out", tmp_path]
    assert command(*words)[0] == 0
    before = (tmp_path / FILE_NAME).read_bytes()
    said = ended(command(*words), 1)
    assert "already holds a run" in one_line(said, "error: ")
    said = ended(command(*words, "--seed", 2, "--regime.depth", 2, "--resume"), 1)
    assert "depth is 1 there and 2 here; seed is 1 there and 2 here" in one_line(said, "error: ")
    status, said = command(*words, "--seed", 2)
    assert "seed is 1 there and 2 here; choose another folder by --out" in one_line(said, "error: ")
    with lock_run_folder(tmp_path, "wait"):
        status, said = command(*words, "--resume")
    assert (status, "another session is at work in" in one_line(said, "error: ")) == (1, True)
    assert (tmp_path / FILE_NAME).read_bytes() == before
    (tmp_path / FILE_NAME).write_bytes(b"not a checkpoint at all")
    said = ended(command(*words, "--resume"), 1)
    assert str(tmp_path / FILE_NAME) in one_line(said, "error: ")


@pytest.mark.parametrize("names", [["curve.png"], ["champion.safetensors", "curve.csv"]])
def test_resume_writes_the_files_that_a_kill_in_the_last_second_left_out(command, tmp_path, names):
    words = [*SMALL, "--generations", 2, "--out", tmp_path]
    assert command(*words)[0] == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in names:
        (tmp_path / name).unlink()
    status, said = command(*words, "--resume")
    assert (status, f"but the run lacks {', '.join(names)}: " in said) == (0, True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    said = ended(command(*words, "--resume"), 1)
    assert "has reached generation 2: to go on, ask for more" in one_line(said, "error: ")


def test_killed_run_resumes_to_the_same_result(command, tmp_path):
    killed, straight = tmp_path / "killed", tmp_path / "straight"
    words = [*SMALL, "--checkpoint-every", 3, "--generations", ENDLESS, "--out", killed]
    process = start(*WAYS["script"], *words)
    try:
        wait_for((killed / CURVE_FILE).exists)  # written with a generation that has passed
    finally:
        process.kill()
        process.communicate()
    reached = load_checkpoint(killed).state.generation
    assert reached % 3 == 0
    for folder, option in ((killed, "--resume"), (straight, "--no-resume")):
        words = [*SMALL, "--generations", reached + 4, "--out", folder, option]
        assert command(*words)[0] == 0
    assert_equal_but_for_speed(load_checkpoint(killed), load_checkpoint(straight))


def test_ctrl_c_twice_saves_and_says_how_to_resume(command, tmp_path):
    stopped, straight = tmp_path / "stopped", tmp_path / "straight"
    words = [*SMALL, "--checkpoint-every", ENDLESS, "--generations", ENDLESS, "--out", stopped]
    process = start(*WAYS["module"], *words)
    try:
        while not process.stdout.readline().startswith("generation 1 of"):
            assert process.poll() is None
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        said, _ = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in said
    advice = said.splitlines()[-1].split(": ", 1)[1]
    assert shlex.split(advice)[2:] == [*map(str, words), "--resume"]
    reached = load_checkpoint(stopped).state.generation
    assert reached >= 1
    for folder, option in ((stopped, "--resume"), (straight, "--no-resume")):
        words = [*SMALL, "--generations", reached + 2, "--out", folder, option]
        assert command(*words)[0] == 0
    assert_equal_but_for_speed(load_checkpoint(stopped), load_checkpoint(straight))


@pytest.mark.parametrize("place", ["begin", "sample_positions", "run_generation"])
def test_ctrl_c_before_the_first_generation_gives_working_advice(
    command, tmp_path, monkeypatch, place
):
    folder = tmp_path / "run [red]"
    words = [*SMALL, "--generations", 1, "--out", folder]
    owner = trainer if place == "begin" else loop
    with monkeypatch.context() as patch:
        patch.setattr(owner, place, Mock(side_effect=KeyboardInterrupt))
        said = ended(command(*words), 130)
    advice = shlex.split(said.splitlines()[-1].split(": ", 1)[1])[2:]
    assert command(*advice)[0] == 0
    assert load_checkpoint(folder).state.generation == 1


def test_ctrl_c_at_the_end_says_that_the_run_is_complete(command, tmp_path, monkeypatch):
    words = [*SMALL, "--generations", 1, "--out", tmp_path]

    def train(*arguments):
        loop.train(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "train", train)
    said = ended(command(*words), 130)
    assert f"Interrupted, but the run in {str(tmp_path)!r} is complete" in said
    assert "--resume" not in said


def run_with_limit(blocks, folder, *words):
    """Run the script where no file may grow beyond a number of blocks of 512 bytes."""
    words = [*WAYS["script"], *SMALL, "--out", str(folder), *map(str, words)]
    limited = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *words]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=SECONDS)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("generation ")]
    return done.returncode, "\n".join(lines)


def test_disk_filled_by_the_event_file_is_reported_once(command, tmp_path):
    options = ["--generations", ENDLESS, "--curve-every", 0, "--checkpoint-every", 5]
    status, said = run_with_limit(160, tmp_path, *options)
    assert status == 1
    reached = load_checkpoint(tmp_path).state.generation
    assert reached > 5
    assert not [path for path in tmp_path.iterdir() if "tmp" in path.name.split(".")]
    assert str(tmp_path) in one_line(said, "error: ")
    words = [*SMALL, "--generations", reached + 1, "--out", tmp_path, "--resume"]
    assert command(*words)[0] == 0
