"""The benchmark command: leagues, reports, errors and resumed runs."""

import json
import re
import shlex
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from markupsafe import escape

from agents.weights import load_weights, save_weights
from checkers_env import openings, pdn
from tests import DATA, ROOT
from tests.training.commands import (
    SECONDS,
    descendants,
    ended,
    is_gone,
    recorded_processes,
    run_here,
    start,
    wait_for,
)
from training import benchmark
from training.league.journal import FILE_NAME
from training.league.records import load_league
from training.report import examination
from training.runtime.cli import command_line

SCRIPT = Path(benchmark.__file__)
STRANGERS = DATA / "strangers.py"
FAULTY_ENGINE = DATA / "faulty_engine.py"
ZOO = ROOT / "agents" / "zoo" / "blondie24.safetensors"
QUICK = ["random", "--against", "material@depth=1", "--threads", "1"]


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run the command line in this process; return its exit status and output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())

    def call(*words, columns=200):
        return run_here(benchmark, words, monkeypatch, capsys, columns)

    return call


@pytest.fixture
def cards(tmp_path):
    path = tmp_path / "cards.txt"
    path.write_text("\n".join(openings.TWO_MOVE[:4]))
    return path


@pytest.fixture
def processes(monkeypatch):
    """Return all processes that are started from here."""
    return recorded_processes(monkeypatch)


def games_of(folder):
    """Return the games in a folder without their times."""
    league = json.loads((folder / "league.json").read_text())
    for game in league["games"]:
        del game["seconds"]
    return league["games"]


def journal_of(folder):
    try:
        return (folder / FILE_NAME).read_text().splitlines()[1:]
    except FileNotFoundError:
        return []


def one_line(status, out, error):
    assert (status, out) == (1, "")
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


# What is played and written.


def test_league_is_played_reported_and_written(command, cards, tmp_path):
    names = ["random", "material@depth=2", "blondie24@depth=1"]
    options = ["--openings", cards, "--seed", 7, "--json", tmp_path / "all.json", "--out", "here"]
    status, out, error = command(*names, *options)
    assert (status, error) == (0, "Report: here/report.html\n")
    league = load_league(tmp_path / "here" / "league.json")
    shown = ["random", "material (depth 2)", "blondie24 (depth 1)"]
    assert [entrant.name for entrant in league.entrants] == shown
    assert league.conditions["seed"] == 7
    assert league.conditions["openings"].startswith(f"{cards} ")
    assert len(league.games) == 3 * 4 * 2
    assert [game.number for game in league.games] == list(range(24))
    rows = [line.split() for line in out.splitlines() if line.strip()]
    assert rows[0][:3] == ["Too", "few", "openings"]
    assert [row[0] for row in rows[3:6]] == ["1", "2", "3"]
    assert " ".join(rows[6]).startswith("0 Elo is the mean of these players")
    assert out.index("material (depth 2)") < out.index("random")
    for name in shown:
        mine = [game for game in league.games if name in (shown[game.black], shown[game.white])]
        points = sum(g.score if shown[g.black] == name else 1 - g.score for g in mine)
        (row,) = [line for line in out.splitlines() if name in line]
        assert f"{points / len(mine):.1%} (" in row
    page = (tmp_path / "here" / "report.html").read_text()
    for name in shown:
        assert name in page
    content = json.loads((tmp_path / "all.json").read_text())
    assert [line["name"] for line in content["standings"]][-1] == "random"
    assert content["league"]["games"] == json.loads(json.dumps([vars(g) for g in league.games]))
    assert len(pdn.load(tmp_path / "here" / "games.pdn")) == len(league.games)


def test_folder_is_named_after_the_agents(command, cards, tmp_path):
    words = ["random", "--against", "material@depth=1", "--openings", cards]
    assert command(*words)[0] == 0
    first = tmp_path / "runs" / "random-against-material-depth=1-seed-0"
    assert (first / "report.html").exists()
    assert "already holds a league: resume it by --resume" in one_line(*command(*words))
    assert command(*words, "--seed", 3)[0] == 0
    assert command("random", "material@depth=2", "--openings", cards)[0] == 0
    names = {path.name for path in (tmp_path / "runs").iterdir()}
    assert names == {
        first.name,
        "random-against-material-depth=1-seed-3",
        "random-material-depth=2-seed-0",
    }


