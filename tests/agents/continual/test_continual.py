"""The continual player: selection rules, record and pool file."""

import json
import multiprocessing
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import agents
from agents.agent import PlayerAgent
from agents.continual import agent as module
from agents.continual.agent import (
    RULES,
    ContinualAgent,
    GameEntry,
    load_record,
    make_continual,
    random_other,
    save_record,
)
from agents.continual.pool import ARRAYS, load_pool, rank_strategies
from agents.weights import HEADER, WeightsMetadata, save_weights
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE

SIZE = 1742
METADATA = WeightsMetadata("blondie24-1999", 2.0, "c10", 3, 40, depth=1, extra={"score": 4.0})
DIGEST = "0" * 64
WIN, DRAW, LOSS = 1.0, 0.5, 0.0


def pool_of(scores, seed=0, **columns):
    """Return a pool of random networks with these scores, in the order of publication."""
    rng, count = np.random.default_rng(seed), len(scores)
    given = {
        "genomes": rng.normal(0, 0.3, (count, SIZE)),
        "kings": 1 + rng.random(count),
        "scores": scores,
        "generations": np.arange(count) * 5 + 5,
        "numbers": np.arange(count) + 1,
    }
    return rank_strategies(METADATA, **(given | columns))


POOL = pool_of([1, 3, 1, 2, 3])


def final(side, score):
    """Return a final position in which `side` has that score."""
    if score == DRAW:
        return Board("W:WK32:BK1")
    loser = side if score == LOSS else 1 - side
    board = Board.from_position(*((0, 1) if loser == BLACK else (1, 0)), 1, loser)
    assert board.outcome().winner == 1 - loser
    return board


def play(agent, scores, side=BLACK):
    """Play games with these results; return the strategies of the player."""
    used = []
    for score in scores:
        used.append(agent.strategy)
        agent.game_over(final(side, score), side)
    return used


# The pool's file


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8))
def test_strategies_are_sorted_by_score_and_then_latest_first(scores):
    rows = sorted(range(len(scores)), key=lambda row: (-scores[row], -row))
    genomes = np.arange(len(scores))[:, None] * np.ones(SIZE)
    pool = pool_of(scores, genomes=genomes)
    assert pool.genomes[:, 0].tolist() == rows
    assert pool.scores.tolist() == [scores[row] for row in rows]
    assert pool.numbers.tolist() == [row + 1 for row in rows]
    assert pool.generations.tolist() == [5 * row + 5 for row in rows]
    assert (pool.metadata.king, pool.metadata.generation) == (pool.kings[0], pool.generations[0])


def test_saving_round_trips_and_equal_pools_make_equal_files(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(pool_of([1, 3, 1, 2, 3]).content())
    assert paths[0].read_bytes() == paths[1].read_bytes()
    there = load_pool(paths[0])
    assert there.metadata == POOL.metadata
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(there, name), getattr(POOL, name))
        assert getattr(there, name).dtype == getattr(POOL, name).dtype
    assert there.digest() == POOL.digest()


def changed(**changes):
    """Return a writer of pool files with other arrays."""

    def make(path):
        arrays = load_tensors(POOL.content())
        arrays |= {name: change(arrays[name]) for name, change in changes.items()}
        header = {HEADER: json.dumps(vars(POOL.metadata))}
        path.write_bytes(save_tensors(arrays, metadata=header))

    return make


def not_a_number(array):
    array = array.copy()
    array[-1, -1] = np.nan
    return array


DAMAGED = {
    "missing": (lambda path: None, "no weight file"),
    "cut short": (lambda path: path.write_bytes(POOL.content()[:-9]), "not a valid weight file"),
    "a champion": (lambda path: save_weights(path, np.zeros(SIZE), METADATA), "genomes"),
    "fewer scores": (changed(scores=lambda a: a[1:]), r"scores are float64\[4\] for 5 genomes"),
    "whole scores": (changed(scores=lambda a: a.astype(np.int64)), r"scores are int64\[5\]"),
    "nobody": (changed(**{name: lambda a: a[:0] for name in ARRAYS}), "no strategy"),
    "rising scores": (changed(scores=lambda a: a[::-1].copy()), "in descending order"),
    "a king of 6": (changed(kings=lambda a: a + 4), "1 to 5 men"),
    "another's header": (changed(generations=lambda a: a + 1), "header"),
    "another's weights": (changed(genome=lambda a: a + 1), "weights differ from those of its best"),
    "short genomes": (
        changed(genomes=lambda a: a[:, 1:].copy(), genome=lambda a: a[1:].copy()),
        "1741.*1742",
    ),
    "not a number": (changed(genomes=not_a_number), "no numbers"),
}


