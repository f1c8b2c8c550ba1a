"""Fuzz targets: whatever a parser reads, it returns a value that round-trips, or a ValueError.

The default run takes seconds. ``HYPOTHESIS_PROFILE=fuzz pytest tests/test_fuzz.py`` tries 50 times
as many texts. ``data/fuzz_corpus.json`` holds the texts that were found to do harm.
"""

import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

import agents
from agents.agent_spec import AgentSpec
from agents.blondie.architecture import BLONDIE_1999
from agents.continual.pool import load_pool
from agents.external.dxp import messages
from agents.external.hub import commands, notation
from agents.weights import FORMAT, HEADER
from checkers_env import Board, fen, moves, pdn
from tests import DATA

BOARDS = (Board(), Board("B:W6,7,14,15:BK2"), Board("W:WK32:BK1"))
FIELDS = {"architecture": "blondie24-1999", "king": 2.0, "regime": "c0", "seed": 0, "generation": 0}
HEADER_TEXT = json.dumps(FIELDS | {"format": FORMAT})
FRAGMENTS = {
    "fen": [*"BWK:,.-0123 H\n", "W:W18,24,K31:B12,K3", "B:W21-32:B1-12", ":H0:F1", "\u0663"],
    "pdn": [
        *'([{}])\n\r "\\;%$!.*',
        *('[Event "a"]', '[FEN "W:W18:B9"]', '[Result "1-0"]', '[GameType "20"]', "1."),
        *("11-15", "9:13", "22x15x8", "1-0", "1/2-1/2", "0-0", "2-2", "\ufeff", "\u00bd", "so"),
        *(
            "1 ",
            ",",
            " \u2013 ",
            '[FEN "b:w5,6,13,14,:bk1,k9,"]',
            '/FEN "W:W32:B1"/',
            "1x17",
            "\x1a",
        ),
    ],
    "move": [*"0123456789-x: \n", "11-15", "2x9x18x11x2", "32-28", "\u0661"],
    "agent": [
        *"@=,:[]{}\"'. \0",
        *("strong", "depth=", "seconds=", "selective=", "4", "1e999", "nan", "9" * 30),
        *("hub:", "dxp:", "policy:", "file.py:", ".safetensors", ".zip", "continual:", "null"),
    ],
    "hub": [
        *'= "\t\n',
        *("pos", "level", "set-param", "pos=", "moves=", "name=", "value=", "depth", "agent"),
        *(
            "Bbbbbbbbbbbbbeeeeeeeewwwwwwwwwwww",
            "Weeee",
            "11-15",
            "15x22x18",
            "time=",
            "inf",
            "1e400",
        ),
    ],
    "dxp": [*"RAMECBKZWzwe0123456789 \0\xff", " " * 32, "Zwezwe" * 5, "0015", "B" + "e" * 32],
    "header": [*'{}[]",:-.0123456789', *map(json.dumps, FIELDS), "null", "1e999", '"weights":'],
}
CORPUS = json.loads((DATA / "fuzz_corpus.json").read_text("utf-8"))


@st.composite
def hostile_texts(draw, name):
    """Return fragments and any characters in any order, some of them many times."""
    part = st.lists(st.sampled_from(FRAGMENTS[name]) | st.text(max_size=2), max_size=8)
    prefix, chunk, suffix = ("".join(draw(part)) for _ in range(3))
    return prefix + chunk * draw(st.sampled_from([1, 1, 2, 50, 1000])) + suffix


def reason(check, value):
    """Return the message of a check's ValueError; None if there is none."""
    try:
        check(value)
    except ValueError as error:
        return str(error)
    return None


def check_fen(text):
    position = fen.parse(text)
    assert fen.parse(fen.format_position(*position)) == position


def check_pdn(text):
    errors = []
    games = pdn.loads(text, errors)
    again = pdn.loads(pdn.dumps(games))
    assert [(game.moves, game.result) for game in again] == [
        (game.moves, game.result) for game in games
    ]
    for error in errors:
        assert 1 <= error.line <= len(re.split(r"\r\n?|\n", text))
        assert error.column >= 1
    if errors:
        raise errors[0]
    assert pdn.loads(text) == games


def check_move(text):
    found = []
    for board in BOARDS:
        try:
            found.append(moves.find_move(text, board.legal_moves))
        except ValueError as error:
            wrong = error
        else:
            assert found[-1] in board.legal_moves
    if not found:
        raise wrong


def check_agent(text):
    spec = AgentSpec.parse(text)
    assert str(AgentSpec.parse(str(spec))) == str(spec)


def check_hub(text):
    command, arguments = notation.read_line(text)
    assert notation.read_line(notation.write_line(command, arguments)) == (command, arguments)
    if command == "pos":
        board = commands.read_pos(arguments, "auto")
        assert notation.read_position(notation.write_position(board, "english"), "english") == board
    elif command == "level":
        commands.read_level(arguments)
    elif command == "set-param":
        commands.set_param(commands.HubConfig(), arguments)


def check_dxp(text):
    message = messages.decode(text.encode("latin-1", "replace"))
    assert messages.decode(messages.encode(message)) == message
    if isinstance(message, messages.GameRequest):
        fen.check_position(messages.read_position(message))


CHECKS = {
    "fen": check_fen,
    "pdn": check_pdn,
    "move": check_move,
    "agent": check_agent,
    "hub": check_hub,
    "dxp": check_dxp,
}


@pytest.mark.parametrize("name", CHECKS)
@given(st.data())
def test_any_text_is_read_or_refused(name, data):
    assert reason(CHECKS[name], data.draw(hostile_texts(name))) != ""


@pytest.mark.parametrize(("name", "parts"), [(it, p) for it in CHECKS for p in CORPUS[it]])
def test_a_text_of_the_corpus_is_read_or_refused(name, parts):
    prefix, chunk, times, suffix = parts
    assert reason(CHECKS[name], prefix + chunk * times + suffix) != ""


def weight_file(header):
    genome = np.zeros(BLONDIE_1999.genome_size)
    return save({"genome": genome}, metadata={HEADER: header})


def load(path):
    """Read a weight file as a pool, which it is not, and as a player. May raise ValueError."""
    with pytest.raises(ValueError, match=re.escape(str(path))):
        load_pool(path)
    agents.make(path)


@given(
    header=st.one_of(
        hostile_texts("header"),
        st.dictionaries(
            st.sampled_from([*FIELDS, "depth", "options", "weights", "format", "versions"]),
            st.none() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.none()),
        ).map(lambda changes: json.dumps(FIELDS | {"format": FORMAT} | changes)),
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_header_of_a_weight_file_is_read_or_refused(tmp_path, header):
    path = tmp_path / "a.safetensors"
    path.write_bytes(weight_file(header))
    assert str(path) in (reason(load, path) or str(path))


@given(
    changes=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=5),
    length=st.none() | st.integers(0, 2**20),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_to_a_weight_file_is_read_or_refused(tmp_path, changes, length):
    path, content = tmp_path / "a.safetensors", bytearray(weight_file(HEADER_TEXT))
    for place, byte in changes:
        content[place % min(len(content), 1000)] = byte  # most of them in the header
    path.write_bytes(content[: None if length is None else length % len(content)])
    assert str(path) in (reason(load, path) or str(path))


@pytest.mark.parametrize("parts", CORPUS["header"])
def test_a_header_of_the_corpus_is_refused(tmp_path, parts):
    prefix, chunk, times, suffix = parts
    path = tmp_path / "a.safetensors"
    path.write_bytes(weight_file(prefix + chunk * times + suffix))
    with pytest.raises(ValueError, match=r"a\.safetensors"):
        load(path)