def test_verdict_comes_first_and_the_zero_of_the_scale_is_named(command, tmp_path, monkeypatch):
    words = ["random", "--against", "material", "--max-moves", 20, "--adjudicate", "material"]
    out = ended(command(*words, "--out", "first"))
    scale = r" on the zoo's scale \(0: piece counter at 4 plies\), below .*\."
    first = out.splitlines()[0]
    assert re.fullmatch(r"random: -\d+ \[-\d+, -\d+\]" + scale, first)
    known = "0 Elo is the piece counter at 4 plies; opponents from the zoo have its ratings."
    assert known in out
    (row,) = [line for line in out.splitlines() if line.split()[:2] == ["1", "material"]]
    assert "+0" in row.split()
    assert "thesis" not in out
    page = (tmp_path / "first" / "report.html").read_text()
    assert f"<strong>{escape(first)}</strong>" in page
    assert escape(known) in page
    options = ["--resume", "--anchor", "random=1000", "--thesis"]
    out = ended(command(*words, "--out", "first", *options))
    figures = r"\+\d+ \[\+\d+, \+\d+\] Elo, 86 games from 43 openings\."
    first = out.splitlines()[0]
    assert re.fullmatch(r"material \(depth 4\) is stronger than random: " + figures, first)
    assert "The scale is fixed by random: +1000 Elo." in out
    (row,) = [line for line in out.splitlines() if line.split()[:2] == ["2", "random"]]
    assert "+1000" in row.split()
    assert "the thesis's ratings, formula" in out


@pytest.mark.parametrize("columns", [20, 120])
def test_table_loses_nothing_in_a_narrow_terminal(command, tmp_path, columns):
    name = "odd [red] name [bold]"
    (tmp_path / f"{name}.safetensors").write_bytes(ZOO.read_bytes())
    agent = f"{name}.safetensors@depth=1"
    words = [agent, "--against", "random", "--openings", "start", "--max-moves", 5]
    out = ended(command(*words, columns=columns))
    assert max(map(len, out.splitlines())) <= columns
    flat = "".join(out.split())
    if columns >= 120:
        assert f"{name} (depth 1)" in out
    for letters in ("".join(name.split()), "likelihoodofsuperiority"):
        found = iter(flat)
        assert all(letter in found for letter in letters)
    assert "\u2026" not in out


# One agent alone.

MINE = """
def last(board):
    return str(board.legal_moves[-1])


class Broken:
    def new_game(self, rng):
        self.rng = rng
    def act(self, board):
        return (board.legal_moves if board.ply < 6 else board.legal_movs)[self.rng.integers(1)]
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file with agents, to be rated by few opponents."""
    monkeypatch.setattr(benchmark, "ANCHORS", ("random", "material@depth=1", "material@depth=2"))
    monkeypatch.setattr(benchmark, "ENDINGS", 5)
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_agent_alone_is_rated_on_the_zoos_scale(command, mine, cards, tmp_path):
    cards.write_text("\n".join(openings.TWO_MOVE[:6]))
    words = [f"{mine}:last", "--openings", cards, "--seed", 1, "--threads", 1]
    out = ended(command(*words, "--out", "a"))
    scale = r" on the zoo's scale \(0: piece counter at 4 plies\), (above|below|between) .*\."
    assert re.fullmatch(r"last: [+-]\d+ \[[+-]\d+, [+-]\d+\]" + scale, out.splitlines()[0])
    assert re.search(r":last: [\d.]+ ms a move\.$", out, re.MULTILINE)
    same = SimpleNamespace(act=lambda board: board.legal_moves[-1])
    for sentence in examination.examine_endings(same, 1, benchmark.ENDINGS):
        assert f"{sentence}\n" in out
    (row,) = [line for line in out.splitlines() if line.split()[:1] == ["random"]]
    assert "-716" in row.split()
    assert len(journal_of(tmp_path / "a")) > 2 * len(benchmark.ANCHORS)


