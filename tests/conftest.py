"""Settings that every test shares."""

import os
import signal

from hypothesis import settings

# A first example may have to compile kernels, so no deadline; in CI a run must be repeatable.
settings.register_profile("laboratory", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("laboratory")

# A shell that puts the tests into the background has them ignore Ctrl-C, and all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
