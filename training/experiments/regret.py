"""Regret: what the moves of players give away, by the judgement of a strong one.

    python -m training.experiments.regret [--results FOLDER]

The results keep the value of every legal move of fixed positions (regret.jsonl), and the moves that
players choose there and in endings (choices.jsonl). Only what is missing is computed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

import agents
from agents.agent import Agent, reseed
from agents.agent_spec import WEIGHTS_SUFFIX, AgentSpec
from agents.endgame.tables import load_tablebase
from agents.match import play_through_environment
from agents.registry import ZOO
from agents.search.alphabeta import RESULTS_VERSION
from checkers_env.board import Board
from checkers_env.files import write_atomically
from checkers_env.moves import Move, unpack_move
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.experiments.champions import name_champion
from training.experiments.inference import Interval
from training.experiments.jobs import Run
from training.experiments.json_lines import Row, keyed_lines
from training.experiments.results import ResultStore, TrainingResult
from training.report import examination
from training.report.move_judge import MoveJudge
from training.runtime.cli import read_options, run_command
from training.runtime.curves import new_figure, to_svg
from training.trainer.presets import ABLATIONS, PRESETS

SOURCES = (  # players of the games whose positions are judged
    *("heuristic", "material@depth=2", "material@depth=4", "blondie24@depth=4", "c10@depth=4"),
    *("c5-n0.001@depth=4", "learns-squares@depth=4", "strong-2@nodes=100"),
)
PIECES = range(24, 4, -1)
EACH = 25  # positions with each number of pieces
POSITIONS, VALUES, CHOICES = "positions.txt", "regret.jsonl", "choices.jsonl"
JUDGE, NODES = "strong-2", 1_000_000  # positions that the judge visits for each legal move
VALUE_FIELDS = {"position": int, "fen": str, "judge": str, "moves": list, "values": list}
CHOICE_FIELDS = {"player": str, "member": int, "version": str, "moves": str, "kept": str}
MEMBERS = 10  # champions of a preset
CHANCES = 5  # seeds of a player that uses chance
SAMPLES = 10_000  # of the bootstrap
REFERENCE = "blondie24-2001@depth=4"
SHOWN = (  # in the picture
    *("blondie24-1999@depth=4", REFERENCE, "blondie24-2001@depth=6", "material@depth=4"),
    *("learns-squares@depth=4", "c5-n0.001@depth=4", "strong@nodes=1000"),
)


class Judged(NamedTuple):
    """A player and its choices, by the values of the judge."""

    regret: NDArray[np.float64]  # points of 100 a move, shape (members, positions)
    kept: NDArray[np.float64]  # 100 for each ending that it keeps, else 0; (members, endings)


PLAYERS: dict[str, int] = {
    "random": CHANCES,
    **{f"material@depth={depth}": CHANCES for depth in (1, 2, 4, 6)},
    "blondie24-1999@depth=4": MEMBERS,
    **{f"blondie24-2001@depth={depth}": MEMBERS for depth in (4, 6)},
    **{f"{name}@depth=4": MEMBERS for name in ("c10", "learns", "learns-squares")},
    "learns-squares@depth=6": MEMBERS,
    "c5-n0.001@depth=4": 1,  # the zoo's: git does not keep its other champions
    **{f"strong@nodes={nodes}": 1 for nodes in (10, 30, 100, 1_000, 10_000, 100_000)},
}
"""Players whose moves are recorded, and how many of each: champions, or seeds of chance."""


@dataclass(frozen=True)
class RegretConfig:
    """Options of the command line."""

    results: Path = Path("results")
    """Folder of the results."""


def run(arguments: Sequence[str], console: Console) -> None:
    """Draw the positions, judge their moves and record the players' choices, as far as missing."""
    program = "python -m training.experiments.regret"
    results = read_options(RegretConfig, arguments, program, __doc__).results
    place = results / POSITIONS
    if not place.exists():
        write_atomically(place, "".join(f"{fen}\n" for fen in sample_positions(EACH)).encode())
    fens = place.read_text("utf-8").split("\n")[:-1]
    record_choices(results, fens, PLAYERS, console)
    weights = name_champion((ZOO / "former" / f"{JUDGE}{WEIGHTS_SUFFIX}").read_bytes())
    name = f"{JUDGE} {weights}, {NODES} nodes, search {RESULTS_VERSION}"
    judge_positions(results, fens, MoveJudge(JUDGE, nodes=NODES), name, console)


