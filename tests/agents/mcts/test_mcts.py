"""Monte Carlo tree search against exact expectations and solved endings."""

from collections import Counter

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.baselines.heuristic import Heuristic
from agents.baselines.material import Material
from agents.blondie.architecture import BLONDIE_1999
from agents.endgame.probe import probe_board
from agents.endgame.tables import load_tablebase
from agents.evaluator import evaluate_position
from agents.mcts.player import monte_carlo
from agents.mcts.tree import (
    SEEDS,
    apply_step,
    evaluate_playout,
    grow_tree,
    heuristic_successor,
    playout,
)
from agents.search.workspace import workspace
from checkers_env.board import Board
from checkers_env.movegen import Position, generate_successors
from tests import oracle
from tests.agents.baselines.test_baselines import even
from tests.agents.search.test_alphabeta import TOO_WIDE, network, random_boards
from tests.agents.search.test_tablebase import after

PURE = monte_carlo(simulations=4000, cut=0)
EARLY = monte_carlo(Material(), 4000)
PLAYERS = {
    "pure": PURE,
    "skewed": monte_carlo(simulations=4000, cut=0, skew=0.5),
    "cut at 6 plies": EARLY,
}


WIN_OR_LOSE = (  # the rare small endings of random ones in which every move does one or the other
    "W:W12,16:B3",
    "B:W22:B9,13",
    "W:W23,K27:B16",
    "B:W28:BK4,16,K20",
    "W:WK22,K30:B13",
)
WIN_AT_ONCE = (  # by one of several moves
    "W:WK27:B28",
    "B:W5:BK6",
    "B:W21:B10,17",
    "B:W29:BK2,K22,K30",
    "W:W5,K22,25:BK29",
    "W:WK4,K9,17:B5",
)
every_player = pytest.mark.parametrize("player", PLAYERS.values(), ids=PLAYERS)


def state_of(seed):
    return np.random.default_rng(seed).integers(1, SEEDS, 1)


def successors(board):
    ws = workspace()
    end = generate_successors(ws.rows, 0, *board.position)
    return [Position(*row[:3], 1 - board.turn) for row in ws.rows[:end].tolist()]


def tree_of(player, board, seed=0, ws=None):
    ws = ws or workspace()
    count = generate_successors(ws.rows, 0, *board.position)
    return grow_tree(player, board.position, ws, count, np.random.default_rng(seed))


def move_of(player, board, seed=0):
    return PlayerAgent("a", player, np.random.default_rng(seed)).act(board)


def test_simple_moves_equal_those_of_the_move_generator():
    checked = 0
    for board in random_boards(1, 150, 120):
        if not board.legal_moves[0].captured:
            rows = successors(board)
            assert [apply_step(board.position, i) for i in range(len(rows))] == rows
            checked += 1
    assert checked > 80


@pytest.mark.parametrize("fen", ["B:W6,15,17:B1,14", "B:W32:B9,25", "W:WK15,24:B1", Board().fen()])
def test_playout_heuristic_equals_the_heuristic_player(fen):
    board, rows, chance = Board(fen), workspace().rows, state_of(2)
    expected = set()
    for seed in range(100):
        expected.add(after(board, move_of(Heuristic(), board, seed)).position)
    draws = 300 * len(expected)
    counts = Counter(
        Position(*heuristic_successor(board.position, rows, 5, chance)) for _ in range(draws)
    )
    assert set(counts) == expected
    assert even(counts, draws)


def expectation(side, pieces, plies, worth, root):
    """Return the mean result for `root` of uniformly random play for so many plies."""
    turns = oracle.legal_turns(side, pieces)
    if not turns:
        return -1.0 if side == root else 1.0
    if plies == 0:
        return worth(root, pieces)
    other = oracle.OTHER[side]
    return np.mean([expectation(other, turn.after, plies - 1, worth, root) for turn in turns])


