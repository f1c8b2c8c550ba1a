"""Fill the zoo: the best of every player's seeds, rated in one league, with a model card each.

    python training/zoo.py [options]

The results of reproduce.py say which seed did best in the validation; its weights go to the zoo.
Then all of the zoo and the yardsticks play each other, and each is examined alone. The games are
in results/league.jsonl: those of the same players are not played again, and without new ones the
cards and the leaderboard are written from there. Call it again to go on where it was stopped.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

import agents
from agents.agent_spec import WEIGHTS_SUFFIX
from checkers_env.board import Board
from checkers_env.files import write_atomically
from training import benchmark
from training.league.journal import FILE_NAME, Journal
from training.league.records import GameRecord, League
from training.report.player_analysis import mean_nodes
from training.report.standings import standings
from training.reproduction.champions import load_champion, name_champion
from training.reproduction.league_results import LeaguePlan, LeagueStore
from training.reproduction.model_card import HEAD, card, command, front_page, leaderboard
from training.reproduction.model_zoo import Choice, choose
from training.reproduction.plan import Scope
from training.reproduction.results import ResultStore
from training.runtime.cli import run_command

NAMES = {"blondie24-2001": "blondie24"}  # where the zoo's name is not the preset's
YARDSTICKS = (
    *("random", "heuristic", "material@depth=1", "material@depth=2", "material@depth=4"),
    "mcts-ept@simulations=200",
)
ANCHOR = "material (depth 4)"
DEPTH = 4
SHOWN = {  # rows of the README: the name of a player, and what it is in plain words
    "strong": "taught itself by temporal differences, in one CPU-hour",
    "learns": "a modern evolution strategy, with as many games as the papers",
    "blondie24": "the network of 2001, evolved as in the paper",
    ANCHOR: "the piece counter: counts men and kings",
    "random": "makes any legal move",
}
CARDS = "agents/zoo/"  # from the README
BEGIN, END = "<!-- leaderboard: written by training/zoo.py -->\n", "<!-- end of leaderboard -->"
LEAGUE = "zoo"  # the name of the common league in league.jsonl
POSITIONS = 300  # games, from the middle of which positions are taken


@dataclass(frozen=True)
class Settings:
    """Where things are."""

    results: Annotated[Path, tyro.conf.arg(aliases=["--records"])] = Path("results")
    """Folder of the results."""
    out: Path = Path(str(agents.__path__[0]), "zoo")
    """Folder of the zoo."""
    readme: Path = Path("README.md")
    """File whose leaderboard is renewed: what stands there between its two marks."""
    work: Path = Path("runs", "zoo")
    """Folder of the league and of the examinations."""
    scale: float = 1.0
    """That of a trial whose results these are."""
    threads: int = os.cpu_count() or 1
    """Games played at once. Results do not depend on it."""


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(fill)


def fill(arguments: Sequence[str], console: Console) -> None:
    """Choose, write the weights, play, and write the cards and the leaderboard."""
    settings = tyro.cli(
        Settings, args=arguments, prog="python training/zoo.py", description=__doc__
    )
    placed(settings.readme.read_text("utf-8"), "")  # raises before the work, not after it
    store = ResultStore(settings.results)
    chosen = choose(Scope(scale=settings.scale), store)
    if not chosen:
        raise ValueError(
            f"no validation is done in {str(settings.results)!r}: run "
            "python training/reproduce.py --experiment validation"
        )
    kept = {NAMES.get(name, name): choice for name, choice in chosen.items()}
    for name, choice in kept.items():
        keep(settings.out / f"{name}{WEIGHTS_SUFFIX}", choice, store)
    files = {name: settings.out / f"{name}{WEIGHTS_SUFFIX}" for name in kept}
    games = LeagueStore(settings.results)
    league, _, boards = run_league([*files.values()], settings, console, games)
    short = {entrant.name: name for entrant, name in zip(league.entrants, kept, strict=False)}
    lines = [
        line._replace(name=short.get(line.name, line.name))
        for line in standings(league, anchor=(ANCHOR, 0.0))
    ]
    visited = {
        name: mean_nodes(agents.make(str(files[name]), depth=DEPTH), boards) for name in kept
    }
    for name, choice in kept.items():
        alone, found, _ = run_league([files[name]], settings, console, games, examine=True)
        text = card(name, choice, lines, standings(alone), found)
        write_atomically(settings.out / f"{name}.md", text.encode())
    whole = "\n".join([*HEAD, leaderboard(kept, lines, visited)])
    write_atomically(settings.out / "README.md", whole.encode())
    best = front_page(kept, lines, SHOWN, CARDS)
    told = placed(settings.readme.read_text("utf-8"), best)
    write_atomically(settings.readme, told.encode())
    console.print(f"{len(kept)} players are in {settings.out}", markup=False)


def placed(text: str, table: str) -> str:
    """A text with its leaderboard renewed. Raises ValueError where its marks are missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the leaderboard goes between {BEGIN.strip()} and {END}: not found")
    return before + begin + table + end + after


