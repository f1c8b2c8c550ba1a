"""The referee passes this package's environment, and finds each fault of faulty games."""

import pytest
from pettingzoo.utils import BaseWrapper

import checkers_env
from checkers_env import BLACK, Board, conformance
from checkers_env.conformance import check
from checkers_env.moves import square_to_bit
from tests import oracle

LINES = [(rule, line) for rule, counts, line in conformance._read_cases() if not counts]
STEP = "a man steps forwards only, a king backwards too"


class MoveGame:
    """A Board as a game of whole moves; subclasses break a rule."""

    def start(self, fen):
        self.board = Board(max_moves=None) if fen is None else Board(fen, max_moves=None)

    def turn(self):
        return self.board.turn

    def actions(self):
        return self.board.legal_moves

    def squares(self, action):
        return action.squares

    def play(self, action):
        self.board.push(action)

    def result(self):
        return conformance.board_result(self.board)


class OneRoute(MoveGame):
    """Keep one of the moves with the same start and end."""

    def actions(self):
        return list({(it.squares[0], it.squares[-1]): it for it in super().actions()}.values())


class NoBackwardCapture(MoveGame):
    def actions(self):
        def is_backward(move):
            return (move.squares[1] > move.squares[0]) != (self.board.turn == BLACK)

        return [it for it in super().actions() if not (it.captured and is_backward(it))]


class BlockedDraws(MoveGame):
    def result(self):
        outcome = self.board.outcome()
        return 0 if outcome and outcome.reason == "no legal move" else super().result()


class WrongPiece(MoveGame):
    """Offer a step of square 1, in the midst of its own men."""

    def actions(self):
        return [*super().actions(), checkers_env.Move("1-6")]

    def play(self, action):
        super().play(action if str(action) != "1-6" else self.board.legal_moves[0])


class Repeating(MoveGame):
    """The side that repeats a position a third time loses."""

    def result(self):
        third = self.board.earlier_positions().count(self.board.position) >= 2
        return 1 if third else super().result()


class Foreign(BaseWrapper):
    """Another's environment, which is not known to set up positions."""

    unwrapped = None


def of_board(board):
    """Return side and pieces as the oracle takes them."""
    pieces = {}
    for square in range(1, 33):
        bit = square_to_bit(square)
        if (board.black | board.white) >> bit & 1:
            letter = "b" if board.black >> bit & 1 else "w"
            pieces[square] = letter.upper() if board.kings >> bit & 1 else letter
    return "bw"[board.turn], pieces


@pytest.mark.parametrize(("rule", "line"), LINES, ids=[rule for rule, _ in LINES])
def test_line_is_legal_and_ends_as_the_slow_rules_say(rule, line):
    board = Board(max_moves=None)
    for text in line.split():
        assert text in {
            "-x"[bool(it.captured)].join(map(str, it.squares)) for it in board.legal_moves
        }
        board.push(text)
    side, pieces = of_board(board)
    expected = {turn.squares for turn in oracle.legal_turns(side, pieces)}
    assert {move.squares for move in board.legal_moves} == expected
    assert (not expected) == rule.endswith("loses")


def test_own_environment_passes():
    env = checkers_env.make(max_moves=None, repetition=3)
    rows = check(env, games=2)
    assert [row for row in rows if not row.passed] == []
    assert next(row.note for row in rows if row.rule == "draws") == "draw at ply 24, occurrence 3"


@pytest.mark.parametrize(
    ("game", "rule", "note"),
    [
        (OneRoute, "two routes to one square are two moves", "lacks 18x11x2 after"),
        (NoBackwardCapture, "a king must capture backwards", "lacks 32x23 after"),
        (BlockedDraws, "no move loses", "has a draw, not a win of"),
        (WrongPiece, STEP, "offers 1-6 after"),
        (Repeating, "draws", "has a win of Black, not no result"),
    ],
)
def test_fault_is_found(game, rule, note):
    found = next(row for row in check(game(), games=0) if row.rule == rule)
    assert found.passed is False
    assert note in found.note


def test_counts_differ_and_positions_are_not_tried_where_none_can_be_set_up():
    assert "depth 1: 8, not 7" in check(WrongPiece(), games=0)[0].note
    rows = check(Foreign(checkers_env.make()), games=0)
    assert {row.passed for row in rows if row.rule.startswith("perft 3 from W")} == {None}


def test_command_prints_a_table_and_fails_with_the_game(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text("from tests.checkers_env.test_conformance import BlockedDraws")
    with pytest.raises(SystemExit, match="True"):
        conformance.main([f"{path}:BlockedDraws", "--games", "1"])
    lines = capsys.readouterr().out.splitlines()
    fails = next(line for line in lines if line.startswith("FAILS"))
    assert fails.startswith("FAILS     no move loses: has a draw, not a win of")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("builtins:object", "object is neither a PettingZoo AEC environment nor a pgx"),
        ("no_such_module:make", "No module named 'no_such_module'"),
        ("no_such_file.py:make", "No such file"),
        (f"{__file__}:make", "has no 'make'"),
        ("builtins:object --games 0", "--games must be at least 1, not 0"),
    ],
)
def test_command_refuses(words, message, capsys):
    with pytest.raises(SystemExit):
        conformance.main(words.split())
    assert message in capsys.readouterr().err
