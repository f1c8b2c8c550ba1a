"""Play agents against each other, and rate them.

    python training/benchmark.py AGENT [AGENT ...] [--against NAME [NAME ...]] [options]

One agent alone is rated on the zoo's scale, by games with the players that tell most about it.

An agent is a name (blondie24, material, ...), a weight file, your own code as file.py:factory or
package.module:factory, a program as "hub:COMMAND", or a policy as zip file. Options of an agent
follow an @: material@depth=6, blondie24@seconds=0.05. Several agents without --against all meet.
Each pair plays every opening with both colours. The folder of a league has its games (PDN and JSON)
and a page with tables and a board to replay them on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import tyro
from rich.console import Console
from rich.progress import track

from agents.agent import Agent
from agents.agent_spec import AgentSpec
from agents.external.process import ProcessLimits
from checkers_env import pdn
from checkers_env.errors import EngineError
from checkers_env.files import check_output, write_atomically
from checkers_env.state import DrawRules
from training.league import records, schedule
from training.league.adjudicate import make_adjudicator
from training.league.entrants import Entry, close_agent, file_digest, is_confined, make_entry
from training.league.game import LeagueRules, limit_agent, one_line, printable
from training.league.journal import FILE_NAME, Journal
from training.league.records import Entrant, GameRecord, League
from training.league.runner import run_league
from training.league.schedule import LeagueFixture, Pairing
from training.rating import pentanomial
from training.rating.elo import describe_scale, find_anchor
from training.rating.placement import MOST_GAMES, placement_rounds
from training.rating.zoo_scale import ANCHORS, agent_text, known_ratings
from training.report.calibration import calibrate, make_valuing_player
from training.report.examination import examine_endings, examine_player, lineup
from training.report.html_report import render_report
from training.report.standings import reproductions, standings, summary, write_standings
from training.report.terminal import answer_counts, move_time, print_league
from training.runtime.cli import print_resume_command, read_options, run_command
from training.runtime.run_folder import lock_run_folder, short_name
from training.runtime.validation import Range, validate_ranges

NOTES = (
    "Ratings are Elo points by the Bradley-Terry model, a draw counting half a win, with the "
    "first move allowed for; the intervals hold 95 %, with the games from one opening taken for "
    "one observation.",
)
PDN_FILE, REPORT_FILE, DIAGRAM_FILE = "games.pdn", "report.html", "calibration.svg"
ENDINGS = 25  # of each kind, for an agent alone
FILES = (FILE_NAME, records.LEAGUE_FILE, PDN_FILE, REPORT_FILE, DIAGRAM_FILE)  # of a league


Names = Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME [NAME ...]", help_behavior_hint="")]


@dataclass(frozen=True)
class BenchmarkConfig:
    """Options of the command line."""

    agents: tyro.conf.Positional[Names]
    """Agents to be measured."""
    against: Names = ()
    """Opponents; without any, the agents play each other, and one agent the zoo's players."""
    depth: int | None = None
    """Search depth of built-in players (default: that of training) and Hub engines (4)."""
    seconds: float | None = None
    """Time a move of built-in players and Hub engines, instead of a depth."""
    openings: str = "two-move"
    """two-move (43 cards), three-move (156), eleven-man (2,500), start, a file (PDN or an opening a
    line), or one opening: moves, a FEN or the name of a card."""
    rounds: Annotated[int, Range(1, 10_000)] = 1
    """Times that each pair plays each opening with both colours."""
    max_moves: Annotated[int, Range(1, 100_000)] = 100
    """Moves by each side after which a game is drawn."""
    repetition: Annotated[int, Range(0, 100_000)] = 0
    """Occurrences of a position that draw a game; 0 for no such rule."""
    no_progress: Annotated[int, Range(0, 100_000)] = 0
    """Moves by each side without a capture or a man's move that draw a game; 0 for no such rule."""
    adjudicate: str = "none"
    """Winner of drawn games: none, material (more pieces), endgame (who wins the last position by
    tables of 5 pieces), or an agent that plays them out."""
    move_limit: Annotated[float, Range(0, 86_400)] = 60.0
    """Seconds a move, after which an agent forfeits; 0 for no limit."""
    memory_limit: Annotated[int, Range(0, 1 << 30)] = ProcessLimits().memory or 0
    """Megabytes for anyone's code, or a Hub engine, with all its processes; 0 for no limit."""
    process_limit: Annotated[int, Range(0, 100_000)] = ProcessLimits().processes or 0
    """Processes that anyone's code, or a Hub engine, may run at once; 0 for no limit."""
    sprt: tuple[float, float] | None = None
    """Two leads in Elo, e.g. 0 50: a match of two stops when the test accepts one of them."""
    anchor: str = ""
    """NAME=ELO: the rating of one player. Default: the zoo's ratings of those --against; without,
    material@depth=4 is 0, else the mean is 0."""
    thesis: bool = False
    """Rate a match of two by the thesis's formula as well."""
    seed: Annotated[int, Range(0)] = 0
    """Seed of the agents' random choices."""
    threads: Annotated[int, Range(1, 1_000)] = os.cpu_count() or 1
    """Games at once; one with a DXP program. Results do not depend on it, unless agents have a time
    limit."""
    out: Path | None = None
    """Folder of the league. Default: runs/AGENT-...-against-NAME-...-seed-SEED."""
    analyse: bool = False
    """Examine one agent: games against all baselines, at 1 to 8 plies; its time and endings."""
    calibrate: Names = ()
    """Players, searching 8 plies or as far as their texts say, whose values of positions are
    compared with the results of the games."""
    json: Path | None = None
    """Write the standings and the games to this JSON file too."""
    resume: bool = False
    """Resume the league in the folder."""


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(run_benchmark)


