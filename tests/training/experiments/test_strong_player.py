"""The strong player: its measurements and ablations."""

import numpy as np
import pytest

from agents.baselines.material import Material
from agents.match_kernel import DRAW
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import DrawRules
from tests.training.evolution.test_evaluation import Recorder
from training.evolution.evaluation import is_log_spaced, material_scores
from training.experiments.jobs import Player, Run
from training.experiments.measures import MEASURES, at
from training.experiments.plan import Scope
from training.experiments.results import ResultStore, differences
from training.experiments.tables import EXPERIMENTS, Row
from training.experiments.worker import Deadline, train
from training.regimes import self_play
from training.trainer import loop
from training.trainer.presets import TD_PRESETS

SCORES = {"score/material-4": 0.25, "score/material-6": 0.5}
RULES = DrawRules(20)
STRENGTH = MEASURES["strength"]


# The yardsticks


def test_points_are_two_per_doubling():
    points = [generation for generation in range(600) if is_log_spaced(generation)]
    assert points[:11] == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]
    assert points[-3:] == [256, 384, 512]


def test_every_opening_is_played_with_both_colours_at_each_depth():
    player, runner = AlphaBeta(Material(king=3.0), 1), Recorder(lambda fixture: BLACK)
    measured = material_scores(player, (2, 5), 7, (3, 8), RULES, runner)
    assert measured == {"score/material-2": 0.5, "score/material-5": 0.5}
    assert runner.rules == [RULES, RULES]
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

    runner = Recorder(winner)
    measured = material_scores(AlphaBeta(Material(king=3.0), 1), (4,), 4, (0,), RULES, runner)
    assert measured == {"score/material-4": (1 + 0 + 0.5 + 0.5) / 4}


# The experiments


def test_scaled_experiment_has_fewer_games():
    trial = Run("strong-1", 0, TD_PRESETS["strong-1"].generations, 0.05)
    assert (trial.length, trial.regime.games, trial.regime.cards) == (26, 60, 2)
    assert trial.point_every == 1
    for scale in (0.01, 0.02, 0.05, 0.3):  # without a fit the run would measure nothing
        refit = Run("strong", 0, 48, scale)
        assert any(map(refit.regime.fits_at, range(1, refit.length + 1)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    job = Run("strong-no-endgame", 0, 1000, 0.002)  # two generations
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "performance_curve", lambda *_: {})
        patch.setattr(self_play, "material_scores", lambda *_: SCORES)
        return job, train(job, tmp_path_factory.mktemp("run"), Deadline())


def test_result_without_weights_round_trips(trained, tmp_path):
    job, result = trained
    assert (result.champions, result.files) == ((), {})
    assert result.points.tolist() == [0, 1, 2]
    assert result.curves["score/material-6"][1:].tolist() == [0.5, 0.5]
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
    assert STRENGTH.of(result) == [25, 50, result.origin.cpu_seconds]
    line = np.array([5.0, 6.0, 7.0])
    assert [at(result, line, share) for share in (1.0, 0.6, 0.5, 0.01)] == [7, 6, 6, 6]
    assert np.isnan(at(result, ()))
    assert [STRENGTH.show([value]) for value in (np.nan, 97.25, 60.0)] == ["-", "97.2", "60"]
