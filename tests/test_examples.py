"""Every script in examples/ runs, and prints something; long training is cut short."""

import subprocess
import sys

import pytest

from tests import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEED_TORCH = ("ppo", "torchrl_loop")
SHORTER = {"evolve_in_a_minute": ("GENERATIONS = 30", "GENERATIONS = 10")}  # prints every tenth


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(it, marks=pytest.mark.sb3 if it.stem in NEED_TORCH else (), id=it.stem)
        for it in EXAMPLES
    ],
)
def test_example_runs(script, tmp_path):
    if script.stem in SHORTER:
        text, (long, short) = script.read_text("utf-8"), SHORTER[script.stem]
        assert text.count(long) == 1
        script = tmp_path / script.name
        script.write_text(text.replace(long, short), "utf-8")
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
