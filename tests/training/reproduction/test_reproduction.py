"""Experiments: data, jobs and their execution."""

import itertools
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import agents
from agents.baselines.material import Material
from agents.evaluator import evaluate_position
from agents.match import play_game
from agents.match_kernel import DRAW
from agents.search.player import AlphaBeta
from agents.search.root_order import BY_PIECE, CHANCE, FIRST, LAST
from agents.search.selective import FullWidth
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from tests.training.reproduction.conftest import COUNTERS, QUICK
from training.evolution.metrics import sample_positions
from training.rating.thesis_ratings import rate_match
from training.reproduction import worker
from training.reproduction.champions import encode_champion, load_champion, name_champion
from training.reproduction.jobs import (
    KEPT,
    PLAYERS,
    SPARE,
    Conditions,
    Match,
    Player,
    Run,
    match_of,
    run_key,
)
from training.reproduction.papers.seed_selection import VALIDATION
from training.reproduction.plan import EXPERIMENTS, OFTEN, Scope, figures
from training.reproduction.results import (
    Origin,
    ResultStore,
    differences,
)
from training.reproduction.scheduler import Costs, ExecutionContext, work_through
from training.reproduction.table_text import anchor, basis, to_markdown
from training.reproduction.tables import (
    BY_MATERIAL,
    RATINGS,
    RESULTS,
    START,
    WINS,
    WINS_AND_LOSSES,
    PlayerGame,
    Row,
    Table,
    interval,
    player_games,
    row,
)
from training.reproduction.worker import Deadline, build_player, means, play, train
from training.runtime.executors import open_executor
from training.trainer.checkpoint import load_checkpoint

# The papers' data, and what no paper has


def test_zoo_is_selected_by_games_outside_the_tables():
    """No opening of the validation, and no run of its panel, is in a table."""
    scope = Scope()
    others = scope.jobs(table for table in EXPERIMENTS.values() if table is not VALIDATION)
    played = {card for job in others if isinstance(job, Match) for card in job.openings}
    chosen = scope.jobs([VALIDATION])
    matches = [job for job in chosen if isinstance(job, Match)]
    assert not played & {card for match in matches for card in match.openings}
    panel = {job for job in chosen if isinstance(job, Run) and job.seed >= SPARE}
    assert len(panel) == 3
    assert not panel & set(others)
    assert {match.games for match in matches} == {40}
    known = [match for match in matches if match.seed == SPARE]
    assert len({match.openings for match in known}) == 1  # the same cards for all


def test_every_table_is_there():
    thesis = {"3.2", "8.1", *(f"4.{n}" for n in range(1, 8)), *(f"5.{n}" for n in range(1, 13))}
    thesis |= {f"6.{n}" for n in range(1, 19)} | {f"7.{n}" for n in range(1, 25)}
    assert {f"table-{number}" for number in thesis} <= EXPERIMENTS.keys()
    papers = {"table-2009-1", "skycak-1999", "skycak-2001", "nguyen-progress", "nguyen-comparisons"}
    assert papers <= EXPERIMENTS.keys()


def test_claims_use_ten_seeds_and_all_else_five():
    pairs = {"c0", "blondie24-rr", "c10", "c5-n0.001"}
    assert {f"{player}-npd" for player in pairs} | pairs | {"c10-rr", "c1-n0.001"} <= OFTEN
    assert {"blondie24-1999", "blondie24-2001"} <= OFTEN <= PLAYERS.keys()
    seeds = Counter()
    for job in Scope().jobs(EXPERIMENTS.values()):
        if isinstance(job, Run) and job.is_variant:
            continue
        whole = isinstance(job, Run) and job.generations == PLAYERS[job.preset].generations
        if whole and job.seed < SPARE:
            seeds[job.preset] += 1
    assert (seeds.pop("strong-1"), seeds.pop("strong")) == (1, 1)  # an hour of training
    assert seeds.keys() == PLAYERS.keys() - {"strong-1", "strong"}
    assert all(count == (10 if player in OFTEN else 5) for player, count in seeds.items())