def sample_positions(each: int, seed: int = 0) -> list[str]:
    """Return positions with two legal moves or more as FEN, one of a game.

    There are `each` with each number of pieces. They stand in turns, 24 pieces to 5 and again, so
    that the first ones are a balanced sample too.
    """
    rng = np.random.default_rng(seed)
    players = [agents.make(name) for name in SOURCES]
    found: dict[int, list[str]] = {pieces: [] for pieces in PIECES}
    while any(len(fens) < each for fens in found.values()):
        pair = [players[place] for place in rng.permutation(len(players))[:2]]
        black, white = (reseed(player, int(rng.integers(2**32))) for player in pair)
        card = str(rng.choice(TWO_MOVE))
        game = play_through_environment(black, white, opening=card, rules=DrawRules())
        wanted: dict[int, list[str]] = {}
        board = Board(max_moves=None)
        for path in game.paths:
            board.push(unpack_move(path))
            pieces, fen = count_pieces(board), board.fen()
            known = found.get(pieces, [fen])
            if len(known) < each and fen not in known and len(board.legal_moves) > 1:
                wanted.setdefault(pieces, []).append(fen)
        if wanted:
            pieces = int(rng.choice(list(wanted)))
            found[pieces].append(str(rng.choice(wanted[pieces])))
    return [fen for fens in zip(*found.values(), strict=True) for fen in fens]


def count_pieces(board: Board) -> int:
    """Return the number of pieces of both sides."""
    return (board.black | board.white).bit_count()


def judge_positions(
    results: Path, fens: Sequence[str], judge: MoveJudge, name: str, console: Console
) -> None:
    """Record the values of all legal moves, from -1 to 1 for the side to move.

    Values of a judge with another name are dropped.
    """
    lines = keyed_lines(results / VALUES, 1, VALUE_FIELDS)
    lines.put([], drop=lambda row: row["judge"] != name or fens[row["position"]] != row["fen"])
    missing = [place for place in range(len(fens)) if not lines.get({"position": place})]
    for place in track(missing, "positions", console=console, disable=not console.is_terminal):
        board = Board(fens[place])
        moves = list(map(str, board.legal_moves))
        scores = [judge.score_move(board, move, NODES)[0] for move in board.legal_moves]
        row = {"position": place, "fen": fens[place], "judge": name, "moves": moves}
        lines.put([row | {"values": [round(float(score), 4) for score in scores]}])


def record_choices(
    results: Path, fens: Sequence[str], players: dict[str, int], console: Console
) -> None:
    """Record the players' moves in the positions, and whether they keep each ending (1 or 0)."""
    lines, endings = keyed_lines(results / CHOICES, 2, CHOICE_FIELDS), list(draw_endings())
    positions = hashlib.sha256("\n".join(fens).encode()).hexdigest()[:8]
    members = [(player, member) for player, count in players.items() for member in range(count)]
    store, hidden = ResultStore(results), not console.is_terminal
    for player, member in track(members, "players", console=console, disable=hidden):
        path, options = find_player(store, player, member)
        weights = name_champion(path.read_bytes()) if path.suffix == WEIGHTS_SUFFIX else ""
        version = " ".join([f"search {RESULTS_VERSION}", f"positions {positions}", weights])
        key = {"player": player, "member": member, "version": version.strip()}
        if (known := lines.get(key)) and known["version"] == key["version"]:
            continue
        agent = agents.make(path if weights else str(path), **options)
        moves = [act(agent, Board(fen), member, place) for place, fen in enumerate(fens)]
        played = [act(agent, board, member, place) for place, (board, _) in enumerate(endings)]
        kept = [str(int(it in good)) for it, (_, good) in zip(played, endings, strict=True)]
        lines.put([key | {"moves": " ".join(map(str, moves)), "kept": "".join(kept)}])


def act(agent: Agent, board: Board, member: int, place: int) -> Move:
    """Return the move of an agent that remembers nothing of other positions."""
    return reseed(agent, (member, place)).act(board)


def draw_endings() -> Iterator[tuple[Board, list[Move]]]:
    """Yield won and drawn endings of three and four pieces, with the moves that keep the result."""
    tables, rng = load_tablebase(max(examination.PIECES)), np.random.default_rng(0)
    for pieces in examination.PIECES:
        for value in (1, 0):
            count = examination.POSITIONS
            yield from examination.sample_endings(tables, pieces, value, count, rng)