def test_broken_agent_is_told_and_shown(command, mine, cards, tmp_path):
    words = ["--openings", cards, "--threads", 1, "--out", "b"]
    out = ended(command(f"{mine}:Broken", *words))
    cause = "AttributeError: 'Board' object has no attribute 'legal_movs'"
    first = f"{mine}:Broken is broken: it forfeits all of its games (6). Black forfeits: {cause}"
    assert " ".join(out.split()).startswith(first)
    assert "forfeited 6 of its games, the first being game 1: " in " ".join(out.split())
    (line,) = [line for line in out.splitlines() if line.startswith("To see it: python -c ")]
    code = shlex.split(line.removeprefix("To see it: "))[2]
    with pytest.raises(AttributeError, match="legal_movs"):
        exec(code)


# One agent examined.


@pytest.fixture
def short(monkeypatch):
    """Limit the analysis to a few games and positions."""
    monkeypatch.setattr(examination, "YARDSTICKS", ("random", "material@depth=2"))
    monkeypatch.setattr(examination, "REFERENCE", "material@depth=2")
    monkeypatch.setattr(examination, "DEPTHS", range(1, 4))
    monkeypatch.setattr(examination, "POSITIONS", 5)


def test_player_is_examined_with_its_own_limit_once():
    assert "blondie24@depth=4" not in examination.lineup("blondie24")[0]
    texts, pairings = examination.lineup("mcts@simulations=3")
    assert texts == ["mcts@simulations=3", *examination.YARDSTICKS]
    assert len(pairings) == len(examination.YARDSTICKS)


@pytest.mark.parametrize("text", ["material", "blondie24"])
def test_player_with_a_time_limit_meets_the_piece_counter_at_all_depths(text):
    texts, pairings = examination.lineup(text, seconds=0.5)
    met = {frozenset(texts[one] for one in pairing) for pairing in pairings}
    depths = {frozenset((f"{text}@depth={depth}", "material@depth=4")) for depth in range(1, 9)}
    yardsticks = {frozenset((text, name)) for name in examination.YARDSTICKS}
    assert met == yardsticks | {pair for pair in depths if len(pair) == 2}


def test_failed_analysis_does_not_prevent_the_report(command, short, processes, tmp_path):
    code = tmp_path / "fails.py"
    code.write_text(
        "class Fails:\n"
        "    def act(self, board):\n"
        "        if board.ply == 0:\n"
        "            raise ValueError('a message of \\ud800')\n"
        "        return board.legal_moves[0]\n"
    )
    options = ["--openings", "9-13 21-17", "--threads", 1, "--out", "a"]
    words = [f"{code}:Fails", "--analyse", *options]
    out = ended(command(*words))
    assert "The examination was not finished: " in out
    assert (tmp_path / "a" / "report.html").exists()
    assert all(process.poll() is not None for process in processes)


# A match that stops early.


def test_sequential_test_stops_at_the_same_game_on_any_number_of_threads(command, tmp_path):
    words = ["material@depth=2", "random", "--sprt", 0, 200, "--rounds", 2]
    for threads in (1, 3):
        out = ended(command(*words, "--threads", threads, "--out", threads))
        assert "leads of +0 and +200 Elo: +200 is accepted after " in out
    games = {threads: games_of(tmp_path / str(threads)) for threads in (1, 3)}
    assert games[1] == games[3]
    assert 4 <= len(games[1]) < 172
    decided = f"accepted after {len(games[1])} games."
    assert f"{decided} As if the number of games had been fixed: " in out
    assert len(games[1]) <= len(journal_of(tmp_path / "1")) <= len(games[1]) + 1  # begun meanwhile
    written = len(journal_of(tmp_path / "3"))
    assert written >= len(games[3])
    assert command(*words, "--out", 3, "--resume")[0] == 0
    assert games_of(tmp_path / "3") == games[1]
    assert len(journal_of(tmp_path / "3")) == written


def test_files_of_one_name_in_two_folders_keep_their_paths(command, tmp_path):
    for folder, name in (("a/x", "c0"), ("b/x", "c10")):
        (tmp_path / folder).mkdir(parents=True)
        champion = tmp_path / folder / "champion.safetensors"
        shutil.copy(ZOO.with_name(f"{name}.safetensors"), champion)
    words = [f"{folder}/champion.safetensors@depth=1" for folder in ("a/x", "b/x")]
    assert command(*words, "--openings", "start", "--out", "league")[0] == 0
    league = load_league(tmp_path / "league" / "league.json")
    assert [entrant.name for entrant in league.entrants] == words
    assert command(words[0], words[0], "--openings", "start", "--out", "equal")[0] == 0
    names = [entrant.name for entrant in load_league(tmp_path / "equal/league.json").entrants]
    assert names == ["x (depth 1)", "x (depth 1) (2)"]


