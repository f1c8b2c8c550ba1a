"""The board: moves, undo, draw rules, copies and text."""

import copy
import functools
import pickle
import re

import numpy as np
import pytest

import checkers_env
from checkers_env.board import Board, Outcome
from checkers_env.fen import EXAMPLE
from checkers_env.movegen import BLACK, WHITE
from checkers_env.moves import Move, square_to_bit
from checkers_env.state import DrawRules

KINGS_ONLY = "B:WK32:BK1"
NO_PIECES = "no pieces"
BLOCKED = {"max_moves": 1, "no_progress": 1, "blocked_draws": True}


def random_game(seed, **draws):
    rng, board = np.random.default_rng(seed), Board(**draws)
    while not board.outcome():
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    return board


def state(board):
    return {**vars(board), "_legal": board.legal_moves, "_successors": None}


SHUFFLE = ("1-6", "32-27", "6-1", "27-32")


@pytest.mark.parametrize("seed", range(20))
def test_pop_undoes_push(seed):
    board = random_game(seed)
    again, states = Board(), []
    for move in board.moves:
        states.append(copy.deepcopy(state(again)))
        again.push(move)
    assert state(again) == state(board)
    for before in reversed(states):
        assert again.pop() == board.moves[again.ply]
        assert state(again) == before
    assert again == Board()


def test_changing_the_list_of_legal_moves_does_not_change_the_board():
    board = Board()
    board.legal_moves.reverse()
    board.push(board.legal_moves[0])
    assert str(board.moves[0]) == "9-13"
    assert board.black >> square_to_bit(13) & 1


@pytest.mark.parametrize("move", [Move((9, 17)), Move((9, 13), (17,)), Move((22, 18)), 3, None])
def test_push_refuses_an_illegal_move(move):
    board = Board()
    with pytest.raises(ValueError, match="illegal: the legal moves are 9-13, "):
        board.push(move)
    assert (board, board.ply) == (Board(), 0)


def test_pop_without_a_move_is_refused():
    with pytest.raises(ValueError, match="no move to take back"):
        Board().pop()


@pytest.mark.parametrize(
    ("fen", "winner", "reason"),
    [
        ("B:W18:B", WHITE, "no pieces"),
        ("W:W:B18", BLACK, "no pieces"),
        ("B:W5,6,9,10:B1", WHITE, "no legal move"),
        ("W:W32:B23,24,27,28", BLACK, "no legal move"),
        ("W:WK29:B22,25", BLACK, "no legal move"),
    ],
)
def test_side_without_moves_loses_or_draws_by_the_rule(fen, winner, reason):
    assert Board(fen).outcome() == Outcome(winner, reason)
    drawn = None if reason == "no legal move" else winner
    assert Board(fen, blocked_draws=True).outcome() == Outcome(drawn, reason)


@pytest.mark.parametrize(
    ("fen", "rules", "moves", "outcome"),
    [
        (KINGS_ONLY, {"max_moves": 2}, SHUFFLE, (None, "max moves")),
        (KINGS_ONLY, {}, SHUFFLE * 50, (None, "max moves")),
        (KINGS_ONLY, {"repetition": 3}, SHUFFLE * 2, (None, "repetition")),
        ("B:W25,K32:BK1", {"no_progress": 2}, SHUFFLE, (None, "no progress")),
        ("W:W18:B1,K2,K17", {"max_moves": 1, "no_progress": 1}, ("18-14", "17x10"), (0, NO_PIECES)),
        ("W:WK1,5:BK10", BLOCKED, ("1-6", "10x1"), (None, "no legal move")),
    ],
)
def test_game_ends_with_the_last_of_some_moves(fen, rules, moves, outcome):
    board = Board(fen, **rules)
    for move in moves:
        assert board.outcome() is None
        board.push(move)
    assert board.outcome() == outcome
    board.pop()
    assert board.outcome() is None