def run_benchmark(arguments: Sequence[str], console: Console) -> None:
    """Read the command line, run the league and write its reports."""
    config = read_options(BenchmarkConfig, arguments, "python training/benchmark.py", __doc__)
    sys.path.append(os.getcwd())  # for package.module:factory in the user's folder
    folder = config.out or default_folder(config)
    try:
        with lock_run_folder(folder, "choose another folder by --out"):
            setup = set_up_league(config)
            refuse_unread_limits(config, setup.entries)
            if config.json and config.json.resolve() in {(folder / it).resolve() for it in FILES}:
                raise ValueError(f"--json {str(config.json)!r} is a file of the league itself")
            valuing = dict(make_valuing_player(text) for text in config.calibrate)
            league, found = play_league(config, setup, folder, console)
            write_reports(config, folder, league, found, console)
            if valuing:
                write_atomically(folder / DIAGRAM_FILE, calibrate(valuing, league.games, console))
    except KeyboardInterrupt:
        print_resume_command((folder / FILE_NAME).exists(), console)
        raise
    except OSError as error:
        raise OSError(f"{error} (the league is in {str(folder)!r})") from error


class LeagueSetup(NamedTuple):
    """A league before its games: entrants and conditions, agents, pairs, games and rules."""

    league: League
    entries: list[Entry]
    pairings: list[Pairing]
    fixtures: tuple[LeagueFixture, ...]
    rules: LeagueRules
    known: dict[int, float]  # ratings on the zoo's scale, by the entrant's number


def set_up_league(config: BenchmarkConfig) -> LeagueSetup:
    """Set up a league; raise ValueError for options with a fault. Nothing is written."""
    validate_config(config)
    texts, pairings = make_pairings(config)
    limit = config.move_limit or None
    draws = DrawRules(config.max_moves, config.repetition or None, config.no_progress or None)
    cards = schedule.read_openings(config.openings, draws)
    judge = make_adjudicator(config.adjudicate, config.seed, limit)
    entries = make_entries(config, texts)
    entrants = tuple(entry.entrant for entry in entries)
    find_anchor(entrants, config.anchor)  # an error before the games, not after them
    return LeagueSetup(
        League(entrants, league_conditions(config)),
        entries,
        pairings,
        schedule.schedule_games(pairings, cards, config.rounds),
        LeagueRules(draws, config.seed, limit, judge),
        scale_ratings(config, entrants),
    )


