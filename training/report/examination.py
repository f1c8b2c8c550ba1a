"""Examination of one player: its opponents, time a move, determinism, accuracy in endings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import agents
from agents.agent import Agent, PlayerAgent, reseed
from agents.agent_spec import AgentSpec
from agents.endgame.indexing import index_to_position, material_slices, slice_size, slice_start
from agents.endgame.probe import Tablebase, probe_board
from agents.endgame.tables import load_tablebase
from agents.search.workspace import VISITED
from checkers_env.board import Board
from checkers_env.moves import Move
from checkers_env.state import DrawRules
from training.league.entrants import LIMITS, close_agent, search_depth
from training.league.records import GameRecord, League
from training.league.schedule import Pairing, challenge_pairings

YARDSTICKS = ("random", "heuristic", *(f"material@depth={depth}" for depth in (1, 2, 4, 6, 8)))
REFERENCE = "material@depth=4"  # for the same player at all depths
DEPTHS = range(1, 9)
POSITIONS, MOVES = 300, 200  # endings of each kind; largest number of timed moves
PIECES = (3, 4)  # of the endings
OPTIONS = 2  # legal moves of a position with a choice, at least
EVERY = 5  # positions with a choice, of which one is kept


class Timing(NamedTuple):
    """Seconds a move, in positions with more than one legal move."""

    moves: int
    mean: float
    median: float
    longest: float


def lineup(
    text: str, depth: int | None = None, seconds: float | None = None
) -> tuple[list[str], list[Pairing]]:
    """Return the entrants of an examination, the player first, and the pairs that meet.

    The player meets all baselines. A player that searches by plies also enters at other depths, and
    each depth meets one piece counter. `depth` and `seconds` are limits of a player without its
    own.
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
    """Return the plies of a built-in player, 0 with another limit; None for other agents."""
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


def examine_player(make: Callable[[], Agent], league: League, seed: int) -> list[str]:
    """Measure the first entrant of an examination in positions of its games; return sentences."""
    boards = choice_positions(league.games, 0)
    boards = boards[:: max(len(boards) // MOVES, 1)][:MOVES]
    if not boards:
        raise ValueError("its games have no position in which it has a choice")
    with ExitStack() as stack:
        agent = reseed(make(), seed)
        stack.callback(close_agent, agent)
        timing = measure_time(agent, boards)
        same = measure_determinism(lambda number: reseed(make(), number), boards)
        endings = examine_endings(agent, seed, POSITIONS)
    return [
        f"Time a move: {timing.mean * 1000:.3g} ms in the mean, {timing.median * 1000:.3g} in the "
        f"median, {timing.longest * 1000:.3g} at most ({timing.moves} positions with a choice).",
        f"Determinism: the same move in {same:.1%} of these positions whatever the seed.",
        *endings,
    ]


def examine_endings(agent: Agent, seed: int, positions: int) -> list[str]:
    """Return sentences on the won and the drawn endings, so many of each, that an agent keeps."""
    tables, rng = load_tablebase(max(PIECES)), np.random.default_rng(seed)
    kept = {pieces: measure_accuracy(agent, tables, pieces, positions, rng) for pieces in PIECES}
    return [
        f"Endings of {pieces} pieces, drawn at random where a move would spoil them: "
        f"{wins} of {positions} wins kept, {draws} of {positions} draws."
        for pieces, (wins, draws) in kept.items()
    ]


def choice_positions(games: Iterable[GameRecord], player: int) -> list[Board]:
    """Return some positions of a player's games in which it is to move and has a choice."""
    found = [
        board.copy()
        for game in games
        for board in game.positions()
        if (game.black, game.white)[board.turn] == player and len(board.legal_moves) >= OPTIONS
    ]
    return found[::EVERY]


def measure_time(agent: Agent, boards: Sequence[Board]) -> Timing:
    """Measure an agent's time a move, without the first move, which may compile or load."""
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
    """Return the share of positions in which agents of different seeds choose the same move."""
    with ExitStack() as both:
        moves = []
        for seed in (1, 2):
            agent = make(seed)
            both.callback(close_agent, agent)
            moves.append([agent.act(board.copy()) for board in boards])
    return float(np.mean([one == other for one, other in zip(*moves, strict=True)]))


def measure_accuracy(
    agent: Agent, tables: Tablebase, pieces: int, positions: int, rng: np.random.Generator
) -> list[int]:
    """Count the won and the drawn endings, as many of each, that an agent's move keeps.

    The sample has only endings in which some legal move spoils the win, or the draw.
    """
    kept = []
    for value in (1, 0):
        endings = sample_endings(tables, pieces, value, positions, rng)
        kept.append(sum(agent.act(board.copy()) in good for board, good in endings))
    return kept


def sample_endings(
    tables: Tablebase, pieces: int, value: int, count: int, rng: np.random.Generator
) -> Iterator[tuple[Board, list[Move]]]:
    """Yield random endings, Black to move, and the moves that keep their value; others spoil it.

    The value is 1 for a win and 0 for a draw; all such endings have equal probability.
    """
    parts = material_slices(pieces)
    sizes = np.array([slice_size(part) for part in parts], float)
    rules = DrawRules(max_moves=None)
    while count:
        part = parts[rng.choice(len(parts), p=sizes / sizes.sum())]
        number = slice_start(tables.indexing, part) + int(rng.integers(slice_size(part)))
        position = index_to_position(tables.indexing, part, number)
        board = Board.from_position(*position, rules=rules)
        ending = probe_board(tables, board)
        if ending is None or ending.value != value:
            continue
        good = [move for move in board.legal_moves if move_value(tables, board, move) == value]
        if 0 < len(good) < len(board.legal_moves):
            count -= 1
            yield board, good


def move_value(tables: Tablebase, board: Board, move: Move) -> int:
    """Return the tables' value of a position after `move`, for the side that makes the move."""
    board.push(move)
    ending = probe_board(tables, board)
    board.pop()
    assert ending is not None
    return -ending.value
