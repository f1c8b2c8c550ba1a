"""Experiments: their data, their jobs, the records of those, and the digest of the code."""

import importlib
import itertools
import json
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy import stats

from agents.baselines.material import Material
from agents.evaluator import value
from agents.match import play_game
from agents.match_kernel import DRAW
from agents.search.player import AlphaBeta
from agents.weights import save_weights
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from tests import ROOT
from training.evolution.metrics import sample_positions
from training.rating.thesis_ratings import rate_match
from training.reproduction import digest as digests
from training.reproduction import worker
from training.reproduction.adopt import adopt
from training.reproduction.digest import Reached, digest
from training.reproduction.jobs import (
    KEPT,
    PLAYERS,
    SPARE,
    Conditions,
    Match,
    Player,
    Run,
    key_of,
    match_of,
)
from training.reproduction.papers.seed_selection import VALIDATION
from training.reproduction.plan import EXPERIMENTS, OFTEN, Ledger, Scope, figures
from training.reproduction.results import (
    Origin,
    Trained,
    differences,
    load_result,
    older,
    path_of,
    save_result,
    weights,
)
from training.reproduction.scheduler import Costs, Shop, work_through
from training.reproduction.tables import (
    BY_MATERIAL,
    RATINGS,
    RESULTS,
    START,
    WINS,
    WINS_AND_LOSSES,
    Row,
    Seen,
    Table,
    interval,
    row,
    seen,
    shown,
)
from training.reproduction.worker import Order, means, play, seated, train
from training.runtime.executors import open_executor
from training.trainer.checkpoint import load_checkpoint

