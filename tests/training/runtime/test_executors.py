"""Executors: equal results, cancelled work and dying nodes."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from multiprocessing import active_children
from multiprocessing.context import SpawnProcess
from pathlib import Path

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from agents.baselines.material import Material
from agents.search.player import AlphaBeta
from tests import ROOT
from tests.training.commands import SECONDS, wait_for
from training.runtime import executors
from training.runtime.executors import open_executor, stop_requested, writable_copy

LOCAL = ("threads", "processes")

ORPHANED = """
import sys
from training.runtime.executors import open_executor
from tests.training.runtime.test_executors import until_stopped

if __name__ == "__main__":
    with open_executor("processes", 1) as executor:
        executor.submit(until_stopped, sys.argv[1]).result()
"""

STUBBORN = """
import signal, sys
from tests.training.runtime.test_executors import never_stops
from training.runtime.cli import run_command
from training.runtime.executors import open_executor

def command(arguments, console):
    kind, folder = arguments
    try:
        with open_executor(kind, 2) as executor:
            list(executor.map(never_stops, [folder] * 2))
    finally:
        print("saved, not flushed", end="")

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(run_command(command))
"""


def square(number):
    return number * number


def refuse(number):
    raise ValueError(f"not {number}")


def announce(number):
    logging.getLogger("checkers_env.jit").warning("compiling")


def until_stopped(path):
    """Report the start, and the request to stop."""
    Path(path, "runs").touch()
    while not stop_requested():
        time.sleep(0.01)
    Path(path, "stopped").touch()


def held_square(number, folder):
    """Record each start and its process; end when the file "go" exists."""
    import ray  # an extra: the other tests do without

    node = ray.get_runtime_context().get_node_id()
    Path(folder, f"{number}-{node}-{os.getpid()}").touch()
    while not Path(folder, "go").exists():
        time.sleep(0.01)
    return number * number


@pytest.mark.parametrize(("kind", "workers"), [("threads", 1), ("threads", 3), ("processes", 1)])
def test_results_come_in_order_and_errors_are_passed_on(kind, workers):
    with open_executor(kind, workers) as pool:
        assert list(pool.map(square, range(20))) == [number**2 for number in range(20)]
        assert pool.submit(square, 7).result() == 49
        with pytest.raises(ValueError, match="not 3"):
            pool.submit(refuse, 3).result()


def test_one_of_the_workers_tells_of_compilation(capfd):
    with open_executor("processes", 2) as pool:
        list(pool.map(announce, range(4)))
    assert capfd.readouterr().err.count("compiling") == 1


@pytest.mark.parametrize("kind", LOCAL)
def test_running_work_is_told_to_stop_and_waiting_work_is_dropped(kind, tmp_path):
    folders = [tmp_path / str(number) for number in range(9)]
    for folder in folders:
        folder.mkdir()

    def interrupted():
        with open_executor(kind, 1) as pool:
            for folder in folders:
                pool.submit(until_stopped, str(folder))
            wait_for((folders[0] / "runs").exists)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (folders[0] / "stopped").exists()
    assert not (folders[-1] / "runs").exists()


def take_compiler_lock():
    with global_compiler_lock:
        return True


def take_compiler_lock_after(started):
    started.wait()
    return take_compiler_lock()


@pytest.mark.parametrize("is_early", [True, False])
def test_a_signal_within_the_compilers_lock_stops_no_worker(is_early):
    calls, started = [], threading.Event()

    def run():
        with open_executor("threads", 1) as executor:
            if is_early:
                global_compiler_lock.acquire()  # no with statement has it yet
            calls.append(executor.submit(take_compiler_lock_after, started))
            if not is_early:
                global_compiler_lock.acquire()
            started.set()
            wait_for(calls[0].done if is_early else calls[0].running)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert calls[0].result(SECONDS)
    assert not global_compiler_lock.is_locked()


def test_executors_do_not_stop_each_others_work(tmp_path):
    def outer():
        with open_executor("threads", 1) as inner:
            inner.submit(square, 2).result()
        return stop_requested()

    with open_executor("threads", 1) as pool:
        assert pool.submit(outer).result() is False
    assert stop_requested() is False


def test_worker_processes_end_with_a_killed_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(ORPHANED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen([sys.executable, str(script), str(tmp_path)], env=environment)
    try:
        wait_for((tmp_path / "runs").exists)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    wait_for((tmp_path / "stopped").exists)


def test_dead_worker_is_an_error():
    with (
        pytest.raises(ChildProcessError, match="a worker process has died"),
        open_executor("processes", 1) as pool,
    ):
        pool.submit(os._exit, 1).result()


def test_ctrl_c_while_a_worker_starts_leaves_no_process(monkeypatch):
    whole_start = SpawnProcess.start

    def start(process):
        whole_start(process)
        signal.raise_signal(signal.SIGINT)  # the pool does not know the process yet

    monkeypatch.setattr(SpawnProcess, "start", start)
    with pytest.raises(KeyboardInterrupt), open_executor("processes", 1) as executor:
        executor.submit(square, 1)
    assert active_children() == []


def signal_state(number):
    """Return the blocked signals, and the handlers of a worker."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return set(blocked), signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)


