"""Measure the main speeds, each beside a yardstick measured in the same run.

    python training/speed.py [--quick] [--json FILE] [--run FOLDER]
    python training/speed.py --compare REVISION [--pairs N] [--quick]

All figures are for one CPU-second of this process: the best of a few repeats, with kernels compiled
beforehand. OpenSpiel (open_spiel) is a yardstick where it is installed.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import checkers_env
from agents.architectures import Encoding
from agents.blondie.architecture import NETWORK_LAYOUTS
from agents.evaluator import SCRATCH_SIZE, evaluate, start_state, state_size
from agents.match import opening_line
from agents.match_kernel import play
from agents.reference import SlowSearch, inputs, network_value, slow_game, slow_network
from agents.search.workspace import EVALUATED, workspace
from agents.simd import aligned_zeros
from checkers_env.bits import borrowed
from checkers_env.envs.vector import sample
from checkers_env.files import check_output, write_atomically
from checkers_env.jit import kernel
from checkers_env.movegen import BLACK, ROW_WIDTH, WHITE, Position
from training.evolution.game_runner import open_game_runner
from training.evolution.metrics import sample_positions
from training.evolution.state import Population
from training.regimes import regime_from_config
from training.regimes.coevolution import Coevolution
from training.reproduction.inference import Interval, student
from training.runtime.cli import read_options, run_command
from training.runtime.machine import processor
from training.runtime.revisions import ROOT, check_out, run_json
from training.runtime.validation import NoEffectWith
from training.trainer.checkpoint import load_checkpoint
from training.trainer.loop import SPEED
from training.trainer.presets import DEFAULT, PRESETS

GAMES = 1024
STEPS = 200  # steps of each game


def self_play(games: int = GAMES, steps: int = STEPS) -> Callable[[], int]:
    """Record random self-play; return a function that plays it again, and returns its steps."""
    env, rng, recorded = checkers_env.make_vec(games), np.random.default_rng(0), []
    observation, _ = env.reset()
    for _ in range(steps):
        recorded.append(sample(observation["action_mask"], rng))
        observation, *_ = env.step(recorded[-1])

    def play() -> int:
        env.reset()
        for actions in recorded:
            env.step(actions)
        return games * steps

    return play


REGIME = Coevolution()
ENCODING, LAYOUT = Encoding(REGIME.network), NETWORK_LAYOUTS[REGIME.network]
RUN_GAMES = PRESETS[DEFAULT].games
RUN_SECONDS = 300.0
PERFT_DEPTH = 9
NETWORK_POSITIONS = 16  # few, so that they stay in the first-level cache as a search's do
TABLE_WIDTH = 120
ORDERS = (0, 1), (1, 0)  # this tree first, the other revision first


@dataclass(frozen=True)
class SpeedConfig:
    """Options of the command line."""

    quick: bool = False
    """Less of everything: half a minute instead of two."""
    json: Path | None = None
    """Write the figures to this file too."""
    run: Annotated[Path | None, NoEffectWith("compare")] = None
    """Folder of a finished run of training/evolve.py: report what its tournaments took."""
    compare: str | None = None
    """A git revision: measure it and this tree in turns, and report the ratios."""
    pairs: Annotated[int, NoEffectWith(compare=(None, ""))] = 5
    """Measurements of each with --compare."""


class Effort(NamedTuple):
    """Amount of work."""

    repeats: int
    perft_runs: int
    openspiel_depth: int  # of the perft
    evaluations: int
    games: int
    slow_games: int
    slow_repeats: int
    env_games: int


QUICK = Effort(3, 5, 5, 1_000_000, 300, 10, 1, 50)
FULL = Effort(9, 20, 6, 4_000_000, 1200, 40, 3, 200)


@dataclass(frozen=True)
class Measurement:
    """A speed beside its goal and its yardstick."""

    name: str
    unit: str
    value: float
    goal: float | None  # least speed or greatest time
    yardstick: str = ""
    yardstick_value: float | None = None
    ratio_goal: float | None = None

    @property
    def ratio(self) -> float | None:
        """Speed divided by the yardstick's."""
        return self.value / self.yardstick_value if self.yardstick_value else None


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(measure)


