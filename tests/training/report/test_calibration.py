"""How well values foretell results, against plain computations and scipy."""

import math

import numpy as np
import pytest

import agents
from checkers_env.board import Board
from tests.training.rating.simulated import random_game
from training.report.calibration import (
    SURE,
    ValuedPosition,
    piece_rows,
    plot_reliability,
    quiet_positions,
    reliability,
    value_positions,
)


@pytest.mark.parametrize("opening", ["11-15 23-19", "W:W18,21,K30:B3,10,K22"])
def test_positions_are_the_first_quiet_ones_of_each_number_of_pieces(opening):
    for seed in range(10):
        game = random_game(seed, opening)
        wanted, board = {}, Board(opening) if ":" in opening else Board()
        for ply, move in enumerate(game.moves):
            pieces = bin(board.black).count("1") + bin(board.white).count("1")
            played = ":" in opening or ply >= 2
            if played and not any(it.captured for it in board.legal_moves):
                wanted.setdefault(pieces, board.fen())
            board.push(move)
        found = quiet_positions(game)
        assert {pieces: board.fen() for pieces, board in found.items()} == wanted


def test_values_are_for_black():
    game = random_game(3, score=0.0)
    agent = agents.make("material", depth=2)
    valued = value_positions(agent, game)
    assert {it.result for it in valued} == {-1.0}
    for it, board in zip(valued, quiet_positions(game).values(), strict=True):
        score = agents.analyse(agent, board, depth=2).score
        assert it.value == (score if board.turn == 0 else -score)
        assert it.pieces == (board.black | board.white).bit_count()
    assert any(it.value for it in valued)


GAMES = [
    *(ValuedPosition(0, n, value, 1.0) for n, value in ((12, 0.0), (10, 0.3), (8, 0.5), (6, 1.0))),
    *(ValuedPosition(1, n, value, -1.0) for n, value in ((12, 0.4), (10, -0.5), (7, 0.1))),
    *(ValuedPosition(2, n, value, 0.0) for n, value in ((12, SURE), (10, -0.6), (8, 0.1))),
    ValuedPosition(3, 12, -0.9, -1.0),
]


def test_rows_count_by_pieces():
    rows = piece_rows(GAMES)
    counts = [(it.pieces, it.games, it.drawn, it.sure, it.turned) for it in rows]
    assert counts == [(12, 4, 1, 1, 0), (10, 3, 1, 1, 1), (8, 2, 1, 0, 0), (6, 1, 0, 0, 1)]
    correlations = [it.correlation for it in rows]
    assert correlations[0] == pytest.approx(np.corrcoef([0, 0.4, 0.35, -0.9], [1, -1, 0, -1])[0, 1])
    assert all(map(math.isnan, correlations[1:]))


def test_points_of_the_diagram_are_means():
    rng = np.random.default_rng(1)
    positions = [
        ValuedPosition(game, 12, float(value), float(rng.integers(-1, 2)))
        for game, value in enumerate([-1.0, 1.0, *rng.uniform(-1, 1, 200)])
    ]
    points = reliability(positions)
    assert points[:, 2].sum() == len(positions)
    for place, (foretold, score, number) in enumerate(points):
        low, high = place / 10, (place + 1) / 10 if place < 9 else 2
        inside = [it for it in positions if low <= (1 + it.value) / 2 < high]
        assert number == len(inside)
        assert foretold == pytest.approx(sum((1 + it.value) / 2 for it in inside) / number)
        assert score == pytest.approx(sum((1 + it.result) / 2 for it in inside) / number)
    assert reliability([]).shape == (0, 3)
    assert b"<svg" in plot_reliability({"someone": points})
