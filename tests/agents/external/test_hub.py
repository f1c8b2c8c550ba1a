"""The Hub protocol: our engine, that of pydraughts, and faulty engines."""

import gc
import queue
import subprocess
import sys
import threading
import time

import draughts
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.agent import Limits
from agents.external import process
from agents.external.hub.client import MAX_NAME, HubAgent, write_pos
from agents.external.hub.commands import HubConfig, read_level
from agents.external.hub.notation import (
    read_line,
    read_move,
    read_position,
    write_line,
    write_move,
    write_position,
)
from agents.external.hub.server import HubEngine, serve
from agents.external.process import LineProcess, ProcessLimits
from agents.search.workspace import VISITED
from checkers_env.board import Board
from checkers_env.errors import EngineError
from tests import DATA
from tests.training.commands import descendants, is_gone, wait_for

PYTHON = sys.executable
OURS = [PYTHON, "-m", "agents.external.hub"]
FENS = [line.split("\t")[0] for line in (DATA / "perft_positions.tsv").read_text().splitlines()[1:]]
LOOP = "B:W9,10,17,18:BK6"
START = "pos pos=B" + 12 * "b" + 8 * "e" + 12 * "w"
PATIENT = 60.0  # seconds, where nothing is to be waited for


def faulty(fault, **given):
    given = {"depth": 3, "timeout": PATIENT} | given
    return HubAgent([PYTHON, "-IS", str(DATA / "faulty_engine.py"), fault], **given)


def pid_of(agent):
    return descendants(agent._process._process.popen.pid)[-1]


# How lines, positions and moves are written.


@given(st.dictionaries(st.from_regex(r"[a-z]+(-[a-z]+)?", fullmatch=True), st.text()))
def test_commands_round_trip(arguments):
    if any(set(value) & set('"\r\n') for value in arguments.values()):
        with pytest.raises(ValueError, match="double quote or a line break"):
            write_line("info", arguments)
    else:
        assert read_line(write_line("info", arguments)) == ("info", arguments)


def test_commands_are_read_as_the_protocol_defines():
    assert read_line('  pos pos=Wbe  moves = "1-5 6x2" infinite x=""\n') == (
        "pos",
        {"pos": "Wbe", "moves": "1-5 6x2", "infinite": "", "x": ""},
    )
    assert read_line(" \n") == ("", {})


@pytest.mark.parametrize("fen", [*FENS, LOOP])
def test_positions_and_moves_equal_those_of_pydraughts(fen):
    board, theirs = Board(fen), draughts.Board("english", fen)
    assert write_position(board, "pydraughts") == theirs._game.initial_hub_fen
    assert read_position(theirs._game.initial_hub_fen, "pydraughts") == board
    assert read_position(write_position(board, "english"), "english") == board
    expected = {move.hub_move for move in theirs.legal_moves()}
    assert {write_move(move) for move in board.legal_moves} == expected
    for move in () if fen == LOOP else board.legal_moves:  # where two moves have the same text
        assert read_move(write_move(move), board) == move
        assert read_move(str(move), board) == move


def test_captures_with_equal_hub_texts_reach_equal_positions():
    here = Board(LOOP)
    assert len(here.legal_moves) == 2
    assert {write_move(move) for move in here.legal_moves} == {"6x6x9x10x17x18"}
    after = [Board(LOOP), Board(LOOP)]
    for board, move in zip(after, here.legal_moves, strict=True):
        board.push(move)
    assert after[0] == after[1]
    assert read_move("6x6x18x10x9x17", here) in here.legal_moves


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bad position ''.* the side to move, B or W"),
        ("X" + 32 * "e", "the side to move, B or W"),
        ("B" + 31 * "e" + "z", "each of them one of ebBwW"),
        ("B" + 31 * "e" + "b", "king row"),
    ],
)
def test_invalid_positions_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_position(text, "english")
    with pytest.raises(ValueError, match="bad position"):
        read_position(text, "pydraughts")


def test_position_is_sent_with_the_moves_since_the_last_irreversible_one():
    board = Board("B:W30,K32:B3,K6")
    assert write_pos(board, "english") == f"pos pos=BeebeeB{23 * 'e'}weW"
    for move in ("3-7", "32-28", "6-2", "28-32"):
        board.push(move)
    assert write_pos(board, "english") == (
        f'pos pos=W{5 * "e"}Bb{22 * "e"}weW moves="32-28 6-2 28-32"'
    )


# Our engine.


class Talk:
    """An engine in this process."""

    def __init__(self, **settings):
        self.said = queue.Queue()
        self.engine = HubEngine(HubConfig(**{"agent": "material"} | settings), self.said.put)

    def ask(self, *lines, until):
        """Send lines; return the arguments of the first answer `until`. An error fails the test."""
        for line in lines:
            self.engine.execute(line)
        while True:
            command, given = read_line(self.said.get(timeout=PATIENT))
            assert until == "error" or command != "error", given
            if command == until:
                return given