QUICK = Run("c1-n0.001", 0, 126, 0.01)  # a generation of a thousand games of self-play
COUNTERS = Player("material", depth=1), Player("material", depth=3)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A finished training run."""
    return train(QUICK, tmp_path_factory.mktemp("quick"), Order())


@pytest.fixture(scope="module")
def counted():
    """A match of two piece counters."""
    return Match(*COUNTERS, 0, Conditions(play_out=2), 0.05)


@pytest.fixture(scope="module")
def played(counted):
    return play(counted, None, None, Order())


# The papers' data, and what no paper has


def test_the_zoo_is_chosen_by_games_of_no_other_table():
    """Neither a card of the validation, nor a run of its panel, is in a table."""
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


def test_conclusions_rest_on_ten_seeds_and_all_else_on_five():
    pairs = {"c0", "blondie24-rr", "c10", "c5-n0.001"}
    assert {f"{player}-npd" for player in pairs} | pairs | {"c10-rr", "c1-n0.001"} <= OFTEN
    assert {"blondie24-1999", "blondie24-2001"} <= OFTEN <= PLAYERS.keys()
    seeds = Counter()
    for job in Scope().jobs(EXPERIMENTS.values()):
        whole = isinstance(job, Run) and job.generations == PLAYERS[job.preset].generations
        if whole and job.seed < SPARE:
            seeds[job.preset] += 1
    assert seeds.pop("strong") == 1  # an hour of training
    assert seeds.keys() == PLAYERS.keys() - {"strong"}
    assert all(count == (10 if player in OFTEN else 5) for player, count in seeds.items())


def test_printed_matches_have_all_their_games():
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
def test_printed_leagues_agree_with_themselves(wins):
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


def test_a_league_knows_its_sums():
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


def test_a_match_is_one_match_whoever_is_named_first():
    one, turned = match_of(Player("c0"), Player("c10"), 3, Conditions(), 1.0)
    other, otherwise = match_of(Player("c10"), Player("c0"), 3, Conditions(), 1.0)
    assert one == other
    assert turned is not otherwise
    assert {run.preset for run in one.runs} == {"c0", "c10"}
    assert {run.seed for run in one.runs} == {3}


def test_a_match_has_the_start_position_and_every_card_with_both_colours():
    match = Match(Player("heuristic"), Player("random"), 5)
    assert match.games == 88
    assert match.openings[0] == ""
    assert sorted(match.openings[1:]) == sorted(TWO_MOVE)
    assert Match(*COUNTERS, 5, Conditions(games=1000)).games == 1000
    fourteen = Match(*COUNTERS, 5, Conditions(games=14)).openings
    assert len(set(fourteen)) == 7
    assert fourteen != Match(*COUNTERS, 6, Conditions(games=14)).openings


def test_a_trial_is_smaller_in_every_way():
    whole, trial = Run("c0", 0, 840), Run("c0", 0, 840, 0.05)
    assert (whole.length, whole.regime.parents) == (840, 15)
    assert (trial.length, trial.regime.parents) == (42, 3)
    assert whole.key != trial.key
    assert len(Scope(scale=0.05).jobs(EXPERIMENTS.values())) < 500
    assert Run("c200", 0, 840).trial == 201
    assert Run("c0", 0, 840).trial == 20
    assert Run("learns-league", 0, 788).trial == 788


def test_points_of_a_curve_do_not_depend_on_how_long_a_run_is():
    assert Run("c10", 0, 160).point_every == Run("c10", 0, 840).point_every == 9


def test_first_seeds_come_first():
    jobs = Scope(seeds=3).jobs([EXPERIMENTS["table-4.6"], EXPERIMENTS["table-7.7"]])
    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)
    assert len(jobs) == len(set(jobs)) == 3 * 6
    first = [job for job in jobs if job.seed == 0]
    assert {job.preset for job in first if isinstance(job, Run)} == {
        *("c0", "blondie24-rr", "c10", "c10-npd")
    }


@pytest.mark.parametrize(("seeds", "scale"), [(0, 1.0), (None, 0.0), (None, 1.5)])
def test_a_scope_that_makes_no_sense_is_refused(seeds, scale):
    with pytest.raises(ValueError, match="must be"):
        Scope(seeds, scale)


def test_the_key_is_that_of_configuration_seed_and_code(monkeypatch):
    run = Run("c0", 0, 840)
    others = [replace(run, seed=1), replace(run, preset="c0-npd"), replace(run, generations=839)]
    keys = {key_of(job.identity) for job in (run, *others)}
    assert len(keys) == 4
    monkeypatch.setattr("training.reproduction.jobs.digest", lambda *roots: "other code")
    assert run.key not in keys


# Carrying them out


def test_means_are_taken_over_the_generations_of_a_point():
    measured = np.array([5.0, 1.0, np.nan, 3.0, np.nan, np.nan, 7.0])
    assert means(measured, np.array([0, 2, 4, 6])).tolist() == [5.0, 1.0, 3.0, 7.0]
    assert np.isnan(means(measured, np.array([0, 3, 5, 6]))[2])


def test_training_gives_the_champion_of_the_last_checkpoint(tmp_path):
    result = train(QUICK, tmp_path, Order())
    checkpoint = load_checkpoint(tmp_path)
    champion = QUICK.regime.champion(checkpoint.state)
    genome, header = weights(result)
    assert np.array_equal(genome, champion.genome.astype(np.float32))
    assert (header.architecture, header.seed, header.generation) == ("ntuple", 0, 1)
    assert result.beginning["td/error"][1] == checkpoint.history["td/error"][1]
    assert "speed/games_per_cpu_second" not in result.curves
    assert differences(result, train(QUICK, tmp_path, Order())) == []  # as it stands
    assert differences(result, train(QUICK, tmp_path / "again", Order())) == []
    save_weights(tmp_path / "champion.safetensors", genome, header)


def test_a_run_that_is_stopped_goes_on_to_the_same_end(tmp_path, monkeypatch):
    job = Run("c0-1ply", 0, 840, 0.005)
    whole = train(job, tmp_path / "whole", Order())
    clock = itertools.count()
    monkeypatch.setattr(worker.time, "time", lambda: next(clock))
    assert train(job, tmp_path / "parts", Order(0)) is None
    assert load_checkpoint(tmp_path / "parts").state.generation == 1
    assert train(job, tmp_path / "parts", Order(next(clock) + 2)) is None
    assert 1 < load_checkpoint(tmp_path / "parts").state.generation < job.length
    assert differences(train(job, tmp_path / "parts", Order()), whole) == []


def test_members_are_kept_where_a_table_asks_for_them(tmp_path):
    job = Run("blondie24-rr", 0, 140, 0.001)
    assert KEPT[job.preset] == 5
    result = train(job, tmp_path, Order())
    state = load_checkpoint(tmp_path).state
    assert len(result.genomes) == job.regime.parents == 3
    assert np.array_equal(result.genomes, state.population.genomes[:3].astype(np.float32))
    assert len({result.player(member) for member in range(3)}) == 3


def test_a_match_is_what_its_games_are(counted, played):
    seats = [AlphaBeta(Material(), player.depth, random_ties=True) for player in COUNTERS]
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


def test_there_is_no_match_without_time(counted):
    assert play(counted, None, None, Order(0)) is None


# Records


def a_run(genomes):
    return Trained(
        QUICK.identity,
        genomes.astype(np.float32),
        ({"architecture": "x", "king": 1.5, "regime": "r", "seed": 0, "generation": 9},)
        * len(genomes),
        np.arange(94, dtype=np.int32),
        {f"curve/{number}": np.arange(94, dtype=np.float32) / 7 for number in range(13)},
        {"games/plies": np.array([np.nan, 0.1, 1 / 3])},
        {"reused": np.array([0, 3], np.float32)},
        Origin(12.5),
    )


@pytest.mark.parametrize("empty", [0.0, 0.5, 1.0])
def test_a_run_comes_back_from_its_record(empty, tmp_path):
    rng = np.random.default_rng(1)
    genomes = rng.normal(size=(2, 5047)) * (rng.random((2, 5047)) >= empty)
    run = a_run(genomes)
    path = path_of(tmp_path, QUICK, key_of(run.job))
    save_result(path, run)
    back = load_result(path)
    assert differences(run, back) == []
    assert back.digest == run.digest
    assert np.array_equal(back.genomes, run.genomes)
    assert asdict(back.origin) == asdict(run.origin)
    assert weights(back)[1].king == 1.5


def test_the_record_of_a_network_is_small(tmp_path):
    run = a_run(np.random.default_rng(1).normal(size=(1, 5047)))
    path = path_of(tmp_path, QUICK, key_of(run.job))
    save_result(path, run)
    assert path.stat().st_size < 40_000


def test_a_match_comes_back_from_its_record(counted, played, tmp_path):
    path = path_of(tmp_path, counted, key_of(played.job))
    save_result(path, played)
    back = load_result(path)
    assert back == played
    assert path.stat().st_size < 2_000


def test_what_is_damaged_is_said_to_be_so(quick, counted, played, tmp_path):
    rng = np.random.default_rng(0)
    for job, result in ((QUICK, quick), (counted, played)):
        path = path_of(tmp_path, job, key_of(result.job))
        save_result(path, result)
        whole = path.read_bytes()
        for place in rng.integers(len(whole), size=40).tolist():
            content = bytearray(whole)
            content[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(content)
            try:
                assert load_result(path).digest == result.digest  # in what is no result
            except ValueError as error:
                assert f"the record {str(path)!r} is damaged" in str(error)  # noqa: PT017
        for content in (b"", whole[: len(whole) // 2], b"{}", b"[1]", b"\xff" * 99):
            path.write_bytes(content)
            with pytest.raises(ValueError, match=r"is damaged .* delete it"):
                load_result(path)


def test_a_record_of_another_job_under_this_name_is_refused(quick, tmp_path):
    other = path_of(tmp_path, QUICK, "0" * 16)
    save_result(other, quick)
    with pytest.raises(ValueError, match="it is of the job"):
        load_result(other)


def test_differences_are_named(quick, played):
    changed = replace(quick, genomes=quick.genomes + 1, pool={"reused": np.zeros(1)})
    assert differences(quick, changed) == ["genomes", "pool/reused"]
    assert differences(quick, replace(quick, headers=())) == ["headers"]
    assert differences(played, replace(played, plies=())) == ["plies"]
    assert differences(quick, replace(quick, origin=Origin(0.0))) == []


def test_a_ledger_passes_over_what_is_not_its_own(quick, tmp_path):
    ledger = Ledger(tmp_path)
    foreign = path_of(tmp_path, QUICK, "f" * 16)
    save_result(foreign, quick)
    (tmp_path / "runs" / "notes.txt").write_text("mine")
    assert ledger.result(QUICK) is None
    assert list(older(tmp_path, QUICK)) == [foreign]
    ledger.add(QUICK, quick)
    assert Ledger(tmp_path).result(QUICK).digest == quick.digest


def test_a_match_is_known_by_its_players_not_by_how_they_came_about(quick, tmp_path):
    match, _ = match_of(
        Player("c1-n0.001", generations=126), Player("random"), 0, Conditions(), 0.01
    )
    ledger = Ledger(tmp_path)
    assert ledger.identity(match) is None
    ledger.add(match.runs[0], quick)
    first = ledger.identity(match)
    other = Ledger(tmp_path / "other")
    other.add(match.runs[0], replace(quick, origin=Origin(0.0), beginning={}))
    assert other.identity(match) == first
    third = Ledger(tmp_path / "third")
    third.add(match.runs[0], replace(quick, genomes=quick.genomes * 2))
    assert third.identity(match) != first


def test_every_setting_of_a_player_is_part_of_the_match(quick, tmp_path):
    ledger, player = Ledger(tmp_path), Player("c1-n0.001")
    others = [
        replace(player, depth=1),
        replace(player, depth=2),
        *(replace(player, simulations=number) for number in (10, 20)),
        Player("random"),
        Player("mcts"),
        Player("mcts", simulations=10),
        *(Player("material", depth=depth) for depth in (2, 4)),
    ]
    ledger.add(QUICK, quick)
    conditions = [Conditions(), Conditions(depth=5), Conditions(repetition=3)]
    matches = [match_of(player, other, 0, each, 0.01)[0] for other in others for each in conditions]
    keys = {key_of(ledger.identity(match)) for match in matches}
    assert len(keys) == len(matches)


def test_a_champion_may_judge_by_its_sums(tmp_path):
    run = Run("c0", 0, 840, 0.001)
    champion = train(run, tmp_path / "c0", Order())
    large = replace(champion, genomes=champion.genomes * 20)  # as after hundreds of generations
    ledger = Ledger(tmp_path)
    ledger.add(run, large)
    usual, other = Player("c0"), Player("c0", unsaturated=True)
    matches = [
        match_of(player, Player("random"), 0, Conditions(), 0.001)[0] for player in (usual, other)
    ]
    assert len({key_of(ledger.identity(match)) for match in matches}) == 2
    by_tanh, by_sum = (
        seated(match.first, ledger.opponents(match)[0], 6).evaluator for match in matches
    )
    pairs = [
        (value(by_tanh, position, position.turn), value(by_sum, position, position.turn))
        for position in sample_positions()
    ]
    at_top = {judged for squashed, judged in pairs if squashed > 0.999999}
    assert len(at_top) > 10
    assert all(judged > 0.1 for judged in at_top)
    apart = sorted((squashed, judged) for squashed, judged in pairs if abs(squashed) < 0.99)
    assert [judged for _, judged in apart] == sorted(judged for _, judged in apart)


def test_only_networks_have_sums_to_judge_by(quick, tmp_path):
    ledger, player = Ledger(tmp_path), Player("c1-n0.001", unsaturated=True)
    ledger.add(QUICK, quick)
    with pytest.raises(ValueError, match="ntuple-unsaturated"):
        ledger.identity(match_of(player, Player("random"), 0, Conditions(), 0.01)[0])


# The work


def shop_in(folder, executor, deadline=float("inf")):
    return Shop(executor, 2, folder / "work", deadline)


def test_work_is_done_once_and_leaves_nothing_behind(tmp_path):
    ledger, jobs, reports = Ledger(tmp_path / "records"), [QUICK, replace(QUICK, seed=1)], []
    match, _ = match_of(Player("c1-n0.001"), Player("random"), 0, Conditions(depth=1), 0.01)
    with open_executor("threads", 2) as executor:
        shop = shop_in(tmp_path, executor)
        assert work_through([match, *jobs], ledger, shop, reports.append) == []
        assert reports[-1].jobs_done == reports[-1].jobs == 3
        assert reports[-1].seconds == pytest.approx(reports[-1].all_seconds)
        files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
        assert len(files) == 3
        fresh = Ledger(tmp_path / "records")
        assert work_through([match, *jobs], fresh, shop, reports.append) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == files
    assert list((tmp_path / "work").iterdir()) == []


def test_nothing_is_begun_that_would_end_too_late(tmp_path, monkeypatch):
    ledger, whole = Ledger(tmp_path / "records"), Run("c0", 0, 840)
    with open_executor("threads", 1) as executor:
        monkeypatch.setattr("training.reproduction.scheduler.time.time", lambda: 1000.0)
        shop = shop_in(tmp_path, executor, 1000.0 + 60)
        assert work_through([whole], ledger, shop, lambda progress: None) == [whole]
    assert not (tmp_path / "work").exists()
    costs = Costs(ledger, [], tmp_path)
    assert 100 < costs.expected(whole) < 2000
    costs.learn(replace(whole, seed=1), replace(a_run(np.ones((1, 2))), origin=Origin(84.0)))
    assert costs.expected(whole) == pytest.approx(84.0)
    assert costs.expected(replace(whole, generations=420)) == pytest.approx(42.0)


def test_a_job_that_fails_stops_the_others_and_says_why(tmp_path):
    bad = Match(Player("random"), Player("no-such-agent"), 0, Conditions(), 0.01)
    with open_executor("threads", 1) as executor, pytest.raises(ValueError, match="no-such-agent"):
        work_through([bad], Ledger(tmp_path), shop_in(tmp_path, executor), lambda progress: None)


def by_other_code(ledger, job, changes=None):
    """Put a record of the job into the ledger's folder as another code would have made it."""
    result = ledger.result(job)
    old = replace(result, job={**result.job, "code": "0" * 16}, **(changes or {}))
    path_of(ledger.folder, job, key_of(result.job)).unlink()
    path = path_of(ledger.folder, job, key_of(old.job))
    save_result(path, old)
    return path


