"""Weight files: round trips, formats and refused files."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import save_file

from agents.architectures import load_player
from agents.weights import FORMAT, HEADER, SIZE, WeightsMetadata, load_weights, save_weights
from checkers_env.files import write_atomically

METADATA = WeightsMetadata(
    architecture="blondie24-1999",
    king=1.7,
    regime="c0",
    seed=3,
    generation=840,
    depth=5,
    versions={"numpy": "2"},
    extra={"seconds": 1.5, "command": ["evolve", "--seed", "3"]},
)


def genome(size=1742, seed=0):
    return np.random.default_rng(seed).normal(size=size)


def fields(**changes):
    return {
        "architecture": "blondie24-1999",
        "king": 2.0,
        "regime": "c0",
        "seed": 0,
        "generation": 0,
        "format": FORMAT,
        **changes,
    }


def write(path, header=None, **tensors):
    metadata = {HEADER: header if isinstance(header, str) else json.dumps(header)}
    save_file(tensors or {"genome": genome()}, path, metadata=metadata if header else None)


def test_round_trip_is_exact(tmp_path):
    path = tmp_path / "a.safetensors"
    values = genome()
    values[:6] = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 1 / 3, -1e-200]
    save_weights(path, values, METADATA)
    found, metadata = load_weights(path)
    assert found.tobytes() == values.tobytes()
    assert found.dtype == np.float64
    assert metadata == METADATA
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.safetensors"]


@given(
    arrays(
        st.sampled_from([np.float64, np.float32, np.uint8]),
        st.integers(0, 70),
        elements=st.sampled_from([0, 0, 0, 1, 7]),
        fill=st.just(0),
    ),
    st.booleans(),
)
def test_sparse_weights_round_trip(tmp_path_factory, values, negative):
    values = -values if negative and values.dtype != np.uint8 else values  # so that there are -0.0
    path = tmp_path_factory.mktemp("weights") / "a.safetensors"
    save_weights(path, values, METADATA)
    found, metadata = load_weights(path)
    assert found.tobytes() == values.tobytes()
    assert found.dtype == values.dtype
    assert metadata == METADATA


def test_file_of_format_1_is_read_with_current_names(tmp_path):
    old = fields(format=1, options={"drawing": [[1]], "king": 2}, architecture="ntuple")
    old |= {"made": {"score": 4.0}, "playouts": {"simulations": 8}, "own_leaves": False}
    write(tmp_path / "old", old)
    found = load_weights(tmp_path / "old")[1]
    assert (found.architecture, found.extra) == ("ntuple", {"score": 4.0})
    assert (found.mcts_options, found.root_perspective) == ({"simulations": 8}, False)
    assert found.options == {"tuples": [[1]], "king": 2}
    save_weights(tmp_path / "new", genome(), found)
    assert load_weights(tmp_path / "new")[1] == found
    assert found.format == FORMAT == 2


def changed_size(size):
    return lambda path: save_weights(path, genome(size), METADATA)


def thinned(size=1742, entries=3, length=218):
    """Return a writer of files with sparse weights."""

    def make(path):
        header = {HEADER: json.dumps(fields() | {SIZE: size})}
        bits = np.zeros(length, np.uint8)
        bits[:3] = 1
        save_file({"genome": np.ones(entries), "present": bits}, path, metadata=header)

    return make


def of_dtype(path, name, size):
    """Write a file of 1742 zeros of a dtype that numpy does not know."""
    tensor = {"dtype": name, "shape": [1742], "data_offsets": [0, 1742 * size]}
    header = {"genome": tensor, "__metadata__": {HEADER: json.dumps(fields())}}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(1742 * size))


def not_finite(value):
    def make(path):
        values = genome()
        values[7] = value
        save_weights(path, values, METADATA)

    return make


DAMAGED = {
    "missing": (lambda path: None, "no weight file"),
    "directory": (lambda path: path.mkdir(), "not a valid weight file"),
    "no header": (write, "header"),
    "newer format": (lambda path: write(path, fields(format=99)), "format is 99, not 1 or 2"),
    "no format": (lambda path: write(path, {"king": 2.0}), "format is None"),
    "no genome": (lambda path: write(path, fields(), other=genome()), "genome"),
    "unknown network": (
        lambda path: write(path, fields(architecture="alphazero")),
        "'alphazero'.*blondie24-1999",
    ),
    "too few weights": (changed_size(1741), "1741.*1742"),
    "no number of weights": (thinned(size="many"), "weights is 'many'"),
    "another number of weights": (thinned(size=1754), "218 bytes are not a bit for each of 1754"),
    "too few entries": (thinned(entries=2), "2 entries for 3 places"),
    "brackets without end": (lambda path: write(path, "[" * 100_000), "header cannot be read"),
    "depth 65": (lambda path: write(path, fields(depth=65)), "depth is 65, not 1 to 64 plies"),
    "versions 3": (lambda path: write(path, fields(versions=3)), "versions is 3, which is no dict"),
    "foreign search": (
        lambda path: write(path, fields(search_options={"nodes": 5})),
        "search options are tie, order, ends_at_jump, not 'nodes'",
    ),
    "unknown tie": (
        lambda path: write(path, fields(search_options={"tie": "any"})),
        "cannot be played: tie must be one of first, last, chance, not 'any'",
    ),
    "simulations without end": (
        lambda path: write(path, fields(mcts_options={"simulations": float("inf")})),
        "cannot be played: simulations must be from 1 to 1000000000, not inf",
    ),
    "no tuples": (
        lambda path: write(path, fields(architecture="ntuple")),
        "options do not fit ntuple: .*'tuples'",
    ),
    "booleans": (lambda path: write(path, fields(), genome=genome() > 0), "weights are bool, not"),
    "bfloat16": (lambda path: of_dtype(path, "BF16", 2), "not a valid weight file"),
    "a matrix": (lambda path: write(path, fields(), genome=genome().reshape(2, 871)), "1742"),
    "code": (
        lambda path: path.write_bytes(b"\x80\x04cos\nsystem\n(S'exit 1'\ntR."),
        "not a valid weight file",
    ),
    # Weights that no network can have, which a file of ours may nevertheless say.
    "not a number": (not_finite(np.nan), "bad"),
    "beyond float32": (not_finite(1e300), "bad"),
    "king not a number": (lambda path: write(path, fields(king=float("nan"))), "bad"),
    "depth 0": (lambda path: write(path, fields(depth=0)), "bad"),
}


@pytest.mark.parametrize(("make", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_invalid_weight_file_is_refused_by_name(tmp_path, make, reason):
    path = tmp_path / "bad.safetensors"
    make(path)
    with pytest.raises(ValueError, match=reason) as raised:
        load_player(path)
    assert "bad.safetensors" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.safetensors"
    save_weights(path, genome(), METADATA)
    before = path.read_bytes()

    monkeypatch.setattr(os, failing, Mock(side_effect=OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_weights(path, genome(seed=1), METADATA)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.safetensors"]


def test_concurrent_writers_do_not_disturb_each_other(tmp_path):
    path, contents = tmp_path / "a.json", [bytes([65 + number]) * 20_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write_atomically, [path] * 80, contents * 10))
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]
