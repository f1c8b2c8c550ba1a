"""Every script in examples/ runs, and prints something."""

import subprocess
import sys

import pytest

from tests import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEED_TORCH = ("ppo", "torchrl_loop")


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(it, marks=pytest.mark.sb3 if it.stem in NEED_TORCH else (), id=it.stem)
        for it in EXAMPLES
    ],
)
def test_example_runs(script, tmp_path):
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
