"""Compare champions with the start of their training.

Selection may keep unchanged copies of the first players to the end of a run. Such a champion says
nothing about the method, so the champion of each evolution is compared with generation 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.architectures import build_player
from agents.match_kernel import DRAW
from agents.mcts.player import MonteCarlo
from agents.search.player import AlphaBeta
from checkers_env.openings import TWO_MOVE
from training.evolution.game_runner import Matchup, open_game_runner
from training.evolution.state import Champion, State
from training.experiments.jobs import Run
from training.experiments.json_lines import Row, check_fields
from training.regimes.coevolution import Coevolution

STARTS = "starts.jsonl"
START_FIELDS = {
    "preset": str,
    "generations": int,
    "seed": int,
    "champion": str,
    "untouched": float,
    "untouched_parents": list,
    "games": list,
}


def evolves(run: Run) -> bool:
    """Return whether a run selects from a population of genomes, and keeps its champion."""
    return run.kept > 0 and "genomes" in run.regime.init(run.seed).arrays


def first_players(run: Run) -> list[Champion]:
    """Return the members of generation 0."""
    state = run.regime.init(run.seed)
    return members(run, state, len(state.arrays["genomes"]))


def members(run: Run, state: State, count: int) -> list[Champion]:
    """Return the first `count` members of a population.

    A champion that leagues have selected is a member only in its own generation.
    """
    regime: Any = run.regime
    if isinstance(regime, Coevolution):
        parts = (state.population.pick([member]) for member in range(count))
        return [regime.champion_of(state, part) for part in parts]
    return [regime.champion(state, member) for member in range(count)]


def untouched_share(weights: NDArray[Any], firsts: Iterable[Champion]) -> float:
    """Return the share of weights that equal those of the most similar first player.

    They are compared in single precision, as saved.
    """
    saved = np.asarray(weights, np.float32)
    return max(float(np.mean(saved == np.asarray(it.genome, np.float32))) for it in firsts)


def compare_with_start(run: Run, champion: Champion, state: State | None = None) -> Row:
    """Compare the champion of an evolution with generation 0.

    The games are at the plies of the training, with both colours from the 43 cards of the two-move
    ballot. The members of generation 0 take turns as the opponent, a card each.

    Returns ``untouched``
    (share of the champion's weights that are those of a first player), ``untouched_parents`` (that
    of each survivor; empty without the last state) and ``games`` (won, drawn and lost).
    """
    firsts, shares = first_players(run), list[float]()
    if state is not None:
        survivors = members(run, state, run.regime.parents)
        shares = [untouched_share(player.genome, firsts) for player in survivors]
    return {
        "untouched": untouched_share(champion.genome, firsts),
        "untouched_parents": shares,
        "games": _games(run, champion, firsts),
    }


def _games(run: Run, champion: Champion, firsts: Sequence[Champion]) -> list[int]:
    """Return how many games the champion wins, draws and loses against generation 0."""
    player, opponents = player_of(champion), list(map(player_of, firsts))
    matchups = []
    for number, card in enumerate(TWO_MOVE[: max(1, round(len(TWO_MOVE) * run.scale))]):
        opponent = opponents[number % len(opponents)]
        for side, pair in enumerate(((player, opponent), (opponent, player))):
            matchups.append(Matchup(*pair, card, (run.seed, 2 * number + side)))
    with open_game_runner(1) as runner:
        winners = [game.result.winner for game in runner.play(matchups, run.regime.rules)]
    won = sum(winner == number % 2 for number, winner in enumerate(winners))
    drawn = winners.count(DRAW)
    return [won, drawn, len(winners) - won - drawn]


def player_of(champion: Champion) -> AlphaBeta | MonteCarlo:
    """Return the player of a champion's weights, in single precision as they are saved.

    It chooses moves as in its training.
    """
    saved = np.asarray(champion.genome, np.float32).astype(np.float64)
    return build_player(saved, champion.metadata)


def check_start(row: Row) -> None:
    """Raise ValueError if a line of ``starts.jsonl`` is inconsistent."""
    check_fields(row, START_FIELDS)
    if len(row["games"]) != 3 or not 0 <= row["untouched"] <= 1:
        raise ValueError("it needs a share from 0 to 1, and games won, drawn and lost")


def start_fields(run: Run, champion: str) -> Row:
    """Return the fields of a run's line, whose champion has this hash."""
    return {
        "preset": run.preset,
        "generations": run.length,
        "seed": run.seed,
        "champion": champion,
    }
