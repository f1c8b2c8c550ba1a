"""Games between the champions that a run has kept, by generation."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import agents
from agents.agent import PlayerAgent
from agents.match import MatchGame, play_game
from agents.search.interrupt import LateMoveError
from checkers_env.openings import TWO_MOVE
from training.app.generation_replay import ReplayGame
from training.app.run_reader import find_champions

MOVE_SECONDS = 10.0  # a player of a run needs milliseconds
_games_lock = threading.Lock()


def play_champions(run: Path, black: int, white: int, card: int) -> ReplayGame:
    """Play a game between the champions of two generations, each at the depth of its training.

    `card` counts the two-move ballot from 1; 0 is the start position. Raise LookupError for a
    champion that was not kept and for a card that does not exist, and ValueError for a weight file
    that cannot be read or a player that takes too long for a move.
    """
    if card > len(TWO_MOVE):
        raise LookupError(f"The ballot has {len(TWO_MOVE)} cards")
    kept = find_champions(run)
    missing = [generation for generation in (black, white) if generation not in kept]
    if missing:
        raise LookupError(f"The run {run.name!r} has kept no champion of generation {missing[0]}")
    files = [kept[generation] for generation in (black, white)]
    versions = tuple(path.stat().st_mtime_ns for path in files)
    with _games_lock:  # leave the other cores to the run and to the agents of other pages
        game = _play(str(files[0]), str(files[1]), versions, card)
    return ReplayGame(f"generation {black}", f"generation {white}", game)


@lru_cache(64)
def _play(black: str, white: str, versions: tuple[int, ...], card: int) -> MatchGame:
    opening = TWO_MOVE[card - 1] if card else None
    try:
        players = [_load_player(path) for path in (black, white)]
        return play_game(*players, opening=opening, seconds=MOVE_SECONDS)
    except LateMoveError as late:
        reason = f"a champion took over {MOVE_SECONDS:g} seconds for move {late.plies + 1}"
        raise ValueError(f"The game was given up: {reason}.") from None


def _load_player(path: str) -> Any:
    agent = agents.make(path)
    if not isinstance(agent, PlayerAgent):
        raise ValueError(f"{path!r} holds no player of a run.")
    return agent.player
