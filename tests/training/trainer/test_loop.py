"""The training loop: files, resumed runs and curves."""

import contextlib
import csv
import itertools
import signal
import sys
from dataclasses import asdict

import numpy as np
import pytest
from matplotlib.image import imread
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

import agents
from agents.weights import load_weights
from checkers_env.board import Board
from tests.training.commands import assert_equal_but_for_speed
from training.regimes.coevolution import Coevolution
from training.trainer import loop
from training.trainer.checkpoint import FILE_NAME, load_checkpoint
from training.trainer.loop import (
    CHAMPION_FILE,
    CHAMPIONS_FOLDER,
    CURVE_FILE,
    PLOT_FILE,
    RunConfig,
    begin,
    resume,
    train,
)

SMALL = Coevolution(
    "blondie24-1999", parents=2, opponents=1, depth=1, max_moves=30, king=2.0, king_rule="lognormal"
)
GENERATIONS = 6
TAGS = {
    "curve/heuristic",
    "curve/material",
    "score/best",
    "score/mean",
    "games/draws",
    "games/plies",
    "king/mean",
    "step/mean",
    "weight/mean",
    "champion/spread",
    "champion/saturated",
    "speed/games_per_cpu_second",
}
CURVE_TAGS = {"curve/heuristic", "curve/material"}
TOURNAMENT_TAGS = {name for name in TAGS if name.startswith(("score/", "games/", "speed/"))}


class PowerCutError(Exception):
    """Error that stops a run from outside."""


def plan_for(folder, **changes):
    return RunConfig("blondie24-1999", **{"regime": SMALL, "generations": GENERATIONS, "seed": 1,
                                     "folder": folder} | changes)  # fmt: skip


def nothing(state, measured):
    pass


