"""DXP: messages, games between our two ends and with pydraughts, and faulty peers."""

import itertools
import pickle
import random
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.external.dxp import cli, connection, session
from agents.external.dxp.connection import DxpAddress, DxpConnection
from agents.external.dxp.messages import (
    BackAccept,
    BackRequest,
    Chat,
    GameAccept,
    GameEnd,
    GameRequest,
    MoveMessage,
    decode,
    encode,
    fit_name,
    read_position,
    write_start,
)
from agents.external.dxp.session import DxpAgent, challenge, play_dxp_game, serve
from agents.match import play_through_environment
from checkers_env import pdn
from checkers_env.board import Board, Outcome
from checkers_env.errors import EngineError, GameEndedError
from checkers_env.movegen import BLACK, WHITE
from checkers_env.moves import Move
from checkers_env.state import DrawRules
from tests import ROOT
from tests.training.commands import run_here, wait_for

HOST = "127.0.0.1"
START = "z" * 12 + "e" * 8 + "w" * 12
TEN_BY_TEN = "BZ" + "z" * 20 + "e" * 10 + "w" * 20
SECONDS = 20.0
SOON = 0.2

# Those of http://www.mesander.nl/damexchange/edxplg2.htm.
EXAMPLES = {
    b"R01Tornado voor Windows 4.0        W060065A": GameRequest(
        "Tornado voor Windows 4.0", WHITE, 60, 65
    ),
    b"ATornado voor Windows 4.0        0": GameAccept("Tornado voor Windows 4.0", 0),
    b"M0012061100": MoveMessage(12, 6, 11),
    b"M001205250422122320": MoveMessage(12, 5, 25, (22, 12, 23, 20)),
    b"E00": GameEnd(0, 0),
    b"CWhat do you think about move 35?": Chat("What do you think about move 35?"),
    b"B005Z": BackRequest(5, BLACK),
    b"K1": BackAccept(1),
}


def numbers(digits):
    return st.integers(0, 10**digits - 1)


characters = st.characters(min_codepoint=1, max_codepoint=127)
names = st.text(characters, max_size=32).map(lambda name: name.rstrip(" "))
colours = st.sampled_from([BLACK, WHITE])
starts = st.just("A") | st.builds(
    "B{}{}".format, st.sampled_from("ZW"), st.text(characters, min_size=1, max_size=50)
)
messages = st.one_of(
    st.builds(GameRequest, names, colours, numbers(3), numbers(3), starts, numbers(2)),
    st.builds(GameAccept, names, numbers(1)),
    st.builds(
        MoveMessage,
        numbers(4),
        numbers(2),
        numbers(2),
        st.lists(numbers(2), max_size=20).map(tuple),
    ),
    st.builds(GameEnd, numbers(1), numbers(1)),
    st.builds(Chat, st.text(characters, max_size=126)),
    st.builds(BackRequest, numbers(3), colours),
    st.builds(BackAccept, numbers(1)),
)


@pytest.mark.parametrize(("data", "message"), EXAMPLES.items())
def test_examples_of_the_protocol_are_read_and_written(data, message):
    assert decode(data) == message
    assert encode(message) == data


@given(messages)
def test_messages_round_trip(message):
    data = encode(message)
    assert b"\0" not in data
    assert 1 <= len(data) <= 127
    assert decode(data) == message


@pytest.mark.parametrize(
    "message",
    [
        GameRequest("x" * 33, WHITE),
        GameRequest("ours", WHITE, minutes=1000),
        GameRequest("ours", WHITE, start="BZ" + "e" * 84),
        GameEnd(10, 0),
        Chat("naïve"),
        Chat("x" * 127),
    ],
)
def test_invalid_message_is_refused(message):
    with pytest.raises(ValueError, match=r"DXP message|is not a message|name"):
        encode(message)


@given(st.text())
def test_any_name_is_shortened_to_fit(name):
    encode(GameAccept(fit_name(name), 0))


def test_positions_round_trip():
    assert write_start(Board()) == f"BZ{START}"
    kings_and_men = {12: "z", 3: "Z", 18: "w", 24: "w", 31: "W"}
    letters = "".join(kings_and_men.get(square, "e") for square in range(1, 33))
    assert write_start(Board("W:W18,24,K31:B12,K3")) == f"BW{letters}"
    assert read_position(GameRequest("theirs", WHITE)) == Board().position
    rng, board = np.random.default_rng(0), Board()
    while board.outcome() is None:
        request = GameRequest("ours", BLACK, start=write_start(board))
        assert read_position(decode(encode(request))) == board.position
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])