@pytest.mark.parametrize(("make", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_invalid_pool_file_is_refused_by_name(tmp_path, make, reason):
    path = tmp_path / "bad.safetensors"
    make(path)
    with pytest.raises(ValueError, match=reason) as raised:
        load_pool(path)
    assert "bad.safetensors" in str(raised.value)
    assert "\n" not in str(raised.value)


# The rules


def test_rule_next_cycles_through_the_pool():
    agent = ContinualAgent(POOL)
    assert play(agent, [LOSS] * 7) == [0, 1, 2, 3, 4, 0, 1]
    assert play(agent, [WIN, DRAW, DRAW, LOSS, WIN, LOSS]) == [2, 2, 2, 2, 3, 3]
    assert agent.strategy == 4


def test_rule_random_selects_the_others_with_equal_probability():
    rng, count, steps = np.random.default_rng(1), 3000, Counter()
    for current in rng.integers(POOL.size, size=count).tolist():
        chosen = random_other(current, np.zeros((POOL.size, 3)), rng)
        steps[(chosen - current) % POOL.size] += 1
    assert set(steps) == {1, 2, 3, 4}
    assert max(abs(times - count / 4) for times in steps.values()) < 5 * np.sqrt(count * 3 / 16)


@given(st.lists(st.sampled_from([WIN, DRAW, LOSS, LOSS]), max_size=60))
@example([WIN] + [LOSS] * 8)
@example([DRAW] * 4 + [LOSS] * 12)
def test_rule_best_selects_the_highest_posterior_mean(scores):
    agent, size = ContinualAgent(POOL, rule="best"), POOL.size
    points, games, current = [Fraction(1)] * size, [2] * size, 0
    for score in scores:
        assert agent.strategy == current
        agent.game_over(final(WHITE, score), WHITE)
        points[current] += Fraction(score)
        games[current] += 1
        if score == LOSS:
            means = [won / played for won, played in zip(points, games, strict=True)]
            current = means.index(max(means))
    assert agent.strategy == current


@pytest.mark.parametrize("rule", RULES)
def test_pool_of_one_keeps_its_strategy(rule):
    agent = ContinualAgent(pool_of([1.0]), rule=rule, seed=0)
    assert play(agent, [LOSS] * 5) == [0] * 5


@pytest.mark.parametrize("side", [BLACK, WHITE])
def test_result_is_counted_from_the_players_side(side):
    agent = ContinualAgent(POOL)
    blocked = Board("W:W28:B24,19")  # White has lost
    for board in (final(BLACK, WIN), blocked, Board()):
        agent.game_over(board, side)
    won = 1.0 if side == BLACK else 0.0
    assert [game.score for game in agent.games] == [won, won, 0.5]
    assert [game.side for game in agent.games] == [side] * 3
    with pytest.raises(ValueError, match="side must be"):
        agent.game_over(Board(), 2)


# How it plays


def moves_of(agent, plies=30):
    board, moves = Board(), []
    while board.outcome() is None and board.ply < plies:
        moves.append(str(agent.act(board)))
        board.push(moves[-1])
    return moves


@pytest.mark.parametrize("rule", RULES)
def test_frozen_player_continues_from_a_record_without_changing_it(tmp_path, rule):
    path = tmp_path / "record.json"
    play(ContinualAgent(POOL, path), [LOSS, LOSS, WIN])
    before, twin = path.read_bytes(), ContinualAgent(POOL, path, rule, seed=0, frozen=True)
    assert play(twin, [LOSS, WIN, LOSS, DRAW] * 5) == [2] * 20
    assert path.read_bytes() == before


def test_pool_file_is_an_agent_name(tmp_path):
    pool, record = tmp_path / "pool.safetensors", tmp_path / "record.json"
    pool.write_bytes(POOL.content())
    agent = agents.make(f"continual:{pool}:{record}", depth=2, seed=3, rule="random")
    assert (agent.record, agent.rule, agent.depth) == (record, "random", 2)
    play(agent, [LOSS])
    again = make_continual(pool, record)
    assert again.strategy == agent.strategy != 0
    assert agents.make(f"continual:{pool}").record is None
    with pytest.raises(ValueError, match="cannot be made with"):
        agents.make(f"continual:{pool}", simulations=5)
    assert moves_of(again) == moves_of(PlayerAgent("expected", POOL.player(again.strategy)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "worst"}, "rule must be one of next, random, best, not 'worst'"),
        ({"depth": 2.5}, "depth must be a whole number from 1 to 64, not 2.5"),
        ({"seed": 0.5}, "seed must be a whole number from 0 on, not 0.5"),
        ({"opponent": 7}, "opponent must be a name or None, not 7"),
        ({"record": Path("nowhere", "record.json")}, "folder 'nowhere' does not exist"),
    ],
)
def test_invalid_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ContinualAgent(POOL, **options)
    with pytest.raises(ValueError, match="pool is empty"):
        pool_of([])


# The record


