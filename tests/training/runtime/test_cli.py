"""The frame of the commands: exit status and interruptions."""

import signal
import sys
import threading
import time

import pytest

from training.runtime.cli import INTERRUPTED, run_command


@pytest.fixture(autouse=True)
def _keep_handlers():
    handler, hooks = signal.getsignal(signal.SIGTERM), (threading.excepthook, sys.unraisablehook)
    yield
    signal.signal(signal.SIGTERM, handler)
    threading.excepthook, sys.unraisablehook = hooks


class Interrupted:
    """Ctrl-C comes while this object is freed."""

    def __del__(self):
        raise KeyboardInterrupt


def test_ctrl_c_in_a_finalizer_ends_the_command_without_a_traceback(capfd):
    def command(arguments, console):
        del arguments, console
        Interrupted()
        time.sleep(60)

    began = time.monotonic()
    assert run_command(command) == INTERRUPTED
    assert time.monotonic() - began < 30  # the command does not sleep on
    assert "Traceback" not in capfd.readouterr().err


def test_other_faults_of_a_finalizer_are_still_printed(capfd):
    class Faulty:
        def __del__(self):
            raise ValueError("seen")

    def command(arguments, console):
        del arguments, console
        Faulty()

    assert run_command(command) == 0
    assert "ValueError: seen" in capfd.readouterr().err
