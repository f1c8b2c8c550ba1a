"""The notebooks of the docs run, and their stored outputs are there."""

import json
import os
import subprocess
import sys

import pytest

from tests import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NEED_TORCH = ("train",)
SHORTER = {"evolve": [("range(1, 41)", "range(1, 11)"), ("range(3, 39)", "range(3, 9)")]}


def cells(notebook):
    return [
        it for it in json.loads(notebook.read_text("utf-8"))["cells"] if it["cell_type"] == "code"
    ]


@pytest.mark.parametrize(
    "notebook",
    [
        pytest.param(it, marks=pytest.mark.sb3 if it.stem in NEED_TORCH else (), id=it.stem)
        for it in NOTEBOOKS
    ],
)
def test_notebook_runs(notebook, tmp_path):
    code = "\n".join("".join(cell["source"]) for cell in cells(notebook))
    for long, short in SHORTER.get(notebook.stem, []):  # generations
        assert long in code
        code = code.replace(long, short)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_its_outputs(notebook):
    for number, cell in enumerate(cells(notebook), 1):
        assert cell["execution_count"] == number
        assert cell["outputs"] or "import" in "".join(cell["source"])
        assert all(output["output_type"] != "error" for output in cell["outputs"])
    assert "/tmp" not in notebook.read_text("utf-8")
