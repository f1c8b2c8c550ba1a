"""Individual and social learning against plain Python, and their invariants."""

import csv
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.blondie.architecture import BLONDIE_1999, decode
from agents.continual.pool import load_pool
from agents.match import MatchGame, play_game
from agents.match_kernel import DRAW, Result
from agents.search.player import AlphaBeta
from agents.weights import WeightsMetadata
from checkers_env.movegen import BLACK, WHITE, Position
from checkers_env.state import MOVE_LIMIT, NO_PIECES
from tests.training.regimes.test_coevolution import (
    draw_offspring,
    run_generations,
    winner_on_a_board,
)
from training.evolution.game_runner import open_game_runner
from training.evolution.state import Population
from training.regimes.social_learning import (
    OWN,
    POOL_FILE,
    POOL_TABLE,
    SocialLearning,
    SocialPool,
    normalise,
)
from training.trainer.loop import RunConfig, begin, resume, train

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
        self.happened = Counter()

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
        self.happened["ties"] += len(winners) > 1
        winners = winners[: self.regime.pool_limit or None]
        raised = {winner.source.number for winner in winners if self.in_pool(winner)}
        for entry in self.pool:
            if entry.number in raised:
                self.happened["raised"] += 1
                entry.score = entry.score * 2 if self.regime.doubling else entry.score + 1
        for winner in [winner for winner in winners if not self.in_pool(winner)]:
            winner.source = Entry(winner, self.published, self.generation)
            self.pool.append(winner.source)
            self.published += 1
        while self.regime.pool_limit and len(self.pool) > self.regime.pool_limit:
            self.happened["dropped"] += 1
            del self.pool[0]

    def learn(self):
        least, most, new = min(self.scores), max(self.scores), []
        for member, score in enumerate(self.scores):
            if score == most or (score - least) / (most - least) >= self.regime.satisfied:
                self.happened["satisfied"] += score < most
                continue
            choice = self.rng.integers(3)
            self.happened[("copied", "restarted", "stayed")[choice]] += 1
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
    pool, sources = SocialPool.from_arrays(state.arrays), state.arrays["sources"]
    assert list(sources) == [
        player.source.number if player.source else OWN for player in plain.players
    ]
    for name in ("score", "reused", "generation"):
        expected = [getattr(entry, name) for entry in plain.pool]
        assert list(getattr(pool, name if name == "reused" else f"{name}s")) == expected
    assert list(pool.names) == [entry.number for entry in plain.pool]
    assert pool.strategies.size == len(plain.pool)
    for row, entry in enumerate(plain.pool):
        np.testing.assert_array_equal(pool.strategies.genomes[row], entry.values[0])
        np.testing.assert_array_equal(pool.strategies.steps[row], entry.values[1])
        assert pool.strategies.kings[row] == entry.values[2]
    assert state.generation == plain.generation
    assert list(state.scores) == plain.scores


def fix_scores(monkeypatch, scores):
    """Give every tournament these scores, which then needs no games."""
    ended = np.array(scores, np.float64), {}
    monkeypatch.setattr(SocialLearning, "tournament", lambda *arguments: (ended[0], dict(ended[1])))


def after_social_learning(regime, seed=0, generation=2):
    """Return the states before and after a round of social learning."""
    before = replace(regime.init(seed), generation=generation)
    return before, regime.step(before, None)[0]


def rows_of(population, others):
    """Return the row of each member among the others; None if it is not there."""
    places = {genome.tobytes(): row for row, genome in enumerate(others.genomes)}
    return [places.get(genome.tobytes()) for genome in population.genomes]


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
        state, _ = regime.step(state, runner)
        plain.step()
        assert_agree(state, plain)


def test_random_results_reach_every_branch():
    happened = Counter()
    for seed in range(4):
        lots = Lottery(seed)
        regime = replace(SMALL, pool_limit=2, satisfied=0.5)
        plain = Plain(regime, seed, lambda played, lots=lots: lots.winners(len(played)))
        for _ in range(GENERATIONS):
            plain.step()
        happened += plain.happened
    expected = {"ties", "raised", "dropped", "satisfied", "copied", "restarted", "stayed"}
    assert {name for name, count in happened.items() if count > 1} == expected


