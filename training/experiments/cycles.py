"""Cycles: whether the champions of one run beat each other in circles.

    python training/evolve.py --champion-every 20 --curve-every 0 --seed 0
    python -m training.experiments.cycles runs/blondie24-2001-seed-0 [RUN ...] [--results FOLDER]

The champions that a run has kept play a round robin (cycles.jsonl); only missing games are played.
Logits of the scores are split into differences of ratings and a cyclic remainder (Jiang et al.
2011, Balduzzi et al. 2018).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from agents.architectures import load_player
from agents.search.alphabeta import RESULTS_VERSION
from agents.weights import load_weights
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from training.evolution.evaluation import both_colours, play_for
from training.evolution.game_runner import GameRunner, Matchup, open_game_runner
from training.evolution.tournament import Payoff
from training.experiments.inference import Interval
from training.experiments.json_lines import keyed_lines
from training.runtime.cli import read_options, run_command
from training.runtime.curves import new_figure, to_svg
from training.trainer.loop import CHAMPIONS_FOLDER

Floats = NDArray[np.float64]

CYCLES = "cycles.jsonl"
FIELDS = {"run": str, "generation": int, "version": str, "opponents": list, "scores": list}
DEPTH, CARDS = 4, 20
SAMPLES = 200  # simulations, divisions of the cards, bootstrap samples
PICTURE = "![Ratings of a run's champions, by generation](generated/strength/cycles.svg)"
RUNS = [f"blondie24-2001-seed-{seed}" for seed in range(5)]  # on the page


@dataclass(frozen=True)
class CyclesConfig:
    """Options of the command line."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of runs that have kept champions."""
    results: Path = Path("results")
    """Folder of the results."""


def run(arguments: Sequence[str], console: Console) -> None:
    """Play the round robins of runs, as far as games are missing."""
    program = "python -m training.experiments.cycles"
    config = read_options(CyclesConfig, arguments, program, __doc__)
    with open_game_runner(1) as runner:
        for folder in config.runs:
            play_round_robin(config.results, folder, runner, console)


def play_round_robin(results: Path, run: Path, runner: GameRunner, console: Console) -> None:
    """Record the scores of each kept champion of a run against all later ones."""
    paths = (run / CHAMPIONS_FOLDER).glob("*-generation-*.safetensors")
    files = {int(path.stem.rpartition("-")[2]): path for path in paths}
    if len(files) < 3:
        raise ValueError(
            f"{str(run / CHAMPIONS_FOLDER)!r} has {len(files)} champions, and a cycle takes 3: "
            "train the run with --champion-every"
        )
    generations = sorted(files)
    genomes = b"".join(load_weights(files[it])[0].tobytes() for it in generations)
    hashed = hashlib.sha256(genomes).hexdigest()[:16]
    version = f"search {RESULTS_VERSION}, {DEPTH} plies, {CARDS} cards, champions {hashed}"
    lines, name = keyed_lines(results / CYCLES, 2, FIELDS), run.resolve().name
    lines.put([], drop=lambda row: row["run"] == name and row["version"] != version)
    players: list[Any] = [load_player(files[it], DEPTH) for it in generations]
    keys = [{"run": name, "generation": it, "version": version} for it in generations[:-1]]
    missing = [place for place, key in enumerate(keys) if not lines.get(key)]
    for place in track(missing, name, console=console, disable=not console.is_terminal):
        scores = [play_cards(players[place], other, runner) for other in players[place + 1 :]]
        lines.put([keys[place] | {"opponents": generations[place + 1 :], "scores": scores}])


