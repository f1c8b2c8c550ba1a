"""Measure the continual player against its frozen twin (thesis 8.2, item 2).

    python training/continual.py POOL.safetensors --against NAME [options]

The continual player (agents/continual) starts with the best strategy of the pool and changes it
after every loss; its twin keeps the best one. Both play the same opponent with the same cards of
the two-move ballot, colours and seeds. The result is the mean difference of their scores a game.
"""

from __future__ import annotations

import itertools
import json
import shlex
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import tyro
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from agents.agent import Agent, PlayerAgent, reseed
from agents.continual.agent import SCORES, ContinualAgent
from agents.continual.pool import StrategyPool, load_pool
from agents.match import MatchGame, play_through_environment
from agents.match_kernel import DRAW
from agents.search.workspace import MAX_DEPTH
from checkers_env.errors import EngineError
from checkers_env.files import check_output, write_atomically
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.experiments.inference import Interval, student
from training.league.entrants import close_agent, make_entry
from training.league.schedule import LeagueFixture, schedule_games
from training.runtime.cli import command_line, read_options, run_command
from training.runtime.validation import Range, validate_ranges

MEMBER = "pool:"  # before the number of a strategy of the pool, as the opponent
WIDTH = 100


@dataclass(frozen=True)
class ContinualConfig:
    """Options of the command line."""

    pool: tyro.conf.Positional[Path]
    """Pool file of a run of individual and social learning (pool.safetensors)."""
    against: str
    """The opponent, as benchmark.py takes it, or pool:N: strategy N of the pool (0 is the best)."""
    games: Annotated[int, Range(2, 1_000_000)] = 2 * len(TWO_MOVE)
    """Games of each; beyond 86 the cards repeat."""
    depth: Annotated[int, Range(1, MAX_DEPTH)] = 4
    """Plies that all search (an opponent that does not search by plies plays as it does)."""
    seed: Annotated[int, Range(0)] = 0
    """Seed of the order of the cards, of the opponent's chance and of the rule "random"."""
    rule: Literal["next", "random", "best"] = "next"
    """Strategy after a lost game: the next best, any other, or the best by the record so far."""
    record: Path | None = None
    """The continual player's record, in which an interrupted run goes on; by default beside --out.

    A measurement always begins with the best of the pool: its games stand apart from others there.
    """
    out: Path | None = None
    """Write every game and the result to this JSON file."""


class GamePair(NamedTuple):
    """Both games of a schedule's line: the continual player's strategy and score, its twin's."""

    opening: str
    side: int
    strategy: int
    score: float
    twin: float


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(run)


def run(arguments: Sequence[str], console: Console) -> None:
    """Read the command line, play the games and print the result."""
    settings = read_options(ContinualConfig, arguments, "python training/continual.py", __doc__)
    validate_ranges(settings)
    if settings.out:
        check_output("--out", settings.out)
    record = settings.record or (settings.out and settings.out.with_suffix(".record.json"))
    if settings.out and settings.out in (settings.pool, record):
        raise ValueError(f"--out must be a file of its own, not {str(settings.out)!r}")
    pool = load_pool(settings.pool)
    try:
        pairs = measure(settings, pool, record, console)
    except KeyboardInterrupt:
        kept = f"what was played is in {str(record)!r}. Go on" if record else "Start again"
        again = shlex.join(command_line())
        console.print(f"Interrupted; {kept} with the same command: {again}", markup=False)
        raise
    if settings.out:
        fields = {
            "conditions": {name: str(value) for name, value in vars(settings).items()},
            "pool": pool.digest(),
            "difference": difference(pairs)._asdict(),
            "switches": switches(pairs),
            "pairs": [pair._asdict() for pair in pairs],
        }
        write_atomically(settings.out, json.dumps(fields, indent=1).encode())
    show(pairs, pool)


def measure(
    settings: ContinualConfig,
    pool: StrategyPool,
    record: Path | None,
    console: Console,
) -> list[GamePair]:
    """Play all pairs of games. The continual player records each game before the next one."""
    conditions = f"at {settings.depth} plies, rule {settings.rule}, seed {settings.seed}"
    match = f"{settings.against} {conditions}"
    agent = ContinualAgent(pool, record, settings.rule, match, settings.depth, settings.seed)
    twin = ContinualAgent(pool, depth=settings.depth, frozen=True)
    other = opponent(settings, pool)
    schedule = fixtures(settings.seed, settings.games)
    hidden = not console.is_terminal
    try:
        return [
            play_pair(agent, twin, other, fixture, settings.seed)
            for fixture in track(schedule, settings.against, console=console, disable=hidden)
        ]
    finally:
        close_agent(other)


def play_pair(
    agent: ContinualAgent, twin: ContinualAgent, other: Agent, fixture: LeagueFixture, seed: int
) -> GamePair:
    """Return the continual player's game, played now or before, and the same game of its twin."""
    side, number = (BLACK, WHITE)[fixture.black], fixture.number
    if len(agent.relevant_games) == number:
        agent.game_over(play(agent, other, fixture, seed).board, side)
        if len(agent.relevant_games) != number + 1:
            raise ValueError(f"another process makes this measurement in {str(agent.record)!r}")
    played = agent.relevant_games[number]
    winner = play(twin, other, fixture, seed).result.winner
    score = 0.5 if winner == DRAW else float(winner == side)
    return GamePair(fixture.opening, side, played.strategy, played.score, score)


