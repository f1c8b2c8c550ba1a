"""The zoo: selection of seeds, files, cards and leaderboard."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import agents
from agents.weights import load_weights
from checkers_env import Board
from tests import ROOT
from tests.training.commands import run_here
from training import zoo
from training.experiments.champions import load_champion, name_champion
from training.experiments.jobs import Match, Run
from training.experiments.league_results import LeaguePlan, LeagueStore
from training.experiments.model_card import card, choose
from training.experiments.plan import Scope
from training.experiments.results import ResultStore
from training.experiments.tables import EXPERIMENTS
from training.experiments.worker import Deadline, play, train
from training.league import runner
from training.league.records import Entrant, GameRecord, League
from training.league.schedule import schedule_games
from training.report.standings import StandingsRow

SCOPE = Scope(seeds=2, scale=0.02)
PLAYER = "c1-n0.001"


@pytest.fixture(scope="module")
def validation():
    """Return a validation of two players, by the panel's first two."""
    whole = EXPERIMENTS["validation"]
    rows = [line for line in whole.rows if line.first.name in (PLAYER, "c1-n0.01")]
    rows = tuple(replace(line, others=line.others[:2]) for line in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(EXPERIMENTS, "validation", replace(whole, rows=rows))
        yield EXPERIMENTS["validation"]


@pytest.fixture(scope="module")
def store(tmp_path_factory, validation):
    """Return a small validation of two seeds of one player; another one's is unfinished."""
    folder = tmp_path_factory.mktemp("results")
    store = ResultStore(folder)
    for job in SCOPE.jobs([validation]):
        if isinstance(job, Run):
            store.add(job, train(job, folder / "work" / job.title, Deadline()))
        elif "c1-n0.01" not in (job.first.name, job.second.name):
            store.add(job, play(job, *store.champions(job), Deadline()))
    return store


def test_seed_with_the_best_score_is_selected(store, validation):
    chosen = choose(SCOPE, store)
    assert chosen.keys() == {PLAYER}
    points = {0: [], 1: []}
    matches = [job for job in SCOPE.jobs([validation]) if isinstance(job, Match)]
    for match in filter(store.result, matches):
        own = match.first if match.first.name == PLAYER else match.second
        results = store.result(match).results
        worth = {"W": 1, "D": 0.5, "L": 0} if own is match.first else {"W": 0, "D": 0.5, "L": 1}
        points[own.seed] += [worth[result] for result in results]
    scores = {seed: 100 * np.mean(some) for seed, some in points.items()}
    choice = chosen[PLAYER]
    assert choice.scores == pytest.approx(scores)
    assert choice.run.seed == max(scores, key=scores.get)
    champion = load_champion(store.champion_path(choice.result.champions[0]))
    assert champion.metadata.seed == choice.run.seed


def test_zoo_is_filled_from_the_results(store, tmp_path, monkeypatch, capsys):
    words = ["--results", str(store.folder), "--out", "zoo", "--work", "work", "--scale", "0.02"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["zoo.py", *words, "--threads", "1"])
    Path("README.md").write_text(f"before\n{zoo.BEGIN}old\n{zoo.END}\nafter\n")
    monkeypatch.setattr(zoo, "DEPTH", 1)
    monkeypatch.setattr(zoo, "YARDSTICKS", ("random", "material@depth=4"))
    monkeypatch.setattr(zoo, "SHOWN", {PLAYER: "the player of this test", "random": "any move"})
    monkeypatch.setattr("training.report.examination.YARDSTICKS", ("random", "material@depth=4"))
    monkeypatch.setattr("training.report.examination.DEPTHS", range(1, 3))
    monkeypatch.setattr("training.report.examination.POSITIONS", 5)
    monkeypatch.setattr(zoo, "Scope", lambda scale: SCOPE)
    assert zoo.main() == 0, capsys.readouterr().err
    assert {path.name for path in Path("zoo").iterdir()} == {
        "README.md",
        f"{PLAYER}.safetensors",
    }
    choice = choose(SCOPE, store)[PLAYER]
    genome, header = load_weights(Path("zoo", f"{PLAYER}.safetensors"))
    champion = load_champion(store.champion_path(choice.result.champions[0]))
    assert np.array_equal(genome, champion.genome)
    assert header.seed == choice.run.seed
    board = Board()
    assert agents.make(f"zoo/{PLAYER}.safetensors").act(board) in board.legal_moves
    table = Path("zoo", "README.md").read_text()
    assert f"`python training/td.py {PLAYER} --seed {choice.run.seed}`" in table
    assert "| *random* |" in table
    shown = Path("README.md").read_text()
    assert shown.startswith(f"before\n{zoo.BEGIN}| player | Elo |")
    assert shown.endswith(f"|\n{zoo.END}\nafter\n")
    assert f"| {PLAYER} | " in shown
    assert "| the player of this test |" in shown
    assert "material (depth 4)" not in shown
    monkeypatch.setattr(sys, "argv", ["zoo.py", *words, "--cards", "cards", "--hub", "hub"])
    assert zoo.main() == 0, capsys.readouterr().err
    assert {path.name for path in Path("cards").iterdir()} == {"index.md", f"{PLAYER}.md"}
    assert f"[{PLAYER}]({PLAYER}.md)" in Path("cards", "index.md").read_text()
    told = Path("cards", f"{PLAYER}.md").read_text()
    assert "Its seed, of 2, is the best in 160 games" in told
    assert f"{rating_of(table)} Elo, place " in told
    assert " of 3 in the common league" in told
    assert "wins kept" in told
    _, head, card = Path("hub", PLAYER, "README.md").read_text().split("---\n", 2)
    [model] = yaml.safe_load(head)["model-index"]
    assert model["name"] == PLAYER
    assert model["results"][0]["metrics"][0]["value"] == rating_of(table)
    assert told in card
    assert agents.make(f"hub/{PLAYER}").act(board) in board.legal_moves
    monkeypatch.setattr(sys, "argv", ["zoo.py", *words, "--threads", "1"])
    files = [*Path("zoo").iterdir(), Path("README.md"), *store.folder.glob("*.jsonl")]
    before = {path: path.read_bytes() for path in files}
    shutil.rmtree("work")
    played = counted_games(monkeypatch)
    assert zoo.main() == 0  # all from the lines
    assert played == []
    assert {path: path.read_bytes() for path in files} == before
    lines = store.folder / "league.jsonl"
    rows = before[lines].splitlines(keepends=True)
    own = sum(b'"league":"zoo"' not in row for row in rows)  # pairs of the examination
    assert (own, len(rows) - own) == (3, 3)
    lines.write_bytes(b"".join(rows[:-1]))
    with pytest.raises(ValueError, match="the results lack games of"):
        zoo.write_cards(Path("cards"), zoo.ZooConfig(store.folder, Path("zoo"), scale=0.02))
    assert zoo.main() == 0
    assert len(played) == 86
    assert lines.read_bytes() == before[lines]


def rating_of(table):
    """Return the player's rating in the leaderboard."""
    return next(row[2] for row in cells(table) if name_in(row[1]) == PLAYER)


def counted_games(monkeypatch):
    """Return the numbers of the league games that are played from now on."""
    numbers, play_game = [], runner.play_game

    def counted(agents, fixture, *others):
        numbers.append(fixture.number)
        return play_game(agents, fixture, *others)

    monkeypatch.setattr(runner, "play_game", counted)
    return numbers


def test_games_of_another_player_are_not_used(tmp_path):
    entrants = tuple(Entrant(name, name, {"depth": 1}) for name in ("material", "samuel", "random"))
    plan = LeaguePlan("zoo", entrants, {}, [(0, 1)], schedule_games([(0, 1)], ["9-13 22-18"]), 1)
    moves = ("9-13", "22-18", "6-9")
    games = [
        GameRecord(*fixture, score, "no pieces", 1, moves)
        for fixture, score in zip(plan.fixtures, (1.0, 0.5), strict=True)
    ]
    LeagueStore(tmp_path).add(plan, League(entrants, {}, tuple(games)))
    back = LeagueStore(tmp_path)
    assert {number: game.score for number, game in back.games(plan).items()} == {0: 1.0, 1: 0.5}
    assert back.beginnings(plan) == [("9-13",)]
    (row,) = map(json.loads, (tmp_path / "league.jsonl").read_text().splitlines())
    assert (row["results"], row["plies"], row["first"]) == (
        *("WD", [3, 3]),
        {"agent": "material", "depth": 1},
    )
    deeper = replace(entrants[1], options={"depth": 2})
    others = [
        replace(plan, entrants=(entrants[0], deeper, entrants[2])),
        replace(plan, conditions={"max_moves": 50}),
        replace(plan, pairings=[(0, 2)]),
        replace(plan, name="examination"),
        replace(plan, fixtures=plan.fixtures * 2),
    ]
    assert [back.games(other) for other in others] == [{}] * len(others)
    assert back.findings(plan) is None
    (tmp_path / "league.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"line 1 of .*league.jsonl' is damaged"):
        LeagueStore(tmp_path)


def test_errors_of_the_zoo_are_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    refused = {
        ("--results", str(tmp_path)): "has no finished validation",
        ("--work", str(tmp_path / "file" / "below")): "--work must be a folder, not below the file",
        ("--threads", "0"): "threads must be 1 to 1000, not 0",
    }
    for words, message in refused.items():
        status, _, error = run_here(zoo, words, monkeypatch, capsys)
        assert (status > 0, message in error) == (True, True)


@pytest.mark.parametrize("text", ["", zoo.BEGIN, zoo.END, f"{zoo.END}\n{zoo.BEGIN}"])
def test_leaderboard_needs_its_markers(text):
    with pytest.raises(ValueError, match="goes between <!-- leaderboard"):
        zoo.replace_leaderboard(text, "table")


def test_readme_shows_ratings_of_the_zoos_leaderboard():
    root = Path(agents.__file__).parent
    whole = (root / "zoo" / "README.md").read_text()
    shown = (root.parent / "README.md").read_text().partition(zoo.BEGIN)[2].partition(zoo.END)[0]
    ratings = {name_in(row[1]): row[2] for row in cells(whole) if len(row) == 6}
    ratings["material"] = ratings[zoo.ANCHOR]
    words_of = {name.partition(" (")[0]: words for name, words in zoo.SHOWN.items()}
    rows = cells(shown)[2:]
    assert [name_in(row[0]) for row in rows] == list(words_of)
    for player, elo, interval, words in rows:
        wanted = f"{elo} [{interval.replace(' to', ',')}]" if interval else "+0 [+0, +0]"
        assert ratings[name_in(player)] == wanted
        assert words == words_of[name_in(player)]


def cells(table):
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


def name_in(cell):
    return cell.partition("]")[0].strip("[*")


def test_run_without_weights_keeps_the_zoos_file(store, tmp_path):
    choice = choose(SCOPE, store)[PLAYER]
    bare = choice._replace(result=replace(choice.result, champions=()), scores={})
    path = tmp_path / "strong.safetensors"
    with pytest.raises(ValueError, match="its run keeps no weights: train it by python train"):
        zoo.copy_champion(path, bare, store)
    path.write_bytes(b"weights")
    zoo.copy_champion(path, bare, store)
    assert path.read_bytes() == b"weights"
    line = StandingsRow(PLAYER, 0.0, -1.0, 1.0, 2, 1, 0, 1, 0.5, 0.4, 0.6)
    told = card(PLAYER, bare, {PLAYER: "+0 [-1, +1]"}, 0.0, [line], [])
    assert "validation" not in told
    other = choice._replace(scores=choice.scores | {7: 101.0})
    told = card(PLAYER, other, {PLAYER: "+0 [-1, +1]"}, 0.0, [line], [])
    assert "Its seed was the best when the zoo was filled; seed 7 is better since" in told


def test_player_in_the_zoo_stays_though_another_seed_is_better(store, tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "Scope", lambda scale: SCOPE)
    best = choose(SCOPE, store)[PLAYER]
    config = zoo.ZooConfig(store.folder, tmp_path, scale=0.02)
    assert zoo.choose_players(config, store)[PLAYER].run == best.run
    other = replace(best.run, seed=1 - best.run.seed)
    champion = store.champion_path(store.result(other).champions[0])
    zoo.weight_files(config, [PLAYER])[PLAYER].write_bytes(champion.read_bytes())
    assert zoo.choose_players(config, store)[PLAYER].run == other


def test_committed_league_is_that_of_the_zoos_files():
    folder = ROOT / "agents" / "zoo"
    files = {path.stem: name_champion(path.read_bytes()) for path in folder.glob("*.safetensors")}
    assert files.pop("alphazero")  # which is rated apart
    LeagueStore(ROOT / "results")  # raises for a damaged line
    lines = (ROOT / "results" / "league.jsonl").read_text("utf-8").splitlines()
    rows = list(map(json.loads, lines))
    for row in rows:
        for entrant in (row["first"], row["second"]):
            assert entrant.get("weights") == files.get(entrant["agent"])
    common = [row for row in rows if row["league"] == zoo.LEAGUE]
    players = len(files) + len(zoo.YARDSTICKS)
    assert len(common) == players * (players - 1) // 2
    assert {row["league"] for row in rows} == {*files, zoo.LEAGUE}
    examined = (ROOT / "results" / "examinations.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["player"]["agent"] for line in examined} == files.keys()
