"""Players without training: random, heuristic and material."""

from collections import Counter

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.baselines.heuristic import Heuristic
from agents.baselines.material import FULL_SCALE, Material
from agents.baselines.random_player import RandomPlayer
from agents.evaluator import evaluate_position
from agents.player import is_stochastic
from checkers_env.board import Board
from tests import oracle

DRAWS = 600


def agent(player, seed=0):
    return PlayerAgent("player", player, np.random.default_rng(seed))


def moves_of(player, fen, draws):
    chooser, board = agent(player), Board(fen)
    return Counter("x".join(map(str, chooser.act(board).squares)) for _ in range(draws))


def even(counts, draws):
    """Return whether every count is within five standard deviations of its share."""
    share = draws / len(counts)
    spread = 5 * np.sqrt(share * (1 - 1 / len(counts)))
    return all(abs(count - share) <= spread for count in counts.values())


@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("B:W6,17:B2,14", {"2x9", "14x21"}),
        ("B:W6,15,17:B1,14", {"1x10x19"}),  # two men rather than one
        ("B:WK6,17:B1,K14", {"1x10"}),  # a king rather than a man
        ("B:WK6,17,25:B1,14", {"14x21x30"}),  # but not rather than two men
        ("B:W26,27,6:B1,23", {"23x30", "23x32"}),  # of single captures those that crown
        ("B:W32:B9,25", {"25x29", "25x30"}),  # crowns rather than advances
        ("B:W32:B9,K18", {"9x13", "9x14"}),  # advances a man rather than moves a king
        ("W:W8,24:B1,K32", {"8x3", "8x4"}),
        ("W:WK15,24:B1", {"24x19", "24x20"}),
    ],
)
def test_heuristic_wins_or_captures_and_else_moves_at_random(fen, best):
    counts = moves_of(Heuristic(), fen, DRAWS)
    assert set(counts) == best
    assert even(counts, DRAWS)


def test_heuristic_uses_the_given_king_value():
    fen = "B:WK6,17,25:B1,14"
    assert set(moves_of(Heuristic(king=3.0), fen, 20)) == {"1x10"}


def test_random_player_plays_every_move_equally_often():
    counts = moves_of(RandomPlayer(), Board().fen(), 1400)
    assert set(counts) == {str(move).replace("-", "x") for move in Board().legal_moves}
    assert even(counts, 1400)


@pytest.mark.parametrize("player", [Heuristic(), RandomPlayer()])
def test_games_are_legal_and_reproducible_and_leave_the_board_unchanged(player):
    games = []
    for seed in (1, 1, 2):
        chooser, board = agent(player, seed), Board(no_progress=10)
        while not board.outcome():
            before = board.fen()
            move = chooser.act(board)
            assert board.fen() == before
            board.push(move)  # refuses an illegal one
        games.append([str(move) for move in board.moves])
    assert games[0] == games[1] != games[2]
    assert is_stochastic(player)


@pytest.mark.parametrize("king", [1.0, 1.5, 3.0])
def test_material_is_the_difference_in_pieces(king):
    rng = np.random.default_rng(0)
    for _ in range(100):
        side, pieces = oracle.random_position(rng)
        board = Board(oracle.write_fen(side, pieces))
        position = board.position
        for view, colour in enumerate("bw"):
            difference = sum(oracle.inputs(pieces, colour, king).values())
            assert evaluate_position(Material(king), position, view) == difference / FULL_SCALE


def test_material_never_evaluates_to_a_won_game():
    board = Board(f"B:W:B{','.join(f'K{square}' for square in range(1, 13))}")
    position = board.position
    assert 0.9 < evaluate_position(Material(5.0), position, 0) < 1.0
