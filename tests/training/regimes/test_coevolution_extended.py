"""Extended coevolution and evolution strategies against plain Python."""

import itertools
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest
from cmaes import SepCMA

from agents.agent import PlayerAgent
from agents.architectures import Encoding
from agents.blondie.architecture import BLONDIE_1999, decode
from agents.match_kernel import DRAW
from agents.search.player import AlphaBeta
from checkers_env.board import Board
from checkers_env.movegen import BLACK
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from tests.training.regimes.test_coevolution import run_generations
from training.evolution.game_runner import open_game_runner
from training.evolution.mutation import mutate, recombine
from training.evolution.state import Population, rng_to_json
from training.regimes.coevolution import Coevolution
from training.regimes.coevolution_extended import ExtendedCoevolution, reservoir_sample
from training.regimes.evolution_strategies import EvolutionStrategy

SMALL = ExtendedCoevolution(
    "blondie24-1999", parents=3, opponents=2, depth=1, max_moves=30, king=2.0, king_rule="tenths"
)
ALL_TOGETHER = replace(
    SMALL, step_limit=0.05, mates=2, openings="two-move", return_games=True, hall=2, league_every=2
)
STRATEGY = EvolutionStrategy("blondie24-1999", "openai-es", pairs=3, depth=1, max_moves=30)


def stepped(regime, generations, seed=0):
    states, metrics = zip(*run_generations(regime, generations, seed), strict=True)
    return list(states), metrics[-1]


def population(members, size, seed=0):
    rng = np.random.default_rng(seed)
    genomes, steps = rng.standard_normal((members, size)), rng.random((members, size))
    return Population(genomes, steps, rng.uniform(1, 3, members))


@pytest.mark.parametrize("pairing", ["random", "round-robin", "common"])
def test_default_options_equal_coevolution(pairing):
    plain = Coevolution(
        "blondie24-1999", parents=3, opponents=2, depth=1, max_moves=30, pairing=pairing
    )
    states, measured = stepped(ExtendedCoevolution(**asdict(plain)), 3)
    expected, measured_there = stepped(plain, 3)
    for state, there in zip(states, expected, strict=True):
        np.testing.assert_equal(vars(state.population), vars(there.population))
        np.testing.assert_array_equal(state.scores, there.scores)
        assert state.rng == there.rng
    assert measured == measured_there
    assert ExtendedCoevolution(**asdict(plain)).games == plain.games


@pytest.mark.parametrize("limit", [0.02, 0.05])
def test_steps_never_exceed_the_limit(limit):
    parents = population(4, 200)
    free = mutate(parents, 199, "fixed", np.random.default_rng(1))
    bound = mutate(parents, 199, "fixed", np.random.default_rng(1), step_limit=limit)
    np.testing.assert_array_equal(bound.steps, np.where(free.steps > limit, limit, free.steps))
    moves = (free.genomes - parents.genomes) / free.steps  # the same draws, by the new steps
    np.testing.assert_allclose(bound.genomes, parents.genomes + bound.steps * moves)
    for state in stepped(replace(SMALL, step_size=limit, step_limit=limit), 2)[0]:
        assert state.population.steps.max() == limit


@pytest.mark.parametrize("mates", [1, 3, 9])
def test_recombined_parents_are_means_of_themselves_and_others(mates):
    parents, rng, drawn = population(5, 6), np.random.default_rng(2), Counter()
    for _ in range(300):
        made = recombine(parents, mates, rng)  # 9: of all 5 there are
        for own in range(5):
            others = [other for other in range(5) if other != own]
            choices = {
                chosen: [own, *chosen]
                for chosen in itertools.combinations(others, min(mates, 5) - 1)
            }
            fits = [
                chosen
                for chosen, rows in choices.items()
                if np.allclose(made.genomes[own], parents.genomes[rows].mean(0))
                and np.allclose(made.steps[own], parents.steps[rows].mean(0))
                and np.isclose(made.kings[own], parents.kings[rows].mean())
            ]
            assert len(fits) == 1
            drawn[own, fits[0]] += 1
    share = 300 / len(choices)
    assert len(drawn) == 5 * len(choices)
    assert all(abs(count - share) < 5 * np.sqrt(share) for count in drawn.values())


@pytest.mark.parametrize("pairing", ["random", "round-robin", "common"])
def test_generation_plays_the_expected_games(pairing):
    regime = replace(ALL_TOGETHER, pairing=pairing)
    pairs, cards = regime.fixtures(np.random.default_rng(3))
    assert regime.games == len(pairs) + 3 * 4 / 2
    half = len(pairs) // 2
    assert [(white, black) for black, white in pairs[:half]] == pairs[half:]
    assert cards[:half] == cards[half:]
    games = {member: [] for member in range(6)}
    for (black, white), card in zip(pairs[:half], cards[:half], strict=True):
        games[black].append((white, card))
    played = [[card for _, card in whites] for whites in games.values()]
    assert played.count(played[0]) == 6  # the same cards for all
    assert len(set(played[0])) == len(played[0])
    assert set(played[0]) <= set(TWO_MOVE)
    for member, whites in games.items():
        met = [white for white, _ in whites]
        assert met[-2:] == [6, 7]  # the hall of fame
        assert member not in met
        assert len(met) == (5 if pairing == "round-robin" else 2) + 2


