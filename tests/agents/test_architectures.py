"""The table of architectures: a new evaluator needs one entry."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import agents
from agents import architectures
from agents.architectures import ARCHITECTURES, Encoding, find_encoding, register, sample_options
from agents.evaluator import evaluate_position
from agents.weights import load_weights
from checkers_env.board import Board
from tests import ROOT
from training.regimes.coevolution import Coevolution
from training.regimes.evolution_strategies import EvolutionStrategy
from training.regimes.td_learning import TDLearning

NAME, EXAMPLE = "advance", ROOT / "examples" / "own_evaluator.py"
REGIMES = {
    Coevolution: {"parents": 3, "opponents": 1, "depth": 1},
    EvolutionStrategy: {"pairs": 2, "depth": 1},
    TDLearning: {"games": 5, "alpha": 0.05},
}


@pytest.fixture(scope="module")
def example():
    """Yield the example's functions; its evaluator is registered during these tests."""
    yield runpy.run_path(str(EXAMPLE))
    del ARCHITECTURES[NAME]


def test_new_evaluator_needs_one_file_and_one_registration(example):
    sources = [path for folder in ("agents", "training") for path in (ROOT / folder).rglob("*.py")]
    mentions = [path for path in (*sources, EXAMPLE) if f'"{NAME}"' in path.read_text("utf-8")]
    assert [path.relative_to(ROOT) for path in mentions] == [Path("examples/own_evaluator.py")]
    assert EXAMPLE.read_text("utf-8").count("\nregister(") == 1


@pytest.mark.parametrize("regime", REGIMES)
def test_new_evaluator_trains_saves_loads_and_is_explained(example, regime):
    path = example["train_champion"]("own", regime(NAME, **REGIMES[regime], max_moves=20))
    weights, metadata = load_weights(path)
    assert (metadata.architecture, metadata.generation, weights.shape) == (NAME, 3, (2,))
    assert not np.array_equal(weights, ARCHITECTURES[NAME].initial)
    agent = agents.make(path, depth=2)
    assert np.array_equal(agent.player.evaluator.weights, weights)
    board = Board("W:W18,24,K31:B12,K3")
    assert agent.act(board) in board.legal_moves
    shown = agents.explain(agent, board).to_json()
    assert [term["name"] for term in shown["terms"]] == ["piece difference", *example["FEATURES"]]
    assert np.tanh(shown["total"]) == pytest.approx(shown["value"], abs=1e-6)
    assert [square["square"] for square in shown["squares"]] == [3, 12, 18, 24, 31]


def test_page_without_an_explanation_shows_the_value_only(example, monkeypatch):
    plain = architectures.Architecture(example["Advance"], example["Advance"], 2)
    monkeypatch.setitem(ARCHITECTURES, NAME, plain)
    evaluator = Encoding(NAME).build(np.array([0.1, 0.2]), 1.5)
    agent = agents.PlayerAgent("own", architectures.AlphaBeta(evaluator, 1))
    shown = agents.explain(agent, Board()).to_json()
    assert (shown["kind"], shown["terms"]) == ("opaque", [])
    assert shown["value"] == evaluate_position(evaluator, Board().position, 0)


def test_names_of_the_table_are_reserved(example):
    with pytest.raises(ValueError, match="an architecture 'advance' already"):
        register(NAME, ARCHITECTURES[NAME])
    message = "'advanced'; known are blondie24-1999, .*advance, and those of your own"
    with pytest.raises(ValueError, match=message):
        Encoding("advanced").architecture  # noqa: B018 - the look-up raises


@pytest.mark.parametrize("name", architectures.EVOLVABLE)
def test_every_architecture_builds_from_random_genomes(name):
    arrays = sample_options(name, np.random.default_rng(3))
    encoding = find_encoding(name, arrays)
    genome = np.random.default_rng(4).uniform(-0.2, 0.2, encoding.genome_size)
    weights, _ = encoding.decode(genome)
    assert weights.shape == encoding.initial_weights().shape == (encoding.size,)
    evaluator = encoding.build(genome, 1.5)
    assert type(evaluator) is encoding.architecture.evaluator
    assert abs(evaluate_position(evaluator, Board("W:W18:B12,K3").position, 0)) < 1