def measure(arguments: Sequence[str], console: Console) -> None:
    """Read the command line, measure, and print or write the figures."""
    settings = read_options(SpeedConfig, arguments, "python training/speed.py", __doc__)
    if settings.json:
        check_output("--json", settings.json)
    if settings.compare is not None:
        compare(settings, console)
        return
    rows = [measure_run(settings.run)] if settings.run else []
    effort = QUICK if settings.quick else FULL
    parts = (measure_perft, measure_network, measure_games, measure_environments)
    for part in track(parts, "measuring", console=console, transient=True):
        rows += part(effort)
    _output().print(table(rows))
    if settings.json:
        figures = [asdict(row) | {"ratio": row.ratio} for row in rows]
        content = {"processor": processor(), "quick": settings.quick, "rows": figures}
        write_atomically(settings.json, json.dumps(content, indent=2).encode())


def compare(settings: SpeedConfig, console: Console) -> None:
    """Measure another revision and this tree in turns; print the ratios of the speeds.

    The two take turns in going first. A first run of each compiles the kernels and is not counted.
    """
    if settings.pairs < 2:
        raise ValueError(f"pairs must be at least 2, not {settings.pairs}")
    assert settings.compare is not None
    options = ["--quick"] if settings.quick else []
    measured: list[dict[str, list[float]]] = [{}, {}]
    with check_out(settings.compare) as theirs, TemporaryDirectory() as folder:
        trees = ROOT, theirs
        turns = [0, 1, *chain.from_iterable(ORDERS[pair % 2] for pair in range(settings.pairs))]
        for number, tree in enumerate(track(turns, "measuring", console=console, transient=True)):
            place = Path(folder, str(tree))
            place.mkdir(exist_ok=True)
            content = run_json(trees[tree], "training/speed.py", options, place)
            if number >= len(trees):
                for row in content["rows"]:
                    measured[tree].setdefault(row["name"], []).append(row["value"])
    ours, other = measured
    ratios = {name: mean_ratio(ours[name], other[name]) for name in ours if name in other}
    shown = Table("speed", f"this tree / {settings.compare}", "95 % interval")
    for name, ratio in ratios.items():
        shown.add_row(name, f"{ratio.mean:.3f}", f"{ratio.low:.3f} to {ratio.high:.3f}")
    _output().print(shown)
    if settings.json:
        content = {"processor": processor(), "revision": settings.compare, "pairs": settings.pairs}
        content["ratios"] = {name: ratio._asdict() for name, ratio in ratios.items()}
        write_atomically(settings.json, json.dumps(content, indent=2).encode())