def keep(path: Path, choice: Choice, store: ResultStore) -> None:
    """Copy a champion's weight file into the zoo, where it has the name of its player.

    A file that is there already stays if it is the champion's, or if the results keep no weights
    of the player. Raises ValueError if the weights are nowhere.
    """
    names = choice.result.champions
    if path.exists() and (not names or name_champion(path.read_bytes()) == names[0]):
        return
    if not names:
        raise ValueError(
            f"there is no {str(path)!r}, and its run keeps no weights: train it by "
            f"{command(choice)} and put its champion{WEIGHTS_SUFFIX} there"
        )
    champion = store.champion_path(names[0])
    if not champion.exists():
        raise ValueError(
            f"there is no {str(champion)!r}: train it again by python training/reproduce.py "
            "--experiment validation --champions"
        )
    load_champion(champion)  # raises for a damaged one
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, champion.read_bytes())


def run_league(
    players: Sequence[Path],
    settings: Settings,
    console: Console,
    store: LeagueStore,
    *,
    examine: bool = False,
) -> tuple[League, Sequence[str], Sequence[Board]]:
    """Return a league of benchmark.py, its findings, and positions out of its games.

    Pairs that the store has are not played again. What is played is added to it.
    """
    others = () if examine else YARDSTICKS
    request = benchmark.BenchmarkConfig(
        (*map(str, players), *others), depth=DEPTH, threads=settings.threads, analyse=examine
    )
    plan = plan_league(players[0].stem if examine else LEAGUE, request)
    games = store.games(plan)
    if len(games) < len(plan.fixtures) or (examine and store.findings(plan) is None):
        if examine:
            games = {}  # all are needed: it takes positions out of their moves
        key = hashlib.sha256(repr([plan.pair_keys(), *games]).encode()).hexdigest()[:12]
        folder = settings.work / f"{plan.name}-{key}"
        if not (folder / FILE_NAME).exists():
            begin_journal(folder, plan, request, games)
        store.add(plan, *benchmark.play_league(replace(request, resume=True), folder, console))
        games = store.games(plan)
    played = tuple(games[number] for number in sorted(games))
    league = League(plan.entrants, benchmark.league_conditions(request), played)
    return league, store.findings(plan) or [], positions(store.beginnings(plan))


def plan_league(name: str, request: benchmark.BenchmarkConfig) -> LeaguePlan:
    """Return who plays whom, and how."""
    texts, pairings = benchmark.make_pairings(request)
    entries = benchmark.make_entries(request, texts)
    names = ("openings", "rounds", *benchmark.RANGES.keys() - {"threads"}, "adjudicate")
    defaults = benchmark.BenchmarkConfig(())
    conditions = {
        name: getattr(request, name)
        for name in sorted(names)
        if getattr(request, name) != getattr(defaults, name)
    }
    fixtures = benchmark.make_schedule(request, pairings)
    entrants = tuple(entry.entrant for entry in entries)
    sample = 0 if request.analyse else POSITIONS
    return LeaguePlan(name, entrants, conditions, pairings, fixtures, sample)


def begin_journal(
    folder: Path,
    plan: LeaguePlan,
    request: benchmark.BenchmarkConfig,
    games: Mapping[int, GameRecord],
) -> None:
    """Write the journal of a league that is to be resumed, with the games that are there."""
    league = League(plan.entrants, benchmark.league_conditions(request))
    journal = Journal(folder / FILE_NAME)
    journal.create(asdict(league) | {"games": len(plan.fixtures)})
    journal.append(games[number] for number in sorted(games))


def positions(beginnings: Sequence[Sequence[str]]) -> list[Board]:
    """Return the boards after the first halves of games, where there is a choice of moves."""
    boards = []
    for moves in beginnings:
        board = Board()
        for move in moves:
            board.push(move)
        if len(board.legal_moves) > 1:
            boards.append(board)
    return boards


if __name__ == "__main__":
    sys.exit(main())
