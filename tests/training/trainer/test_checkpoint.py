"""Checkpoints: round trips, atomic writes and errors."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from training.evolution.state import Population, State, rng_from_json, rng_to_json
from training.trainer.checkpoint import (
    CHECKSUM,
    FILE_NAME,
    HEADER,
    Checkpoint,
    check_same_run,
    load_checkpoint,
    save_checkpoint,
)


def sample(generation=2, seed=0):
    rng = np.random.default_rng(seed)
    rng.standard_normal(5)
    genomes = rng.standard_normal((3, 11))
    genomes[0, :4] = [-0.0, 5e-324, np.inf, np.nan]
    population = Population(genomes, rng.random((3, 11)), rng.uniform(1, 3, 3))
    scores = np.array([2.0, 0.1 + 0.2, -14.0])
    state = State(generation, rng_to_json(rng), {**population.to_arrays(), "scores": scores})
    history = {"curve/heuristic": [np.nan, 0.1, -0.0], "games/plies": [1 / 3, 200.0, 61.5]}
    config_key = {"regime": "Coevolution", "seed": 3, "weight": 0.1, "both_score": True, "no": None}
    return Checkpoint(state, history, config_key)


def assert_equal(first, second):
    np.testing.assert_equal(asdict(first), asdict(second))
    genomes, others = first.state.population.genomes, second.state.population.genomes
    assert genomes.tobytes() == others.tobytes()


def refusal(folder):
    with pytest.raises(ValueError, match=re.escape(str(folder))) as raised:
        load_checkpoint(folder)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def rewrite(folder, change_header=lambda header: header, leave_out=None):
    """Damage an otherwise valid checkpoint."""
    save_checkpoint(folder, sample())
    path = folder / FILE_NAME
    arrays = load_file(path)
    arrays.pop(leave_out, None)
    with safe_open(str(path), framework="numpy") as file:
        header = json.loads(file.metadata()[HEADER])
    del header[CHECKSUM]  # older checkpoints have none
    save_file(arrays, path, metadata={HEADER: json.dumps(change_header(header))})


@pytest.mark.parametrize("words", [2, 3])
def test_generator_continues_after_loading(tmp_path, words):
    rng = np.random.default_rng(5)
    rng.integers(10, size=words, dtype=np.int32)  # 3 leave half a draw in the generator
    save_checkpoint(
        tmp_path, replace(sample(), state=replace(sample().state, rng=rng_to_json(rng)))
    )
    restored = rng_from_json(load_checkpoint(tmp_path).state.rng)
    for draw in (lambda rng: rng.integers(10, size=7, dtype=np.int32), np.random.Generator.random):
        np.testing.assert_array_equal(draw(restored), draw(rng))


def test_arrays_round_trip_exactly(tmp_path):
    genomes = np.random.default_rng(1).standard_normal((4, 22))
    arrays = {
        "sources": np.array([-1.0, 5e-324, np.nan]),
        "genomes": genomes[::-1, ::2],  # a view of a larger array
        "steps": np.zeros((0, 11)),
        "entries": np.arange(3, dtype=np.int32),
        "history/inner": np.array([[-0.0]]),
        "state/inner": np.array([3.0]),
    }
    save_checkpoint(tmp_path, replace(sample(), state=replace(sample().state, arrays=arrays)))
    loaded = load_checkpoint(tmp_path).state.arrays
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[name].tobytes() == array.tobytes()
        assert (loaded[name].shape, loaded[name].dtype) == (array.shape, array.dtype)


def test_folder_without_a_run_is_an_error(tmp_path):
    assert "there is no run to resume" in refusal(tmp_path / "not_there")
    (tmp_path / FILE_NAME).mkdir()
    assert "not a valid checkpoint" in refusal(tmp_path)


def with_flipped_bit(name, bit):
    def flip(content):
        start = 8 + int.from_bytes(content[:8], "little")
        first, _ = json.loads(content[8:start])[name]["data_offsets"]
        changed = bytearray(content)
        changed[start + first + bit // 8] ^= 1 << bit % 8
        return bytes(changed)

    return flip


CHANGED = "its content has changed since it was saved"
DAMAGES = [  # of the file's content
    *(
        (lambda content, share=share: content[: int(share * len(content))], "")
        for share in (0.0, 0.001, 0.1, 0.5, 0.999)
    ),
    *((lambda _, content=content: content, "") for content in (b"PK\x03\x04" * 100, b"\x00" * 64)),
    (lambda content: content.replace(b'\\"seed\\": 3', b'\\"seed\\": 4'), CHANGED),
    (with_flipped_bit("state/genomes", 0), CHANGED),
    (with_flipped_bit("state/scores", 62), CHANGED),
    (with_flipped_bit("history/games/plies", 62), CHANGED),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_damaged_file_is_an_error(tmp_path, damage, message):
    save_checkpoint(tmp_path, sample())
    path = tmp_path / FILE_NAME
    content = path.read_bytes()
    path.write_bytes(damage(content))
    assert path.read_bytes() != content
    assert f"not a valid checkpoint: {message}" in refusal(tmp_path)


FIELDS = [  # of the header, and what is said of them
    ("format", 1, "its format is 1, not 2"),
    ("format", 99, "its format is 99, not 2"),
    *(
        ("generation", it, f"its generation is {it!r}, not a number from 0")
        for it in (None, "2", 2.0, True, -1)
    ),
    *(
        ("generation", it, f"its history of curve/heuristic has 3 values, not {it + 1}, one a gen")
        for it in (1, 3)
    ),
    *(("rng", it, "") for it in (None, 5, "", "[]", "{}", '{"bit_generator": "MT19937"}')),
    ("config", [], "its configuration is list, not an object"),
]
REQUIRED = ("format", "generation", "rng", "arrays", "config")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *((lambda it, name=name, value=value: it | {name: value}, m) for name, value, m in FIELDS),
        *((lambda it, name=name: it.pop(name) and it, f"it lacks '{name}'") for name in REQUIRED),
        *((lambda _, other=other: other, "") for other in ([], 5, None)),
    ],
)
def test_wrong_header_is_an_error(tmp_path, damage, message):
    rewrite(tmp_path, damage)
    assert f"not a valid checkpoint: {message}" in refusal(tmp_path)


def test_checkpoint_without_a_checksum_is_read(tmp_path):
    rewrite(tmp_path)
    assert_equal(load_checkpoint(tmp_path), sample())


def test_configuration_of_tuples_is_that_of_its_json(tmp_path):
    check_same_run(tmp_path, {"rates": [1.0, 2.0]}, {"rates": (1.0, 2.0)})
    with pytest.raises(ValueError, match=r"holds another run: rates is \[1.0\] there"):
        check_same_run(tmp_path, {"rates": [1.0]}, {"rates": (1.0, 2.0)})