def test_engine_plays_the_game_of_its_agent():
    board, agent = Board(), agents.make("blondie24", depth=3)
    agent.act(board)  # compiled before the engine has to be ready
    with HubAgent([*OURS, "--agent", "blondie24"], depth=3) as engine:
        assert engine.name.startswith("blondie24 ")
        white_first = Board("W:W21-32:B1-12")  # told by its dialect from pydraughts' start
        assert engine.act(white_first) == agent.act(white_first)
        while not board.outcome():
            move = engine.act(board)
            assert move == agent.act(board)
            board.push(move)
    assert board.ply > 30


def test_equal_seeds_make_equal_moves():
    moves = []
    for seed in (1, 1, 2):
        talk = Talk(agent="random")
        talk.ask(f"set-param name=seed value={seed}", "init", "level nodes=9", until="ready")
        moves.append([talk.ask(START, "go think", until="done")["move"] for _ in range(20)])
    assert moves[0] == moves[1] != moves[2]


def test_engine_stops_on_command():
    talk = Talk(agent="blondie24")
    talk.ask("init", START, "level infinite", "go analyze", until="info")
    talk.ask("ping", until="pong")
    assert talk.engine._search is not None
    assert talk.engine._search.is_alive()
    legal = Board().legal_moves
    assert read_move(talk.ask("stop", until="done")["move"], Board()) in legal
    for player in ("blondie24", "mcts"):
        talk = Talk(agent=player)
        move = talk.ask("init", START, "level infinite", "go think", "stop", until="done")["move"]
        assert read_move(move, Board()) in legal


def test_new_search_ends_the_running_one_and_each_is_answered_once():
    talk = Talk(agent="blondie24")
    talk.ask("init", START, "level infinite", until="ready")
    for _ in range(3):
        talk.engine.execute("go ponder")
    talk.engine.stop()
    said = [talk.said.get_nowait() for _ in range(talk.said.qsize())]
    assert sum(line.startswith("done") for line in said) == 3


def test_limits_of_the_engine_and_of_the_search_both_apply():
    talk = Talk(agent="blondie24", depth=3)
    talk.ask("init", START, until="ready")
    for level, deepest in (("infinite", 3), ("depth=2", 2), ("depth=9", 3), ("move-time=50", 3)):
        talk.engine.execute(f"level {level}")
        talk.engine.execute("go think")
        talk.engine._search.join()
        said = [read_line(talk.said.get_nowait()) for _ in range(talk.said.qsize())]
        assert [command for command, _ in said] == ["info"] * (deepest - 1) + ["done"]
        assert said[-2][1]["depth"] == str(deepest)
        assert {"score", "nodes", "pv"} < said[-2][1].keys()


def test_nodes_limit_a_selective_search():
    talk = Talk(agent="material@selective=1")
    told = talk.ask("init", START, "level nodes=300", "go think", until="info")
    assert {"depth", "score", "nodes"} < told.keys()
    talk.ask(until="done")
    assert 300 <= talk.engine._agent.ws.counts[VISITED] < 400


@pytest.mark.parametrize(
    ("level", "seconds", "share"),
    [
        ("move-time=1.5", 1.5, None),
        ("time=60", 8.0, 2.0),
        ("time=60 moves=10", 18.0, 6.0),
        ("time=60 inc=1", 12.0, 3.0),
        ("time=10 moves=1", 9.0, 9.0),
        ("time=-3 inc=1", 0.01, 0.01),
        ("move-time=0", 0.01, None),
        ("infinite", np.inf, None),
        ("depth=4 unheard-of=x", None, None),
    ],
)
def test_remaining_time_is_divided_over_the_moves(level, seconds, share):
    limits = read_level(read_line(f"level {level}")[1])
    assert limits.seconds == pytest.approx(seconds)
    assert limits.share == pytest.approx(share)


def test_move_time_rarely_exceeds_its_share():
    depths = []
    agent, limits = agents.make("material", depth=64), Limits(seconds=PATIENT, share=0.02)
    move = agent.search(Board(), limits, threading.Event(), lambda depth, _: depths.append(depth))
    assert move in Board().legal_moves
    assert 2 <= depths[-1] < 30


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('pos pos="', "is not a line such as"),
        ("pos", "bad position ''"),
        (START + " moves=1-5", "'1-5' is illegal"),
        ("go think", "send pos first"),
        ("pos pos=B moves=11-15 23-19", "pos has no '23-19': there are pos, moves; quote"),
        ("level depth=0", "depth must be 1 or more"),
        ("level nodes=99999999999999999999", "limited by depth or seconds, not by nodes"),
        ("level move-time=nan", "move-time must be a number, not 'nan'"),
        ("set-param name=strength value=9", "no parameter 'strength'"),
        ("set-param name=variant value=killer", "'killer' is not known here: it can be english"),
        ("set-param name=dialect value=french", "auto, english, pydraughts"),
    ],
)
def test_invalid_command_is_answered_with_an_error(line, message):
    talk = Talk()
    assert message in talk.ask(line, until="error")["message"]
    talk.ask("ping", until="pong")
    talk.ask("init", until="ready")
    talk.ask(START, "level depth=1", "go think", until="done")


