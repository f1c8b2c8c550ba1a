"""Kernels that check every index: none is out of bounds, and golden runs have their results.

Elsewhere an index out of bounds reads or writes other memory without a word.
"""

import os
import subprocess
import sys

from tests import ROOT
from tests.test_golden import recorded

RUNS = (
    "training c5-n0.001",
    "search by strong at depth 8",
    "values of positions",
    "environment with ballots and rules",
)
PROGRAM = """
import sys
from tests.test_golden import ENTRIES
for name in sys.argv[1:]:
    print(ENTRIES[name]())
"""


def test_golden_runs_are_the_same_where_every_index_is_checked():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *RUNS],
        cwd=ROOT,
        env=os.environ | {"NUMBA_BOUNDSCHECK": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [recorded()[name] for name in RUNS]
