"""Measurements of a player: time a move, nodes, determinism, accuracy in endings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from agents.agent import Agent, PlayerAgent
from agents.endgame.indexing import index_to_position, material_slices, slice_size, slice_start
from agents.endgame.probe import Tablebase, probe_board
from agents.search.workspace import VISITED
from checkers_env.board import Board
from checkers_env.moves import Move
from checkers_env.openings import opening_board
from checkers_env.state import DrawRules
from training.league.entrants import close_agent
from training.league.records import GameRecord

OPTIONS = 2  # legal moves of a position with a choice, at least


class Timing(NamedTuple):
    """Seconds a move, in positions with more than one legal move."""

    moves: int
    mean: float
    median: float
    longest: float


class Accuracy(NamedTuple):
    """Won and drawn endings, and how many of them the player's move kept."""

    won: int
    wins_kept: int
    drawn: int
    draws_kept: int


def choice_positions(games: Iterable[GameRecord], player: int, every: int = 5) -> list[Board]:
    """Return positions of a player's games in which it is to move and has a choice.

    Parameters
    ----------
    games
        Games of the player.
    player
        Its number.
    every
        Keep one position of so many.
    """
    found = []
    for game in games:
        board = opening_board(game.opening, DrawRules(max_moves=None)).root()
        for text in game.moves:
            mover = (game.black, game.white)[board.turn]
            if mover == player and len(board.legal_moves) >= OPTIONS:
                found.append(board.copy())
            board.push(text)
    return found[::every]


def measure_time(agent: Agent, boards: Sequence[Board]) -> Timing:
    """Measure an agent's time a move, without the first move, which may compile or load.

    Raises
    ------
    ValueError
        If there are no boards.
    """
    if not boards:
        raise ValueError("boards must have at least one position to measure in")
    times = []
    for board in boards:
        began = time.perf_counter()
        agent.act(board.copy())
        times.append(time.perf_counter() - began)
    seconds = np.array(times[1:] or times)
    return Timing(len(seconds), *map(float, (seconds.mean(), np.median(seconds), seconds.max())))


def mean_nodes(agent: Agent, boards: Sequence[Board]) -> float:
    """Return the mean number of nodes a move of a built-in player; nan without a search."""
    if not (isinstance(agent, PlayerAgent) and hasattr(agent.player, "evaluator")):
        return float("nan")
    agent.ws.counts[VISITED] = 0
    for board in boards:
        agent.act(board.copy())
    return float(agent.ws.counts[VISITED] / len(boards))


def measure_determinism(make: Callable[[int], Agent], boards: Sequence[Board]) -> float:
    """Return the share of positions in which agents of different seeds choose the same move.

    Raises
    ------
    ValueError
        If there are no boards.
    """
    if not boards:
        raise ValueError("boards must have at least one position to compare in")
    with ExitStack() as both:
        moves = []
        for seed in (1, 2):
            agent = make(seed)
            both.callback(close_agent, agent)
            moves.append([agent.act(board.copy()) for board in boards])
    return float(np.mean([one == other for one, other in zip(*moves, strict=True)]))


def measure_accuracy(
    agent: Agent, tables: Tablebase, pieces: int, positions: int, rng: np.random.Generator
) -> Accuracy:
    """Count the won and drawn endings that an agent's move keeps.

    The sample has only endings in which some legal move spoils the win, or the draw.

    Parameters
    ----------
    agent
        The agent.
    tables
        Endgame tables.
    pieces
        Number of pieces of the endings.
    positions
        Number of won endings, and of drawn ones.
    rng
        Samples the endings.
    """
    kept = {1: 0, 0: 0}
    for value in kept:
        for board, good in sample_endings(tables, pieces, value, positions, rng):
            kept[value] += agent.act(board.copy()) in good
    return Accuracy(positions, kept[1], positions, kept[0])


def sample_endings(
    tables: Tablebase, pieces: int, value: int, count: int, rng: np.random.Generator
) -> Iterator[tuple[Board, list[Move]]]:
    """Yield random endings that a move can spoil.

    Parameters
    ----------
    tables
        Endgame tables.
    pieces
        Number of pieces.
    value
        1 for a win, 0 for a draw.
    count
        Number of endings.
    rng
        Samples the endings, all with equal probability.

    Yields
    ------
    A board with Black to move, and the moves that keep the value; others do not.

    Raises
    ------
    ValueError
        If the tables do not have so many pieces, or `value` is neither 1 nor 0.
    """
    most = tables.indexing.pieces
    if not 2 <= pieces <= most:
        raise ValueError(f"pieces must be from 2 to {most}, as in the tables, not {pieces}")
    if value not in (1, 0):
        raise ValueError(f"value must be 1 (a win) or 0 (a draw), not {value}")
    parts = material_slices(pieces)
    sizes = np.array([slice_size(part) for part in parts], float)
    while count:
        part = parts[rng.choice(len(parts), p=sizes / sizes.sum())]
        number = slice_start(tables.indexing, part) + int(rng.integers(slice_size(part)))
        board = Board.from_position(
            *index_to_position(tables.indexing, part, number), max_moves=None
        )
        ending = probe_board(tables, board)
        if ending is None or ending.value != value:
            continue
        good = [move for move in board.legal_moves if move_value(tables, board, move) == value]
        if 0 < len(good) < len(board.legal_moves):
            count -= 1
            yield board, good


def move_value(tables: Tablebase, board: Board, move: Move) -> int:
    """Return the tables' value of a position after `move`, for the side that makes the move.

    Parameters
    ----------
    tables
        Endgame tables.
    board
        Position before the move.
    move
        The move.
    """
    board.push(move)
    ending = probe_board(tables, board)
    board.pop()
    assert ending is not None
    return -ending.value