def find_player(store: ResultStore, player: str, member: int) -> tuple[Path, dict[str, Any]]:
    """Return the weight file of a player, or its name if it has none, and its options."""
    spec = AgentSpec.parse(player)
    if preset := (PRESETS | ABLATIONS).get(spec.name):
        trained = Run(spec.name, member, preset.generations)
        result = store.result(trained)
        if not isinstance(result, TrainingResult):
            raise ValueError(f"{str(store.folder)!r} has no result of {trained.title}")
        return store.champion_path(result.champions[0]), spec.options
    file = ZOO / f"{spec.name}{WEIGHTS_SUFFIX}"
    return (file if file.exists() else Path(spec.name)), spec.options


def judged_players(results: Path) -> tuple[NDArray[np.int64], dict[str, Judged]]:
    """Return the numbers of pieces of the judged positions, and the players' regret in them."""
    values = keyed_lines(results / VALUES, 1, VALUE_FIELDS)
    choices = keyed_lines(results / CHOICES, 2, CHOICE_FIELDS)
    places = range(len(PIECES) * EACH)
    rows = [row for place in places if (row := values.get({"position": place}))]
    found = {}
    for player, count in PLAYERS.items():
        keys = ({"player": player, "member": member} for member in range(count))
        if members := [row for key in keys if (row := choices.get(key))]:
            moves = [it["moves"].split() for it in members]
            regret = [[regret_of(row, chosen[row["position"]]) for row in rows] for chosen in moves]
            kept = [[int(digit) for digit in it["kept"]] for it in members]
            found[player] = Judged(np.array(regret), 100.0 * np.array(kept))
    return np.array([count_pieces(Board(row["fen"])) for row in rows]), found


def regret_of(row: Row, move: str) -> float:
    """Return what a move gives away of 100 points: a lost game in place of a won one costs all."""
    values = dict(zip(row["moves"], row["values"], strict=True))
    return 50.0 * float(max(row["values"]) - values[move])


@cache
def resample(members: int, cases: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of members and of cases in each sample; shape (samples, number) each."""
    rng = np.random.default_rng(0)
    shares_of_cases = rng.multinomial(cases, np.full(cases, 1 / cases), SAMPLES) / cases
    shares = rng.multinomial(members, np.full(members, 1 / members), SAMPLES) / members
    return shares, shares_of_cases


def bootstrap(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means of resampled members and cases; shape (members, cases) to (samples,).

    Arrays of equally many cases get the same cases, so that their samples can be subtracted.
    """
    members, cases = resample(*values.shape)
    return np.asarray(np.sum(cases @ values.T * members, axis=1))


def difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> Interval:
    """Return the mean of one player's values less another's, with its 95 % interval."""
    low, high = np.percentile(bootstrap(one) - bootstrap(other), (2.5, 97.5))
    return Interval(float(one.mean() - other.mean()), float(low), float(high))


def pages(results: Path) -> dict[str, bytes]:
    """Return the table of all players in Markdown and the picture of some, by file name."""
    pieces, players = judged_players(results)
    table = regret_table(players).encode()
    return {"regret.txt": table, "regret.svg": regret_picture(pieces, players)}


def regret_table(players: dict[str, Judged]) -> str:
    """Return the table of players in Markdown."""
    less, reference = f"less that of `{REFERENCE}`", players[REFERENCE]
    positions = reference.regret.shape[1]
    lines = [
        f"| player | members | points, {positions} positions | {less} | endings kept, % | {less} |",
        "|---|" + "---:|" * 5,
    ]
    for player, found in players.items():
        cells = [f"`{player}`", str(len(found.regret))]
        for own, other in zip(found, reference, strict=True):
            cells += [str(difference(own, 0 * own)), str(difference(own, other))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def regret_picture(pieces: NDArray[np.int64], players: dict[str, Judged]) -> bytes:
    """Plot the regret of some players by the number of pieces, with 95 % intervals; return SVG."""
    figure, axes = new_figure(8, 5)
    for number, player in enumerate(SHOWN):
        regret = players[player].regret
        for least in range(21, 4, -4):
            part = regret[:, (pieces >= least) & (pieces < least + 4)]
            mean, low, high = difference(part, 0 * part)
            place = (21 - least) / 4 + (number - len(SHOWN) / 2) / 12
            error, label = [[mean - low], [high - mean]], player if least == 21 else None
            axes.errorbar(place, mean, error, fmt=f"C{number}{'osD^v*P'[number]}", label=label)
    axes.set_xticks(range(5), [f"{least + 3}-{least}" for least in range(21, 4, -4)])
    axes.set(xlabel="pieces on the board", ylabel="points of 100 given away a move", ylim=(0, None))
    return to_svg(figure, 3)


if __name__ == "__main__":
    raise SystemExit(run_command(run))
