"""Fill the zoo: the best of every player's seeds, rated in one league, with a model card each.

    python training/zoo.py [options]

The records of reproduce.py say which seed did best in the validation; its weights go to the zoo.
Then all of the zoo and the yardsticks play each other, and each is examined alone. Call it again
to go on where it was stopped; what has been played for the same players is not played again.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console

import agents
from agents.agent_spec import WEIGHTS_SUFFIX
from agents.weights import save_weights
from checkers_env.board import Board
from checkers_env.files import write_atomically
from training import benchmark
from training.league.entrants import file_digest
from training.league.journal import FILE_NAME
from training.league.records import League
from training.report.player_analysis import mean_nodes
from training.report.standings import standings
from training.reproduction.model_card import HEAD, card, command, leaderboard
from training.reproduction.model_zoo import Choice, choose
from training.reproduction.plan import Ledger, Scope
from training.reproduction.results import weights
from training.runtime.cli import run_command

NAMES = {"blondie24-2001": "blondie24"}  # where the zoo's name is not the preset's
YARDSTICKS = (
    *("random", "heuristic", "material@depth=1", "material@depth=2", "material@depth=4"),
    "mcts-ept@simulations=200",
)
ANCHOR = "material (depth 4)"
DEPTH = 4
SHOWN = (  # one of each kind, in the README
    *("strong", "learns", "c5-n0.001-4ply", "c5-n0.001", "c1-n0.001", "c5-leaf", "samuel"),
    *("blondie24", "blondie24-1999", "c0", "blondie24-rr", "c10", "c10-rr", "c5-tuple", "nguyen"),
    *(ANCHOR, "heuristic"),
)
CARDS = "agents/zoo/"  # from the README
BEGIN, END = "<!-- leaderboard: written by training/zoo.py -->\n", "<!-- end of leaderboard -->"
POSITIONS = 300  # games, from the middle of which positions are taken


@dataclass(frozen=True)
class Settings:
    """Where things are."""

    records: Path = Path("docs", "records")
    """Folder of the records."""
    out: Path = Path(str(agents.__path__[0]), "zoo")
    """Folder of the zoo."""
    readme: Path = Path("README.md")
    """File whose leaderboard is renewed: what stands there between its two marks."""
    work: Path = Path("runs", "zoo")
    """Folder of the league and of the examinations."""
    scale: float = 1.0
    """That of a trial whose records these are."""
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
    chosen = choose(Scope(scale=settings.scale), Ledger(settings.records))
    if not chosen:
        raise ValueError(
            f"no validation is done in {str(settings.records)!r}: run "
            "python training/reproduce.py --experiment validation"
        )
    kept = {NAMES.get(name, name): choice for name, choice in chosen.items()}
    for name, choice in kept.items():
        keep(settings.out / f"{name}{WEIGHTS_SUFFIX}", choice)
    files = {name: settings.out / f"{name}{WEIGHTS_SUFFIX}" for name in kept}
    league, _ = held([*files.values()], settings, console)
    short = {entrant.name: name for entrant, name in zip(league.entrants, kept, strict=False)}
    lines = [
        line._replace(name=short.get(line.name, line.name))
        for line in standings(league, anchor=(ANCHOR, 0.0))
    ]
    boards = positions(league)
    visited = {
        name: mean_nodes(agents.make(str(files[name]), depth=DEPTH), boards) for name in kept
    }
    for name, choice in kept.items():
        alone, found = held([files[name]], settings, console, analyse=True)
        text = card(name, choice, lines, standings(alone), found)
        write_atomically(settings.out / f"{name}.md", text.encode())
    whole = "\n".join([*HEAD, leaderboard(kept, lines, visited)])
    write_atomically(settings.out / "README.md", whole.encode())
    best = leaderboard(kept, lines, visited, shown=SHOWN, folder=CARDS)
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


def keep(path: Path, choice: Choice) -> None:
    """Write the champion of a record as a weight file of the zoo.

    Raises ValueError for a record without weights whose champion is not there.
    """
    if not choice.run.headers:
        if not path.exists():
            raise ValueError(
                f"there is no {str(path)!r}, and its record holds no weights: train it by "
                f"{command(choice)} and put its champion{WEIGHTS_SUFFIX} there"
            )
        return
    _, header = weights(choice.run)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_weights(path, choice.run.genomes[0], header)


def held(
    players: Sequence[Path], settings: Settings, console: Console, *, analyse: bool = False
) -> tuple[League, Sequence[str]]:
    """A league as benchmark.py holds it, gone on with if it was begun with the same weights."""
    others = () if analyse else YARDSTICKS
    name = players[0].stem if analyse else "league"
    key = hashlib.sha256(repr([*map(file_digest, players), others]).encode()).hexdigest()[:12]
    folder = settings.work / f"{name}-{key}"
    asked = benchmark.Settings(
        (*map(str, players), *others),
        depth=DEPTH,
        threads=settings.threads,
        analyse=analyse,
        resume=(folder / FILE_NAME).exists(),
    )
    return benchmark.hold_league(asked, folder, console)


def positions(league: League) -> list[Board]:
    """Positions out of the league's games, for all to be measured in."""
    games = league.games[:: max(1, len(league.games) // POSITIONS)]
    boards = []
    for game in games:
        board = Board()
        for move in game.moves[: max(len(game.moves) // 2, 1)]:
            board.push(move)
        if len(board.legal_moves) > 1:
            boards.append(board)
    return boards


if __name__ == "__main__":
    sys.exit(main())
