"""Checkpoints: round trips, atomic writes and errors."""

import errno
import json
import os
import re
from dataclasses import asdict, replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from agents.weights import WeightsMetadata, save_weights
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


def test_round_trip_is_exact(tmp_path):
    save_checkpoint(tmp_path, sample())
    assert_equal(load_checkpoint(tmp_path), sample())


def test_arrays_of_a_regime_round_trip_exactly(tmp_path):
    arrays = {
        "sources": np.array([-1.0, 5e-324, np.nan]),
        "genomes": np.random.default_rng(1).standard_normal((2, 11)),
        "steps": np.zeros((0, 11)),
        "names": np.zeros(0),
        "history/inner": np.array([[-0.0]]),
        "state/inner": np.array([3.0]),
    }
    given = replace(sample(), state=replace(sample().state, arrays=arrays))
    save_checkpoint(tmp_path, given)
    loaded = load_checkpoint(tmp_path)
    assert loaded.state.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded.state.arrays[name].tobytes() == array.tobytes()
        assert loaded.state.arrays[name].shape == array.shape
        assert loaded.state.arrays[name].dtype == np.float64


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


def test_views_of_a_larger_array_are_saved_correctly(tmp_path):
    given = sample()
    population = given.state.population.pick([2, 0])
    strided = Population(population.genomes[:, ::2], population.steps[::-1], population.kings)
    given = replace(given, state=replace(given.state, arrays=strided.to_arrays()))
    save_checkpoint(tmp_path, given)
    assert_equal(load_checkpoint(tmp_path), given)


def test_later_checkpoint_replaces_the_earlier_one(tmp_path):
    save_checkpoint(tmp_path, sample())
    save_checkpoint(tmp_path, sample(seed=1))
    assert_equal(load_checkpoint(tmp_path), sample(seed=1))
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize(("owner", "name"), [(os, "fsync"), (Path, "replace")])
def test_failed_write_keeps_the_old_checkpoint(tmp_path, monkeypatch, owner, name):
    save_checkpoint(tmp_path, sample())
    with monkeypatch.context() as patch:
        patch.setattr(
            owner, name, Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
        )
        with pytest.raises(OSError, match="No space left"):
            save_checkpoint(tmp_path, sample(seed=1))
    assert_equal(load_checkpoint(tmp_path), sample())
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_folder_without_a_run_is_an_error(tmp_path):
    assert "there is no run to resume" in refusal(tmp_path)
    assert "there is no run to resume" in refusal(tmp_path / "not_there")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.999])
def test_truncated_checkpoint_is_an_error(tmp_path, share):
    save_checkpoint(tmp_path, sample())
    path = tmp_path / FILE_NAME
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "not a valid checkpoint" in refusal(tmp_path)


@pytest.mark.parametrize("content", [b"PK\x03\x04" * 100, b"\x00" * 64, b"\xff" * 1000])
def test_file_of_another_kind_is_an_error(tmp_path, content):
    (tmp_path / FILE_NAME).write_bytes(content)
    assert "not a valid checkpoint" in refusal(tmp_path)


def test_weight_file_is_not_a_checkpoint(tmp_path):
    save_weights(
        tmp_path / FILE_NAME, np.zeros(3), WeightsMetadata("blondie24-1999", 2.0, "c0", 0, 0)
    )
    message = refusal(tmp_path)
    assert "not a valid checkpoint" in message
    assert "header" in message


def test_folder_in_place_of_the_file_is_an_error(tmp_path):
    (tmp_path / FILE_NAME).mkdir()
    assert "not a valid checkpoint" in refusal(tmp_path)


@pytest.mark.parametrize("number", [1, 99])
def test_other_format_is_an_error(tmp_path, number):
    rewrite(tmp_path, lambda header: header | {"format": number})
    assert refusal(tmp_path) == (
        f"{str(tmp_path / FILE_NAME)!r} is not a valid checkpoint: its format is {number}, not 2"
    )


@pytest.mark.parametrize("name", ["format", "generation", "rng", "arrays", "config"])
def test_header_without_a_field_is_an_error(tmp_path, name):
    rewrite(tmp_path, lambda header: {key: header[key] for key in header if key != name})
    assert name in refusal(tmp_path)


def test_checkpoint_without_a_checksum_is_read(tmp_path):
    rewrite(tmp_path)
    assert_equal(load_checkpoint(tmp_path), sample())


@pytest.mark.parametrize("name", ["state/genomes", "state/scores", "history/games/plies"])
@pytest.mark.parametrize("bit", [0, 62])
def test_flipped_bit_is_an_error(tmp_path, name, bit):
    save_checkpoint(tmp_path, sample())
    path = tmp_path / FILE_NAME
    content = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(content[:8], "little")
    first, _ = json.loads(content[8:start])[name]["data_offsets"]
    content[start + first + bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    assert "not a valid checkpoint: its content has changed since it was saved" in refusal(tmp_path)


def test_changed_header_is_an_error(tmp_path):
    save_checkpoint(tmp_path, sample())
    path = tmp_path / FILE_NAME
    content = path.read_bytes()
    path.write_bytes(content.replace(b'\\"seed\\": 3', b'\\"seed\\": 4'))
    assert path.read_bytes() != content
    assert "its content has changed since it was saved" in refusal(tmp_path)


def test_equal_checkpoints_give_equal_files(tmp_path):
    files = []
    for _ in range(2):
        save_checkpoint(tmp_path, sample())
        files.append((tmp_path / FILE_NAME).read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("generation", [None, "2", 2.0, True, -1])
def test_generation_that_is_no_number_is_an_error(tmp_path, generation):
    rewrite(tmp_path, lambda header: header | {"generation": generation})
    said = f"not a valid checkpoint: its generation is {generation!r}, not a number from 0"
    assert said in refusal(tmp_path)


@pytest.mark.parametrize("rng", [None, 5, "", "[]", "{}", '{"bit_generator": "MT19937"}'])
def test_generator_that_cannot_be_restored_is_an_error(tmp_path, rng):
    rewrite(tmp_path, lambda header: header | {"rng": rng})
    assert "not a valid checkpoint" in refusal(tmp_path)


@pytest.mark.parametrize("generation", [1, 3])
def test_history_of_another_length_is_an_error(tmp_path, generation):
    rewrite(tmp_path, lambda header: header | {"generation": generation})
    said = f"its history of curve/heuristic has 3 values, not {generation + 1}, one a generation"
    assert said in refusal(tmp_path)


@pytest.mark.parametrize("header", [[], 5, None])
def test_header_of_another_kind_is_an_error(tmp_path, header):
    rewrite(tmp_path, lambda _: header)
    assert "not a valid checkpoint" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["state/genomes", "state/steps", "state/kings", "state/scores"])
def test_missing_array_is_an_error(tmp_path, name):
    rewrite(tmp_path, leave_out=name)
    assert name in refusal(tmp_path)


def test_configuration_of_tuples_is_that_of_its_json(tmp_path):
    check_same_run(tmp_path, {"rates": [1.0, 2.0]}, {"rates": (1.0, 2.0)})
    with pytest.raises(ValueError, match=r"holds another run: rates is \[1.0\] there"):
        check_same_run(tmp_path, {"rates": [1.0]}, {"rates": (1.0, 2.0)})
