"""Tests: one folder for each package, with the names of the sources."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