def test_workers_leave_ctrl_c_to_the_parent_and_end_by_sigterm():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with open_executor("processes", 1) as executor:
        state = executor.submit(signal_state, 0).result()
    assert state == (set(), signal.SIG_IGN, signal.SIG_DFL)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


@pytest.mark.parametrize(
    ("spec", "address", "message"),
    [
        (None, None, r"pip install 'checkers-laboratory\[ray\]'"),
        ("ray", "127.0.0.1:1", r"no Ray cluster at '127\.0\.0\.1:1'"),
    ],
)
def test_missing_ray_or_cluster_is_named(monkeypatch, spec, address, message):
    monkeypatch.setattr(executors, "find_spec", lambda name: spec)
    with pytest.raises(ValueError, match=message), open_executor("ray", 1, address):
        pass


def test_read_only_shared_arrays_are_copied_once():
    array = np.arange(5.0)
    array.flags.writeable = False
    player = AlphaBeta(Material(2.0), 3)
    first, (second, number), same = writable_copy((array, (array, 7), player), {})
    assert np.array_equal(first, array)
    first[0] = 9
    assert second is first
    assert array[0] == 0
    assert (number, same) == (7, player)
    assert type(same) is AlphaBeta


@pytest.mark.slow
def test_ray_returns_results_in_order():
    with open_executor("ray", 2) as pool:
        assert list(pool.map(square, range(10))) == [n**2 for n in range(10)]
        assert pool.submit(square, 5).result() == 25
        with pytest.raises(ValueError, match="not 1"):
            pool.submit(refuse, 1).result()


@pytest.mark.slow
def test_dead_node_loses_nothing_and_nothing_counts_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    try:
        cluster.wait_for_nodes()
        with open_executor("ray", 2, cluster.address) as pool:
            futures = [pool.submit(held_square, number, str(tmp_path)) for number in range(6)]
            wait_for(lambda: len(list(tmp_path.iterdir())) == 2)  # one on each node
            (lost,) = tmp_path.glob(f"*-{second.node_id}-*")
            cluster.remove_node(second, allow_graceful=False)
            worker = Path("/proc", lost.name.split("-")[2])
            wait_for(lambda: not worker.exists())
            (tmp_path / "go").touch()
            results = [future.result(SECONDS) for future in futures]
    finally:
        cluster.shutdown()
    assert results == [number**2 for number in range(6)]
    begun = Counter(int(mark.name.split("-")[0]) for mark in tmp_path.glob("*-*"))
    again = int(lost.name.split("-")[0])
    assert begun == Counter(range(6)) + Counter([again])


@pytest.mark.parametrize("kind", LOCAL)
def test_second_ctrl_c_does_not_wait_for_running_work(kind, tmp_path):
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, str(script), kind, str(tmp_path)],
        env=environment, stdout=-1, stderr=-1, text=True,
    )  # fmt: skip
    try:
        wait_for((tmp_path / "runs").exists, process)
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline().startswith("Stopping when what is under way is done")
        process.send_signal(signal.SIGINT)
        printed, error = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, printed, error) == (130, "saved, not flushed", "")


def never_stops(path):
    Path(path, "runs").touch()
    time.sleep(10**6)
