"""Nguyen's genetic algorithm against plain Python, and its invariants."""

from collections import Counter
from dataclasses import asdict, replace
from typing import NamedTuple

import numpy as np
import pytest

import agents
from agents.agent import PlayerAgent
from agents.blondie.architecture import NGUYEN, NGUYEN_LOGISTIC, decode
from agents.match_kernel import DRAW, Result
from agents.mcts.player import MonteCarlo, monte_carlo
from agents.search.player import AlphaBeta
from agents.search.root_order import FIRST
from agents.weights import load_weights
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import REASONS, DrawRules
from tests.training.evolution.test_crossover import NODES
from tests.training.evolution.test_safe_mutation import LARGEST, game_won_by, positions, recount
from tests.training.regimes.test_coevolution import run_generations
from training.evolution.game_runner import open_game_runner
from training.regimes.genetic_algorithm import GeneticAlgorithm
from training.trainer.loop import CHAMPION_FILE, RunConfig, begin, train

SMALL = GeneticAlgorithm(opponents=2, depth=1, max_moves=30)
SAFE = replace(SMALL, perturbations=3, memory_size=4)
SIMULATING = replace(SMALL, simulations=8, cut=4, skew=0.25)
LOGISTIC = replace(SAFE, activation="logistic")
BLOCKED = replace(SMALL, max_moves=100, blocked_draws=True)
SHAPES = {"tanh": NGUYEN, "logistic": NGUYEN_LOGISTIC}
WEIGHTS, SIZE, MEMBERS = 4101, 4102, 15
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
        self.champions, self.generation, self.happened = [], 0, Counter()

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
            self.happened["ties"] += 1
            leader = one if self.rng.random() < 0.5 else other
        self.happened["second leads"] += leader == other
        dominant = elites[leader].genome
        first, second = list(elites[one].genome), list(elites[other].genome)
        for place in NODES[self.rng.integers(50)]:
            if dominant[place] > 0.75 or dominant[place] < -0.75:
                self.happened["swapped"] += 1
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
        self.happened["with a won game" if won else "without"] += 1
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
        {"opponents": 5, "champions": 2},
        {"perturbations": 3, "memory_size": 4},
        {"perturbations": 2, "memory_size": 6, "activation": "logistic"},
        {"simulations": 5},
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_generations_with_random_results_equal_plain_python(changes, seed):
    regime, runner, lots = replace(SMALL, **changes), Lottery(seed), Lottery(seed)
    plain = Plain(regime, seed, lambda fixtures: lots.games(len(fixtures)))
    state = regime.init(seed)
    for _ in range(GENERATIONS if regime.perturbations == 1 else 3):
        state, measured = regime.step(state, runner)
        plain.step()
        assert_agree(state, measured, plain)


def test_random_results_reach_every_branch():
    happened = Counter()
    for seed in range(3):
        lots = Lottery(seed)
        plain = Plain(
            replace(SAFE, opponents=1), seed, lambda fixtures, lots=lots: lots.games(len(fixtures))
        )
        plain.mutant = lambda parent, remembered: parent.genome
        for _ in range(GENERATIONS):
            plain.step()
        happened += plain.happened
    expected = {"ties", "second leads", "swapped", "with a won game", "without"}
    assert {name for name, count in happened.items() if count > 1} == expected


@pytest.mark.parametrize(
    ("regime", "generations"), [(SMALL, 4), (SIMULATING, 3), (LOGISTIC, 2), (BLOCKED, 2)]
)
def test_generations_of_real_games_equal_plain_python(regime, generations):
    plain = Plain(regime, 4, lambda fixtures: list(play_on_boards(fixtures, regime)))
    state, decided = regime.init(4), 0
    with open_game_runner(1) as runner:
        for _ in range(generations):
            state, measured = regime.step(state, runner)
            plain.step()
            assert_agree(state, measured, plain)
            decided += measured["games/draws"] < 1
    assert decided


