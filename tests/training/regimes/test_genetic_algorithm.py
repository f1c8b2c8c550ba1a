"""Nguyen's genetic algorithm against plain Python, and its invariants."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.blondie.architecture import NGUYEN, NGUYEN_LOGISTIC, decode
from agents.match_kernel import DRAW, Result
from agents.mcts.player import monte_carlo
from agents.search.player import AlphaBeta
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import REASONS
from tests.training.evolution.test_safe_mutation import LARGEST, game_won_by, positions, recount
from training.evolution.game_runner import open_game_runner
from training.regimes.genetic_algorithm import GeneticAlgorithm

SMALL = GeneticAlgorithm(opponents=2, depth=1, max_moves=30)
SAFE = replace(SMALL, perturbations=3, memory_size=4)
SIMULATING = replace(SMALL, simulations=8, cut=4, skew=0.25)
BLOCKED = replace(SMALL, max_moves=100, blocked_draws=True)
SHAPES = {"tanh": NGUYEN, "logistic": NGUYEN_LOGISTIC}
WEIGHTS, SIZE, MEMBERS = 4101, 4102, 15
NODES = [list(range(92 * node, 92 * node + 92)) for node in range(40)]
NODES += [list(range(3680 + 41 * node, 3680 + 41 * node + 41)) for node in range(10)]
GENERATIONS, ERRORS = 8, 5


def test_chance_differs_between_generations_and_runs():
    regime, seeds = replace(SMALL, tie="chance"), set()
    for number in (0, 1):
        state = regime.init(number)
        for _ in range(2):
            runner = Lottery(0)
            state, _ = regime.step(state, runner)
            (tournament, _), *_ = runner.asked
            seeds.add(tournament[0].seed[0])
    assert len(seeds) == 4


class Lottery:
    """Game runner with random results; it records its fixtures."""

    def __init__(self, seed):
        self.rng, self.asked = np.random.default_rng(seed), []

    def games(self, count):
        winners = self.rng.choice([DRAW, BLACK, WHITE], size=count, p=[0.6, 0.2, 0.2]).tolist()
        return [game_won_by(winner, index % 3) for index, winner in enumerate(winners)]

    def play(self, fixtures, rules):
        self.asked.append((list(fixtures), rules))
        return self.games(len(fixtures))


class Ended(NamedTuple):
    """Finished game, as far as the genetic algorithm uses it."""

    result: Result
    board: Board


class Member:
    """Network of plain Python, with its origin and generation."""

    def __init__(self, genome, born=0, crossed=False):
        self.genome, self.born, self.crossed = np.array(genome), born, crossed


class Plain:
    """Section III.C a member at a time; `games` plays (black, white, opening, seed) of genomes."""

    def __init__(self, regime, seed, games):
        self.regime, self.rng, self.games = regime, np.random.default_rng(seed), games
        genomes = self.rng.uniform(-1, 1, (MEMBERS, SIZE))
        self.members = [Member([*genome[:WEIGHTS], 0.0]) for genome in genomes]
        self.champions, self.generation = [], 0

    def step(self):
        self.generation += 1
        draws = self.rng.integers(MEMBERS - 1, size=(MEMBERS, self.regime.opponents))
        pairs = []
        for black in range(MEMBERS):
            others = [member for member in range(MEMBERS) if member != black]
            pairs += [(black, others[draw]) for draw in draws[black]]
        genomes = [member.genome for member in self.members]
        chance = self.rng.integers(2**63) if self.regime.simulations else 0
        played = self.games(
            [
                (genomes[black], genomes[white], None, (chance, number))
                for number, (black, white) in enumerate(pairs)
            ]
        )
        scores = [0] * MEMBERS
        for (black, white), game in zip(pairs, played, strict=True):
            if game.result.winner != DRAW:
                scores[black] += 2 if game.result.winner == BLACK else -1
                scores[white] += 2 if game.result.winner == WHITE else -1
        lots = self.rng.random(MEMBERS)
        order = sorted(range(MEMBERS), key=lambda member: (-scores[member], lots[member]))[:5]
        memories = [None] * 5
        if self.regime.perturbations > 1:
            memories = [self.remember(member, pairs, played) for member in order]
        elites = [self.members[member] for member in order]
        self.scores = [scores[member] for member in order]
        self.members = elites + self.children(elites, memories)
        self.measured = {
            "elites/age": np.mean([self.generation - elite.born for elite in elites]),
            "elites/crossed": np.mean([elite.crossed for elite in elites]),
            "score/best": max(scores),
            "score/mean": np.mean(scores),
            "games/draws": np.mean([game.result.winner == DRAW for game in played]),
            "games/plies": np.mean([game.result.plies for game in played]),
        }
        if self.champions:
            self.measured["champion/progress"] = self.progress(elites[0].genome)
        self.champions = [*self.champions, elites[0].genome][-self.regime.champions :]

    def children(self, elites, memories):
        first, second, third, fourth, fifth = range(5)
        born = []
        for one, other in ((first, second), (second, third)):
            born += [(genome, True) for genome in self.crossed(elites, one, other)]
            born += [(self.mutant(elites[elite], memories[elite]), False) for elite in (one, other)]
        born += [(self.mutant(elites[elite], memories[elite]), False) for elite in (fourth, fifth)]
        return [Member(genome, self.generation, crossed) for genome, crossed in born]

    def crossed(self, elites, one, other):
        leader = one
        if self.scores[one] == self.scores[other]:
            leader = one if self.rng.random() < 0.5 else other
        dominant = elites[leader].genome
        first, second = list(elites[one].genome), list(elites[other].genome)
        for place in NODES[self.rng.integers(50)]:
            if abs(dominant[place]) > self.regime.dominant:
                first[place], second[place] = second[place], first[place]
        return first, second

    def mutant(self, parent, remembered):
        best, most = None, -1
        for _ in range(self.regime.perturbations):
            moves = self.rng.uniform(-1, 1, SIZE)
            mutant = [
                min(max(weight + move * LARGEST, -1.0), 1.0)
                for weight, move in zip(parent.genome, moves, strict=True)
            ]
            mutant[-1] = 0.0
            shape = SHAPES[self.regime.activation]
            kept = recount(shape, parent.genome, mutant, remembered) if remembered else 0
            if kept > most:
                best, most = mutant, kept
        return best

    def remember(self, member, pairs, played):
        own = [index for index, pair in enumerate(pairs) if member in pair]
        won = [
            index
            for index in own
            if played[index].result.winner != DRAW
            and pairs[index][played[index].result.winner] == member
        ]
        rows = [row for index in won or own for row in reversed(positions(played[index]))]
        return [rows[draw] for draw in self.rng.integers(len(rows), size=self.regime.memory_size)]

    def progress(self, champion):
        cards = np.random.default_rng(self.generation).choice(TWO_MOVE, 3, replace=False).tolist()
        fixtures = []
        for other in self.champions:
            for card in cards:
                for pair in ((champion, other), (other, champion)):
                    fixtures.append((*pair, card, (self.generation, len(fixtures))))
        winners = [game.result.winner for game in self.games(fixtures)]
        payoffs = [
            0 if winner == DRAW else 1 if winner == (BLACK, WHITE)[game % 2] else -1
            for game, winner in enumerate(winners)
        ]
        return np.mean([np.mean(payoffs[start : start + 6]) for start in range(0, len(payoffs), 6)])


def play_on_boards(fixtures, regime=SMALL):
    """Yield the games of genomes, played on boards by agents."""
    for black, white, opening, seed in fixtures:
        networks = [decode(SHAPES[regime.activation], genome, 1.5) for genome in (black, white)]
        players = [AlphaBeta(network, regime.depth) for network in networks]
        if regime.simulations:
            options = {"cut": regime.cut, "skew": regime.skew}
            players = [monte_carlo(network, regime.simulations, **options) for network in networks]
        rng = np.random.default_rng(seed)
        agents = [PlayerAgent("", player, rng) for player in players]
        board = Board(max_moves=regime.max_moves, repetition=3, blocked_draws=regime.blocked_draws)
        for move in (opening or "").split():
            board.push(move)
        while not board.outcome():
            board.push(agents[board.turn].act(board))
        outcome = board.outcome()
        winner = DRAW if outcome.winner is None else outcome.winner
        yield Ended(Result(winner, REASONS.index(outcome.reason), board.ply), board)


def assert_agree(state, measured, plain):
    """Compare the whole state and the metrics with plain Python's."""
    genomes = [member.genome for member in plain.members]
    np.testing.assert_array_equal(state.arrays["genomes"], genomes)
    assert list(state.arrays["births"]) == [member.born for member in plain.members]
    assert list(state.arrays["kinds"]) == [member.crossed for member in plain.members]
    np.testing.assert_array_equal(state.arrays["champions"], plain.champions)
    assert state.generation == plain.generation
    assert list(state.scores) == plain.scores + [0] * 10
    assert measured == pytest.approx(plain.measured)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"opponents": 5, "champions": 2, "dominant": 0.5},
        {"perturbations": 3, "memory_size": 4},
        {"perturbations": 2, "memory_size": 6, "activation": "logistic"},
        {"simulations": 5},
    ],
)
def test_generations_with_random_results_equal_plain_python(changes):
    regime, runner, lots = replace(SMALL, **changes), Lottery(0), Lottery(0)
    plain = Plain(regime, 0, lambda fixtures: lots.games(len(fixtures)))
    state = regime.init(0)
    for _ in range(GENERATIONS if regime.perturbations == 1 else 3):
        state, measured = regime.step(state, runner)
        plain.step()
        assert_agree(state, measured, plain)


@pytest.mark.parametrize("regime", [SMALL, SIMULATING, BLOCKED])
def test_generations_of_real_games_equal_plain_python(regime):
    plain = Plain(regime, 4, lambda fixtures: list(play_on_boards(fixtures, regime)))
    state, decided = regime.init(4), 0
    with open_game_runner(1) as runner:
        for _ in range(2):
            state, measured = regime.step(state, runner)
            plain.step()
            assert_agree(state, measured, plain)
            decided += measured["games/draws"] < 1
    assert decided