@pytest.mark.parametrize(
    ("rule", "value", "accepted"),
    [
        ("max_moves", 0, "from 1"),
        ("repetition", 1, "from 2"),
        ("no_progress", -40, "from 1"),
        ("max_moves", "3", "from 1"),
        ("max_moves", 2.5, "from 1"),
        ("max_moves", True, "from 1"),
        ("repetition", [3], "from 2"),
        ("no_progress", 10**19, "from 1"),
        *(("blocked_draws", value, "True or False") for value in (None, 2, "yes")),
    ],
)
def test_invalid_rules_are_refused(rule, value, accepted):
    if accepted.startswith("from"):
        accepted = f"None or a whole number {accepted} to 1000000000"
    with pytest.raises(ValueError, match=re.escape(f"{rule} must be {accepted}, not {value!r}")):
        Board(**{rule: value})


VECTOR = functools.partial(checkers_env.make_vec, 2)
MAKERS = (Board, checkers_env.env, checkers_env.raw_env, VECTOR)


@pytest.mark.parametrize(
    ("arguments", "message", "makers"),
    [
        ({"max_move": 7}, "argument 'max_move'; did you mean 'max_moves'? The draw rules", MAKERS),
        ({"xyz": 7}, "unexpected argument 'xyz'. The draw rules are", MAKERS[:1]),
        ({"opning": ""}, "argument 'opning'; did you mean 'opening'? The draw rules", MAKERS[1:]),
        ({"rules": None}, "rules must be DrawRules", MAKERS),
        ({"rules": {"repetition": 3}}, "rules must be DrawRules", MAKERS),
    ],
)
def test_unknown_arguments_and_rules_are_refused(arguments, message, makers):
    for make in makers:
        with pytest.raises(TypeError, match=re.escape(message)):
            make(**arguments)


def test_single_rules_override_a_given_set():
    rules = DrawRules(repetition=3, no_progress=40)
    assert Board(rules=rules, no_progress=None).rules == DrawRules(repetition=3)


def test_rules_accept_numpy_numbers():
    board = Board("B:WK32:BK1", max_moves=np.uint8(200))  # of which twice as many overflow
    for move in SHUFFLE:
        board.push(move)
    assert board.outcome() is None
    assert board.rules == Board(max_moves=200).rules
    assert type(board.rules.max_moves) is int


@pytest.mark.parametrize("fen", [None, 7, ["B:W18:B1"]])
def test_fen_of_another_type_is_refused(fen):
    with pytest.raises(ValueError, match=re.escape(f"such as {EXAMPLE!r}, not {fen!r}")):
        Board(fen)


def through_pickle(board):
    return pickle.loads(pickle.dumps(board))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, Board.copy, through_pickle])
def test_copy_is_exact_and_independent(duplicate):
    board = random_game(1, repetition=3, no_progress=40, blocked_draws=True)
    twin = duplicate(board)
    assert state(twin) == state(board)
    assert twin.outcome() == board.outcome()
    before = copy.deepcopy(state(board))
    twin.pop()
    twin.push(twin.legal_moves[0])
    twin.pop()
    assert state(board) == before


def test_boards_compare_by_position_and_turn():
    played = Board(max_moves=None)
    for move in ("11-15", "23-19", "8-11"):
        played.push(move)
    assert played == Board(played.fen())
    assert played != Board(played.fen().replace("W:", "B:", 1))
    assert played != played.fen()
    with pytest.raises(TypeError, match="unhashable"):
        hash(played)


def test_from_position():
    board = random_game(3)
    rules = DrawRules(max_moves=7, repetition=3, blocked_draws=True)
    twin = Board.from_position(*board.position, rules=rules)
    assert board.position == (board.black, board.white, board.kings, board.turn)
    assert (twin, twin.position, twin.ply) == (board, board.position, 0)
    assert (twin.rules, board.rules) == (rules, Board().rules)
    assert twin.fen() == board.fen()


