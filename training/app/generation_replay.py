"""Replay of the games of a run's current generation.

A checkpoint holds everything that the next generation depends on. The replay therefore plays the
same games as the run, move by move, and does not change the run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agents.match import MatchGame
from agents.match_kernel import DRAW, Result
from checkers_env.movegen import BLACK, WHITE
from checkers_env.state import DrawRules
from training.app.run_reader import save_time_ns
from training.evolution.evaluation import OPPONENTS, performance_curve
from training.evolution.game_runner import GameRunner, Matchup, open_game_runner
from training.evolution.tournament import Pairs, total_scores
from training.regimes import regime_from_config
from training.regimes.coevolution_extended import ExtendedCoevolution
from training.regimes.evolution_strategies import EvolutionStrategy
from training.regimes.genetic_algorithm import GeneticAlgorithm
from training.regimes.social_learning import SocialLearning
from training.regimes.tournament_play import TournamentRegime
from training.trainer.checkpoint import Checkpoint, load_checkpoint

RESULTS = {BLACK: "1-0", WHITE: "0-1", DRAW: "1/2-1/2"}
INVALID_STATE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
MAX_READS = 100  # attempts to read a checkpoint that the run keeps replacing
LEARNER = "learner"  # name of the player that temporal differences train
_replay_lock = threading.Lock()


class MemberStanding(NamedTuple):
    """A member's row in the standings of a tournament."""

    name: str
    points: float
    wins: int
    draws: int
    losses: int
    king: float | None  # K; None for an evaluator without it


class ReplayGame(NamedTuple):
    """A game with its players' names."""

    black: str
    white: str
    game: MatchGame


class GenerationReplay(NamedTuple):
    """Games of a generation, in the order of the regime."""

    number: int
    games: list[ReplayGame]
    standings: list[MemberStanding]  # the best first; empty without a tournament
    survivors: int = 0  # the best so many are the next parents; 0 where they are not selected
    outcome: str = ""  # of the tournament, in words


def replay_checkpoint(run: Path, save_ns: int) -> GenerationReplay:
    """Replay the generation after the checkpoint that was saved at a time (`save_time_ns`).

    Raise LookupError if the run has replaced that checkpoint and its replay is not among the last
    four, and ValueError if the checkpoint cannot be read or its regime is unknown.
    """
    with _replay_lock:  # two requests for the same games play them once
        return _replay_checkpoint(run, save_ns)


def replay_latest(run: Path) -> tuple[int, GenerationReplay]:
    """Replay the generation after the last checkpoint; return the checkpoint's time too.

    The run may replace its checkpoint while this function reads it: it then reads the next one.
    """
    for _ in range(MAX_READS):
        save_ns = save_time_ns(run)
        with suppress(LookupError):
            return save_ns, replay_checkpoint(run, save_ns)
    raise LookupError(f"The run {run.name!r} goes on faster than it can be read")


@lru_cache(4)
def _replay_checkpoint(run: Path, save_ns: int) -> GenerationReplay:
    checkpoint = load_checkpoint(run)
    if save_time_ns(run) != save_ns:
        raise LookupError(f"The run {run.name!r} has gone on since then")
    try:
        return replay_generation(checkpoint)
    except INVALID_STATE as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"the games of the run {run.name!r} cannot be played: {reason}") from error


def replay_generation(checkpoint: Checkpoint) -> GenerationReplay:
    """Play the generation that follows a checkpoint.

    Temporal differences have no tournament, and learn during their games. Their replay has the
    games of the performance curve at the checkpoint's own generation. Raise ValueError for an
    unknown regime.
    """
    regime, state = regime_from_config(checkpoint.config_key), checkpoint.state
    with open_game_runner(1) as runner:  # leave the other cores to the run
        recorder = GameRecorder(runner)
        if isinstance(regime, TournamentRegime):
            regime.step(state, recorder)
            return _tournament_replay(regime, state.generation + 1, recorder.rounds[0])
        seed = checkpoint.config_key["seed"]
        performance_curve(regime.contenders(state), seed, state.generation, regime.rules, recorder)
    names = {id(player): name.removeprefix("curve/") for name, player in OPPONENTS.items()}
    games = [
        ReplayGame(
            names.get(id(matchup.black), LEARNER), names.get(id(matchup.white), LEARNER), game
        )
        for round_ in recorder.rounds
        for matchup, game in round_
    ]
    return GenerationReplay(state.generation, games, [])


