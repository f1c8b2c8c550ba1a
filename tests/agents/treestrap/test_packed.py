"""Weight files of the large n-tuple network."""

import zlib
from dataclasses import replace

import numpy as np
import pytest

import agents
from agents.architectures import load_player
from agents.search.player import AlphaBeta
from agents.search.selective import STRONG
from agents.treestrap.tapered import GAP, LEVELS, TAPERED_ENTRIES, unpack_levels
from agents.weights import WeightsMetadata, save_weights

STEP = 2.0**-8
OPTIONS = {"step": STEP, "entries": TAPERED_ENTRIES}
HEADER = WeightsMetadata("tapered", 1.0, "strong", 0, 3, depth=3, options=OPTIONS)


def pack(levels):
    """Return the content of a weight file with these entries, int16."""
    entries = np.flatnonzero(levels)
    numbers = np.diff(entries, prepend=0).astype(GAP), levels.ravel()[entries].astype(LEVELS)
    planes = [each.view(np.uint8).reshape(-1, each.itemsize).T for each in numbers]
    return np.frombuffer(zlib.compress(b"".join(plane.tobytes() for plane in planes)), np.uint8)


@pytest.fixture(scope="module")
def table():
    found, rng = np.zeros(TAPERED_ENTRIES, np.int16), np.random.default_rng(0)
    found[rng.integers(0, found.size, 5000)] = rng.integers(-99, 100, 5000)
    return found


@pytest.fixture(scope="module")
def packed(table):
    return pack(table)


def saved(path, genome, header=HEADER):
    save_weights(path / "strong.safetensors", genome, header)
    return str(path / "strong.safetensors")


def test_saved_tables_play_as_the_original(tmp_path, table, packed):
    player = load_player(saved(tmp_path, packed))
    assert type(player) is AlphaBeta
    assert (player.depth, player.root_perspective, player.style) == (3, True, STRONG)
    assert np.array_equal(unpack_levels(packed.tobytes(), TAPERED_ENTRIES), table)


def test_player_trained_with_endgame_tables_uses_them(tmp_path, packed):
    header = replace(HEADER, options=OPTIONS | {"endgame": 2})
    path = saved(tmp_path, packed, header)
    player = load_player(path, 5)
    assert (player.depth, player.tablebase.indexing.pieces) == (5, 2)
    assert agents.make(path).player.depth == 3
    assert agents.make(path, depth=4).player.depth == 4
    assert agents.make(path, seconds=1.0).player.depth > 4


def with_options(**options):
    return {"options": OPTIONS | options}


@pytest.mark.parametrize(
    ("damage", "header", "told"),
    [
        (None, with_options(step=0.0), "the step of packed tables"),
        (None, with_options(endgame=9), "endgame tables are for 2 to 5 pieces, not 9"),
        (None, with_options(entries=9), "it is for other windows: 9 entries, not 94820824"),
        (lambda packed: packed[:-5], {}, "packed"),
        (None, {"architecture": "ntuple"}, ""),
    ],
)
def test_unsuitable_file_is_refused(tmp_path, packed, damage, header, told):
    genome = damage(packed) if damage else packed
    path = saved(tmp_path, genome, replace(HEADER, **header))
    with pytest.raises(ValueError, match=f"strong.safetensors' cannot be played: .*{told}"):
        agents.make(path)
