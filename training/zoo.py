"""Fill the zoo: the best seed of every player, rated in one league.

    python training/zoo.py [options]
    python training/zoo.py --cards FOLDER
    python training/zoo.py --hub FOLDER

The validation in the results of reproduce.py selects the seed of a player that the zoo lacks; its
weights go there. All players of the zoo and the baselines then play a common league, and each has
an examination of its own. results/league.jsonl keeps the games: only missing games are played.
Call the same command again to resume it. --cards only writes the model cards, which are pages of
the docs. --hub only writes a folder for each player in the form of a model hub: its card and its
weights.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from rich.console import Console

import agents
from agents.agent_spec import WEIGHTS_SUFFIX
from agents.weights import load_weights
from checkers_env.board import Board
from checkers_env.files import check_folder, read_regular, write_atomically
from training import benchmark
from training.experiments.champions import load_champion
from training.experiments.league_results import LeaguePlan, LeagueStore
from training.experiments.model_card import (
    HEAD,
    HUB_CARD,
    Choice,
    card,
    choose,
    command,
    front_page,
    leaderboard,
    read_ratings,
)
from training.experiments.plan import Scope
from training.experiments.results import ResultStore, TrainingResult
from training.league.journal import FILE_NAME
from training.league.records import League
from training.rating.elo import Anchor, find_anchor
from training.report.examination import mean_nodes
from training.report.standings import standings
from training.runtime.cli import read_options, run_command
from training.runtime.run_folder import lock_run_folder
from training.runtime.validation import Range, validate_ranges

NAMES = {"blondie24-2001": "blondie24"}  # where the zoo's name is not the preset's
YARDSTICKS = (
    *("random", "heuristic", "material@depth=1", "material@depth=2", "material@depth=4"),
    "mcts-ept@simulations=200",
)
ANCHOR = "material (depth 4)"
DEPTH = 4
SHOWN = {  # rows of the README: the name of a player, and what it is in plain words
    "strong": "a small network that learned from searches of its own games",
    "learns-squares": "what a man and a king are worth on each square, evolved in five minutes",
    "learns": "the network of 2001 by a modern evolution strategy",
    "blondie24": "the network of 2001, evolved as in the paper",
    ANCHOR: "the piece counter: it counts men and kings",
    "random": "makes any legal move",
}
BEGIN, END = "<!-- leaderboard: written by training/zoo.py -->\n", "<!-- end of leaderboard -->"
LEAGUE = "zoo"  # the name of the common league in league.jsonl
POSITIONS = 300  # games whose middle position serves to count nodes


@dataclass(frozen=True)
class ZooConfig:
    """Options of the command line."""

    results: Path = Path("results")
    """Folder of the results."""
    out: Path = Path(str(agents.__path__[0]), "zoo")
    """Folder of the zoo."""
    readme: Path = Path("README.md")
    """File with the short leaderboard. The text between its two marks is replaced."""
    work: Path = Path("runs", "zoo")
    """Folder of the league and the examinations while they run."""
    scale: float = 1.0
    """Scale of the trial that made the results, as in reproduce.py."""
    cards: Path | None = None
    """Folder of the players' cards: only write these, from the records, as the docs do."""
    hub: Path | None = None
    """Folder of a model hub's repositories: only write these, from the records."""
    threads: Annotated[int, Range(1, 1_000)] = os.cpu_count() or 1
    """Games played at once. Results do not depend on it."""

    def __post_init__(self) -> None:
        validate_ranges(self)


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(fill)