# Two ends of ours.


def free_port():
    with socket.create_server((HOST, 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def beside(work):
    """Run `work` in a thread; its result or error is available after the block."""
    results = []

    def run():
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield results
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert not isinstance(results[0], BaseException), results[0]


@contextmanager
def served(agent, games):
    """Serve games of an agent; yield the address, and a list that has the games afterwards."""
    address = DxpAddress(HOST, free_port(), SECONDS)
    played = []
    rng = np.random.default_rng()
    with beside(lambda: played.extend(itertools.islice(serve(agent, address, rng), games))):
        reached(address.port)
        yield address, played


def reached(port):
    def listens():
        with socket.socket() as probe:
            return probe.connect_ex((HOST, port)) == 0

    wait_for(listens)


def material(seed, depth=2):
    return agents.make("material", depth=depth, seed=seed)


def plain_game(black, white, opening=None, **rules):
    """Play the game in a plain loop."""
    board = Board(**{"repetition": 3, "no_progress": 40} | rules)
    for move in (opening or "").split():
        board.push(move)
    while board.outcome() is None:
        board.push((black, white)[board.turn].act(board.copy()))
    return board


RULES = DrawRules(max_moves=200, repetition=3, no_progress=40)
OPENINGS = [None, "9-13", "9-13 22-18", "11-15 23-19 8-11"]


@pytest.mark.parametrize("tells_the_end", [True, False])
def test_listening_program_is_an_agent(tells_the_end):
    """An unfinished game ends when the next begins."""
    boards = []
    with served(material(2), 8) as (address, played):
        opponent = agents.make(f"dxp:{HOST}:{address.port}", timeout=SECONDS)
        assert opponent.name == f"dxp {HOST} {address.port}"
        mine, alone, other = material(1), material(1), material(2)
        for opening, side in itertools.product(OPENINGS, (BLACK, WHITE)):
            players = (opponent, mine) if side == BLACK else (mine, opponent)
            game = play_through_environment(*players, opening=opening, rules=RULES)
            players = (other, alone) if side == BLACK else (alone, other)
            boards.append(plain_game(*players, opening, max_moves=200))
            assert game.board.moves == boards[-1].moves
            if tells_the_end:
                opponent.game_over(boards[-1], side)
        opponent.close()
    for board, theirs in zip(boards, played, strict=True):
        if tells_the_end:
            assert theirs.board == board  # the last move included
            assert theirs.outcome == board.outcome()
        assert theirs.board.moves[-1] in board.moves[-2:]
        assert theirs.error == ""


# Programs that follow a script.


class Peer:
    """Other end of a connection, which sends the messages of a test."""

    def __init__(self, connection):
        self.connection = connection
        self.received = b""

    def say(self, *texts):
        for text in texts:
            self.connection.sendall((text if isinstance(text, bytes) else text.encode()) + b"\0")

    def hear(self):
        while b"\0" not in self.received:
            data = self.connection.recv(1024)
            if not data:
                return None
            self.received += data
        message, _, self.received = self.received.partition(b"\0")
        return decode(message)


@contextmanager
def peer_that_listens(script, calls=1, **options):
    """Run a listening program that follows `script`; yield an opponent that calls it."""

    def run():
        for _ in range(calls):
            tcp = listener.accept()[0]
            with tcp, suppress(ConnectionError):  # it may be left before it has said all
                tcp.settimeout(SECONDS)
                script(Peer(tcp))

    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        opponent = DxpAgent(port=port, **{"timeout": SECONDS} | options)
        with beside(run):
            yield opponent
            opponent.close()


@contextmanager
def connected():
    """Yield a connection of ours and the peer at its other end."""
    here, there = socket.socketpair()
    with here, there:
        there.settimeout(SECONDS)
        yield DxpConnection(here, "ours", SECONDS), Peer(there)


ACCEPTS = "A" + "Peer".ljust(32) + "0"
FIRST = "M0000111500"  # 11-15


def after_acceptance(*texts):
    def script(peer):
        assert isinstance(peer.hear(), GameRequest)
        peer.say(ACCEPTS, *texts)
        while peer.hear():
            pass

    return script


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([ACCEPTS, "what?"], r"Peer sent nonsense: 'what\?' is not a DXP message"),
        ([ACCEPTS, "M0000111501"], "Peer sent nonsense"),
        ([ACCEPTS, "x" * 200], "Peer sent nonsense: more than 127 characters"),
        ([ACCEPTS, "M0000119900"], "Peer played 11-99, illegal in B:W21"),
        ([ACCEPTS, "M0000221700"], r"Peer played 22-17, illegal .* legal moves are 9-13, "),
        ([ACCEPTS, "M000011150118"], "Peer played 11-15 capturing 18, illegal"),
        ([ACCEPTS, ACCEPTS], r"Peer sent GameAccept.* instead of a move"),
        ([ACCEPTS], "Peer hung up"),
        ([], "the other program hung up"),
        ([ACCEPTS[:-1] + "2"], "Peer refuses this game"),
        ([ACCEPTS[:-1] + "7"], "answers the request for a game with code 7"),
        ([FIRST], "sent MoveMessage.* instead of an answer to the request"),
    ],
)
def test_faulty_peer_is_named(texts, message):
    def script(peer):
        peer.hear()
        peer.say(*texts)

    with peer_that_listens(script) as opponent, pytest.raises(EngineError, match=message) as caught:
        opponent.act(Board())
    assert not isinstance(caught.value, GameEndedError)


