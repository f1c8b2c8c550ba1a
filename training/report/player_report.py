"""Examination of one player: its opponents, and measurements other than its games."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import agents
from agents.agent import Agent, reseed
from agents.agent_spec import AgentSpec
from agents.endgame.tables import load_tablebase
from training.league.entrants import LIMITS, close_agent, search_depth
from training.league.records import League
from training.league.schedule import Pairing, challenge_pairings
from training.report.player_analysis import (
    Accuracy,
    Timing,
    choice_positions,
    measure_accuracy,
    measure_determinism,
    measure_time,
)

YARDSTICKS = ("random", "heuristic", *(f"material@depth={depth}" for depth in (1, 2, 4, 6, 8)))
REFERENCE = "material@depth=4"  # for the same player at all depths
DEPTHS = range(1, 9)
POSITIONS, MOVES = 300, 200  # endings of each kind; largest number of timed moves
PIECES = (3, 4)


class PlayerReport(NamedTuple):
    """Measurements of an examination; accuracy by the number of pieces."""

    timing: Timing
    determinism: float
    accuracy: dict[int, Accuracy]


def lineup(
    text: str, depth: int | None = None, seconds: float | None = None
) -> tuple[list[str], list[Pairing]]:
    """Return the entrants and pairings of an examination.

    The player meets all baselines. A player that searches by plies also enters at other depths, and
    each depth meets one piece counter.

    Parameters
    ----------
    text
        Text of the player.
    depth
        Its search depth in plies, unless the text has a limit.
    seconds
        Its time a move, unless the text has a limit.

    Returns
    -------
    Texts of all entrants, the player first, and the pairs that meet.
    """
    own = default_depth(text, depth, seconds)
    itself = {text, with_depth(text, own)} if own else {text}
    others = [with_depth(text, plies) for plies in DEPTHS if own is not None and plies != own]
    yardsticks = [name for name in YARDSTICKS if name not in itself]
    texts = list(dict.fromkeys([text, *yardsticks, *others]))
    reference = 0 if REFERENCE in itself else texts.index(REFERENCE)
    pairings = challenge_pairings([0], [texts.index(name) for name in yardsticks])
    pairings += challenge_pairings([texts.index(name) for name in others], [reference])
    met = {frozenset(pairing): pairing for pairing in pairings if len(set(pairing)) == 2}
    return texts, list(met.values())


def default_depth(text: str, depth: int | None, seconds: float | None) -> int | None:
    """Return the plies of a built-in player, 0 with another limit; None for other agents.

    Parameters
    ----------
    text
        Text of the player.
    depth, seconds
        As for :func:`lineup`.
    """
    spec = AgentSpec.parse(text)
    if spec.kind != "weights" and spec.name not in agents.available():
        return None
    plies = search_depth(agents.make(spec.name, **spec.options))
    if plies is None or LIMITS & spec.options.keys() == {"depth"}:
        return plies
    return 0 if LIMITS & spec.options.keys() or seconds is not None else depth or plies


def with_depth(text: str, depth: int) -> str:
    """Return the text of the same player at another depth."""
    spec = AgentSpec.parse(text)
    rest = {key: value for key, value in spec.options.items() if key not in LIMITS}
    return str(replace(spec, options={"depth": depth, **rest}))


def examine_player(make: Callable[[], Agent], league: League, seed: int) -> PlayerReport:
    """Measure the first entrant of an examination, in positions of its games.

    Parameters
    ----------
    make
        Factory of the first entrant.
    league
        Games of :func:`lineup`.
    seed
        Seed of the measurements.
    """
    boards = choice_positions((game for game in league.games if 0 in (game.black, game.white)), 0)
    boards = boards[:: max(len(boards) // MOVES, 1)][:MOVES]
    agent = reseed(make(), seed)
    rng = np.random.default_rng(seed)
    try:
        tables = load_tablebase(max(PIECES))
        return PlayerReport(
            measure_time(agent, boards),
            measure_determinism(lambda number: reseed(make(), number), boards),
            {n: measure_accuracy(agent, tables, n, POSITIONS, rng) for n in PIECES},
        )
    finally:
        close_agent(agent)


def report_lines(examination: PlayerReport) -> list[str]:
    """Return the findings, a sentence each."""
    time, same = examination.timing, examination.determinism
    found = [
        f"Time a move: {time.mean * 1000:.3g} ms in the mean, {time.median * 1000:.3g} in the "
        f"median, {time.longest * 1000:.3g} at most ({time.moves} positions with a choice).",
        f"Determinism: the same move in {same:.1%} of these positions whatever the seed.",
    ]
    return found + [
        f"Endings of {pieces} pieces, drawn at random where a move would spoil them: "
        f"{kept.wins_kept} of {kept.won} wins kept, {kept.draws_kept} of {kept.drawn} draws."
        for pieces, kept in examination.accuracy.items()
    ]
