"""The small network against plain computations, in float64 and in integers."""

import math
import zlib
from dataclasses import replace

import numpy as np
import pytest

import agents
from agents.evaluator import evaluate_position
from agents.geometry import cell
from agents.nnue.learner import start_learner
from agents.nnue.network import LAYOUT, NODES, SETS, SIZE, TABLES, nnue, pack_genome, split
from agents.weights import WeightsMetadata, save_weights
from checkers_env.board import Board
from tests import oracle
from tests.agents.ntuple.test_network import indices
from tests.agents.search.test_alphabeta import random_boards

HALF = NODES // 2
HEADER = WeightsMetadata("nnue", 1.0, "strong", 0, 3, depth=3)


def random_genome(seed=0):
    """Return weights like learnt ones, all of them random, with a large share of the layers."""
    rng = np.random.default_rng(seed)
    genome = start_learner(rng).genome
    weights = split(genome)
    weights.output[:, 1:] *= 5
    for part in (*weights[:2], *weights[3:]):
        part += rng.normal(0, 0.05, part.shape)
    return genome


@pytest.fixture(scope="module")
def genome():
    return random_genome()


def boards():
    """Return positions of 2 to 24 pieces, some of which no game reaches."""
    rng = np.random.default_rng(2)
    found = [*random_boards(3, 60, 150), Board("W:WK1:BK32"), Board("B:W14:B3,K21,27")]
    found += [Board(oracle.write_fen(*oracle.random_position(rng))) for _ in range(60)]
    return [board for board in found if board.position.black | board.position.white]


def both_rows(mover, pieces):
    return indices(LAYOUT, pieces, mover), indices(LAYOUT, pieces, oracle.OTHER[mover])


def test_blocks_are_squares_around_an_unused_one_and_two_corners():
    light = [place for place in np.ndindex(7, 7) if min(place) and sum(place) % 2 == 0]
    around = [{at for at in range(1, 33) if math.dist(cell(at), place) == 1} for place in light]
    assert [set(squares) for squares in LAYOUT[:18]] == around
    assert {square for squares in LAYOUT for square in squares} == set(range(1, 33))


def set_of(pieces):
    """Return the set of weights: for 1 to 4 pieces, 5 to 8 and so on, and for 21 or more."""
    return [count <= len(pieces) for count in (5, 9, 13, 17, 21)].count(True)


def plain_layers(genome, mover, pieces):
    """Return the products of the first layer and the value, in float64."""
    weights, number = split(np.asarray(genome, np.float64)), set_of(pieces)
    views = both_rows(mover, pieces)
    sums = [np.clip(weights.first_bias + weights.first[view].sum(0), 0, 1) for view in views]
    products = np.concatenate([here[:HALF] * here[HALF:] for here in sums])
    small = np.clip(products @ weights.second[number] + weights.second_bias[number], 0, 1)
    bias, *last = weights.output[number]
    return products, np.tanh(bias + small @ last + weights.worths[views[0]].sum())


def whole_layers(genome, mover, pieces):
    """Return the small layer, the sum at the output and that of worths, from whole numbers.

    Weights are in 1/255, and in 1/1024 for the second layer.
    """
    weights, number = split(np.asarray(genome, np.float64)), set_of(pieces)
    views = both_rows(mover, pieces)
    first = [np.vstack([weights.first[view], weights.first_bias]) for view in views]
    sums = [np.clip(np.rint(255 * here).sum(0), 0, 255) for here in first]
    products = np.concatenate([(here[:HALF] * here[HALF:] + 128) // 256 for here in sums])
    unit = 256 / 255**2 / 1024  # of the sums of the second layer
    sums = np.rint(weights.second_bias[number] / unit)
    small = np.clip((sums + products @ np.rint(1024 * weights.second[number])) * unit, 0, 1)
    bias, *last = weights.output[number]
    return small, bias + small @ last, np.rint(65536 * weights.worths[views[0]]).sum() / 65536


def test_value_is_that_of_the_equations_with_weights_rounded(genome):
    """In whole numbers only the output is rounded, and tanh.

    The rounded weights of 24 pieces move a node of the first layer by 0.006 (one standard
    deviation), and all nodes move the value by some thousandths.
    """
    network, sets, errors, layers = nnue(genome), set(), [], []
    material = genome.copy()
    split(material).second[...] = 0
    for board in boards():
        mover, pieces = oracle.read_fen(board.fen())
        sets.add((set_of(pieces), mover))
        found = evaluate_position(network, board.position, board.turn)
        _, *sums = whole_layers(genome, mover, pieces)
        assert found == pytest.approx(np.tanh(sum(sums)), abs=2e-6)
        assert evaluate_position(network, board.position, 1 - board.turn) == -found
        _, expected = plain_layers(genome, mover, pieces)
        errors.append(abs(found - expected))
        layers.append(abs(plain_layers(material, mover, pieces)[1] - expected))
    assert len(sets) == 2 * SETS
    assert max(errors) < 0.015
    assert np.mean(errors) < 0.003 < 0.08 < np.mean(layers)


@pytest.mark.parametrize(
    ("name", "places", "most"),
    [
        ("first", np.s_[-1, -1], 32767 / 255),
        ("first", np.s_[::625, 3], 32767 / 255 / 20),  # of each block
        ("first_bias", -1, 32767 / 255),
        ("second", np.s_[-1, -1, -1], 32767 / 1024),
        ("second_bias", np.s_[0, 5], 2**31 / 260100),
        ("worths", 7, 32767),
        ("worths", np.s_[::625], 32767 / 20),
    ],
)
def test_weights_whose_sums_overflow_are_refused(name, places, most):
    """16 bits are for sums of 1/255 and for weights of 1/1024, 32 bits for other sums."""
    genome = np.zeros(SIZE, np.float32)
    part = getattr(split(genome), name)
    for size in (0.98 * most, -0.98 * most):
        part[places] = size
        nnue(genome)
    for size in (1.02 * most, -1.02 * most, 1e30):
        part[places] = size
        with pytest.raises(ValueError, match="the weights are too large"):
            nnue(genome)


def test_weight_file_plays_as_the_network(tmp_path, genome):
    path = str(tmp_path / "small.safetensors")
    save_weights(path, pack_genome(genome), replace(HEADER, options={"endgame": 2}))
    player = agents.make(path).player
    assert (player.depth, player.tablebase.indexing.pieces) == (3, 2)
    for found, expected in zip(player.evaluator, nnue(genome), strict=True):
        assert np.array_equal(found, expected)
    with pytest.raises(ValueError, match="weights that are no numbers"):
        pack_genome(np.full(SIZE, np.nan, np.float32))


def packed(tables, rest=b""):
    """Return the content of a file with these bytes."""
    return np.frombuffer(zlib.compress(tables * 2 * TABLES + rest * 4 * (SIZE - TABLES)), np.uint8)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (np.zeros(SIZE, np.float32), {}, "packed weights are uint8, not float32"),
        (packed(b"0"), {}, "it is for another network: 6400000 bytes, not 6550120"),
        (packed(b"\x7f", b"\0"), {}, "the weights are too large: sums do not fit"),
        (packed(b"\0", b"\xff"), {}, "weights that are no numbers"),
        (packed(b"\0", b"\0"), {"step": 1.0}, "its options do not fit nnue"),
    ],
)
def test_unsuitable_file_is_refused(tmp_path, content, options, message):
    path = str(tmp_path / "small.safetensors")
    save_weights(path, content, replace(HEADER, options=options))
    with pytest.raises(ValueError, match=f"small.safetensors' cannot be played: .*{message}"):
        agents.make(path)
