"""Weight files of the large n-tuple network."""

from dataclasses import replace

import numpy as np
import pytest

import agents
from agents.architectures import load_player
from agents.search.player import AlphaBeta
from agents.search.selective import STRONG
from agents.treestrap.codec import STEP, pack, unpack
from agents.treestrap.network import SIZE, STAGES
from agents.weights import WeightsMetadata, save_weights

OPTIONS = {"step": STEP, "entries": STAGES * SIZE}
HEADER = WeightsMetadata("treestrap", 1.0, "strong", 0, 3, depth=3, options=OPTIONS)


@pytest.fixture(scope="module")
def table():
    found, rng = np.zeros((STAGES, SIZE), np.float32), np.random.default_rng(0)
    found.ravel()[rng.integers(0, found.size, 5000)] = rng.normal(0, 0.1, 5000)
    return found


@pytest.fixture(scope="module")
def packed(table):
    return pack(table)


def saved(path, genome, header=HEADER):
    save_weights(path / "strong.safetensors", genome, header)
    return str(path / "strong.safetensors")


def test_saved_tables_play_as_the_original(tmp_path, table, packed):
    path = saved(tmp_path, packed)
    player = load_player(path)
    assert type(player) is AlphaBeta
    assert (player.depth, player.root_perspective, player.style) == (3, True, STRONG)
    assert np.array_equal(player.evaluator.table, unpack(packed).reshape(STAGES, SIZE))
    assert np.max(np.abs(player.evaluator.table * STEP - table)) <= STEP / 2
    assert load_player(path, 6).depth == 6


def test_player_trained_with_endgame_tables_uses_them(tmp_path, packed):
    header = replace(HEADER, options=OPTIONS | {"endgame": 2})
    path = saved(tmp_path, packed, header)
    player = load_player(path, 5)
    assert (player.depth, player.tablebase.indexing.pieces) == (5, 2)
    assert agents.make(path).player.depth == 3
    assert agents.make(path, depth=4).player.depth == 4
    assert agents.make(path, seconds=1.0).player.depth > 4
    assert agents.make(path, endgame=3).player.tablebase.indexing.pieces == 3
    assert agents.make(path, simulations=10).player.simulations == 10


def with_options(**options):
    return {"options": OPTIONS | options}


@pytest.mark.parametrize(
    ("damage", "header", "told"),
    [
        (None, with_options(step=0.0), "the step of packed tables"),
        (None, with_options(endgame=9), "endgame tables are for 2 to 5 pieces, not 9"),
        (None, with_options(entries=9), "it is for other windows: 9 entries, not 94755288"),
        (None, with_options(windows=9), "unexpected keyword"),
        (lambda packed: packed[:-5], {}, "packed"),
        (lambda packed: packed[1:], {}, "packed"),
        (lambda packed: packed.astype(float), {}, "packed"),
        (lambda packed: np.ones(100), {}, "packed"),
        (None, {"architecture": "ntuple"}, ""),
    ],
)
def test_unsuitable_file_is_refused(tmp_path, packed, damage, header, told):
    genome = damage(packed) if damage else packed
    path = saved(tmp_path, genome, replace(HEADER, **header))
    with pytest.raises(ValueError, match=f"strong.safetensors' cannot be played: .*{told}"):
        agents.make(path)
