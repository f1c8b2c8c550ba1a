"""Settings that every test shares."""

import os

from hypothesis import settings

# A first example may have to compile kernels, so no deadline; in CI a run must be repeatable.
settings.register_profile("laboratory", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("laboratory")
