"""Entries of the transposition table."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agents.search.transposition import label, matches, tag_of, tt_tag
from agents.search.workspace import ENTRY
from checkers_env.jit import kernel
from checkers_env.movegen import Position

BOARD = st.integers(0, 2**35 - 1)
POSITION = st.builds(Position, BOARD, BOARD, BOARD, st.integers(0, 1))
LARGEST_NAMESPACE = 2**47 - 1


@kernel
def label_first(table, position, tag):
    """Label the first entry; return its tag."""
    label(table[0], position, tag)
    return tag_of(table[0])


@kernel
def first_matches(table, position, tag):
    return matches(table[0], position, tag)


@given(POSITION, st.integers(0, LARGEST_NAMESPACE), st.integers(0, 127), st.data())
def test_entry_keeps_its_position_and_tag(position, tt_namespace, remaining, data):
    table = np.zeros(1, ENTRY)
    tag = int(tt_tag(position, tt_namespace, remaining))
    assert label_first(table, position, tag) == tag
    assert first_matches(table, position, tag)
    board = data.draw(st.sampled_from(["black", "white", "kings"]))
    other = position._replace(
        **{board: getattr(position, board) ^ 1 << data.draw(st.integers(0, 34))}
    )
    assert not first_matches(table, other, tag)
    assert not first_matches(table, position, tag ^ 1 << data.draw(st.integers(0, 54)))