def test_generations_of_real_games_equal_plain_python():
    def winners(played):
        for pair in played:
            agents = [
                PlayerAgent("", AlphaBeta(decode(BLONDIE_1999, genome, king), 1, False, True))
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
    assert plain.happened["copied"] + plain.happened["restarted"]


def test_first_population_is_twice_the_parents_with_an_empty_pool():
    state = SMALL.init(7)
    genomes = np.random.default_rng(7).uniform(-0.2, 0.2, (MEMBERS, SIZE))
    np.testing.assert_array_equal(state.population.genomes, genomes)
    assert np.all(state.population.steps == 0.05)
    pool, sources = SocialPool.from_arrays(state.arrays), state.arrays["sources"]
    assert pool.strategies.genomes.shape == pool.strategies.steps.shape == (0, SIZE)
    assert [len(column) for column in list(vars(pool).values())[1:]] == [0] * 4
    assert list(sources) == [OWN] * MEMBERS


@pytest.mark.parametrize(
    ("generation", "pool_size", "survivors"),
    [(1, 0, 3), (2, 2, 3), (3, 2, 6), (4, 2, 3), (5, 0, 3), (6, 2, 6)],
)
def test_generation_number_selects_the_kind_of_learning(
    monkeypatch, generation, pool_size, survivors
):
    fix_scores(monkeypatch, [-3, 5, 4.9, 5, 4.8, 4.7])
    before = replace(SMALL.init(0), generation=generation - 1)
    after, measured = replace(SMALL, satisfied=0.0).step(before, None)
    assert (
        measured["pool/size"] == SocialPool.from_arrays(after.arrays).strategies.size == pool_size
    )
    stayed = [row for row in rows_of(after.population, before.population) if row is not None]
    assert stayed in ([1, 3, 2, 4, 5, 0][:survivors], [3, 1, 2, 4, 5, 0][:survivors])
    assert after.population.size == MEMBERS


@pytest.mark.parametrize("score", [0.0, -14.0, 1 / 3])
@pytest.mark.parametrize(("generation", "keep"), [(3, 6), (2, 3)])
def test_with_equal_scores_all_publish_and_are_satisfied(monkeypatch, score, generation, keep):
    fix_scores(monkeypatch, [score] * MEMBERS)
    before, after = after_social_learning(SMALL, generation=generation - 1)
    pool, sources = SocialPool.from_arrays(after.arrays), after.arrays["sources"]
    rows = rows_of(pool.strategies, before.population)
    assert sorted(rows) == list(range(MEMBERS))
    assert rows_of(after.population, before.population)[:keep] == rows[:keep]
    assert list(sources) == [*range(keep), *[OWN] * (MEMBERS - keep)]
    assert list(pool.scores) == [1.0] * MEMBERS
    assert not np.any(pool.reused)
    if keep == MEMBERS:
        again = SMALL.step(replace(after, generation=generation + 2), None)[0]
        assert list(SocialPool.from_arrays(again.arrays).scores) == [2.0] * MEMBERS


def test_members_above_the_threshold_are_satisfied(monkeypatch):
    fix_scores(monkeypatch, [10, 9, 8.999, 0, 0, 0])
    changed = Counter()
    for seed in range(60):
        before, after = after_social_learning(SMALL, seed)
        rows = rows_of(after.population, before.population)
        changed.update(member for member in range(MEMBERS) if member not in rows)
        assert rows[:2] == [0, 1]
    assert set(changed) == {2, 3, 4, 5}


def test_dissatisfied_members_copy_restart_or_stay_with_equal_probability():
    rng = np.random.default_rng(3)
    worths, members, rounds = np.array([1.0, 2.0, 5.0]), 30, 300
    regime = replace(SMALL, parents=members // 2, step_size=0.07, king=2.5)
    encoding = regime.encoding({})
    players = regime.random_members(encoding, members, rng)
    strategies = Population(*(rng.random(shape) for shape in ((3, SIZE), (3, SIZE), (3,))))
    pool = SocialPool(strategies, np.array([4.0, 6.0, 7.0]), worths, np.zeros(3), np.zeros(3))
    untouched = asdict(players), asdict(pool)
    done, spun = Counter(), Counter()
    for _ in range(rounds):
        sources = np.arange(members) + 10.0
        scores = np.append(1.0, np.zeros(members - 1))  # the first is satisfied
        after, sources, scores, used = regime.learn(encoding, players, sources, scores, pool, rng)
        assert rows_of(after, players)[0] == 0
        kept, copied = rows_of(after, players), rows_of(after, strategies)
        for member in range(1, members):
            if copied[member] is not None:
                done["copied"] += 1
                spun[copied[member]] += 1
                assert sources[member] == pool.names[copied[member]]
                source = strategies.steps[copied[member]], strategies.kings[copied[member]]
                np.testing.assert_equal((after.steps[member], after.kings[member]), source)
            elif kept[member] is not None:
                done["stayed"] += 1
                assert (kept[member], sources[member]) == (member, member + 10)
            else:
                done["restarted"] += 1
                assert sources[member] == OWN
                assert np.all(after.steps[member] == 0.07)
                assert np.all(np.abs(after.genomes[member]) <= 0.2)
                assert after.kings[member] == 2.5
        reuses = Counter(row for row in copied if row is not None)
        assert list(used.reused) == [reuses[row] for row in range(3)]
        np.testing.assert_array_equal(used.scores, worths)
    for count in done.values():
        expected = rounds * (members - 1) / 3
        assert abs(count - expected) < ERRORS * np.sqrt(expected * 2 / 3)
    for row, share in enumerate(worths / worths.sum()):
        error = np.sqrt(share * (1 - share) * done["copied"])
        assert abs(spun[row] - share * done["copied"]) < ERRORS * error
    np.testing.assert_equal((asdict(players), asdict(pool)), untouched)


def test_any_of_equal_winners_can_be_alone_in_the_pool(monkeypatch):
    fix_scores(monkeypatch, [0, 1, 1, -4, 1, 0])
    rounds, found = 600, Counter()
    for seed in range(rounds):
        before, after = after_social_learning(replace(SMALL, pool_limit=1), seed, generation=1)
        [row] = rows_of(SocialPool.from_arrays(after.arrays).strategies, before.population)
        found[row] += 1
    assert set(found) == {1, 2, 4}
    for count in found.values():
        assert abs(count - rounds / 3) < ERRORS * np.sqrt(rounds * 2 / 9)


@pytest.mark.parametrize("generation", [2, 3])
def test_only_members_whose_strategy_is_in_the_pool_are_counted(monkeypatch, generation):
    fix_scores(monkeypatch, [0] * MEMBERS)
    before = replace(SMALL.init(0), generation=generation - 1)
    after, measured = replace(SMALL, pool_limit=1).step(before, None)
    pool = SocialPool.from_arrays(after.arrays).strategies
    using = sum(row is not None for row in rows_of(after.population, pool))
    assert measured["pool/users"] == using


@pytest.mark.parametrize("doubling", [False, True])
def test_strategy_that_wins_again_is_raised_once(monkeypatch, doubling):
    """Members 0 and 1 play one strategy of the pool, member 2 its own, 3 a dropped one."""
    regime = replace(SMALL, doubling=doubling)
    players = regime.init(0).population
    pool = SocialPool(players.pick([0, 5]), *np.array([[3.0, 8], [4, 9], [2, 0], [1, 2]]))
    won = np.array([True, True, True, True, False, False])
    sources = np.array([3.0, 3, OWN, 1, OWN, 8])
    after, then = regime.publish(pool, players, sources, won, 12)
    assert list(after.scores) == [8.0 if doubling else 5.0, 9.0, 1.0, 1.0]
    assert list(after.names) == [3, 8, 9, 10]
    assert list(after.generations) == [1, 2, 12, 12]
    assert list(after.reused) == [2, 0, 0, 0]
    assert rows_of(after.strategies, players) == [0, 5, 2, 3]
    assert list(then) == [3, 3, 9, 10, OWN, 8]
    assert list(sources) == [3.0, 3, OWN, 1, OWN, 8]


def test_scores_are_normalised_by_equation_5_1():
    scores = np.array([-10.0, 5, -2.5, 0])
    assert list(normalise(scores)) == [0, 1, 0.5, 10 / 15]
    assert list(normalise(np.full(4, -2.0))) == [1.0] * 4
    assert list(scores) == [-10, 5, -2.5, 0]


def test_pool_round_trips_through_its_arrays():
    for generations in (0, 6):
        state = run_generations(SMALL, generations, 4)[-1][0] if generations else SMALL.init(0)
        pool = SocialPool.from_arrays(state.arrays)
        again = SocialPool.from_arrays(pool.to_arrays())
        np.testing.assert_equal(asdict(again), asdict(pool))
        assert all(array.dtype == np.float64 for array in state.arrays.values())


def test_run_saves_its_pool_as_a_table_and_resumes_with_it(tmp_path):
    plans = [
        RunConfig("c10", SMALL, generations, 4, tmp_path / name, threads, curve_every=0)
        for name, generations, threads in (("whole", 7, 1), ("parts", 3, 1), ("parts", 7, 2))
    ]
    whole = train(plans[0], begin(plans[0]), lambda *progress: None)
    train(plans[1], begin(plans[1]), lambda *progress: None)
    parts = train(plans[2], resume(plans[2]), lambda *progress: None)
    np.testing.assert_equal(asdict(parts.state), asdict(whole.state))
    pool = SocialPool.from_arrays(whole.state.arrays)
    tables = [(tmp_path / name / "pool.csv").read_text() for name in ("whole", "parts")]
    assert tables[0] == tables[1]
    header, *rows = csv.reader(tables[0].splitlines())
    assert header == ["player", "generation", "pool score", "reused"]
    columns = [pool.names + 1, pool.generations, pool.scores, pool.reused]
    np.testing.assert_array_equal(np.array(rows, float), np.transpose(columns))
    assert len(rows) > 1
    for name in ("pool/size", "pool/users"):
        assert whole.history[name][1:] == parts.history[name][1:]
    assert whole.history["pool/size"][-1] == len(rows)


def metadata_of(regime, state):
    champion = regime.champion(state)
    return WeightsMetadata(
        champion.architecture, champion.king, "c10", 4, 7, regime.depth, options=champion.options
    )


@pytest.mark.parametrize("network", ["blondie24-1999", "weighted-pieces", "walks-3"])
def test_pool_is_saved_as_a_file_that_plays(tmp_path, network):
    regime = replace(SMALL, network=network, weight=0.3)
    state, _ = run_generations(regime, 7, 4)[-1]
    pool, path = SocialPool.from_arrays(state.arrays), tmp_path / POOL_FILE
    files = regime.files(state, metadata_of(regime, state))
    assert set(files) == {POOL_FILE, POOL_TABLE}
    path.write_bytes(files[POOL_FILE])
    there = load_pool(path)
    rows = (there.numbers - 1 - int(pool.names[0])).tolist()
    assert sorted(rows) == list(range(there.size)) == list(range(len(pool.names)))
    assert rows == sorted(rows, key=lambda row: (-pool.scores[row], -row))
    for name in ("scores", "generations"):
        assert list(getattr(there, name)) == [getattr(pool, name)[row] for row in rows]
    expected = regime.players(regime.encoding(state.arrays), pool.strategies.pick(rows))
    for row, player in enumerate(expected):
        games = [play_game(one, one).paths for one in (there.player(row), player)]
        assert games[0] == games[1]
        assert there.player(row)[1:] == player[1:]


def test_empty_pool_has_no_file():
    state = SMALL.init(0)
    assert set(SMALL.files(state, metadata_of(SMALL, state))) == {POOL_TABLE}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("publish_every", 0),
        ("social_every", 0),
        ("social_every", -1),
        ("pool_limit", -1),
        ("satisfied", -0.1),
        ("satisfied", 1.01),
        ("satisfied", float("nan")),
        ("parents", 0),
        ("pairing", "swiss"),
    ],
)
def test_invalid_constants_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name) as raised:
        replace(SMALL, **{name: value})
    assert str(value) in str(raised.value)