def fill(arguments: Sequence[str], console: Console) -> None:
    """Select seeds, copy their weights, play, and write the leaderboards; or write the cards."""
    config = read_options(ZooConfig, arguments, "python training/zoo.py", __doc__)
    for name in ("results", "out", "work", "cards", "hub"):
        if (folder := getattr(config, name)) is not None:
            check_folder(f"--{name}", folder)
    if config.cards is not None:
        write_cards(config.cards, config)
    if config.hub is not None:
        write_hub(config.hub, config)
    if config.cards is not None or config.hub is not None:
        return
    # Check the marks before the games, not after hours of play.
    replace_leaderboard(read_regular(config.readme).decode(), "")
    store = ResultStore(config.results)
    choices = choose_players(config, store)
    files = weight_files(config, choices)
    for name, choice in choices.items():
        copy_champion(files[name], choice, store)
    games = LeagueStore(config.results)
    requests = [request_league([*files.values()], config)]
    requests += [request_league([path], config, examine=True) for path in files.values()]
    for request in requests:
        play_missing(request, config, console, games)
    plan = plan_league(requests[0])
    league = read_league(requests[0], plan, games)
    boards = positions(games.beginnings(plan))
    short = {entrant.name: name for entrant, name in zip(league.entrants, choices, strict=False)}
    lines = [
        line._replace(name=short.get(line.name, line.name))
        for line in standings(league, Anchor(ANCHOR, 0.0))
    ]
    nodes = {
        name: mean_nodes(agents.make(str(files[name]), depth=DEPTH), boards) for name in choices
    }
    whole = "\n".join([*HEAD, leaderboard(choices, lines, nodes)])
    write_atomically(config.out / "README.md", whole.encode())
    readme = read_regular(config.readme).decode()
    readme = replace_leaderboard(readme, front_page(choices, lines, SHOWN))
    write_atomically(config.readme, readme.encode())
    console.print(f"{len(choices)} players are in {config.out}", markup=False)


def write_cards(folder: Path, config: ZooConfig) -> None:
    """Write the card of each player and the leaderboard with links to them, from the records."""
    page = read_regular(config.out / "README.md").decode()
    cards = dict(make_cards(page, config))
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in cards.items():
        write_atomically(folder / f"{name}.md", text.encode())
    linked = page.replace(f"{WEIGHTS_SUFFIX})", ".md)")
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *cards, "```", ""])
    write_atomically(folder / "index.md", f"{linked}\n{toctree}".encode())


def write_hub(folder: Path, config: ZooConfig) -> None:
    """Write a folder for each player: its card with a model hub's header, and its weights."""
    page = read_regular(config.out / "README.md").decode()
    ratings = read_ratings(page)
    for name, text in make_cards(page, config):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        whole = HUB_CARD.format(name=name, rating=ratings[name], card=text)
        write_atomically(place / "README.md", whole.encode())
        weights = read_regular(config.out / f"{name}{WEIGHTS_SUFFIX}")
        write_atomically(place / f"model{WEIGHTS_SUFFIX}", weights)


def make_cards(page: str, config: ZooConfig) -> Iterator[tuple[str, str]]:
    """Yield each player's name and card; `page` is the leaderboard's."""
    store = ResultStore(config.results)
    choices = choose_players(config, store)
    files = weight_files(config, choices)
    games = LeagueStore(config.results)
    request = request_league([*files.values()], config)
    common = read_league(request, plan_league(request), games).games
    played = Counter(it for game in common for it in (game.black, game.white))
    drawn = Counter(it for game in common if game.score == 0.5 for it in (game.black, game.white))
    for number, (name, choice) in enumerate(choices.items()):
        request = request_league([files[name]], config, examine=True)
        plan = plan_league(request)
        alone, found = read_league(request, plan, games), games.findings(plan) or []
        share = drawn[number] / played[number]
        lines = standings(alone, find_anchor(alone.entrants))
        yield name, card(name, choice, read_ratings(page), share, lines, found)


def choice_of_file(path: Path, choice: Choice, store: ResultStore) -> Choice:
    """Return the seed whose weights are in the zoo: the results may have a better one since."""
    if not path.exists():
        return choice
    run = replace(choice.run, seed=load_weights(path)[1].seed)
    result = store.result(run)
    return choice._replace(run=run, result=result) if isinstance(result, TrainingResult) else choice


def choose_players(config: ZooConfig, store: ResultStore) -> dict[str, Choice]:
    """Return each player's seed by its name in the zoo: that of its file, or else the best."""
    selection = choose(Scope(scale=config.scale), store)
    if not selection:
        raise ValueError(
            f"{str(config.results)!r} has no finished validation: run "
            "python training/reproduce.py --experiment validation"
        )
    choices = {NAMES.get(name, name): choice for name, choice in selection.items()}
    files = weight_files(config, choices)
    return {name: choice_of_file(files[name], it, store) for name, it in choices.items()}


