"""The vector instructions against numpy."""

import numpy as np
import pytest

from agents.simd import BLOCK, aligned_zeros, dense, exchange, product_layer, tanh, tanh_all_exact
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


ENDS = (-32768, -32767, -256, -1, 0, 1, 254, 255, 256, 32767)


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_product_layer_is_a_clipped_matrix_product(share):
    """Of the pairs of products a share is not 0."""
    count = BLOCK
    rng, starts = np.random.default_rng(count), (2 * count + 3, 1)
    numbers = np.where(
        rng.random((2, 2, 2 * count)) < 0.3,
        rng.choice(ENDS, (2, 2, 2 * count)),
        rng.integers(-40, 300, (2, 2, 2 * count)),
    )
    numbers[:, 0] *= np.repeat(rng.random((2, count)) < share, 2, axis=1)
    state = rng.integers(-1000, 1000, 4 * count + 9).astype(np.int32)
    for start, parts in zip(starts, numbers, strict=True):
        pairs = parts.ravel()[0::2] + (parts.ravel()[1::2] << 16)
        state[start : start + 2 * count] = pairs
    weights = rng.integers(-1024, 1024, (2 * count, 16, 2)).astype(np.int16)
    biases = rng.integers(-(2**20), 2**20, 16).astype(np.int32)
    one, other = np.clip(numbers, 0, 255).swapaxes(0, 1)
    products = (one * other + 128) >> 8
    assert (share == 0) == (products.max() == 0)
    expected = biases + products.ravel() @ weights.swapaxes(1, 2).reshape(-1, 16).astype(int)
    unit = np.float32(1.5 / np.abs(expected).max())
    values = aligned_zeros((256,), np.float32)
    values[:] = rng.normal(size=256)
    rest = values[16:].copy()
    product_layer(state, starts, weights, biases, values, unit)
    exact = np.clip(expected.astype(np.float32) * unit, 0, 1)
    assert 0 in exact
    assert exact.max() > 0
    assert values[:16].tolist() == exact.tolist()
    assert values[16:].tobytes() == rest.tobytes()


def test_exchange_adds_and_subtracts_in_place_as_well():
    old, plus, minus = np.random.default_rng(0).integers(-(2**20), 2**20, (3, 272)).astype(np.int32)
    new, expected = np.zeros_like(old), old + plus - minus
    exchange(old, plus, minus, new)
    exchange(old, plus, minus, old)
    assert new.tolist() == old.tolist() == expected.tolist()
