"""Settings that every test shares."""

import os
import signal
from collections import Counter

from hypothesis import settings

# A first example may have to compile kernels, so no deadline; in CI a run must be repeatable.
settings.register_profile("laboratory", deadline=None, derandomize="CI" in os.environ)
settings.register_profile("fuzz", deadline=None, max_examples=5_000)  # for tests/test_fuzz.py
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "laboratory"))

# What is printed must not depend on the caller's terminal, nor on how a CI asks for colours.
for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)
os.environ["COLUMNS"] = "100"

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # no test needs a device

# A shell that puts the tests into the background has them ignore Ctrl-C, and all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

LONG = (
    *("bounds", "hostile_league", "power_cut", "examples", "benchmark"),
    *("subprocess_agent", "jit", "hostile_requests", "page"),
)


def pytest_configure(config):
    """Let pytest_collection_modifyitems order the files, and not xdist."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    """Begin long files with few tests, then go by the number of tests, as xdist would.

    Else the long ones come last, and one worker waits for the other.
    """
    counts = Counter(item.path for item in items)
    items.sort(key=lambda item: (not item.path.stem.endswith(LONG), -counts[item.path]))
