"""Parsers are linear: twice the text takes twice the steps, whatever it says.

Steps are counted, not timed; see :mod:`tests.step_counter`.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import agent_spec
from agents.agent_spec import AgentSpec
from agents.external.hub import notation
from checkers_env import fen, moves, pdn, pdn_tokens
from tests.step_counter import StepCounter

LENGTHS = (300, 600)  # characters, about
MOST = 2.3  # as many steps for twice the text; a quadratic parser takes 4 times as many

PARSERS = {
    "fen": (fen.parse, (fen,)),
    "pdn": (lambda text: pdn.loads(text, []), (pdn, pdn_tokens, fen, moves)),
    "first error of pdn": (pdn.loads, (pdn, pdn_tokens, fen, moves)),
    "moves": (moves.parse_squares, (moves,)),
    "agent": (AgentSpec.parse, (agent_spec,)),
    "hub": (notation.read_line, (notation,)),
}
PDN = [*'(){}[]\n\r "\\;%x*,/', "[a", "9-13", "1 ", " - ", "1-0", "1/2", "so"]
FRAGMENTS = {
    "fen": ["B", "W", "K", ":", ",", ".", "-", "1", "2", " ", "\n", ":H0"],
    "pdn": PDN,
    "first error of pdn": PDN,
    "moves": ["1", "x", "-", ":", " "],
    "agent": ["a", "@", "depth", "=", ",", ":", "1", "["],
    "hub": ["a", "=", '"', " ", "1", "\n"],
}


@pytest.fixture(autouse=True)
def _no_bound(monkeypatch):
    """The parsers themselves are linear, not only their bounded inputs."""
    monkeypatch.setattr(fen, "MAX_LENGTH", 10**9)


def check_linear(name, prefix, chunk, suffix):
    parse, modules = PARSERS[name]
    counter = StepCounter(*modules)
    fen._parse_cached.cache_clear()
    short, long = (
        counter.count(parse, prefix + chunk * (length // len(chunk)) + suffix) for length in LENGTHS
    )
    assert long <= MOST * short + 200, (name, prefix, chunk, suffix, short, long)


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
        ("agent", "a@", "depth=1,", "x"),
        ("agent", "a@b=", "[", ""),
        ("hub", "pos ", 'a="', ""),
        ("hub", "pos a", " ", "="),
    ],
)
def test_twice_the_text_takes_twice_the_steps(name, prefix, chunk, suffix):
    check_linear(name, prefix, chunk, suffix)


@pytest.mark.parametrize("name", PARSERS)
@given(st.data())
@settings(max_examples=40)
def test_any_repeated_text_takes_twice_the_steps(name, data):
    fragments = st.sampled_from(FRAGMENTS[name])
    sizes = ((0, 2), (1, 5), (0, 1))
    parts = [st.lists(fragments, min_size=least, max_size=most) for least, most in sizes]
    check_linear(name, *("".join(data.draw(part)) for part in parts))


def test_too_long_texts_are_refused_with_the_bound(monkeypatch):
    monkeypatch.setattr(fen, "MAX_LENGTH", 1000)
    with pytest.raises(ValueError, match="50,005 characters, at most 1,000 are read") as error:
        fen.parse("B:W1" + " " * 50_000 + "x")
    assert len(str(error.value)) < 300
    tags = "".join(f'[A{number} "x"]\n' for number in range(200_000))
    with pytest.raises(pdn.PdnError, match="line 1, column 1: a game of more than 1,000,000 char"):
        pdn.loads(tags)
