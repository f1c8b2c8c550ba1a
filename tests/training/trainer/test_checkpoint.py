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
from training.evolution.game_runner import open_game_runner
from training.evolution.state import Population, State, rng_from_json, rng_to_json
from training.regimes.coevolution_extended import ExtendedCoevolution
from training.regimes.evolution_strategies import EvolutionStrategy
from training.regimes.genetic_algorithm import GeneticAlgorithm
from training.regimes.social_learning import SocialLearning
from training.regimes.td_learning import TDLearning
from training.trainer.checkpoint import (
    FILE_NAME,
    HEADER,
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)


def sample(generation=7, seed=0):
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
    save_checkpoint(tmp_path, sample(8, seed=1))
    assert_equal(load_checkpoint(tmp_path), sample(8, seed=1))
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize(("owner", "name"), [(os, "fsync"), (Path, "replace")])
def test_failed_write_keeps_the_old_checkpoint(tmp_path, monkeypatch, owner, name):
    save_checkpoint(tmp_path, sample())
    with monkeypatch.context() as patch:
        patch.setattr(
            owner, name, Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
        )
        with pytest.raises(OSError, match="No space left"):
            save_checkpoint(tmp_path, sample(8, seed=1))
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


def test_other_format_is_an_error(tmp_path):
    rewrite(tmp_path, lambda header: header | {"format": 99})
    assert "its format is 99, not 2" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["format", "generation", "rng", "arrays", "config"])
def test_header_without_a_field_is_an_error(tmp_path, name):
    rewrite(tmp_path, lambda header: {key: header[key] for key in header if key != name})
    assert name in refusal(tmp_path)


@pytest.mark.parametrize("header", [[], 5, None])
def test_header_of_another_kind_is_an_error(tmp_path, header):
    rewrite(tmp_path, lambda _: header)
    assert "not a valid checkpoint" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["state/genomes", "state/steps", "state/kings", "state/scores"])
def test_missing_array_is_an_error(tmp_path, name):
    rewrite(tmp_path, leave_out=name)
    assert name in refusal(tmp_path)


NAMES = ("genomes", "steps", "kings", "scores")


def save_format_1(folder, regime, state):
    """Write a checkpoint as versions before `kind` and before states without dummies did."""
    arrays = dict(state.arrays)
    main = {name: arrays.pop(name) for name in NAMES if name in arrays}
    zeros = {"steps": np.zeros((1, 0)), "kings": np.ones(1), "scores": np.zeros(1)}
    if "mean" in arrays:
        main = {"genomes": arrays.pop("mean")[None], "steps": main["steps"][None]}
        arrays = {
            name: array[None] if name in ("momentum", "squares") else array
            for name, array in arrays.items()
        }
    elif "weights" in arrays:
        main = zeros | {"genomes": arrays.pop("weights")[None]}
    if "tuples" in arrays:
        arrays["drawing"] = arrays.pop("tuples")
    main = zeros | main
    extra = {}
    for name, array in arrays.items():
        prefix, _, rest = name.rpartition("/")
        extra[f"{prefix}-{rest}" if prefix in ("hall", "reigning") else rest] = array
    identity = {"name": "a run", **asdict(regime), "seed": 5}
    if "root_perspective" in identity:
        identity["own_leaves"] = identity.pop("root_perspective")
    header = {
        "format": 1,
        "generation": state.generation,
        "rng": state.rng,
        "identity": identity,
    }
    named = main | {f"extra/{name}": array for name, array in extra.items()}
    named["history/games/plies"] = np.array([np.nan, 61.5])
    named = {name: np.ascontiguousarray(array) for name, array in named.items()}
    save_file(named, folder / FILE_NAME, metadata={HEADER: json.dumps(header)})


@pytest.mark.parametrize(
    "regime",
    [
        ExtendedCoevolution("walks-5", parents=2, opponents=1, hall=1, depth=1, max_moves=4),
        SocialLearning("weighted-pieces", parents=2, opponents=1, depth=1, max_moves=4),
        GeneticAlgorithm(opponents=1, depth=1, max_moves=4),
        EvolutionStrategy("blondie24-1999", "openai-es", pairs=2, depth=1, max_moves=4),
        EvolutionStrategy("blondie24-1999", "sep-cma-es", pairs=2, depth=1, max_moves=4),
        TDLearning("walks-3", games=2, max_moves=4),
    ],
    ids=lambda regime: f"{regime.kind}-{getattr(regime, 'strategy', '')}",
)
def test_run_resumes_from_a_checkpoint_of_format_1(tmp_path, regime):
    with open_game_runner(1) as runner:
        state, _ = regime.step(regime.init(5), runner)
        save_format_1(tmp_path, regime, state)
        loaded = load_checkpoint(tmp_path)
        expected = {"name": "a run", "kind": regime.kind, **asdict(regime), "seed": 5}
        assert loaded.config_key == expected
        assert loaded.history.keys() == {"games/plies"}
        np.testing.assert_equal(asdict(loaded.state), asdict(state))
        after, there = (regime.step(one, runner)[0] for one in (state, loaded.state))
    np.testing.assert_equal(asdict(there), asdict(after))


@pytest.mark.parametrize("name", NAMES)
def test_missing_array_in_format_1_is_an_error(tmp_path, name):
    regime = GeneticAlgorithm()
    save_format_1(tmp_path, regime, regime.init(0))
    path = tmp_path / FILE_NAME
    arrays = load_file(path)
    del arrays[name]
    with safe_open(str(path), framework="numpy") as file:
        metadata = file.metadata()
    save_file(arrays, path, metadata=metadata)
    assert name in refusal(tmp_path)
