"""Invariants of all regimes: pure steps and exact resumption. The presets try all engines."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from tests.training.regimes import test_coevolution as coevolution
from tests.training.regimes import test_coevolution_extended as extended
from tests.training.regimes import test_genetic_algorithm as genetic
from tests.training.regimes import test_social_learning as social
from training.evolution.game_runner import open_game_runner
from training.trainer.checkpoint import Checkpoint, load_checkpoint, save_checkpoint

REGIMES = {
    "coevolution": coevolution.SMALL,
    "extended coevolution": extended.ALL_TOGETHER,
    "openai-es": extended.STRATEGY,
    "sep-cma-es": replace(extended.STRATEGY, strategy="sep-cma-es"),
    "social learning": social.SMALL,
    "genetic": genetic.SMALL,
    "genetic, safe mutation": genetic.SAFE,
    "genetic, simulations": genetic.SIMULATING,
}


@pytest.mark.parametrize("name", REGIMES)
def test_steps_are_pure_and_resume_from_a_checkpoint(name, tmp_path):
    regime = REGIMES[name]
    state = regime.init(2)
    with open_game_runner(1) as runner:
        for _ in range(7):
            before = asdict(state)
            save_checkpoint(tmp_path, Checkpoint(state, {}, {}))
            restored = load_checkpoint(tmp_path).state
            np.testing.assert_equal(asdict(restored), before)
            after, metrics = regime.step(state, runner)
            np.testing.assert_equal(asdict(state), before)
            there, metrics_there = regime.step(restored, runner)
            np.testing.assert_equal(asdict(there), asdict(after))
            assert metrics_there == metrics
            state = after
