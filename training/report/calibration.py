"""How well an agent's values foretell the results of games, by the number of pieces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table
from rich.text import Text

from agents.agent import Agent
from agents.analysis import analyse
from checkers_env.board import Board
from checkers_env.movegen import BLACK
from checkers_env.openings import parse_opening
from training.league.entrants import close_agent, make_entry, search_depth
from training.league.records import GameRecord
from training.runtime.curves import new_figure, to_svg

PLIES = 8  # of the searches of a player without a limit of its own
SURE = 0.35  # a value of this size calls one side better
BINS = 10  # of the reliability diagram
CAPTION = (
    "correlation: of the values with the results\n"
    f"sure: share of the drawn games with a value of {SURE} or more for one side\n"
    "turned: decided games in which this is the last position whose value does not say who wins"
)


class ValuedPosition(NamedTuple):
    """An agent's value of a position, and the result of its game, both for Black, -1 to +1."""

    game: int
    pieces: int
    value: float
    result: float


class PieceRow(NamedTuple):
    """Figures of all positions with one number of pieces."""

    pieces: int
    games: int
    correlation: float  # of value and result, with its 95 % interval; nan if there is none
    low: float
    high: float
    drawn: int
    sure: int  # drawn games with a value of SURE or more, in size
    turned: int  # decided games in which this is the last position that calls the loser no worse


def make_valuing_player(text: str) -> tuple[str, Agent]:
    """Return the name and the agent of a player whose values are compared with results."""
    entry = make_entry(text, depth=PLIES)
    agent = entry.make()
    if search_depth(agent) is None:
        close_agent(agent)
        raise ValueError(f"--calibrate takes players that search by plies, not {text!r}")
    return entry.entrant.name, agent


def calibrate(players: Mapping[str, Agent], games: Sequence[GameRecord], console: Console) -> bytes:
    """Print how well the values of players foretell results; return the diagram as an SVG file."""
    diagrams = {}
    for name, agent in players.items():
        shown = track(games, name, console=console, transient=True)
        positions = [it for game in shown for it in value_positions(agent, game)]
        Console().print(to_table(name, piece_rows(positions)))
        diagrams[name] = reliability(positions)
    return plot_reliability(diagrams)


def to_table(name: str, rows: Sequence[PieceRow]) -> Table:
    """Return a player's rows as a table for the terminal."""
    headings = "pieces", "games", "correlation", "95 %", "drawn", "sure", "turned"
    columns = (Column(it, justify="right") for it in headings)
    table = Table(*columns, title=Text(name), box=SIMPLE, caption=CAPTION, caption_justify="left")
    for row in rows:
        interval = Text(f"[{row.low:.2f}, {row.high:.2f}]")
        sure = f"{row.sure / row.drawn:.0%}" if row.drawn else ""
        counts = (str(row.drawn), sure, str(row.turned))
        table.add_row(str(row.pieces), str(row.games), f"{row.correlation:.2f}", interval, *counts)
    return table


def quiet_positions(game: GameRecord) -> dict[int, Board]:
    """Return the first position with each number of pieces where no capture is due.

    Positions of the opening and ends of games do not count.
    """
    found: dict[int, Board] = {}
    for board in islice(game.positions(), len(parse_opening(game.opening)[1]), None):
        if not board.legal_moves[0].captured:
            found.setdefault((board.black | board.white).bit_count(), board.copy())
    return found


def value_positions(agent: Agent, game: GameRecord) -> list[ValuedPosition]:
    """Return the valued positions of a game.

    Raise ValueError if the agent finds no value in time.
    """
    valued = []
    for pieces, board in quiet_positions(game).items():
        score = analyse(agent, board).score
        if score is None:
            raise ValueError(f"a search takes too long in {board.fen()}: give it a lower limit")
        value = score if board.turn == BLACK else -score
        valued.append(ValuedPosition(game.number, pieces, value, 2 * game.score - 1))
    return valued


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
    found = scipy.stats.pearsonr(values, results)
    low, high = map(float, found.confidence_interval(0.95))
    return float(found.statistic), low, high


def reliability(positions: Sequence[ValuedPosition]) -> NDArray[np.float64]:
    """Return the points of a reliability diagram, shape (bins, 3), of bins that are not empty.

    A point is the mean score that the values foretell, (1 + v) / 2 for a value v, the mean score of
    the games, and the number of positions.
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
    figure, axes = new_figure(5, 5)
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, points in diagrams.items():
        axes.plot(points[:, 0], points[:, 1], marker="o", label=name)
    axes.set(xlabel="score by the value", ylabel="score of the games", aspect="equal")
    axes.legend(frameon=False)
    return to_svg(figure)