class GameRecorder(GameRunner):
    """Game runner that records the matchups and the games of each call of `play` in `rounds`."""

    def __init__(self, runner: GameRunner) -> None:
        self._runner = runner
        self.rounds: list[list[tuple[Matchup, MatchGame]]] = []

    def play(self, matchups: Iterable[Matchup], rules: DrawRules) -> list[MatchGame]:
        """Play each game to its end."""
        matchups = list(matchups)
        games = self._runner.play(matchups, rules)
        self.rounds.append(list(zip(matchups, games, strict=True)))
        return games


def _tournament_replay(
    regime: TournamentRegime, number: int, round_: list[tuple[Matchup, MatchGame]]
) -> GenerationReplay:
    """Return a tournament with the members' names and points.

    The identity of a player tells its member. In every pairing the members have Black in order;
    former champions and the second players of pairs follow them.
    """
    seats = [matchup.black for matchup, _ in round_] + [matchup.white for matchup, _ in round_]
    players = list({id(player): player for player in seats}.values())
    members = {id(player): member for member, player in enumerate(players)}
    names = [_member_name(regime, number, member) for member in range(len(players))]
    pairs = [(members[id(matchup.black)], members[id(matchup.white)]) for matchup, _ in round_]
    results = [game.result for _, game in round_]
    points = total_scores(results, pairs, len(players), regime.payoff, regime.both_score)
    standings = [
        MemberStanding(
            name,
            float(points[member]),
            *_count_results(results, pairs, member),
            _king(players[member]),
        )
        for member, name in enumerate(names)
    ]
    standings.sort(key=lambda standing: -standing.points)
    games = [
        ReplayGame(names[black], names[white], game)
        for (black, white), (_, game) in zip(pairs, round_, strict=True)
    ]
    return GenerationReplay(number, games, standings, *_describe_selection(regime, number))


def _king(player: Any) -> float | None:
    king = getattr(player.evaluator, "king", None)
    return None if king is None else float(king)


def _count_results(results: Sequence[Result], pairs: Pairs, member: int) -> tuple[int, int, int]:
    """Return a member's wins, draws and losses."""
    winners = [
        (result.winner, pair.index(member))
        for result, pair in zip(results, pairs, strict=True)
        if member in pair
    ]
    wins = sum(winner == side for winner, side in winners)
    draws = sum(winner == DRAW for winner, _ in winners)
    return wins, draws, len(winners) - wins - draws


def _member_name(regime: TournamentRegime, number: int, member: int) -> str:
    """Return a member's name in the tournament of a generation."""
    if isinstance(regime, EvolutionStrategy):
        kind, first = ("mirror", regime.pairs) if member >= regime.pairs else ("player", 0)
        return f"{kind} {member - first + 1}"
    is_initial = isinstance(regime, GeneticAlgorithm) and number == 1
    if is_initial or _ends_in_social_learning(regime, number - 1):  # nobody is an offspring
        return f"player {member + 1}"
    kind, first = ("parent", 0) if member < regime.parents else ("offspring", regime.parents)
    if isinstance(regime, ExtendedCoevolution) and member >= 2 * regime.parents:
        kind, first = "former champion", 2 * regime.parents
    return f"{kind} {member - first + 1}"


def _describe_selection(regime: TournamentRegime, number: int) -> tuple[int, str]:
    """Return the number of survivors by selection, and the consequence for all in words."""
    if isinstance(regime, EvolutionStrategy):
        return 0, "Nobody plays on: all games together move the mean of the next generation."
    if _ends_in_social_learning(regime, number):
        return 0, "All play on: this generation ends in social learning."
    survivors = regime.parents
    return survivors, f"The best {survivors} are the next parents; equals are drawn by lot."


def _ends_in_social_learning(regime: TournamentRegime, number: int) -> bool:
    """Return whether a generation ends in social learning, in which all survive."""
    return isinstance(regime, SocialLearning) and number % regime.social_every == 0
