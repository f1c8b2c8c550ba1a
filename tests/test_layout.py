"""Import rules: direction of the packages, numba's few importers, lazy imports."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests import ROOT

PACKAGES = ("checkers_env", "agents", "training")
MAY_IMPORT_NUMBA = {"checkers_env/jit.py", "checkers_env/bits.py", "agents/simd.py"}


def top_level_imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]


def test_packages_import_in_one_direction() -> None:
    lint = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    )
    done = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_numba_is_imported_by_few_modules_only() -> None:
    importers = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if {"numba", "llvmlite"} & set(top_level_imports(path))
    }
    assert "checkers_env/jit.py" in importers
    assert importers <= MAY_IMPORT_NUMBA


def test_environment_imports_no_optional_library() -> None:
    unwanted = {"agents", "training", "torch", "matplotlib", "pygame", "tensorboard"}
    show = f"import sys, checkers_env; print(*sorted({unwanted!r} & sys.modules.keys()))"
    result = subprocess.run(
        [sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""
