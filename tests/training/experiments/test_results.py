"""The store of results: round trips, outdated and damaged rows."""

import json
import signal
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

from agents.weights import WeightsMetadata
from tests import ROOT
from tests.training.commands import SECONDS, start, wait_for
from tests.training.experiments.conftest import QUICK
from tests.training.experiments.test_reproduction import context_in
from training.evolution.state import Champion
from training.experiments.champions import (
    LARGEST_IN_GIT,
    encode_champion,
    load_champion,
    name_champion,
)
from training.experiments.jobs import Conditions, Match, Player, Run, match_of, run_key
from training.experiments.plan import Scope
from training.experiments.result_rows import from_json, to_json
from training.experiments.results import (
    MatchResult,
    Origin,
    ResultStore,
    TrainingResult,
    differences,
)
from training.experiments.scheduler import undone, work_through
from training.experiments.tables import EXPERIMENTS
from training.experiments.worker import Deadline, play
from training.runtime.executors import open_executor

AGAINST_COUNTER, _ = match_of(Player("c1-n0.001"), Player("material"), 0, Conditions(depth=1), 0.01)


@pytest.fixture
def store(quick, counted, played, tmp_path):
    """Return a store with a run and two matches, one of them by the run's champion."""
    store = ResultStore(tmp_path / "results")
    store.add(QUICK, quick)
    store.add(counted, played)
    store.add(AGAINST_COUNTER, play(AGAINST_COUNTER, *store.champions(AGAINST_COUNTER), Deadline()))
    return store


def network(seed=0):
    """Return an untrained run: a random champion and a curve."""
    run, rng = Run("c0", seed, 840), np.random.default_rng(seed)
    player = Champion(rng.normal(size=5047), WeightsMetadata("blondie24-2001", 1.5, "", 0, 0))
    content = encode_champion(player, run, 840)
    name = name_champion(content)
    curve = np.array([np.nan, *rng.normal(size=93)], np.float32)
    points = np.arange(94, dtype=np.int32)
    files = {name: content}
    return run, TrainingResult((name,), points, {"curve/heuristic": curve}, {}, Origin(1.5), files)


def rows_of(store, name):
    """Return the rows of a file of results."""
    return list(map(json.loads, (store.folder / name).read_text().splitlines()))