def test_peer_that_stalls_is_named():
    with (
        peer_that_listens(after_acceptance("Cone moment"), timeout=SOON) as opponent,
        pytest.raises(EngineError, match=r"did not answer in 0\.2 seconds"),
    ):
        opponent.act(Board())


@pytest.mark.parametrize(
    ("reason", "claim"), [(1, "loss"), (2, "draw"), (3, "win"), (9, "nothing")]
)
def test_peer_that_ends_the_game_is_named(reason, claim):
    heard = []

    def script(peer):
        peer.hear()
        peer.say(ACCEPTS, f"E{reason}0")
        heard.append(peer.hear())
        assert isinstance(peer.hear(), GameRequest)  # on the same connection
        peer.say(ACCEPTS, FIRST)
        heard.append(peer.hear())
        peer.say("E01")

    with peer_that_listens(script) as opponent:
        with pytest.raises(GameEndedError, match=f"Peer ended the game and claims {claim}") as got:
            opponent.act(Board())
        assert got.value.claim == claim
        copy = pickle.loads(pickle.dumps(got.value))
        assert (str(copy), copy.claim) == (str(got.value), claim)
        assert str(opponent.act(Board())) == "11-15"
    assert heard == [GameEnd(0, 0), GameEnd(0, 1)]


def test_chat_and_takeback_requests_are_ignored():
    heard = []

    def script(peer):
        heard.append(peer.hear())
        peer.say("Chello", "B001Z", ACCEPTS, "C", "B001Z", "K1", FIRST)
        heard.extend(peer.hear() for _ in range(3))
        peer.say("E00")

    with peer_that_listens(script) as opponent:
        board = Board(max_moves=50)
        assert str(opponent.act(board)) == "11-15"
    request = GameRequest("Checkers laboratory", BLACK, 0, 50, f"BZ{START}")
    assert heard == [request, BackAccept(1), BackAccept(1), GameEnd(0, 1)]


def test_captured_squares_may_come_in_any_order():
    board = Board("B:W6,15,32:B1,12")  # 1x10x19

    with peer_that_listens(after_acceptance("M00000119021506", "E00")) as opponent:
        assert opponent.act(board) == Move((1, 10, 19), (6, 15))


def test_closed_connection_is_replaced():
    def script(peer):
        peer.hear()
        peer.say(ACCEPTS, FIRST)

    with peer_that_listens(script, calls=3) as opponent:
        for _ in range(3):
            assert str(opponent.act(Board())) == "11-15"


