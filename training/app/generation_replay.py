"""The games of a run's current generation, played once more.

A checkpoint holds all that the next generation depends on. So the tournament that the run plays
now, or would play if it went on, is played here too, move by move the same; the run is not touched.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from agents.match import Game
from agents.match_kernel import DRAW, Result
from checkers_env import pdn
from checkers_env.movegen import BLACK, WHITE
from checkers_env.state import DrawRules
from training.app.run_reader import saved
from training.evolution.evaluation import OPPONENTS, performance_curve
from training.evolution.game_runner import GameRunner, Matchup, open_game_runner
from training.evolution.tournament import Pairs, Payoff, total_scores
from training.regimes import regime_from_config
from training.regimes.coevolution import Coevolution
from training.regimes.coevolution_extended import ExtendedCoevolution
from training.regimes.evolution_strategies import EvolutionStrategy
from training.regimes.genetic_algorithm import GeneticAlgorithm
from training.regimes.social_learning import SocialLearning
from training.trainer.checkpoint import Checkpoint, load_checkpoint

Tournament = Coevolution | GeneticAlgorithm | EvolutionStrategy
RESULTS = {BLACK: "1-0", WHITE: "0-1", DRAW: "1/2-1/2"}
TRIES = 100  # to read a checkpoint before the next one is there
LEARNER = "learner"  # whom temporal differences teach
_turn = threading.Lock()


class Standing(NamedTuple):
    """A member's line in the table of a tournament."""

    name: str
    points: float
    wins: int
    draws: int
    losses: int
    king: float  # K


class Played(NamedTuple):
    """A game, and what its players are called."""

    black: str
    white: str
    game: Game


class Generation(NamedTuple):
    """A generation's games.

    Attributes
    ----------
    number
        Of the generation.
    standings
        Of its tournament, the best first; none where there is no tournament.
    survive
        How many of these go on to the next generation; 0 where it is not the best who do.
    outcome
        What becomes of those who played, in words.
    """

    number: int
    games: list[Played]
    standings: list[Standing]
    survive: int = 0
    outcome: str = ""


def current_generation(run: Path, at: int) -> Generation:
    """The generation after the checkpoint that was saved `at` (see evolution.saved).

    The last few are remembered. Raises LookupError for an earlier checkpoint that is not, and
    ValueError for one that cannot be read, or whose regime is not known.
    """
    with _turn:  # so that one game is not played for two readers
        return _remembered(run, at)


def latest_generation(run: Path) -> tuple[int, Generation]:
    """When the last checkpoint was saved, and the generation after it.

    A run may save the next one while this one is read: then that is the last.
    """
    for _ in range(TRIES):
        at = saved(run)
        with suppress(LookupError):
            return at, current_generation(run, at)
    raise LookupError(f"The run {run.name!r} goes on faster than it can be read")


@lru_cache(4)
def _remembered(run: Path, at: int) -> Generation:
    checkpoint = load_checkpoint(run)
    if saved(run) != at:
        raise LookupError(f"The run {run.name!r} has gone on since then")
    return play_generation(checkpoint)


def play_generation(checkpoint: Checkpoint) -> Generation:
    """Play the generation that follows a checkpoint.

    Temporal differences have no tournament, and learn in the middle of their games: of them these
    are the games of the performance curve, which measured the checkpoint's own generation. Raises
    ValueError for a regime that is not known.
    """
    regime, state = regime_from_config(checkpoint.config_key), checkpoint.state
    with open_game_runner(1) as runner:  # the processors are the run's
        recorder = Recorder(runner)
        if isinstance(regime, Tournament):
            regime.step(state, recorder)
            return _tournament(regime, state.generation + 1, recorder.rounds[0])
        seed = checkpoint.config_key["seed"]
        performance_curve(regime.contenders(state), seed, state.generation, regime.rules, recorder)
    names = {id(player): name.removeprefix("curve/") for name, player in OPPONENTS.items()}
    games = [
        Played(names.get(id(matchup.black), LEARNER), names.get(id(matchup.white), LEARNER), game)
        for played in recorder.rounds
        for matchup, game in played
    ]
    return Generation(state.generation, games, [])