def test_printed_matches_have_all_games():
    # Table 5.8's figures sum to 84: so they are printed.
    short = {(name, line.first.name) for name, line in printed(RESULTS) if sum(line.theirs) != 86}
    hundreds = {(name, line.first.name) for name, line in printed(RESULTS) if sum(line.theirs) > 86}
    assert short - hundreds == {("table-5.8", "c10-rr")}
    assert hundreds == {("table-7.3", "hughes"), ("table-7.4", "hughes")}


def printed(measure):
    for name, table in EXPERIMENTS.items():
        if table.measure is measure:
            yield from ((name, line) for line in table.rows if line.theirs)


MISPRINTS = {  # where figures that are printed do not add up
    "table-7.11": {("c0-3ply", 3), ("c0", 1), ("c0", 3)},
    "table-7.16": set(),
}


@pytest.mark.parametrize("wins", MISPRINTS)
def test_printed_leagues_are_consistent(wins):
    chapter, number = wins.split(".")
    won, drawn, lost = (
        {(line.first, line.others): line.theirs[0] for line in EXPERIMENTS[name].rows}
        for name in (f"{chapter}.{int(number) + shift}" for shift in range(3))
    )
    wrong = set()
    for (player, others), count in won.items():
        games = count + drawn[player, others] + lost[player, others]
        there = [lost[other, (player,)] for other in others]
        if len(others) == 1 and (games, [count]) != (86, there):
            wrong.add((player.name, 1))
        if len(others) == 3 and games != 3 * 86:
            wrong.add((player.name, 3))
        if len(others) == 3:
            assert count == sum(won[player, (other,)] for other in others)
    assert wrong == MISPRINTS[wins]


def test_sums_of_a_printed_league_equal_its_rows():
    for line in EXPERIMENTS["table-5.2"].rows:
        if len(line.others) > 1:
            pairs = EXPERIMENTS["table-5.2"].rows
            wins = sum(
                it.theirs[0] for it in pairs if it.first == line.first and len(it.others) == 1
            )
            assert line.theirs == (wins,)


def test_ratings_have_two_means_and_two_deviations():
    for name, line in printed(RATINGS):
        first, sd, second, other_sd = line.theirs
        assert 1000 < first < 1600, name
        assert 1000 < second < 1600, name
        assert 20 < sd < 40, name
        assert 20 < other_sd < 40, name


def test_every_player_is_a_preset_or_an_agent():
    agents = {
        player.name
        for table in EXPERIMENTS.values()
        for line in table.rows
        for player in (line.first, *line.others)
        if not player.trained
    }
    assert agents == {"heuristic", "material", "random", "mcts"}


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
    assert (whole.length, whole.regime.parents) == (840, 15)
    assert (trial.length, trial.regime.parents) == (42, 3)
    assert run_key(whole.configuration) != run_key(trial.configuration)
    jobs, fewer = (Scope(scale=it).jobs(EXPERIMENTS.values()) for it in (1, 0.05))
    assert 5 * len(fewer) < len(jobs)


def test_points_of_a_curve_do_not_depend_on_the_run_length():
    assert Run("c10", 0, 160).point_every == Run("c10", 0, 840).point_every == 9


def test_first_seeds_run_first():
    jobs = Scope(seeds=3).jobs([EXPERIMENTS["table-4.6"], EXPERIMENTS["table-7.7"]])
    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)
    assert len(jobs) == len(set(jobs)) == 3 * 6
    first = [job for job in jobs if job.seed == 0]
    assert {job.preset for job in first if isinstance(job, Run)} == {
        *("c0", "blondie24-rr", "c10", "c10-npd")
    }


@pytest.mark.parametrize(("seeds", "scale"), [(0, 1.0), (None, 0.0), (None, 1.5)])
def test_invalid_scope_is_refused(seeds, scale):
    with pytest.raises(ValueError, match="must be"):
        Scope(seeds, scale)


# Carrying them out


def test_means_cover_the_generations_of_a_point():
    measured = np.array([5.0, 1.0, np.nan, 3.0, np.nan, np.nan, 7.0])
    assert means(measured, np.array([0, 2, 4, 6])).tolist() == [5.0, 1.0, 3.0, 7.0]
    assert np.isnan(means(measured, np.array([0, 3, 5, 6]))[2])