def mean_ratio(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """Return the geometric mean of the ratios of two measurements or more, with its interval."""
    return Interval(*map(math.exp, student(np.log(np.divide(ours, theirs)).tolist())))


def best_rate(work: Callable[[], Any], repeats: int) -> Any:
    """Return the most work in a CPU-second, of a few repeats after one to warm up."""
    work()
    rates = []
    for _ in range(repeats):
        began = time.process_time()
        done = work()
        rates.append(np.asarray(done) / (time.process_time() - began))
    return np.max(rates, axis=0)


def openspiel() -> Any:
    """Return OpenSpiel's Python module, or None."""
    try:
        return importlib.import_module("pyspiel")
    except ImportError:
        return None


def with_openspiel(label: str, work: Callable[[Any], Any], repeats: int) -> tuple[str, Any]:
    """Measure a yardstick that needs OpenSpiel.

    Parameters
    ----------
    label
        What is measured.
    work
        Function that takes OpenSpiel's game and returns a count.
    repeats
        Number of measurements, of which the best counts.

    Returns
    -------
    The name of the yardstick, and its speed; None without OpenSpiel.
    """
    library = openspiel()
    if library is None:
        return "OpenSpiel (not installed)", None
    game = library.load_game("checkers")
    return f"OpenSpiel, {label}", float(best_rate(partial(work, game), repeats))


def measure_perft(effort: Effort) -> list[Measurement]:
    """Measure move generation."""
    board = checkers_env.Board()

    def ours() -> int:
        return sum(checkers_env.perft(board, PERFT_DEPTH) for _ in range(effort.perft_runs))

    def theirs(game: Any) -> int:
        leaves = openspiel_perft(game.new_initial_state(), effort.openspiel_depth)
        if leaves != checkers_env.perft(board, effort.openspiel_depth):
            raise ValueError(f"OpenSpiel counts {leaves} lines, which is not what we count")
        return leaves

    label = f"perft {effort.openspiel_depth}"
    yardstick = with_openspiel(label, theirs, effort.repeats)
    value = float(best_rate(ours, effort.repeats))
    return [Measurement(f"perft {PERFT_DEPTH}, bulk", "leaves/s", value, 200e6, *yardstick, 300)]


def openspiel_perft(state: Any, depth: int) -> int:
    """Count lines of `depth` turns in bulk; in OpenSpiel a multi-jump is several actions."""
    actions = state.legal_actions()
    # Odd actions are captures. They are compulsory: either all are, or none.
    if depth == 1 and not (actions and actions[0] % 2):
        return len(actions)
    player, leaves = state.current_player(), 0
    for action in actions:
        after = state.child(action)
        left = depth if after.current_player() == player else depth - 1
        leaves += openspiel_perft(after, left) if left else 1
    return leaves


def random_networks() -> Population:
    """Sample the first parents of the default run, and as many more."""
    return REGIME.random_members(ENCODING, 2 * REGIME.parents, np.random.default_rng(0))


def measure_network(effort: Effort) -> list[Measurement]:
    """Measure the network from its first layer's sums, which both sides get for nothing."""
    population = random_networks()
    network = REGIME.players(ENCODING, population.pick([0]))[0].evaluator
    slow = slow_network(LAYOUT, population.genomes[0], REGIME.king)
    sample = sample_positions()
    positions = sample[:: len(sample) // NETWORK_POSITIONS][:NETWORK_POSITIONS]
    states = aligned_zeros((NETWORK_POSITIONS, state_size(network)), np.int32)
    for position, state in zip(positions, states, strict=True):
        start_state(network, position, position.turn, state)
    table, scratch = np.array(positions), aligned_zeros((SCRATCH_SIZE,), np.float32)
    squares = [inputs(slow, position, position.turn) for position in positions]
    given = [(slow.first @ seen + slow.bias, float(seen.sum())) for seen in squares]
    rounds = effort.evaluations // NETWORK_POSITIONS
    slow_rounds = rounds // 50

    def ours() -> int:
        evaluate_many(network, table, states, scratch, rounds)
        return rounds * NETWORK_POSITIONS

    def theirs() -> int:
        for _ in range(slow_rounds):
            for sums, pieces in given:
                network_value(slow, sums, pieces)
        return slow_rounds * NETWORK_POSITIONS

    value, yardstick = (float(best_rate(work, effort.repeats)) for work in (ours, theirs))
    label = "numpy, one at a time"
    return [Measurement("2001 network alone", "evaluations/s", value, 7.5e6, label, yardstick, 45)]


@kernel
def evaluate_many(evaluator: Any, positions: Any, states: Any, scratch: Any, rounds: int) -> float:
    """Return the sum of the values of `positions`, shape (:, 4), each evaluated `rounds` times."""
    evaluator, total = borrowed(evaluator), 0.0
    for _ in range(rounds):
        for i in range(len(positions)):
            row = positions[i]
            position = Position(row[0], row[1], row[2], row[3])
            total += evaluate(evaluator, position, position.turn, states[i], scratch)
    return total


def pairs(count: int, members: int) -> Iterator[tuple[int, int]]:
    """Yield random numbers of Black and White for `count` games."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        black, white = rng.choice(members, 2, replace=False).tolist()
        yield black, white


def measure_games(effort: Effort) -> list[Measurement]:
    """Measure games between random networks: the evaluations in them, and a whole tournament.

    The tournament is that of a first generation. As in evolution, no game is played twice, and the
    moves that players are known to choose are not searched again.
    """
    population = random_networks()
    players = REGIME.players(ENCODING, population)
    fixtures = list(pairs(effort.games, population.size))
    rounds = effort.games // REGIME.games
    seats, rng = (workspace(), workspace()), np.random.default_rng(0)
    start, _ = opening_line(None)

    def tournaments() -> int:
        for _ in range(rounds):
            with open_game_runner(1) as runner:  # which knows no game and no move yet
                REGIME.tournament(ENCODING, population, runner, np.random.default_rng(0))
        return rounds * REGIME.games

    def ours() -> int:
        before = sum(int(seat.counts[EVALUATED]) for seat in seats)
        for black, white in fixtures:
            game = np.zeros((2 * REGIME.max_moves + 1, ROW_WIDTH), np.int64)
            pair = players[black], players[white]
            play(*pair, *seats, BLACK, start, REGIME.rules.to_array(), True, rng, game)
        return sum(int(seat.counts[EVALUATED]) for seat in seats) - before

    def theirs() -> list[int]:
        evaluations = 0
        for fixture in fixtures[: effort.slow_games]:
            networks = [
                slow_network(LAYOUT, population.genomes[member], REGIME.king) for member in fixture
            ]
            sides = [SlowSearch(network, REGIME.depth) for network in networks]
            slow_game(sides, start, REGIME.max_moves)
            evaluations += sides[BLACK].evaluations + sides[WHITE].evaluations
        return [effort.slow_games, evaluations]

    evaluations = float(best_rate(ours, effort.repeats))
    games = float(best_rate(tournaments, effort.repeats))
    slow = best_rate(theirs, effort.slow_repeats).tolist()
    label = "plain Python and numpy"
    in_search, self_play = "2001 network in the search", "self-play, a generation"
    return [
        Measurement(in_search, "evaluations/s", evaluations, 4e6, label, slow[1], 85),
        Measurement(self_play, "games/s", games, 1000, label, slow[0], 270),
    ]


def measure_environments(effort: Effort) -> list[Measurement]:
    """Measure steps of recorded games, with the observation and the legal actions at each."""
    recorded = [record(seed) for seed in range(effort.env_games)]

    def ours(env: Any) -> int:
        for actions in recorded:
            env.reset()
            for action in actions:
                env.last()
                env.step(action)
            env.last()
        return sum(map(len, recorded))

    library = openspiel()
    theirs = [record_openspiel(library, seed) for seed in range(effort.env_games if library else 0)]

    def steps(game: Any) -> int:
        for actions in theirs:
            state = game.new_initial_state()
            for action in actions:
                state.observation_tensor(state.current_player())
                state.legal_actions()
                state.apply_action(action)
        return sum(map(len, theirs))

    yardstick = with_openspiel("stepped", steps, effort.repeats)
    raw, wrapped = (
        float(best_rate(partial(ours, env), effort.repeats))
        for env in (checkers_env.raw_env(), checkers_env.env())
    )
    many = float(best_rate(self_play(), effort.repeats))
    return [
        Measurement("raw_env(), with last()", "steps/s", raw, 600e3, *yardstick, 3.5),
        Measurement("env(), with last()", "steps/s", wrapped, 100e3, *yardstick, 0.6),
        Measurement("make_vec(1024)", "steps/s", many, 8e6, *yardstick, 50),
    ]


def record(seed: int) -> list[int]:
    """Return the actions of a random game."""
    env, rng, actions = checkers_env.raw_env(), np.random.default_rng(seed), []
    env.reset()
    while not any(env.terminations.values()):
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
        actions.append(int(rng.choice(legal)))
        env.step(actions[-1])
    return actions


def record_openspiel(library: Any, seed: int) -> list[int]:
    """Return the actions of a random game in OpenSpiel."""
    state, rng = library.load_game("checkers").new_initial_state(), np.random.default_rng(seed)
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    actions: list[int] = state.history()
    return actions


def measure_run(folder: Path) -> Measurement:
    """Return the CPU-seconds of a run's tournaments, from the speeds in its checkpoint."""
    checkpoint = load_checkpoint(folder)
    speeds = np.array(checkpoint.history.get(SPEED, []))
    speeds = speeds[np.isfinite(speeds)]
    if not speeds.size:
        raise ValueError(f"the run in {str(folder)!r} has not recorded the speed of its games")
    games = regime_from_config(checkpoint.config_key).games
    name = f"tournaments of a run, {games * speeds.size:,} games"
    goal = RUN_SECONDS if games * speeds.size == RUN_GAMES else None
    return Measurement(name, "CPU-seconds", float(np.sum(games / speeds)), goal)


def table(rows: list[Measurement]) -> Table:
    """Return the table of figures; a second is a CPU-second."""
    shown = Table("speed", "measured", "goal", "yardstick", "its figure", "ratio", "goal")
    for column in (1, 2, 4, 5, 6):
        shown.columns[column].justify = "right"
    for row in rows:
        shown.add_row(
            row.name,
            f"{_number(row.value)} {row.unit}",
            _number(row.goal),
            row.yardstick,
            _number(row.yardstick_value),
            _number(row.ratio),
            _number(row.ratio_goal),
        )
    return shown


def _number(value: float | None) -> str:
    """Format a number with a few digits and k or M."""
    if value is None:
        return ""
    if value >= 1e6:
        return f"{value / 1e6:,.4g} M"
    return f"{value / 1e3:.4g} k" if value >= 1e4 else f"{value:.3g}"


def _output() -> Console:
    """Return a console on standard output that does not fold lines in a file."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=TABLE_WIDTH)


if __name__ == "__main__":
    sys.exit(main())
