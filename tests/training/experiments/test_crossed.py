"""Crossed effects: coverage by simulation, and agreement with SciPy's tests."""

import numpy as np
import pytest
from scipy import stats

from training.experiments.crossed import contrast, crossed
from training.experiments.inference import independent

TABLES = 2000


@pytest.mark.parametrize(
    ("seeds", "deviations"),
    [
        ((10, 10), (0.4, 1.9, 2.6)),  # of Blondie24-RR and C0 by seed, and of a pairing
        ((10, 10), (0, 3, 0.01)),
        ((10, 25), (1.9, 1.9, 0)),
        ((10, 10), (0, 0, 2.6)),
    ],
)
def test_the_interval_covers_the_mean(
    seeds: tuple[int, int], deviations: tuple[float, float, float]
) -> None:
    rng = np.random.default_rng(7)
    a = rng.normal(0, deviations[0], (TABLES, seeds[0], 1))
    b = rng.normal(0, deviations[1], (TABLES, 1, seeds[1]))
    tables = a + b + rng.normal(0, deviations[2], (TABLES, *seeds))
    covered = np.mean([0.0 in crossed(table).interval for table in tables])
    assert 0.94 <= covered <= 0.985


def test_a_table_of_one_source_is_its_t_test() -> None:
    values = np.random.default_rng(3).normal(1, 2, 10)
    expected = stats.ttest_1samp(values, 0)
    table = np.repeat(values[:, None], 6, axis=1)
    for found in (independent(values.tolist()), crossed(table), crossed(table.T)):
        assert found.interval == pytest.approx(
            (values.mean(), *expected.confidence_interval()), abs=1e-9
        )
        assert found.difference_p == pytest.approx(expected.pvalue)
        above = stats.ttest_1samp(values, -2, alternative="greater").pvalue
        below = stats.ttest_1samp(values, 2, alternative="less").pvalue
        assert found.equality_p(2) == pytest.approx(min(1, 2 * max(above, below)))


def test_a_contrast_of_two_groups_is_welchs_test() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.normal(1, 2, 10), rng.normal(0, 1, 25)
    expected = stats.ttest_ind(one, other, equal_var=False)
    found = contrast((1, -1), (one.tolist(), other.tolist()))
    assert found.difference_p == pytest.approx(expected.pvalue)
    assert found.interval[1:] == pytest.approx(tuple(expected.confidence_interval()))


def test_equal_values_and_single_seeds() -> None:
    assert crossed(np.full((5, 5), 3.0)).interval == (3, 3, 3)
    assert crossed(np.full((5, 5), 3.0)).difference_p == 2.0**-4
    assert crossed(np.zeros((5, 5))).difference_p == 1
    assert independent([3.0]).difference_p == 1
    assert independent([3.0]).interval == (3, float("-inf"), float("inf"))
