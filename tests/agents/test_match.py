"""Games in the kernel against the same games played move by move on a board."""

import copy
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import agents
from agents import match
from agents.agent import PlayerAgent
from agents.baselines.heuristic import RandomPlayer
from agents.baselines.material import Material
from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001, decode
from agents.match import ENGINES, LARGEST_NUMBER, play_game
from agents.match_kernel import DRAW, play
from agents.mcts.player import monte_carlo
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from agents.search.selective import Selective
from agents.search.workspace import EVALUATED, MAX_DEPTH, workspace
from checkers_env.board import Board
from checkers_env.movegen import BLACK, NO_MOVE, PACKED_MOVE, WHITE
from checkers_env.moves import Move, unpack_move
from checkers_env.openings import TWO_MOVE
from checkers_env.state import REASONS, DrawRules
from tests.agents.search.test_alphabeta import network as network_of

PLAIN = DrawRules()
START = Board().fen()
TWO_KINGS = "W:WK29:BK4"
ENDING = "W:WK15,K18:BK1,K3"


def network(seed, depth, **options):
    genome = np.random.default_rng(seed).uniform(-0.2, 0.2, BLONDIE_1999.genome_size)
    return AlphaBeta(decode(BLONDIE_1999, genome, 2.0), depth, **options)


def board_with(rules, fen=START):
    return Board(fen, rules=rules)


def path_of(move):
    path = NO_MOVE
    for square in move.squares:
        path = path << 6 | (square - 1) + (square - 1) // 8
    return path


def by_kernel(black, white, rules=PLAIN, *, fen=START, opening="", cut=False, seed=0, first=BLACK):
    """Return the game's result and all its rows; the kernel gets the player of `first` first."""
    game = np.zeros((2 * rules.max_moves + 1, 4), np.int64)
    board = Board(fen)
    start = board.position
    for ply, text in enumerate(opening.split(), 1):
        game[ply, PACKED_MOVE] = path_of(board.parse_move(text))
        board.push(text)
    rng = np.random.default_rng(seed)
    pair = (black, white) if first == BLACK else (white, black)
    result = play(*pair, workspace(), workspace(), first, start, rules.to_array(), cut, rng, game)
    return result, game[: result.plies + 1]


def by_hand(black, white, rules=PLAIN, *, fen=START, opening="", seed=0):
    """Return the board at the end of the game."""
    rng = np.random.default_rng(seed)
    agents = [PlayerAgent("black", black, rng), PlayerAgent("white", white, rng)]
    board = board_with(rules, fen)
    moves = iter(opening.split())
    while not board.outcome():
        board.push(next(moves, None) or agents[board.turn].act(board))
    return board


def assert_same_game(found, board):
    result, game = found
    outcome = board.outcome()
    assert REASONS[result.reason] == outcome.reason
    assert result.winner == (DRAW if outcome.winner is None else outcome.winner)
    assert result.plies == board.ply
    replayed = board.copy()
    for black, white, kings, path in game[:0:-1].tolist():
        assert (black, white, kings) == (replayed.black, replayed.white, replayed.kings)
        assert unpack_move(path) == replayed.pop()


@pytest.mark.parametrize("white", [RandomPlayer(), AlphaBeta(Material(), 2, tie=CHANCE)])
def test_kernel_game_equals_the_game_on_a_board(white):
    players = RandomPlayer(), white
    for seed, opening in enumerate(("", *TWO_MOVE[::15])):
        options = {"opening": opening, "seed": seed}
        expected = by_hand(*players, **options)
        for first in (BLACK, WHITE):
            assert_same_game(by_kernel(*players, first=first, **options), expected)


MATERIAL, NETWORK = AlphaBeta(Material(), 2), network_of(BLONDIE_2001, 1)
PAIRS = {
    "selective": (AlphaBeta(NETWORK, 5, style=Selective(table_bits=10)), MATERIAL),
    "positions": (
        AlphaBeta(NETWORK, MAX_DEPTH, root_perspective=False, style=Selective(nodes=300)),
        MATERIAL,
    ),
    "simulations": [monte_carlo(Material(), 60 - 20 * it, cut=0, skew=it / 2) for it in (0, 1)],
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_engines_play_the_same_games(pair):
    """Games do not depend on the table and move orders of earlier games."""
    rules = DrawRules(max_moves=60, repetition=3)
    for seed, opening in enumerate(TWO_MOVE[::12]):
        games = [
            play_game(*pair, opening=opening, rules=rules, rng=rng, engine=engine)
            for engine in ("kernel", "kernel", "env")
            for rng in [np.random.default_rng(seed)]
        ]
        assert games[0] == games[1] == games[2]


def test_game_of_two_kinds_is_compiled_once():
    kinds = RandomPlayer(), AlphaBeta(Material(), 1)
    play_game(*kinds)
    compiled = set(play.overloads)
    play_game(*kinds[::-1])
    assert set(play.overloads) == compiled


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (DrawRules(max_moves=7), "max moves"),
        (DrawRules(repetition=3), "repetition"),
        (DrawRules(no_progress=9), "no progress"),
        (DrawRules(repetition=3, no_progress=40), "repetition"),
        (DrawRules(max_moves=5, no_progress=5), "max moves"),  # both at once
    ],
)
def test_draw_rules_equal_those_of_the_board(rules, reason):
    reasons = set()
    for seed in range(12):
        options = {"fen": TWO_KINGS, "seed": seed}
        board = by_hand(RandomPlayer(), RandomPlayer(), rules, **options)
        assert_same_game(by_kernel(RandomPlayer(), RandomPlayer(), rules, **options), board)
        reasons.add(board.outcome().reason)
    assert reason in reasons


