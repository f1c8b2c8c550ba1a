"""Runs that draw no curve: drawing one takes longer than most runs of the tests."""

import pytest

from checkers_env.files import write_atomically
from training.runtime.curves import plot_curve
from training.trainer import loop


@pytest.fixture(scope="module", autouse=True)
def undrawn_curves():
    """Write an empty picture where a run in this process would draw its curve."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "plot_curve", lambda history, title, path: write_atomically(path, b""))
        yield


@pytest.fixture
def drawn_curves(monkeypatch):
    """Let runs draw their curves as users see them."""
    monkeypatch.setattr(loop, "plot_curve", plot_curve)
