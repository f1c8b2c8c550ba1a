"""Jobs as workers run them: train a player, or play a match."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

import agents
from agents.agent import PlayerAgent
from agents.architectures import build_evaluator
from agents.baselines.material import Material
from agents.match import MatchGame, play_game
from agents.match_kernel import DRAW
from agents.mcts.player import monte_carlo
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from checkers_env.movegen import BLACK, WHITE
from checkers_env.state import REASONS, DrawRules
from training.evolution.metrics import Metrics
from training.evolution.state import Champion, State
from training.experiments.champions import encode_champion, name_champion
from training.experiments.jobs import Conditions, Match, Player, Run
from training.experiments.results import MatchResult, Origin, TrainingResult
from training.experiments.starting_point import compare_with_start, evolves
from training.league.game import play_fixture
from training.league.schedule import schedule_games
from training.regimes.social_learning import POOL, SocialLearning, SocialPool
from training.runtime.executors import stop_requested
from training.runtime.run_folder import LOCK
from training.trainer import loop
from training.trainer.checkpoint import FILE_NAME, Checkpoint, load_checkpoint

CHECKPOINT_EVERY = 25  # generations: a killed run loses half a minute
LEFT_OUT = "speed/"  # prefix of measurements that differ from run to run


class Stopped(Exception):  # noqa: N818 - not an error
    """A job stops before its end, for the deadline or an interruption."""


class Deadline(NamedTuple):
    """Time at which a worker must stop, in seconds as time.time() counts them."""

    time: float = float("inf")

    def check(self) -> None:
        """Raise Stopped after the deadline, or if the program was asked to stop."""
        if stop_requested() or time.time() >= self.time:
            raise Stopped


def train(job: Run, folder: Path, deadline: Deadline) -> TrainingResult | None:
    """Train a player, from the checkpoint in its folder if there is one.

    Returns None at the deadline: the folder then has a checkpoint. Raises ValueError if the
    checkpoint is beyond the run's end.
    """
    plan = loop.RunConfig(
        job.preset,
        job.regime,
        job.length,
        job.seed,
        folder,
        curve_every=job.point_every,
        checkpoint_every=CHECKPOINT_EVERY,
        plot=False,
    )

    def progress(state: State, measured: Metrics) -> None:
        if state.generation < job.length:
            deadline.check()

    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / LOCK):  # a worker of a killed session may still train here
        there = (folder / FILE_NAME).exists()
        checkpoint = load_checkpoint(folder) if there else loop.begin(plan)
        if checkpoint.state.generation > job.length:  # another worker trained on before the lock
            raise ValueError(
                f"the checkpoint in {str(folder)!r} is beyond the end of {job.title}: run the same "
                "command again"
            )
        if checkpoint.state.generation < job.length:
            try:
                checkpoint = loop.train(plan, checkpoint, progress)
            except Stopped:
                return None
        return training_result(job, checkpoint)


def training_result(job: Run, checkpoint: Checkpoint) -> TrainingResult:
    """Return the result of a finished run."""
    regime: Any = job.regime
    state, history = checkpoint.state, checkpoint.history
    members = [regime.champion(state, member) for member in range(job.kept)]
    contents = [encode_champion(player, job, state.generation) for player in members]
    names = tuple(map(name_champion, contents))
    lasting = {
        name: np.array(row) for name, row in history.items() if not name.startswith(LEFT_OUT)
    }
    seconds = np.cumsum([0.0, *(regime.games / np.array(history[loop.SPEED][1:]))])
    points = np.append(np.arange(0, job.length, job.point_every), job.length)
    return TrainingResult(
        names,
        points.astype(np.int32),
        {name: means(row, points) for name, row in lasting.items()},
        pool_of(state) if isinstance(regime, SocialLearning) else {},
        Origin(float(seconds[-1]), tuple(seconds[points].round(2).tolist())),
        dict(zip(names, contents, strict=True)),
        compare_with_start(job, members[0], state) if evolves(job) else {},
    )


def pool_of(state: State) -> dict[str, NDArray[np.float32]]:
    """Return the columns of the social pool by name, shape (strategies,) (thesis, Table 5.1)."""
    pool = SocialPool.from_arrays(state.arrays, POOL)
    columns = {"generation": pool.generations, "score": pool.scores, "reused": pool.reused}
    return {name: np.asarray(column, np.float32) for name, column in columns.items()}


def means(row: NDArray[np.float64], generations: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return the mean of a measurement over the generations of each point; nan for none.

    The row is of shape (generations + 1,), with nan where it was not measured. Each point has its
    last generation.
    """
    starts = np.concatenate([[0], generations[:-1] + 1])
    points = [
        row[start : end + 1][~np.isnan(row[start : end + 1])]
        for start, end in zip(starts, generations, strict=True)
    ]
    return np.array([point.mean() if len(point) else np.nan for point in points], np.float32)


