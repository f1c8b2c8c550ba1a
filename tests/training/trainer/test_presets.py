"""Presets: each runs, resumes and saves a player, with the constants of its paper."""

import runpy
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.match import play_through_environment
from agents.weights import load_weights
from checkers_env.board import Board
from checkers_env.state import DrawRules
from training.evolution.evaluation import is_log_spaced
from training.regimes.coevolution import Coevolution
from training.regimes.refit import Refit
from training.regimes.social_learning import SocialLearning
from training.regimes.treestrap import TreeStrap
from training.trainer import presets
from training.trainer.ablations import ABLATIONS
from training.trainer.cli import duration
from training.trainer.loop import CHAMPION_FILE, RunConfig, begin, resume, train
from training.trainer.presets import DEFAULT, PRESETS, TD_DEFAULT, TD_PRESETS

QUICK = {
    "parents": 3,
    "opponents": 2,
    "depth": 1,
    "max_moves": 20,
    "publish_every": 1,
    "social_every": 2,
    "games": 20,  # of a generation of temporal differences
    "search": 1,
    "simulations": 4,
    "endgame": 2,
    "nodes": 20,
    "side_nodes": 10,
    "first_fit": 2,
    "cards": 1,
    "pairs": 2,
    "league_every": 1,
}
RUNS = {**PRESETS, **TD_PRESETS, **ABLATIONS}
LEAF = ("c5-leaf", "samuel")
STRONG = ("strong-1", "strong")
LARGE = {"subsquares-4": "subsquares-3", "subsquares-3-4": "subsquares-3"}
RULES = DrawRules(40)

# Thesis 3.1, 4.1, 4.4, 5.2, 5.3, 5.5, 7.3, 7.6; Chellapilla and Fogel 1999, 2001.
# generations, games, pairing, plies, piece difference, first K, what becomes of K
COEVOLUTION = {
    "blondie24-1999": (840, 126_000, "random", 4, True, 2.0, "lognormal"),
    "blondie24-2001": (840, 126_000, "random", 4, True, 1.5, "tenths"),
    "c0": (840, 126_000, "random", 4, True, 2.0, "fixed"),
    "blondie24-rr": (140, 121_800, "round-robin", 4, True, 2.0, "fixed"),
    "c0-common": (840, 126_000, "common", 4, True, 2.0, "fixed"),
    "c0-npd": (840, 126_000, "random", 4, False, 2.0, "fixed"),
    "blondie24-rr-npd": (140, 121_800, "round-robin", 4, False, 2.0, "fixed"),
    "c0-1ply": (840, 126_000, "random", 1, True, 2.0, "fixed"),
    "c0-2ply": (840, 126_000, "random", 2, True, 2.0, "fixed"),
    "c0-3ply": (840, 126_000, "random", 3, True, 2.0, "fixed"),
    "blondie24-rr-1ply": (140, 121_800, "round-robin", 1, True, 2.0, "fixed"),
    "blondie24-rr-2ply": (140, 121_800, "round-robin", 2, True, 2.0, "fixed"),
    "blondie24-rr-3ply": (140, 121_800, "round-robin", 3, True, 2.0, "fixed"),
}
# Thesis 6.3, 6.5, 7.2: what is evolved, weights, first step size and whether it is mutated, K
OTHER_GENOMES = {
    "c5-tuple": ("walks-5", 100_000, 1.0, False, "fixed"),
    "c1-tuple": ("singles", 160, 1.0, False, "fixed"),
    "c5-tuple-sum": ("walks-5-sum", 100_000, 1.0, False, "fixed"),
    "c1-tuple-sum": ("singles-sum", 160, 1.0, False, "fixed"),
    "hughes": ("weighted-pieces", 32, 0.05, True, "tenths"),
}
# M, N, strategies in the pool at most (0: any number), generations, games, pairing, plies,
# piece difference
SOCIAL = {
    "c200": (100, 200, 0, 840, 126_000, "random", 4, True),
    "c100": (50, 100, 0, 840, 126_000, "random", 4, True),
    "c50": (20, 50, 0, 840, 126_000, "random", 4, True),
    "c20": (10, 20, 0, 840, 126_000, "random", 4, True),
    "c10": (5, 10, 0, 840, 126_000, "random", 4, True),
    "c1": (5, 10, 1, 840, 126_000, "random", 4, True),
    "c10-rr": (5, 10, 0, 140, 121_800, "round-robin", 4, True),
    "c10-npd": (5, 10, 0, 840, 126_000, "random", 4, False),
    "c10-1ply": (5, 10, 0, 840, 126_000, "random", 1, True),
    "c10-2ply": (5, 10, 0, 840, 126_000, "random", 2, True),
    "c10-3ply": (5, 10, 0, 840, 126_000, "random", 3, True),
}