def rewrite(path, old, new):
    """Replace some text in a file of results."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# Lines


def test_results_round_trip(store, quick, counted, played):
    back = ResultStore(store.folder)
    assert differences(back.result(QUICK), quick) == []
    assert (back.result(QUICK).origin, back.result(counted)) == (quick.origin, played)
    assert back.champions(AGAINST_COUNTER)[1] is None
    (name,) = quick.champions
    assert back.champion_path(name).read_bytes() == quick.files[name]
    back.add(counted, replace(played, plies=(1, *played.plies[1:])))  # in place of the other
    assert ResultStore(store.folder).result(counted).plies[0] == 1
    assert ResultStore(store.folder / "none").result(AGAINST_COUNTER) is None


def test_curves_round_trip_exactly():
    numbers = np.random.default_rng(0).integers(2**32, size=20_000, dtype=np.uint32)
    numbers = numbers.view(np.float32)
    numbers = np.where(np.isinf(numbers), np.float32(0.1), numbers)
    assert np.isnan(numbers).any()
    back = from_json(json.loads(json.dumps(to_json(numbers), allow_nan=False)))
    known = ~np.isnan(numbers)
    assert np.array_equal(np.isnan(back), ~known)
    assert back[known].tobytes() == numbers[known].tobytes()
    assert to_json(np.array([0.1, np.nan], np.float32)) == [0.1, None]


def test_lines_are_sorted_plain_json(store):
    for seed in (10, 9, 1):
        store.add(*network(seed))
    rows = rows_of(store, "runs.jsonl")
    assert [(row["preset"], row["seed"]) for row in rows] == [
        *(("c0", 1), ("c0", 9), ("c0", 10)),
        ("c1-n0.001", 0),
    ]
    assert rows[0]["regime"] == asdict(Run("c0", 1, 840).regime)
    assert rows[0]["results_version"] == {"regime": 1, "search": 1}
    match = rows_of(store, "matches.jsonl")[0]
    assert (match["first"], match["second"]) == (
        {"name": "c1-n0.001", "seed": 0},
        {"name": "material"},
    )
    assert match["champions"] == [*rows[-1]["champions"], None]
    assert match["conditions"]["depth"] == 1


def test_differences_are_named(quick, played):
    changed = replace(quick, champions=("x",), pool={"reused": np.zeros(1)})
    assert differences(quick, changed) == ["champions", "pool"]
    assert differences(quick, replace(quick, curves={})) == ["curves"]
    assert differences(played, replace(played, plies=())) == ["plies"]
    assert differences(quick, replace(quick, origin=Origin(0.0), files={})) == []


# Keys


def test_new_constant_with_its_default_keeps_results_valid(store, quick):
    """A line from before `half_at`; the preset has the default."""
    rewrite(store.folder / "runs.jsonl", '"half_at":0.0,', "")
    assert differences(ResultStore(store.folder).result(QUICK), quick) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"alpha":0.001', '"alpha":0.01'),
        ('"lam":0.0,', '"lam":0.5,'),
        ('"results_version":{"regime":1,', '"results_version":{"regime":0,'),
        ('"search":1}', '"search":2}'),
        ('"point_every":1', '"point_every":3'),
    ],
)
def test_run_of_another_configuration_is_not_used(store, old, new):
    rewrite(store.folder / "runs.jsonl", old, new)
    changed = ResultStore(store.folder)
    assert changed.result(QUICK) is None
    assert changed.is_out_of_date(QUICK)
    assert changed.result(AGAINST_COUNTER) is None  # whose player is to be trained again


def test_match_is_outdated_when_a_champion_or_the_search_changes(store, counted, monkeypatch):
    rewrite(store.folder / "runs.jsonl", '"champions":["', '"champions":["0000')
    changed = ResultStore(store.folder)
    assert changed.result(AGAINST_COUNTER) is None
    assert changed.result(counted) is not None
    monkeypatch.setattr("training.experiments.jobs.RESULTS_VERSION", 2)
    assert ResultStore(store.folder).result(counted) is None


def test_every_setting_is_in_the_key(store, played):
    player, run = Player("c1-n0.001"), Run("c0", 0, 840)
    runs = [replace(run, seed=1), replace(run, preset="c0-npd"), replace(run, generations=839)]
    assert len({run_key(job.configuration) for job in (run, *runs)}) == 4
    others = [
        *(replace(player, depth=depth) for depth in (1, 2)),
        replace(player, unsaturated=True),
        *(replace(player, simulations=number) for number in (10, 20)),
        *(Player("random"), Player("mcts"), Player("mcts", simulations=10)),
        *(Player("material", depth=depth) for depth in (2, 4)),
    ]
    conditions = [Conditions(), Conditions(depth=5), Conditions(repetition=3)]
    matches = [match_of(player, other, 0, each, 0.01)[0] for other in others for each in conditions]
    for number, match in enumerate(matches):
        assert store.result(match) is None
        games, origin = match.games, Origin(1)
        columns = ("D" * games, (number,) * games, (9,) * games, {"": games}, "", "")
        store.add(match, MatchResult(match.openings, *columns, origin))
    back = ResultStore(store.folder)
    assert [back.result(match).differences[0] for match in matches] == list(range(len(matches)))


# Damage


@pytest.mark.parametrize(
    "line",
    [
        *("{", "[1]", "null", "", "<<<<<<< HEAD", '{"preset":"c0"}', "\xff"),
        '{"first":{},"second":{}}',
    ],
)
@pytest.mark.parametrize(("name", "count"), [("runs.jsonl", 1), ("matches.jsonl", 2)])
def test_damaged_line_is_named_by_number(store, line, name, count):
    with (store.folder / name).open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    message = rf"^line {count + 1} of .*{name}' is damaged \(.+\): re"
    with pytest.raises(ValueError, match=message):
        ResultStore(store.folder)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"results":"', '"results":"W'),
        ('"results":"', '"results":"X'),
        ('"plies":[', '"plies":[9,'),
        ('"reasons":{', '"reasons":{"x":1,'),
        ('"seed":0,"cards"', '"seed":null,"cards"'),
        ('"differences"', '"differencez"'),
    ],
)
def test_inconsistent_line_is_refused(store, old, new):
    rewrite(store.folder / "matches.jsonl", old, new)
    with pytest.raises(ValueError, match=r"line 1 of .* is damaged"):
        ResultStore(store.folder)


def test_duplicate_line_is_refused(store):
    path = store.folder / "runs.jsonl"
    path.write_bytes(2 * path.read_bytes())
    with pytest.raises(ValueError, match=r"line 2 of .* \(another line is about the same job\)"):
        ResultStore(store.folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{}", r"environments.json' lacks '[0-9a-f]{8}': restore it"), ("{", "json' is damaged")],
)
def test_missing_record_of_environments_is_an_error(store, counted, content, message):
    (store.folder / "environments.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        ResultStore(store.folder).result(counted)


def test_champion_with_a_wrong_hash_is_refused(store, quick):
    path = store.champion_path(*quick.champions)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{path.name}' is damaged \(its hash is [0-9a-f]+\)"):
        store.champions(AGAINST_COUNTER)


# Champions


def test_champion_name_is_the_hash_of_its_constant_file(tmp_path):
    """Old lines and files hold these names, so the encoding of champions must not change."""
    run, genome = Run("c0", 3, 840), np.arange(5047, dtype=np.float32) / 64
    player = Champion(genome, WeightsMetadata("blondie24-2001", 2.0, "", 0, 0))
    content = encode_champion(player, run, 840)
    assert name_champion(content) == "eb704a2f395e3f4f"
    path = tmp_path / "eb704a2f395e3f4f.safetensors"
    path.write_bytes(content)
    champion = load_champion(path)
    assert np.array_equal(champion.genome, genome)
    assert (champion.metadata.regime, champion.metadata.king) == ("c0", 2.0)
    large = b"x" * (LARGEST_IN_GIT + 1)
    store, name = ResultStore(tmp_path), name_champion(large)
    store.add(run, replace(network()[1], champions=(name,), files={name: large}))
    assert store.champion_path(name).parent == tmp_path / "champions" / "large"
    assert not store.lacks_champion(run)


def test_missing_champion_is_trained_again_for_its_match(store, quick, tmp_path):
    path = store.champion_path(*quick.champions)
    before, line = path.read_bytes(), (store.folder / "runs.jsonl").read_bytes()
    path.unlink()
    jobs = [QUICK, AGAINST_COUNTER]
    assert undone(jobs, store) == []
    assert undone(jobs, store, champions=True) == [QUICK]
    with pytest.raises(ValueError, match=r"the weight file of c1-n0.001 .* is missing"):
        store.champions(AGAINST_COUNTER)
    again, _ = match_of(Player("c1-n0.001"), Player("material"), 0, Conditions(depth=2), 0.01)
    assert undone([*jobs, again], store) == [QUICK, again]
    with open_executor("threads", 1) as executor:
        context = context_in(tmp_path, executor)
        assert work_through([*jobs, again], store, context, lambda progress: None) == []
    assert path.read_bytes() == before
    assert (store.folder / "runs.jsonl").read_bytes() == line  # CPU times are those of the first
    assert store.result(again) is not None


def test_retrained_champion_that_differs_is_refused(store, quick):
    store.champion_path(*quick.champions).unlink()
    files = {path: path.read_bytes() for path in store.folder.rglob("*.*")}
    _, other = network()
    wrong = replace(quick, champions=other.champions, files=other.files)
    with pytest.raises(ValueError, match="raise results_version of TDLearning"):
        store.add(QUICK, wrong)
    assert {path: path.read_bytes() for path in store.folder.rglob("*.*")} == files
    store.add(QUICK, quick)
    assert not store.lacks_champion(QUICK)


# Several processes, and sudden ends

ADDING = """
import sys
from pathlib import Path
from tests.training.experiments.test_results import network
from training.experiments.result_rows import from_json, to_json
from training.experiments.results import ResultStore
store = ResultStore(Path(sys.argv[1]))
for seed in range(int(sys.argv[2]), int(sys.argv[3])):
    store.add(*network(seed))
    print(seed, flush=True)
