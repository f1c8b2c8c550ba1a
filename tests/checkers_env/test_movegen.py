"""The move generator against slow rules, and against itself on the flipped board."""

import numba
import numpy as np

from checkers_env import movegen
from checkers_env.board import Board
from checkers_env.jit import kernel
from checkers_env.moves import unpack_move
from tests import oracle

GAMES = 60
POSITIONS = 2_000


def successors(board):
    """Return the rows of a position, as tuples of black, white, kings and path."""
    rows = np.empty((movegen.MAX_ROWS, movegen.ROW_WIDTH), np.int64)
    end = movegen.generate_successors(rows, 0, board.black, board.white, board.kings, board.turn)
    return [tuple(row) for row in rows[:end].tolist()]


def described(board):
    """Return the rows of a position as text: squares, captures and the next position."""
    for black, white, kings, path in successors(board):
        move = unpack_move(path)
        after = Board.from_position(black, white, kings, 1 - board.turn).fen()
        yield move.squares, move.captured, after


def expected(side, pieces):
    for squares, captured, after in oracle.legal_turns(side, pieces):
        yield squares, captured, oracle.write_fen(oracle.OTHER[side], after)


def flipped(board_bits):
    """Return a board turned by 180 degrees."""
    return sum(1 << (34 - bit) for bit in range(35) if board_bits >> bit & 1)


def flipped_path(path):
    turned, place = 0, 0
    while path != movegen.NO_MOVE:
        turned |= (34 - (path & 63)) << place
        path, place = path >> 6, place + 6
    return turned | movegen.NO_MOVE << place


def random_boards(seed, count):
    rng = np.random.default_rng(seed)
    return [Board(oracle.write_fen(*oracle.random_position(rng))) for _ in range(count)]


def test_successors_of_random_positions_equal_the_slow_rules():
    for board in random_boards(1, POSITIONS):
        found = list(described(board))
        assert len(set(found)) == len(found)
        assert set(found) == set(expected(*oracle.read_fen(board.fen()))), board.fen()


def test_successors_along_random_games_equal_the_slow_rules():
    rng = np.random.default_rng(2)
    for _ in range(GAMES):
        board = Board(repetition=3, no_progress=20)
        while not board.outcome():
            assert sorted(described(board)) == sorted(expected(*oracle.read_fen(board.fen())))
            board.push(board.legal_moves[rng.integers(len(board.legal_moves))])


def test_flipped_position_has_the_flipped_successors_in_order():
    for board in random_boards(3, POSITIONS):
        mirror = Board.from_position(
            flipped(board.white), flipped(board.black), flipped(board.kings), 1 - board.turn
        )
        turned = [
            (flipped(white), flipped(black), flipped(kings), flipped_path(path))
            for black, white, kings, path in successors(mirror)
        ]
        assert turned == successors(board)


def test_counts_and_predicates_agree_with_the_successors():
    rows = np.empty((movegen.MAX_ROWS, movegen.ROW_WIDTH), np.int64)
    for board in random_boards(4, POSITIONS):
        position = movegen.Position(board.black, board.white, board.kings, board.turn)
        own = (board.black, board.white)[board.turn]
        opponent = (board.white, board.black)[board.turn]
        count = len(successors(board))
        rows[0] = *position[:3], movegen.NO_MOVE
        assert movegen.count_successors(rows, 1, board.turn) == count
        assert movegen.can_move(own, opponent, board.kings, board.turn) == (count > 0)
        captures = any(move.captured for move in board.legal_moves)
        assert movegen.can_jump(own, opponent, board.kings, board.turn) == captures
        assert (movegen.has_move(position), movegen.must_jump(position)) == (count > 0, captures)
        steps = movegen.count_steps(own, opponent, board.kings, board.turn)
        assert captures or steps == count
        for row in successors(board):
            assert movegen.successor(row, board.turn) == (*row[:3], 1 - board.turn)


def test_moves_of_many_positions_are_counted_by_vector_instructions(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    count = kernel(movegen.count_successors.py_func)
    rows = np.zeros((movegen.MAX_ROWS, movegen.ROW_WIDTH), np.int64)
    assert count(rows, 0, movegen.BLACK) == 0
    [code] = count.inspect_llvm().values()
    assert "x i64> @llvm.ctpop" in code