def test_constants_are_those_of_the_paper():
    regime = GeneticAlgorithm()
    assert (regime.win, regime.draw, regime.loss, regime.both_score) == (2, 0, -1, True)
    assert (regime.opponents, regime.games, regime.parents, regime.champions) == (5, 75, 5, 5)
    assert (regime.max_moves, regime.repetition, regime.depth) == (100, 3, 4)
    assert (regime.king, regime.dominant, regime.perturbations) == (1.5, 0.75, 1)
    assert (regime.simulations, regime.cut, regime.activation) == (0, 6, "tanh")
    assert not regime.blocked_draws


def test_first_population_has_fifteen_networks_without_a_piece_difference():
    arrays = SMALL.init(7).arrays
    genomes = arrays["genomes"]
    assert genomes.shape == (MEMBERS, SIZE)
    weights = genomes[:, :WEIGHTS]
    assert -1 <= weights.min() < -0.999
    assert 0.999 < weights.max() <= 1
    assert abs(weights.mean()) < ERRORS / np.sqrt(3 * weights.size)
    assert not genomes[:, WEIGHTS].any()
    assert arrays["champions"].shape == (0, SIZE)
    assert not np.array_equal(genomes, SMALL.init(8).arrays["genomes"])


def test_each_member_plays_black_and_both_players_are_scored():
    runner = Lottery(0)
    regime = replace(SMALL, opponents=5)
    state = regime.init(3)
    players = [decode(NGUYEN, genome, 1.5).features.tobytes() for genome in state.arrays["genomes"]]
    regime.step(state, runner)
    fixtures, rules = runner.asked[0]
    seats = [
        [players.index(player.evaluator.features.tobytes()) for player in fixture[:2]]
        for fixture in fixtures
    ]
    assert [black for black, _ in seats] == [member for member in range(MEMBERS) for _ in range(5)]
    assert all(black != white for black, white in seats)
    assert len({white for _, white in seats}) > 10
    assert rules == DrawRules(30, 3)
    for fixture in fixtures:
        assert fixture.opening is None
        for player in fixture[:2]:
            assert (player.depth, player.tie) == (1, FIRST)
            assert player.evaluator.king == 1.5
            assert player.evaluator.difference == 0
            assert player.evaluator.black_perspective == 1


@pytest.mark.parametrize(("both", "white"), [(True, -1.0), (False, 0.0)])
def test_win_scores_2_and_loss_scores_minus_1(monkeypatch, both, white):
    pairs = [(0, 1), (2, 1), (3, 4), (0, 4), (14, 0)]
    winners = [BLACK, BLACK, WHITE, DRAW, DRAW]
    monkeypatch.setattr("training.regimes.genetic_algorithm.random_opponents", lambda *drawn: pairs)
    monkeypatch.setattr(Lottery, "games", lambda self, count: [game_won_by(win) for win in winners])
    regime = replace(SMALL, both_score=both)
    state = regime.init(0)
    after, measured = regime.step(state, Lottery(0))
    expected = [2, 2 * white, 2, -1, 2 if both else 0]
    best = sorted([*expected, *[0] * 10], reverse=True)[:5]
    assert list(after.scores[:5]) == best
    assert measured["score/mean"] == pytest.approx(sum(expected) / MEMBERS)
    kept = [
        state.arrays["genomes"].tolist().index(row.tolist()) for row in after.arrays["genomes"][:5]
    ]
    assert [([*expected, *[0] * 10])[member] for member in kept] == best


def test_children_come_from_the_expected_parents():
    rng = np.random.default_rng(1)
    parents = rng.uniform(-0.5, 0.5, (5, SIZE))
    parents[:, WEIGHTS] = 0
    parents[:, :WEIGHTS:50] = 0.8
    children = SMALL.children(parents, np.array([9.0, 7, 5, 3, 1]), [None] * 5, rng)
    near = [
        [np.abs(child - parent).max() <= LARGEST for parent in parents].index(True)
        for child in children
    ]
    assert near == [0, 1, 0, 1, 1, 2, 1, 2, 3, 4]