@pytest.fixture
def two_and_a_match(tmp_path, quick):
    """A ledger of two runs and two matches of them, and the jobs."""
    ledger = Ledger(tmp_path / "records")
    runs = [QUICK, replace(QUICK, seed=1)]
    matches = [
        match_of(Player("c1-n0.001"), Player("random"), seed, Conditions(depth=1), 0.01)[0]
        for seed in range(2)
    ]
    with open_executor("threads", 1) as executor:
        work_through([*runs, *matches], ledger, shop_in(tmp_path, executor), lambda progress: None)
    return ledger, [*runs, *matches]


def test_records_of_other_code_are_taken_over_if_it_does_the_same(two_and_a_match, tmp_path):
    ledger, jobs = two_and_a_match
    before = [ledger.result(job).digest for job in jobs]
    old = [by_other_code(ledger, job) for job in jobs]
    fresh = Ledger(ledger.folder)
    assert [fresh.result(job) for job in jobs] == [None] * 4
    with open_executor("threads", 1) as executor:
        told = adopt(jobs, fresh, shop_in(tmp_path, executor))
    assert (told.taken, told.refused) == (4, 0)
    assert not any(path.exists() for path in old)
    assert [Ledger(ledger.folder).result(job).digest for job in jobs] == before


def test_records_of_code_that_does_otherwise_are_not(two_and_a_match, tmp_path):
    ledger, jobs = two_and_a_match
    error = {"beginning": {"td/error": np.array([np.nan, 0.25])}}
    old = [by_other_code(ledger, job, error) for job in jobs[:2]]
    turned = ledger.result(jobs[2]).results.translate(str.maketrans("WL", "LW"))
    old += [by_other_code(ledger, job, {"results": turned}) for job in jobs[2:]]
    with open_executor("threads", 1) as executor:
        assert adopt(jobs[:2], Ledger(ledger.folder), shop_in(tmp_path, executor)) == (0, 2, 0)
        for job in jobs[:2]:
            ledger.add(job, replace(ledger.result(job)))
        assert adopt(jobs[2:], Ledger(ledger.folder), shop_in(tmp_path, executor)) == (0, 2, 0)
    assert all(path.exists() for path in old)


