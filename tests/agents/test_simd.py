"""The vector instructions against numpy."""

import numpy as np
import pytest

from agents.simd import aligned_zeros, dense, tanh, tanh_all_exact
from checkers_env.jit import kernel

WIDEST = 1 << 17
LINE = np.concatenate(
    [
        np.linspace(-12, 12, 6 * WIDEST),
        np.linspace(-0.01, 0.01, WIDEST),
        np.logspace(-30, 4, WIDEST),
    ]
).astype(np.float32)


@kernel
def replace_by_tanh(values):
    for i in range(len(values)):
        values[i] = tanh(values[i])


def replace_by_exact_tanh(values):
    tanh_all_exact(values, len(values))


def tanh_of(values, replace=replace_by_tanh):
    found = np.zeros(-(-len(values) // 8) * 8, np.float32)
    found[: len(values)] = values
    replace(found)
    return found[: len(values)]


def test_tanh_is_within_four_in_ten_million():
    assert np.abs(tanh_of(LINE) - np.tanh(LINE.astype(np.float64))).max() < 4e-7


def test_exact_tanh_is_that_of_float64_rounded():
    fine = np.arange(0, 12, 1e-5, np.float32)  # where the other tanh falls a quarter of the steps
    line = np.concatenate([LINE, fine, -fine])
    found = tanh_of(line, replace_by_exact_tanh)
    rounded = np.tanh(line.astype(np.float64)).astype(np.float32)
    steps = np.abs(found.view(np.int32).astype(np.int64) - rounded.view(np.int32))
    assert steps[np.abs(line) > 1e-37].max() <= 1
    assert (steps > 0).mean() < 1e-6
    assert np.diff(tanh_of(fine, replace_by_exact_tanh)).min() >= 0
    assert np.diff(tanh_of(fine)).min() < 0
    assert ((found == 1) == (rounded == 1)).all()
    ends = np.array([9.02, 20, 1e4, 1e30, np.inf], np.float32)
    assert (tanh_of(ends, replace_by_exact_tanh) == 1).all()
    assert (tanh_of(-ends, replace_by_exact_tanh) == -1).all()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("width", [8, 40])
@pytest.mark.parametrize("count", [8, 40, 96])
def test_dense_is_the_tanh_of_a_matrix_product(width, count, exact):
    rng = np.random.default_rng(count * width)
    at, source, target = 24, 5, 128
    weights = rng.normal(scale=0.2, size=at + (count + 1) * width + 8).astype(np.float32)
    values = aligned_zeros((256,), np.float32)
    values[:] = rng.normal(size=256)
    before = values.copy()
    end = dense(weights, at, values, source, count, target, width, exact)
    bias, *rows = weights[at:end].reshape(count + 1, width).astype(np.float64)
    expected = bias + before[source : source + count].astype(np.float64) @ np.array(rows)
    assert end == at + (count + 1) * width
    assert np.abs(values[target : target + width] - np.tanh(expected)).max() < 2e-6
    values[target : target + width] = before[target : target + width]
    assert (values == before).all()


@pytest.mark.parametrize("width", [8, 16, 40])
def test_dense_adds_in_the_same_order_for_any_alignment(width):
    rng = np.random.default_rng(0)
    weights = rng.normal(scale=0.2, size=200 + 41 * width).astype(np.float32)
    values = rng.normal(size=256).astype(np.float32)
    results = set()
    for shift in range(4):
        moved_weights, moved_values = np.roll(weights, shift), np.roll(values, shift)
        dense(moved_weights, shift, moved_values, shift, 40, 120, width, False)
        results.add(moved_values[120 : 120 + width].tobytes())
    assert len(results) == 1