# Who goes wrong.


def test_error_at_the_start_is_one_line(command, tmp_path, processes):
    error = one_line(*command("random", "--against", f"{STRANGERS}:NeverMade"))
    assert f"{STRANGERS}:NeverMade' cannot be made: KeyError: 'weights' (strangers.py, " in error
    engine = f"hub:{sys.executable} -IS {FAULTY_ENGINE} dies-at-once"
    assert "has ended with exit code 3" in one_line(*command("random", "--against", engine))
    assert not list(tmp_path.iterdir())
    assert [process for process in processes if process.poll() is None] == []


# What survives.

SLOW = [f"{STRANGERS}:Dawdles", "--against", "material@depth=1", "--seed", "5", "--threads", "1"]


def test_killed_league_resumes_to_the_same_result(command, cards, tmp_path, monkeypatch):
    monkeypatch.setenv("STORY", str(tmp_path / "story"))
    words = [*SLOW, "--openings", cards]
    with monkeypatch.context() as slower:
        slower.setenv("DAWDLE", "0.1")
        process = start(sys.executable, SCRIPT, *words, "--out", tmp_path / "killed")
    try:
        wait_for(lambda: len(journal_of(tmp_path / "killed")) >= 3)
        pids = descendants(process.pid)
    finally:
        process.kill()
        process.communicate()
    wait_for(lambda: all(map(is_gone, pids)))
    reached = journal_of(tmp_path / "killed")
    assert 3 <= len(reached) < 8
    with (tmp_path / "killed" / FILE_NAME).open("a") as journal:
        journal.write(reached[0][:40])
    assert not (tmp_path / "killed" / "league.json").exists()
    assert command(*words, "--out", "killed", "--resume")[0] == 0
    assert journal_of(tmp_path / "killed")[: len(reached)] == reached
    assert command(*words, "--out", "straight")[0] == 0
    assert games_of(tmp_path / "killed") == games_of(tmp_path / "straight")


def test_ctrl_c_keeps_finished_games_and_says_how_to_resume(command, tmp_path):
    folder = tmp_path / "stop it"
    words = ["blondie24@seconds=0.01", "random", "--max-moves", "20", "--out", folder]
    process = start(sys.executable, SCRIPT, *words)
    try:
        wait_for(lambda: journal_of(folder))
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in said
    advice = shlex.split(said.splitlines()[-1].split(": ", 1)[1])[2:]
    assert advice == [*map(str, words), "--resume"]
    reached = journal_of(folder)
    assert 1 <= len(reached) < 86
    assert one_line(*command(*advice, "--rounds", 2))
    assert journal_of(folder) == reached


def test_command_to_go_on_with_is_that_of_an_installed_program_or_of_a_script(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["bin/checkers-benchmark", "random"])
    assert command_line() == ["bin/checkers-benchmark", "random"]
    monkeypatch.setattr(sys, "argv", ["training/benchmark.py", "random"])
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert command_line() == [sys.executable, "training/benchmark.py", "random"]
    monkeypatch.setattr(shutil, "which", lambda name: sys.executable)
    assert command_line() == ["python", "training/benchmark.py", "random"]


# What is refused.


def test_table_is_printed_where_a_report_cannot_be_written(command, cards, tmp_path):
    (tmp_path / "league" / "report.html").mkdir(parents=True)
    options = "--openings", cards, "--out", tmp_path / "league"
    status, out, error = command(*QUICK, *options)
    assert (status, "Is a directory" in error) == (1, True)
    assert "material" in out