def test_late_answer_is_not_taken_for_the_next_one(monkeypatch):
    with peer_that_listens(after_acceptance(FIRST, "E00"), calls=2) as opponent:
        with monkeypatch.context() as patched:
            patched.setattr(DxpConnection, "receive_move", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                opponent.act(Board())
        assert str(opponent.act(Board())) == "11-15"


@pytest.fixture
def minutes_fly(monkeypatch):
    """Let each look at the clock take 61 seconds."""
    clock = itertools.count(time.monotonic(), 61)
    monkeypatch.setattr(connection, "time", SimpleNamespace(monotonic=lambda: next(clock)))


@pytest.mark.usefixtures("minutes_fly")
def test_time_of_a_game_is_limited():
    with (
        peer_that_listens(after_acceptance(FIRST), minutes=1) as opponent,
        pytest.raises(EngineError, match="Peer has used more than its 1 minutes"),
    ):
        opponent.act(Board())


def test_missing_peer_is_an_error():
    with pytest.raises(EngineError, match=rf"cannot connect to {HOST} port \d+: .*refused"):
        DxpAgent(port=free_port(), timeout=SECONDS).act(Board())
    opponent = DxpAgent(port=0, listens=True, timeout=SOON)
    with pytest.raises(EngineError, match=r"nobody connected in 0\.2 seconds"):
        opponent.act(Board())
    opponent.close()


def test_invalid_arguments_are_refused():
    with pytest.raises(ValueError, match="port must be 1 to 65535, not 70000"):
        DxpAgent(port=70_000)
    with pytest.raises(
        ValueError, match="timeout must be above 0 and at most 1,000,000 seconds, not 0"
    ):
        DxpAgent(timeout=0)
    with pytest.raises(ValueError, match="minutes has no effect"):
        agents.make("dxp:listen:0", minutes=5)
    with pytest.raises(ValueError, match="has no legal move in B:W18:B"):
        DxpAgent().act(Board("B:W18:B"))


def test_messages_before_a_request_do_not_renew_its_time():
    def end_games():
        with suppress(OSError):
            while True:
                peer.say("E00")

    with connected() as (ours, peer):
        threading.Thread(target=end_games, daemon=True).start()
        with pytest.raises(EngineError, match=r"did not answer in 0\.2 seconds"):
            ours.wait_for_request(SOON)


@pytest.mark.parametrize("connects", [False, True])
def test_interrupt_from_another_thread_ends_a_wait(connects):
    opponent = DxpAgent(port=0, listens=True, timeout=SECONDS)
    callers = [socket.create_connection(opponent.address[:2])] if connects else []
    timer = threading.Timer(SOON, opponent.interrupt)
    timer.start()
    with pytest.raises(EngineError, match=r"cannot listen any more|hung up|cannot be reached"):
        opponent.act(Board())
    with pytest.raises(EngineError, match="was interrupted"):
        opponent.act(Board())
    opponent.close()
    for caller in callers:
        caller.close()


def test_silent_connection_does_not_keep_others_waiting(monkeypatch):
    monkeypatch.setattr(session, "FIRST_SECONDS", SOON)
    with (
        served(material(1), 1) as (address, _),
        socket.create_connection(address[:2]),
        peer_that_calls(address) as peer,
    ):
        peer.say(request())
        assert isinstance(peer.hear(), GameAccept)


def test_port_in_use_is_an_error():
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        for attempt in (
            lambda: DxpAgent(port=port, listens=True),
            lambda: next(serve(material(1), DxpAddress(HOST, port), np.random.default_rng())),
        ):
            with pytest.raises(EngineError, match=f"cannot listen on {HOST} port {port}: .*in use"):
                attempt()


# Programs that call, and follow a script.


@contextmanager
def peer_that_calls(address):
    with socket.create_connection(address[:2], timeout=SECONDS) as tcp:
        yield Peer(tcp)


def request(follower="W", start="A", version="01", minutes=0, moves=0):
    return f"R{version}{'Peer'.ljust(32)}{follower}{minutes:03d}{moves:03d}{start}"


@pytest.mark.parametrize(
    "text",
    [
        request("Z"),  # the colour that it is to play itself
        request("W", f"BW{START}"),
        request("W", TEN_BY_TEN),
    ],
)
def test_requests_for_another_game_are_refused(text):
    opponent = DxpAgent(port=0, listens=True, timeout=SECONDS)
    with peer_that_calls(opponent.address) as peer:
        peer.say(text)
        with pytest.raises(EngineError, match="Peer asks for a game that cannot be B:W21"):
            opponent.act(Board())
        assert peer.hear() == GameAccept("Checkers laboratory", 2)
        assert peer.hear() is None
    opponent.close()


def test_requests_with_and_without_the_last_move_are_accepted():
    board = Board()
    board.push("11-15")
    for text, moves in ((request("Z"), 1), (request("Z", write_start(board)), 0)):
        opponent = DxpAgent(port=0, listens=True, timeout=SECONDS)
        with peer_that_calls(opponent.address) as peer:
            peer.say(text, "M0000221800")
            assert str(opponent.act(board)) == "22-18"
            assert peer.hear() == GameAccept("Checkers laboratory", 0)
            assert [peer.hear() for _ in range(moves)] == [MoveMessage(0, 11, 15)][:moves]
            peer.say("E00")
            opponent.close()
            assert peer.hear() == GameEnd(0, 1)


def test_server_survives_faulty_peers():
    with served(agents.make("random", seed=1), 4) as (address, played):
        for text in ("what?", "E01", FIRST):  # no game comes of them
            with peer_that_calls(address) as peer:
                peer.say(text)
                assert peer.hear() is None
        with peer_that_calls(address) as peer:
            peer.say(request(version="02"))
            assert peer.hear() == GameAccept("random", 1)
            peer.say(request("W", TEN_BY_TEN))
            assert peer.hear() == GameAccept("random", 2)
            peer.say(request("Z"))
            assert peer.hear() == GameAccept("random", 0)
            assert isinstance(peer.hear(), MoveMessage)
            peer.say("E20")
            assert peer.hear() == GameEnd(0, 0)
            peer.say("E00", request("W"), "E10")
            assert [peer.hear(), peer.hear()] == [GameAccept("random", 0), GameEnd(0, 0)]
            peer.say(request("W"), "M0000111600", "M0000111600")
            assert peer.hear() == GameAccept("random", 0)
            assert isinstance(peer.hear(), MoveMessage)
            assert peer.hear() is None
        with peer_that_calls(address) as peer:
            peer.say(request("W"), "E00")
            assert [peer.hear(), peer.hear()] == [GameAccept("random", 0), GameEnd(0, 0)]
    assert [game.outcome for game in played] == [
        Outcome(BLACK, "refused claim of a draw"),
        Outcome(WHITE, "resignation"),
        None,
        None,
    ]
    assert "Peer played 11-16, illegal" in played[2].error
    assert played[3].error == ""


@pytest.mark.parametrize(
    ("end", "consents", "outcome"),
    [
        ("E00", True, None),
        ("E10", True, Outcome(WHITE, "resignation")),
        ("E20", True, Outcome(None, "draw agreed")),
        ("E20", False, Outcome(WHITE, "refused claim of a draw")),
        ("E30", True, Outcome(WHITE, "refused claim of a win")),
    ],
)
def test_peer_cannot_award_itself_a_score(end, consents, outcome):
    agent = SimpleNamespace(act=None, accept_draw=lambda board: consents, game_over=Mock())
    with connected() as (ours, peer):
        peer.say(end)
        game = play_dxp_game(ours, agent, Board(), WHITE)
        assert (game.outcome, game.error) == (outcome, "")
        assert agent.game_over.called == (outcome is not None)


@pytest.mark.usefixtures("minutes_fly")
def test_peer_that_exceeds_its_time_loses():
    with connected() as (ours, peer):
        peer.say(FIRST, "E00")
        ours._start_clock(minutes=1)
        game = play_dxp_game(ours, material(1), Board(), WHITE)
        assert game.outcome == Outcome(WHITE, "time")
        assert peer.hear() == GameEnd(3, 0)


def test_refused_challenge_is_reported():
    def run():
        for answers in ([ACCEPTS, "E10", None, ACCEPTS[:-1] + "3"], [ACCEPTS[:-1] + "3"]):
            with listener.accept()[0] as tcp:
                peer = Peer(tcp)
                peer.hear()
                for answer in answers:
                    peer.say(answer) if answer else [peer.hear(), peer.hear()]

    with socket.create_server((HOST, 0)) as listener, beside(run):
        place = DxpAddress(HOST, listener.getsockname()[1], SECONDS)
        for played in (1, 0):
            games = challenge(material(1), place, np.random.default_rng())
            for _ in range(played):
                assert next(games).outcome == Outcome(BLACK, "resignation")
            with pytest.raises(EngineError, match="Peer wants to play no game"):
                next(games)


# pydraughts (not py-draughts, which has the same import name and other rules).


@pytest.fixture
def pydraughts(monkeypatch):
    import draughts.engine
    from draughts.engines.dxp_communication import dxp_classes

    monkeypatch.setattr(dxp_classes, "time", SimpleNamespace(sleep=lambda seconds: None))
    # It must have read the first message by then.
    monkeypatch.setattr(connection, "PAUSE_SECONDS", 1.0)
    return draughts


def their_game(draughts, port, colour, seed):
    """Play a game of pydraughts at random against the program at `port`."""
    engine = draughts.engine.DXPEngine(options={"port": port})
    board, rng = draughts.Board(variant="english"), random.Random(seed)
    mine = (draughts.BLACK, draughts.WHITE)[colour]
    while not board.is_over():
        moves = board.legal_moves()
        board.push(rng.choice(moves) if board.turn == mine else engine.play(board).move)
    if board.turn != mine:
        engine.sender.send_move(board.move_stack[-1])
    engine.quit()
    winner = {draughts.BLACK: BLACK, draughts.WHITE: WHITE}.get(board.winner())
    return Board(board.fen, max_moves=None), len(board.move_stack), winner


def test_pydraughts_plays_against_our_server(pydraughts):
    colours = (BLACK, WHITE)
    with served(material(1), 2) as (address, played):
        theirs = [their_game(pydraughts, address.port, colour, 0) for colour in colours]
    for (board, plies, winner), game, colour in zip(theirs, played, colours, strict=True):
        assert game.board == board
        assert (game.board.ply, game.outcome.winner) == (plies, winner)
        assert game.colour == 1 - colour


def test_pydraughts_plays_as_our_opponent(pydraughts):
    opponent = DxpAgent(port=0, listens=True, timeout=SECONDS)
    with beside(lambda: their_game(pydraughts, opponent.address.port, BLACK, 1)) as results:
        game = plain_game(opponent, material(1), max_moves=None)
        opponent.game_over(game, BLACK)
    opponent.close()
    board, plies, winner = results[0]
    assert game == board
    assert (game.ply, game.outcome().winner) == (plies, winner)


# The command line.


LINE = r"game [12]: (Black|White) against {}, \d+ plies: (?:won|lost|drawn) \(.+\)"


def test_command_serves_and_connects(tmp_path):
    port, processes = free_port(), []
    for words in ("--listen --agent random --seed 1", "--connect --agent heuristic --moves 80"):
        if processes:
            reached(port)
        pdn_file = tmp_path / f"{len(processes)}.pdn"
        pdn_file.write_text('[Event "Earlier"] 1. 11-15 {kept} *')
        line = f"-m agents.external.dxp {words} --port {port} --games 2 --pdn {pdn_file}"
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        processes.append(subprocess.Popen([sys.executable, *line.split()], cwd=ROOT, **pipes))
    shown = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], shown
    lines = [text.splitlines() for text, _ in shown]
    assert lines[0].pop(0) == f"random waits on {HOST} port {port}"
    for text, other in zip(lines, ("heuristic", "random"), strict=True):
        results = [re.fullmatch(LINE.format(other), line) for line in text]
        assert [result[1] for result in results] in (["White", "Black"], ["Black", "White"])
    (kept, *first), second = (pdn.load(tmp_path / name) for name in ("0.pdn", "1.pdn"))
    assert [kept, *first] == second
    assert kept.tags == {"Event": "Earlier"}
    assert [game.tags["Black"] for game in first] == ["heuristic", "random"]
    for game in first:
        outcome = game.board().outcome()
        assert outcome is None or game.result == ("1-0", "0-1")[outcome.winner]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--connect --pdn nowhere/a.pdn", "--pdn is a file in a folder that exists"),
        ("--connect --timeout nan", "--timeout must be above 0 and at most 1,000,000 seconds"),
        ("--connect --host=", "--host must be a name or a number"),
        ("--connect --moves 1000", "--moves must be 0 to 999, not 1000"),
        ("--connect --games 0", "--games must be at least 1, not 0"),
        ("--listen --agent nobody", "error: unknown agent 'nobody'"),
        ("--listen --port -1", "error: --port must be 0 to 65535, not -1"),
        ("--listen --minutes 0", "error: --minutes has no effect with --listen, where the other"),
        ("", "listen"),
    ],
)
def test_command_reports_errors(monkeypatch, capsys, tmp_path, options, message):
    monkeypatch.chdir(tmp_path)
    status, _, error = run_here(cli, options.split(), monkeypatch, capsys)
    assert status != 0
    assert message in error