def test_every_champion_enters_the_hall_of_fame_with_equal_probability():
    counts, runs = Counter(), 4000
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        hall = Population(np.array([[-1.0], [0.0]]), np.zeros((2, 1)), np.ones(2))
        for generation in range(1, 9):
            champion = Population(np.array([[float(generation)]]), np.zeros((1, 1)), np.ones(1))
            hall = reservoir_sample(hall, champion, generation, rng)
        counts.update(hall.genomes[:, 0].tolist())
    assert len(counts) == 10
    assert all(abs(count - runs / 5) < 5 * np.sqrt(runs * 0.2 * 0.8) for count in counts.values())


def test_league_winner_has_the_highest_score_over_both_colours():
    members, seen = SMALL.init(5).population.join(SMALL.init(6).population), []

    class Watched:
        def play(self, fixtures, rules):
            fixtures = list(fixtures)
            with open_game_runner(1) as runner:
                games = runner.play(fixtures, rules)
            seen.extend(zip(fixtures, games, strict=True))
            return games

    winner = SMALL.league_winner(
        Encoding(SMALL.network), members, Watched(), np.random.default_rng(0)
    )
    points, cards, colours = Counter(), {}, Counter()
    numbers = {
        decode(BLONDIE_1999, genome, 2.0).features.tobytes(): number
        for number, genome in enumerate(members.genomes)
    }
    for fixture, game in seen:
        black, white = (
            numbers[player.evaluator.features.tobytes()]
            for player in (fixture.black, fixture.white)
        )
        colours[black, white] += 1
        assert cards.setdefault(frozenset((black, white)), fixture.opening) == fixture.opening
        result = game.result.winner
        if result != DRAW:
            points[black] += 1 if result == BLACK else -2
            points[white] += -2 if result == BLACK else 1
    assert colours == Counter(itertools.permutations(range(6), 2))
    best = max(points[member] for member in range(6))
    leaders = [members.genomes[m].tolist() for m in range(6) if points[m] == best]
    assert winner.genomes[0].tolist() in leaders
    assert len(leaders) < 6


def duel(one, other, card, rules):
    """Return the first genome's score in a game with each colour, played on a Board."""
    players = [PlayerAgent("", AlphaBeta(decode(BLONDIE_1999, g, 1.5), 1)) for g in (one, other)]
    score = 0
    for mine in (0, 1):
        board = Board(max_moves=rules.max_moves)
        for move in card.split():
            board.push(board.parse_move(move))
        while not board.outcome():
            board.push(players[board.turn ^ mine].act(board))
        winner = board.outcome().winner
        score += 0 if winner is None else 1 if winner == mine else -1
    return score


@pytest.mark.parametrize("half_at", [0.0, 2.0])
def test_openai_es_equals_plain_python(half_at):
    regime = replace(STRATEGY, pairs=6, sigma=0.1, rate=0.02, half_at=half_at)
    states, measured = stepped(regime, 3, seed=4)
    rng = np.random.default_rng(4)
    mean = rng.uniform(-0.2, 0.2, 1742)
    first, second = np.zeros(1742), np.zeros(1742)
    for count, state in enumerate(states, start=1):
        noise = rng.standard_normal((6, 1742))
        cards = rng.choice(TWO_MOVE, 6)
        scores = [
            duel(mean + 0.1 * e, mean - 0.1 * e, card, DrawRules(30))
            for e, card in zip(noise, cards, strict=True)
        ]
        gradient = sum(score * e for score, e in zip(scores, noise, strict=True)) / 6
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient * gradient
        rated = (first / (1 - 0.9**count)) / (np.sqrt(second / (1 - 0.999**count)) + 1e-8)
        mean = mean + 0.02 * (2 / (1 + count) if half_at else 1) * rated
        assert any(scores)
        np.testing.assert_allclose(state.arrays["mean"], mean, rtol=1e-9, atol=1e-12)
        assert (state.arrays["steps"] == 0.1).all()
        np.testing.assert_array_equal(regime.champion(state).genome, state.arrays["mean"])
        assert state.rng == rng_to_json(rng)
    assert measured["score/best"] == max(map(abs, scores))
    assert measured["score/mean"] == 0


def test_sep_cma_es_continues_like_the_librarys_own_instance():
    regime = replace(STRATEGY, strategy="sep-cma-es", pairs=4, sigma=0.1)
    states, _ = stepped(regime, 4, seed=7)
    rng = np.random.default_rng(7)
    mean = rng.uniform(-0.2, 0.2, 1742)
    live = SepCMA(mean.copy(), 0.1, population_size=8)
    for state in states:
        live.reseed_rng(int(rng.integers(2**32)))
        mean = live.mean.copy()
        moves = [live.ask() - mean for _ in range(4)]
        cards = rng.choice(TWO_MOVE, 4)
        solutions = []
        for move, card in zip(moves, cards, strict=True):
            score = duel(mean + move, mean - move, card, DrawRules(30))
            solutions += [(mean + move, -score), (mean - move, score)]
        live.tell(solutions)
        np.testing.assert_array_equal(state.arrays["mean"], live.mean)
    assert not np.array_equal(states[-1].arrays["mean"], states[0].arrays["mean"])
    assert len(set(states[-1].arrays["steps"].tolist())) > 1000  # a step size of its own each
