"""The Python blocks of the README and of the docs, run in order."""

import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import agents
import checkers_env
import training
from tests import ROOT

PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a reader of the page has done by then, in small.
BEFORE = {
    "social-learning": "evolve.py c10 --generations 10 --regime.parents 2 --regime.depth 1",
}
DOCS = [path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts]
PAGES = [ROOT / "README.md", *sorted(DOCS)]


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    for block in PYTHON_BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        yield "\n" * line + block[1]  # so that a traceback shows the page's own lines


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(blocks_of(page))], ids=lambda page: page.stem
)
def test_python_blocks_run_in_order(page, tmp_path, monkeypatch):
    session = {"__name__": page.stem}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").symlink_to(ROOT / "results")  # pages are for the root of a clone
    scripts = str(Path(sys.executable).parent)  # where ours are, such as checkers-hub
    monkeypatch.setenv("PATH", scripts + os.pathsep + os.environ["PATH"])
    if page.stem in BEFORE:
        script, *options = BEFORE[page.stem].split()
        subprocess.run([sys.executable, ROOT / "training" / script, *options], check=True)
    for source in blocks_of(page):
        exec(compile(source, page, "exec"), session)


@pytest.mark.parametrize(
    "package", [agents, checkers_env, training], ids=lambda each: each.__name__
)
def test_reference_has_every_public_name(package):
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    part = text.partition(f"## {package.__name__}\n")[2].partition("\n## ")[0]
    described = re.findall(r"^\.\. auto\w+:: (?:\w+\.)?(\w+)", part, re.MULTILINE)
    described += re.findall(r"^`(\w+)` is", part, re.MULTILINE)
    assert set(described) == set(getattr(package, "__all__", []))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    made = ("http", "generated/")  # these pages are written when the docs are built
    files = [page.parent / link for link in links if not link.startswith(made)]
    assert [file for file in files if not file.exists()] == []


FOLDERS = "agents|checkers_env|docs|examples|tests|training"
ENVIRONMENT = re.compile(r"checkers_env/[\w-]+-v\d")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_pages_name_only_files_and_modules_that_exist(page):
    text = ENVIRONMENT.sub("", page.read_text(encoding="utf-8"))
    paths = re.findall(rf"(?<![\w/])(?:{FOLDERS})/[\w./-]*[\w/]", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []
    for name in re.findall(r"`((?:agents|checkers_env|training)(?:\.[a-z_]\w*)+)", text):
        if not (ROOT / f"{name.replace('.', '/')}.py").exists():  # it may need an extra
            pkgutil.resolve_name(name)  # raises for a name that does not exist
