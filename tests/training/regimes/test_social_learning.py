"""Individual and social learning against plain Python, and their invariants."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.blondie.architecture import BLONDIE_1999, decode
from agents.continual.pool import load_pool
from agents.match import MatchGame, play_game
from agents.match_kernel import DRAW, Result
from agents.search.player import AlphaBeta
from agents.search.root_order import FIRST
from checkers_env.movegen import BLACK, WHITE, Position
from checkers_env.state import MOVE_LIMIT, NO_PIECES
from tests.training.regimes.test_coevolution import (
    draw_offspring,
    run_generations,
    winner_on_a_board,
)
from training.evolution.game_runner import open_game_runner
from training.regimes.social_learning import (
    OWN,
    POOL,
    POOL_FILE,
    POOL_TABLE,
    SocialLearning,
    SocialPool,
)
from training.trainer.loop import RunConfig, begin, train

SMALL = SocialLearning(
    "blondie24-1999",
    parents=3,
    opponents=2,
    depth=1,
    max_moves=40,
    king=2.0,
    king_rule="lognormal",
    publish_every=2,
    social_every=3,
)
WEIGHTS, SIZE, MEMBERS = 1741, 1742, 6
GENERATIONS, ERRORS = 12, 5


class Lottery:
    """Game runner with random results."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def winners(self, count):
        return self.rng.choice([DRAW, BLACK, WHITE], size=count).tolist()

    def play(self, fixtures, rules):
        results = [
            Result(winner, MOVE_LIMIT if winner == DRAW else NO_PIECES, 60)
            for winner in self.winners(len(fixtures))
        ]
        return [MatchGame(result, Position(0, 0, 0, BLACK), ()) for result in results]


class Entry:
    """Strategy in the pool of plain Python."""

    def __init__(self, player, number, generation):
        self.values = player.values
        self.number, self.generation = number, generation
        self.score, self.reused = 1.0, 0


class Player:
    """Player of plain Python: weights, step sizes and K, and its entry in the pool."""

    def __init__(self, values, source=None):
        self.values, self.source = values, source


class Plain:
    """Algorithm 5.2, a player at a time; `winners` plays (black, white) pairs of players."""

    def __init__(self, regime, seed, winners):
        self.regime, self.rng, self.winners = regime, np.random.default_rng(seed), winners
        self.players = self.newcomers(2 * regime.parents)
        self.pool, self.published, self.generation = [], 0, 0

    def newcomers(self, count):
        genomes = self.rng.uniform(-0.2, 0.2, (count, SIZE))
        return [Player((genome, np.full(SIZE, 0.05), 2.0)) for genome in genomes]

    def pairs(self):
        draws = self.rng.integers(MEMBERS - 1, size=(MEMBERS, self.regime.opponents))
        for black in range(MEMBERS):
            others = [member for member in range(MEMBERS) if member != black]
            for draw in draws[black]:
                yield black, others[draw]

    def step(self):
        self.generation += 1
        pairs = list(self.pairs())
        played = [(self.players[black], self.players[white]) for black, white in pairs]
        scores = [0] * MEMBERS
        for (black, white), winner in zip(pairs, self.winners(played), strict=True):
            if winner in (BLACK, WHITE):
                scores[black] += 1 if winner == BLACK else -2
                scores[white] += 1 if winner == WHITE else -2
        lots = self.rng.random(MEMBERS)
        order = sorted(range(MEMBERS), key=lambda member: (-scores[member], lots[member]))
        self.players = [self.players[member] for member in order]
        self.scores = [scores[member] for member in order]
        winners = [
            player
            for player, score in zip(self.players, self.scores, strict=True)
            if score == max(scores)
        ]
        if self.generation % self.regime.social_every == 0:
            self.publish(winners)
            self.learn()
            return
        if self.generation % self.regime.publish_every == 0:
            self.publish(winners)
        self.evolve()

    def in_pool(self, player):
        return any(entry is player.source for entry in self.pool)

    def publish(self, winners):
        winners = winners[: self.regime.pool_limit or None]
        raised = {winner.source.number for winner in winners if self.in_pool(winner)}
        for entry in self.pool:
            if entry.number in raised:
                entry.score = entry.score * 2 if self.regime.doubling else entry.score + 1
        for winner in [winner for winner in winners if not self.in_pool(winner)]:
            winner.source = Entry(winner, self.published, self.generation)
            self.pool.append(winner.source)
            self.published += 1
        while self.regime.pool_limit and len(self.pool) > self.regime.pool_limit:
            del self.pool[0]

    def learn(self):
        least, most, new = min(self.scores), max(self.scores), []
        for member, score in enumerate(self.scores):
            if score == most or (score - least) / (most - least) >= self.regime.satisfied:
                continue
            choice = self.rng.integers(3)
            if choice == 0:
                entry = self.spun()
                entry.reused += 1
                self.players[member] = Player(entry.values, entry)
            elif choice == 1:
                self.players[member] = self.newcomers(1)[0]
            if choice != 2:
                new.append(member)
        for member in new:
            self.scores[member] = 0

    def spun(self):
        """Return the place where the roulette wheel stops."""
        stop = self.rng.random() * sum(entry.score for entry in self.pool)
        for entry in self.pool:
            stop -= entry.score
            if stop < 0:
                return entry
        raise AssertionError("the wheel turned too far")

    def evolve(self):
        parents = self.players[: self.regime.parents]
        columns = [np.array(column) for column in zip(*(p.values for p in parents), strict=True)]
        genomes, steps, kings = draw_offspring(columns, "lognormal", self.rng, WEIGHTS)
        offspring = zip(genomes, steps, kings, strict=True)
        self.players = parents + [Player(values) for values in offspring]
        self.scores[self.regime.parents :] = [0] * self.regime.parents