def test_training_returns_the_champion_of_the_last_checkpoint(tmp_path):
    result = train(QUICK, tmp_path, Deadline())
    checkpoint = load_checkpoint(tmp_path)
    champion = QUICK.regime.champion(checkpoint.state)
    (name,) = result.champions
    path = tmp_path / f"{name}.safetensors"
    path.write_bytes(result.files[name])
    genome, header = load_champion(path)
    assert np.array_equal(genome, champion.genome.astype(np.float32))
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
    assert KEPT[job.preset] == 5
    result = train(job, tmp_path, Deadline())
    state = load_checkpoint(tmp_path).state
    assert len(result.champions) == job.regime.parents == 3
    for member, name in enumerate(result.champions):
        path = tmp_path / f"{name}.safetensors"
        path.write_bytes(result.files[name])
        genome = load_champion(path).genome
        assert np.array_equal(genome, state.population.genomes[member].astype(np.float32))
    assert len(set(result.champions)) == 3


def test_match_result_equals_its_games(counted, played):
    seats = [AlphaBeta(Material(), player.depth, tie=CHANCE) for player in COUNTERS]
    results, differ = [], []
    for number in range(counted.games):
        black, white = seats if number % 2 == 0 else seats[::-1]
        opening = counted.openings[number // 2] or None
        rng = np.random.default_rng((0, number))
        game = play_game(black, white, opening=opening, rng=rng)
        side = BLACK if number % 2 == 0 else WHITE
        winner = game.result.winner
        results.append("D" if winner == DRAW else "W" if winner == side else "L")
        differ.append(game.board.piece_difference() * (1 if side == BLACK else -1))
    assert played.results == "".join(results)
    assert played.differences == tuple(differ)
    assert set(played.results) > {"L"}  # one ply is less than three
    assert sum(played.reasons.values()) == counted.games
    settled = [end for end, result in zip(played.played_out, results, strict=True) if result != "D"]
    assert settled == [result for result in results if result != "D"]


def test_match_past_the_deadline_is_not_played(counted):
    assert play(counted, None, None, Deadline(0)) is None


# Players


def test_champion_may_adjudicate_by_its_sums(tmp_path):
    run = Run("c0", 0, 840, 0.001)
    result = train(run, tmp_path / "c0", Deadline())
    champion = run.regime.champion(load_checkpoint(tmp_path / "c0").state)
    large = champion._replace(genome=champion.genome * 20)  # as after hundreds of generations
    content = encode_champion(large, run, run.length)
    name = name_champion(content)
    store = ResultStore(tmp_path)
    store.add(run, replace(result, champions=(name,), files={name: content}))
    usual, other = Player("c0"), Player("c0", unsaturated=True)
    matches = [
        match_of(player, Player("random"), 0, Conditions(), 0.001)[0] for player in (usual, other)
    ]
    by_tanh, by_sum = (
        build_player(match.first, store.champions(match)[0], Conditions()).evaluator
        for match in matches
    )
    pairs = [
        (
            evaluate_position(by_tanh, position, position.turn),
            evaluate_position(by_sum, position, position.turn),
        )
        for position in sample_positions()
    ]
    at_top = {judged for squashed, judged in pairs if squashed > 0.999999}
    assert len(at_top) > 10
    assert all(judged > 0.1 for judged in at_top)
    apart = sorted((squashed, judged) for squashed, judged in pairs if abs(squashed) < 0.99)
    assert [judged for _, judged in apart] == sorted(judged for _, judged in apart)


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
    match, _ = match_of(Player("c1-n0.001"), Player("random"), 0, Conditions(depth=1), 0.01)
    with open_executor("threads", 2) as executor:
        context = context_in(tmp_path, executor)
        assert work_through([match, *jobs], store, context, reports.append) == []
        assert reports[-1].jobs_done == reports[-1].jobs == 3
        assert reports[-1].seconds == pytest.approx(reports[-1].all_seconds)
        files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
        names = {path.name for path in files if path.suffix != ".safetensors"}
        assert names == {"runs.jsonl", "matches.jsonl", "environments.json", ".lock"}
        assert len(files) == 4 + 2  # champions
        fresh = ResultStore(tmp_path / "results")
        assert work_through([match, *jobs], fresh, context, reports.append) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == files
    assert list((tmp_path / "work").iterdir()) == []


def test_no_job_begins_that_would_exceed_the_deadline(quick, tmp_path, monkeypatch):
    store, whole = ResultStore(tmp_path / "results"), Run("c0", 0, 840)
    with open_executor("threads", 1) as executor:
        monkeypatch.setattr("training.reproduction.scheduler.time.time", lambda: 1000.0)
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
    assert len(here) == len(there) == len(played.results)
    for mine, theirs in zip(here, there, strict=True):
        assert mine.opening == theirs.opening
        assert mine.red is not theirs.red
        assert mine.difference == -theirs.difference
        assert {mine.result, theirs.result} in ({"W", "L"}, {"D"})
        assert {mine.played_out, theirs.played_out} in ({"W", "L"}, {"D"})
    assert [game.red for game in here] == [True, False] * (len(here) // 2)


GAMES = [
    PlayerGame("", True, "W", 3, "W"),
    PlayerGame("", False, "D", 0, "D"),
    *[PlayerGame("9-13 21-17", True, "W", 2, "W")] * 47,
    *[PlayerGame("9-13 21-17", True, "D", 1, "L")] * 26,
    *[PlayerGame("9-13 21-17", True, "L", -1, "L")] * 13,
]


def test_measures_count_the_start_position_apart():
    assert RESULTS.of(GAMES) == [47, 26, 13]
    assert WINS.of(GAMES) == [47]
    assert WINS_AND_LOSSES.of(GAMES) == [47, 13]
    assert BY_MATERIAL.of(GAMES) == [73, 0, 13]
    assert START.of(GAMES) == [1.0, 0.5]


def test_ratings_equal_those_of_the_thesis():
    ours = RATINGS.of(GAMES)
    theirs = EXPERIMENTS["table-4.7"].rows[0].theirs
    assert ours[:4] == pytest.approx(theirs, abs=2)
    by_formula = rate_match(47, 26, 13, np.random.default_rng(0))
    assert ours[4:] == [*by_formula[0], *by_formula[1]]


def test_intervals_are_students():
    values = [3.0, 5.0, 10.0, 4.0]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert interval(values) == f"{np.mean(values):.2f} [{low:.2f}, {high:.1f}]"
    assert interval([7.0]) == "7"
    assert START.show([1.0, 0.5, 1.0, 0.0]) == "2-1-1"


def test_table_shows_published_and_reproduced_values():
    table = Table("table-x", "a title", RESULTS, (row("c0", "c10", 1, 2, 3), row("c0", "c1")))
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


def test_basis_of_a_table_tells_depth_budget_and_ties():
    told = basis(EXPERIMENTS["table-7.1"])
    assert told.startswith("Matches at 6 plies: 14 games from sampled cards of the two-move ballot")
    assert "or when a position stands for the third time" in told
    assert "A random one of equal moves is made" in basis(EXPERIMENTS["random-ties"])
    assert "`c5-n0.001-4ply`: 126 x 1000 games at 4 plies." in basis(EXPERIMENTS["table-7.22"])
    assert "126 x 1000 games without search" in basis(EXPERIMENTS["table-6.10"])
    assert basis(EXPERIMENTS["learns-6-plies"]).endswith(
        "Each player's training stands in `training`."
    )
    assert basis(EXPERIMENTS["step-sizes"]) == ""  # its rows tell the training


def test_anchors_are_those_of_github():
    title = "table-6.10: C0, Blondie24-RR (2009) against C5-N0.001"
    assert anchor(title) == "table-610-c0-blondie24-rr-2009-against-c5-n0001"


def test_figures_are_of_the_available_seeds(tmp_path, played):
    store = ResultStore(tmp_path)
    table = Table("x", "x", RESULTS, (Row(*(COUNTERS[0], COUNTERS[1:], ())), row("c0", "c1")))
    scope = Scope(seeds=1, scale=0.05)
    assert figures(table, scope, store) == [[], []]
    match, _ = match_of(*COUNTERS, 0, table.conditions, 0.05)
    store.add(match, played)
    wins = [sum(it == letter for it in played.results[2:]) for letter in "WDL"]
    assert figures(table, scope, store) == [[wins], []]
