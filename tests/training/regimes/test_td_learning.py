"""Temporal differences as a regime: what is measured of a state."""

import pytest

from training.regimes.td_learning import TDLearning


@pytest.mark.parametrize("king", [1.0, 2.0])
def test_measured_king_is_that_of_the_regime(king):
    regime = TDLearning("singles", king=king)
    assert regime.metrics(regime.init(0))["king/mean"] == king
