"""Metrics of a generation; docs/regimes.md defines each name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.baselines.heuristic import RandomPlayer
from agents.evaluator import evaluate_position
from agents.match import play_game
from agents.match_kernel import DRAW, Result
from checkers_env.board import Board
from checkers_env.movegen import Position

Metrics = dict[str, float]

SAMPLE_GAMES = 10
SATURATED = 0.99


def append_row(history: dict[str, list[float]], metrics: Metrics) -> dict[str, list[float]]:
    """Return the history with one more row; a metric that is missing in a row is nan there."""
    rows = len(next(iter(history.values()), []))
    return {
        name: [*history.get(name, [math.nan] * rows), metrics.get(name, math.nan)]
        for name in sorted({*history, *metrics})
    }


def tournament_metrics(results: Sequence[Result], scores: NDArray[np.float64]) -> Metrics:
    """Summarise the games of a generation and the scores of its players."""
    return {
        "score/best": float(np.max(scores)),
        "score/mean": float(np.mean(scores)),
        "games/draws": float(np.mean([result.winner == DRAW for result in results])),
        "games/plies": float(np.mean([result.plies for result in results])),
    }


def population_metrics(
    genomes: NDArray[Any],
    kings: NDArray[np.float64],
    steps: NDArray[np.float64] | None = None,
) -> Metrics:
    """Summarise the parents of a generation; steps are None without self-adaptive mutation."""
    metrics = {"king/mean": float(np.mean(kings)), "weight/mean": float(np.mean(np.abs(genomes)))}
    return metrics if steps is None else metrics | {"step/mean": float(np.mean(steps))}


def evaluator_metrics(evaluator: Any, positions: Sequence[Position]) -> Metrics:
    """Measure how an evaluator's values of positions are spread, each for the side to move.

    Searches compare NaN without an error, so it is refused here.

    Raises
    ------
    ValueError
        If a value is NaN.
    """
    values = [evaluate_position(evaluator, position, position.turn) for position in positions]
    if np.isnan(values).any():
        fen = Board.from_position(*positions[int(np.isnan(values).argmax())]).fen()
        raise ValueError(f"{type(evaluator).__name__} evaluates {fen} as NaN, not -1 to 1")
    return {
        "champion/spread": float(np.std(values)),
        "champion/saturated": float(np.mean(np.abs(values) > SATURATED)),
    }


def sample_positions() -> list[Position]:
    """Return the positions of ten random games, the same at each call."""
    positions = []
    for seed in range(SAMPLE_GAMES):
        board = play_game(RandomPlayer(), RandomPlayer(), rng=np.random.default_rng(seed)).board
        while board.moves:
            board.pop()
            positions.append(board.position)
    return positions
