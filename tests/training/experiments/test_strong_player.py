"""The strong player: its measurements and ablations."""

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from agents.baselines.material import Material
from agents.match import MatchGame, opening_line
from agents.match_kernel import DRAW, Result
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import MOVE_LIMIT, NO_PIECES, DrawRules
from training.evolution.evaluation import is_log_spaced, material_scores
from training.experiments.jobs import Player, Run
from training.experiments.measures import MEASURES, at
from training.experiments.page import write_page
from training.experiments.plan import Scope
from training.experiments.plots import dots
from training.experiments.results import ResultStore, differences
from training.experiments.table_text import budget
from training.experiments.tables import EXPERIMENTS, Row
from training.experiments.worker import Deadline, train
from training.regimes.treestrap import TreeStrap
from training.trainer import loop
from training.trainer.loop import RunConfig, begin, resume
from training.trainer.presets import STRONG_ABLATIONS, STRONG_GENERATIONS, TD_PRESETS

TINY = TreeStrap(search=1, games=4, max_moves=20, cards=1, random_plies=2)
RULES = DrawRules(20)
STRENGTH = MEASURES["strength"]
TABLES = [table for name, table in EXPERIMENTS.items() if name.startswith("strong-")]


class Referee:
    """Game runner that plays nothing: `winner` names the winner of each fixture."""

    def __init__(self, winner):
        self.winner, self.fixtures = winner, []

    def play(self, fixtures, rules):
        assert rules == RULES
        self.fixtures.append(fixtures)
        reasons = {True: MOVE_LIMIT, False: NO_PIECES}
        winners = map(self.winner, fixtures)
        return [
            MatchGame(Result(winner, reasons[winner == DRAW], 40), opening_line(None)[0], ())
            for winner in winners
        ]


# The yardsticks


def test_points_are_two_per_doubling():
    points = [generation for generation in range(600) if is_log_spaced(generation)]
    assert points[:11] == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]
    assert points[-3:] == [256, 384, 512]


def test_every_opening_is_played_with_both_colours_at_each_depth():
    player, runner = AlphaBeta(Material(king=3.0), 1), Referee(lambda fixture: BLACK)
    measured = material_scores(player, (2, 5), 7, (3, 8), RULES, runner)
    assert measured == {"score/material-2": 0.5, "score/material-5": 0.5}
    for fixtures, depth in zip(runner.fixtures, (2, 5), strict=True):
        assert [fixture.opening for fixture in fixtures] == np.repeat(TWO_MOVE[:7], 2).tolist()
        own = player._replace(depth=depth)
        for number, fixture in enumerate(fixtures):
            seats = (fixture.black, fixture.white)[:: 1 if number % 2 == 0 else -1]
            assert seats[0] == own
            assert (seats[1].evaluator, seats[1].depth) == (Material(), depth)
            assert seats[1].tie == CHANCE
    seeds = [fixture.seed for fixtures in runner.fixtures for fixture in fixtures]
    assert len(set(seeds)) == len(seeds)
    assert {seed[:2] for seed in seeds} == {(3, 8)}


def test_draw_counts_half_a_win():
    def winner(fixture):
        own = BLACK if fixture.black.evaluator.king == 3.0 else WHITE
        return {0: own, 1: 1 - own}.get(fixture.seed[-2], DRAW)

    runner = Referee(winner)
    measured = material_scores(AlphaBeta(Material(king=3.0), 1), (4,), 4, (0,), RULES, runner)
    assert measured == {"score/material-4": (1 + 0 + 0.5 + 0.5) / 4}


def run(folder, generations, start=begin, **changes):
    plan = RunConfig("strong-1", TINY, generations, 2, folder, **changes)
    return loop.train(plan, start(plan), lambda *progress: None)


def test_run_is_measured_against_its_opponents_at_its_points(tmp_path):
    whole = run(tmp_path / "whole", 3)
    for plies in TreeStrap.evaluation_depths:
        known = ~np.isnan(whole.history[f"score/material-{plies}"])
        assert np.flatnonzero(known).tolist() == [1, 2, 3]
    assert TINY.evaluate(replace(whole.state, generation=5), 0, Referee(None)) == {}
    run(tmp_path / "parts", 2)
    parts = run(tmp_path / "parts", 3, resume, threads=2)
    for name, line in whole.history.items():
        if not name.startswith("speed"):
            np.testing.assert_array_equal(parts.history[name], line)
    assert "score/material-4" not in run(tmp_path / "none", 1, curve_every=0).history


