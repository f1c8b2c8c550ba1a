"""The continual player's measurement: games, statistics, errors and resumed runs."""

import itertools
import json
import math
import re
import shlex
import signal
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.stats import t as student

import agents
from agents.continual.pool import load_pool
from agents.match import play_game
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from tests.agents.continual.test_continual import pool_of
from tests.training.commands import SECONDS, command_of, ended, recorded_processes, start, wait_for
from training import continual
from training.continual import GamePair, difference, fixtures, switches, verdict

SCRIPT = Path(continual.__file__)


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line in this process; return its exit status and output."""
    return command_of(continual, monkeypatch, capsys)


@pytest.fixture
def pool(tmp_path):
    path = tmp_path / "pool.safetensors"
    path.write_bytes(pool_of([1, 3, 1, 2, 3]).content())
    return path


def words(pool, *more):
    return [pool, "--against", "material", "--depth", 1, *more]


def measured(path):
    fields = json.loads(path.read_text())
    return fields, [GamePair(**pair) for pair in fields["pairs"]]


def replayed(pool, row, opponent, pair, luck):
    """Return the score of a strategy in a game played by the kernel."""
    seats = (pool.player(row, 1), opponent)
    seats = seats if pair.side == BLACK else seats[::-1]
    rng = np.random.default_rng(luck)
    winner = play_game(*seats, opening=pair.opening, rng=rng).result.winner
    return 0.5 if winner not in (BLACK, WHITE) else float(winner == pair.side)


@pytest.mark.parametrize("against", ["material", "pool:3"])
def test_every_game_equals_kernel_games_and_the_rule_in_plain_python(
    command, pool, tmp_path, against
):
    out = tmp_path / "out.json"
    options = ["--against", against, "--depth", 1, "--seed", 5, "--games", 30, "--out", out]
    said = ended(command(pool, *options))
    strategies, (fields, pairs) = load_pool(pool), measured(out)
    other = strategies.player(3, 1) if ":" in against else agents.make(against, depth=1).player
    row, changes = 0, []
    for number, (pair, fixture) in enumerate(zip(pairs, fixtures(5, 30), strict=True)):
        assert (pair.opening, pair.side) == (fixture.opening, fixture.black)
        assert pair.strategy == row
        assert pair.score == replayed(strategies, row, other, pair, (5, number, 1))
        assert pair.twin == replayed(strategies, 0, other, pair, (5, number, 1))
        if pair.score == 0:
            changes.append([number + 1, row, (row + 1) % 5])
            row = (row + 1) % 5
    assert fields["switches"] == [change for change in changes if change[0] < 30]
    assert len(pairs) == 30
    assert len(changes) >= {"material": 4, "pool:3": 1}[against]
    for name in ("score", "twin"):
        counts = Counter(getattr(pair, name) for pair in pairs)
        assert f"{counts[1.0]}-{counts[0.5]}-{counts[0.0]}" in said


def test_pack_has_each_opening_with_each_colour_once_in_random_order():
    games = fixtures(3, 258)
    packs = [games[first : first + 86] for first in (0, 86, 172)]
    for pack in packs:
        played = {(game.opening, game.black) for game in pack}
        assert played == set(itertools.product(TWO_MOVE, (0, 1)))
        assert [game.opening for game in pack[::2]] == [game.opening for game in pack[1::2]]
    assert len({tuple(game.opening for game in pack) for pack in packs}) == 3
    assert [game.number for game in games] == list(range(258))
    assert fixtures(3, 40) == games[:40] != fixtures(4, 40)


# Going on


def test_more_games_continue_the_record_and_other_conditions_start_anew(command, pool, tmp_path):
    out, record = tmp_path / "out.json", tmp_path / "record.json"
    options = ["--record", record, "--out", out]
    command(*words(pool, "--games", 20, "--out", tmp_path / "straight.json"))
    straight = measured(tmp_path / "straight.json")
    for games in (6, 20):
        assert command(*words(pool, "--games", games, *options))[0] == 0
        assert len(json.loads(record.read_text())["games"]) == games
    assert measured(out)[1] == straight[1]
    before = record.read_bytes()
    assert command(*words(pool, "--games", 20, *options))[0] == 0
    assert record.read_bytes() == before
    for other in (["--seed", 1], ["--rule", "best"], ["--depth", 2]):
        assert command(*words(pool, "--games", 3, *options, *other))[0] == 0
        assert measured(out)[1][0].strategy == 0
    assert len(json.loads(record.read_text())["games"]) == 29
    assert command(*words(pool, "--games", 20, *options))[0] == 0
    assert measured(out)[1] == straight[1]


def test_stopped_measurement_resumes_to_the_same_result(command, pool, tmp_path):
    out, record = tmp_path / "out.json", tmp_path / "out.record.json"
    options = words(pool, "--rule", "random", "--out", out, "--games", 100_000)
    process = start(sys.executable, SCRIPT, *options)
    try:
        wait_for(record.exists, process)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    games = len(json.loads(record.read_text())["games"])
    assert process.returncode == 130
    assert "Traceback" not in said
    advice = shlex.split(said.splitlines()[-1].split(": ")[-1])
    assert advice[1:] == [str(SCRIPT), *map(str, options)]
    assert repr(str(record)) in said
    assert not out.exists()
    found = []
    for path in (out, tmp_path / "straight.json"):
        few = words(pool, "--rule", "random", "--out", path, "--games", games + 5)
        assert command(*few)[0] == 0
        found.append(measured(path)[1])
    assert found[0] == found[1]


def test_without_a_record_nothing_is_saved(command, pool, tmp_path, monkeypatch):
    monkeypatch.setattr(continual, "play", Mock(side_effect=KeyboardInterrupt))
    said = ended(command(*words(pool)), 130)
    assert "Start again with the same command" in said
    assert list(tmp_path.iterdir()) == [pool]


# What it refuses


FAULTY = """
class Raises:
    def act(self, board):
        raise RuntimeError('oh')