def test_invalid_agent_is_an_error_and_can_be_replaced():
    talk = Talk(agent="deep_purple")
    assert "unknown agent 'deep_purple'" in talk.ask("init", until="error")["message"]
    talk.ask("set-param name=agent value=heuristic", "init", until="ready")
    talk.ask(START, "go", until="done")
    over = "pos pos=" + write_position(Board("B:W32:B"), "english")
    assert "the game is over" in talk.ask(over, "go", until="error")["message"]


def test_any_agent_can_be_the_engine():
    strangers = DATA / "strangers.py"
    command = [*OURS, "--agent", f"{strangers}:Noisy"]
    with HubAgent(command, seconds=1, dialect="pydraughts") as engine:
        assert engine.act(Board()) == Board().legal_moves[0]
    talk = Talk(agent=f"{strangers}:Moody")
    for moves, message in (
        ("9-13", "ZeroDivisionError: a message of two"),
        ("9-13 22-18 13-17", "act(board) returned '1-32' is illegal: the legal moves are"),
    ):
        ask = ("init", f'{START} moves="{moves}"', "go think")
        assert message in talk.ask(*ask, until="error")["message"]


def test_engine_exits_at_end_of_input_and_on_quit():
    said = []
    serve(["hub\n", "quit\n", "ping\n"], said.append, HubConfig())
    assert said[-1] == "wait"
    serve([START, "level depth=9", "go think"], said.append, HubConfig())
    assert [line.split()[:2] for line in said[-2:]] == [["info", "depth=9"], said[-1].split()]
    assert said[-1].startswith("done move=")
    talk = "\n".join(["init", START, "level infinite", "go think", "level depth=3", "\udcff"])
    done = subprocess.run(
        OURS, input=talk.encode("utf-8", "surrogateescape"), capture_output=True, timeout=PATIENT
    )
    assert done.returncode == 0
    assert b"done move=" in done.stdout.splitlines()[-1]
    assert b"unknown command" in done.stderr


def test_endless_search_ends_soon_after_the_input(monkeypatch):
    monkeypatch.setattr("agents.external.hub.server.FINISH_SECONDS", 0.2)
    monkeypatch.setattr("agents.external.hub.server.STOP_SECONDS", PATIENT)
    said = []
    serve(["init", START, "level depth=60", "go think"], said.append, HubConfig())
    assert said[-1].startswith("done move=")


# pydraughts.


def test_pydraughts_plays_a_game_with_our_engine():
    command = ["/usr/bin/env", *OURS, "--agent", "blondie24"]
    client = [PYTHON, "-W", "ignore", str(DATA / "pydraughts_client.py"), "5", "depth=2"]
    game = subprocess.run(
        [*client, *command], capture_output=True, text=True, timeout=2 * PATIENT, check=False
    )
    assert game.returncode == 0, game.stderr
    *moves, winner = game.stdout.split()
    board = Board()
    for text in moves:
        board.push(read_move(text, board))
    outcome = board.outcome()
    assert winner in ("black", "white", "draw", "unfinished")
    assert (outcome and outcome.winner) == {"black": 0, "white": 1}.get(winner)
    assert len(moves) >= 10


# Faulty engines.


@pytest.mark.parametrize("fault", ["babbles", "in-pieces", "chatters", "two-games", "huge-line"])
def test_valid_protocol_variants_are_accepted(fault):
    with faulty(fault, params={"book": False}, seed=7) as engine:
        pid = pid_of(engine)
        assert engine.name.startswith("faulty engine ")
        for _ in range(2):
            assert str(engine.act(Board())) == "11-15"
    wait_for(lambda: is_gone(pid))


def test_names_are_escaped_and_cut():
    with faulty("long-name") as engine:
        assert engine.name.startswith("?[2J?[2J")
        assert len(engine.name) == MAX_NAME


