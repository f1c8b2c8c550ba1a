"""Metrics for TensorBoard."""

import os
import signal

import pytest

from training.runtime.curves import flush_scalars, write_scalars


class InterruptedLog:
    """A writer that gets Ctrl-C during each call."""

    def __init__(self):
        self.written = []

    def add_scalar(self, name, number, step):
        os.kill(os.getpid(), signal.SIGINT)
        self.written.append((name, number, step))

    def flush(self):
        os.kill(os.getpid(), signal.SIGINT)
        self.written.append("flushed")


def test_ctrl_c_waits_until_the_scalars_are_written():
    log = InterruptedLog()
    with pytest.raises(KeyboardInterrupt):
        write_scalars(log, {"a": 1.0, "b": 2.0}, 3)
    with pytest.raises(KeyboardInterrupt):
        flush_scalars(log)
    assert log.written == [("a", 1.0, 3), ("b", 2.0, 3), "flushed"]
