"""Endgame tables against slow rules, the search, published endings and themselves."""

import hashlib
import logging
from math import comb

import numpy as np
import pytest

from agents.endgame import tables as on_disk
from agents.endgame.indexing import (
    count_positions,
    index_to_position,
    material_slices,
    position_to_index,
    slice_size,
    slice_start,
)
from agents.endgame.probe import DRAWN, NO_HIT, EndgameResult, probe, probe_board
from agents.endgame.tables import load_tablebase
from checkers_env.board import Board
from checkers_env.jit import kernel
from checkers_env.movegen import (
    BLACK_BOARD,
    KINGS,
    ROW_WIDTH,
    WHITE,
    WHITE_BOARD,
    Position,
    generate_successors,
)

up_to_four = pytest.mark.parametrize("pieces", [2, 3, pytest.param(4, marks=pytest.mark.slow)])


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("endgame")


def turned(position):
    """Return the position with colours exchanged and the board turned round."""
    boards = (position.white, position.black, position.kings)
    black, white, kings = (int(f"{bits:035b}"[::-1], 2) for bits in boards)
    return Position(black, white, kings, 1 - position.turn)


def random_positions(tables, pieces, count, seed):
    """Yield positions of exactly `pieces` pieces, with either side to move."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        part = material_slices(pieces)[rng.integers(len(material_slices(pieces)))]
        number = slice_start(tables.indexing, part) + int(rng.integers(slice_size(part)))
        position = index_to_position(tables.indexing, part, number)
        yield turned(position) if rng.integers(2) else position


def test_numbers_of_positions_equal_those_of_chinook():
    # Schaeffer et al., Checkers Is Solved, count placements whoever is to move, and those of one
    # colour as well.
    for pieces, published in {2: 6_972, 3: 261_224, 4: 7_092_774, 5: 148_688_232}.items():
        one_colour = sum(comb(28, men) * comb(32 - men, pieces - men) for men in range(pieces + 1))
        assert count_positions(pieces) + 2 * one_colour == published


@kernel
def count_contradictions(tables, part, begin, count, rows):
    """How many positions of a slice are not worth what their best successor makes them.

    A win is worth 1000 less its plies, a loss the negative of that, and a draw nothing.
    """
    contradictions = 0
    for number in range(begin, begin + count):
        black, white, kings, turn = index_to_position(tables.indexing, part, number)
        best = -1000
        for at in range(generate_successors(rows, 0, black, white, kings, turn)):
            row = rows[at]
            plies = 0
            if row[WHITE_BOARD] != 0:
                after = Position(row[BLACK_BOARD], row[WHITE_BOARD], row[KINGS], WHITE)
                plies = int(tables.plies[position_to_index(tables.indexing, after)])
            if plies == DRAWN:
                best = max(best, 0)
            else:
                best = max(best, 999 - plies if plies % 2 == 0 else plies - 999)
        plies = int(tables.plies[number])
        worth = 1000 - plies if plies % 2 else plies - 1000
        if best != (0 if plies == DRAWN else worth):
            contradictions += 1
    return contradictions


@up_to_four
def test_every_position_has_the_result_of_its_best_successor(folder, pieces):
    # With plies to the end this leaves no room for error: by induction on them, in both directions.
    # Loading also compares each file with its digest.
    tables = load_tablebase(pieces, folder)
    rows = np.zeros((512, ROW_WIDTH), np.int64)
    for part in material_slices(pieces):
        begin = slice_start(tables.indexing, part)
        assert count_contradictions(tables, part, begin, slice_size(part), rows) == 0


def test_probe_board(folder):
    tables = load_tablebase(3, folder)
    assert probe_board(tables, Board("B:WK32:BK18,K19")) == EndgameResult(1, 17)
    assert probe_board(tables, Board("W:WK32:BK18,K19")) == EndgameResult(-1, 18)
    assert probe_board(tables, Board("B:WK32:BK18")) == EndgameResult(0, None)
    assert probe_board(tables, Board("B:W18:B")) == EndgameResult(-1, 0)
    assert probe_board(tables, Board("W:W18:B")) == EndgameResult(1, 1)
    assert probe_board(tables, Board("B:W25,30:B21")) == EndgameResult(-1, 0)
    assert probe_board(tables, Board()) is None
    assert probe(tables, Board("B:WK1,K2:BK31,K32").position) == NO_HIT


def test_files_are_cached_and_read(folder, tmp_path, monkeypatch):
    made = load_tablebase(3, folder)
    for pieces in (2, 3):
        name = f"{pieces}-pieces.plies"
        content = (folder / name).read_bytes()
        assert len(content) == count_positions(pieces)
        assert hashlib.sha256(content).hexdigest() == on_disk.DIGESTS[pieces]
        (tmp_path / "endgame").mkdir(exist_ok=True)
        (tmp_path / "endgame" / name).write_bytes(content)
    monkeypatch.setenv("CHECKERS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(on_disk, "solve", None)
    assert np.array_equal(load_tablebase(3).plies, made.plies)


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"\x07" + data[1:]])
def test_damaged_file_is_rebuilt(folder, tmp_path, caplog, damage):
    right = load_tablebase(2, folder).plies
    path = tmp_path / "2-pieces.plies"
    path.write_bytes(damage(right.tobytes()))
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(load_tablebase(2, tmp_path).plies, right)
    assert "is damaged" in caplog.text
    assert path.read_bytes() == right.tobytes()


def test_tables_are_built_without_a_cache(folder, tmp_path, caplog):
    (tmp_path / "file").write_text("not a folder")
    with caplog.at_level(logging.WARNING):
        tables = load_tablebase(2, tmp_path / "file" / "below")
    assert np.array_equal(tables.plies, load_tablebase(2, folder).plies)
    assert "not cached" in caplog.text


def test_invalid_tables_are_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(on_disk.DIGESTS, 2, "0" * 64)
    with pytest.raises(RuntimeError, match="came out wrong"):
        load_tablebase(2, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("pieces", [1, 6, 4.0, "4", True, None])
def test_unsupported_numbers_of_pieces_are_refused(pieces):
    with pytest.raises(ValueError, match="2 to 5 pieces, not"):
        load_tablebase(pieces)
