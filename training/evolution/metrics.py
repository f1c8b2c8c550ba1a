"""What is recorded of a generation; docs/metrics.md says what each name means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.baselines.random_player import Uniform
from agents.evaluator import value
from agents.match import play_game
from agents.match_kernel import DRAW, Result
from checkers_env.movegen import Position
from training.evolution.state import Population

Metrics = dict[str, float]

SAMPLE_GAMES, SATURATED = 10, 0.99


def append_row(history: dict[str, list[float]], measured: Metrics) -> dict[str, list[float]]:
    """The history with another row; what was not measured is not a number."""
    rows = len(next(iter(history.values()), []))
    return {
        name: [*history.get(name, [math.nan] * rows), measured.get(name, math.nan)]
        for name in sorted({*history, *measured})
    }


def tournament_metrics(results: Sequence[Result], scores: Any) -> Metrics:
    """Of a tournament."""
    return {
        "score/best": float(np.max(scores)),
        "score/mean": float(np.mean(scores)),
        "games/draws": float(np.mean([result.winner == DRAW for result in results])),
        "games/plies": float(np.mean([result.plies for result in results])),
    }


def population_metrics(population: Population) -> Metrics:
    """Of the parents of a generation."""
    measured = {
        "king/mean": float(np.mean(population.kings)),
        "weight/mean": float(np.mean(np.abs(population.genomes))),
    }
    if population.steps.size:
        measured["step/mean"] = float(np.mean(population.steps))
    return measured


def evaluator_metrics(evaluator: Any, positions: Sequence[Position]) -> Metrics:
    """How an evaluator's values of some positions are spread, seen from the side to move."""
    values = [value(evaluator, position, position.turn) for position in positions]
    return {
        "champion/spread": float(np.std(values)),
        "champion/saturated": float(np.mean(np.abs(values) > SATURATED)),
    }


def sample_positions() -> list[Position]:
    """The positions of a few random games, always the same."""
    positions = []
    for seed in range(SAMPLE_GAMES):
        board = play_game(Uniform(), Uniform(), rng=np.random.default_rng(seed)).board
        while board.moves:
            board.pop()
            positions.append(board.position)
    return positions