def test_progress_is_measured_by_six_games_with_each_earlier_champion():
    runner, regime = Lottery(5), replace(SMALL, champions=3)
    state = regime.init(5)
    for generation in range(6):
        runner.asked.clear()
        earlier = state.arrays["champions"]
        state, measured = regime.step(state, runner)
        assert len(earlier) == min(generation, 3)
        if generation == 0:
            assert "champion/progress" not in measured
            assert len(runner.asked) == 1
            continue
        fixtures, rules = runner.asked[1]
        assert rules == regime.rules
        mine, *others = [
            decode(NGUYEN, genome, 1.5).features.tobytes()
            for genome in [state.arrays["genomes"][0], *earlier]
        ]
        games = Counter(
            (*[player.evaluator.features.tobytes() for player in fixture[:2]], fixture.opening)
            for fixture in fixtures
        )
        cards = {fixture.opening for fixture in fixtures}
        assert len(cards) == 3
        assert cards <= set(TWO_MOVE)
        assert games == Counter(
            pair
            for other in others
            for card in cards
            for pair in ((mine, other, card), (other, mine, card))
        )
        np.testing.assert_array_equal(state.arrays["champions"][-1], state.arrays["genomes"][0])
        np.testing.assert_array_equal(state.arrays["champions"][:-1], earlier[-2:])


@pytest.mark.parametrize(
    ("as_black", "as_white", "expected"),
    [
        (BLACK, WHITE, 1.0),
        (WHITE, BLACK, -1.0),
        (BLACK, BLACK, 0.0),
        (BLACK, DRAW, 0.5),
        (DRAW, BLACK, -0.5),
        (DRAW, DRAW, 0.0),
    ],
)
def test_progress_is_the_mean_payoff_of_the_champion(as_black, as_white, expected):
    champion, earlier = np.full(SIZE, 0.1), np.zeros((4, SIZE))

    class Decided:
        def play(self, fixtures, rules):
            seats = [fixture.black.evaluator.features.any() for fixture in fixtures]
            assert len(seats) == 24
            return [game_won_by(as_black if champions else as_white) for champions in seats]

    assert SMALL.progress(champion, earlier, 1, Decided()) == {"champion/progress": expected}


class Listening:
    """Game runner that records the games of another one."""

    def __init__(self, runner):
        self.runner, self.games = runner, []

    def play(self, fixtures, rules):
        played = self.runner.play(fixtures, rules)
        self.games += played
        return played


def occurrences(game):
    """Count the last position on the board, and the most frequent other one."""
    boards = [Board.from_position(*game.start), *positions(game)]
    keys = [(board.black, board.white, board.kings, board.turn) for board in boards]
    counts = Counter(keys)
    last = counts.pop(keys[-1])
    return last, max(counts.values())


@pytest.mark.parametrize("repetition", [0, 2, 3])
def test_third_occurrence_of_a_position_draws(repetition):
    regime, reasons = replace(SMALL, repetition=repetition, max_moves=60), Counter()
    state = regime.init(1)
    with open_game_runner(1) as runner:
        listening = Listening(runner)
        for _ in range(3):
            state, _ = regime.step(state, listening)
    for game in listening.games:
        reason = REASONS[game.result.reason]
        reasons[reason] += 1
        if reason == "repetition":
            assert game.result.winner == DRAW
            assert occurrences(game) == (repetition, repetition - 1)
        elif repetition:
            assert max(occurrences(game)) < repetition
    assert (reasons["repetition"] > 3) == (repetition > 0)


@pytest.mark.parametrize("blocked_draws", [True, False])
def test_blocked_side_draws_under_the_rule(blocked_draws):
    regime, reasons = replace(BLOCKED, blocked_draws=blocked_draws), Counter()
    state = regime.init(3)
    with open_game_runner(1) as runner:
        listening = Listening(runner)
        for _ in range(8):
            state, _ = regime.step(state, listening)
    for game in listening.games:
        reasons[REASONS[game.result.reason], game.result.winner == DRAW] += 1
    assert reasons["no legal move", blocked_draws] > 5
    assert reasons["no legal move", not blocked_draws] == 0
    assert reasons["no pieces", True] == 0


def seeds_of(regime, seed, generations):
    """Return the seeds of the games of some generations: of tournaments and of progress."""
    runner, state = Lottery(0), regime.init(seed)
    for _ in range(generations):
        state, _ = regime.step(state, runner)
    played = [[fixture.seed for fixture in fixtures] for fixtures, _ in runner.asked]
    return [game for games in played[:1] + played[1::2] for game in games], [
        game for games in played[2::2] for game in games
    ]