def test_parameters_are_set_before_init():
    engine = faulty("two-games", book=False, seed=7, nodes=5, depth=None)
    assert engine._process is not None
    errors = engine._process._errors
    wait_for(lambda: len(errors) == 4)  # which a thread reads
    with pytest.raises(EngineError) as caught:
        engine.act(Board("W:W32:B1"))
    for line in ("variant value=english", "ponder value=false", "book value=false", "seed value=7"):
        assert f"set-param name={line}" in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "dies-at-once",
            r"dies-at-once has ended with exit code 3; .*something before / no licence",
        ),
        ("mute", "mute gave no 'wait' within 0.5 s of 'hub'"),
        ("other-game", r"faulty engine \d+ plays normal killer, not english"),
        ("floods-params", "floods-params declares more than 1000 parameters"),
    ],
)
def test_engine_that_fails_in_init_is_named(fault, message):
    with pytest.raises(EngineError, match=message):
        faulty(fault, timeout=0.5 if fault == "mute" else PATIENT)


SILENT = ("stalls", "stops", "stubborn", "floods", "endless-line")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("nonsense", "plays 'banana' in B:W.*: 'banana' is not a move"),
        ("illegal", "plays '21-17' in B:W.*: '21-17' is illegal"),
        ("reports", "reports an error: error message=.I have lost .my. book"),
        ("kills-itself", "was killed by signal 9"),
        ("closes", "has closed its output"),
        *((it, "gave no 'done' within 0.3 s of 'go think'") for it in SILENT),
        ("many-forks", "had more than 16 processes"),
        ("claims", "plays '' in B:W.*I have won"),
    ],
)
def test_faulty_engine_is_named_and_terminated(monkeypatch, fault, message):
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    engine = faulty(fault, limits=ProcessLimits(512, 16))
    engine._move_timeout = 0.3 if "0.3" in message else PATIENT
    pid = pid_of(engine)
    begun = time.monotonic()
    with pytest.raises(EngineError, match=rf"^faulty engine \d+ {message}"):
        engine.act(Board())
    wait_for(lambda: is_gone(pid))
    assert time.monotonic() - begun < PATIENT / 2


def test_engine_hears_of_a_game_that_continues_the_one_before(monkeypatch):
    sent = []
    send = LineProcess.send

    def record(process, line):
        sent.append(line)
        send(process, line)

    monkeypatch.setattr(LineProcess, "send", record)
    later = Board()
    for move in ("9-14", "22-18"):
        later.push(move)
    with faulty("none") as engine:
        for board, news in ((Board(), 1), (later, 1), (later, 2)):
            assert str(engine.act(board)) == "11-15"
            assert sent.count("new-game") == news
        engine.new_game(np.random.default_rng())
        later.push("11-16")
        later.push("18x9")
        with pytest.raises(EngineError, match="illegal"):
            engine.act(later)
        assert sent.count("new-game") == 3


def test_waiting_move_ends_when_another_thread_interrupts_it():
    with faulty("stalls") as engine:
        timer = threading.Timer(0.2, engine.interrupt)
        timer.start()
        with pytest.raises(EngineError, match="was killed by signal 9"):
            engine.act(Board())


def test_engine_is_restarted_before_a_game(monkeypatch):
    with faulty("dies-in-mid-game") as engine:
        pid = pid_of(engine)
        assert str(engine.act(Board())) == "11-15"
        with pytest.raises(EngineError, match=r"exit code 7.*out of ideas"):
            engine.act(Board())
        wait_for(lambda: is_gone(pid))
        engine.new_game(np.random.default_rng(0))
        monkeypatch.setattr("agents.external.hub.client.LineProcess", None)  # none is started now
        engine.new_game(np.random.default_rng(0))
        assert str(engine.act(Board())) == "11-15"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"depth": None}, "takes one of seconds, depth and nodes"),
        ({"depth": 0}, "depth must be a whole number above 0, not 0"),
        ({"depth": 2.5}, "depth must be a whole number above 0, not 2.5"),
        ({"timeout": float("nan")}, "timeout must be a number above 0"),
        ({"dialect": "french"}, "dialect must be english or pydraughts"),
        (
            {"params": {"hash": 5}},
            r"faulty engine \d+ has no parameter hash: it has book, ponder, seed",
        ),
        ({"params": {"book": 'a"b'}}, "double quote"),
    ],
)
def test_invalid_arguments_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        faulty("none", **given)


def test_commands_that_start_no_engine_are_refused(tmp_path):
    for command in ("", [], "no-such-engine --hub", "'unclosed", "/etc/passwd"):
        with pytest.raises(ValueError, match=r"empty|cannot be started|'unclosed.*closing quot"):
            HubAgent(command, depth=1)
    (tmp_path / "engine").write_bytes(b"\x7fELF and nothing else")
    (tmp_path / "engine").chmod(0o755)
    with pytest.raises(EngineError, match="engine cannot be started: Exec format error"):
        HubAgent([str(tmp_path / "engine")], depth=1)


def test_unreferenced_engine_is_terminated():
    engine = faulty("none")
    pid = pid_of(engine)
    del engine
    gc.collect()
    wait_for(lambda: is_gone(pid))