def shrunk(regime):
    """Return the same regime with as little work as possible."""
    known = {field.name for field in fields(regime)}
    changes = {name: value for name, value in QUICK.items() if name in known}
    changes = {  # what is off stays off
        name: value for name, value in changes.items() if getattr(regime, name)
    }
    if getattr(regime, "network", "").startswith("blondie24-2001"):
        changes["network"] = "blondie24-1999"
    if "features" in known:
        changes["features"] = LARGE.get(regime.features, regime.features)
    return replace(regime, **changes)


def carried_out(name, folder, generations, threads, start=begin, engine="kernel"):
    regime = shrunk(RUNS[name].regime)
    plan = RunConfig(name, regime, generations, 5, folder, threads, engine, curve_every=0)
    return train(plan, start(plan), lambda *progress: None)


def without_speed(checkpoint):
    history = {
        name: row for name, row in checkpoint.history.items() if not name.startswith("speed")
    }
    return asdict(replace(checkpoint, history=history))


@pytest.mark.parametrize("name", RUNS)
def test_preset_runs_resumes_and_saves_a_player(name, tmp_path):
    whole = carried_out(name, tmp_path / "whole", 2, threads=1)
    carried_out(name, tmp_path / "parts", 1, threads=2)
    parts = carried_out(name, tmp_path / "parts", 2, threads=2, start=resume, engine="env")
    np.testing.assert_equal(without_speed(parts), without_speed(whole))
    assert whole.state.generation == 2
    assert whole.history["samples/count" if name == "strong" else "games/plies"][1:]

    champion = tmp_path / "whole" / CHAMPION_FILE
    assert champion.read_bytes() == (tmp_path / "parts" / CHAMPION_FILE).read_bytes()
    genome, metadata = load_weights(champion)
    np.testing.assert_array_equal(genome, shrunk(RUNS[name].regime).champion(whole.state).genome)
    assert (metadata.regime, metadata.generation) == (name, 2)
    players = agents.make(str(champion)), agents.make("random", seed=1)
    for pair in (players, players[::-1]):
        game = play_through_environment(*pair, opening=None, rules=RULES)
        board = Board(max_moves=RULES.max_moves)
        for move in game.board.moves:
            board.push(move)  # refuses what is not legal
        assert board.outcome() is not None


def test_every_preset_of_the_thesis_is_there():
    assert {*COEVOLUTION, *SOCIAL} <= set(PRESETS)
    assert DEFAULT == "blondie24-2001"
    for name, preset in PRESETS.items():
        assert (type(preset.regime) is SocialLearning) == (name in SOCIAL)
        assert (type(preset.regime) is Coevolution) == (name in {*COEVOLUTION, *OTHER_GENOMES})


@pytest.mark.parametrize("name", COEVOLUTION)
def test_coevolution_has_the_constants_of_its_paper(name):
    preset = PRESETS[name]
    regime = preset.regime
    assert COEVOLUTION[name] == (
        preset.generations,
        preset.games,
        regime.pairing,
        regime.depth,
        regime.piece_difference,
        regime.king,
        regime.king_rule,
    )


@pytest.mark.parametrize("name", SOCIAL)
def test_social_learning_has_the_constants_of_the_thesis(name):
    preset = PRESETS[name]
    regime = preset.regime
    assert SOCIAL[name] == (
        regime.publish_every,
        regime.social_every,
        regime.pool_limit,
        preset.generations,
        preset.games,
        regime.pairing,
        regime.depth,
        regime.piece_difference,
    )
    assert (regime.satisfied, regime.king, regime.king_rule) == (0.9, 2.0, "fixed")


@pytest.mark.parametrize("name", [*COEVOLUTION, *SOCIAL])
def test_common_constants_of_the_papers_hold(name):
    regime = PRESETS[name].regime
    network = "blondie24-1999" if name == "blondie24-1999" else "blondie24-2001"
    assert (regime.network, regime.parents, regime.opponents) == (network, 15, 5)
    assert (regime.max_moves, regime.root_perspective) == (100, True)
    assert (regime.win, regime.draw, regime.loss, regime.both_score) == (1, 0, -2, True)
    assert (regime.weight, regime.step_size) == (0.2, 0.05)