# The experiments


def test_every_variant_is_another_and_has_five_seeds():
    assert len({preset.regime for preset in STRONG_ABLATIONS.values()}) == len(STRONG_ABLATIONS)
    jobs = Scope().jobs(TABLES)
    seeds = Counter(job.preset for job in jobs)
    assert seeds == {"strong-1": 1, "strong": 1} | dict.fromkeys(STRONG_ABLATIONS, 5)
    assert not [job for job in jobs if job.kept]


def test_scaled_experiment_has_fewer_games():
    trial = Run("strong-1", 0, TD_PRESETS["strong-1"].generations, 0.05)
    assert (trial.length, trial.regime.games, trial.regime.cards) == (26, 60, 2)
    assert trial.point_every == 1
    for scale in (0.01, 0.02, 0.05, 0.3):  # without a fit the run would measure nothing
        refit = Run("strong", 0, 48, scale)
        assert any(map(refit.regime.fits_at, range(1, refit.length + 1)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    job = Run("strong-no-endgame", 0, STRONG_GENERATIONS, 0.002)
    job_of = replace(job, generations=1000)  # two generations
    return job_of, train(job_of, tmp_path_factory.mktemp("run"), Deadline())


def test_result_without_weights_round_trips(trained, tmp_path):
    job, result = trained
    assert (result.champions, result.files) == ((), {})
    assert result.points.tolist() == [0, 1, 2]
    assert not np.isnan(result.curves["score/material-6"][1:]).any()
    clock = result.origin.clock
    assert clock[0] == 0 < clock[1] < clock[2] == pytest.approx(result.origin.cpu_seconds, abs=0.01)
    ResultStore(tmp_path).add(job, result)
    back = ResultStore(tmp_path).result(job)
    assert differences(back, result) == []
    assert back.origin == result.origin


def test_run_without_weights_cannot_play_matches(trained, tmp_path):
    job, result = trained
    store = ResultStore(tmp_path)
    store.add(job, result)
    table = EXPERIMENTS["strong-ingredients"]
    player = Player(job.preset, generations=job.generations, seed=0)
    scope = Scope(seeds=1, scale=job.scale)
    ((match, _),) = next(scope.games(Row(player, (Player("material"),)), table.conditions))
    with pytest.raises(ValueError, match="keeps no weights"):
        store.champions(match)


def test_tables_show_scores_and_time(trained):
    _, result = trained
    scores = [100 * result.curves[f"score/material-{plies}"][2] for plies in (4, 6)]
    assert STRENGTH.of(result) == [*scores, result.origin.cpu_seconds]
    line = np.array([5.0, 6.0, 7.0])
    assert [at(result, line, share) for share in (1.0, 0.6, 0.5, 0.01)] == [7, 6, 6, 6]
    assert np.isnan(at(result, ()))
    assert [STRENGTH.show([value]) for value in (np.nan, 97.25, 60.0)] == ["-", "97.2", "60"]


def test_page_shows_the_curve(trained, tmp_path):
    _, result = trained
    scope, store = Scope(seeds=1), ResultStore(tmp_path / "results")
    for job in scope.jobs(TABLES):
        if job.preset in ("strong-1", "strong-2-plies"):
            store.add(job, result)
    write_page(tmp_path / "page.md", TABLES, scope, store)
    text = (tmp_path / "page.md").read_text()
    assert {path.stem for path in (tmp_path / "page").iterdir()} == {"strength", "ingredients"}
    assert "CPU-seconds of training" in (tmp_path / "page" / "strength.svg").read_text()
    told = f"strong-2-plies | {budget(Player('strong-2-plies'))} | ours, 1 seed"
    assert f"| {told} | {STRENGTH.show(STRENGTH.of(result)[:1])} |" in text
    ingredients = (tmp_path / "page" / "ingredients.svg").read_text()
    assert "strong-2-plies" in ingredients  # what is done, and nothing else
    assert "strong-1-ply" not in ingredients


def test_wide_interval_of_two_seeds_does_not_stretch_the_axis():
    picture = dots({"at 4 plies": {"one": [60.0] * 3, "two": [40.0, 80.0]}}, "score, %")
    found = ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
    words = [text.text.replace("\u2212", "-") for text in found]
    assert {"one", "two", "at 4 plies"} <= set(words)
    numbers = [float(word) for word in words if word[-1].isdigit()]
    assert 30 <= min(numbers) <= max(numbers) <= 90
