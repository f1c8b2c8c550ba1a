"""Puzzles: the shipped file by the rules and by search, and the command that finds them."""

import json

import pytest
from rich.console import Console

from checkers_env import Board
from training.app import puzzle_finder
from training.app.puzzle_finder import LEVELS, MAX_PLIES, TABLES, VERIFY_NODES, Puzzle, PuzzleJudge

PUZZLES = json.loads(puzzle_finder.puzzle_file().read_text("utf-8"))
SHOT = "W:W14,17,21,23,25:B1,5,7,15,20"  # 14-9 5x14 17x3
GIVES_AWAY = "W:W18,32:B14,9"  # 18x9 and nothing else

CONSOLE = Console(quiet=True)


@pytest.fixture(scope="module")
def judge():
    return PuzzleJudge()


def test_shipped_file_is_small_and_sorted():
    assert 60 <= len(PUZZLES) <= 150
    assert puzzle_finder.puzzle_file().stat().st_size < 100_000
    assert len({puzzle["fen"] for puzzle in PUZZLES}) == len(PUZZLES)
    levels = [puzzle["nodes"] for puzzle in PUZZLES]
    assert levels == sorted(levels)
    assert 4 <= len(set(levels)) <= len(LEVELS)


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda it: it["fen"])
def test_shipped_puzzle_is_legal(puzzle):
    assert list(puzzle) == list(Puzzle.__dataclass_fields__)
    board, line = Board(puzzle["fen"]), puzzle["line"]
    assert board.fen() == puzzle["fen"]
    assert len(board.legal_moves) > 1
    assert len(line) % 2 == 1
    assert len(line) <= MAX_PLIES
    for move in (*line, *puzzle["rest"]):
        assert move in map(str, board.legal_moves)
        board.push(move)
    assert puzzle["verified"] == TABLES or puzzle["verified"] >= 8
    assert puzzle["players"][0] != puzzle["players"][1]
    assert puzzle["nodes"] in LEVELS


@pytest.mark.parametrize("puzzle", PUZZLES[:: max(len(PUZZLES) // 3, 1)], ids=lambda it: it["fen"])
def test_solution_is_the_only_move_that_wins(judge, puzzle):
    board, line = Board(puzzle["fen"]), puzzle["line"]
    assert not puzzle_finder.is_plain(board, board.parse_move(line[0]))
    for ply, move in enumerate(line):
        if ply % 2 == 0:
            values = {
                str(it): judge.score_move(board, it, VERIFY_NODES) for it in board.legal_moves
            }
            assert [text for text, (value, _) in values.items() if value > 0.5] == [move]
        board.push(move)


def test_puzzle_is_made_of_a_position(judge):
    puzzle = puzzle_finder.make_puzzle(judge, Board(SHOT), ("hughes", "random"), 21)
    assert puzzle.line == ("14-9", "5x14", "17x3")
    assert (puzzle.players, puzzle.move, puzzle.rest) == (("hughes", "random"), 21, ())
    assert puzzle.nodes in LEVELS
    for fen in (Board().fen(), GIVES_AWAY, "B:W12,21,22:B3,K14,K15,K18"):
        assert puzzle_finder.make_puzzle(judge, Board(fen), ("a", "b"), 1) is None


def test_equal_seeds_find_equal_puzzles(tmp_path, monkeypatch):
    players = (("material", {"depth": 1}), ("hughes", {"depth": 2}))
    monkeypatch.setattr(puzzle_finder, "PLAYERS", players)
    texts = []
    for name in ("one.json", "two.json"):
        arguments = ["--games", "2", "--seed", "3", "--out", str(tmp_path / name)]
        puzzle_finder.run(arguments, CONSOLE)
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    json.loads(texts[0])


def test_wrong_number_of_games_is_refused():
    with pytest.raises(ValueError, match="games must be at least 1, not 0"):
        puzzle_finder.run(["--games", "0"], CONSOLE)
