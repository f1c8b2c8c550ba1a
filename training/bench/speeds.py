"""Rows of the bench: each speed beside a yardstick that is measured in the same run.

All speeds are of one CPU-second of this process. OpenSpiel is a yardstick where it is installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import checkers_env
from agents.architectures import Encoding
from agents.blondie.architecture import NETWORK_LAYOUTS
from agents.evaluator import SCRATCH_SIZE, evaluate, start_state, state_size
from agents.match import opening_line
from agents.match_kernel import play
from agents.search.workspace import EVALUATED, workspace
from agents.simd import aligned_zeros
from checkers_env.bits import borrowed
from checkers_env.envs.vector import sample
from checkers_env.jit import kernel
from checkers_env.movegen import BLACK, ROW_WIDTH, WHITE, Position
from training.bench.plain_search import PlainSearch, play_plainly
from training.evolution.game_runner import open_game_runner
from training.evolution.metrics import sample_positions
from training.evolution.state import Population
from training.regimes.coevolution import Coevolution

REGIME = Coevolution()
ENCODING, LAYOUT = Encoding(REGIME.network), NETWORK_LAYOUTS[REGIME.network]
NETWORK_POSITIONS = 16  # few, so that they stay in the first-level cache as a search's do


class Measurement(NamedTuple):
    """A speed beside its yardstick."""

    name: str
    unit: str
    value: float
    yardstick: str
    yardstick_value: float | None

    @property
    def ratio(self) -> float | None:
        """Speed divided by the yardstick's."""
        return self.value / self.yardstick_value if self.yardstick_value else None


def best_rate(work: Callable[[], Any], repeats: int) -> Any:
    """Return the most work in a CPU-second, of a few repeats after one to warm up."""
    work()
    rates = []
    for _ in range(repeats):
        began = process_time()
        done = work()
        rates.append(np.asarray(done) / (process_time() - began))
    return np.max(rates, axis=0)


def openspiel() -> Any:
    """Return OpenSpiel's game of checkers, or None without the library."""
    try:
        return importlib.import_module("pyspiel").load_game("checkers")
    except ImportError:
        return None


def with_openspiel(
    label: str, work: Callable[[Any], Any], repeats: int
) -> tuple[str, float | None]:
    """Return the name and the speed of a yardstick that plays OpenSpiel's game."""
    game = openspiel()
    if game is None:
        return "OpenSpiel (not installed)", None
    return f"OpenSpiel, {label}", float(best_rate(partial(work, game), repeats))


def measure_perft(repeats: int) -> list[Measurement]:
    """Measure move generation."""
    board, depth, their_depth = checkers_env.Board(), 9, 6

    def ours() -> int:
        return sum(checkers_env.perft(board, depth) for _ in range(2 * repeats))

    def theirs(game: Any) -> int:
        leaves = openspiel_perft(game.new_initial_state(), their_depth)
        if leaves != checkers_env.perft(board, their_depth):
            raise ValueError(f"OpenSpiel counts {leaves} lines, which is not what we count")
        return leaves

    value = float(best_rate(ours, repeats))
    yardstick = with_openspiel(f"perft {their_depth}", theirs, repeats)
    return [Measurement(f"perft {depth}, bulk", "leaves/s", value, *yardstick)]


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


