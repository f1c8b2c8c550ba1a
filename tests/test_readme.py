"""The README's Python, run as a reader would: block after block in one session."""

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[1] / "README.md"
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_python_blocks_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = README.read_text(encoding="utf-8")
    session: dict[str, Any] = {"__name__": "readme"}
    monkeypatch.chdir(tmp_path)
    blocks = list(PYTHON_BLOCK.finditer(text))
    assert blocks, "README.md shows no Python"
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        source = "\n" * line + block[1]  # so that a traceback shows the README's own lines
        exec(compile(source, README, "exec"), session)
