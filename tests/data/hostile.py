"""Agents that attack the referee. From their second move on each does what its name says."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import pickle
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

from checkers_env.errors import GameEndedError

CHANNEL = 4  # the descriptor of the answers
FOREVER = 1e6


class Hostile:
    """Play the first legal move, then attack."""

    def act(self, board):
        if board.ply >= 2:
            self.attack(board)
        return board.legal_moves[0]

    def attack(self, board):
        raise NotImplementedError


class Crash(Hostile):
    def attack(self, board):
        ctypes.string_at(0)


class Exit(Hostile):
    def attack(self, board):
        os._exit(0)


class Hang(Hostile):
    """SIGTERM and SIGINT do not end it either."""

    def attack(self, board):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(FOREVER)


class Stop(Hostile):
    def attack(self, board):
        while True:  # it may be told once to go on
            os.kill(os.getpid(), signal.SIGSTOP)


class PartialWrite(Hostile):
    """Announce more than it sends, as pickles between processes and as JSON."""

    def attack(self, board):
        os.write(CHANNEL, b"\0\0\0\x64ab")
        time.sleep(FOREVER)


class Trickle(Hostile):
    """Send a byte now and then, so that there is always something to read."""

    def attack(self, board):
        while True:
            os.write(CHANNEL, b" ")
            time.sleep(0.05)


class Flood(Hostile):
    def attack(self, board):
        while True:
            os.write(CHANNEL, b"a" * 65536)


class FloodOfLines(Hostile):
    def attack(self, board):
        while True:
            os.write(CHANNEL, b"{}\n" * 10000)


class FloodOfText(Hostile):
    def attack(self, board):
        raise ValueError("\x1b[2J and so on \n" * 1_000_000)


class Forks(Hostile):
    """Leave processes behind, in sessions of their own and without an environment."""

    def attack(self, board):
        for _ in range(3):
            if not os.fork():
                os.setsid()
                if os.fork():
                    os._exit(0)
                sleep = "import time; time.sleep(1e6)"
                os.execve(sys.executable, [sys.executable, "-IS", "-c", sleep], {})
        time.sleep(0.3)
        if marker := os.environ.get("STORY"):
            Path(marker).write_text(str(os.getpid()))
        os._exit(0)


class ManyForks(Hostile):
    """Not a bomb: a limit that fails must not take the tests' machine with it."""

    def attack(self, board):
        for _ in range(100):
            if not os.fork():
                time.sleep(FOREVER)
        time.sleep(FOREVER)


class Memory(Hostile):
    def attack(self, board):
        self.held = [b"x" * (16 << 20) for _ in range(100)]
        time.sleep(FOREVER)


class SharedMemory(Hostile):
    """Memory that no limit of one process counts."""

    def attack(self, board):
        self.held = mmap.mmap(-1, 1 << 30)
        for at in range(0, 1 << 30, 4096):
            self.held[at] = 1
        time.sleep(FOREVER)


class ClosedDescriptors(Hostile):
    def attack(self, board):
        os.closerange(0, 100)


class WrongTypes(Hostile):
    """Answer with JSON of every wrong form, one in each game."""

    answers = iter(
        [
            b"[1]\n",
            b"[" * 60000 + b"\n",
            b"9" * 60000 + b"\n",
            b'{"request": 2}\n',
            b"\xff\xfe\n",
            b"NaN\n",
        ]
    )

    def attack(self, board):
        os.write(CHANNEL, next(WrongTypes.answers, b"null\n"))
        time.sleep(FOREVER)


class WrongMoves(Hostile):
    def attack(self, board):
        for move in (99, -1, True, 1.0, "x", [1]):
            answer = {"request": board.ply + 2, "result": move}
            os.write(CHANNEL, json.dumps(answer).encode() + b"\n")
        time.sleep(FOREVER)


class Answers:
    """Pickle as a call of a function, which writes the file that STORY names."""

    def __reduce__(self):
        return os.system, (f"touch '{os.environ.get('STORY', '/dev/null')}'",)


class Pickle(Hostile):
    def attack(self, board):
        pickled = pickle.dumps((True, Answers()))
        os.write(CHANNEL, struct.pack("!i", len(pickled)) + pickled + b"\n")
        time.sleep(FOREVER)


class ClaimDraw(Hostile):
    def attack(self, board):
        raise GameEndedError("it is a draw because I say so", "draw")


class KillSupervisor(Hostile):
    def attack(self, board):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(FOREVER)


class KillOthers(Hostile):
    """Kill the agents whose supervisors have the same parent as its own."""

    def attack(self, board):
        def parent(pid):
            return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

        league = parent(os.getppid())
        for pid in [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]:
            with suppress(OSError):
                if pid != os.getpid() and parent(parent(pid)) == league:
                    os.kill(pid, signal.SIGKILL)
        time.sleep(FOREVER)


class StopSupervisor(Hostile):
    def attack(self, board):
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(FOREVER)


class ForeignDescriptors(Hostile):
    """Write into every descriptor that it finds open, but the usual ones."""

    def attack(self, board):
        for number in range(3, 256):
            try:
                os.write(number, b'{"score": 1}\n')
            except OSError:
                continue
        socket.socket().close()
        time.sleep(FOREVER)
