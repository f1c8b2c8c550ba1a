"""Experiments: data, jobs and their execution."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import agents
from agents.architectures import build_evaluator
from agents.baselines.material import Material
from agents.evaluator import evaluate_position
from agents.match import play_game
from agents.match_kernel import DRAW
from agents.search.player import AlphaBeta
from agents.search.root_order import BY_PIECE, CHANCE, FIRST, LAST
from agents.search.selective import FullWidth
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from tests.training.experiments.conftest import COUNTERS, QUICK
from training.evolution.metrics import sample_positions
from training.experiments import worker
from training.experiments.champions import load_champion
from training.experiments.jobs import (
    CHAMPIONS_KEPT,
    VALIDATION_SEED,
    Conditions,
    Match,
    Player,
    Run,
    match_of,
    run_key,
)
from training.experiments.measures import MEASURES, PlayerGame, player_games
from training.experiments.plan import Scope, figures
from training.experiments.results import Origin, ResultStore, differences
from training.experiments.scheduler import Costs, ExecutionContext, work_through
from training.experiments.table_text import to_markdown
from training.experiments.tables import EXPERIMENTS, Row, Table, read_player, read_rows, row
from training.experiments.worker import Deadline, build_player, means, play, train
from training.rating.thesis_ratings import rate_match
from training.runtime.executors import open_executor
from training.trainer.checkpoint import load_checkpoint

RESULTS = MEASURES["results"]

# The papers' data, and what no paper has


def test_zoo_is_selected_by_games_outside_the_tables():
    """No opening of the validation, and no run of its panel, is in a table.

    The best of ten runs have the ballot of the validation, but are chosen by another panel.
    """
    scope = Scope()
    validation, own = EXPERIMENTS["validation"], EXPERIMENTS["best-of-ten"]
    others = scope.jobs(it for it in EXPERIMENTS.values() if it not in (validation, own))
    played = {card for job in others if isinstance(job, Match) for card in job.openings}
    chosen = scope.jobs([validation])
    matches = [job for job in chosen if isinstance(job, Match)]
    assert set(scope.jobs([own])).isdisjoint(matches)
    assert not played & {card for match in matches for card in match.openings}
    panel = {job for job in chosen if isinstance(job, Run) and job.seed >= VALIDATION_SEED}
    assert panel.isdisjoint(others)
    assert {match.games for match in matches} == {40}
    # The same cards for all.
    assert len({match.openings for match in matches if match.seed == VALIDATION_SEED}) == 1


def test_rows_are_read_with_settings_and_the_rest_of_a_table():
    assert read_player("c5-leaf depth=8 seed=0") == Player("c5-leaf", depth=8, seed=0)
    assert read_player("c0@tie=last,order=piece unsaturated=true tie=chance") == Player(
        "c0@tie=last,order=piece", unsaturated=True, tie="chance"
    )
    line = row("c0", "c10 + material depth=6", "47, won")
    assert line == Row(Player("c0"), (Player("c10"), Player("material", depth=6)), ("47", "won"))
    players = [Player("a"), Player("b", member=1), Player("c")]
    found = read_rows([(it, "rest", "") for it in ("a", "b member=1", "c")])
    assert found == tuple(Row(it, tuple(p for p in players if p != it)) for it in players)
    with pytest.raises(ValueError, match="'c0 plies=4' is no player: NAME SETTING=VALUE with name"):
        row("c0", "c0 plies=4")


# Jobs


def test_order_of_the_two_players_does_not_make_another_match():
    one, turned = match_of(Player("c0"), Player("c10"), 3, Conditions(), 1.0)
    other, otherwise = match_of(Player("c10"), Player("c0"), 3, Conditions(), 1.0)
    assert one == other
    assert turned is not otherwise
    assert {run.preset for run in one.runs} == {"c0", "c10"}
    assert {run.seed for run in one.runs} == {3}


def test_match_has_the_start_position_and_every_opening_with_both_colours():
    match = Match(Player("heuristic"), Player("random"), 5)
    assert match.games == 88
    assert match.openings[0] == ""
    assert sorted(match.openings[1:]) == sorted(TWO_MOVE)
    assert Match(*COUNTERS, 5, Conditions(games=1000)).games == 1000
    fourteen = Match(*COUNTERS, 5, Conditions(games=14)).openings
    assert len(set(fourteen)) == 7
    assert fourteen != Match(*COUNTERS, 6, Conditions(games=14)).openings


def test_scaled_experiment_is_smaller_in_every_way():
    whole, trial = Run("c0", 0, 840), Run("c0", 0, 840, 0.05)
    assert (whole.length, whole.regime.parents, whole.point_every) == (840, 15, 9)
    assert (trial.length, trial.regime.parents) == (42, 3)
    assert run_key(whole.configuration) != run_key(trial.configuration)
    jobs, fewer = (Scope(scale=it).jobs(EXPERIMENTS.values()) for it in (1, 0.05))
    assert 5 * len(fewer) < len(jobs)
    assert Run("c10", 0, 160).point_every == Run("c10", 0, 840).point_every
    strong = Run("strong", 0, 120, 0.05)
    sizes = strong.regime.games, strong.regime.steps, strong.regime.play, strong.regime.study
    assert (strong.length, strong.kept, *sizes) == (6, 0, 200, 125, 2, 1)


def test_first_seeds_run_first():
    jobs = Scope(seeds=3).jobs([EXPERIMENTS["table-4.6"], EXPERIMENTS["table-7.7"]])
    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)
    assert len(jobs) == len(set(jobs)) == 3 * 6
    first = [job for job in jobs if job.seed == 0]
    assert {job.preset for job in first if isinstance(job, Run)} == {
        *("c0", "blondie24-rr", "c10", "c10-npd")
    }


# Carrying them out


def test_means_cover_the_generations_of_a_point():
    measured = np.array([5.0, 1.0, np.nan, 3.0, np.nan, np.nan, 7.0])
    assert means(measured, np.array([0, 2, 4, 6])).tolist() == [5.0, 1.0, 3.0, 7.0]
    assert np.isnan(means(measured, np.array([0, 3, 5, 6]))[2])


def test_training_returns_the_champion_of_the_last_checkpoint(tmp_path):
    result = train(QUICK, tmp_path, Deadline())
    checkpoint = load_checkpoint(tmp_path)
    (name,) = result.champions
    path = tmp_path / f"{name}.safetensors"
    path.write_bytes(result.files[name])
    genome, header = load_champion(path)
    assert np.array_equal(genome, np.float32(QUICK.regime.champion(checkpoint.state).genome))
    assert (header.architecture, header.seed, header.generation) == ("ntuple", 0, 1)
    assert result.curves["td/error"][1] == np.float32(checkpoint.history["td/error"][1])
    assert "speed/games_per_cpu_second" not in result.curves
    assert differences(result, train(QUICK, tmp_path, Deadline())) == []  # as it stands
    assert differences(result, train(QUICK, tmp_path / "again", Deadline())) == []


def test_stopped_run_resumes_to_the_same_result(tmp_path, monkeypatch):
    job = Run("c0-1ply", 0, 840, 0.005)
    whole = train(job, tmp_path / "whole", Deadline())
    clock = itertools.count()
    monkeypatch.setattr(worker.time, "time", lambda: next(clock))
    assert train(job, tmp_path / "parts", Deadline(0)) is None
    assert load_checkpoint(tmp_path / "parts").state.generation == 1
    assert train(job, tmp_path / "parts", Deadline(next(clock) + 2)) is None
    assert 1 < load_checkpoint(tmp_path / "parts").state.generation < job.length
    assert differences(train(job, tmp_path / "parts", Deadline()), whole) == []


def test_members_are_saved_for_tables_that_need_them(tmp_path):
    job = Run("blondie24-rr", 0, 140, 0.001)
    result = train(job, tmp_path, Deadline())
    genomes = load_checkpoint(tmp_path).state.population.genomes
    assert CHAMPIONS_KEPT[job.preset] > len(set(result.champions)) == job.regime.parents == 3
    for name, genome in zip(result.champions, genomes, strict=False):
        path = tmp_path / f"{name}.safetensors"
        path.write_bytes(result.files[name])
        assert np.array_equal(load_champion(path).genome, np.float32(genome))


def test_match_result_equals_its_games(counted, played):
    seats = [AlphaBeta(Material(), player.depth, tie=CHANCE) for player in COUNTERS]
    results, differ = [], []
    for number in range(counted.games):
        side = (BLACK, WHITE)[number % 2]
        pair = seats if side == BLACK else seats[::-1]
        opening = counted.openings[number // 2] or None
        game = play_game(*pair, opening=opening, rng=np.random.default_rng((0, number)))
        winner = game.result.winner
        results.append("D" if winner == DRAW else "W" if winner == side else "L")
        differ.append(game.board.piece_difference() * (1 if side == BLACK else -1))
    assert (played.results, played.differences) == ("".join(results), tuple(differ))
    assert set(played.results) > {"L"}  # one ply is less than three
    assert sum(played.reasons.values()) == counted.games
    settled = [end for end, result in zip(played.played_out, results, strict=True) if result != "D"]
    assert settled == [result for result in results if result != "D"]


# Players


@pytest.mark.parametrize(
    ("changed", "suffix"), [({"unsaturated": True}, "unsaturated"), ({"exact_tanh": True}, "exact")]
)
def test_champion_may_evaluate_by_another_output(tmp_path, changed, suffix):
    run = Run("c0", 0, 840, 0.001)
    result = train(run, tmp_path / "c0", Deadline())
    path = tmp_path / f"{result.champions[0]}.safetensors"
    path.write_bytes(result.files[path.stem])
    champion = load_champion(path)
    metadata = replace(champion.metadata, architecture=f"blondie24-2001-{suffix}")
    wanted = build_evaluator(champion.genome, metadata)
    found, usual = (
        build_player(player, champion, Conditions()).evaluator
        for player in (Player("c0", **changed), Player("c0"))
    )
    position = sample_positions()[50]
    values = [evaluate_position(it, position, position.turn) for it in (found, wanted, usual)]
    assert values[0] == values[1] != values[2]


def test_champion_plays_by_the_rules_of_its_training_unless_the_match_has_others(tmp_path):
    preset = "c0@tie=last,order=piece,ends_at_jump=true"
    run, store = Run(preset, 0, 840, 0.001), ResultStore(tmp_path)
    store.add(run, train(run, tmp_path / "run", Deadline()))
    (name,) = store.result(run).champions
    assert store.champion_path(name).parent.name == "large"  # git keeps no variants
    own = agents.make(store.champion_path(name)).player
    assert (own.tie, own.order, own.style) == (LAST, BY_PIECE, FullWidth(ends_at_jump=True))
    other = agents.make(store.champion_path(name), tie="first", ends_at_jump=False).player
    assert (other.tie, other.order, other.style) == (FIRST, BY_PIECE, FullWidth())
    for player, conditions, expected in (
        (Player(preset), Conditions(), (LAST, BY_PIECE, True)),
        (Player(preset), Conditions(tie="first", ends_at_jump=False), (FIRST, BY_PIECE, False)),
        (Player(preset, tie="chance"), Conditions(tie="first"), (CHANCE, BY_PIECE, True)),
    ):
        match, _ = match_of(player, Player("material"), 0, conditions, 0.001)
        seat = build_player(match.first, store.champions(match)[0], conditions)
        assert (seat.tie, seat.order, seat.style.ends_at_jump) == expected
        store.add(match, play(match, *store.champions(match), Deadline()))
        assert ResultStore(tmp_path).result(match).results == store.result(match).results
    lines = map(json.loads, (tmp_path / "matches.jsonl").read_text().splitlines())
    assert sorted(len(line["conditions"]) for line in lines) == [5, 6, 7]


def test_only_networks_can_adjudicate_by_sums(quick, tmp_path):
    store, player = ResultStore(tmp_path), Player("c1-n0.001", unsaturated=True)
    store.add(QUICK, quick)
    match, _ = match_of(player, Player("random"), 0, Conditions(), 0.01)
    with pytest.raises(ValueError, match="ntuple-unsaturated"):
        build_player(match.first, store.champions(match)[0], Conditions())


# The work


def context_in(folder, executor, deadline=float("inf")):
    return ExecutionContext(executor, 2, folder / "work", deadline)


def test_work_is_done_once_and_leaves_no_files(tmp_path):
    store, jobs, reports = ResultStore(tmp_path / "results"), [QUICK, replace(QUICK, seed=1)], []
    match, _ = match_of(Player("c1-n0.001"), Player("material"), 0, Conditions(depth=1), 0.01)
    with open_executor("threads", 2) as executor:
        context = context_in(tmp_path, executor)
        assert work_through([match, *jobs], store, context, reports.append) == []
        assert reports[-1].jobs_done == reports[-1].jobs == 3
        assert reports[-1].seconds == pytest.approx(reports[-1].all_seconds)
        files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
        names = sorted(path.name for path in files if path.suffix != ".safetensors")
        assert names == [".lock", "environments.json", "matches.jsonl", "runs.jsonl"]
        assert len(files) == len(names) + 2  # champions
        fresh = ResultStore(tmp_path / "results")
        assert work_through([match, *jobs], fresh, context, reports.append) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == files
    assert list((tmp_path / "work").iterdir()) == []


def test_no_job_begins_that_would_exceed_the_deadline(quick, tmp_path, monkeypatch):
    store, whole = ResultStore(tmp_path / "results"), Run("c0", 0, 840)
    with open_executor("threads", 1) as executor:
        monkeypatch.setattr("training.experiments.scheduler.time.time", lambda: 1000.0)
        context = context_in(tmp_path, executor, 1000.0 + 60)
        assert work_through([whole], store, context, lambda progress: None) == [whole]
    assert not (tmp_path / "work").exists()
    costs = Costs(store, [], tmp_path)
    assert 100 < costs.expected(whole) < 2000
    costs.learn(replace(whole, seed=1), replace(quick, origin=Origin(84.0)))
    assert costs.expected(whole) == pytest.approx(84.0)
    assert costs.expected(replace(whole, generations=420)) == pytest.approx(42.0)


def test_failed_job_stops_the_others_and_is_named(tmp_path):
    bad = Match(Player("random"), Player("no-such-agent"), 0, Conditions(), 0.01)
    with open_executor("threads", 1) as executor, pytest.raises(ValueError, match="no-such-agent"):
        work_through(
            [bad], ResultStore(tmp_path), context_in(tmp_path, executor), lambda progress: None
        )


# Tables


def test_player_sees_its_own_games(played):
    here, there = player_games(played, False), player_games(played, True)
    assert [game.red for game in here] == [True, False] * (len(played.results) // 2)
    for mine, theirs in zip(here, there, strict=True):
        assert (mine.opening, mine.red) == (theirs.opening, not theirs.red)
        assert mine.difference == -theirs.difference
        assert {mine.result, theirs.result} in ({"W", "L"}, {"D"})
        assert {mine.played_out, theirs.played_out} in ({"W", "L"}, {"D"})


GAMES = [
    PlayerGame("", True, "W", 3, "W"),
    PlayerGame("", False, "D", 0, "D"),
    *[PlayerGame("9-13 21-17", True, "W", 2, "W")] * 47,
    *[PlayerGame("9-13 21-17", True, "D", 1, "L")] * 26,
    *[PlayerGame("9-13 21-17", True, "L", -1, "L")] * 13,
]


def test_measures_count_the_start_position_apart():
    expected = {
        "results": [47, 26, 13],
        "wins": [47],
        "draws": [26],
        "losses": [13],
        "wins-and-losses": [47, 13],
        "score": [100 * 60 / 86],
        "draws-and-lead": [100 * 26 / 86, 100 * 60 / 86 - 50],
        "by-material": [73, 0, 13],
        "by-playing-out": [47, 0, 39],
        "start": [1.0, 0.5],
        "differences": [3, 0],
    }
    found = {name: MEASURES[name].of(GAMES) for name in expected}
    assert found == {name: pytest.approx(values) for name, values in expected.items()}


def test_ratings_equal_those_of_the_thesis():
    ours = MEASURES["ratings"].of(GAMES)
    theirs = [*map(float, EXPERIMENTS["table-4.7"].rows[0].theirs)]
    assert ours[:4] == pytest.approx(theirs, abs=2)
    by_formula = rate_match(47, 26, 13, np.random.default_rng(0))
    assert ours[4:] == [*by_formula[0], *by_formula[1]]


def test_table_shows_published_and_reproduced_values():
    table = Table("table-x", "a title", RESULTS, (row("c0", "c10", "1, 2, 3"), row("c0", "c1")))
    lines = list(to_markdown(table, [[[4, 5, 6], [4, 5, 6]], []]))
    assert lines == [
        "## table-x: a title",
        "",
        "*Matches at 6 plies: every card of the two-move ballot with both colours, and the start "
        "position. Drawn after 100 moves a side. The first of equal moves is made. `c0`, "
        "`c10`, `c1`: 840 x 150 games at 4 plies.*",
        "",
        "| player | against | | won | drawn | lost |",
        "|---|---|---|---:|---:|---:|",
        "| c0 | c10 | theirs | 1 | 2 | 3 |",
        "| c0 | c10 | ours, 2 seeds | 4.00 [4.00, 4.00] | 5.00 [5.00, 5.00] | 6.00 [6.00, 6.00] |",
        "| c0 | c1 | not yet played |  |  |  |",
        "",
    ]


def test_figures_are_of_the_available_seeds(tmp_path, played):
    store = ResultStore(tmp_path)
    table = Table("x", "x", RESULTS, (Row(*(COUNTERS[0], COUNTERS[1:], ())), row("c0", "c1")))
    scope = Scope(seeds=1, scale=0.05)
    assert figures(table, scope, store) == [[], []]
    match, _ = match_of(*COUNTERS, 0, table.conditions, 0.05)
    store.add(match, played)
    wins = [sum(it == letter for it in played.results[2:]) for letter in "WDL"]
    assert figures(table, scope, store) == [[wins], []]
