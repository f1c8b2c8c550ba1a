"""Parsers are linear in the length of a text: half a million characters are read or refused.

A parser that looks back at all that it has read takes hours for them, and a linear one seconds.
"""

import signal
from contextlib import suppress

import pytest

from agents.agent_spec import AgentSpec
from agents.external.hub import notation
from checkers_env import fen, moves, pdn

LENGTH = 500_000  # characters, about
SECONDS = 60  # for a text

PARSERS = {
    "fen": fen.parse,
    "pdn": lambda text: pdn.loads(text, []),
    "moves": moves.parse_squares,
    "agent": AgentSpec.parse,
    "hub": notation.read_line,
}


@pytest.fixture
def _alarm(monkeypatch):
    """End a test that takes too long; the FEN parser reads a text of any length."""

    def fail(number, frame):
        raise AssertionError(f"the parser takes more than {SECONDS} seconds")

    monkeypatch.setattr(fen, "MAX_LENGTH", 10**9)
    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_alarm")
@pytest.mark.parametrize(
    ("name", "prefix", "chunk", "suffix"),
    [
        ("fen", "B:W1", " ", "x"),
        ("fen", "B:W1:B", " 2 ,", ""),
        ("fen", "B:W1:B2", ":H0", ""),
        ("pdn", "", "(\n[a\n", ""),
        ("pdn", "", "{\n[a\n", ""),
        ("pdn", "", "( {\n[a\n", "}"),
        ("pdn", "", "x 1-0 ", ""),
        ("pdn", "", "x\n1-0\n", ""),
        ("pdn", "", " [x 1-0 ", ""),
        ("pdn", "", "(", ""),
        ("pdn", "", "[a", " "),
        ("pdn", '[FEN "B:W1', " ", 'x"]'),
        ("pdn", "9-13 ", "1-", ""),
        ("pdn", "9-13 ", '[a "\\" 1-0 ', ""),
        ("pdn", "", '[Event "x"]\n', ""),
        ("pdn", "", '/FEN "W:W32:B1"/ ', ""),
        ("moves", "1", "x1", "y"),
        ("moves", "1", " ", "x"),
        ("agent", "a@", "depth=1,", "x"),
        ("agent", "a@b=", "[", ""),
        ("hub", "pos ", 'a="', ""),
        ("hub", "pos a", " ", "="),
    ],
)
def test_long_text_is_read_or_refused_in_time(name, prefix, chunk, suffix):
    with suppress(ValueError):
        PARSERS[name](prefix + chunk * (LENGTH // len(chunk)) + suffix)


def test_too_long_texts_are_refused_with_the_bound(monkeypatch):
    monkeypatch.setattr(fen, "MAX_LENGTH", 1000)
    with pytest.raises(ValueError, match="50,005 characters, at most 1,000 are read") as error:
        fen.parse("B:W1" + " " * 50_000 + "x")
    assert len(str(error.value)) < 300
    tags = "".join(f'[A{number} "x"]\n' for number in range(200_000))
    with pytest.raises(pdn.PdnError, match="line 1, column 1: a game of more than 1,000,000 char"):
        pdn.loads(tags)
