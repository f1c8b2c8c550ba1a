"""The network with a policy, against numpy, and its search."""

from dataclasses import replace

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.architectures import build_player
from agents.mcts.player import monte_carlo
from agents.mcts.policy_value import PolicyValue, first_action, judge, weight_count
from agents.mcts.tree import grow_tree
from agents.search.workspace import workspace
from agents.weights import WeightsMetadata
from checkers_env import observe
from checkers_env.actions import move_to_actions
from checkers_env.board import Board
from checkers_env.movegen import generate_successors
from checkers_env.moves import pack_move
from tests.checkers_env.test_board import random_game

STEPS = [(0, 0), (-2, 2), (-2, -2), (-1, 1), (-1, -1), (1, -1), (1, 1), (2, -2), (2, 2)]
SIZE = {"channels": 5, "blocks": 2}
METADATA = WeightsMetadata("policy-value", 1.0, "test", 0, 0, options=SIZE)


def random_network(seed):
    weights = np.random.default_rng(seed).normal(size=weight_count(**SIZE)) * 0.3
    return weights.astype(np.float32)


def cell(square):
    row, column = divmod(square, 4)
    return 7 - row, 6 - 2 * column + row % 2


def slow_judge(weights, planes, channels, blocks):
    """Return logits and value by arrays of rows and columns."""
    rest = list(weights.astype(float))

    def take(*shape):
        part, rest[:] = rest[: int(np.prod(shape))], rest[int(np.prod(shape)) :]
        return np.reshape(part, shape)

    def convolve(grid, bias, kernel):
        padded = np.pad(grid, ((0, 0), (2, 2), (2, 2)))
        shifted = [padded[:, 2 + row : 10 + row, 2 + col : 10 + col] for row, col in STEPS]
        whole = np.einsum("kirc,kio->orc", shifted, kernel.reshape(9, len(grid), -1))
        whole += bias
        dark = np.zeros((8, 8))
        dark[cells] = 1
        return whole * dark

    cells = tuple(np.transpose([cell(square) for square in range(32)]))
    layers = [
        [(take(channels), take(9 * channels, channels)) for _ in range(2)] for _ in range(blocks)
    ]
    bias = np.zeros((channels, 8, 8))
    bias[:, *cells] = take(32, channels).T
    x = np.maximum(convolve(planes[:5], bias, take(9 * 5, channels)), 0)
    for (first_bias, first), (last_bias, last) in layers:
        inner = np.maximum(convolve(x, first_bias[:, None, None], first), 0)
        x = np.maximum(x + convolve(inner, last_bias[:, None, None], last), 0)
    features = x[:, *cells].T
    policy_bias, policy = take(4), take(channels, 4)
    hidden_bias, hidden = take(64), take(32 * channels, 64)
    bias, output = take(1), take(64)
    units = np.maximum(features.ravel() @ hidden + hidden_bias, 0)
    assert not rest
    return features @ policy + policy_bias, np.tanh(units @ output + bias[0])


@pytest.mark.parametrize("seed", range(3))
def test_network_is_that_of_numpy(seed):
    weights, board = random_network(seed), random_game(seed, max_moves=20)
    while board.ply:
        logits, value = judge(PolicyValue(weights, **SIZE), board.position)
        expected = slow_judge(weights, observe(board)[0], **SIZE)
        np.testing.assert_allclose(logits, expected[0], atol=1e-4)
        assert value == pytest.approx(expected[1], abs=1e-4)
        board.pop()


def test_first_action_is_that_of_the_environment():
    for seed in range(10):
        board = random_game(seed, max_moves=60)
        while board.ply:
            for move in board.legal_moves:
                square, index = first_action(pack_move(move), board.turn)
                assert 4 * square + index == move_to_actions(move, board.turn)[0]
            board.pop()


def grow(fen, simulations):
    ws, position = workspace(), Board(fen).position
    options = {"simulations": simulations}
    player = build_player(random_network(0), replace(METADATA, mcts_options=options))
    count = generate_successors(ws.rows, 0, *position)
    return grow_tree(player, position, ws, count, np.random.default_rng(0))


def test_tree_counts_each_simulation_and_shares_the_priors():
    tree = grow("W:W21-32:B1-12", 100)
    assert tree[0]["visits"] == 101
    for node in tree[tree["begin"] < tree["end"]]:
        children = tree[node["begin"] : node["end"]]
        assert children["visits"].sum() == node["visits"] - 1
        assert children["prior"].sum() == pytest.approx(1)
        assert np.all(children["prior"] > 0)
    assert np.all(np.abs(tree["total"]) <= tree["visits"])


def after(board, move):
    copied = board.copy()
    copied.push(move)
    return copied


def wins(board, move, plies):
    """Return whether a move wins within so many plies, by a search of all lines."""
    then = after(board, move)
    replies = [after(then, reply) for reply in then.legal_moves]
    return (not replies or plies > 1) and all(
        any(wins(it, own, plies - 2) for own in it.legal_moves) for it in replies
    )


def test_wins_in_three_plies_are_found_by_an_untrained_network():
    player = monte_carlo(PolicyValue(random_network(1), **SIZE), 2000)
    agent, found = PlayerAgent("untrained", player), []
    for seed in range(60):
        board = random_game(seed, max_moves=60)
        for _ in range(min(4, board.ply)):
            board.pop()
            won = [move for move in board.legal_moves if wins(board, move, 3)]
            if 0 < len(won) < len(board.legal_moves) and not wins(board, won[0], 1):
                found.append(agent.act(board) in won)
    assert len(found) > 10
    assert np.mean(found) > 0.8  # other moves may win later


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": 0, "blocks": 2}, "channels are 1 to 512"),
        ({"channels": 5, "blocks": 10}, "blocks 0 to 9"),
        ({"channels": 5.0, "blocks": 2}, "not 5.0, 2"),
        ({"channels": 6, "blocks": 2}, "weights; policy-value has"),
        ({"channels": 5}, "do not fit|missing"),
    ],
)
def test_a_network_of_another_size_is_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        build_player(random_network(0), replace(METADATA, options=options))