class Recorder(GameRunner):
    """A game runner that remembers what was played in it: the fixtures and games of each call."""

    def __init__(self, runner: GameRunner) -> None:
        self._runner = runner
        self.rounds: list[list[tuple[Matchup, Game]]] = []

    def play(self, matchups: Iterable[Matchup], rules: DrawRules) -> list[Game]:
        """Play each game to its end."""
        matchups = list(matchups)
        games = self._runner.play(matchups, rules)
        self.rounds.append(list(zip(matchups, games, strict=True)))
        return games


def _tournament(regime: Tournament, number: int, played: list[tuple[Matchup, Game]]) -> Generation:
    """The games of a tournament with the members' names and points.

    Members are told apart by their players. In every pairing each has Black, the first one first,
    but for former champions and the second ones of pairs, who come behind.
    """
    seats = [matchup.black for matchup, _ in played] + [matchup.white for matchup, _ in played]
    players = list({id(player): player for player in seats}.values())
    place = {id(player): member for member, player in enumerate(players)}
    names = [_name(regime, number, member) for member in range(len(players))]
    pairs = [(place[id(matchup.black)], place[id(matchup.white)]) for matchup, _ in played]
    results = [game.result for _, game in played]
    payoff = Payoff(regime.win, regime.draw, regime.loss)
    points = total_scores(results, pairs, len(players), payoff, regime.both_score)
    standings = [
        Standing(
            name,
            float(points[member]),
            *_tally(results, pairs, member),
            float(players[member].evaluator.king),
        )
        for member, name in enumerate(names)
    ]
    standings.sort(key=lambda standing: -standing.points)
    games = [
        Played(names[black], names[white], game)
        for (black, white), (_, game) in zip(pairs, played, strict=True)
    ]
    return Generation(number, games, standings, *_outcome(regime, number))


def _tally(results: Sequence[Result], pairs: Pairs, member: int) -> tuple[int, int, int]:
    """How many games a member won, drew and lost."""
    winners = [
        (result.winner, pair.index(member))
        for result, pair in zip(results, pairs, strict=True)
        if member in pair
    ]
    won = sum(winner == side for winner, side in winners)
    drawn = sum(winner == DRAW for winner, _ in winners)
    return won, drawn, len(winners) - won - drawn


def _name(regime: Tournament, number: int, member: int) -> str:
    """What a member is called in the tournament of a generation."""
    if isinstance(regime, EvolutionStrategy):
        kind, first = ("mirror", regime.pairs) if member >= regime.pairs else ("player", 0)
        return f"{kind} {member - first + 1}"
    first_of_all = isinstance(regime, GeneticAlgorithm) and number == 1
    if first_of_all or _learns(regime, number - 1):  # none descends from another
        return f"player {member + 1}"
    kind, first = ("parent", 0) if member < regime.parents else ("offspring", regime.parents)
    if isinstance(regime, ExtendedCoevolution) and member >= 2 * regime.parents:
        kind, first = "former champion", 2 * regime.parents
    return f"{kind} {member - first + 1}"


def _outcome(regime: Tournament, number: int) -> tuple[int, str]:
    """How many survive a generation by being the best, and what becomes of all, in words."""
    if isinstance(regime, EvolutionStrategy):
        return (
            0,
            "Nobody plays on: all games together move the mean of the next generation.",
        )
    if _learns(regime, number):
        return 0, "All play on: this generation ends in social learning."
    return (
        regime.parents,
        f"The best {regime.parents} are the next parents; equals are drawn by lot.",
    )


def _learns(regime: Tournament, number: int) -> bool:
    """Whether a generation ends in social learning, after which all play on, not in selection."""
    return isinstance(regime, SocialLearning) and number % regime.social_every == 0


def as_pdn(played: Played, tags: dict[str, str]) -> pdn.Game:
    """A game as a record with its players and further tags."""
    players = {"Black": played.black, "White": played.white}
    moves = tuple(played.game.board.moves)
    return pdn.Game(tags | players, moves, RESULTS[played.game.result.winner])
