"""Agents of compiled players: the size of the transposition table."""

import threading

import numpy as np
import pytest

import agents
from agents.agent import Limits, PlayerAgent
from agents.baselines.material import Material
from agents.match import play_game
from agents.mcts.player import monte_carlo
from agents.search.player import AlphaBeta
from checkers_env.board import Board

DEFAULT = 1 << 16


def search(agent, **limits):
    stopped = threading.Event()
    return agent.search(Board(), Limits(**limits), stopped, lambda depth, move: stopped.set())


@pytest.mark.parametrize(
    ("limits", "entries"),
    [
        ({"depth": 3}, DEFAULT),
        ({"seconds": 1e-6}, DEFAULT),
        ({"seconds": 0.05}, 1 << 19),
        ({"seconds": np.inf}, 1 << 22),
        ({"nodes": 100_000, "depth": 3}, 1 << 17),
        ({"nodes": 100_000, "depth": 3, "seconds": 60}, 1 << 17),
    ],
)
def test_table_of_a_selective_search_suits_its_limits(limits, entries):
    agent = agents.make("blondie24", selective=True)
    stop = agent.ws.stop
    assert search(agent, **limits) in Board().legal_moves
    assert len(agent.ws.table) == entries
    assert agent.ws.stop is stop  # what may stop the search still can


def test_table_never_gets_smaller_and_keeps_its_content():
    agent = agents.make("blondie24", selective=True)
    search(agent, nodes=100_000, depth=6)
    table = agent.ws.table
    search(agent, seconds=1e-6)
    assert agent.ws.table is table
    assert table["black"].any()


@pytest.mark.parametrize(
    "player",
    [AlphaBeta(Material(np.nan), 2), monte_carlo(Material(np.nan), 10)],
    ids=["alpha-beta", "Monte Carlo"],
)
def test_evaluator_that_returns_nan_is_refused_by_name(player):
    board = Board("W:WK18,K31:BK12,3")
    for play in (PlayerAgent("men", player).act, lambda board: play_game(player, player)):
        with pytest.raises(
            ValueError, match=r"^Material evaluates a position as NaN, not -1 to 1$"
        ):
            play(board)
