"""Explanations of evaluators against weight files and slow computations in float64."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from safetensors import safe_open

import agents
from agents.agent import PlayerAgent
from agents.baselines.samuel import FEATURES
from agents.blondie.architecture import NETWORK_LAYOUTS
from agents.continual.agent import ContinualAgent
from agents.continual.pool import rank_strategies
from agents.nnue.network import unpack_genome
from agents.ntuple import tuples as drawing
from agents.ntuple.network import table_size
from agents.search.player import AlphaBeta
from agents.weights import WeightsMetadata, save_weights
from checkers_env.board import Board
from tests import oracle
from tests.agents.baselines.test_samuel import features
from tests.agents.nnue.test_network import whole_layers
from tests.agents.ntuple.test_network import MIXED, indices
from tests.agents.search.test_alphabeta import Tempo

BLONDIE24, STRONG = (
    Path(agents.__file__).with_name("zoo") / f"{name}.safetensors"
    for name in ("blondie24", "strong")
)
SUBSQUARES = oracle.subsquares()
SVG = "{http://www.w3.org/2000/svg}"


def read(path):
    """Read weights and K from the file as its format defines."""
    with safe_open(path, framework="numpy") as file:
        return file.get_tensor("genome"), json.loads(file.metadata()["checkers-laboratory"])["king"]


def positions(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield oracle.random_position(rng)


def seen_from(side, square):
    return square if side == "b" else 33 - square


def contributions(found):
    return {one["square"]: one["contribution"] for one in found["squares"]}


def cells(found):
    return {
        tuple(sorted(cell["squares"])): cell["activation"]
        for layer in found["layers"]
        for cell in layer["cells"]
    }


def terms(found):
    return {term["name"]: term["amount"] for term in found["terms"]}


def without(pieces, square):
    return {other: piece for other, piece in pieces.items() if other != square}


@pytest.fixture(scope="module", params=["the zoo's", *NETWORK_LAYOUTS])
def network(request, tmp_path_factory):
    """Yield a weight file of each kind of network, and its kind."""
    if request.param == "the zoo's":
        return BLONDIE24, "blondie24-2001"
    shape = NETWORK_LAYOUTS[request.param]
    genome = np.random.default_rng(1).uniform(-0.3, 0.3, shape.genome_size)
    if shape.subsquare_inputs:
        genome[-1] = 0.0
    path = tmp_path_factory.mktemp("weights") / "champion.safetensors"
    save_weights(path, genome, WeightsMetadata(shape.name, 1.7, "test", 0, 0))
    return path, shape.name


def test_explanation_equals_the_weight_file(network):
    path, name = network
    agent, (genome, king) = agents.make(str(path)), read(path)
    for number, (side, pieces) in enumerate(positions(2, 12)):
        found = agents.explain(agent, Board(oracle.write_fen(side, pieces))).to_json()
        layers, total, difference = oracle.network(name, genome, king, side, pieces)
        assert found["kind"] == "network"
        assert found["total"] == pytest.approx(total, abs=1e-4)
        assert found["value"] == pytest.approx(np.tanh(total), abs=1e-5)
        assert terms(found)["piece difference"] == pytest.approx(difference, rel=1e-6, abs=1e-6)
        assert sum(terms(found).values()) == pytest.approx(found["total"])
        for hidden, expected in zip(found["hidden"], layers[-2:], strict=True):
            assert hidden == pytest.approx(expected, abs=1e-5)
        seen_by = "b" if name.startswith("nguyen") else side
        assert found["perspective"] == {"b": "black", "w": "white"}[seen_by]
        expected = {}
        if not name.startswith("blondie24-1999"):
            for field, activation in zip(SUBSQUARES, layers[0], strict=True):
                place = tuple(sorted(seen_from(seen_by, square) for square in field))
                expected[place] = activation
        assert cells(found) == pytest.approx(expected, abs=1e-5)
        share, rest = found["piece_difference_share"], total - difference
        if name.startswith("nguyen"):
            assert share is None
        elif difference or rest:
            assert share == pytest.approx(abs(difference) / (abs(difference) + abs(rest)), abs=1e-4)
        if number < 4:
            losses = {
                square: total - oracle.network(name, genome, king, side, without(pieces, square))[1]
                for square in pieces
            }
            assert contributions(found) == pytest.approx(losses, abs=1e-4)
        effects = {
            tuple(cell["squares"]): cell["effect"]
            for layer in found["layers"]
            for cell in layer["cells"]
        }
        if name.startswith(("nguyen", "blondie24-1999")):
            assert set(effects.values()) <= {None}
            continue
        for node in range(number, len(SUBSQUARES), 30):
            place = tuple(sorted(seen_from(side, square) for square in SUBSQUARES[node]))
            _, silenced, _ = oracle.network(name, genome, king, side, pieces, node)
            assert effects[place] == pytest.approx(total - silenced, abs=1e-4)


def test_network_of_strong_equals_its_weight_file():
    agent, genome = agents.make("strong"), read(BLONDIE24.with_stem("strong"))[0]
    genome = unpack_genome(genome.tobytes())
    for side, pieces in [*positions(12, 10), *positions(4, 10)]:
        found = agents.explain(agent, Board(oracle.write_fen(side, pieces))).to_json()
        nodes, small, worth = whole_layers(genome, side, pieces)
        assert (found["kind"], found["piece_difference_share"]) == ("network", None)
        assert found["hidden"][0] == pytest.approx(nodes, abs=1e-6)
        assert terms(found) == pytest.approx({"blocks": worth, "network": small}, abs=1e-5)
        assert found["total"] == sum(terms(found).values())
        assert found["value"] == pytest.approx(np.tanh(found["total"]), abs=1e-6)
        losses = {
            square: small + worth - sum(whole_layers(genome, side, without(pieces, square))[1:])
            for square in pieces
        }
        assert contributions(found) == pytest.approx(losses, abs=1e-5)


TUPLES = {"mixed": MIXED, "table-6.1": drawing.TABLE_6_1}


@pytest.mark.parametrize("by_colour", [False, True])
@pytest.mark.parametrize("difference", [0.0, 1.0])
@pytest.mark.parametrize("tuples", TUPLES.values(), ids=TUPLES)
def test_each_square_has_its_share_of_its_entries(tmp_path, tuples, difference, by_colour):
    path = tmp_path / "champion.safetensors"
    options = {"tuples": tuples, "difference": difference, "by_colour": by_colour}
    table = np.random.default_rng(5).normal(0, 0.1, table_size(tuples))
    save_weights(path, table, WeightsMetadata("ntuple", 1.5, "test", 0, 0, options=options))
    agent, (table, king) = agents.make(str(path)), read(path)
    for side, pieces in positions(6, 25):
        found = agents.explain(agent, Board(oracle.write_fen(side, pieces))).to_json()
        seen_by = "b" if by_colour else side
        sign = 1 if seen_by == side else -1
        expected = dict.fromkeys(range(1, 33), 0.0)
        entries = {}
        for squares, index in zip(tuples, indices(tuples, pieces, seen_by), strict=True):
            places = [seen_from(seen_by, square) for square in squares]
            entries[tuple(sorted(places))] = table[index]
            for square in places:
                expected[square] += sign * table[index] / len(places)
        for square, piece in pieces.items():
            worth = difference * (king if piece.isupper() else 1.0)
            expected[square] += worth if piece.lower() == side else -worth
        assert found["kind"] == "ntuple"
        assert contributions(found) == pytest.approx(expected, abs=1e-9)
        assert found["total"] == pytest.approx(sum(expected.values()))
        assert found["elsewhere"] == pytest.approx(0, abs=1e-9)
        assert found["value"] == pytest.approx(np.tanh(found["total"]), abs=1e-6)
        assert sum(terms(found).values()) == pytest.approx(found["total"])
        assert (found["piece_difference_share"] is None) == (difference == 0)
        assert found["perspective"] == {"b": "black", "w": "white"}[seen_by]
        assert {place: entries[place] for place in cells(found)} == cells(found)
        assert [layer["size"] for layer in found["layers"]] == sorted(set(map(len, tuples)))
        assert sum(len(layer["cells"]) for layer in found["layers"]) == len(tuples)


def test_contributions_of_a_weighted_counter_are_its_weights(tmp_path):
    path, weights = tmp_path / "champion.safetensors", np.random.default_rng(7).uniform(0, 1, 32)
    save_weights(
        path, np.append(weights, 0.0), WeightsMetadata("weighted-pieces", 2.0, "test", 0, 0)
    )
    agent, scale = agents.make(str(path)), 2 * weights.sum() * 2.0
    for side, pieces in positions(8, 20):
        found = agents.explain(agent, Board(oracle.write_fen(side, pieces))).to_json()
        seen = oracle.inputs(pieces, side, 2.0)
        expected = {
            square: weights[seen_from(side, square) - 1] * seen[seen_from(side, square)] / scale
            for square in pieces
        }
        assert found["kind"] == "linear"
        assert contributions(found) == pytest.approx(expected, abs=1e-6)
        assert found["value"] == found["total"] == pytest.approx(sum(expected.values()), abs=1e-6)
        assert found["elsewhere"] == pytest.approx(0, abs=1e-6)
        own = sum(amount for square, amount in expected.items() if pieces[square].lower() == side)
        assert terms(found)["own pieces"] == pytest.approx(own, abs=1e-6)
        assert found["piece_difference_share"] is None


def test_piece_squares_tell_what_each_piece_counts(tmp_path):
    path, weights = tmp_path / "squares.safetensors", np.random.default_rng(0).uniform(-1, 1, 128)
    save_weights(path, weights / 2, WeightsMetadata("piece-squares", 1.4, "test", 0, 0))
    agent = agents.make(str(path))
    for side, pieces in positions(5, 30):
        found = agents.explain(agent, Board(oracle.write_fen(side, pieces)))
        assert found.total == pytest.approx(found.value, abs=1e-7)
        assert sum(found.squares.values()) == pytest.approx(found.value, abs=1e-7)
        assert found.squares.keys() == pieces.keys()
        assert all((found.squares[at] > 0) == (it.lower() == side) for at, it in pieces.items())


def test_piece_counter_counts_pieces():
    found = agents.explain(agents.make("material"), Board("W:W21,K3:B1,2,K30")).to_json()
    expected = {21: 1 / 64, 3: 1.5 / 64, 1: -1 / 64, 2: -1 / 64, 30: -1.5 / 64}
    assert contributions(found) == pytest.approx(expected)
    assert found["value"] == pytest.approx(-1 / 64)
    assert found["piece_difference_share"] == 1.0
    assert agents.explain(agents.make("mcts-ept"), Board("W:W21,K3:B1,2,K30")).to_json() == found


def test_samuels_features_are_listed_one_by_one(tmp_path):
    path, weights = tmp_path / "champion.safetensors", np.random.default_rng(9).normal(0, 0.1, 8)
    save_weights(path, weights, WeightsMetadata("samuel", 1.0, "test", 0, 0))
    agent = agents.make(str(path))
    for side, pieces in positions(10, 20):
        found = agents.explain(agent, Board(oracle.write_fen(side, pieces))).to_json()
        amounts = weights * features(side, pieces, side)
        expected = {
            square: sum((weights * features(side, {square: piece}, side))[:5])
            for square, piece in pieces.items()
        }
        assert found["kind"] == "linear"
        assert terms(found) == pytest.approx(dict(zip(FEATURES, amounts, strict=True)))
        assert found["value"] == pytest.approx(np.tanh(amounts.sum()), abs=1e-6)
        assert contributions(found) == pytest.approx(expected)
        assert found["elsewhere"] == pytest.approx(sum(amounts[5:]))
        material, rest = abs(sum(amounts[:2])), abs(sum(amounts[2:]))
        if material + rest:
            share = material / (material + rest)
            assert found["piece_difference_share"] == pytest.approx(share)


class Stranger:
    def act(self, board):
        return board.legal_moves[0]


@pytest.mark.parametrize(
    ("agent", "value"),
    [
        (Stranger(), None),
        (agents.make("random"), None),
        (agents.make("heuristic"), None),
        (agents.make("mcts"), None),
        (PlayerAgent("unheard", AlphaBeta(Tempo(1e9, 1e-12, 0.25), 2)), 0.25),
        (PlayerAgent("lost", AlphaBeta(Tempo(float("nan")), 2)), None),
    ],
)
def test_unknown_evaluators_are_opaque(agent, value):
    found = agents.explain(agent, Board()).to_json()
    assert (found["kind"], found["value"]) == ("opaque", value)
    assert not any(found[name] for name in ("squares", "layers", "terms", "hidden"))


def test_continual_player_shows_its_current_strategy():
    genome, king = read(BLONDIE24)
    pool = rank_strategies(
        WeightsMetadata("blondie24-2001", king, "test", 0, 3, depth=1),
        genomes=np.array([-genome, genome]),
        kings=[king, king],
        scores=[2.0, 1.0],
        generations=[3, 2],
        numbers=[1, 2],
    )
    agent, plain = ContinualAgent(pool), agents.make("blondie24")
    lost = Board("B:W18:B14,15")
    assert agents.explain(agent, lost).to_json() != agents.explain(plain, lost).to_json()
    agent.game_over(Board("B:W18:B"), 0)
    assert agent.strategy == 1
    assert agents.explain(agent, lost).to_json() == agents.explain(plain, lost).to_json()


@pytest.mark.parametrize("name", ["blondie24", "material"])
def test_notebook_draws_the_board_and_every_part(name):
    found = agents.explain(agents.make(name), Board("W:W21,22,K3:B1,12"))
    root = ElementTree.fromstring(found._repr_svg_())
    texts = {node.text for node in root.iter(f"{SVG}text")}
    assert set(found.terms) <= texts
    titles = [title.text for box in root.iter(f"{SVG}rect") for title in box]
    cells = sum(len(layer.cells) for layer in found.layers) + sum(map(len, found.hidden))
    assert len(titles) == cells
    pieces = [group.findtext(f"{SVG}title") for group in root.iter(f"{SVG}g")]
    assert sum(" on " in (title or "") for title in pieces) == 5
    assert {group.text for group in root.iter(f"{SVG}title")} > {"White king on 3"}
