"""Settings that every test shares."""

import os
import signal

from hypothesis import settings

# A first example may have to compile kernels, so no deadline; in CI a run must be repeatable.
settings.register_profile("laboratory", deadline=None, derandomize="CI" in os.environ)
settings.register_profile("fuzz", deadline=None, max_examples=5_000)  # for tests/test_fuzz.py
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "laboratory"))

# What is printed must not depend on the caller's terminal, nor on how a CI asks for colours.
for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)
os.environ["COLUMNS"] = "100"

# A shell that puts the tests into the background has them ignore Ctrl-C, and all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

LONG = (
    "presets",
    "golden",
    "tablebase",
    "examples",
    "hostile",
    "reproduce",
    "benchmark",
    "power_cut",
)


def pytest_configure(config):
    """Keep the order of the files with xdist, which would begin those with the most tests."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    """Begin the longest files first: else one worker waits for the other's last file."""
    items.sort(key=lambda item: not any(name in item.path.stem for name in LONG))