@pytest.mark.parametrize(
    "fen", ["B:WK15,K18,22:BK1,3", "W:W10,11,K22:BK3,20,24", "B:W6,7,14,15:BK2,K24", "W:W9:B2,5,6"]
)
@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_mean_of_playouts_equals_the_exact_expectation(fen, cut):
    player = monte_carlo(Material(), cut=cut)
    board, ws, chance = Board(fen), workspace(), state_of(cut)
    side, pieces = oracle.read_fen(fen)

    def worth(root, pieces):
        return sum(oracle.inputs(pieces, root, 1.5).values()) / 64 if cut else 0.0

    for root in range(2):
        expected = expectation(side, pieces, cut or 3, worth, "bw"[root])
        limit = 200 if cut else 3
        results = [playout(player, board.position, root, limit, ws, 9, chance) for _ in range(4000)]
        assert abs(np.mean(results) - expected) <= 5 * np.std(results) / np.sqrt(4000) + 1e-9


@pytest.mark.parametrize("root_perspective", [True, False])
def test_playouts_are_evaluated_from_the_right_perspective(root_perspective):
    evaluator = network(BLONDIE_1999, 0)
    player = monte_carlo(evaluator, root_perspective=root_perspective)
    for board in random_boards(2, 20, 80):
        for root in range(2):
            view = root if root_perspective else board.turn
            sign = 1 if view == root else -1
            expected = sign * evaluate_position(evaluator, board.position, view)
            assert evaluate_playout(player, board.position, root, workspace()) == expected


@every_player
def test_visits_and_results_of_children_add_up(player):
    for board in random_boards(3, 10, 100):
        tree = tree_of(player, board)
        assert tree["visits"][0] == player.simulations
        rows = list(zip(tree["black"], tree["white"], tree["kings"], strict=True))
        for at, node in enumerate(tree):
            children = tree[node["begin"] : node["end"]]
            own_playouts = node["visits"] - children["visits"].sum()
            assert abs(node["total"] + children["total"].sum()) <= own_playouts + 1e-9
            if len(children):
                assert own_playouts == (at > 0)
                assert (children["parent"] == at).all()
        root = tree[0]
        children = [Position(*row, 1 - board.turn) for row in rows[root["begin"] : root["end"]]]
        assert children == successors(board)


def results(board):
    """Return the result of each legal move for the opponent, by the endgame tables."""
    tables = load_tablebase(4)
    return {move: probe_board(tables, after(board, move)) for move in board.legal_moves}


@every_player
def test_winning_move_is_found_where_all_others_lose(player):
    for board in map(Board, WIN_OR_LOSE):
        assert results(board)[move_of(player, board)].value < 0, board.fen()


@every_player
def test_immediate_win_is_played(player):
    for board in map(Board, WIN_AT_ONCE):
        end = results(board)[move_of(player._replace(simulations=1), board)]
        assert (end.value, end.plies) == (-1, 0), board.fen()


def test_ties_in_visits_are_broken_by_mean_and_then_by_order():
    board = Board("B:W32,31,30:B1,2,K10")
    count = len(board.legal_moves)
    for seed in range(20):
        player = monte_carlo(Material(), count)  # each move is tried once
        tree = tree_of(player, board, seed)
        assert (tree["visits"][1:] == 1).all()
        best = int(np.argmax(tree["total"][1:]))
        assert move_of(player, board, seed) == board.legal_moves[best]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations must be from 1 to"),
        ({"simulations": 2**70}, "simulations must be from 1 to"),
        ({"cut": -1}, "cut must be from 0 to 1000000000, not -1"),
        ({"exploration": float("nan")}, "exploration must be from 0 to inf, not nan"),
        ({"skew": 1.1}, "skew must be from 0 to 1, not 1.1"),
        ({"max_plies": 0}, "max_plies must be from 1"),
        ({"evaluator": TOO_WIDE}, "state"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        monte_carlo(**options)