def build_player(player: Player, champion: Champion | None, conditions: Conditions) -> Any:
    """Build the compiled player of one side of a match.

    A player without a depth or options of its own has those of the match. Raises ValueError if the
    agent is not a compiled player, or a champion with another output is not a network.
    """
    depth, options = player.depth or conditions.depth, conditions.search_options
    if player.tie is not None:
        options["tie"] = player.tie
    if champion is not None:
        name = champion.metadata.architecture
        name += "-unsaturated" if player.unsaturated else ""
        name += "-exact" if player.exact_tanh else ""
        metadata = replace(champion.metadata, architecture=name)
        evaluator = build_evaluator(champion.genome, metadata)
        perspective = metadata.root_perspective
        if player.simulations:
            return monte_carlo(evaluator, player.simulations, root_perspective=perspective)
        built = AlphaBeta(evaluator, depth, root_perspective=perspective)
        return built.with_search(**metadata.search_options | options)
    agent = agents.make(player.name, simulations=player.simulations)
    if not isinstance(agent, PlayerAgent):
        raise ValueError(f"{player.name!r} is not a compiled player: it cannot play matches here")
    built = agent.player
    if not isinstance(built, AlphaBeta):
        return built
    return built.with_search(depth=depth, **options)


def play(
    match: Match, first: Champion | None, second: Champion | None, deadline: Deadline
) -> MatchResult | None:
    """Play a match; return None at the deadline."""
    began, conditions = time.thread_time(), match.conditions
    players = (
        build_player(match.first, first, conditions),
        build_player(match.second, second, conditions),
    )
    try:
        games = play_each(players, match.openings, conditions.rules, match.seed, deadline.check)
    except Stopped:
        return None
    ends = play_out(games, conditions.play_out, match.seed) if conditions.play_out else []
    origin = Origin(time.thread_time() - began)
    return MatchResult(match.openings, **summary(games, ends), origin=origin)


def play_each(
    players: tuple[Any, Any],
    openings: Sequence[str],
    rules: DrawRules,
    seed: int,
    check: Callable[[], None],
) -> list[MatchGame]:
    """Play each opening twice, first with the first player as Black, then with the second.

    `check` is called before each game, and raises Stopped at the deadline.
    """
    games = []
    for fixture in schedule_games([(0, 1)], openings):
        check()
        both = players[fixture.black], players[fixture.white]
        games.append(play_fixture(both, fixture, rules, seed))
    return games


def play_out(games: Sequence[MatchGame], depth: int, seed: int) -> list[int]:
    """Return each game's winner (or DRAW) after the piece counter plays drawn games on."""
    counter = AlphaBeta(Material(), depth, tie=CHANCE)

    def winner(number: int, game: MatchGame) -> int:
        if game.result.winner != DRAW:
            return int(game.result.winner)
        rng = np.random.default_rng((seed, number))
        return int(play_game(counter, counter, opening=game.board.fen(), rng=rng).result.winner)

    return [winner(number, game) for number, game in enumerate(games)]


def summary(games: Sequence[MatchGame], ends: Sequence[int]) -> dict[str, Any]:
    """Return the attributes of a MatchResult; `ends` are winners with drawn games played on."""
    sides = [(BLACK, WHITE)[number % 2] for number in range(len(games))]
    winners = [int(game.result.winner) for game in games]
    differences = [game.board.piece_difference() for game in games]
    moves = hashlib.sha256(repr([game.paths for game in games]).encode())
    reasons = Counter(REASONS[game.result.reason] for game in games)
    leads = [-lead if side else lead for lead, side in zip(differences, sides, strict=True)]
    return {
        "results": "".join(map(letter, winners, sides)),
        "differences": tuple(leads),
        "plies": tuple(int(game.result.plies) for game in games),
        "reasons": dict(sorted(reasons.items())),
        "played_out": "".join(map(letter, ends, sides)),
        "moves": moves.hexdigest()[:16],
    }


def letter(winner: int, side: int) -> str:
    """Return "W", "D" or "L" for the player of `side`."""
    if winner == DRAW:
        return "D"
    return "W" if winner == side else "L"
