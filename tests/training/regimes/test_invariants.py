"""Invariants of all regimes: pure steps, equal results on all engines, exact resumption."""

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
    "coevolution with subsquares": coevolution.WITH_SUBSQUARES,
    "extended coevolution": extended.ALL_TOGETHER,
    "openai-es": extended.STRATEGY,
    "sep-cma-es": replace(extended.STRATEGY, strategy="sep-cma-es"),
    "social learning": social.SMALL,
    "genetic": genetic.SMALL,
    "genetic, safe mutation": genetic.SAFE,
    "genetic, simulations": genetic.SIMULATING,
    "genetic, logistic": genetic.LOGISTIC,
}
SHORT = {"opponents": 1, "repetition": 2}
IN_THE_ENVIRONMENT = [  # regime and generations
    (coevolution.SMALL, 1),
    (coevolution.WITH_SUBSQUARES, 1),
    (extended.ALL_TOGETHER, 1),
    (extended.STRATEGY, 1),
    (REGIMES["sep-cma-es"], 1),
    (social.SMALL, 3),
    (replace(genetic.SAFE, max_moves=2, **SHORT), 2),
    (replace(genetic.SAFE, max_moves=12, **SHORT), 2),
    (replace(genetic.SIMULATING, max_moves=12, **SHORT), 2),
    (replace(genetic.BLOCKED, max_moves=60, **SHORT), 2),
]


def outcome(*arguments):
    """Return the state and the metrics after each generation, as comparable values."""
    return [(asdict(state), metrics) for state, metrics in coevolution.run_generations(*arguments)]


@pytest.mark.parametrize("name", REGIMES)
def test_threads_give_equal_results(name):
    generations = 7 if name.startswith(("social", "genetic")) else 3
    expected = outcome(REGIMES[name], generations, 4)
    for threads in (2, 3):
        np.testing.assert_equal(outcome(REGIMES[name], generations, 4, threads), expected)


@pytest.mark.parametrize(("regime", "generations"), IN_THE_ENVIRONMENT)
def test_environment_gives_equal_results(regime, generations):
    expected = outcome(regime, generations, 4)
    np.testing.assert_equal(outcome(regime, generations, 4, 2, "env"), expected)


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
