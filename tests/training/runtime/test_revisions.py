"""Two revisions measured in pairs."""

import json
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

from training import speed
from training.runtime import revisions
from training.runtime.revisions import check_out, run_json
from training.speed import mean_ratio


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "file").write_text("first")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "First"]):
        subprocess.run([*git, *command], check=True)
    (folder / "file").write_text("second")
    return folder


def test_a_revision_is_checked_out_and_removed(repository):
    with check_out("HEAD", repository) as place:
        assert (place / "file").read_text() == "first"
    assert not place.exists()
    listed = ["git", "-C", str(repository), "worktree", "list"]
    found = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    assert len(found.splitlines()) == 1


@pytest.mark.parametrize("revision", ["no-such-revision", "--help"])
def test_an_unknown_revision_is_refused(revision, repository):
    message = f"no revision '{revision}' here"
    with pytest.raises(ValueError, match=message), check_out(revision, repository):
        pass


def test_ratio_of_pairs():
    theirs = np.array([100.0, 150.0, 80.0, 120.0])
    ratio = mean_ratio(theirs * [1.1, 1.2, 1.0, 1.1], theirs)
    assert ratio.mean == pytest.approx((1.1 * 1.2 * 1.0 * 1.1) ** 0.25)
    # By hand: the logarithms' mean 0.0932, standard error 0.0372, t = 3.182 at three degrees.
    assert (ratio.low, ratio.high) == pytest.approx((0.975, 1.236), abs=0.001)


def test_a_script_runs_with_the_packages_of_its_tree(tmp_path):
    (tmp_path / "thing.py").write_text("VALUE = 7")
    (tmp_path / "script.py").write_text(
        "import json, sys, thing\n"
        "path = sys.argv[sys.argv.index('--json') + 1]\n"
        "json.dump({'value': thing.VALUE, 'options': sys.argv[1:-2]}, open(path, 'w'))\n"
    )
    found = run_json(tmp_path, "script.py", ["--quick"], tmp_path)
    assert found == {"value": 7, "options": ["--quick"]}
    (tmp_path / "script.py").write_text("raise ValueError('it broke')")
    with pytest.raises(ChildProcessError, match="it broke"):
        run_json(tmp_path, "script.py", [], tmp_path)


def test_speeds_are_compared_in_turns(monkeypatch, capsys, tmp_path):
    calls = []

    def measured(tree, script, options, folder):
        calls.append(tree == revisions.ROOT)
        value = 300.0 if tree == revisions.ROOT else 200.0
        return {"rows": [{"name": "perft", "value": value + len(calls) % 2}]}

    monkeypatch.setattr(speed, "run_json", measured)
    monkeypatch.setattr(speed, "check_out", lambda revision: nullcontext(tmp_path))
    file = tmp_path / "ratios.json"
    options = ["--compare", "HEAD", "--pairs", "4", "--json", str(file)]
    monkeypatch.setattr(sys, "argv", ["speed.py", *options])
    assert speed.main() == 0
    warm_up, turns = [True, False], [True, False, False, True, True, False, False, True]
    assert calls == warm_up + turns
    content = json.loads(file.read_text())
    assert content["ratios"]["perft"]["mean"] == pytest.approx(1.5, abs=0.01)
    assert "perft" in capsys.readouterr().out


def test_one_pair_is_too_few(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["speed.py", "--compare", "HEAD", "--pairs", "1"])
    assert speed.main() == 1
    assert "pairs must be at least 2, not 1" in capsys.readouterr().err
