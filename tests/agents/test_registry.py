"""Agents by name, by weight file and from code, and the errors."""

import hashlib
import textwrap
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import agents
from agents.agent import PlayerAgent
from agents.analysis import analyse
from agents.blondie.architecture import BLONDIE_1999
from agents.registry import ZOO
from agents.search.player import AlphaBeta
from agents.search.selective import FORMER
from agents.search.workspace import MAX_DEPTH
from agents.weights import WeightsMetadata, save_weights
from checkers_env.board import Board

FACTORIES = """
    from __future__ import annotations

    from dataclasses import dataclass

    class First:
        def __init__(self, **given):
            self.given = given

        def act(self, board):
            return board.legal_moves[0]

    @dataclass
    class Deep:
        depth: int = 1

        def act(self, board):
            return board.legal_moves[-1]

    def nothing():
        return 5

    def no_depth():
        return First()

    def raises_import_error():
        import package_that_is_not_there
"""


@pytest.fixture
def factories(tmp_path):
    path = tmp_path / "own_factories.py"
    path.write_text(textwrap.dedent(FACTORIES))
    return path


@pytest.fixture
def weight_file(tmp_path):
    path = tmp_path / "champion.safetensors"
    values = np.random.default_rng(0).uniform(-0.2, 0.2, BLONDIE_1999.genome_size)
    save_weights(path, values, WeightsMetadata("blondie24-1999", 2.0, "c0", 0, 0, depth=3))
    return path


@pytest.mark.parametrize("name", agents.available())
def test_every_name_makes_a_player_that_depends_on_its_seed_only(name):
    games = []
    for _ in range(2):
        first, board = agents.make(name, seed=5), Board(max_moves=8)
        while not board.outcome():
            board.push(first.act(board))
        games.append(board.moves)
    assert games[0] == games[1]


def test_former_player_stays_as_it_is():
    agent = agents.make("strong-2", nodes=50)
    content = (ZOO / "former" / "strong-2.safetensors").read_bytes()
    assert hashlib.sha256(content).hexdigest()[:16] == "d9aca23128e81469"
    assert agent.player.style == FORMER._replace(nodes=50)
    assert "strong-2" not in agents.available()


def test_folder_of_a_run_loads_its_player(weight_file, tmp_path, monkeypatch):
    hub = tmp_path / "hub"
    hub.mkdir()
    (hub / "checkpoint.safetensors").touch()
    with pytest.raises(ValueError, match=r"holds no player: expected champion\.safetensors, cham"):
        agents.make(str(hub))
    (hub / "model.safetensors").write_bytes(weight_file.read_bytes())
    (hub / "other.safetensors").touch()
    (weight_file.parent / "checkpoint.safetensors").touch()
    monkeypatch.chdir(tmp_path)
    for agent in (str(hub), hub, "./hub", "hub/", Path("hub"), str(tmp_path), tmp_path, Path()):
        assert agents.make(agent).player.depth == 3
    assert agents.make(hub, depth=2).player.depth == 2
    with pytest.raises(ValueError, match="unknown agent 'hub'"):
        agents.make("hub")


@pytest.mark.parametrize(
    ("options", "depth", "seconds"),
    [
        ({}, 3, None),
        ({"depth": 1}, 1, None),
        ({"seconds": 0.5}, MAX_DEPTH, 0.5),
        ({"seconds": 2, "depth": 5}, 5, 2),
    ],
)
def test_weight_file_plays_with_its_depth_or_another(weight_file, options, depth, seconds):
    agent = agents.make(weight_file, **options)
    assert (agent.name, agent.player.depth, agent.seconds) == (str(weight_file), depth, seconds)
    if depth <= 3:
        assert agent.act(Board()) == agent.act(Board())


@pytest.mark.parametrize("given", [{}, {"depth": 3, "seed": 0, "style": "bold"}])
def test_factory_receives_its_options(factories, given, monkeypatch):
    agent = agents.make(f"{factories}:First", **given)
    assert agent.given == given
    assert agent.act(Board()) == Board().legal_moves[0]
    monkeypatch.syspath_prepend(factories.parent)
    assert agents.make("own_factories:First", colour=None, **given).given == given


def test_file_may_define_a_dataclass(factories):
    assert agents.make(f"{factories}:Deep", depth=7).depth == 7


