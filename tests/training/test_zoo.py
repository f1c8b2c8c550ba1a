"""The zoo: whom it takes, what it keeps, and what it tells of them."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.weights import load_weights
from checkers_env import Board
from training import zoo
from training.report.standings import StandingsRow
from training.reproduction.jobs import SPARE, Match, Run
from training.reproduction.model_card import card
from training.reproduction.model_zoo import choose
from training.reproduction.papers.seed_selection import FORTY, VALIDATION
from training.reproduction.plan import Ledger, Scope
from training.reproduction.tables import Table
from training.reproduction.worker import Order, play, train

SCOPE = Scope(seeds=2, scale=0.02)
PLAYER = "c1-n0.001"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """The validation of two seeds of one player, in small; and of another, not finished."""
    folder = tmp_path_factory.mktemp("records")
    ledger = Ledger(folder)
    rows = tuple(line for line in VALIDATION.rows if line.first.name in (PLAYER, "c1-n0.01"))
    for job in SCOPE.jobs([Table("", "", VALIDATION.measure, rows, FORTY)]):
        if isinstance(job, Run):
            ledger.add(job, train(job, folder / "work" / job.title, Order()))
        elif "c1-n0.01" not in (job.first.name, job.second.name):
            ledger.add(job, play(job, *ledger.opponents(job), Order()))
    return ledger


def test_the_seed_with_the_best_score_is_taken(ledger):
    chosen = choose(SCOPE, ledger)
    assert chosen.keys() == {PLAYER}
    points = {0: [], 1: []}
    for path in (ledger.folder / "matches").iterdir():
        match = next(job for job in matches() if path.name.startswith(named(job)))
        own = match.first if match.first.name == PLAYER else match.second
        results = ledger.result(match).results
        worth = {"W": 1, "D": 0.5, "L": 0} if own is match.first else {"W": 0, "D": 0.5, "L": 1}
        points[own.seed] += [worth[result] for result in results]
    scores = {seed: 100 * np.mean(some) for seed, some in points.items()}
    choice = chosen[PLAYER]
    assert choice.scores == pytest.approx(scores)
    assert choice.seed == max(scores, key=scores.get)
    assert choice.run.headers[0]["seed"] == choice.seed


def matches():
    return [job for job in SCOPE.jobs([VALIDATION]) if isinstance(job, Match)]


def named(job):
    from training.reproduction.results import path_of

    return path_of(Path(), job, "").stem


def test_the_zoo_is_filled_from_the_records(ledger, tmp_path, monkeypatch, capsys):
    words = ["--records", str(ledger.folder), "--out", "zoo", "--work", "work", "--scale", "0.02"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["zoo.py", *words, "--threads", "1"])
    Path("README.md").write_text(f"before\n{zoo.BEGIN}old\n{zoo.END}\nafter\n")
    monkeypatch.setattr(zoo, "YARDSTICKS", ("random", "material@depth=4"))
    monkeypatch.setattr("training.report.player_report.YARDSTICKS", ("random", "material@depth=4"))
    monkeypatch.setattr("training.report.player_report.DEPTHS", range(1, 3))
    monkeypatch.setattr("training.report.player_report.POSITIONS", 10)
    monkeypatch.setattr(zoo, "Scope", lambda scale: SCOPE)
    assert zoo.main() == 0, capsys.readouterr().err
    assert {path.name for path in Path("zoo").iterdir()} == {
        "README.md",
        f"{PLAYER}.md",
        f"{PLAYER}.safetensors",
    }
    choice = choose(SCOPE, ledger)[PLAYER]
    genome, header = load_weights(Path("zoo", f"{PLAYER}.safetensors"))
    assert np.array_equal(genome, choice.run.genomes[0].astype(float))
    assert header.seed == choice.seed
    board = Board()
    assert agents.make(f"zoo/{PLAYER}.safetensors").act(board) in board.legal_moves
    table = Path("zoo", "README.md").read_text()
    assert f"`python training/td.py {PLAYER} --seed {choice.seed}`" in table
    assert "| *random* |" in table
    shown = Path("README.md").read_text()
    assert shown.startswith(f"before\n{zoo.BEGIN}| | player |")
    assert shown.endswith(f"|\n{zoo.END}\nafter\n")
    assert f"[{PLAYER}](agents/zoo/{PLAYER}.md)" in shown
    assert "random" not in shown
    told = Path("zoo", f"{PLAYER}.md").read_text()
    assert "Its seed, of 2, is the best in 160 games" in told
    assert "wins kept" in told
    before = {path.name: path.read_bytes() for path in Path("zoo").iterdir()}
    games = len(list(Path("work").iterdir()))
    assert zoo.main() == 0  # nothing is played again
    assert len(list(Path("work").iterdir())) == games
    unchanged = {"README.md", f"{PLAYER}.safetensors"}  # a card tells of times
    assert all(Path("zoo", name).read_bytes() == before[name] for name in unchanged)


def test_without_a_validation_there_is_no_zoo(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["zoo.py", "--records", str(tmp_path)])
    assert zoo.main() == 1
    assert "no validation is done in" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", zoo.BEGIN, zoo.END, f"{zoo.END}\n{zoo.BEGIN}"])
def test_a_leaderboard_needs_its_marks(text):
    with pytest.raises(ValueError, match="goes between <!-- leaderboard"):
        zoo.placed(text, "table")


def test_the_readme_shows_the_leaderboard_of_the_zoo():
    root = Path(agents.__file__).parent
    whole = (root / "zoo" / "README.md").read_text()
    shown = (root.parent / "README.md").read_text().partition(zoo.BEGIN)[2].partition(zoo.END)[0]
    rows = shown.splitlines()
    assert len(rows) > 2
    known = {line.replace("](", f"]({zoo.CARDS}") for line in whole.splitlines()}
    assert set(rows) <= known | set(whole.splitlines())


def test_no_seed_of_the_panel_is_in_the_zoo():
    assert Scope().seeds_of(VALIDATION.rows[0].first) < SPARE


def test_a_record_without_weights_leaves_the_zoos_file_as_it_is(ledger, tmp_path):
    choice = choose(SCOPE, ledger)[PLAYER]
    bare = choice._replace(run=replace(choice.run, headers=()), scores={})
    path = tmp_path / "strong.safetensors"
    with pytest.raises(ValueError, match="its record holds no weights: train it by python train"):
        zoo.keep(path, bare)
    path.write_bytes(b"weights")
    zoo.keep(path, bare)
    assert path.read_bytes() == b"weights"
    line = StandingsRow(PLAYER, 0.0, -1.0, 1.0, 2, 1, 0, 1, 0.5, 0.4, 0.6)
    told = card(PLAYER, bare, [line], [line], [])
    assert "validation" not in told
    assert "None was seen" in told
    assert "no endings" not in told