"""


def adding(folder, first, last):
    return start(sys.executable, "-c", ADDING, folder, first, last)


def test_two_writing_processes_lose_no_rows(tmp_path):
    both = [adding(tmp_path, first, first + 8) for first in (0, 8)]
    for process in both:
        said, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, said
    rows = rows_of(ResultStore(tmp_path), "runs.jsonl")
    assert [row["seed"] for row in rows] == list(range(16))
    check_added(tmp_path, range(16))


def check_added(folder, seeds):
    """Check that a folder has the results of these seeds, and no temporary file."""
    store = ResultStore(folder)
    for seed in seeds:
        run, result = network(seed)
        assert differences(store.result(run), result) == []
        assert not store.lacks_champion(run)
    store.add(*network(20_000))  # the lock is free again
    assert not list(folder.rglob("*.tmp"))


def test_killed_process_loses_no_added_rows(tmp_path):
    process = adding(tmp_path, 0, 10_000)
    wait_for(lambda: len(list((tmp_path / "champions").glob("*.safetensors"))) > 20)
    process.send_signal(signal.SIGKILL)
    done = list(map(int, process.communicate(timeout=SECONDS)[0].split()))
    assert len(done) > 10
    check_added(tmp_path, done)


# What is in git


@pytest.fixture(scope="module")
def committed():
    return ResultStore(ROOT / "results")


def test_committed_results_are_found_by_their_jobs(committed):
    """A line is outdated by its version alone, or by that of its players."""
    jobs = Scope().jobs(EXPERIMENTS.values())
    for job in filter(committed.is_out_of_date, jobs):
        players = job.runs if isinstance(job, Match) else ()
        assert committed._row(job)["results_version"] != job.results_version or any(
            map(committed.is_out_of_date, players)
        )


def test_committed_champions_match_their_hashes(committed):
    rows = rows_of(committed, "runs.jsonl")
    names = {name: row["preset"] for row in rows for name in row["champions"]}
    files = list((committed.folder / "champions").glob("*.safetensors"))
    for path in files:
        assert load_champion(path).metadata.regime == names[path.stem]
        assert path.stat().st_size <= LARGEST_IN_GIT
    absent = {names[name] for name in names.keys() - {path.stem for path in files}}
    assert all(preset.startswith(("c5-", "subsquares-")) or "@" in preset for preset in absent)