@pytest.mark.parametrize(
    ("agent", "options", "message"),
    [
        ("strng", {}, r"agent 'strng': did you mean 'strong'\? See agents.available\(\) for all 6"),
        ("", {}, r"unknown agent '': name one .* weight file \(\*.safetensors\)"),
        (5, {}, "agent must be a text or a path, not 5"),
        ("there_is_none.safetensors", {}, "no weight file 'there_is_none.safetensors'"),
        ("material", {"depth": 0}, "depth must be a whole number from 1 to 64, not 0"),
        ("material", {"seconds": float("nan")}, "seconds must be more than 0, not nan"),
        ("material", {"seconds": float("inf")}, "seconds must be finite"),
        ("material", {"seed": -1}, "seed must be a whole number from 0 on, not -1"),
        ("random", {"blunder": "all"}, "blunder must be a share from 0 to 1, not 'all'"),
        ("strong", {"ends_early": 2}, "'strong': ends_early must be True or False, not 2"),
        ("strong", {"ends_early": True}, "'strong': ends_early needs nodes, of which"),
        ("material", {"selective": "no"}, "selective must be True or False, not 'no'"),
        ("material", {"tie": "none"}, "tie must be one of first, last, chance, not 'none'"),
        ("strong", {"ends_at_jump": True}, "'strong': a selective search takes no ends_at_jump"),
        ("random", {"tie": "last"}, "'random' does not search by plies: it takes no tie"),
        ("random", {"seconds": 1}, "'random' does not search: it takes no simulations and no sec"),
        ("material", {"depth": 2, "simulations": 9}, "give depth or simulations, not both"),
        (
            "material",
            {"king": 2},
            "'material' takes depth, simulations, nodes, seconds, blunder, endgame, selective, "
            "ends_at_jump, ends_early, tie, order, reduces, reverse_futility_reduction_margin, "
            "reverse_futility_margin, razoring_margin, razoring_reduction_margin, seed, not king",
        ),
        ("material", {"razoring_margin": 1}, "'material': a full-width search takes no razoring"),
        ("strong", {"nodes": 0}, "nodes must be a whole number from 1 to"),
        ("strong", {"razoring_margin": float("nan")}, "razoring_margin must be a number from 0 to"),
        ("strong", {"reduces": 1.5}, "reduces must be a whole number from 0 to 1000, not 1.5"),
        ("hub:'abc", {}, '"\'abc" cannot be read: No closing quotation'),
        ("a\0b.py:c", {}, r"cannot import 'a\\x00b.py': embedded null"),
        ("no_such_module:make", {}, "cannot import 'no_such_module'"),
        ("agents:no_such_name", {}, "'agents' has no class or function 'no_such_name'"),
        (":make", {}, "write package.module:name or file.py:name, not ':make'"),
        ("{broken}:make", {}, r"cannot import '.*broken\.py'"),
        ("{own}:nothing", {}, "made 5, which has no method act"),
        ("{own}:no_depth", {"depth": 3}, r"no_depth' cannot be called with \{'depth': 3\}"),
    ],
)
def test_errors_name_the_cause(factories, agent, options, message):
    broken = factories.with_name("broken.py")
    broken.write_text("def make(:\n")
    if isinstance(agent, str):
        agent = agent.replace("{broken}", str(broken)).replace("{own}", str(factories))
    with pytest.raises(ValueError, match=message) as raised:
        agents.make(agent, **options)
    assert "\n" not in str(raised.value)


def test_error_inside_a_factory_is_not_an_unknown_name(factories):
    with pytest.raises(ImportError, match="package_that_is_not_there"):
        agents.make(f"{factories}:raises_import_error")


def test_numpy_numbers_are_accepted():
    made = agents.make("material", depth=np.int64(3), seed=np.uint32(1), endgame=np.int8(2))
    plain = agents.make("material", depth=3, seed=1, endgame=2)
    assert type(made.player.depth) is int
    assert made.player.depth == plain.player.depth
    assert made.rng.bit_generator.state == plain.rng.bit_generator.state
    assert agents.make("material", seconds=np.float32(0.5)).seconds == 0.5


@pytest.mark.parametrize(
    "choose", [PlayerAgent.act, lambda agent, board: analyse(agent, board).move]
)
@pytest.mark.parametrize("name", ["material@depth=1", "mcts-ept@simulations=2"])
def test_blunder_is_the_share_of_random_moves(name, choose):
    board = Board("W:W13,14:B5")  # one of three moves wins at once
    plain, games = choose(agents.make(name, seed=0), board), []
    for _ in range(2):
        agent = agents.make(f"{name},blunder=0.5", seed=0)
        games.append([choose(agent, board) for _ in range(200)])
    assert games[0] == games[1]
    others = np.mean([move != plain for move in games[0]])
    assert others == pytest.approx(0.5 * (1 - 1 / len(board.legal_moves)), abs=0.1)


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "Philox", "SFC64"])
def test_generator_of_any_kind_begins_a_game(kind):
    first, second = (np.random.Generator(getattr(np.random, kind)(7)) for _ in range(2))
    agent, board = agents.make("random"), Board()
    agent.new_game(first)
    for _ in range(5):
        move = board.legal_moves[second.integers(len(board.legal_moves))]
        assert agent.act(board) == move
        board.push(move)
    assert first.random() != second.random()  # the agent has a copy


@pytest.mark.parametrize("call", ["prepare", "new_game"])
def test_calls_during_a_move_wait_for_its_end(call):
    agent, done = agents.make("strong", depth=2), threading.Event()
    arguments = [np.random.default_rng(0)] * (call == "new_game")

    def work():
        getattr(agent, call)(*arguments)
        done.set()

    with agent.lock:
        thread = threading.Thread(target=work)
        thread.start()
        assert not done.wait(0.1)
    thread.join()
    assert done.is_set()


class Unfinished(NamedTuple):
    """An evaluator of a user who has forgotten to register its function."""

    worth: float


def test_evaluator_without_an_evaluation_is_named():
    with pytest.raises(TypeError, match=r"Unfinished has no implementation of agents\.evaluator"):
        PlayerAgent("mine", AlphaBeta(Unfinished(1.0), depth=4))