@pytest.mark.parametrize(
    ("fen", "blocked_draws", "expected"),
    [
        ("B:W18:B", False, (1, "no pieces", 0)),
        ("B:W9,14:B5", False, (1, "no legal move", 0)),
        ("B:W9,14:B5", True, (DRAW, "no legal move", 0)),
        ("W:W18:B14", False, (1, "no pieces", 1)),
        ("B:W14,23,27:B9", False, (1, "no pieces", 2)),  # by the last move of the limit
    ],
)
def test_side_without_moves_loses_or_draws_by_the_rule(fen, blocked_draws, expected):
    rules = DrawRules(1, blocked_draws=blocked_draws)
    found = by_kernel(RandomPlayer(), RandomPlayer(), rules, fen=fen)
    assert_same_game(found, by_hand(RandomPlayer(), RandomPlayer(), rules, fen=fen))
    winner, reason, plies = found[0]
    assert (winner, REASONS[reason], plies) == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"rules": DrawRules(1), "opening": "9-13 22-18"},
            "'9-13 22-18' leaves no game.*max moves",
        ),
        ({"opening": "B:W18:B"}, "leaves no game to play: no pieces"),
    ],
)
def test_openings_that_end_the_game_are_refused_by_both_engines(given, message, engine):
    with pytest.raises(ValueError, match=message):
        play_game(RandomPlayer(), RandomPlayer(), engine=engine, **given)


def test_illegal_opening_is_refused():
    game = np.zeros((201, 4), np.int64)
    game[1, PACKED_MOVE] = path_of(Move((11, 18)))
    players = RandomPlayer(), RandomPlayer(), workspace(), workspace(), BLACK
    start, rng = Board().position, np.random.default_rng(0)
    with pytest.raises(ValueError, match="illegal move"):
        play(*players, start, PLAIN.to_array(), False, rng, game)


def test_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="engine must be one of kernel, env, not 'foo'"):
        play_game(RandomPlayer(), RandomPlayer(), engine="foo")


def play_all(few, numbers):
    """Return the games of each player against each other, and the positions evaluated in them."""
    pairs = [pair for pair in itertools.permutations(range(len(few)), 2) for _ in range(2)]
    openings = [None, "9-13 22-18"] * (len(pairs) // 2)
    with ThreadPoolExecutor(1) as thread:  # with workspaces of its own
        games = [
            thread.submit(
                play_game,
                few[black],
                few[white],
                opening=opening,
                rules=DrawRules(30),
                player_ids=(numbers[black], numbers[white]),
            ).result()
            for (black, white), opening in zip(pairs, openings, strict=True)
        ]
        seats = thread.submit(lambda: match._thread.seats.values()).result()
        return games, sum(seat.counts[EVALUATED] for seat in seats)


@pytest.mark.parametrize("number", [-1, LARGEST_NUMBER])
def test_numbers_of_players_have_a_range(number):
    with pytest.raises(ValueError, match=f"player_ids must be 0 or more, .*, not .*{number}"):
        play_game(network(0, 1), network(1, 1), player_ids=(0, number))


def test_known_moves_of_numbered_players_change_no_game():
    few = [network(seed, 3) for seed in range(4)]
    games, evaluated = play_all(few, [0] * 4)
    assert play_all(few, [0] * 4) == (games, evaluated)
    same, fewer = play_all(few, [5, 6, 1 << 53, LARGEST_NUMBER - 1])
    assert same == games
    assert 0.8 * evaluated < fewer < 0.97 * evaluated
    mistaken, _ = play_all(few, [5] * 4)  # one number for different players: moves are mixed up
    assert mistaken != games


@pytest.mark.parametrize("root_perspective", [True, False])
def test_cutting_cycles_changes_no_game(root_perspective):
    cycles = 0
    for seed in range(30):
        players = [
            network(2 * seed + side, 2, root_perspective=root_perspective) for side in range(2)
        ]
        fen = ENDING if seed % 2 else START
        opening = "" if seed % 2 else TWO_MOVE[seed]
        options = {"fen": fen, "opening": opening}
        cut, full = (by_kernel(*players, **options, cut=cut) for cut in (True, False))
        assert cut[0] == full[0]
        assert (cut[1] == full[1]).all()
        rows = [tuple(row) for row in full[1][:, :3].tolist()]
        cycles += len(set(rows)) < len(rows)
    assert cycles > 5


def test_repetition_inside_the_opening_does_not_end_the_game():
    opening = "15-11 1-5 11-15 5-1 15-11 1-5 11-15 5-1"
    fen = "W:WK15:BK1"
    players = network(0, 2), network(1, 2)
    options = {"fen": fen, "opening": opening}
    cut, full = (by_kernel(*players, **options, cut=cut) for cut in (True, False))
    assert cut[0] == full[0]
    assert (cut[1] == full[1]).all()


def test_threads_that_share_an_agent_get_its_moves():
    agent = agents.make("blondie24", depth=5)
    rng, boards = np.random.default_rng(0), [Board()]
    while len(boards) < 120:
        board = boards[-1].copy() if boards[-1].legal_moves else Board()
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
        boards.append(board)
    boards = [board for board in boards if board.legal_moves]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(agent.act, boards)) == [agent.act(board) for board in boards]


def test_copy_of_an_agent_is_independent():
    agent = agents.make("blondie24", depth=2)
    for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert other.lock is not agent.lock
        assert other.act(Board()) == agent.act(Board())
    assert repr(agent).startswith("PlayerAgent(name='blondie24', rng=")