def play_league(
    config: BenchmarkConfig,
    setup: LeagueSetup,
    folder: Path,
    console: Console,
    known: Iterable[GameRecord] = (),
) -> tuple[League, Sequence[str]]:
    """Play the games that the journal lacks; a new one begins with the known games.

    Return the league, and the findings beside its games in sentences.
    """
    journal = Journal(folder / FILE_NAME)
    identity = asdict(setup.league) | {"games": len(setup.fixtures)}
    if config.resume:
        known = journal.resume(identity, setup.fixtures, setup.rules)
    else:
        known = list(known)
        journal.create(identity, known)
    games = {game.number: game for game in known}
    decided = config.sprt and pentanomial.is_decided(games, config.sprt)
    rounds: Iterable[Sequence[LeagueFixture]] = [] if decided else [setup.fixtures]
    total = len(setup.fixtures)
    if is_placement(config):
        rounds = placement_rounds(setup.league, setup.fixtures, setup.known, games, config.seed)
        total = min(total, MOST_GAMES)
    left = ([it for it in some if it.number not in games] for some in rounds)
    makers = [entry.make for entry in setup.entries]
    threads = 1 if any(entry.single for entry in setup.entries) else config.threads
    hidden, unplayed = not console.is_terminal, list[str]()
    with closing(run_league(makers, left, setup.rules, journal, threads, unplayed)) as ending:
        for game in track(ending, "games", total, len(games), console=console, disable=hidden):
            games[game.number] = game
            if hidden and len(games) % 50 == 0:
                console.print(f"{len(games)} of {total} games are played")
            if config.sprt and pentanomial.is_decided(games, config.sprt):
                break
    kept = [games[number] for number in sorted(games)]
    found = []
    if config.sprt:
        kept = pentanomial.games_until_decision(games, config.sprt)
        found = [pentanomial.sprt_sentence(kept, config.sprt)]
    league = replace(setup.league, games=tuple(kept))
    asked = is_placement(config) and AgentSpec.parse(config.agents[0]).kind not in ("dxp", "llm")
    if config.analyse or asked:
        found = findings(setup.entries[0], league, config)
    if unplayed:
        what = f"{len(unplayed)} of {len(setup.fixtures)} games were not played"
        found.append(f"{what}; --resume plays them. The first: {unplayed[0]}")
        if not kept:
            raise EngineError(found[-1])
    return league, found


def findings(entry: Entry, league: League, config: BenchmarkConfig) -> list[str]:
    """Return the findings of an examination, or the reason why it was not finished.

    An agent alone is examined in endings only.
    """

    def make() -> Agent:
        return limit_agent(entry.make(), config.move_limit or None)

    try:
        if config.analyse:
            return examine_player(make, league, config.seed)
        with ExitStack() as stack:
            agent = make()
            stack.callback(close_agent, agent)
            return examine_endings(agent, config.seed, ENDINGS)
    except (EngineError, ValueError) as error:
        return [one_line(f"The examination was not finished: {error}.")]


def is_placement(config: BenchmarkConfig) -> bool:
    """Return whether one agent is to be rated by games with players of the zoo."""
    return len(config.agents) == 1 and not config.against and not config.analyse


def scale_ratings(config: BenchmarkConfig, entrants: Sequence[Entrant]) -> dict[int, float]:
    """Return the ratings of opponents on the zoo's scale, by number; none with another anchor."""
    has_opponents = config.against or is_placement(config)
    return (
        known_ratings(entrants, len(config.agents)) if has_opponents and not config.anchor else {}
    )


def validate_config(config: BenchmarkConfig) -> None:
    """Raise ValueError for options that are out of range or do not go together."""
    validate_ranges(config)
    if config.repetition == 1:
        raise ValueError("repetition must be 0, or at least 2, not 1")
    if config.seconds is not None and not config.seconds > 0:
        raise ValueError(f"seconds must be more than 0, not {config.seconds}")
    if config.depth is not None and config.seconds is not None:
        raise ValueError("give depth or seconds, not both")
    if config.json:
        check_output("--json", config.json)
    if config.analyse and (config.against or config.sprt or len(config.agents) != 1):
        raise ValueError("analyse is for one agent, without against and sprt")
    if config.anchor and is_placement(config):
        raise ValueError("anchor is for several agents: one alone is rated on the zoo's scale")
    match_of_two = not config.analyse and len(config.agents) + len(config.against) == 2
    for name in ("sprt", "thesis"):
        if getattr(config, name) and not match_of_two:
            raise ValueError(f"{name} is for a match of two agents")
    if config.sprt:
        pentanomial.likelihood_ratio([], config.sprt)


def default_folder(config: BenchmarkConfig) -> Path:
    """Return the default folder of a league, named after its agents."""
    text = "-".join(config.agents)
    if config.against:
        text += "-against-" + "-".join(config.against)
    elif is_placement(config):
        text += "-rated"
    return Path("runs", f"{short_name(text)}-seed-{config.seed}")


def make_pairings(config: BenchmarkConfig) -> tuple[list[str], list[Pairing]]:
    """Return the agents' texts and their pairings. Raise ValueError for fewer than two agents."""
    if config.analyse:
        return lineup(config.agents[0], config.depth, config.seconds)
    against = ANCHORS if is_placement(config) else config.against
    texts, first = [*config.agents, *against], len(config.agents)
    if not config.agents:
        raise ValueError("name an agent, such as blondie24 or my_agent.py:MyAgent")
    if against:
        return texts, schedule.challenge_pairings(range(first), range(first, len(texts)))
    return texts, schedule.round_robin_pairings(first)