def opponent(settings: ContinualConfig, pool: StrategyPool) -> Agent:
    """Build the opponent; raise ValueError if there is none of that name."""
    text, depth = settings.against, settings.depth
    if text.startswith(MEMBER):
        number = text.removeprefix(MEMBER)
        if number not in map(str, range(pool.size)):
            raise ValueError(f"no opponent {text!r}: the pool has strategies 0 to {pool.size - 1}")
        return PlayerAgent(text, pool.player(int(number), depth))
    return make_entry(text, depth=depth).make()


def fixtures(seed: int, games: int) -> tuple[LeagueFixture, ...]:
    """Return the games of the measured player (0): each card with both colours, in shuffled packs.

    The order of the first games does not depend on their number.
    """
    rng, packs = np.random.default_rng(seed), range(0, games, 2 * len(TWO_MOVE))
    cards = [TWO_MOVE[card] for _ in packs for card in rng.permutation(len(TWO_MOVE))]
    return schedule_games([(0, 1)], cards)[:games]


def play(player: Agent, other: Agent, fixture: LeagueFixture, seed: int) -> MatchGame:
    """Play one game with a seeded opponent; raise ValueError if an external player fails."""
    both = (player, other) if fixture.black == 0 else (other, player)
    try:
        reseed(other, (seed, fixture.number, 1))
        return play_through_environment(*both, opening=fixture.opening, rules=DrawRules())
    except EngineError as error:
        raise ValueError(f"game {fixture.number + 1} was not finished: {error}") from error


def difference(pairs: Sequence[GamePair]) -> Interval:
    """Return the mean difference of the scores, the continual player's minus its twin's.

    Games of one card and side repeat one another, so their mean counts as one difference. The 95 %
    interval is Student's over these differences and two more, +1 and -1. So it has a width even if
    all are equal (after D. G. Bonett and R. M. Price, J. Educational and Behavioral Statistics
    37(4), 2012, for paired proportions).
    """
    differences = np.array([pair.score - pair.twin for pair in pairs])
    cards = defaultdict(list)
    for pair, value in zip(pairs, differences.tolist(), strict=True):
        cards[pair.opening, pair.side].append(value)
    padded = np.append([np.mean(values) for values in cards.values()], [1.0, -1.0])
    low, high = np.clip(student(padded.tolist())[1:], -1.0, 1.0).tolist()
    return Interval(float(differences.mean()), low, high)


def switches(pairs: Sequence[GamePair]) -> list[tuple[int, int, int]]:
    """Return the games, counted from 1, after which the strategy changed, with both strategies."""
    following = enumerate(itertools.pairwise(pairs), 1)
    return [
        (number, before.strategy, after.strategy)
        for number, (before, after) in following
        if before.strategy != after.strategy
    ]


def show(pairs: Sequence[GamePair], pool: StrategyPool) -> None:
    """Print scores, their difference and the strategies."""
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=WIDTH)
    players = Table("player", "won-drawn-lost", "score", box=SIMPLE)
    for name, scores in (
        ("continual", [pair.score for pair in pairs]),
        ("frozen twin", [pair.twin for pair in pairs]),
    ):
        players.add_row(name, won_drawn_lost(scores), f"{np.mean(scores):.3f}")
    console.print(players)
    console.print(verdict(pairs))
    used = Table("strategy", "player", "generation", "pool score", "won-drawn-lost", box=SIMPLE)
    for row in dict.fromkeys(pair.strategy for pair in pairs):
        scores = [pair.score for pair in pairs if pair.strategy == row]
        made = (pool.numbers[row], pool.generations[row], f"{pool.scores[row]:g}")
        used.add_row(str(row), *map(str, made), won_drawn_lost(scores))
    console.print(used)
    changes = [f"{number}: {old} to {new}" for number, old, new in switches(pairs)]
    console.print(f"Changes of strategy after game {', '.join(changes) or '(none)'}.")


def won_drawn_lost(scores: list[float]) -> str:
    """Count scores as won-drawn-lost."""
    return "-".join(str(scores.count(score)) for score in reversed(SCORES))


def verdict(pairs: Sequence[GamePair]) -> str:
    """Return the difference in words."""
    mean, low, high = difference(pairs)
    same = sum(pair.strategy == 0 for pair in pairs)
    if low > 0:
        what = "The continual player did better than its twin."
    elif high < 0:
        what = "The continual player did worse than its twin."
    else:
        what = f"That is noise: {len(pairs)} games cannot tell it from no difference."
    return (
        f"Difference: {mean:+.3f} a game (95%: {low:+.3f} to {high:+.3f}). {what}\n"
        f"In {same} of {len(pairs)} games both played the same strategy."
    )


if __name__ == "__main__":
    sys.exit(main())