def assert_agree(state, plain):
    """Compare the whole state of a run with plain Python's."""
    for name, place in (("genomes", 0), ("steps", 1), ("kings", 2)):
        players = [player.values[place] for player in plain.players]
        np.testing.assert_array_equal(getattr(state.population, name), players)
    pool, sources = SocialPool.from_arrays(state.arrays, POOL), state.arrays["sources"]
    assert list(sources) == [
        player.source.number if player.source else OWN for player in plain.players
    ]
    for name in ("score", "reused", "generation"):
        expected = [getattr(entry, name) for entry in plain.pool]
        assert list(getattr(pool, name if name == "reused" else f"{name}s")) == expected
    assert list(pool.names) == [entry.number for entry in plain.pool]
    assert pool.size == len(plain.pool)
    for row, entry in enumerate(plain.pool):
        np.testing.assert_array_equal(pool.genomes[row], entry.values[0])
        np.testing.assert_array_equal(pool.steps[row], entry.values[1])
        assert pool.kings[row] == entry.values[2]
    assert state.generation == plain.generation
    assert list(state.scores) == plain.scores


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"doubling": True},
        {"pool_limit": 1},
        {"pool_limit": 2, "doubling": True},
        {"satisfied": 0.0},
        {"satisfied": 0.5},
        {"satisfied": 1.0},
        {"publish_every": 1, "social_every": 1},
        {"publish_every": 1, "social_every": 2},
        {"publish_every": 5, "social_every": 2},
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_generations_with_random_results_equal_plain_python(changes, seed):
    regime, runner, lots = replace(SMALL, **changes), Lottery(seed), Lottery(seed)
    plain = Plain(regime, seed, lambda played: lots.winners(len(played)))
    state = regime.init(seed)
    for _ in range(GENERATIONS):
        state, measured = regime.step(state, runner)
        plain.step()
        assert_agree(state, plain)
        assert measured["pool/size"] == len(plain.pool)
        assert measured["pool/users"] == sum(map(plain.in_pool, plain.players))


def test_generations_of_real_games_equal_plain_python():
    def winners(played):
        for pair in played:
            agents = [
                PlayerAgent("", AlphaBeta(decode(BLONDIE_1999, genome, king), 1, FIRST, True))
                for genome, _, king in (player.values for player in pair)
            ]
            yield winner_on_a_board(*agents, SMALL.max_moves)[0]

    plain, state = Plain(SMALL, 4, winners), SMALL.init(4)
    with open_game_runner(1) as runner:
        for _ in range(6):
            state, _ = SMALL.step(state, runner)
            plain.step()
            assert_agree(state, plain)
    assert plain.pool


def test_run_saves_its_pool_as_a_table(tmp_path):
    plan = RunConfig("c10", SMALL, 7, 4, tmp_path, curve_every=0)
    run = train(plan, begin(plan), lambda *progress: None)
    pool = SocialPool.from_arrays(run.state.arrays, POOL)
    header, *rows = csv.reader((tmp_path / "pool.csv").read_text().splitlines())
    assert header == ["player", "generation", "pool score", "reused"]
    columns = [pool.names + 1, pool.generations, pool.scores, pool.reused]
    np.testing.assert_array_equal(np.array(rows, float), np.transpose(columns))
    assert len(rows) > 1
    assert run.history["pool/size"][-1] == len(rows)


@pytest.mark.parametrize("network", ["blondie24-1999", "weighted-pieces", "walks-3"])
def test_pool_is_saved_as_a_file_that_plays(tmp_path, network):
    regime = replace(SMALL, network=network, weight=0.3)
    state, _ = run_generations(regime, 7, 4)[-1]
    pool, path = SocialPool.from_arrays(state.arrays, POOL), tmp_path / POOL_FILE
    files = regime.files(state, regime.champion(state).metadata)
    assert set(files) == {POOL_FILE, POOL_TABLE}
    path.write_bytes(files[POOL_FILE])
    there = load_pool(path)
    rows = (there.numbers - 1 - int(pool.names[0])).tolist()
    assert sorted(rows) == list(range(there.size)) == list(range(len(pool.names)))
    assert rows == sorted(rows, key=lambda row: (-pool.scores[row], -row))
    for name in ("scores", "generations"):
        assert list(getattr(there, name)) == [getattr(pool, name)[row] for row in rows]
    expected = regime.players(regime.encoding(state.arrays), pool.pick(rows))
    for row, player in enumerate(expected):
        games = [play_game(one, one).paths for one in (there.player(row), player)]
        assert games[0] == games[1]
        assert there.player(row)[1:] == player[1:]


def test_empty_pool_has_no_file():
    state = SMALL.init(0)
    assert set(SMALL.files(state, SMALL.champion(state).metadata)) == {POOL_TABLE}