@pytest.mark.parametrize("rule", RULES)
def test_agent_restarted_after_any_game_continues_identically(tmp_path, rule):
    rng = np.random.default_rng(5)
    scores = rng.choice([WIN, DRAW, LOSS], 30).tolist()
    straight = ContinualAgent(POOL, rule=rule, seed=2, opponent="x")
    expected, path, used = play(straight, scores), tmp_path / "record.json", []
    for score in scores:
        reborn = ContinualAgent(POOL, path, rule, "x", seed=2)
        used += play(reborn, [score])
        assert ContinualAgent(POOL, path, rule, "x").games == reborn.games
    assert used == expected
    assert reborn.games == straight.games
    assert len(set(used)) > 2


def test_each_opponent_has_its_own_record(tmp_path):
    path = tmp_path / "record.json"

    def meet(opponent, scores):
        return play(ContinualAgent(POOL, path, opponent=opponent), scores)

    assert meet("anna", [LOSS, LOSS, WIN]) == [0, 1, 2]
    assert meet("bert", [LOSS, WIN]) == [0, 1]
    assert meet("anna", [DRAW, LOSS]) == [2, 2]
    assert meet("bert", [WIN]) == [1]
    assert meet(None, [LOSS, WIN]) == [1, 2]  # goes on where the last game of all has ended
    assert meet("anna", [WIN]) == [3]
    games = load_record(path, POOL.digest(), POOL.size)
    assert [game.opponent for game in games[:4]] == ["anna"] * 3 + ["bert"]
    best = ContinualAgent(POOL, path, "best", "bert")
    assert [game.score for game in best.relevant_games] == [LOSS, WIN, WIN]


def test_failed_write_leaves_the_record_unchanged(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    agent = ContinualAgent(POOL, path)
    play(agent, [LOSS])
    before, games = path.read_bytes(), agent.games

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_atomically", Mock(side_effect=OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            play(agent, [LOSS])
    assert (agent.strategy, agent.games, path.read_bytes()) == (1, games, before)
    assert play(agent, [LOSS, WIN]) == [1, 2]


def lose_often(path, times):
    agent = ContinualAgent(POOL, path)
    play(agent, [LOSS] * times)


def test_two_processes_lose_none_of_each_others_games(tmp_path):
    path, times = tmp_path / "record.json", 40
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=lose_often, args=(path, times)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    games = load_record(path, POOL.digest(), POOL.size)
    assert len(games) == 2 * times
    assert all(game.then == (game.strategy + 1) % POOL.size for game in games)


def record(**changes):
    return {"format": 1, "pool": DIGEST, "games": [], **changes}


def game(**changes):
    fields = GameEntry("anna", 1, BLACK, LOSS, 2)._asdict() | changes
    return record(games=[{name: value for name, value in fields.items() if value != "missing"}])


BAD_RECORDS = {
    "empty": ("", "is not a record"),
    "not UTF-8": (b"\xff\xfe{}", "is not a record"),
    "deep": ("[" * 100_000, "is not a record"),
    "a list": ([], "is not a record"),
    "newer": (record(format=2), "format is 2, not 1"),
    "another pool": (record(pool="1" * 64), "belongs to another pool"),
    "a field too many": (game(colour=1), "colour"),
    "a field too few": (game(then="missing"), "then"),
    "strategy 5 of 5": (game(strategy=5), "not a game of one of 5 strategies"),
    "side 2": (game(side=2), "not a game"),
    "score 0.3": (game(score=0.3), "not a game"),
}


@pytest.mark.parametrize(("content", "reason"), BAD_RECORDS.values(), ids=BAD_RECORDS)
def test_invalid_record_is_refused_by_name(tmp_path, content, reason):
    path = tmp_path / "bad.json"
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content)).encode()
    path.write_bytes(content)
    with pytest.raises(ValueError, match=reason) as raised:
        load_record(path, DIGEST, 5)
    assert "bad.json" in str(raised.value)
    assert path.read_bytes() == content


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=10,
)
ROWS = st.integers(0, 4)
GAMES = st.builds(
    GameEntry,
    st.none() | st.text(),
    ROWS,
    st.sampled_from([BLACK, WHITE]),
    st.sampled_from([WIN, DRAW, LOSS]),
    ROWS,
)


@given(games=st.lists(GAMES, max_size=6))
def test_any_record_of_games_round_trips(tmp_path_factory, games):
    path = tmp_path_factory.mktemp("records") / "any.json"
    save_record(path, DIGEST, games)
    assert load_record(path, DIGEST, 5) == tuple(games)


@given(
    content=st.builds(json.dumps, ANY)
    | st.builds(lambda games: json.dumps(record(games=games)), ANY)
    | st.builds(
        lambda name, value: json.dumps(game(**{name: value})),
        st.sampled_from(GameEntry._fields),
        ANY,
    )
    | st.text()
)
def test_any_text_is_a_record_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("records") / "any.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with suppress(ValueError):
        games = load_record(path, DIGEST, 5)
        assert all(game.strategy in range(5) and game.score in (0, 0.5, 1) for game in games)
