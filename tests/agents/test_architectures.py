"""The table of architectures: a new evaluator needs one entry."""

import runpy
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from agents import architectures, evaluator
from agents.architectures import ARCHITECTURES, Encoding, find_encoding, register, sample_options
from agents.evaluator import evaluate_position
from agents.weights import WeightsMetadata, save_weights
from checkers_env.board import Board
from tests import ROOT

NAME, EXAMPLE = "advance", ROOT / "examples" / "own_evaluator.py"


@pytest.fixture(scope="module")
def example():
    """Yield the example's functions; its evaluator is registered during these tests."""
    yield runpy.run_path(str(EXAMPLE))
    del ARCHITECTURES[NAME]


def test_new_evaluator_loads_and_is_explained(example, tmp_path):
    """The example itself trains by coevolution and by temporal differences."""
    path, weights = tmp_path / "own.safetensors", np.array([0.3, -0.1])
    save_weights(path, weights, WeightsMetadata(NAME, 1.5, "own", 0, 3))
    agent, board = agents.make(path), Board("W:W18,24,K31:B12,K3")
    assert np.array_equal(agent.player.evaluator.weights, weights)
    shown = agents.explain(agent, board).to_json()
    assert [term["name"] for term in shown["terms"]] == ["piece difference", *example["FEATURES"]]
    assert np.tanh(shown["total"]) == pytest.approx(shown["value"], abs=1e-6)
    assert [square["square"] for square in shown["squares"]] == [3, 12, 18, 24, 31]


def test_page_without_an_explanation_shows_the_value_only(example, monkeypatch):
    plain = architectures.Architecture(example["Advance"], example["Advance"], 2)
    monkeypatch.setitem(ARCHITECTURES, NAME, plain)
    own = Encoding(NAME).build(np.array([0.1, 0.2]), 1.5)
    agent = agents.PlayerAgent("own", architectures.AlphaBeta(own, 1))
    shown = agents.explain(agent, Board()).to_json()
    assert (shown["kind"], shown["terms"]) == ("opaque", [])
    assert shown["value"] == evaluate_position(own, Board().position, 0)


def test_names_of_the_table_are_reserved(example):
    with pytest.raises(ValueError, match="an architecture 'advance' already"):
        register(NAME, ARCHITECTURES[NAME])
    message = "'advanced'; known are blondie24-1999, .*advance, and those of your own"
    with pytest.raises(ValueError, match=message):
        Encoding("advanced").architecture  # noqa: B018 - the look-up raises


def start_to(count):
    """Return a start of the state that writes so many numbers."""

    def start(own, position, view, state):
        for i in range(count):
            state[i] = view

    return evaluator.start_state, start


SIZE = evaluator.state_size, lambda own: 2
ADVANCE = evaluator.advance_state, lambda own, before, after, view, old, new: None
NOTHING = evaluator.evaluate, lambda own, position, view, state, scratch: 0.0
THIRD = evaluator.evaluate, lambda own, position, view, state, scratch: own.weights[2] * 1.0
LOGIT = evaluator.logit, lambda own, position, view, state: 0.0
FIELDS = {"weights": NDArray[np.float64], "king": float}
REFUSED = [
    ("Empty", (), TypeError, "Empty needs evaluate"),
    (
        "Sizeless",
        (NOTHING, start_to(2), ADVANCE),
        *(TypeError, "Sizeless needs state_size: it registers start_state and advance_state"),
    ),
    ("Sized", (NOTHING, SIZE), TypeError, "Sized needs start_state and advance_state: it"),
    ("Logit", (NOTHING, LOGIT), TypeError, "Logit needs apply_gradient and is_antisymmetric"),
    (
        "Spilling",
        (NOTHING, SIZE, start_to(3), ADVANCE),
        *(IndexError, "Spilling writes outside its state: state_size is 2"),
    ),
    ("Deep", (THIRD,), IndexError, "Deep gives nan: does it read beyond its 2 weights"),
]


@pytest.mark.parametrize(("name", "parts", "error", "message"), REFUSED)
def test_incomplete_evaluator_is_refused_by_name(name, parts, error, message):
    cls = NamedTuple(name, FIELDS.items())
    for generic, implementation in parts:
        generic.register(cls)(implementation)
    with pytest.raises(error, match=message):
        register("refused", architectures.Architecture(cls, cls, 2))
    assert "refused" not in ARCHITECTURES


def test_size_that_does_not_fit_is_told(example):
    def build(weights, king):
        return example["Advance"](weights + np.zeros(2), king)

    for size, initial, message in (
        (3, None, "Advance cannot be built of size=3 weights: operands could not be broadcast"),
        (2, (0.2,), "Advance has size=2, but 1 first weights"),
    ):
        own = architectures.Architecture(example["Advance"], build, size, initial=initial)
        with pytest.raises(ValueError, match=message):
            register("refused", own)


@pytest.mark.parametrize("name", architectures.EVOLVABLE)
def test_every_architecture_builds_from_random_genomes(name):
    arrays = sample_options(name, np.random.default_rng(3))
    encoding = find_encoding(name, arrays)
    genome = np.random.default_rng(4).uniform(-0.2, 0.2, encoding.genome_size)
    weights, _ = encoding.decode(genome)
    assert weights.shape == encoding.initial_weights().shape == (encoding.size,)
    built = encoding.build(genome, 1.5)
    assert type(built) is encoding.architecture.evaluator
    assert abs(evaluate_position(built, Board("W:W18:B12,K3").position, 0)) < 1