def test_another_league_is_not_resumed(command, cards, tmp_path):
    genome, metadata = load_weights(ZOO)
    save_weights(tmp_path / "mine.safetensors", genome, metadata)
    words = ["random", "mine.safetensors", "--depth", 1, "--openings", cards, "--out", "league"]
    assert command(*words)[0] == 0
    before = journal_of(tmp_path / "league")
    for options in (["--rounds", 2], ["--seed", 1], ["--depth", 2], ["--move-limit", 1]):
        refused = one_line(*command(*words, *options, "--resume"))
        assert "cannot be resumed: it belongs to another league: " in refused
    save_weights(tmp_path / "mine.safetensors", genome + 0.125, metadata)
    assert "another league: entrants is " in one_line(*command(*words, "--resume"))
    save_weights(tmp_path / "mine.safetensors", genome, metadata)
    cards.write_text(cards.read_text() + "\n11-15 23-19\n")
    assert "another league: conditions.openings is " in one_line(*command(*words, "--resume"))
    cards.write_text(cards.read_text().removesuffix("\n11-15 23-19\n"))
    (tmp_path / "league" / "report.html").unlink()
    assert command(*words, "--resume")[0] == 0
    assert (tmp_path / "league" / "report.html").exists()
    assert journal_of(tmp_path / "league") == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "name an agent, such as blondie24 or my_agent.py:MyAgent"),
        ("random --anchor random=0", "anchor is for several agents"),
        ("random nobody", "unknown agent 'nobody': "),
        ("random material@depth", "unknown agent 'material@depth'"),
        ("material random@selective=1", "does not search by plies: it takes no selective"),
        ("random dxp:somewhere", "write dxp:HOST:PORT"),
        ("random material --depth 2 --seconds 1", "give depth or seconds, not both"),
        ("random material --seconds 60", "would use up the 60 seconds"),
        ("random heuristic --openings 2-move", "not '2-move': did you mean 'two-move'"),
        ("random heuristic --rounds 0", "rounds must be 1 to 10000, not 0"),
        ("random heuristic --max-moves 1", "the opening '9-13 21-17' ends the game: max moves"),
        ("random heuristic --repetition 1", "repetition must be 0, or at least 2, not 1"),
        ("random heuristic --no-progress -1", "no_progress must be 0 to 100000, not -1"),
        ("random heuristic --move-limit inf", "move_limit must be 0 to 86400, not inf"),
        ("random heuristic --adjudicate nobody", "unknown agent 'nobody'"),
        ("random heuristic --adjudicate material@seconds=1", "a built-in player at a depth, not "),
        ("random heuristic mcts --sprt 0 10", "sprt is for a match of two"),
        ("random --analyse --thesis", "thesis is for a match of two"),
        ("random heuristic --analyse", "analyse is for one agent"),
        ("random --analyse --depth 2", "--depth has no effect on these agents: leave it out"),
        ("random material@depth=2 --seconds 1", "--seconds has no effect on these agents"),
        ("random material --memory-limit 100", "--memory-limit has no effect on these agents"),
        ("random heuristic --sprt 10 0", "elo0 must be below elo1, and both finite, not 10.0 and"),
        ("random heuristic --json no/folder/x.json", "json is a file in a folder that exists"),
        ("random heuristic --json a/report.html --out a", "is a file of the league itself"),
        ("random heuristic --anchor nobody=1", "no single player is named 'nobody'"),
        ("random heuristic --calibrate materiel", "unknown agent 'materiel'"),
        ("random heuristic --calibrate mcts", "takes players that search by plies, not 'mcts'"),
        ("random heuristic --resume", "there is no league to resume in "),
        ("random heuristic --out cards.txt", "cards.txt"),
    ],
)
def test_errors_name_the_cause(command, cards, tmp_path, words, message):
    assert message in one_line(*command("--threads", "1", *words.split()))
    assert list(tmp_path.iterdir()) == [cards]


def test_values_of_players_are_compared_with_results(command, cards, tmp_path):
    words = [*QUICK, "--openings", cards, "--max-moves", 30, "--adjudicate", "material"]
    assert command(*words, "--out", "league")[0] == 0
    before = journal_of(tmp_path / "league")
    options = ["--resume", "--calibrate", "material@depth=2", "material@depth=1"]
    out = ended(command(*words, "--out", "league", *options))
    for name in ("material (depth 2)", "material (depth 1)"):
        table = out.partition(f" {name} ")[2]
        assert re.search(r"^ +24 +\d+ +(nan|-?0\.\d\d) +\[.*\] +\d+ ", table, re.MULTILINE)
    assert (tmp_path / "league" / "calibration.svg").read_bytes().startswith(b"<?xml")
    assert journal_of(tmp_path / "league") == before