def test_a_record_of_another_champion_is_not_either(two_and_a_match, tmp_path):
    ledger, jobs = two_and_a_match
    old = by_other_code(ledger, jobs[0], {"genomes": ledger.result(jobs[0]).genomes + 1})
    with open_executor("threads", 1) as executor:
        assert adopt(jobs[:1], Ledger(ledger.folder), shop_in(tmp_path, executor)) == (0, 1, 0)
    assert old.exists()


def test_records_that_there_is_no_time_to_try_are_left(two_and_a_match, tmp_path):
    ledger, jobs = two_and_a_match
    old = [by_other_code(ledger, job) for job in jobs[2:]]
    with open_executor("threads", 1) as executor:
        shop = shop_in(tmp_path, executor, deadline=0.0)
        assert adopt(jobs[2:], Ledger(ledger.folder), shop) == (0, 0, 2)
    assert all(path.exists() for path in old)


# Tables


def test_a_player_sees_its_own_games(played):
    here, there = seen(played, False), seen(played, True)
    assert len(here) == len(there) == len(played.results)
    for mine, theirs in zip(here, there, strict=True):
        assert mine.opening == theirs.opening
        assert mine.red is not theirs.red
        assert mine.difference == -theirs.difference
        assert {mine.result, theirs.result} in ({"W", "L"}, {"D"})
        assert {mine.played_out, theirs.played_out} in ({"W", "L"}, {"D"})
    assert [game.red for game in here] == [True, False] * (len(here) // 2)


GAMES = [
    Seen("", True, "W", 3, "W"),
    Seen("", False, "D", 0, "D"),
    *[Seen("9-13 21-17", True, "W", 2, "W")] * 47,
    *[Seen("9-13 21-17", True, "D", 1, "L")] * 26,
    *[Seen("9-13 21-17", True, "L", -1, "L")] * 13,
]


def test_measures_leave_the_start_position_out_or_show_nothing_else():
    assert RESULTS.of(GAMES) == [47, 26, 13]
    assert WINS.of(GAMES) == [47]
    assert WINS_AND_LOSSES.of(GAMES) == [47, 13]
    assert BY_MATERIAL.of(GAMES) == [73, 0, 13]
    assert START.of(GAMES) == [1.0, 0.5]


def test_ratings_are_those_of_the_thesis():
    ours = RATINGS.of(GAMES)
    theirs = EXPERIMENTS["table-4.7"].rows[0].theirs
    assert ours[:4] == pytest.approx(theirs, abs=2)
    by_formula = rate_match(47, 26, 13, np.random.default_rng(0))
    assert ours[4:] == [*by_formula.first, *by_formula.second]


def test_intervals_are_students():
    values = [3.0, 5.0, 10.0, 4.0]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert interval(values) == f"{np.mean(values):.2f} [{low:.2f}, {high:.1f}]"
    assert interval([7.0]) == "7"
    assert START.show([1.0, 0.5, 1.0, 0.0]) == "2-1-1"


def test_a_table_shows_theirs_and_ours():
    table = Table("table-x", "a title", RESULTS, (row("c0", "c10", 1, 2, 3), row("c0", "c1")))
    lines = list(shown(table, [[[4, 5, 6], [4, 5, 6]], []]))
    assert lines == [
        "## table-x: a title",
        "",
        "| player | against | | won | drawn | lost |",
        "|---|---|---|---:|---:|---:|",
        "| c0 | c10 | theirs | 1 | 2 | 3 |",
        "| c0 | c10 | ours, 2 seeds | 4.00 [4.00, 4.00] | 5.00 [5.00, 5.00] | 6.00 [6.00, 6.00] |",
        "| c0 | c1 | not yet played |  |  |  |",
        "",
    ]


def test_figures_are_of_the_seeds_that_are_there(tmp_path, played):
    ledger = Ledger(tmp_path)
    table = Table("x", "x", RESULTS, (Row(*(COUNTERS[0], COUNTERS[1:], ())), row("c0", "c1")))
    scope = Scope(seeds=1, scale=0.05)
    assert figures(table, scope, ledger) == [[], []]
    match, _ = match_of(*COUNTERS, 0, table.conditions, 0.05)
    ledger.add(match, replace(played, job=ledger.identity(match)))
    wins = [sum(it == letter for it in played.results[2:]) for letter in "WDL"]
    assert figures(table, scope, ledger) == [[wins], []]


# The digest


BASE = {
    "a.py": '''
"""A module."""
import numpy as np
from probe.b import LIMIT, Kind, helper
from checkers_env.jit import generic, kernel

@generic
def worth(kind, number):
    raise NotImplementedError

@worth.register(Kind)
def worth_of_kind(kind, number):
    return number + 1

@kernel
def inner(number):
    return number * 2

def unrelated():
    return 5

def root(number: int, scale: int = 3) -> int:
    """Say something."""
    # a comment
    return helper(inner(number)) + LIMIT + scale + worth(Kind(1), 2)
''',
    "b.py": """
from typing import NamedTuple
LIMIT = 7
OTHER = 8
class Kind(NamedTuple):
    size: int
    def double(self):
        return 2 * self.size
def helper(number):
    return [it + 1 for it in range(number)]
""",
}
SAME = [
    ("a.py", '"""Say something."""', '"""Say another thing."""'),
    ("a.py", "# a comment", "# another"),
    ("a.py", "number: int, scale: int = 3) -> int", "number, scale = 3)"),
    ("a.py", "return 5", "return 6"),
    ("a.py", '"""A module."""', '"""Another."""\n\n\n'),
    ("b.py", "OTHER = 8", "OTHER = 9"),
    ("b.py", "size: int", "size: 'int'"),
]
DIFFERENT = [
    ("a.py", "number * 2", "number * 3"),
    ("a.py", "number + 1", "number + 2"),
    ("a.py", "scale: int = 3", "scale: int = 4"),
    ("a.py", "+ scale", "- scale"),
    ("a.py", "@kernel\n", ""),
    ("b.py", "LIMIT = 7", "LIMIT = 8"),
    ("b.py", "it + 1", "it + 2"),
    ("b.py", "2 * self.size", "3 * self.size"),
    ("b.py", "size: int", "length: int"),
]


@pytest.fixture
def digest_of(tmp_path, monkeypatch):
    """The digest of the package above with some text in it replaced."""
    monkeypatch.setattr(digests, "OURS", (*digests.OURS, "probe"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    counter = itertools.count()

    def of(name="a.py", old="", new=""):
        folder = tmp_path / str(next(counter)) / "probe"
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        for file, text in BASE.items():
            assert old in text or file != name
            (folder / file).write_text(text.replace(old, new) if file == name else text)
        with monkeypatch.context() as patch:
            patch.syspath_prepend(folder.parent)
            for module in ("probe", "probe.a", "probe.b"):
                patch.delitem(sys.modules, module, raising=False)
            root = importlib.import_module("probe.a").root
            try:
                return digest(root)
            finally:
                for module in ("probe", "probe.a", "probe.b"):
                    del sys.modules[module]

    return of


@pytest.mark.parametrize("change", SAME)
def test_what_does_not_matter_leaves_the_digest_alone(digest_of, change):
    assert digest_of(*change) == digest_of()


@pytest.mark.parametrize("change", DIFFERENT)
def test_what_matters_changes_the_digest(digest_of, change):
    assert digest_of(*change) != digest_of()


def test_the_digest_reaches_all_that_makes_a_run_and_no_more():
    reached = Reached()
    for thing in (type(Run("c10", 0, 840).regime), worker.run.measure, play_game):
        reached.add(thing)
    names = {line.partition(":")[0] for line in reached.described}
    assert names >= {
        "agents.search.alphabeta.search_to",
        "agents.match_kernel.play",
        "agents.blondie.network.evaluate_network",
        "agents.simd.tanh_all",
        "checkers_env.movegen.write_captures",
        "training.regimes.social_learning.SocialLearning.learn",
        "training.evolution.mutation.mutate",
        "training.evolution.evaluation.curve",
        "training.evolution.tournament.round_robin",
    }
    modules = {name.rpartition(".")[0] for name in names}
    outside = ("training.league", "agents.external", "checkers_env.envs.aec", "agents.make")
    assert not [name for name in modules if name.startswith(outside)]
    assert not [name for name in names if name.endswith(".files")]
    assert (
        "training.trainer.loop.generation" not in names
    )  # measure reads an attribute of that name


def test_the_digest_is_the_same_in_every_process(monkeypatch):
    show = (
        "from training.reproduction.jobs import Run; import agents.external; "
        "print(Run('c10', 0, 840).key, Run('c5-n0.001', 0, 126).key)"
    )
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    result = subprocess.run(
        [sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == [Run("c10", 0, 840).key, Run("c5-n0.001", 0, 126).key]


def test_identities_can_be_written_down(quick):
    assert json.loads(json.dumps(quick.job))["regime"]["alpha"] == 0.001
