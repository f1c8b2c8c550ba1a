"""Supervisor of a hosted program: it runs one command, and ends every process that came of it.

This file is executed as a script with the standard library alone, before any code of the agent. It
adopts orphans (Linux), so that a process that left the session is found, too. It ends all when its
caller closes the lifeline or dies, when the command ends, and when a limit is passed.

An isolated command is in a PID namespace, of which the supervisor is the first process. It sees and
signals no process but its own.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # constants of linux/prctl.h
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000  # of linux/sched.h
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000  # of linux/mount.h
POLL_SECONDS = 0.2
KILL_SECONDS = 10.0
SLACK_BYTES = 2 << 30  # of memory that is reserved, as for threads, and never used
TASKS_PER_PROCESS = 16  # threads that the user's limit leaves room for
TERMINATE = b"T"  # on the lifeline: send SIGTERM to the command
PAUSE, RESUME = b"P", b"R"  # stop all processes where they are, and let them go on
PROC = Path("/proc")


def main() -> None:
    """Run ``supervisor.py LIFELINE MEMORY PROCESSES ISOLATED COMMAND...``; end as the command did.

    LIFELINE is the descriptor of a socket. MEMORY (bytes) and PROCESSES are limits, 0 for none. A
    limit that is passed is named on the socket, and so is the reason when the command cannot start.
    Without arguments only find out whether commands can be ISOLATED (0 or 1).
    """
    if len(sys.argv) == 1:
        _isolate()
        return
    lifeline, memory, processes, isolated = map(int, sys.argv[1:5])
    os.set_inheritable(lifeline, False)
    outside = _isolate() if isolated else None
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    wakeup, written = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    command = os.fork()
    if not command:
        _execute(sys.argv[5:], lifeline, memory, processes)
    _release_streams()
    signal.signal(signal.SIGCHLD, lambda *arguments: None)
    signal.set_wakeup_fd(written)
    status = _watch(command, lifeline, wakeup, memory, processes)
    _kill_all(command)
    if outside is not None:
        os.write(outside, str(status).encode())
    _end_as(status)


def _isolate() -> int:
    """Go on as the first process of a PID namespace; the caller waits for it, and ends as it says.

    Return a descriptor for the status to end by.
    """
    user, group, libc = os.getuid(), os.getgid(), ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWPID):  # the user is no administrator
        if libc.unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER):
            os._exit(1)
        (PROC / "self/setgroups").write_text("deny")
        (PROC / "self/uid_map").write_text(f"{user} {user} 1")
        (PROC / "self/gid_map").write_text(f"{group} {group} 1")
    source, sink = os.pipe()
    if first := os.fork():
        os.close(sink)
        _release_streams()
        status = os.waitpid(first, 0)[1]
        _end_as(int(os.read(source, 16) or status))
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    if libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) or libc.mount(
        b"proc", b"/proc", b"proc", flags, None
    ):
        os._exit(1)
    return sink


def _end_as(status: int) -> NoReturn:
    """End as the process with this status did."""
    if os.WIFEXITED(status):
        os._exit(os.WEXITSTATUS(status))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with suppress(OSError):  # of SIGKILL and SIGSTOP
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(1)  # the first process of a namespace takes no signal from itself


def _release_streams() -> None:
    """Close input and output, as the caller sees when the command does; ignore gentle signals."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    os.close(nothing)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _execute(command: list[str], lifeline: int, memory: int, processes: int) -> None:
    """Become the command, in a session of its own and with limits that it cannot raise."""
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        _limit(resource.RLIMIT_CORE, 0)
        if memory:
            _limit(resource.RLIMIT_DATA, memory + SLACK_BYTES)
            _limit(resource.RLIMIT_FSIZE, memory)  # a flood of output must not fill the disk
        if processes:
            _limit(resource.RLIMIT_NPROC, _user_tasks() + TASKS_PER_PROCESS * processes)
        os.execv(command[0], command)
    except OSError as error:
        os.write(lifeline, f"cannot be started: {error.strerror}".encode())
    finally:
        os._exit(127)


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _watch(command: int, lifeline: int, wakeup: int, memory: int, processes: int) -> int:
    """Wait for the end of the command; return its status, or that of SIGKILL."""
    while True:
        ready = select.select([lifeline, wakeup], [], [], POLL_SECONDS)[0]
        if wakeup in ready:
            with suppress(BlockingIOError):
                os.read(wakeup, 4096)
        for pid, status in _reap():
            if pid == command:
                return status
        fault = _excess(memory, processes)
        if fault:
            with suppress(OSError):
                os.write(lifeline, fault.encode())
        if fault or (lifeline in ready and not _obey(command, lifeline)):
            return signal.SIGKILL


def _obey(command: int, lifeline: int) -> bool:
    """Carry out the caller's order; return False if the caller has closed the lifeline."""
    with suppress(OSError):
        order = os.read(lifeline, 1)
        if order == TERMINATE:
            os.killpg(command, signal.SIGTERM)
        if order in (PAUSE, RESUME):
            _signal_all(signal.SIGSTOP if order == PAUSE else signal.SIGCONT)
        return bool(order)
    return False


def _signal_all(number: int) -> None:
    """Send a signal to all processes, and to those that they start meanwhile."""
    known: set[int] = set()
    while new := set(_descendants()) - known:
        for pid in new:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        known |= new


def _excess(memory: int, processes: int) -> str:
    """Name the limit that all processes together have passed."""
    running = list(_descendants())
    if processes and len(running) > processes:
        return f"had more than {processes} processes"
    counts = (_resident_bytes, _own_bytes)  # the first is fast, but counts shared pages repeatedly
    if memory and all(sum(map(count, running)) > memory for count in counts):
        return f"used more than {memory >> 20} MB of memory"
    return ""


def _kill_all(command: int) -> None:
    end = time.monotonic() + KILL_SECONDS
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(command, signal.SIGKILL)
    while time.monotonic() < end:
        _signal_all(signal.SIGSTOP)  # at first: none can fork meanwhile
        _signal_all(signal.SIGKILL)
        list(_reap())
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        time.sleep(0.005)


def _reap() -> Iterator[tuple[int, int]]:
    """Yield the number and status of each child that has ended."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            yield pid, status


def _descendants() -> Iterator[int]:
    """Yield all processes that came of this one, where /proc tells."""
    parents = [os.getpid()]
    while parents:
        for task in _tasks(parents.pop()):
            with suppress(OSError):
                children = [int(pid) for pid in (task / "children").read_text().split()]
                parents += children
                yield from children


def _tasks(pid: int) -> list[Path]:
    with suppress(OSError):
        return list((PROC / str(pid) / "task").iterdir())
    return []


def _user_tasks() -> int:
    """Count the threads of this user's processes."""
    count = 0
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid():
                count += len(_tasks(int(folder.name)))
    return count


def _resident_bytes(pid: int) -> int:
    with suppress(OSError, IndexError):
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * resource.getpagesize()
    return 0


def _own_bytes(pid: int) -> int:
    """Return the memory of a process, of shared pages its share."""
    with suppress(OSError, ValueError):
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return _resident_bytes(pid)


def _prctl(option: int, value: int) -> None:
    """Set an option of this process, where the system has it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
