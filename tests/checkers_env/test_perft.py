"""Perft counts against published tables and slow rules."""

import numpy as np
import pytest

from checkers_env.board import Board
from checkers_env.perft import perft
from tests import DATA, oracle

DEEPEST_BY_DEFAULT = 11
# Legal move paths from the start position, depth 1 first; distinct capture routes count separately,
# which first matters at depth 12. Published: A. Bik, ICGA Journal 35(4), 2012; OEIS A133046.
START_COUNTS = (
    7,
    49,
    302,
    1_469,
    7_361,
    36_768,
    179_740,
    845_931,
    3_963_680,
    18_391_564,
    85_242_128,
    388_623_673,
    1_766_623_630,
    7_978_439_499,
    36_263_167_175,
)


def table(name):
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def start_counts():
    for depth, leaves in enumerate(START_COUNTS, 1):
        slow = [pytest.mark.slow] if depth > DEEPEST_BY_DEFAULT else []
        yield pytest.param(depth, leaves, marks=slow)


@pytest.mark.parametrize(("depth", "leaves"), list(start_counts()))
def test_start_position_has_the_published_counts(depth, leaves):
    assert perft(Board(), depth) == leaves


@pytest.mark.parametrize(("fen", "counts"), table("perft_positions.tsv"))
def test_positions_have_the_counts_of_three_other_generators(fen, counts):
    leaves = [int(count) for count in counts.split(",")]
    board = Board(fen)
    assert [perft(board, depth) for depth in range(1, len(leaves) + 1)] == leaves


def test_counts_equal_those_of_the_slow_rules():
    rng = np.random.default_rng(0)
    for _ in range(100):
        side, pieces = oracle.random_position(rng)
        assert perft(Board(oracle.write_fen(side, pieces)), 3) == oracle.perft(side, pieces, 3)


def test_shortest_lines():
    board = Board()
    assert perft(board, 0) == 1
    perft(board, 3)
    assert board == Board()
    assert perft(Board("B:W18:B"), 1) == perft(Board("B:W18:B"), 4) == 0
    with pytest.raises(ValueError, match="0 plies or more, not of -1"):
        perft(Board(), -1)
