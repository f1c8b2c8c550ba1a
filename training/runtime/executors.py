"""Executors: threads, processes or a Ray cluster, with equal results.

All are ``concurrent.futures.Executor``. When the with block of :func:`open_executor` ends, even by
an error or Ctrl-C, calls that have not begun are dropped. Running calls are asked to stop: a long
one checks :func:`stop_requested` from time to time and saves what it has. A second Ctrl-C does not
wait for them.

joblib is not used: it has neither futures nor a way to ask running calls to stop and save.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import active_children, connection, get_context, parent_process
from typing import Any

import numpy as np

from agents.search.interrupt import SIGNALS, defer_signals
from agents.simd import aligned_zeros
from checkers_env.jit import free_compiler_lock

KINDS = ("threads", "processes", "ray")
MOST_WORKERS = 1000  # of one machine

logger = logging.getLogger(__name__)

GRACE = 60.0  # seconds for unwanted calls to end

_own = threading.local()  # stop: a worker's event
_busy = threading.Lock()  # held by a worker process while it works


class AbandonedThreadsError(KeyboardInterrupt):
    """Raised by a second Ctrl-C: calls go on in threads, for which Python would wait at its end."""


def stop_requested() -> bool:
    """Return whether the call that this thread runs should stop."""
    event = getattr(_own, "stop", None)
    return event is not None and bool(event.is_set())


@contextmanager
def open_executor(kind: str, workers: int, address: str | None = None) -> Iterator[Executor]:
    """Open an executor for a with block.

    `kind` is ``"threads"``, ``"processes"`` or ``"ray"``; `workers` is the number of calls at once.
    A Ray cluster that runs already, at `address`, has its own number; without, one is started here.

    Raises
    ------
    ValueError
        As :func:`check_executor` does.
    ChildProcessError
        If a worker process has died.
    AbandonedThreadsError
        If a second Ctrl-C comes while calls in threads are waited for.
    """
    check_executor(kind, workers, address)
    if kind == "ray":
        with _connected(workers, address) as ray:
            executor = RayExecutor(ray)
            try:
                yield executor
            finally:
                executor.shutdown(cancel_futures=True)
        return
    spawn = get_context("spawn")
    stop: Any = threading.Event() if kind == "threads" else spawn.Event()
    pool: Executor = (
        Threads(workers, initializer=_begin_thread, initargs=(stop,))
        if kind == "threads"
        else _Processes(workers, spawn, _begin_process, (stop, spawn.Lock()))
    )
    wait = True
    try:
        yield pool
    except BrokenExecutor as error:
        raise ChildProcessError("a worker process has died") from error
    except KeyboardInterrupt:
        try:
            logger.warning(
                "Stopping when what is under way is done or saved; Ctrl-C again: at once."
            )
            stop.set()
            pool.shutdown(cancel_futures=True)
        except KeyboardInterrupt:
            wait = False
            if kind == "threads":
                raise AbandonedThreadsError from None
            for process in active_children():
                process.kill()  # SIGTERM waits in those that still start
        raise
    finally:
        stop.set()
        pool.shutdown(wait, cancel_futures=True)


def check_executor(kind: str, workers: int, address: str | None) -> None:
    """Check the arguments of :func:`open_executor`.

    Raises
    ------
    ValueError
        For another kind, fewer workers than 1, threads or processes beyond MOST_WORKERS, an
        address without Ray or that does not answer, and Ray that is not installed.
    """
    if kind not in KINDS:
        raise ValueError(f"executor must be one of {', '.join(KINDS)}, not {kind!r}")
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
    if workers > MOST_WORKERS and kind != "ray":
        raise ValueError(f"workers ({kind}) must be at most {MOST_WORKERS:,}, not {workers}")
    if address is not None and kind != "ray":
        raise ValueError(f"an address is for the executor 'ray', not {kind!r}")
    if kind == "ray" and find_spec("ray") is None:
        raise ValueError("the executor 'ray' needs Ray: pip install 'checkers-laboratory[ray]'")
    try:
        _check_reachable(address or "")
    except OSError as error:
        raise ValueError(f"no Ray cluster at {address!r}: {error}") from None


def _begin_thread(stop: Any) -> None:
    _own.stop = stop


def hide_writer_error(arguments: threading.ExceptHookArgs) -> None:
    """Hide the errors of TensorBoard's thread on a full disk: its writer raises them again."""
    if not isinstance(arguments.exc_value, OSError):
        threading.__excepthook__(arguments)


