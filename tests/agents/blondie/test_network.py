"""Network kernels against slow networks in float64."""

import numpy as np
import pytest

from agents.blondie.architecture import (
    BLONDIE_1999,
    BLONDIE_2001,
    NETWORK_LAYOUTS,
    NGUYEN,
    NGUYEN_LOGISTIC,
    UNSATURATED_2001,
    decode,
    layers,
    with_bounds,
)
from agents.evaluator import NO_BOUND, evaluate_position, value_bounds
from checkers_env.board import Board
from tests import oracle

LAYOUTS = list(NETWORK_LAYOUTS.values())
INT32 = np.iinfo(np.int32)

every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)


def random_network(layout, seed, spread=0.2, king=2.0):
    genome = np.random.default_rng(seed).uniform(-spread, spread, layout.genome_size)
    return genome, decode(layout, genome, king)


def expected(layout, genome, king, board, view):
    _, pieces = oracle.read_fen(board.fen())
    return oracle.network_value(layout.name, genome, king, "bw"[view], pieces)


def random_board(rng):
    return Board(oracle.write_fen(*oracle.random_position(rng)))


def test_subsquares_equal_a_naive_enumeration():
    for layout in (BLONDIE_2001, UNSATURATED_2001, NGUYEN, NGUYEN_LOGISTIC):
        found = [[int(square) + 1 for square in np.flatnonzero(row)] for row in layout.fields]
        assert found == oracle.subsquares()


@every_layout
@pytest.mark.parametrize("king", [1.37, 3.0])
def test_output_equals_the_slow_network(layout, king):
    rng = np.random.default_rng(5)
    genome, network = random_network(layout, 1, king=king)
    for _ in range(12):
        board = random_board(rng)
        for view in range(2):
            found = evaluate_position(network, board.position, view)
            assert found == pytest.approx(expected(layout, genome, king, board, view), abs=1e-5)


@pytest.mark.parametrize("hidden", [(1,), (17, 1), (20, 33, 1)])
def test_networks_with_other_layer_widths_equal_the_slow_network(hidden):
    layout, rng = BLONDIE_1999._replace(name="other", hidden=hidden), np.random.default_rng(7)
    genome, network = random_network(layout, 3)
    (first, bias), *dense = layers(layout, genome)
    for board in (random_board(rng) for _ in range(6)):
        _, pieces = oracle.read_fen(board.fen())
        squares = oracle.inputs(pieces, "b", 2.0)
        x = np.tanh(first @ [squares.get(square, 0.0) for square in range(1, 33)] + bias)
        for weights, biases in dense[:-1]:
            x = np.tanh(weights @ x + biases)
        (weights, biases), difference = dense[-1], genome[-1] * sum(squares.values())
        found = evaluate_position(network, board.position, 0)
        assert found == pytest.approx(np.tanh(weights @ x + biases + difference)[0], abs=1e-5)


def test_too_wide_layers_are_refused():
    for layout in (
        BLONDIE_1999._replace(hidden=(41, 1)),
        BLONDIE_1999._replace(fields=np.ones((129, 32), bool)),
    ):
        with pytest.raises(ValueError, match="at most 128 in the first, and 40 in the others"):
            decode(layout, np.zeros(layout.genome_size), 2.0)


@every_layout
@pytest.mark.parametrize("spread", [1.0, 30.0, 1e3])
def test_large_weights_stay_accurate_within_int32(layout, spread):
    genome, network = random_network(layout, 6, spread, king=3.0)
    small = genome.copy()
    behind = 40 * 92 if layout.subsquare_inputs else layout.fields.sum() + len(layout.fields)
    small[behind:] *= 0.2 / spread  # behind the first layer the network stays sensitive
    network = decode(layout, small, 3.0)
    rng = np.random.default_rng(8)
    worst = np.abs(network.features.astype(np.int64))
    worst = np.sort(worst.max(axis=1), axis=0)[-24:].sum(axis=0)
    assert (worst + np.abs(network.empty.astype(np.int64))).max() <= INT32.max
    for _ in range(12):
        board = random_board(rng)
        for view in range(2):
            found = evaluate_position(network, board.position, view)
            slow = expected(layout, small, 3.0, board, view)
            assert found == pytest.approx(slow, abs=1e-5 * max(1.0, spread / 30))


@every_layout
@pytest.mark.parametrize("spread", [0.1, 1.0, 30.0])
def test_values_stay_within_the_bounds_of_the_pieces(layout, spread):
    rng, bounded = np.random.default_rng(12), 0
    for seed in range(12):
        genome, king = rng.uniform(-spread, spread, layout.genome_size), rng.uniform(1, 3)
        genome[-1] = rng.choice([-1, 1]) * rng.uniform(0, 5 * spread)
        if seed % 2:  # nodes at their limits reach the bounds
            genome[:-12] *= 100
        plain = decode(layout, genome, king)
        network = with_bounds(plain)
        bounded += network.bounds > 0
        for board in (random_board(rng) for _ in range(30)):
            for view in range(2):
                value = evaluate_position(network, board.position, view)
                low, high = value_bounds(network, board.position, view)
                assert low <= value <= high
                assert value == evaluate_position(plain, board.position, view)
                assert (high - low == 2 * NO_BOUND) == (network.bounds == 0)
    assert 0 < bounded < 12


@pytest.mark.parametrize("spread", [0.2, 50.0])
def test_unsaturated_outputs_order_positions_like_the_sums(spread):
    rng = np.random.default_rng(10)
    genome, network = random_network(UNSATURATED_2001, 8, spread)
    saturated = decode(BLONDIE_2001, genome, 2.0)
    boards = [random_board(rng).position for _ in range(60)]
    found = np.array([evaluate_position(network, board, 0) for board in boards])
    plain = np.array([evaluate_position(saturated, board, 0) for board in boards])
    assert np.all(np.abs(found) < np.tanh(1.0))
    for one in range(len(boards)):
        above = plain[one] > plain + 1e-5
        assert np.all(found[one] > found[above])
    if spread > 1:
        assert len(set(found.tolist())) > 2 * len(set(plain.tolist()))
