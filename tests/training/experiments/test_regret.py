"""Regret: positions, values and choices on disk, and the figures against plain computations."""

import numpy as np
import pytest
from rich.console import Console

from agents.endgame.tables import load_tablebase
from checkers_env import Board
from training.experiments import regret
from training.experiments.regret import (
    bootstrap,
    count_pieces,
    difference,
    judge_positions,
    judged_players,
    record_choices,
    regret_table,
    sample_positions,
)
from training.report.examination import move_value, sample_endings
from training.report.move_judge import MoveJudge

CONSOLE = Console(quiet=True)
FENS = ["B:W18,21:B10,14", "W:W17,22:B9,13", "B:W25,26,27:B1,2,3"]


class CountingJudge:
    """Values a move by its number, and stops after some moves."""

    def __init__(self, moves=10**6):
        self.left, self.asked = moves, 0

    def score_move(self, board, move, nodes):
        if not self.left:
            raise KeyboardInterrupt
        self.left, self.asked = self.left - 1, self.asked + 1
        return board.legal_moves.index(move) / 8, 1


@pytest.fixture
def few_endings(monkeypatch):
    monkeypatch.setattr(regret, "draw_endings", lambda: [(Board(FENS[0]), Board().legal_moves)] * 3)


def test_positions_are_balanced_and_equal_for_equal_seeds(monkeypatch):
    monkeypatch.setattr(regret, "SOURCES", ("heuristic", "material@depth=2", "blondie24@depth=2"))
    monkeypatch.setattr(regret, "PIECES", range(24, 19, -1))
    fens = sample_positions(2)
    boards = [Board(fen) for fen in fens]
    assert [count_pieces(board) for board in boards] == [24, 23, 22, 21, 20] * 2
    assert all(len(board.legal_moves) > 1 for board in boards)
    assert len(set(fens)) == 10
    assert fens == sample_positions(2)
    assert set(fens) != set(sample_positions(2, seed=1))


def test_judge_values_endings_as_the_tables_do():
    tables, judge = load_tablebase(4), MoveJudge("material", selective=True, nodes=1)
    rng = np.random.default_rng(0)
    for value in (1, 0):
        for board, _ in sample_endings(tables, 4, value, 10, rng):
            for move in board.legal_moves:
                assert judge.score_move(board, move, 1)[0] == move_value(tables, board, move)


def test_judging_goes_on_where_it_stopped(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    judge_positions(whole, FENS, CountingJudge(), "judge", CONSOLE)
    moves = [len(Board(fen).legal_moves) for fen in FENS]
    with pytest.raises(KeyboardInterrupt):
        judge_positions(parts, FENS, CountingJudge(moves[0] + 1), "judge", CONSOLE)
    rest = CountingJudge()
    judge_positions(parts, FENS, rest, "judge", CONSOLE)
    assert rest.asked == sum(moves[1:])
    assert (parts / regret.VALUES).read_bytes() == (whole / regret.VALUES).read_bytes()
    judge_positions(parts, FENS, again := CountingJudge(), "other", CONSOLE)
    assert again.asked == sum(moves)  # another judge's values are not mixed with these


def test_choices_are_equal_for_equal_seeds_and_kept(tmp_path, few_endings, monkeypatch):
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
        record_choices(folder, FENS * 3, {"random": 3, "material@depth=1": 1}, CONSOLE)
    first, second = [(folder / regret.CHOICES).read_bytes() for folder in folders]
    assert first == second
    assert len({line.partition(b'"moves"')[2] for line in first.splitlines()[1:]}) == 3
    monkeypatch.setattr(regret, "act", None)  # nothing is left to be asked
    record_choices(folders[0], FENS * 3, {"random": 3, "material@depth=1": 1}, CONSOLE)
    with pytest.raises(TypeError):
        record_choices(folders[0], FENS, {"random": 1}, CONSOLE)  # other positions


def test_regret_is_half_of_the_lost_value_in_per_cent(tmp_path, few_endings, monkeypatch):
    monkeypatch.setattr(regret, "PLAYERS", {"material@depth=1": 2})
    monkeypatch.setattr(regret, "REFERENCE", "material@depth=1")
    judge_positions(tmp_path, FENS[:2], CountingJudge(), "judge", CONSOLE)
    record_choices(tmp_path, FENS, regret.PLAYERS, CONSOLE)
    pieces, players = judged_players(tmp_path)
    found = players["material@depth=1"]
    assert pieces.tolist() == [4, 4]
    lines = (tmp_path / regret.CHOICES).read_text().splitlines()
    for line, row in zip(lines, found.regret, strict=True):
        for fen, move, lost in zip(FENS, line.partition('"moves":"')[2].split(), row, strict=False):
            moves = list(map(str, Board(fen).legal_moves))
            assert lost == 50 * (len(moves) - 1 - moves.index(move)) / 8
    assert found.kept.shape == (2, 3)
    assert f"| {found.regret.mean():.2f} [" in regret_table(players)


def test_bootstrap_has_the_spread_of_positions_and_of_members():
    rng = np.random.default_rng(1)
    one = rng.normal(3, 2, (1, 400))
    assert np.std(bootstrap(one)) == pytest.approx(np.std(one) / 20, rel=0.05)
    members = np.repeat(rng.normal(0, 1, (8, 1)), 400, axis=1)
    assert np.std(bootstrap(members)) == pytest.approx(np.std(members) / np.sqrt(8), rel=0.05)
    shifted = difference(one + 0.5, one)  # of the same positions: nothing but the shift is left
    assert shifted == pytest.approx((0.5, 0.5, 0.5))