def weight_files(config: ZooConfig, names: Iterable[str]) -> dict[str, Path]:
    """Return the places of players' weights in the zoo."""
    return {name: config.out / f"{name}{WEIGHTS_SUFFIX}" for name in names}


def replace_leaderboard(text: str, table: str) -> str:
    """Return `text` with `table` between the marks. Raise ValueError if a mark is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the leaderboard goes between {BEGIN.strip()} and {END}: not found")
    return before + begin + table + end + after


def copy_champion(path: Path, choice: Choice, store: ResultStore) -> None:
    """Copy a champion's weight file into the zoo; an existing one stays.

    Raises ValueError if the weights are neither in the zoo nor in the results.
    """
    if path.exists():
        return
    if not (names := choice.result.champions):
        raise ValueError(
            f"{str(path)!r} is missing, and its run keeps no weights: train it by "
            f"{command(choice)} and copy its champion{WEIGHTS_SUFFIX} there"
        )
    champion = store.champion_path(names[0])
    if not champion.exists():
        raise ValueError(
            f"{str(champion)!r} is missing: train it again by python training/reproduce.py "
            "--experiment validation --champions"
        )
    load_champion(champion)  # raises ValueError for a damaged file
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, read_regular(champion))


def request_league(
    players: Sequence[Path], config: ZooConfig, *, examine: bool = False
) -> benchmark.BenchmarkConfig:
    """Return benchmark.py's options of the common league, or of a player's examination."""
    others = () if examine else YARDSTICKS
    return benchmark.BenchmarkConfig(
        (*map(str, players), *others), depth=DEPTH, threads=config.threads, analyse=examine
    )


def plan_league(request: benchmark.BenchmarkConfig) -> LeaguePlan:
    """Return the entrants, fixtures and conditions of a league by the rules of benchmark.py."""
    setup = benchmark.set_up_league(request)
    name = Path(request.agents[0]).stem if request.analyse else LEAGUE
    sample = 0 if request.analyse else POSITIONS
    # No conditions: all rules of the games are the defaults.
    return LeaguePlan(name, setup.league.entrants, {}, setup.pairings, setup.fixtures, sample)


def play_missing(
    request: benchmark.BenchmarkConfig, config: ZooConfig, console: Console, store: LeagueStore
) -> None:
    """Play the games of a league that the store lacks, and add them.

    An examination is played as a whole: its analysis needs all moves, which the store lacks.
    """
    plan = plan_league(request)
    games = store.games(plan)
    if is_complete(plan, store, len(games)):
        return
    known = {} if request.analyse else games
    key = hashlib.sha256(repr([plan.pair_keys(), *known]).encode()).hexdigest()[:12]
    folder = config.work / f"{plan.name}-{key}"
    with lock_run_folder(folder, "choose another folder by --work"):
        setup, resume = benchmark.set_up_league(request), (folder / FILE_NAME).exists()
        known_games = [known[number] for number in sorted(known)]
        resumed = replace(request, resume=resume)
        store.add(plan, *benchmark.play_league(resumed, setup, folder, console, known_games))


def read_league(request: benchmark.BenchmarkConfig, plan: LeaguePlan, store: LeagueStore) -> League:
    """Return a league from the store. Raise ValueError if games or findings are missing."""
    games = store.games(plan)
    if not is_complete(plan, store, len(games)):
        raise ValueError(f"the results lack games of {plan.name}: run python training/zoo.py")
    played = tuple(games[number] for number in sorted(games))
    return League(plan.entrants, benchmark.league_conditions(request), played)


def is_complete(plan: LeaguePlan, store: LeagueStore, games: int) -> bool:
    """Return whether the store has all games of a league, and the findings of an examination."""
    return games == len(plan.fixtures) and (plan.name == LEAGUE or store.findings(plan) is not None)


def positions(beginnings: Sequence[Sequence[str]]) -> list[Board]:
    """Return the positions after some moves of games that have more than one legal move."""
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
