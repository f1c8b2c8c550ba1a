"""Runs of different lengths trained as one lineage."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.training.experiments.conftest import COUNTERS, QUICK
from tests.training.experiments.test_reproduction import context_in
from training.experiments.jobs import Match, Run
from training.experiments.results import Origin, ResultStore, differences
from training.experiments.scheduler import Costs, folder_of, training_lineage, work_through
from training.experiments.worker import Deadline, train
from training.runtime.executors import open_executor
from training.trainer import loop
from training.trainer.checkpoint import load_checkpoint

COURSE = [replace(QUICK, generations=generations) for generations in (600, 200, 400, 210)]


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """Return the runs of a lineage (6, 2, 4 and 2 generations), each trained from its start."""
    return {job: train(job, tmp_path_factory.mktemp("apart"), Deadline()) for job in COURSE}


@pytest.fixture
def steps(monkeypatch):
    """Return the trained generations, in order."""
    taken, generation = [], loop.run_generation

    def counted(plan, checkpoint, *others):
        taken.append(checkpoint.state.generation + 1)
        return generation(plan, checkpoint, *others)

    monkeypatch.setattr(loop, "run_generation", counted)
    return taken


def all_done(jobs, store, context):
    """Run all jobs; return the reports of progress."""
    reports = []
    assert work_through(jobs, store, context, reports.append) == []
    return reports


def test_runs_of_different_lengths_are_one_course():
    first, *others = COURSE
    changes = [{"seed": 1}, {"preset": "c1-n0.01"}, {"scale": 0.02}]
    strangers = [replace(first, **change) for change in changes]
    assert [job.length for job in COURSE] == [6, 2, 4, 2]
    assert training_lineage(first, [*strangers, *others, Match(*COUNTERS, 0), first]) == [
        *others,
        first,
    ]
    assert len({folder_of(Path(), job) for job in [*COURSE, *strangers]}) == 4


@pytest.mark.parametrize("jobs", [COURSE, COURSE[::-1]])
def test_longer_run_continues_a_shorter_one(jobs, apart, steps, tmp_path):
    other, store = replace(QUICK, seed=1), ResultStore(tmp_path / "results")
    with open_executor("threads", 2) as executor:
        reports = all_done([*jobs, other], store, context_in(tmp_path, executor))
    assert sorted(steps) == [1, 1, 2, 3, 4, 5, 6]
    assert reports[-1].jobs_done == reports[-1].jobs == 5
    assert list((tmp_path / "work").iterdir()) == []
    for job in COURSE:
        assert differences(ResultStore(store.folder).result(job), apart[job]) == []
        assert not store.lacks_champion(job)


@pytest.mark.parametrize(
    ("preset", "generations", "scale"), [("c10", (280, 500), 0.02), ("nguyen", (150, 200), 0.02)]
)
def test_course_equals_separate_runs(preset, generations, scale, tmp_path):
    """The shorter run ends within a point of the longer one's curves."""
    jobs = [Run(preset, 0, number, scale) for number in generations]
    assert jobs[0].length % jobs[0].point_every
    for job in jobs:
        result = train(job, tmp_path / "lineage", Deadline())
        assert differences(result, train(job, tmp_path / str(job.length), Deadline())) == []
    speeds = load_checkpoint(tmp_path / "lineage").history["speed/games_per_cpu_second"][1:]
    assert len(speeds) == jobs[1].length
    whole = sum(job.regime.games / speed for speed in speeds)
    assert result.origin.cpu_seconds == pytest.approx(whole)


def test_duration_of_a_longer_run_is_estimated(apart, tmp_path):
    longest, short, middle, equal = COURSE
    store = ResultStore(tmp_path / "results")
    costs = Costs(store, [], tmp_path / "work")
    costs.learn(longest, replace(apart[longest], origin=Origin(60.0)))
    assert costs.expected(longest, [short]) == pytest.approx(40.0)
    assert costs.expected(longest, COURSE) == pytest.approx(20.0)
    assert costs.expected(middle, COURSE) == pytest.approx(20.0)
    assert costs.expected(short, COURSE) == costs.expected(equal, COURSE) == pytest.approx(20.0)
    assert costs.expected(longest, [replace(short, seed=1)]) == pytest.approx(60.0)
    train(short, folder_of(tmp_path / "work", short), Deadline())
    assert costs.expected(longest) == pytest.approx(40.0)
    assert costs.expected(short) == 0


def test_folder_is_kept_for_a_longer_run(steps, tmp_path):
    """A session killed after the shorter run is followed by two others."""
    store, (longest, short, *_) = ResultStore(tmp_path / "results"), COURSE
    with open_executor("threads", 1) as executor:
        context = context_in(tmp_path, executor)
        folder = folder_of(context.work, short)
        store.add(short, train(short, folder, Deadline()))
        late = replace(context, deadline=0)
        assert work_through([longest, short], store, late, print) == [longest]
        assert folder.exists()
        all_done([short, longest], store, context)
        assert steps == [1, 2, 3, 4, 5, 6]
        store.add(short, train(short, folder, Deadline()))
        all_done([short], store, context)
    assert not folder.exists()


def test_run_ignores_checkpoints_beyond_its_end(apart, steps, tmp_path):
    """A session without the shorter run was killed within the longer one."""
    store, (longest, short, middle, _) = ResultStore(tmp_path / "results"), COURSE
    with open_executor("threads", 2) as executor:
        context = context_in(tmp_path, executor)
        folder = folder_of(context.work, longest)
        train(middle, folder, Deadline())
        del steps[:]
        with pytest.raises(ValueError, match=r"is beyond the end of .*-2-seed-0: run the same"):
            train(short, folder, Deadline())
        all_done([short], store, context)
        assert steps == [1, 2]
        assert list(context.work.iterdir()) == [folder]
        all_done([replace(short, generations=300), longest], store, context)
        assert steps == [1, 2, 1, 2, 3, 5, 6]
        assert list(context.work.iterdir()) == []
    assert all(differences(store.result(job), apart[job]) == [] for job in (short, longest))
