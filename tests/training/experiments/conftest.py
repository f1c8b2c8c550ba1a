"""A training run and a match that several files test."""

import pytest

from training.experiments.jobs import Conditions, Match, Player, Run
from training.experiments.worker import Deadline, play, train

QUICK = Run("c1-n0.001", 0, 126, 0.01)  # a generation of a thousand games of self-play
COUNTERS = Player("material", depth=1), Player("material", depth=3)


@pytest.fixture(scope="session")
def quick(tmp_path_factory):
    """Return a finished training run."""
    return train(QUICK, tmp_path_factory.mktemp("quick"), Deadline())


@pytest.fixture(scope="session")
def counted():
    """Return a match of two piece counters."""
    return Match(*COUNTERS, 0, Conditions(play_out=2), 0.05)


@pytest.fixture(scope="session")
def played(counted):
    return play(counted, None, None, Deadline())
