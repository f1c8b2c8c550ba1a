"""agents.analyse: moves, scores, principal variations and limits."""

import pytest

import agents
from agents import analysis as analysis_module
from agents.analysis import root_result
from checkers_env.board import Board
from checkers_env.moves import Move
from tests.agents.search.test_alphabeta import judge_by, move_values, random_boards

WON = "W:W18,24,K31:B12,K3"


class First:
    """An agent that is not a PlayerAgent."""

    def act(self, board: Board) -> Move:
        return board.legal_moves[0]


@pytest.mark.parametrize("name", ["blondie24", "strong"])
def test_analysed_move_is_the_agents_move_and_begins_the_pv(name):
    agent, board = agents.make(name, depth=4), Board()
    analysis = agents.analyse(agent, board)
    assert analysis.move == analysis.pv[0] == agents.make(name, depth=4).act(board)
    assert (analysis.depth, -1 < analysis.score < 1, analysis.nodes > 0) == (4, True, True)
    for move in analysis.pv:
        assert move in board.legal_moves
        board.push(move)
    assert len(analysis.pv) >= 4


def test_agent_may_be_given_by_name():
    board = Board(WON)
    made = agents.make("blondie24")
    named = agents.analyse("blondie24", board, depth=2)
    assert named._replace(seconds=0) == agents.analyse(made, board, depth=2)._replace(seconds=0)
    assert agents.explain("blondie24", board).to_json() == agents.explain(made, board).to_json()


def test_limits_apply_to_one_call():
    agent, board = agents.make("blondie24", depth=2), Board(WON)
    assert [agents.analyse(agent, board, depth=plies).depth for plies in (6, 3)] == [6, 3]
    assert agents.analyse(agent, board).depth == 2
    assert agents.analyse(agents.make("blondie24", seconds=0.2), board).depth > 2
    assert agents.analyse(agents.make("mcts"), board, simulations=20).nodes == 20


def test_own_limit_of_positions_gives_way_to_another_limit():
    found, expected = (
        agents.analyse(agents.make("strong", nodes=nodes), Board(), depth=7)
        for nodes in (50, 10**6)
    )
    assert found._replace(seconds=0) == expected._replace(seconds=0)
    timed = agents.analyse(agents.make("strong", nodes=50), Board(), depth=7, seconds=60)
    assert timed.nodes > 50


def test_pv_of_an_only_move_obeys_the_limits():
    only = Board("W:W28:B24,K3")
    assert len(only.legal_moves) == 1
    for limits, most in (({"seconds": 1}, 8), ({"depth": 3}, 3)):
        analysis = agents.analyse(agents.make("blondie24", depth=4), only, **limits)
        assert 1 <= analysis.depth <= most


def test_root_result_is_that_of_the_last_complete_depth():
    agent, board = agents.make("strong", nodes=2_000), Board("W:W14,17,21,23,25:B1,5,7,15,20")
    assert root_result(agent, board) == (1, None)
    agent.act(board)
    depth, value = root_result(agent, board)
    assert depth >= 6
    assert 0.3 < value < 1  # 14-9 5x14 17x3
    assert agents.analyse(agents.make("strong"), board, nodes=2_000).depth == depth


def untimed(analyses):
    return [analysis._replace(seconds=0) for analysis in analyses]


def test_nodes_give_the_same_at_every_call_and_on_a_busy_machine(monkeypatch):
    board, agent = Board("B:W20,30,31:B12,22,K32"), agents.make("strong", tie="chance")
    once = agents.analyse(agent, board, nodes=600_000, lines=2)
    assert all(line.score is not None and len(line.pv) > 9 for line in once)
    monkeypatch.setattr(analysis_module, "LEAST_SECONDS", 0.0)  # no time for anything
    again = agents.analyse(agent, board, nodes=600_000, lines=2)
    fresh = agents.analyse("strong@tie=chance", board, nodes=600_000)
    assert untimed(once) == untimed(again)
    assert untimed(once[:1]) == untimed([fresh])
    assert root_result(agent, board) == (1, None)  # its own table has stayed empty


def test_lines_are_those_of_the_best_moves():
    agent = agents.make("blondie24", depth=3)
    judge = judge_by(agent.player.evaluator)
    for board in random_boards(11, 12, 60):
        values = move_values(board, judge, 3, owner=True)
        lines = agents.analyse(agent, board, lines=3)
        assert [line.score for line in lines] == sorted(values, reverse=True)[:3]
        assert len({line.move for line in lines}) == len(lines)
        for line in lines:
            assert values[board.legal_moves.index(line.move)] == line.score
            assert line.pv[0] == line.move
        assert agent.act(board) == lines[0].move


def test_lines_are_as_many_as_there_are():
    only = agents.analyse("strong", Board("W:W28:B24,K3"), lines=3, nodes=1000)
    assert len(only) == len(agents.analyse(First(), Board(), lines=3)) == 1
    assert len(agents.analyse("strong", Board(), lines=9, seconds=0.1)) == 7
    for wrong in (0, True, 1.5):
        with pytest.raises(ValueError, match="lines must be None or a whole number from 1 on"):
            agents.analyse("material", Board(), lines=wrong)


def test_agents_without_a_search_return_their_move_only():
    analysis = agents.analyse(First(), Board(WON))
    assert analysis[1:5] == (None, (), None, None)
    assert analysis.move == Board(WON).legal_moves[0]
    with pytest.raises(ValueError, match="First is not limited by depth"):
        agents.analyse(First(), Board(WON), depth=3)


@pytest.mark.parametrize(
    ("name", "limits", "message"),
    [
        ("blondie24", {"simulations": 3}, "blondie24 is not limited by simulations"),
        ("mcts", {"depth": 3}, "mcts is not limited by depth"),
        ("random", {"seconds": 1}, "random is not limited by seconds"),
    ],
)
def test_invalid_limits_are_refused(name, limits, message):
    with pytest.raises(ValueError, match=message):
        agents.analyse(agents.make(name), Board(), **limits)


def test_finished_game_is_refused():
    with pytest.raises(ValueError, match="no legal move"):
        agents.analyse(agents.make("material"), Board("W:W:B1"))