def tell_once(told: Any) -> None:
    """Let only the first message of compilation pass, of all processes that share a lock."""
    logging.getLogger("checkers_env.jit").addFilter(lambda record: told.acquire(block=False))


def _begin_process(stop: Any, told: Any) -> None:
    """Leave Ctrl-C to the parent process, and end with it; one process tells of compilation."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    threading.excepthook = hide_writer_error
    tell_once(told)
    _own.stop = _Until(stop)
    threading.Thread(target=_end_with_parent, args=(_own.stop,), daemon=True).start()


class _Until:
    """An event that a worker process can also set for itself, when its parent has died."""

    def __init__(self, event: Any) -> None:
        self._event, self.orphaned = event, False

    def is_set(self) -> bool:
        return self.orphaned or self._event.is_set()


class Threads(ThreadPoolExecutor):
    """A pool of threads: a signal leaves neither its own locks nor numba's locked for them."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a call, or let it wait for a thread."""
        free_compiler_lock()
        with defer_signals():
            return super().submit(call, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls, and wait for those that run."""
        free_compiler_lock()
        super().shutdown(wait, cancel_futures=cancel_futures)


class _Processes(ProcessPoolExecutor):
    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        # May start a worker, which is known to the pool only afterwards.
        with defer_signals(), blocked_signals():
            return super().submit(_run_marked, call, *args, **kwargs)


@contextmanager
def blocked_signals(signals: Iterable[signal.Signals] = SIGNALS) -> Iterator[None]:
    """Block signals in processes that start in a with block, until they have begun."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_marked(call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    with _busy:
        return call(*args, **kwargs)


def _end_with_parent(stop: _Until) -> None:
    """End this process after its call, once the parent has died."""
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    stop.orphaned = True
    _busy.acquire(timeout=GRACE)
    os._exit(1)


class RayExecutor(Executor):
    """Runs calls as tasks of a Ray cluster, one CPU each.

    A task that is lost with its node runs again on another one, as often as it takes.
    """

    def __init__(self, ray: Any) -> None:
        self._ray, self._call = ray, ray.remote(max_retries=-1)(_call_with_copies)
        self._tasks: dict[Future[Any], Any] = {}

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a task."""
        task = self._call.remote(call, *args, **kwargs)
        future: Future[Any] = task.future()
        self._tasks[future] = task
        future.add_done_callback(self._forget)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Interrupt the running tasks, or wait for them."""
        tasks = list(self._tasks.values())
        if cancel_futures:
            for task in tasks:
                self._ray.cancel(task)
        if wait and tasks:
            self._ray.wait(tasks, num_returns=len(tasks), timeout=GRACE if cancel_futures else None)

    def _forget(self, future: Future[Any]) -> None:
        self._tasks.pop(future, None)


def _call_with_copies(call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return call(*writable_copy(args, {}), **kwargs)


def writable_copy(thing: Any, known: dict[int, Any]) -> Any:
    """Copy the arrays in nested tuples: those of Ray are shared and read-only.

    `known` has copies by the id of the original, so that shared arrays stay shared.
    """
    if not isinstance(thing, np.ndarray | tuple):
        return thing
    if id(thing) not in known:
        if isinstance(thing, np.ndarray):
            copy: Any = aligned_zeros(thing.shape, thing.dtype)
            copy[...] = thing
        else:
            parts = [writable_copy(part, known) for part in thing]
            copy = type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
        known[id(thing)] = copy
    return known[id(thing)]


def _check_reachable(address: str) -> None:
    """Raise OSError if nothing answers at the address: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), 10.0).close()


@contextmanager
def _connected(workers: int, address: str | None) -> Iterator[Any]:
    """Connect Ray to a cluster, unless it is connected already."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray: Any = import_module("ray")
    if ray.is_initialized():
        yield ray
        return
    started = {"address": address} if address else {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(**started, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError) as error:
        raise ValueError(f"no Ray cluster at {address!r}: {error}") from None
    try:
        yield ray
    finally:
        with suppress(Exception):
            ray.shutdown()