def stop_at(generation):
    def report(state, measured):
        if state.generation == generation:
            raise PowerCutError

    return report


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the configuration and the last checkpoint of an uninterrupted run."""
    plan = plan_for(tmp_path_factory.mktemp("finished") / "run")
    return plan, train(plan, begin(plan), nothing)


def test_stopped_run_saves_and_resumes(tmp_path, finished):
    plan = plan_for(tmp_path, checkpoint_every=100)
    with pytest.raises(PowerCutError):
        train(plan, begin(plan), stop_at(4))
    assert load_checkpoint(tmp_path).state.generation == 4
    assert_equal_but_for_speed(train(plan, resume(plan), nothing), finished[1])


PARTS = (  # of the loop, in which a signal may come
    *(loop.train, loop.record, loop.run_generation, loop.write_events, loop.keep_champion),
    *(loop.save_outputs, loop.save_results),
)


def interrupt_at_line(number, function, *arguments):
    """Call a function; send SIGINT before a line of the training loop, counted over all calls.

    Return whether the function came to its end before that line.
    """
    codes = {part.__code__ for part in PARTS}
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        if frame.f_code not in codes:
            return None
        lines += event == "line"
        if event == "line" and lines == number:
            signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    except KeyboardInterrupt:
        return False
    finally:
        sys.settrace(before)
    return lines < number


def test_signal_before_any_line_of_the_loop_changes_no_file(tmp_path):
    """Whatever a generation leaves is there after a resumed run, and equal."""
    changes = {"generations": 2, "champion_every": 2, "curve_every": 0}
    straight = plan_for(tmp_path / "straight", **changes)
    expected, shown = train(straight, begin(straight), nothing), scalars(straight.folder)
    for number in itertools.count(1):
        plan = plan_for(tmp_path / str(number), **changes)
        done = interrupt_at_line(number, train, plan, begin(plan), nothing)
        with contextlib.suppress(ValueError):  # nothing is left
            train(plan, resume(plan), nothing)
        assert_equal_but_for_speed(load_checkpoint(plan.folder), expected)
        kept = [straight.folder / CHAMPION_FILE, *(straight.folder / CHAMPIONS_FOLDER).iterdir()]
        assert len(kept) == 3
        for path in kept:
            there = plan.folder / path.relative_to(straight.folder)
            assert there.read_bytes() == path.read_bytes()
        assert scalars(plan.folder) == shown
        if done:
            break
    assert number > 60


def scalars(folder):
    """Return the steps and names of the values that TensorBoard shows."""
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    return {
        (name, event.step) for name in events.Tags()["tensors"] for event in events.Tensors(name)
    }


def test_run_does_not_begin_in_a_folder_with_other_files(tmp_path):
    (tmp_path / FILE_NAME).write_bytes(b"of somebody else")
    with pytest.raises(ValueError, match="no run can begin here, choose another folder by --out: "):
        begin(plan_for(tmp_path))
    assert (tmp_path / FILE_NAME).read_bytes() == b"of somebody else"


def test_champion_file_records_its_training(finished):
    plan, last = finished
    genome, metadata = load_weights(plan.folder / CHAMPION_FILE)
    np.testing.assert_array_equal(genome, last.state.population.genomes[0])
    assert metadata.king == last.state.population.kings[0]
    assert metadata.architecture == "blondie24-1999"
    assert (metadata.depth, metadata.root_perspective) == (1, True)
    assert (metadata.regime, metadata.seed, metadata.generation) == (plan.name, 1, 6)
    assert {"python", "numpy", "numba", "checkers-laboratory"} <= set(metadata.versions)
    assert last.state.scores[0] == max(last.state.scores) == metadata.extra["score"]


@pytest.mark.parametrize(("every", "points"), [(0, None), (2, [0, 2, 4, 6]), (4, [0, 4])])
def test_curve_is_measured_at_its_interval_and_changes_nothing(tmp_path, finished, every, points):
    plan = plan_for(tmp_path, curve_every=every)
    there = train(plan, begin(plan), nothing)
    expected = finished[1]
    np.testing.assert_equal(asdict(there.state), asdict(expected.state))
    if points is None:
        assert set(there.history) == TAGS - CURVE_TAGS
        return
    for name in CURVE_TAGS:
        assert list(np.flatnonzero(np.isfinite(there.history[name]))) == points
        values, full = np.array(there.history[name]), np.array(expected.history[name])
        np.testing.assert_array_equal(values[points], full[points])


def test_champions_are_kept_at_their_interval_and_change_nothing(tmp_path, finished):
    plan = plan_for(tmp_path, champion_every=3)
    there = train(plan, begin(plan), nothing)
    np.testing.assert_equal(asdict(there.state), asdict(finished[1].state))
    folder = tmp_path / CHAMPIONS_FOLDER
    names = {f"blondie24-1999-seed-1-generation-{at}.safetensors": at for at in (0, 3, 6)}
    assert {path.name for path in folder.iterdir()} == set(names)
    for name, generation in names.items():
        assert load_weights(folder / name)[1].generation == generation
        assert agents.make(folder / name).act(Board())
    last = load_weights(folder / "blondie24-1999-seed-1-generation-6.safetensors")[0]
    np.testing.assert_array_equal(last, load_weights(tmp_path / CHAMPION_FILE)[0])
    assert not (finished[0].folder / CHAMPIONS_FOLDER).exists()


def test_table_holds_the_history(finished):
    plan, last = finished
    with (plan.folder / CURVE_FILE).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["generation"]) for row in rows] == list(range(GENERATIONS + 1))
    assert set(rows[0]) == {"generation", *TAGS}
    for name, values in last.history.items():
        np.testing.assert_allclose([float(row[name]) for row in rows], values, rtol=1e-5)


@pytest.mark.usefixtures("drawn_curves")
@pytest.mark.parametrize("every", [0, 1])
def test_curve_is_plotted(tmp_path, every):
    plan = plan_for(tmp_path, generations=1, curve_every=every)
    train(plan, begin(plan), nothing)
    height, width, _ = imread(tmp_path / PLOT_FILE).shape
    assert height > 300
    assert width > 600
    assert not list(tmp_path.glob("*tmp*"))


def test_tensorboard_shows_every_value(finished):
    plan, last = finished
    events = EventAccumulator(str(plan.folder), size_guidance={"tensors": 0})
    events.Reload()
    assert set(events.Tags()["tensors"]) == TAGS
    for name, values in last.history.items():
        shown = {event.step: make_ndarray(event.tensor_proto) for event in events.Tensors(name)}
        first = int(name in TOURNAMENT_TAGS)
        assert list(shown) == list(range(first, GENERATIONS + 1))
        np.testing.assert_allclose(list(shown.values()), values[first:], rtol=1e-6)


@pytest.mark.parametrize(
    ("executor", "engine"),
    [("processes", "kernel"), pytest.param("ray", "env", marks=pytest.mark.slow)],
)
def test_games_of_other_executors_are_the_same(tmp_path, finished, executor, engine):
    plan = plan_for(
        tmp_path / "run", threads=2, executor=executor, engine=engine, generations=GENERATIONS
    )
    checkpoint = train(plan, begin(plan), nothing)
    assert_equal_but_for_speed(checkpoint, finished[1])
    speeds = np.array(checkpoint.history["speed/games_per_cpu_second"][1:])
    assert (speeds > 0).all()


def test_champion_that_cannot_play_ends_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "LARGEST_WEIGHT", 0.01)
    plan = plan_for(tmp_path)
    with pytest.raises(ValueError, match=r"beyond 0\.01: no player can use them"):
        train(plan, begin(plan), nothing)
    assert load_checkpoint(tmp_path).state.generation == GENERATIONS
