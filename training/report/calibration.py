"""How well an agent's values foretell the results of games, by the number of pieces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.agent import Agent
from agents.analysis import analyse
from checkers_env.board import Board
from checkers_env.movegen import BLACK
from checkers_env.openings import opening_board
from checkers_env.state import DrawRules
from training.league.records import GameRecord
from training.runtime.curves import new_figure, to_svg
from training.runtime.extras import extra

with extra("train"):
    from scipy.stats import pearsonr

SURE = 0.35  # a value of this size calls one side better
BINS = 10  # of the reliability diagram


class ValuedPosition(NamedTuple):
    """An agent's value of a position, and the result of its game, both for Black, -1 to +1."""

    game: int
    pieces: int
    value: float
    result: float


class PieceRow(NamedTuple):
    """Figures of all positions with one number of pieces.

    Attributes
    ----------
    pieces
        Pieces on the board.
    games
        Games with such a position.
    correlation
        Of value and result, with `low` and `high`, its 95 % interval by Fisher's transformation;
        nan where either is the same in all games, or with less than four games.
    drawn, sure
        Drawn games, and how many of them have a value of SURE or more, in size.
    turned
        Decided games in which this is the last position that does not call the loser worse.
    """

    pieces: int
    games: int
    correlation: float
    low: float
    high: float
    drawn: int
    sure: int
    turned: int


def quiet_positions(game: GameRecord) -> dict[int, Board]:
    """Return the first position with each number of pieces where no capture is due.

    Positions of the opening and ends of games do not count.

    Parameters
    ----------
    game
        The game.
    """
    board = opening_board(game.opening, DrawRules(max_moves=None))
    found: dict[int, Board] = {}
    for move in game.moves[len(board.moves) :]:
        legal, pieces = board.legal_moves, (board.black | board.white).bit_count()
        if legal and not legal[0].captured:
            found.setdefault(pieces, board.copy())
        board.push(move)
    return found


def value_positions(
    agent: Agent, games: Iterable[GameRecord], depth: int
) -> Iterator[list[ValuedPosition]]:
    """Yield the valued positions of each game.

    Parameters
    ----------
    agent
        Player that searches.
    games
        The games.
    depth
        Plies of its searches.

    Raises
    ------
    ValueError
        For an agent that does not search by plies, or finds no value in time.
    """
    for game in games:
        valued = []
        for pieces, board in quiet_positions(game).items():
            score = analyse(agent, board, depth=depth).score
            if score is None:
                raise ValueError(f"{depth} plies take too long in {board.fen()}: search fewer")
            value = score if board.turn == BLACK else -score
            valued.append(ValuedPosition(game.number, pieces, value, 2 * game.score - 1))
        yield valued


def piece_rows(positions: Sequence[ValuedPosition]) -> list[PieceRow]:
    """Return a row for each even number of pieces, the most first."""
    rows = []
    turning = turning_points(positions)
    for pieces in sorted({it.pieces for it in positions if it.pieces % 2 == 0}, reverse=True):
        here = [it for it in positions if it.pieces == pieces]
        drawn = [it for it in here if it.result == 0.0]
        correlation, low, high = correlate(
            np.array([it.value for it in here]), np.array([it.result for it in here])
        )
        sure = sum(abs(it.value) >= SURE for it in drawn)
        turned = sum(pieces <= turn < pieces + 2 for turn in turning)
        rows.append(PieceRow(pieces, len(here), correlation, low, high, len(drawn), sure, turned))
    return rows


def turning_points(positions: Iterable[ValuedPosition]) -> list[int]:
    """Return for each decided game the fewest pieces at which its loser's value is above -SURE.

    Games whose loser is worse from the first position on do not count.
    """
    fewest: dict[int, int] = {}
    for it in positions:
        if it.result and it.value * it.result < SURE:  # the winner's value is below SURE
            fewest[it.game] = min(fewest.get(it.game, it.pieces), it.pieces)
    return list(fewest.values())


def correlate(
    values: NDArray[np.float64], results: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return the correlation of two samples, and its 95 % interval by Fisher's transformation.

    All are nan with less than four numbers, or where a sample does not vary.
    """
    if len(values) < 4 or not values.std() or not results.std():
        return math.nan, math.nan, math.nan
    found = pearsonr(values, results)
    low, high = map(float, found.confidence_interval(0.95))
    return float(found.statistic), low, high


def reliability(positions: Sequence[ValuedPosition]) -> NDArray[np.float64]:
    """Return the points of a reliability diagram.

    Parameters
    ----------
    positions
        Valued positions.

    Returns
    -------
    Shape (bins, 3): the mean score that the values foretell, the mean score of the games, and how
    many positions there are; of each bin of the former that is not empty. A value v foretells a
    score of (1 + v) / 2.
    """
    foretold = np.array([(1 + it.value) / 2 for it in positions])
    scores = np.array([(1 + it.result) / 2 for it in positions])
    places = np.minimum((foretold * BINS).astype(int), BINS - 1)
    return np.array(
        [
            (foretold[places == place].mean(), scores[places == place].mean(), number)
            for place, number in enumerate(np.bincount(places, minlength=BINS))
            if number
        ]
    ).reshape(-1, 3)


def plot_reliability(diagrams: dict[str, NDArray[np.float64]]) -> bytes:
    """Plot reliability diagrams by agent, as an SVG file."""
    figure = new_figure(5, 5)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, points in diagrams.items():
        axes.plot(points[:, 0], points[:, 1], marker="o", label=name)
    axes.set(xlabel="score by the value", ylabel="score of the games", aspect="equal")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return to_svg(figure)