def measure_network(repeats: int) -> list[Measurement]:
    """Measure the network from its first layer's sums, which both sides get for nothing."""
    population = random_networks()
    network = REGIME.players(ENCODING, population.pick([0]))[0].evaluator
    slow = PlainSearch(LAYOUT, population.genomes[0], REGIME.king, 1)
    sample = sample_positions()
    positions = sample[:: len(sample) // NETWORK_POSITIONS][:NETWORK_POSITIONS]
    states = aligned_zeros((NETWORK_POSITIONS, state_size(network)), np.int32)
    for position, state in zip(positions, states, strict=True):
        start_state(network, position, position.turn, state)
    board_rows, scratch = np.array(positions), aligned_zeros((SCRATCH_SIZE,), np.float32)
    squares = [slow.inputs(position, position.turn) for position in positions]
    given = [(slow.first @ seen + slow.bias, float(seen.sum())) for seen in squares]
    rounds, slow_rounds = 30_000 * repeats, 600 * repeats

    def ours() -> int:
        evaluate_many(network, board_rows, states, scratch, rounds)
        return rounds * NETWORK_POSITIONS

    def theirs() -> int:
        for _ in range(slow_rounds):
            for sums, pieces in given:
                slow.output(sums, pieces)
        return slow_rounds * NETWORK_POSITIONS

    value, yardstick = (float(best_rate(work, repeats)) for work in (ours, theirs))
    label = "numpy, one at a time"
    return [Measurement("2001 network alone", "evaluations/s", value, label, yardstick)]


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


def measure_games(repeats: int) -> list[Measurement]:
    """Measure games between random networks: the evaluations in them, and a whole tournament.

    The tournament is that of a first generation. As in evolution, no game is played twice, and the
    moves that players are known to choose are not searched again.
    """
    population = random_networks()
    players = REGIME.players(ENCODING, population)
    rng = np.random.default_rng(1)
    fixtures = [rng.choice(population.size, 2, replace=False) for _ in range(150 * repeats)]
    seats, start = (workspace(), workspace()), opening_line(None)[0]

    def tournaments() -> int:
        for _ in range(repeats):
            with open_game_runner(1) as runner:  # which knows no game and no move yet
                REGIME.tournament(ENCODING, population, runner, np.random.default_rng(0))
        return repeats * REGIME.games

    def ours() -> int:
        before = sum(int(seat.counts[EVALUATED]) for seat in seats)
        for black, white in fixtures:
            game = np.zeros((2 * REGIME.max_moves + 1, ROW_WIDTH), np.int64)
            pair = players[black], players[white]
            play(*pair, *seats, BLACK, start, REGIME.rules.to_array(), True, rng, game)
        return sum(int(seat.counts[EVALUATED]) for seat in seats) - before

    def theirs() -> list[int]:
        evaluations, some = 0, fixtures[: 4 * repeats]
        for fixture in some:
            sides = [
                PlainSearch(LAYOUT, genome, REGIME.king, REGIME.depth)
                for genome in population.genomes[fixture]
            ]
            play_plainly(sides, start, REGIME.max_moves)
            evaluations += sides[BLACK].evaluations + sides[WHITE].evaluations
        return [len(some), evaluations]

    evaluations, games = (float(best_rate(work, repeats)) for work in (ours, tournaments))
    slow_games, slow_evaluations = best_rate(theirs, (repeats + 2) // 3).tolist()
    label = "plain Python and numpy"
    in_search, in_games = "2001 network in the search", "self-play, a generation"
    return [
        Measurement(in_search, "evaluations/s", evaluations, label, slow_evaluations),
        Measurement(in_games, "games/s", games, label, slow_games),
    ]


def measure_environments(repeats: int) -> list[Measurement]:
    """Measure steps of recorded games, with the observation and the legal actions at each."""
    recorded = [record(seed) for seed in range(20 * repeats)]

    def ours(env: Any) -> int:
        for actions in recorded:
            env.reset()
            for action in actions:
                env.last()
                env.step(action)
            env.last()
        return sum(map(len, recorded))

    def theirs(game: Any, games: Sequence[Sequence[int]]) -> int:
        for actions in games:
            state = game.new_initial_state()
            for action in actions:
                state.observation_tensor(state.current_player())
                state.legal_actions()
                state.apply_action(action)
        return sum(map(len, games))

    def measured(name: str, work: Callable[[], int]) -> Measurement:
        return Measurement(name, "steps/s", float(best_rate(work, repeats)), *yardstick)

    game = openspiel()
    their_games = [record_openspiel(game, seed) for seed in range(20 * repeats)] if game else []
    yardstick = with_openspiel("stepped", partial(theirs, games=their_games), repeats)
    raw, wrapped = (partial(ours, env) for env in (checkers_env.raw_env(), checkers_env.env()))
    return [
        measured("raw_env(), with last()", raw),
        measured("env(), with last()", wrapped),
        measured("make_vec(1024)", self_play(1024, 200)),
    ]


def self_play(games: int, steps: int) -> Callable[[], int]:
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


def record(seed: int) -> list[int]:
    """Return the actions of a random game."""
    env, rng, actions = checkers_env.raw_env(), np.random.default_rng(seed), []
    env.reset()
    while not any(env.terminations.values()):
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
        actions.append(int(rng.choice(legal)))
        env.step(actions[-1])
    return actions


def record_openspiel(game: Any, seed: int) -> list[int]:
    """Return the actions of a random game in OpenSpiel."""
    state, rng = game.new_initial_state(), np.random.default_rng(seed)
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    actions: list[int] = state.history()
    return actions


PARTS = measure_perft, measure_network, measure_games, measure_environments
"""Functions from the number of repeats, to which each one's work is proportional, to rows."""