def play_cards(player: Any, opponent: Any, runner: GameRunner) -> str:
    """Return the results (W, D, L) of a player, as Black and then as White with each card."""
    matchups: list[Matchup] = []
    for card in TWO_MOVE[:: len(TWO_MOVE) // CARDS][:CARDS]:
        matchups += both_colours(player, opponent, card, ())
    points = play_for(Payoff(1.0, 0.0, -1.0), matchups, DrawRules(), runner)
    return "".join("LDW"[int(it) + 1] for it in points)


def decompose(flow: Floats) -> tuple[Floats, Floats]:
    """Return ratings and the cyclic remainder of an antisymmetric matrix, by least squares.

    All pairs have met equally often. The remainder is then orthogonal to all rating differences.
    """
    ratings = flow.mean(axis=1)
    return ratings, flow - (ratings[:, None] - ratings)


def logits(points: Floats) -> Floats:
    """Return logits of mean scores, shape (players, players, games) to (players, players).

    A win is 1 point, a draw 1/2. One drawn game is added, so that all logits are finite.
    """
    games = points.shape[-1]
    shares = (points.sum(axis=-1) + 0.5) / (games + 1)
    return np.asarray(np.log(shares / (1 - shares)))


def cyclic_share(one: Floats, other: Floats) -> float:
    """Return the cyclic part of the inner product of two antisymmetric matrices.

    Of a matrix with itself it is the share of the remainder in the sum of squares.
    """
    return float(np.sum(decompose(one)[1] * decompose(other)[1]) / np.sum(one * other))


def repeated_shares(points: Floats, rng: np.random.Generator, resampled: bool = False) -> Floats:
    """Return cyclic shares between two random halves of the cards, in which chance cancels out.

    Points have shape (players, players, 2 * cards). Each half may be resampled, as for a bootstrap.
    """
    cards = points.reshape(*points.shape[:2], -1, 2)
    shares = []
    for _ in range(SAMPLES):
        halves = np.array_split(rng.permutation(cards.shape[2]), 2)
        if resampled:
            halves = [rng.choice(half, len(half)) for half in halves]
        parts = (cards[:, :, half].reshape(*points.shape[:2], -1) for half in halves)
        shares.append(cyclic_share(*map(logits, parts)))
    return np.array(shares)


def simulate(ratings: Floats, drawn: Floats, games: int, rng: np.random.Generator) -> Floats:
    """Return points of games between players whose expected scores follow from ratings alone.

    `drawn` is the share of drawn games of each pair, as far as its expected score allows.
    """
    expected = 1 / (1 + np.exp(ratings - ratings[:, None]))
    drawn = np.minimum(drawn, 2 * np.minimum(expected, 1 - expected))[..., None]
    chance = rng.random((*expected.shape, games))
    losses = 1 - expected[..., None] - drawn / 2
    points = np.where(chance < losses, 0.0, np.where(chance < losses + drawn, 0.5, 1.0))
    upper = np.triu(np.ones(expected.shape), 1)[..., None] > 0
    return np.where(upper, points, 1 - points.swapaxes(0, 1))


def analyse(points: Floats) -> tuple[float, Interval, Interval]:
    """Return three cyclic shares of a round robin, shape (players, players, 2 * cards).

    They are that of all games, the median and range of simulations of its ratings, and that between
    two halves of the cards; the ranges hold 95 %.
    """
    rng, flow = np.random.default_rng(0), logits(points)
    drawn = np.mean(points == 0.5, axis=-1)
    games = (simulate(decompose(flow)[0], drawn, points.shape[-1], rng) for _ in range(SAMPLES))
    simulated = [cyclic_share(it, it) for it in map(logits, games)]
    repeated = repeated_shares(points, rng, resampled=True)
    return (
        cyclic_share(flow, flow),
        Interval(*map(float, np.percentile(simulated, (50, 2.5, 97.5)))),
        Interval(
            float(repeated_shares(points, rng).mean()),
            *map(float, np.percentile(repeated, (2.5, 97.5))),
        ),
    )


def read_round_robins(results: Path) -> dict[str, tuple[list[int], Floats]]:
    """Return the generations and points of each complete round robin, by the name of its run."""
    lines, found = keyed_lines(results / CYCLES, 2, FIELDS), {}
    for name in RUNS:
        first = lines.get({"run": name, "generation": 0}) or {"opponents": []}
        generations = [0, *first["opponents"]]
        rows = [lines.get({"run": name, "generation": it}) for it in generations[:-1]]
        if rows and all(rows):
            points = np.full((len(generations), len(generations), 2 * CARDS), 0.5)
            for place, row in enumerate(rows):
                for other, letters in enumerate(row["scores"] if row else (), place + 1):
                    points[place, other] = ["LDW".index(letter) / 2 for letter in letters]
                    points[other, place] = 1 - points[place, other]
            found[name] = generations, points
    return found


def pages(results: Path) -> dict[str, bytes]:
    """Return the table of all runs in Markdown and the picture of ratings, by file name."""
    robins = read_round_robins(results)
    if not robins:
        return {"cycles.txt": b"No run has been played yet.\n"}
    table = f"{cycles_table(robins)}\n{PICTURE}\n".encode()
    return {"cycles.txt": table, "cycles.svg": cycles_picture(robins)}


def cycles_table(robins: dict[str, tuple[list[int], Floats]]) -> str:
    """Return the table of round robins in Markdown."""
    lines = [
        "| run | champions | cyclic share, % | of simulated ratings, % | between halves, % |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, (generations, points) in robins.items():
        share, *others = analyse(points)
        shown = [str(Interval(*(100 * number for number in it))) for it in others]
        cells = [f"`{name}`", str(len(generations)), f"{100 * share:.2f}", *shown]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cycles_picture(robins: dict[str, tuple[list[int], Floats]]) -> bytes:
    """Plot the ratings of each run's champions over its generations; return SVG."""
    figure, axes = new_figure(8, 4)
    for number, (name, (generations, points)) in enumerate(robins.items()):
        ratings, _ = decompose(logits(points))
        axes.plot(generations, ratings, "osD^v"[number], color=f"C{number}", label=name, ls="-")
    axes.set(xlabel="generation of the champion", ylabel="rating in its run, logits")
    return to_svg(figure, 3)


if __name__ == "__main__":
    raise SystemExit(run_command(run))
