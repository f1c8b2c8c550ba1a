"""What an agent thinks of a position, as agents.analyse tells it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import agents
from checkers_env.board import Board
from checkers_env.moves import Move

WON = "W:W18,24,K31:B12,K3"


class First:
    """An agent of somebody else's."""

    def act(self, board: Board) -> Move:
        return board.legal_moves[0]


@pytest.mark.parametrize("name", ["blondie24", "c5-n0.001", "strong"])
def test_it_is_the_agents_own_move_with_the_line_that_begins_with_it(name):
    agent, board = agents.make(name, depth=4), Board()
    thought = agents.analyse(agent, board)
    assert thought.move == thought.line[0] == agents.make(name, depth=4).act(board)
    assert (thought.depth, -1 < thought.value < 1, thought.nodes > 0) == (4, True, True)
    for move in thought.line:
        assert move in board.legal_moves
        board.push(move)
    assert len(thought.line) >= 4


def test_limits_are_for_this_once():
    agent, board = agents.make("blondie24", depth=2), Board(WON)
    assert [agents.analyse(agent, board, depth=plies).depth for plies in (6, 3)] == [6, 3]
    assert agents.analyse(agent, board).depth == 2
    assert agents.analyse(agents.make("blondie24", seconds=0.02), board).depth > 2
    assert agents.analyse(agents.make("mcts"), board, simulations=20).nodes == 20


def test_without_limits_it_thinks_as_it_plays():
    both = agents.make("blondie24", depth=2, seconds=5)
    assert agents.analyse(both, Board(WON)).depth == 2
    simulating = agents.make("mcts", seconds=0.1)
    assert agents.analyse(simulating, Board(WON)).nodes > 0
    asked = agents.analyse(agents.make("mcts", simulations=1), Board(WON), seconds=0.1)
    assert asked.nodes > 1


def test_the_line_of_an_only_move_ends_somewhere():
    only = Board("W:W28:B24,K3")
    assert len(only.legal_moves) == 1
    for limits, most in (({"seconds": 1}, 8), ({"depth": 3}, 3)):
        thought = agents.analyse(agents.make("blondie24", depth=4), only, **limits)
        assert 1 <= thought.depth <= most


def test_threads_that_share_an_agent_get_its_thoughts():
    agent, rng, boards = agents.make("blondie24", depth=4), np.random.default_rng(0), [Board()]
    while len(boards) < 60:
        board = boards[-1].copy() if boards[-1].legal_moves else Board()
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
        boards.append(board)
    boards = [board for board in boards if board.legal_moves]

    def told(board: Board) -> agents.Thought:
        return agents.analyse(agent, board)._replace(seconds=0, nodes=0)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(told, boards)) == [told(board) for board in boards]


def test_a_stranger_tells_its_move_alone():
    thought = agents.analyse(First(), Board(WON))
    assert thought[2:] == (None, (), None, None)
    assert thought.move == Board(WON).legal_moves[0]
    with pytest.raises(ValueError, match="First is not limited by depth"):
        agents.analyse(First(), Board(WON), depth=3)


@pytest.mark.parametrize(
    ("name", "limits", "message"),
    [
        ("blondie24", {"simulations": 3}, "blondie24 is not limited by simulations"),
        ("mcts", {"depth": 3}, "mcts is not limited by depth"),
        ("random", {"seconds": 1}, "random is not limited by seconds"),
        ("material", {"depth": 0}, "depth must be a whole number from 1 to 64"),
        ("material", {"seconds": -1}, "seconds must be more than 0"),
    ],
)
def test_limits_that_make_no_sense(name, limits, message):
    with pytest.raises(ValueError, match=message):
        agents.analyse(agents.make(name), Board(), **limits)


def test_a_game_that_is_over():
    with pytest.raises(ValueError, match="no legal move"):
        agents.analyse(agents.make("material"), Board("W:W:B1"))
