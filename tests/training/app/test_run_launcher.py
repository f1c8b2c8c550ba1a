"""Runs that the page starts: in processes of their own, one at a time, ended with the server."""

import os
import shlex
import subprocess
import sys
import time

import pytest

from tests.training.app.conftest import client_of, error_of
from tests.training.app.test_hostile_requests import Server
from tests.training.commands import SECONDS
from training.app.app import create_app
from training.app.run_reader import find_champions, is_running, last_generation
from training.runtime.run_folder import lock_run_folder
from training.trainer.checkpoint import load_checkpoint
from training.trainer.cli import TD, shell_words

TRAINED = {"preset": "c1-n0.001", "generations": 3, "seed": 1}


@pytest.fixture
def client(tmp_path):
    client = client_of(create_app(tmp_path / "games", runs=[tmp_path / "runs"]))
    yield client
    client.app.state.launcher.close()


def post(client, path="/api/launch", **body):
    return client.request("POST", path, json=body)


def wait_until(condition):
    end = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def wait_for(client, *states):
    """Return the status as soon as its state is one of these."""

    def look():
        status = client.get("/api/launch").json()
        return status if status["state"] in states else None

    return wait_until(look)


def test_run_is_started_stopped_and_goes_on(client, tmp_path):
    assert client.get("/api/launch").json() == {"state": "none"}
    answer = post(client, **TRAINED | {"generations": 50})
    assert (answer.status_code, answer.json()["state"]) == (201, "running")
    busy = post(client, preset="c0", generations=1, seed=0)
    assert (busy.status_code, busy.json()["error"]) == (
        409,
        "The run c1-n0.001-seed-1 goes on: stop it first, or wait.",
    )
    wait_until(lambda: client.get("/api/launch").json()["generation"])
    assert post(client, "/api/launch/stop").status_code == 200
    status = wait_for(client, "stopped", "ended", "failed")
    run = tmp_path / "runs" / "c1-n0.001-seed-1"
    reached = load_checkpoint(run).state.generation
    assert status["message"] == f"c1-n0.001-seed-1 was stopped after generation {reached}."
    assert not is_running(run)
    words = shlex.split(status["command"])
    assert words[: words.index("c1-n0.001")] == shell_words(TD)
    assert words[-3:] == ["--out", str(run), "--resume"]
    assert post(client, "/api/launch/stop").status_code == 400
    complete = post(client, **TRAINED | {"generations": reached})
    assert f"has reached generation {reached}: ask for more generations" in error_of(complete)
    assert post(client, **TRAINED | {"generations": reached + 1}).status_code == 201
    ended = wait_for(client, "ended", "failed")
    assert ended["message"] == f"c1-n0.001-seed-1 has ended at generation {reached + 1}."
    assert list(find_champions(run)) == [*range(reached + 2)]
    shown = client.get("/api/runs/c1-n0.001-seed-1").json()
    assert (shown["asked_generations"], shown["preset_generations"]) == (reached + 1, 126)
    assert not (tmp_path / "runs" / "c0-seed-0").exists()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "preset must be one of blondie24-1999, "),
        ({"preset": "../c0"}, "not '../c0'."),
        ({"preset": "--list"}, "not '--list'."),
        ({"preset": "c0"}, "generations must be from 1 to 50, not nothing."),
        ({"preset": "c0", "generations": 51}, "generations must be from 1 to 50, not 51."),
        ({"preset": "c0", "generations": 2.5}, "generations must be a whole number, not 2.5."),
        ({"preset": "c0", "generations": True}, "generations must be a whole number, not True."),
        ({"preset": "c0", "generations": 1}, "seed must be from 0 to "),
        ({"preset": "c0", "generations": 1, "seed": -1}, "seed must be from 0 to "),
        ({"preset": "c0", "generations": 1, "seed": "1"}, "seed must be a whole number"),
        ({"preset": "c0", "generations": 1, "seed": 1, "out": "/tmp"}, "There is no field 'out'"),
    ],
)
def test_wrong_requests_are_refused_and_start_nothing(client, tmp_path, body, reason):
    answer = post(client, **body)
    assert reason in error_of(answer)
    assert client.get("/api/launch").json() == {"state": "none"}
    assert not (tmp_path / "runs").exists()


def test_server_without_a_folder_of_runs_starts_none(tmp_path):
    client = client_of(create_app(tmp_path / "games"))
    answer = post(client, **TRAINED)
    assert "start checkers-play with --runs" in error_of(answer)
    assert "Start a small run" not in client.get("/evolution").text


def test_link_in_place_of_the_folder_is_refused(client, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "runs" / "c1-n0.001-seed-1")
    answer = post(client, **TRAINED)
    assert "is a link" in error_of(answer)
    assert list((tmp_path / "elsewhere").iterdir()) == []


STUCK = """
import ctypes, signal, time
from training.app import run_launcher

def hold(program):
    time.sleep(0.5)  # until the end of the input is seen
    ctypes.PyDLL(None).sleep(1000)  # with the interpreter's lock

signal.signal(signal.SIGINT, signal.SIG_IGN)
run_launcher.EXIT_SECONDS, run_launcher.run_program = 1, hold
run_launcher.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has another function of this name")
def test_run_that_cannot_be_interrupted_is_ended_and_says_where_it_was():
    process = subprocess.run(
        [sys.executable, "-c", STUCK, "c0"], input=b"", stderr=subprocess.PIPE, timeout=60
    )
    assert process.returncode == 1
    assert b"in hold" in process.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot kill it in this way")
def test_killed_server_takes_its_run_along(tmp_path):
    server = Server(tmp_path)
    try:
        run = tmp_path / "runs" / "c1-n0.001-seed-1"
        body = TRAINED | {"generations": 50}
        assert server.request("POST", "/api/launch", json=body).status_code == 201
        wait_until(lambda: last_generation(run))
    finally:
        server.process.kill()
        server.process.wait()

    def is_free():
        try:
            with lock_run_folder(run, ""):
                return True
        except ValueError:
            return False

    wait_until(is_free)
    assert load_checkpoint(run).state.generation == last_generation(run) < 50
    assert not is_running(run)