@pytest.mark.parametrize("name", [*COEVOLUTION, *SOCIAL])
def test_first_players_are_those_of_the_papers(name):
    state = PRESETS[name].regime.init(0)
    genomes, steps = state.population.genomes, state.population.steps
    if not PRESETS[name].regime.piece_difference:
        assert not np.any(genomes[:, -1])
        assert not np.any(steps[:, -1])
        genomes, steps = genomes[:, :-1], steps[:, :-1]
    weights = (1742 if name == "blondie24-1999" else 5047) - name.endswith("-npd")
    assert genomes.shape == (30 if name in SOCIAL else 15, weights)
    assert -0.2 <= genomes.min() < -0.199
    assert 0.199 < genomes.max() <= 0.2
    assert abs(genomes.std() - 0.4 / np.sqrt(12)) < 0.002
    assert np.all(steps == 0.05)
    assert set(state.population.kings) == {1.5 if name == "blondie24-2001" else 2.0}
    assert state.generation == 0


@pytest.mark.parametrize("name", [name for name in TD_PRESETS if name not in STRONG])
def test_td_learning_has_the_constants_of_its_paper(name):
    preset = TD_PRESETS[name]
    regime = preset.regime
    if name in LEAF:
        assert (regime.leaf, regime.search, regime.lam, preset.games) == (True, 2, 0.7, 20_000)
        return
    assert preset.games == 126_000
    assert (regime.lam, regime.epsilon, regime.half_at, regime.openings) == (0, 0, 0, "none")
    assert (regime.max_moves, regime.king) == (100, 1.0)
    assert regime.piece_difference == (name != "c5-n0.001-npd")
    if name.startswith("c"):
        system, alpha, *rest = name.split("-", 2)
        drawn = {"c5": "walks-5", "c1": "singles"}[system]
        assert regime.features == ("table-6.1" if rest == ["table-6.1"] else drawn)
        assert regime.alpha == float(alpha.removeprefix("n"))


def test_every_td_player_of_the_thesis_is_there():
    thesis = {f"c{size}-n{alpha}" for size in (1, 5) for alpha in ("0.01", "0.001", "0.0001")}
    assert thesis | {"c5-n0.001-npd", "c5-n0.001-1ply", "c5-n0.001-4ply"} <= set(TD_PRESETS)
    assert TD_DEFAULT == "c5-n0.001"


def test_strong_player_is_measured_at_the_end_of_its_run():
    preset = TD_PRESETS["strong-1"]
    assert preset.regime == TreeStrap(games=1200, endgame=4)
    assert preset.games == 614_400
    assert is_log_spaced(preset.generations)


def test_refitted_player_is_measured_after_its_last_fit():
    preset = TD_PRESETS["strong"]
    assert preset.regime == Refit(start="strong-1", games=1000, endgame=4)
    assert preset.regime.fits_at(preset.generations)
    assert preset.games == 48_000


@pytest.mark.parametrize("name", OTHER_GENOMES)
def test_presets_of_other_genomes_have_their_constants(name):
    preset, regime = PRESETS[name], PRESETS[name].regime
    assert preset.games == 126_000
    assert OTHER_GENOMES[name] == (
        regime.network,
        regime.encoding(regime.init(0).arrays).weight_count,
        regime.step_size,
        regime.self_adaptive,
        regime.king_rule,
    )


def test_preset_needs_no_measured_time(tmp_path):
    """A new preset is one entry of the table: another copy of the module has one more."""
    source = Path(presets.__file__).read_text()
    entry = '    "new": Preset(Coevolution(parents=2), 3, "ours", "a trial"),\n'
    added = tmp_path / "added.py"
    added.write_text(source.replace("PRESETS = {\n", f"PRESETS = {{\n{entry}", 1))
    names = runpy.run_path(str(added))
    assert names["PRESETS"]["new"].cpu_seconds == 0
    assert names["PRESETS"]["c0"].cpu_seconds == PRESETS["c0"].cpu_seconds > 0
    assert duration(0) == ""


def test_measured_times_belong_to_presets():
    assert set(presets._CPU_SECONDS) == {*PRESETS, *TD_PRESETS}