def test_each_game_has_its_own_generator():
    games = seeds_of(SIMULATING, 1, 4)
    assert games == seeds_of(SIMULATING, 1, 4)
    drawn, measured = games
    assert len(set(drawn)) == len(drawn) == 4 * SIMULATING.games
    assert len(set(measured)) == len(measured) == 6 * (1 + 2 + 3)
    assert not set(drawn) & set(measured)
    assert not set(drawn) & set(seeds_of(SIMULATING, 2, 4)[0])


def test_members_with_simulations_are_monte_carlo_players():
    regime = replace(SIMULATING, root_perspective=False)
    state = regime.init(0)
    genomes = state.arrays["genomes"]
    players, searching = regime.players(genomes), SMALL.players(genomes)
    assert len(players) == len(searching) == MEMBERS
    for player, other in zip(players, searching, strict=True):
        assert type(player) is MonteCarlo
        assert (player.simulations, player.cut, player.skew) == (8, 4, 0.25)
        assert not player.root_perspective
        np.testing.assert_equal(player.evaluator._asdict(), other.evaluator._asdict())
    assert len(regime.contenders(state)) == 5
    assert regime.mcts_options == {"simulations": 8, "cut": 4, "skew": 0.25}
    assert SMALL.mcts_options == {}


def test_logistic_network_equals_the_network_of_half_the_weights():
    regime = replace(SMALL, activation="logistic")
    state = regime.init(0)
    genomes = state.arrays["genomes"]
    for player, other in zip(regime.players(genomes), SMALL.players(genomes / 2), strict=True):
        np.testing.assert_equal(player.evaluator._asdict(), other.evaluator._asdict())
    assert regime.champion(state).architecture == "nguyen-91-logistic"


def test_perspective_of_the_search_makes_no_difference():
    steps, others = (
        [(asdict(state), metrics) for state, metrics in run_generations(regime, 2)]
        for regime in (SMALL, replace(SMALL, root_perspective=False))
    )
    np.testing.assert_equal(steps, others)


@pytest.mark.parametrize(
    ("regime", "network", "curve_every"),
    [(SAFE, "nguyen-91", 0), (LOGISTIC, "nguyen-91-logistic", 0), (SIMULATING, "nguyen-91", 3)],
)
def test_run_saves_its_champion_and_curves(regime, network, curve_every, tmp_path):
    plan = RunConfig("nguyen", regime, 7, 4, tmp_path, 2, "kernel", curve_every)
    done = train(plan, begin(plan), lambda *progress: None)
    names = {"champion/progress", "elites/age", "elites/crossed", "champion/spread"}
    names |= {"curve/heuristic", "curve/material"} if curve_every else set()
    assert names <= set(done.history)
    genome, metadata = load_weights(tmp_path / CHAMPION_FILE)
    np.testing.assert_allclose(genome, done.state.arrays["genomes"][0], atol=1e-7)
    assert (metadata.architecture, metadata.king) == (network, 1.5)
    champion = regime.players(done.state.arrays["genomes"])[0].evaluator
    loaded = agents.make(str(tmp_path / CHAMPION_FILE)).player.evaluator
    np.testing.assert_equal(loaded._asdict(), champion._asdict())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("opponents", 0),
        ("depth", 0),
        ("depth", 65),
        ("max_moves", 0),
        ("repetition", -1),
        ("repetition", 1),
        ("king", 0.9),
        ("king", float("nan")),
        ("dominant", -0.1),
        ("dominant", 1.1),
        ("dominant", float("nan")),
        ("perturbations", 0),
        ("memory_size", 0),
        ("champions", 0),
        ("win", float("nan")),
        ("draw", float("inf")),
        ("loss", float("nan")),
        ("activation", "relu"),
        ("simulations", -1),
        ("simulations", 1_000_001),
        ("cut", 0),
        ("skew", -0.1),
        ("skew", 1.1),
        ("skew", float("nan")),
    ],
)
def test_invalid_constants_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name) as raised:
        replace(SMALL, **{name: value})
    assert str(value) in str(raised.value)
    assert "\n" not in str(raised.value)
