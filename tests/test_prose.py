"""Length of the sentences in the README and the docs."""

import ast
import re
from pathlib import Path

import pytest

from tests import ROOT

LIMIT = 25  # words
# Pages that may have sentences over the limit, and how many. These numbers only go down.
ALLOWED: dict[str, int] = {}
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if not {"_build", "generated"} & set(path.parts)
} | {
    name: ROOT / name
    for name in (
        *("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "agents/zoo/README.md"),
        "checkers_env/envs/aec.py",  # its docstring is docs/environment.md
    )
}
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^)]*\)")
NEW_BLOCK = re.compile(r"^\s*(?:[-*+]|\d+\.|:)\s+", re.MULTILINE)
# A full stop, an exclamation or a question mark, and a space, before what begins a sentence.
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_]*[A-Z0-9`])")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|No|al|[A-Z])\.")


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a Markdown text without its code, tables and headings."""
    text = COMMENT.sub("", FENCE.sub("\n\n", text))
    text = re.sub(r"`[^`\n]*(?:\n[^`\n]+)?`", "CODE", text)
    text = LINK.sub(r"\1", text)
    lines = [
        "" if re.match(r"\s*(\||#|</?\w|\+-|===)", line) else line for line in text.splitlines()
    ]
    text = NEW_BLOCK.sub("\n\n", "\n".join(lines))
    sentences = []
    for paragraph in re.split(r"\n\s*\n", text):
        joined = ABBREVIATION.sub(r"\1", " ".join(paragraph.split()))
        sentences += [part for part in SENTENCE_END.split(joined) if part]
    return sentences


def words_in(sentence: str) -> int:
    """Return the number of words; a dash or a lone sign is none."""
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def text_of(path: Path) -> str:
    """Return a page; of a module the docstring."""
    text = path.read_text(encoding="utf-8")
    return text if path.suffix == ".md" else ast.get_docstring(ast.parse(text)) or ""


def long_sentences(path: Path) -> list[str]:
    """Return the sentences of a page with more words than the limit."""
    return [sentence for sentence in sentences_of(text_of(path)) if words_in(sentence) > LIMIT]


@pytest.mark.parametrize("page", PAGES)
def test_no_page_has_more_long_sentences_than_it_had(page):
    found = long_sentences(PAGES[page])
    assert len(found) <= ALLOWED.get(page, 0), "\n".join(found)
