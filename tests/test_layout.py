"""Layout: import rules, numba's few importers, lazy imports, unique class names."""

import ast
import functools
import importlib
import io
import os
import pkgutil
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests import ROOT

PACKAGES = ("checkers_env", "agents", "training")
MAY_IMPORT_NUMBA = {
    "checkers_env/jit.py",
    "checkers_env/kernel_compiler.py",
    "checkers_env/bits.py",
    "checkers_env/envs/cuda.py",
    "agents/simd.py",
}


# Lines of code, docstrings, JavaScript and templates; words of prose; files outside results/.
# What comes in pays with what goes out: each change that removes lowers its ceiling.
CEILINGS = {
    "checkers_env": 4_262,
    "agents": 8_650,
    "training": 13_022,
    "docstrings": 5_906,
    "JavaScript": 6_637,
    "templates": 1_506,
    "tests": 22_459,
    "words": 50_000,
    "files": 604,
}
LAYOUT_TOKENS = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def project_files() -> Iterator[Path]:
    """Yield the files of the project, without what .gitignore names."""
    ignored = {".git", *(ROOT / ".gitignore").read_text("utf-8").replace("/\n", "\n").split()}

    def is_kept(path: Path) -> bool:
        return not {path.name, f"/{path.relative_to(ROOT).as_posix()}"} & ignored

    for folder, folders, files in os.walk(ROOT):
        folders[:] = [it for it in folders if is_kept(Path(folder, it))]
        yield from filter(is_kept, (Path(folder, it) for it in files))


def count_lines(source: str) -> tuple[int, int]:
    """Count the lines of code, comments and docstrings apart, and those of docstrings."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                docstrings.update(range(first.lineno, (first.end_lineno or 0) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT_TOKENS:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings), len(docstrings)


def count_project() -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in project_files():
        top = path.relative_to(ROOT).parts[0]
        counts["files"] += top != "results"
        if path.suffix == ".py" and top in (*PACKAGES, "tests"):
            code, docstrings = count_lines(path.read_text("utf-8"))
            counts[top] += code
            counts["docstrings"] += docstrings if top in PACKAGES else 0
        elif path.suffix == ".js" and top != "tests":
            counts["JavaScript"] += path.read_text("utf-8").count("\n")
        elif path.suffix in (".jinja", ".css", ".html") and top in PACKAGES:
            counts["templates"] += path.read_text("utf-8").count("\n")
        elif path.suffix in (".md", ".ipynb", ".typ"):
            counts["words"] += len(path.read_text("utf-8").split())
    return counts


def test_project_stays_below_its_ceilings() -> None:
    counts = count_project()
    assert set(counts) == set(CEILINGS)
    assert {name: count for name, count in counts.items() if count > CEILINGS[name]} == {}


def top_level_imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]


def test_class_names_are_unique() -> None:
    names = Counter(
        node.name
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert names["MatchGame"] == 1
    assert [name for name, count in names.items() if count > 1] == []


PACKAGE_FILES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("__init__.py"))


@pytest.mark.parametrize("path", PACKAGE_FILES, ids=lambda path: path.parent.name)
def test_package_docstring_has_a_line_for_each_module(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    # A line of the map is "- name: text", "- ``name``, ``name``: text" or "name text".
    starts = [re.match(r"- ([^:]*):|(\w+) ", line) for line in docstring.splitlines()]
    names = {name for start in starts if start for name in re.findall(r"\w+", start[0])}
    modules = {it.stem for it in path.parent.glob("*.py") if not it.stem.startswith("__")}
    packages = {it.parent.name for it in path.parent.glob("*/__init__.py")}
    assert sorted((modules | packages) - names) == []


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


WITHOUT_TRAIN = """
import sys

class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {"scipy", "matplotlib", "tensorboard", "torch", "pygame"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing)
"""


def run_without_extras(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_TRAIN + program], cwd=ROOT, capture_output=True, text=True
    )


def test_playing_needs_no_library_of_training() -> None:
    program = (
        "import agents, checkers_env, training.app.serve, agents.external.hub.server\n"
        "import agents.external.dxp.cli, training.trainer.cli\n"
        "from training.rating.thesis_ratings import rate_match\n"
        "board = checkers_env.Board()\n"
        "agents.explain(agents.make('material'), board)._repr_svg_()\n"
        "board.push(agents.make('material', depth=2).act(board))\n"
    )
    done = run_without_extras(program)
    assert done.returncode == 0, done.stderr


REFERENCE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?([\w.]+)`")
NEEDS_EXTRA = {"agents.single_agent.sb3_env", "checkers_env.pgx", "training.rl.game_pool"}


def names_something(reference: str, module: str) -> bool:
    """Return whether a docstring's reference is a full name, or in its module or a class there."""
    here = importlib.import_module(module)
    with suppress(ImportError, AttributeError):
        return pkgutil.resolve_name(reference) is not None
    for thing in (here, *(it for it in vars(here).values() if isinstance(it, type))):
        with suppress(AttributeError):
            functools.reduce(getattr, reference.split("."), thing)
            return True
    return False


def test_references_in_docstrings_name_something() -> None:
    dead, count = [], 0
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            module = module.removesuffix(".__init__")
            if module in NEEDS_EXTRA or path.name == "__main__.py":
                continue
            for reference in REFERENCE.findall(path.read_text(encoding="utf-8")):
                count += 1
                if not names_something(reference, module):
                    dead.append((module, reference))
    assert dead == []
    assert count > 150
