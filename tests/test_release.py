"""What a release needs: one version everywhere, and a workflow that runs the checks."""

import re
import tomllib

from tests import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_one_version_everywhere():
    version = PROJECT["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\d+\.\d+\.\d+) - ", changelog, re.MULTILINE)[0] == version
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [version]
    assert re.findall(r"^license: (.+)$", citation, re.MULTILINE) == [PROJECT["license"]]


def test_classifiers_name_the_supported_pythons():
    low, high = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    named = {it.rpartition("3.")[2] for it in PROJECT["classifiers"] if ":: Python :: 3." in it}
    assert named == {str(minor) for minor in range(int(low), int(high))}


def test_the_workflow_runs_ci():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "- run: .ci/run\n" in workflow
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_messages_and_docs_name_extras_that_exist():
    extras = set(PROJECT["optional-dependencies"])
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    sources = [
        path
        for name in ("checkers_env", "agents", "training")
        for path in (ROOT / name).rglob("*.py")
    ]
    text = "".join(path.read_text(encoding="utf-8") for path in (*pages, *sources))
    named = set(re.findall(r"pip install '(?:\.|checkers-laboratory)\[(\w+)\]'", text))
    assert {"sb3", "human", "ray"} <= named <= extras