def make_entries(config: BenchmarkConfig, texts: Sequence[str]) -> list[Entry]:
    """Make the entries of all agents."""
    timeout = config.move_limit or None
    limits = ProcessLimits(config.memory_limit or None, config.process_limit or None)
    entries = [
        make_entry(text, depth=config.depth, seconds=config.seconds, timeout=timeout, limits=limits)
        for text in texts
    ]
    entrants = [entry.entrant for entry in entries]
    for number, entrant in enumerate(entrants):
        same = [other for other in entrants if other.name == entrant.name]
        equal = [it for it in entrants[:number] if agent_text(it) == agent_text(entrant)]
        if equal:  # an agent that meets itself
            other = replace(entrant, name=f"{entrant.name} ({len(equal) + 1})")
            entries[number] = entries[number]._replace(entrant=other)
        elif len({agent_text(it) for it in same}) > 1:  # as files of one name in two folders
            longer = replace(entrant, name=printable(texts[number]))
            entries[number] = entries[number]._replace(entrant=longer)
    return entries


def refuse_unread_limits(config: BenchmarkConfig, entries: Sequence[Entry]) -> None:
    """Raise ValueError for a limit that holds for none of the agents."""
    texts, _ = make_pairings(config)
    own = [AgentSpec.parse(text).options for text in texts]
    for name in ("depth", "seconds"):
        read = any(
            name in entry.entrant.options and name not in options
            for entry, options in zip(entries, own, strict=True)
        )
        if getattr(config, name) is not None and not read:
            raise ValueError(
                f"--{name} has no effect on these agents: leave it out, or add a built-in player "
                "that searches, or a Hub engine, without a limit of its own after an @"
            )
    defaults = BenchmarkConfig(())
    for name in ("memory_limit", "process_limit"):
        if getattr(config, name) != getattr(defaults, name) and not any(map(is_confined, texts)):
            raise ValueError(
                f"--{name.replace('_', '-')} has no effect on these agents: leave it out, or add "
                "your own code or a Hub engine"
            )


def league_conditions(config: BenchmarkConfig) -> dict[str, Any]:
    """Return the conditions of the games by name."""
    openings = config.openings
    if Path(openings).is_file() and openings not in schedule.BALLOTS:
        openings += f" {file_digest(Path(openings))}"
    names = ("rounds", "max_moves", "repetition", "no_progress", "adjudicate", "move_limit", "seed")
    chosen = {name: getattr(config, name) for name in names}
    return {"openings": openings, **chosen, "version": version("checkers-laboratory")}


def write_reports(
    config: BenchmarkConfig, folder: Path, league: League, found: Sequence[str], console: Console
) -> None:
    """Write the league's files and its page, and print its table."""
    placed = is_placement(config)
    if placed:
        players = {number for game in league.games for number in (game.black, game.white)}
        league = records.select_entrants(
            league, [league.entrants[it].name for it in sorted(players)]
        )
        games = (replace(game, number=number) for number, game in enumerate(league.games))
        league = replace(league, games=tuple(games))  # numbered as if there had been no others
        found = [*move_time(league, 0), *found]
    known = scale_ratings(config, league.entrants)
    anchor = None if known else find_anchor(league.entrants, config.anchor)
    scale = describe_scale(anchor, known)
    measured = len(config.agents) if (config.against or placed) and not config.sprt else 0
    lines, first = standings(league, anchor, known), summary(league, measured, anchor, known)
    found = [*found, *reproductions(league)]
    if config.sprt:
        sentence, *found = found
        first = f"{sentence} As if the number of games had been fixed: {first}"
    try:
        records.save_league(folder / records.LEAGUE_FILE, league)
        moves = [game.replay() for game in league.games]
        pdn.dump(records.games_to_pdn(league, moves), folder / PDN_FILE)
        notes = (scale, *NOTES, *answer_counts(league), *found)
        page = render_report(league, moves, lines, verdict=first, notes=notes)
        write_atomically(folder / REPORT_FILE, page.encode())
        if config.json:
            write_standings(config.json, league, lines)
    finally:  # others may have put something in the place of a file
        for output in (1, 2):  # an agent may have changed what it shares with us
            with suppress(OSError):
                os.set_blocking(output, True)
        print_league(league, lines, scale, verdict=first, thesis=config.thesis, placed=placed)
        for sentence in found:
            Console().print(sentence, highlight=False, markup=False, soft_wrap=True)
    console.print(f"Report: {folder / REPORT_FILE}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