@pytest.mark.parametrize(
    ("position", "wrong"),
    [
        ((1.5, 1 << 9, 0, BLACK), "a position is four whole numbers, not (1.5, 512, 0, 0)"),
        ((1, None, 0, BLACK), "a position is four whole numbers"),
        ((1, 1, 0, BLACK), "black 0x1 and white 0x1 must be disjoint 35-bit boards"),
        ((1 << 8, 2, 0, BLACK), "must be disjoint 35-bit boards"),
        ((1 << 35, 2, 0, BLACK), "must be disjoint 35-bit boards"),
        ((-1, 2, 0, BLACK), "must be disjoint 35-bit boards"),
        ((1, 1 << 9, 4, BLACK), "kings 0x4 must be among the pieces 0x201"),
        ((1, 1 << 9, 0, 2), "turn must be BLACK (0) or WHITE (1), not 2"),
        ((1 << 34, 1 << 9, 0, BLACK), "black man on 32, its king row: write K32"),
    ],
)
def test_from_position_refuses_invalid_positions(position, wrong):
    with pytest.raises(ValueError, match=r".") as error:
        Board.from_position(*position)
    assert wrong in str(error.value)


def test_text_shows_the_board():
    assert str(Board("W:W24,25,K31:B7,12,K3")) == "\n".join(
        [
            "  .   .   B   .   1-4",
            ".   .   b   .     5-8",
            "  .   .   .   b   9-12",
            ".   .   .   .     13-16",
            "  .   .   .   .   17-20",
            ".   .   .   w     21-24",
            "  w   .   .   .   25-28",
            ".   .   W   .     29-32",
            "White to move",
        ]
    )


def test_repr_round_trips():
    board = Board("W:W18,24,K31:B12,K3")
    assert repr(board) == "Board('W:W18,24,K31:BK3,12')"
    assert eval(repr(board)) == board


@pytest.mark.parametrize("seed", range(5))
def test_actions_on_a_board_are_those_of_the_environment(seed):
    rules = {"max_moves": 60, "repetition": 3, "no_progress": 20}
    env, board, rng = checkers_env.raw_env(**rules), Board(**rules), np.random.default_rng(seed)
    env.reset()
    befores, jumps = [], 0
    while not env.terminations["player_0"]:
        seen = env.observe(env.agent_selection)
        planes, mask = checkers_env.observe(board)
        assert np.array_equal(planes, seen["observation"])
        assert np.array_equal(mask, seen["action_mask"])
        assert board.legal_actions == np.flatnonzero(mask).tolist()
        assert (board.is_over, board.result) == (False, "*")
        befores.append(board.copy())
        action = int(rng.choice(board.legal_actions))
        env.step(action)
        board.push_action(action)
        jumps += board.turn == befores[-1].turn
    assert jumps
    assert (board.moves, board.outcome()) == (env.board.moves, env.board.outcome())
    assert not checkers_env.observe(board)[1].any()
    assert board.is_over
    winner = {1: "1-0", -1: "0-1", 0: "1/2-1/2"}[env.rewards["player_0"]]
    assert board.result == winner
    root = board.root()
    for before in reversed(befores):
        board.pop()
        assert board == before
        assert np.array_equal(board.to_array(), before.to_array())
    assert root == board == Board()


def test_only_actions_continue_a_multi_jump():
    board = Board("W:W22,K32:B18,11,12")
    start = board.copy()
    board.push_action(float(board.legal_actions[0]))
    assert (board.turn, board.ply, len(board.legal_actions)) == (WHITE, 0, 1)
    assert checkers_env.observe(board)[1].nonzero()[0].tolist() == board.legal_actions
    assert board != start
    for call in (board.fen, lambda: board.legal_moves, lambda: board.push("22x15x8")):
        with pytest.raises(ValueError, match="a multi-jump is not complete: only legal_actions"):
            call()
    wrong = "action 0 is illegal: the legal ones: "
    with pytest.raises(ValueError, match=re.escape(f"{wrong}{board.legal_actions}")):
        board.push_action(0)
    board.push_action(board.legal_actions[0])
    assert [str(move) for move in board.moves] == ["22x8"]
    assert repr(board.pop()) == "Move('22x15x8')"  # its second jump only
    assert repr(board.pop()) == "Move('22x15')"
    assert board == start