"""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--against nobody", "unknown agent 'nobody'"),
        ("--against pool:5", "no opponent 'pool:5': the pool has strategies 0 to 4"),
        ("--against pool:-1", "no opponent 'pool:-1'"),
        ("--against missing.safetensors", "missing.safetensors"),
        ("--against faulty.py:Raises", "game 1 was not finished: RuntimeError: oh"),
        ("--depth 0", "depth must be 1 to 64, not 0"),
        ("--games 1", "games must be 2 to 1000000, not 1"),
        ("--seed -1", "seed must be at least 0, not -1"),
        ("--out nowhere/out.json", "out is a file in a folder that exists"),
        ("--record nowhere/out.json", "nowhere"),
        ("--out pool.safetensors", "--out must be a file of its own"),
        ("--out x.json --record x.json", "--out must be a file of its own"),
        ("--record pool.safetensors", "pool.safetensors' is not a record"),
        ("--record damaged.json", "damaged.json"),
    ],
)
def test_invalid_options_are_refused_in_one_line(
    command, pool, tmp_path, monkeypatch, options, message
):
    processes = recorded_processes(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("faulty.py").write_text(FAULTY)
    Path("damaged.json").write_text('{"format": 1}')
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    default = "" if "--against" in options else "--against random"
    said = ended(command(pool.name, *default.split(), *options.split()), 1)
    assert said.startswith("error: ")
    assert message in said
    assert len(said.splitlines()) == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert all(process.poll() is not None for process in processes)


def test_two_sessions_of_one_measurement_are_refused(command, pool, tmp_path, monkeypatch):
    """The other session's game comes between this one's reading of the record and its game."""
    record, play = tmp_path / "record.json", continual.play

    def slowly(agent, other, fixture, seed):
        if not agent.frozen and not record.exists():
            twin = continual.ContinualAgent(agent.pool, record, opponent=agent.opponent)
            twin.game_over(play(agent, other, fixture, seed).board, fixture.black)
        return play(agent, other, fixture, seed)

    monkeypatch.setattr(continual, "play", slowly)
    status, said = command(*words(pool, "--record", record))
    assert (status, "another process" in said) == (1, True)


# What it says


def pairs_of(*scores, strategies=None):
    rows = strategies or [0] * len(scores)
    return [
        GamePair(f"card {number}", BLACK, row, score, twin)
        for number, ((score, twin), row) in enumerate(zip(scores, rows, strict=True))
    ]


def test_interval_is_students_with_one_extra_point_each():
    scores = [(1.0, 0.5), (0.0, 0.5), (0.5, 0.5), (1.0, 0.0), (1.0, 1.0)]
    found = difference(pairs_of(*scores))
    assert found.mean == pytest.approx(1 / 5)
    padded = [0.5, -0.5, 0, 1, 0, 1, -1]
    mean = sum(padded) / 7
    deviation = math.sqrt(sum((value - mean) ** 2 for value in padded) / 6)
    half = student.ppf(0.975, 6) * deviation / math.sqrt(7)
    assert found[1:] == pytest.approx((mean - half, mean + half))


def test_repeated_cards_do_not_narrow_the_interval():
    once = pairs_of(*[(1.0, 0.0)] * 20, *[(0.5, 0.5)] * 66)
    assert difference(once * 10) == pytest.approx(difference(once))
    turned = [pair._replace(side=WHITE) for pair in once]
    assert difference(once + turned).low > difference(once).low


@pytest.mark.parametrize(
    ("scores", "what"),
    [
        ([(0.5, 0.5)] * 86, "noise: 86 games"),
        ([(1.0, 0.0), (0.0, 1.0)] * 43, "noise"),
        ([(1.0, 0.0)] * 2, "noise: 2 games"),
        ([(0.0, 0.0)] * 40 + [(1.0, 0.5)] * 5, "noise"),
        ([(1.0, 0.0)] * 20 + [(0.5, 0.5)] * 66, "did better than its twin"),
        ([(0.0, 1.0)] * 20 + [(0.5, 0.5)] * 66, "did worse than its twin"),
    ],
)
def test_verdict_says_whether_the_difference_is_noise(scores, what):
    said = verdict(pairs_of(*scores))
    assert what in said
    assert sum(word in said for word in ("noise", "better", "worse")) == 1
    low, high = map(float, re.search(r"\(95%: (\S+) to (\S+)\)", said).groups())
    assert -1 <= low <= high <= 1


def test_switches_are_counted_from_one():
    pairs = pairs_of(*[(0.5, 0.5)] * 6, strategies=[0, 0, 3, 3, 1, 0])
    assert switches(pairs) == [(2, 0, 3), (4, 3, 1), (5, 1, 0)]
    assert "In 3 of 6 games both played the same strategy" in verdict(pairs)
    assert switches(pairs[:2]) == []
