"""The tapered network against a naive computation."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agents.evaluator import evaluate_position
from agents.treestrap.tapered import (
    PAIRED_PIECES,
    PIECE_KINDS,
    pack_stages,
    tapered_network,
    unpack_network,
    unpack_stages,
)
from agents.treestrap.windows import OFFSETS, SIZE, STAGES
from tests import oracle
from tests.agents.treestrap.test_packed import STEP, pack
from tests.agents.treestrap.test_windows import boards, named

LARGEST = (1 << 15) - 1
WEIGHTS = st.integers(-1000, 1000) | st.integers(-LARGEST, LARGEST)


@pytest.fixture(scope="module")
def weights():
    """Return weights whose sums are often large, with other ones on both sides of the diagonal."""
    rng = np.random.default_rng(0)
    table = rng.integers(-60, 61, (SIZE, STAGES), np.int16)
    return table, rng.integers(-60, 61, (PIECE_KINDS, PIECE_KINDS, STAGES), np.int16)


@pytest.fixture(scope="module")
def network(weights):
    return tapered_network(*weights, STEP)


def shares(count):
    """Return the share of each stage: pure at 3.5, 9.5, 15.5 and 21.5 pieces."""
    return [np.interp(count, (3.5, 9.5, 15.5, 21.5), row) for row in np.eye(STAGES)]


def kinds(mover, pieces):
    """Return the number of each piece, read square by square from the mover's side."""
    found = []
    for square, piece in pieces.items():
        place = square - 1 if mover == "b" else 32 - square
        found.append(4 * place + 2 * (piece.lower() == mover) + piece.isupper())
    return sorted(found, reverse=True)


def naive_logit(weights, side, pieces):
    """Return the sum of windows, piece numbers and pairs, blended over the stages."""
    table, pairs = weights
    total = table[named(side, pieces)[1]].sum(axis=0, dtype=int)
    if len(pieces) <= PAIRED_PIECES:
        for larger, smaller in itertools.combinations(kinds(side, pieces), 2):
            total = total + pairs[larger, smaller].astype(int) + pairs[smaller, larger].astype(int)
    return float(total @ shares(len(pieces))) * STEP


def test_values_equal_a_naive_computation_for_both_perspectives(weights, network):
    seen = set()
    for board in boards():
        side, pieces = oracle.read_fen(board.fen())
        seen.add(len(pieces) <= PAIRED_PIECES)
        value = np.tanh(naive_logit(weights, side, pieces))
        found = evaluate_position(network, board.position, board.turn)
        assert found == pytest.approx(value, abs=2e-6)
        assert evaluate_position(network, board.position, 1 - board.turn) == -found
    assert seen == {True, False}


def stage_sums(totals):
    """Return the sum of each stage from sums of packed weights; the inner stages are in two."""
    lower, upper = zip(*(unpack_stages(int(total)) for total in totals), strict=True)
    assert lower[1:] == upper[:-1]
    return [*lower, upper[-1]]


@given(arrays(np.int16, (54, STAGES), elements=WEIGHTS))
def test_sums_of_packed_weights_are_the_sums_of_the_stages(weights):
    """Weights of any sign and size, as many of them as have sums of 16 bits."""
    sums = np.cumsum(weights, axis=0, dtype=int)
    fit = int(np.argmin([*np.all(np.abs(sums) <= LARGEST, axis=1), False]))
    packed = pack_stages(weights)
    for count in range(1, fit + 1):
        assert stage_sums(packed[:, :count].sum(axis=1)) == sums[count - 1].tolist()


def test_network_is_read_from_a_packed_file():
    rng = np.random.default_rng(7)
    table = np.zeros((SIZE, STAGES), np.int16)
    pairs = np.zeros((PIECE_KINDS, PIECE_KINDS, STAGES), np.int16)
    for array in (table, pairs):  # few: a table full of them takes seconds to compress
        array.ravel()[rng.integers(0, array.size, 3000)] = rng.integers(-99, 100, 3000)
    loaded = unpack_network(pack(np.concatenate([table.T.ravel(), pairs.ravel()])).tobytes(), STEP)
    for found, network in zip(loaded[:3], tapered_network(table, pairs, STEP)[:3], strict=True):
        assert np.array_equal(found, network)


@pytest.mark.parametrize("where", ["table", "pairs"])
def test_weights_whose_sums_overflow_are_refused(weights, where):
    """66 pairs or 54 entries of this size exceed 16 bits."""
    table, pairs = (np.zeros_like(array) for array in weights)
    if where == "table":
        table[[*OFFSETS[:-1], -1], 1] = -607
    else:
        pairs[9, 4, 3], pairs[4, 9, 3] = 300, 197  # of which both count
    with pytest.raises(ValueError, match="the weights are too large"):
        tapered_network(table, pairs, STEP)
    tapered_network(table // 2, pairs // 2, STEP)
