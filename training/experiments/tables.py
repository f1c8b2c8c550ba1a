"""Tables of the papers as data, with our figures beside the paper's."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.experiments.inference import half_width
from training.experiments.jobs import AS_THE_THESIS, Conditions, Player
from training.experiments.results import MatchResult, TrainingResult
from training.rating.thesis_ratings import rate_match

POINTS = {"W": 1.0, "D": 0.5, "L": 0.0}
SWAPPED = str.maketrans("WL", "LW")


class PlayerGame(NamedTuple):
    """A game from the side of one of its players."""

    opening: str  # moves of the card; "" for the start position
    red: bool  # whether the player had the first move
    result: str  # "W", "D" or "L"
    difference: int  # the player's pieces less the opponent's at the end
    played_out: str  # the result of a drawn game played on; "" without this condition


def player_games(played: MatchResult, turned: bool) -> list[PlayerGame]:
    """Return the games of a match from the side of its first player, or second if `turned`."""
    results, sign = played.results, -1 if turned else 1
    ends = played.played_out or " " * len(results)
    if turned:
        results, ends = results.translate(SWAPPED), ends.translate(SWAPPED)
    return [
        PlayerGame(
            played.openings[number // 2],
            (number % 2 == 1) == turned,
            results[number],
            sign * played.differences[number],
            ends[number].strip(),
        )
        for number in range(len(results))
    ]


@dataclass(frozen=True)
class Measure:
    """Columns of a table, computed from the games of a row or from a training run."""

    columns: tuple[str, ...]
    of: Callable[[Any], Sequence[float]]  # from a seed's games or training result, one a column
    show: Callable[[Sequence[float]], str]  # from one column's figures, one a seed


@dataclass(frozen=True)
class Row:
    """Row of a table."""

    first: Player
    others: tuple[Player, ...]  # empty for a row about the player's training run
    theirs: tuple[float | str, ...]  # figures that the paper prints


@dataclass(frozen=True)
class Table:
    """A table of a paper: an experiment."""

    name: str
    title: str
    measure: Measure
    rows: tuple[Row, ...]
    conditions: Conditions = AS_THE_THESIS
    note: str = ""  # differences from the paper, other than the number of runs


def row(first: Player | str, others: Any, *theirs: float | str) -> Row:
    """Make a row."""
    several = others if isinstance(others, tuple) else (others,)
    return Row(_player(first), tuple(map(_player, several)), theirs)


def league(players: Sequence[Player | str], figures: Sequence[Sequence[float]]) -> tuple[Row, ...]:
    """Return a row for each pair of a square table, and one for each player against all others.

    Figures are lines of the table without the empty cells of the diagonal, with their sums at the
    end.
    """
    rows = []
    for place, (player, line) in enumerate(zip(players, figures, strict=True)):
        others = [other for number, other in enumerate(players) if number != place]
        rows += [row(player, other, it) for other, it in zip(others, line[:-1], strict=True)]
        rows.append(row(player, tuple(others), line[-1]))
    return tuple(rows)


def _player(player: Player | str) -> Player:
    return Player(player) if isinstance(player, str) else player


def interval(
    values: Sequence[float] | NDArray[np.float64],
    least: float = -math.inf,
    most: float = math.inf,
) -> str:
    """Format the mean over seeds with its 95 % interval by Student's t, or the only value.

    The interval ends at the least and the most possible value.

    A run that did not measure it has nan, which is shown as a dash.
    """
    mean = float(np.mean(values))
    if math.isnan(mean):
        return "-"
    if len(values) < 2:
        return f"{mean:g}" if mean.is_integer() else brief(mean)
    half = float(half_width(values))
    low, high = max(mean - half, least), min(mean + half, most)
    return f"{brief(mean)} [{brief(low)}, {brief(high)}]"


def tally(values: Sequence[float]) -> str:
    """Format how many seeds won, drew and lost a game, e.g. ``7-2-1``."""
    counts = {point: sum(value == point for value in values) for point in POINTS.values()}
    return "-".join(str(count) for count in counts.values())


def brief(number: float) -> str:
    """Format a number with about three digits."""
    size = abs(number)
    return f"{number:.0f}" if size >= 1000 else f"{number:.1f}" if size >= 10 else f"{number:.2f}"


def with_cards(games: Sequence[PlayerGame]) -> list[PlayerGame]:
    """Return the games that began with a card."""
    return [game for game in games if game.opening]


def _count(result: str) -> Measure:
    names = {"W": "won", "D": "drawn", "L": "lost"}
    return Measure(
        (names[result],),
        lambda games: [sum(game.result == result for game in with_cards(games))],
        interval,
    )


def _results(games: Sequence[PlayerGame]) -> list[float]:
    return [sum(game.result == result for game in with_cards(games)) for result in "WDL"]


def _score(games: Sequence[PlayerGame]) -> list[float]:
    return [100 * float(np.mean([POINTS[game.result] for game in with_cards(games)]))]


def _wins_and_losses(games: Sequence[PlayerGame]) -> list[float]:
    wins, _, losses = _results(games)
    return [wins, losses]


def by_material(game: PlayerGame) -> PlayerGame:
    """Return the game; if it is drawn, as a win of the side with more pieces."""
    if game.result != "D":
        return game
    return game._replace(result="LDW"[int(np.sign(game.difference)) + 1])


def _by_material(games: Sequence[PlayerGame]) -> list[float]:
    return _results([by_material(game) for game in games])


def _by_playing_out(games: Sequence[PlayerGame]) -> list[float]:
    return [sum(game.played_out == result for game in with_cards(games)) for result in "WDL"]


def _from_the_start(games: Sequence[PlayerGame], red: bool) -> PlayerGame:
    return next(game for game in games if not game.opening and game.red == red)


def _start(games: Sequence[PlayerGame]) -> list[float]:
    return [POINTS[_from_the_start(games, red).result] for red in (True, False)]


def _differences(games: Sequence[PlayerGame]) -> list[float]:
    return [_from_the_start(games, red).difference for red in (True, False)]


def _ratings(games: Sequence[PlayerGame]) -> list[float]:
    wins, draws, losses = map(int, _results(games))
    return [*_rated(wins, draws, losses, "printed"), *_rated(wins, draws, losses, "written")]


@functools.cache
def _rated(wins: int, draws: int, losses: int, mode: str) -> tuple[float, ...]:
    first, second = rate_match(wins, draws, losses, np.random.default_rng(0), mode=mode)
    return (*first, *second)


def _pool(run: TrainingResult) -> list[float]:
    reused = run.pool["reused"]
    size = len(reused)
    half = size // 2
    return [
        size,
        float(np.mean(reused > 0)) if size else 0.0,
        float(reused[:half].mean()) if half else 0.0,
        float(reused[half:].mean()) if size else 0.0,
    ]


def curve(name: str, points: int = 5) -> Measure:
    """Return the measure of a curve at equal steps from its start to its end."""
    shares = np.linspace(0, 1, points)

    def at(run: TrainingResult) -> list[float]:
        line = run.curves[name]
        known = np.flatnonzero(~np.isnan(line))
        places = np.rint(shares * (len(known) - 1)).astype(int)
        return [float(line[known[place]]) for place in places] if len(known) else [np.nan] * points

    return Measure(tuple(f"{share:.0%}" for share in shares), at, interval)


def _training(run: TrainingResult) -> list[float]:
    lengths = run.curves.get("games/plies", np.array([], np.float32))
    return [run.origin.cpu_seconds, float(np.nanmean(lengths)) if len(lengths) else np.nan]


def _inheritance(run: TrainingResult) -> list[float]:
    crossed, age = (float(np.nanmean(run.curves[f"elites/{it}"])) for it in ("crossed", "age"))
    return [*_training(run), 100 * crossed, age]


SCORE = Measure(("score, %",), _score, interval)
RESULTS = Measure(("won", "drawn", "lost"), _results, interval)
WINS, DRAWS, LOSSES = map(_count, "WDL")
WINS_AND_LOSSES = Measure(("won", "lost"), _wins_and_losses, interval)
BY_MATERIAL = Measure(("won", "drawn", "lost"), _by_material, interval)
BY_PLAYING_OUT = Measure(("won", "drawn", "lost"), _by_playing_out, interval)
START = Measure(("as red", "as white"), _start, tally)
DIFFERENCES = Measure(("as red", "as white"), _differences, interval)
RATINGS = Measure(
    (
        *("rating", "SD", "opponent's", "SD"),
        *("by the formula: rating", "SD", "opponent's", "SD"),
    ),
    _ratings,
    interval,
)
TRAINING = Measure(("CPU-seconds", "plies a game"), _training, interval)
INHERITANCE = Measure(
    (*TRAINING.columns, "elites by crossover, %", "age of elites, generations"),
    _inheritance,
    interval,
)
POOL = Measure(
    ("strategies", "share reused", "reuses of the older half", "of the newer half"),
    _pool,
    interval,
)
