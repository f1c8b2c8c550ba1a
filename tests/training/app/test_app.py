"""The web application without a browser: games, errors, archive, security."""

import itertools
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from threading import Event, Timer
from types import SimpleNamespace

import httpx2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

import agents
from agents.agent import reseed
from agents.analysis import Analysis, analyse_until
from agents.blondie.architecture import BLONDIE_2001
from agents.limits import Limits
from agents.weights import WeightsMetadata, save_weights
from checkers_env import BLACK, WHITE, Board, fen, openings, pdn
from tests import DATA
from tests.agents.search.test_alphabeta import judge_by, move_values, random_boards
from tests.training.commands import SECONDS
from training.app import analysis_page, game_archive, game_store, serve
from training.app.agent_catalog import DEFAULT_AGENT, JUDGE, AgentCatalog, zoo_elo
from training.app.app import create_app
from training.app.game import GameClock, HumanGame
from training.app.game_setup import GameSetup, TimeControl, choose_opening, create_board
from training.app.messages import describe_move, explain_forced_capture, explain_illegal_move
from training.app.opponents import OPPONENTS, STRONG_LEVELS
from training.app.preparation import Preparation, warm_up
from training.app.request_body import check_fields
from training.app.security import HEADERS, MAX_BYTES, is_loopback
from training.app.serialize import analysis_to_json, move_to_json
from training.rating.thesis_ratings import updated_rating

HOST = "http://127.0.0.1:8024"
SIDES = ("black", "white")
FORCED = "W:W30,31,22,K6:B26,18,17,9,3,K14"  # 30x23, 22x15, 22x13 and 6x13
ROUTES = "B:W6,7,14,15:BK2"  # 2x9x18x11x2 and 2x11x18x9x2: the same ends
STRANGERS = """
class Failing:
    def act(self, board):
        raise RuntimeError("it has no idea")


class Text:
    def act(self, board):
        return str(board.legal_moves[0])


class Illegal:
    def act(self, board):
        from checkers_env import Move
        return Move((1, 32))


class Learner:
    heard = []

    def act(self, board):
        return board.legal_moves[0]

    def game_over(self, board, side):
        self.heard.append((board.fen(), side))
"""


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    path = tmp_path_factory.mktemp("code") / "app_strangers.py"
    path.write_text(STRANGERS)
    made = {name: f"{path}:{name}" for name in ("Failing", "Illegal", "Learner", "Text")}
    return made | {"Draws": f"{DATA / 'strangers.py'}:Draws"}


@pytest.fixture
def games(tmp_path):
    return tmp_path / "games"


@pytest.fixture
def client(games, tmp_path, strangers):
    with serving(games, extra=list(strangers.values()), runs=[tmp_path / "runs"]) as client:
        yield client


@contextmanager
def serving(games, **options):
    with TestClient(create_app(games, **options), base_url=HOST) as client:
        yield client


def begin(client, **wanted):
    answer = client.post("/api/games", json={"agent": "random", "colour": "black", **wanted})
    assert answer.status_code == 201, answer.text
    return answer.json()


def do(client, state, action, **body):
    answer = client.post(f"/api/games/{state['key']}/{action}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client, state, action, **body):
    """Return the reason for which an action is refused; it changes nothing."""
    before = client.get(f"/api/games/{state['key']}").json()
    answer = client.post(f"/api/games/{state['key']}/{action}", json=body)
    assert answer.status_code == 400, answer.text
    assert client.get(f"/api/games/{state['key']}").json() == before
    return answer.json()["error"]


def board_shown(state):
    """Return the board of a game's frames; compare each frame with it."""
    frames = state["frames"]
    board = Board(frames[0]["fen"], max_moves=None, repetition=3, no_progress=40)
    assert frames[0]["move"] is None
    for frame in frames[1:]:
        move = board.parse_move(frame["move"]["text"])
        assert frame["move"]["squares"] == list(move.squares)
        assert frame["move"]["captured"] == list(move.captured)
        board.push(move)
        assert frame["fen"] == board.fen()
    return board


def play_out(client, state, choose):
    """Play to the end with moves that the server calls legal."""
    while state["status"] != "over":
        board = board_shown(state)
        assert board.outcome() is None
        assert state["status"] == ("yours" if SIDES[board.turn] == state["side"] else "thinking")
        if state["status"] == "thinking":
            assert "legal" not in state["frames"][-1]
            state = do(client, state, "reply")
            continue
        legal = state["frames"][-1]["legal"]
        assert [move["squares"] for move in legal] == [list(m.squares) for m in board.legal_moves]
        assert bool(state["forced_capture"]) == bool(board.legal_moves[0].captured)
        state = do(client, state, "move", squares=choose(legal)["squares"])
    return state


# Whole games


@pytest.mark.parametrize(("seed", "colour", "agent"), [
    (0, "black", "random"),
    (1, "white", "random"),
    (2, "white", "heuristic"),
    (3, "black", "material"),
    (4, "black", "mcts-ept"),
])  # fmt: skip
def test_game_to_its_end_is_legal_and_archived(client, games, seed, colour, agent):
    rng = np.random.default_rng(seed)
    limits = {"amount": 2} if agent == "material" else {}
    limits = {"amount": 50} if agent == "mcts-ept" else limits
    state = begin(client, agent=agent, colour=colour, opening="two-move", name="Ada", **limits)
    assert state["opening_plies"] == 2
    assert " ".join(f["move"]["text"] for f in state["frames"][1:3]) in openings.TWO_MOVE
    state = play_out(client, state, lambda legal: legal[rng.integers(len(legal))])
    board = board_shown(state)
    outcome = board.outcome()
    assert state["result"] == {None: "1/2-1/2", BLACK: "1-0", WHITE: "0-1"}[outcome.winner]
    (path,) = games.glob("*.pdn")
    (game,) = pdn.load(path)
    assert (game.moves, game.result) == (tuple(board.moves), state["result"])
    assert game.tags[colour.title()] == "Ada"
    assert game.tags[f"{colour.title()}Type"] == "human"
    assert game.tags["Termination"] == state["reason"]
    assert client.get(f"/api/games/{state['key']}/pdn").text == path.read_text()
    assert client.get("/api/archive.pdn").text == path.read_text()


def test_game_is_drawn_by_repetition(client, games):
    state = begin(client, colour="white", opening="B:WK32:BK1,K28", agent="heuristic")
    state = play_out(client, state, lambda legal: legal[0])
    assert board_shown(state).outcome().reason in ("repetition", "no progress", "no pieces")
    assert state["result"] == pdn.loads(client.get("/api/archive.pdn").text)[0].result


def test_multi_jump_is_made_square_by_square(client):
    state = begin(client, opening=ROUTES)
    legal = state["frames"][-1]["legal"]
    assert [move["squares"] for move in legal] == [[2, 9, 18, 11, 2], [2, 11, 18, 9, 2]]
    assert "The capture is not finished" in refused(client, state, "move", squares=[2, 9, 18])
    assert "goes on as long as the same piece can jump" in state["forced_capture"]
    after = do(client, state, "move", squares=[2, 11, 18, 9, 2])
    assert after["frames"][-1]["move"] == {
        "text": "2x11x18x9x2", "squares": [2, 11, 18, 9, 2], "captured": [7, 15, 14, 6],
    }  # fmt: skip
    assert (after["status"], after["result"]) == ("over", "1-0")


def test_man_becomes_a_king(client):
    state = begin(client, opening="B:W5,9:B25", agent="material")
    after = do(client, state, "move", squares=[25, 30])
    assert after["frames"][-1]["fen"] == "W:W5,9:BK30"
    assert after["message"] == "Black's man moves from 25 to 30, and becomes a king."


def test_two_tabs_are_two_games(client):
    one, other = begin(client), begin(client, colour="white")
    assert one["key"] != other["key"]
    one = do(client, one, "move", squares=[11, 15])
    assert client.get(f"/api/games/{other['key']}").json()["frames"] == other["frames"]
    other = do(client, other, "reply")
    assert client.get(f"/api/games/{one['key']}").json() == one


def test_game_may_start_from_a_ballot_a_position_or_moves(client):
    card = begin(client, opening=openings.THREE_MOVE[7])
    moves = [frame["move"]["text"] for frame in card["frames"][1:]]
    assert (" ".join(moves), card["status"]) == (openings.THREE_MOVE[7], "thinking")
    assert begin(client, opening=" B:WK32:BK1,K28 ")["frames"][0]["fen"] == "B:WK32:BK1,K28"
    text = '[Event "x"]\n\n1. 11-15 23-19 2. 8-11 *'
    game = begin(client, pdn=text)
    assert [frame["move"]["text"] for frame in game["frames"][1:]] == ["11-15", "23-19", "8-11"]
    given = pdn.Game({"FEN": ROUTES}, (), "*")
    assert begin(client, pdn=pdn.dumps([given]))["frames"][0]["fen"] == Board(ROUTES).fen()


def test_colour_is_random_unless_given(client):
    assert {begin(client, colour=None)["side"] for _ in range(30)} == set(SIDES)


# What is asked for beside moves


def test_takeback_undoes_the_last_moves(client):
    state = begin(client)
    assert refused(client, state, "take-back") == "There is no move of yours to take back."
    first = do(client, state, "move", squares=[11, 15])
    back = do(client, first, "take-back")
    assert (back["frames"], back["status"]) == (state["frames"], "yours")
    again = do(client, back, "move", squares=[11, 15])
    again = do(client, again, "reply")
    assert len(again["frames"]) == 3
    assert do(client, again, "take-back")["frames"] == state["frames"]


def test_agent_answers_alike_after_a_takeback(client):
    state = do(client, begin(client), "move", squares=[11, 15])
    one = do(client, state, "reply")
    state = do(client, do(client, one, "take-back"), "move", squares=[11, 15])
    assert do(client, state, "reply")["frames"][-1]["move"] == one["frames"][-1]["move"]


def test_hint_is_the_agents_own_move(client):
    state = begin(client, agent="blondie24", amount=3, opening=FORCED, colour="white")
    answer = do(client, state, "hint")
    expected = agents.make("blondie24", depth=3).act(Board(FORCED))
    assert answer["hint"]["move"] == move_to_json(expected)
    assert answer["frames"] == state["frames"]
    assert f"would play {expected} in your place" in answer["message"]


def test_draw_offer_is_decided_by_the_evaluation(client, monkeypatch):
    monkeypatch.setattr("agents.analysis.LEAST_SECONDS", 60.0)
    lost, won = "B:W5,6,7,8:BK32", "B:W32:BK1,K2,K3,K9"
    for opening, accepted in ((lost, False), (won, True)):
        state = begin(client, agent="material", amount=1, opening=opening)
        assert state["status"] == "yours"
        declined = do(client, state, "draw")
        assert declined["message"].endswith("declined: the game has hardly begun.")
        state = do(client, state, "move", squares=state["frames"][-1]["legal"][0]["squares"])
        state = do(client, state, "reply")
        value = state["frames"][-1]["analysis"]["score"]
        assert (value <= 0) == accepted
        answer = do(client, state, "draw")
        assert (answer["result"] == "1/2-1/2") == accepted
        words = "no advantage" if accepted else "an advantage"
        said = f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")
        assert f": material (depth 1) sees {words} for itself, at {said}." in answer["message"]


@pytest.mark.parametrize(("opening", "accepted"), [
    ("B:WK32,K31:BK1,K2", True), ("B:WK32,K31,K30:BK1,K2", False), ("B:WK32:BK1,K2", True),
])  # fmt: skip
def test_agent_without_an_evaluation_counts_pieces(client, opening, accepted):
    state = begin(client, opening=opening)
    state = do(client, state, "move", squares=state["frames"][-1]["legal"][0]["squares"])
    state = do(client, do(client, state, "reply"), "draw")
    assert (state["status"] == "over") == accepted
    words = "no more pieces than you" if accepted else "more pieces"
    assert state["message"].endswith(f": random has {words}.")


@pytest.mark.parametrize(("colour", "result"), [("black", "0-1"), ("white", "1-0")])
def test_resigned_game_is_lost(client, games, colour, result):
    state = begin(client, colour=colour)
    over = do(client, state, "resign")
    assert (over["status"], over["result"]) == ("over", result)
    assert pdn.load(next(games.glob("*.pdn")))[0].result == result
    for action in ("resign", "draw", "take-back", "hint"):
        assert refused(client, over, action) == "The game is over."
    assert refused(client, over, "move", squares=[11, 15]) == "The game is over."
    assert do(client, over, "reply") == over


def test_player_cannot_move_in_the_agents_turn(client):
    state = begin(client, colour="white")
    for action in ("hint", "draw"):
        assert refused(client, state, action) == "It is random's turn."
    assert refused(client, state, "move", squares=[22, 18]) == "It is random's turn."


def test_searching_agent_can_be_told_to_move_and_blocks_nobody(client):
    state = begin(client, agent="blondie24", amount=64, seconds=60, colour="white")
    live = client.app.state.store.in_memory(state["key"])
    answers = []
    thinker = threading.Thread(target=lambda: answers.append(do(client, state, "reply")))
    thinker.start()
    while not live.lock.locked():
        pass
    other = do(client, begin(client), "move", squares=[11, 15])
    assert len(do(client, other, "reply")["frames"]) == 3
    while thinker.is_alive():
        client.post(f"/api/games/{state['key']}/interrupt", json={})
        thinker.join(0.05)
    assert len(answers[0]["frames"]) == 2
    assert answers[0]["frames"][-1]["analysis"]["depth"] < 64
    assert live.game.interruptions
    assert refused(client, answers[0], "interrupt") == "The agent is not thinking."


def test_analysis_of_a_past_position_is_dropped(client):
    state = begin(client, agent="blondie24", amount=64, seconds=60)
    first = do(client, state, "move", squares=[11, 15])
    live = client.app.state.store.in_memory(state["key"])
    answers = []
    thinker = threading.Thread(target=lambda: answers.append(do(client, first, "reply")))
    thinker.start()
    while not live.lock.locked():
        pass
    back = do(client, first, "take-back")
    thinker.join()
    assert answers[0]["frames"] == back["frames"] == state["frames"]


def test_move_ends_the_search_for_a_hint(client):
    state = begin(client, agent="blondie24", amount=64, seconds=60)
    live = client.app.state.store.in_memory(state["key"])
    url, answers = f"/api/games/{state['key']}/hint", []
    thinker = threading.Thread(target=lambda: answers.append(client.post(url, json={})))
    thinker.start()
    while not live.lock.locked():
        pass
    do(client, state, "move", squares=[11, 15])
    thinker.join()
    assert answers[0].status_code == 409


# Agents of others


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Failing", "it has no idea"),
        ("Illegal", "act(board) returned 1-32, which is illegal in W:"),
        ("Text", "returned '24-20', which is no Move of board.legal_moves"),
    ],
)
def test_failing_agent_leaves_the_game_unchanged(client, strangers, name, words):
    state = begin(client, agent=strangers[name])
    state = do(client, state, "move", squares=[11, 15])
    answer = client.post(f"/api/games/{state['key']}/reply", json={})
    assert answer.status_code == 502
    assert words in answer.json()["error"]
    assert client.get(f"/api/games/{state['key']}").json() == state
    assert do(client, state, "take-back")["status"] == "yours"


def test_engine_that_does_not_start_is_reported(games):
    with serving(games, extra=["hub:false"]) as client:
        answer = client.post("/api/games", json={"agent": "hub:false"})
        assert answer.status_code == 502
        assert answer.json()["error"]
        assert client.post("/api/games", json={"agent": "random"}).status_code == 201


def test_slow_disk_delays_its_own_game_only(client, games, monkeypatch):
    state, write = begin(client), game_store.write_atomically
    begun, disk = threading.Event(), threading.Event()

    def slow(path, content):
        begun.set()
        assert disk.wait(60)
        write(path, content)

    monkeypatch.setattr(game_store, "write_atomically", slow)
    answers, threads = {}, []

    def send(action, **body):
        def work():
            answers[action] = do(client, state, action, **body)

        threads.append(threading.Thread(target=work))
        threads[-1].start()

    try:
        send("move", squares=[11, 15])
        assert begun.wait(60)
        found = []
        other = threading.Thread(target=lambda: found.append(client.get("/api/archive")))
        other.start()
        other.join(20)
        assert [answer.status_code for answer in found] == [200]
        send("take-back")
        while not client.app.state.store.in_memory(state["key"]).game.takebacks:
            time.sleep(0.01)
        assert not answers  # nothing is shown that is not on the disk
    finally:
        disk.set()
        for thread in threads:
            thread.join()
    assert (len(answers["move"]["frames"]), len(answers["take-back"]["frames"])) == (2, 1)
    written = json.loads((games / "tabs" / f"{state['key']}.json").read_text())
    assert (written["moves"], written["takebacks"]) == ([], 1)
    assert client.app.state.store.in_memory(state["key"]).is_saved


def test_agent_that_hangs_at_the_end_keeps_nobody_waiting(client, monkeypatch):
    monkeypatch.setattr(game_store, "GAME_OVER_SECONDS", 0.1)
    state, freed = begin(client), threading.Event()
    live = client.app.state.store.in_memory(state["key"])
    live.agent = SimpleNamespace(game_over=lambda board, side: freed.wait(60))
    try:
        assert do(client, state, "resign")["status"] == "over"
        assert live.is_saved
    finally:
        freed.set()


def test_learning_agent_is_told_the_result_once(client, strangers):
    state = begin(client, agent=strangers["Learner"], opening=ROUTES)
    over = do(client, state, "move", squares=[2, 11, 18, 9, 2])
    client.get(f"/api/games/{over['key']}")
    heard = client.app.state.store.in_memory(over["key"]).agent.heard
    assert heard == [(over["frames"][-1]["fen"], WHITE)]


def weight_file(folder, seed=0):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "champion.safetensors"
    genome = np.random.default_rng(seed).normal(0, 0.2, BLONDIE_2001.genome_size)
    save_weights(
        path, genome, WeightsMetadata("blondie24-2001", 1.5, "blondie24-2001", 0, 3, depth=2)
    )
    return str(path)


def test_champion_of_a_run_can_be_played_and_other_files_cannot(client, tmp_path):
    state = begin(client, agent=weight_file(tmp_path / "runs" / "mine"), colour="white")
    assert re.fullmatch(r"mine \(depth 2\) #[0-9a-f]{6}", state["label"])
    assert do(client, state, "reply")["frames"][-1]["analysis"]["depth"] == 2
    assert client.get("/", params={"agent": state["agent"]}).status_code == 200
    elsewhere = weight_file(tmp_path / "elsewhere")
    sneaky = str(tmp_path / "runs" / ".." / "elsewhere" / "champion.safetensors")
    (tmp_path / "runs" / "code.py").write_text("raise SystemExit")
    code = (f"{tmp_path}/runs/code.py:Agent", "hub:true", "os:system")
    ending = "x" + "/.." * 30 + state["agent"]  # as a path the file's, whatever is before it
    programs = [f"{it}{ending}" for it in ("hub:touch ran ", "continual:", "openspiel:", "dxp:")]
    for text in (elsewhere, sneaky, *code, *programs):
        for answer in (
            client.post("/api/games", json={"agent": text}),
            client.get("/api/explain", params={"agent": text, "fen": fen.START}),
            client.get("/", params={"agent": text}),
        ):
            assert answer.status_code == 400, text
            assert "is on offer" in answer.text


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pipe", "Not a regular file"),
        ("circle", "not a weight file"),
        ("folder", "Is a directory"),
        ("x" * 5000, "File name too long"),
        ("missing", "there is no weight file"),
        ("nul\0", "null byte"),
    ],
)
def test_invalid_weight_file_is_refused_with_a_reason(client, tmp_path, name, words):
    runs = tmp_path / "runs"
    (runs / "folder.safetensors").mkdir(parents=True)
    os.mkfifo(runs / "pipe.safetensors")
    (runs / "circle.safetensors").symlink_to(runs / "circle.safetensors")
    agent = str(runs / f"{name}.safetensors")
    for answer in (
        client.post("/api/games", json={"agent": agent}),
        client.get("/api/explain", params={"agent": agent, "fen": fen.START}),
        client.post("/api/compare", json={"black": {"agent": agent}, "white": {"agent": agent}}),
        client.get("/", params={"agent": agent}),
    ):
        assert answer.status_code == 400
        assert words in answer.text


def test_folder_of_a_run_with_a_link_out_of_it_is_not_played(client, tmp_path):
    elsewhere = weight_file(tmp_path / "elsewhere")
    folder = tmp_path / "runs" / "linked"
    folder.mkdir(parents=True)
    (folder / "champion.safetensors").symlink_to(elsewhere)
    for agent in (f"{folder}", f"{folder}/", f"{folder}/champion.safetensors"):
        answer = client.post("/api/games", json={"agent": agent})
        assert answer.status_code == 400
        assert "is on offer" in answer.text


def test_circle_of_links_among_the_games_keeps_nobody_from_playing(client, games):
    (games / "tabs").mkdir(parents=True)
    (games / "tabs" / "a.json").symlink_to(games / "tabs" / "a.json")
    begin(client)


# Named opponents and clocks


def test_named_opponents_have_the_elo_of_the_zoo():
    names = {"counter-2": "material (depth 2)", "counter-4": "material"}
    rated = {it.id: it.elo for it in OPPONENTS if not it.levels}
    assert rated == {name: zoo_elo()[names.get(name, name)] for name in rated}
    assert [it.elo for it in OPPONENTS] == sorted(it.elo for it in OPPONENTS)
    for before, after in itertools.pairwise(STRONG_LEVELS):
        assert before.nodes < after.nodes
        assert before.elo < after.elo


def test_each_opponent_has_a_face(client):
    faces = client.get("/static/icon.svg").text
    assert all(f'<view id="{opponent.id}"' in faces for opponent in OPPONENTS)


def test_named_opponent_plays_with_its_own_limits(client):
    state = begin(client, agent=None, opponent="counter-2", colour="white")
    assert (state["label"], state["opponent"]) == ("Beginner", "counter-2")
    state = do(client, state, "reply")
    assert state["frames"][-1]["analysis"]["depth"] == 2
    record = client.get(f"/api/games/{state['key']}/pdn").text
    assert '[Black "material (depth 2)"]' in record
    strong = begin(client, agent=None, opponent="strong", level=3)
    assert strong["label"] == "Strong, level 3"


def make_timed(side=BLACK, minutes=1.0, increment=2.0, agent="random"):
    """Return a game with a clock, and a list whose item is the present time."""
    control, now = TimeControl(minutes, increment), [0.0]
    game = HumanGame(GameSetup(agent, agent, Limits(depth=4), side, clock=control))
    game.clock = GameClock(control, lambda: now[0])
    return game, now


def test_clock_runs_from_the_second_move_on_and_adds_the_increment():
    game, now = make_timed()
    now[0] = 1000.0
    game.play_move([11, 15])
    assert game.clock.left == [60, 60]
    game.play_agent_move(Analysis(game.board.parse_move("22-18"), seconds=5.0))
    assert game.clock.left == [60, 57]
    now[0] += 10
    assert game.clock.remaining(BLACK) == 50
    game.play_move([15, 22])
    assert game.clock.left == [52, 57]
    with pytest.raises(ValueError, match="with a clock"):
        game.take_back()


def test_flag_falls_for_either_side():
    game, now = make_timed()
    game.play_move([11, 15])
    game.play_agent_move(Analysis(game.board.parse_move("22-18")))
    now[0] += 60.5
    game.play_move([15, 22])
    assert (game.result, game.reason) == ("0-1", "White wins: Black's time is up.")
    assert game.board.ply == 2
    game, now = make_timed()
    game.play_move([11, 15])
    game.play_agent_move(Analysis(game.board.parse_move("22-18"), seconds=60.5))
    assert (game.result, game.board.ply) == ("1-0", 1)
    assert game.to_pdn().tags["TimeControl"] == "60+2"


def test_agent_shares_out_its_time():
    game, _ = make_timed(WHITE, minutes=1, increment=2)
    assert game.limits() == Limits(depth=4, seconds=pytest.approx(13.6), share=pytest.approx(3.4))
    game.clock.left[BLACK] = 1.0
    assert game.limits().seconds == 0.5


def test_clock_survives_the_server(games, tmp_path):
    with serving(games) as client:
        state = begin(client, clock={"minutes": 3, "increment": 2})
        do(client, state, "move", squares=[11, 15])
        before = do(client, state, "reply")["clock"]
    with serving(games) as client:
        after = client.get(f"/api/games/{state['key']}").json()["clock"]
    assert after["running"] == before["running"] == "black"
    assert after["black"] == pytest.approx(before["black"], abs=5)


# The judge, and positions


def test_judge_is_strong_with_a_number_of_positions(client):
    moves = ["11-15", "22-18", "15x22"]
    answer = client.post("/api/analysis", json={"moves": moves, "nodes": 500}).json()
    board = create_board(fen.START, moves)
    expected = agents.analyse("strong", board, nodes=500)
    (line,) = answer["lines"]
    assert line["pv"] == list(map(str, expected.pv))
    assert (line["score"], line["nodes"]) == (expected.score, expected.nodes)
    assert answer["exact"] is None
    assert str(reseed(agents.make("strong", nodes=500), 3).act(board)) == line["pv"][0]


def test_several_lines_are_the_best_moves(client):
    body = {"start": "B:W18,26,30:B5,10,12", "lines": 10, "agent": "material", "amount": 4}
    lines = client.post("/api/analysis", json=body).json()["lines"]
    board = Board(body["start"])
    assert {line["pv"][0] for line in lines} == set(map(str, board.legal_moves))
    scores = [line["score"] for line in lines]
    assert scores == sorted(scores, reverse=True)
    best = client.post("/api/analysis", json=body | {"lines": 1}).json()["lines"][0]
    assert best["score"] == scores[0]


def test_endings_have_exact_results(client):
    body = {"start": "W:WK15,20:B12,K28", "nodes": 10}  # "First position": docs/endgames.md
    assert client.post("/api/analysis", json=body).json()["exact"] == {"value": 1, "plies": 81}
    body["start"] = body["start"].replace("W:", "B:", 1)
    assert client.post("/api/analysis", json=body).json()["exact"] == {"value": 0, "plies": None}
    over = client.post("/api/analysis", json={"start": "B:W5:B"}).json()
    assert over == {"label": "strong", "lines": [], "exact": {"value": -1, "plies": 0}}


def test_no_request_waits_for_the_tables(client, monkeypatch):
    monkeypatch.setattr(analysis_page, "TABLES_PREPARATION", SimpleNamespace(seconds=1.0))
    body = {"start": "W:WK15,20:B12,K28", "nodes": 10}
    answer = client.post("/api/analysis", json=body).json()
    assert answer["exact"] is None
    assert answer["lines"]


def test_position_has_its_moves_and_its_opening(client):
    card, name = next(iter(openings.NAMES.items()))
    answer = client.post("/api/position", json={"moves": card.split()}).json()
    assert answer["opening"] == name
    assert len(answer["frames"]) == 4
    legal = [move["text"] for move in answer["frames"][-1]["legal"]]
    assert legal == list(map(str, create_board(fen.START, card.split()).legal_moves))
    assert client.post("/api/position", json={"pdn": "1. 11-15 22-18 *"}).json()["result"] == "*"


# Requests that make no sense

GAME = "/api/games/{game}"
BAD = [
    ("POST", "/api/games", {"agent": "nobody"}, 400, "'nobody' is on offer: choose one of the"),
    ("POST", "/api/games", {"agent": "strng"}, 400, "on offer: did you mean 'strong'?"),
    ("POST", "/api/games", {"opening": "twomove"}, 400, "did you mean 'two-move'?"),
    ("POST", "/api/games", {"agent": 7}, 400, "agent must be a text"),
    ("POST", "/api/games", {"colour": "red"}, 400, "colour must be black or white"),
    ("POST", "/api/games", {"opening": "11-16 1-2"}, 400, "'1-2' is illegal"),
    ("POST", "/api/games", {"opening": "first"}, 400, "is not a move"),
    ("POST", "/api/games", {"opening": "B:W1"}, 400, "bad FEN"),
    ("POST", "/api/games", {"opening": "B:W5:B"}, 400, "nothing to play"),
    ("POST", "/api/games", {"pdn": "1. 11-12"}, 400, "line 1, column 4"),
    ("POST", "/api/games", {"pdn": "{}"}, 400, "0 games"),
    ("POST", "/api/games", {"pdn": "1. 11-15 *", "opening": "11-15"}, 400, "not both"),
    ("POST", "/api/games", {"name": "x" * 61}, 400, "at most 60"),
    ("POST", "/api/games", {"name": "a\u0000b"}, 400, "printable"),
    ("POST", "/api/games", {"rating": 0}, 400, "from 1 to 3000"),
    ("POST", "/api/games", {"rating": 1600.5}, 400, "rating must be a whole number"),
    ("POST", "/api/games", {"rating": True}, 400, "rating must be a whole number"),
    ("POST", "/api/games", {"amount": 65}, 400, "depth must be from 1 to 64"),
    ("POST", "/api/games", {"amount": 0}, 400, "depth must be from 1 to 64"),
    ("POST", "/api/games", {"seconds": 0}, 400, "above 0, and 60 at most"),
    ("POST", "/api/games", {"seconds": 61}, 400, "above 0, and 60 at most"),
    ("POST", "/api/games", {"agent": "random", "amount": 3}, 400, "does not search"),
    ("POST", "/api/games", {"agent": "mcts", "amount": 10**7}, 400, "simulations must be"),
    ("POST", "/api/games", {"opponent": "nobody"}, 400, "No opponent 'nobody': there are random"),
    ("POST", "/api/games", {"opponent": "c10", "agent": "c10"}, 400, "not both"),
    ("POST", "/api/games", {"opponent": "c10", "level": 1}, 400, "C10 has no levels"),
    ("POST", "/api/games", {"opponent": "strong", "level": 99}, 400, "level must be from 1 to"),
    ("POST", "/api/games", {"clock": {}}, 400, "needs its minutes"),
    ("POST", "/api/games", {"clock": {"minutes": 0}}, 400, "more than 0 minutes"),
    ("POST", "/api/games", {"clock": {"minutes": 1e300}}, 400, "180 at most"),
    ("POST", "/api/games", {"clock": {"minutes": 1, "increment": -1}}, 400, "from 0 to 60"),
    ("POST", "/api/games", {"clock": "5+0"}, 400, "clock must be an object"),
    ("POST", "/api/games", {"depth": 3}, 400, "There is no field 'depth'"),
    ("POST", "/api/games", [], 400, "JSON object"),
    ("POST", GAME + "/move", {}, 400, "list of squares"),
    ("POST", GAME + "/move", {"squares": "11-15"}, 400, "squares must be a list"),
    ("POST", GAME + "/move", {"squares": [11.5, True]}, 400, "list of squares"),
    ("POST", GAME + "/move", {"squares": [0, 33]}, 400, "squares from 1 to 32"),
    ("POST", GAME + "/move", {"squares": [11, 12]}, 400, "Square 12 is taken"),
    ("POST", GAME + "/fly", {}, 404, "Not Found"),
    ("GET", GAME + "/move", None, 405, "Method Not Allowed"),
    ("GET", "/api/games/" + "x" * 22, None, 404, "no such game"),
    ("GET", "/api/games/..%2F..%2Fsecret", None, 404, ""),
    ("POST", "/api/games/nonsense/resign", {}, 404, "no such game"),
    ("GET", "/api/explain", None, 400, "Ask for"),
    ("GET", "/api/explain?agent=random&fen=B", None, 400, "bad FEN"),
    ("POST", "/api/compare", {"black": {"agent": "random"}}, 400, "Both sides need an agent"),
    ("POST", "/api/compare", {"black": {"agent": "x"}, "white": {}}, 400, "No agent 'x'"),
    ("POST", "/api/compare", {"black": {"name": "x"}}, 400, "no field 'name'"),
    ("POST", "/api/compare", {"black": "random"}, 400, "black must be an object"),
    ("POST", "/api/compare/move", {"moves": [1]}, 400, "list of texts"),
    ("POST", "/api/compare/move", {"moves": ["11-12"]}, 400, "illegal"),
    ("POST", "/api/compare/move", {"start": "nonsense"}, 400, "bad FEN"),
    ("POST", "/api/compare/move", {"start": "B:W5:B"}, 400, "The game is over"),
    ("POST", "/api/compare/move", {"player": {"agent": "random"}, "seed": -1}, 400, "seed must"),
    ("POST", "/api/compare/move", {"player": None}, 400, "need an agent"),
    ("POST", "/api/compare/pdn", {"black": "a\nb"}, 400, "line break"),
    ("POST", "/api/position", {"start": "B:W1,1:B2"}, 400, "bad FEN"),
    ("POST", "/api/position", {"moves": [1]}, 400, "list of texts"),
    ("POST", "/api/position", {"moves": ["11-15", "11-15"]}, 400, "'11-15' is illegal"),
    ("POST", "/api/position", {"pdn": "1. 11-15 *", "start": "B:W1:B2"}, 400, "not both"),
    ("POST", "/api/position", {"pdn": "x" * 100_001}, 400, "at most 100000"),
    ("POST", "/api/analysis", {"lines": 0}, 400, "lines must be from 1 to 10"),
    ("POST", "/api/analysis", {"nodes": 0}, 400, "nodes must be from 1 to 1,000,000"),
    ("POST", "/api/analysis", {"amount": 3}, 400, "limited by nodes alone"),
    ("POST", "/api/analysis", {"agent": "c10", "nodes": 3}, 400, "nodes is for the judge"),
    ("POST", "/api/analysis", {"agent": "nobody"}, 400, "No agent 'nobody'"),
    ("POST", "/api/analysis", {"start": "nonsense"}, 400, "bad FEN"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "status", "words"), BAD)
def test_invalid_request_is_refused_with_a_reason(client, method, path, body, status, words):
    path = path.replace("{game}", begin(client)["key"])
    answer = client.request(method, path, **({} if body is None else {"json": body}))
    assert answer.status_code == status
    assert words in answer.json()["error"]


@pytest.mark.parametrize(("content", "kind", "words"), [
    (b"{", "application/json", "no JSON"),
    (b"[" * 100_000, "application/json", "no JSON"),
    (b"\xff", "application/json", "no JSON"),
    (b'{"rating": ' + b"9" * 5000 + b"}", "application/json", "no JSON"),
    (b'{"seconds": NaN}', "application/json", "above 0"),
    (b'{"name": "\\ud800"}', "application/json", "half a character"),
    (b'{"\\ud800": 1}', "application/json", "no field"),
    (b'{"opening": "\\ud800"}', "application/json", "half a character"),
    (b'{"name": "' + b"x" * 200_000 + b'"}', "application/json", "at most"),
    (b"{}", "text/plain", "application/json"),
    (b"{}", "", "without a type"),
])  # fmt: skip
def test_body_that_is_not_a_request_is_refused(client, content, kind, words):
    headers = {"Content-Type": kind} if kind else {}
    answer = client.post("/api/games", content=content, headers=headers)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_missing_page_is_answered_with_a_page(client):
    answer = client.get("/nowhere")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no page at this address." in answer.text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(json_values)
def test_fields_of_wrong_type_are_refused(value):
    kinds = {"text": str, "whole": int, "number": float, "items": list}
    for body in (value, {"text": value}, {"whole": value}, {"number": value}, {"items": value}):
        try:
            found = check_fields(body, **kinds)
        except ValueError:
            continue
        for name, kind in kinds.items():
            assert found[name] is None or isinstance(found[name], (kind, int))
            assert not isinstance(found[name], bool)


# Who may ask


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8024", "127.0.0.1.evil.example",
    "", "[::1", "192.168.0.7:8024", "localhost.evil", "0.0.0.0"])  # fmt: skip
def test_request_for_another_host_is_refused(client, host):
    answer = client.get("/", headers={"Host": host})
    assert (answer.status_code, answer.json()["error"][:11]) == (421, "This server")


@pytest.mark.parametrize("host", ["127.0.0.1:8024", "localhost:8024", "[::1]:8024", "127.1.2.3"])
def test_local_hosts_are_served(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "https://127.0.0.1:8024"},
    {"Origin": "http://127.0.0.1:9000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
])  # fmt: skip
def test_other_origins_cannot_change_anything(client, games, headers):
    answer = client.post("/api/games", json={}, headers=headers)
    assert (answer.status_code, answer.json()) == (
        403, {"error": "Requests from other pages are refused."})  # fmt: skip
    assert not games.exists()
    assert client.get("/api/archive", headers=headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 200  # a link


def test_own_page_can_change_the_game(client):
    headers = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/games", json={}, headers=headers).status_code == 201
    assert client.get("/api/archive", headers=headers).status_code == 200


def test_too_long_request_is_refused(client):
    answer = client.post("/api/games", content=b" " * (MAX_BYTES + 1))
    assert answer.status_code == 413
    assert client.post("/api/games", content=iter([b"{}"])).status_code == 411


@pytest.mark.parametrize("path", ["/", "/compare", "/evolution", "/static/board.js", "/nowhere",
    "/api/archive", "/api/games/x", "/static/nothing"])  # fmt: skip
def test_every_response_has_the_security_headers(client, path):
    answer = client.get(path)
    assert (
        HEADERS.items()
        <= dict(answer.headers.items()) | {name: answer.headers[name] for name in HEADERS}.items()
    )
    refused = client.get(path, headers={"Host": "evil.example"})
    policy = refused.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_pages_load_nothing_external_and_have_no_inline_script():
    for folder in ("static", "template"):
        for path in Path(str(files("training.app") / folder)).iterdir():
            text = path.read_text()
            assert not re.search(
                r"(?<!xmlns=\")(?:https?:)?//(?!www\.w3\.org/)[a-z]+\.[a-z]", text
            ), path
            if path.suffix == ".jinja":
                assert not re.search(
                    r"<script>|<script [^>]*>[^<]|<style|\sstyle=|\son[a-z]+=", text
                )


def test_forms_wait_for_their_script():
    for path in Path(str(files("training.app") / "template")).glob("*.jinja"):
        forms = re.sub(r'<form method="dialog">.*?</form>', "", path.read_text(), flags=re.S)
        for button in re.findall(r"<button\b[^>]*>", forms):
            assert 'type="button"' in button or " disabled" in button, (path, button)


def test_loopback_addresses_are_recognised():
    names = ("127.0.0.1", "localhost", "::1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "example", "")
    assert [is_loopback(name) for name in names] == [True] * 4 + [False] * 4


# A server that is stopped


def test_games_survive_a_restart_of_the_server(games):
    with serving(games) as client:
        state = begin(
            client, agent="material", amount=2, opening="two-move", name="Ada", rating=1800
        )
        state = do(client, state, "move", squares=state["frames"][-1]["legal"][0]["squares"])
        other = do(client, begin(client), "resign")
    with serving(games) as client:
        found = client.get(f"/api/games/{state['key']}").json()
        assert found == {**state, "message": ""}
        state = do(client, state, "reply")
        over = client.get(f"/api/games/{other['key']}").json()
        assert (over["status"], over["reason"]) == ("over", other["reason"])
    with serving(games) as client:
        found = client.get(f"/api/games/{state['key']}").json()
        assert found["frames"] == state["frames"]
        assert client.get("/api/archive").json()["games"] == 1


def test_game_continued_with_other_weights_is_not_rated(games, tmp_path):
    folder = tmp_path / "runs" / "mine #1"
    runs, agent = [tmp_path / "runs"], weight_file(folder)
    with serving(games, runs=runs) as client:
        state, over = (begin(client, agent=agent, rating=1800) for _ in range(2))
        assert do(client, over, "resign")["unrated_reason"] == ""
    with serving(games, runs=runs) as client:
        assert client.get(f"/api/games/{state['key']}").json()["unrated_reason"] == ""
    for seed in (1, 0):  # the first file again comes too late
        weight_file(folder, seed)
        with serving(games, runs=runs) as client:
            found = client.get(f"/api/games/{state['key']}").json()
            assert found["unrated_reason"] == "the agent's weight file has changed since it began"
            do(client, found, "move", squares=found["frames"][-1]["legal"][0]["squares"])
            do(client, found, "reply")
            assert client.get(f"/api/games/{over['key']}").json()["unrated_reason"] == ""


@pytest.mark.parametrize("number", [1, 3])
def test_game_file_of_another_format_is_named(games, number):
    with serving(games) as client:
        state = begin(client)
    (path,) = (games / "tabs").iterdir()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": number}))
    with serving(games) as client:
        answer = client.get(f"/api/games/{state['key']}")
    assert answer.status_code == 404
    reason = f"{str(path)!r} is not a valid game: its format is {number}, not 2"
    assert answer.json()["error"] == reason


@pytest.mark.parametrize("damage", ["", "{}", "[]", "null",
    '{"format": 2, "setup": {}}', '{"format": 2, "setup": 7}'])  # fmt: skip
def test_damaged_game_file_is_ignored(games, damage):
    with serving(games) as client:
        state = begin(client)
    (path,) = (games / "tabs").iterdir()
    path.write_text(damage)
    with serving(games) as client:
        assert client.get(f"/api/games/{state['key']}").status_code == 404


def test_finished_game_that_cannot_be_written_is_written_later(client, games):
    state = begin(client)
    for path in (games / "tabs").iterdir():
        path.unlink()
    (games / "tabs").rmdir()
    games.rmdir()
    games.write_text("a file in the place of the folder")
    answer = client.post(f"/api/games/{state['key']}/resign", json={})
    assert answer.status_code == 500
    assert "could not be read or written" in answer.json()["error"]
    games.unlink()
    assert client.get(f"/api/games/{state['key']}").json()["status"] == "over"
    assert len(list(games.glob("*.pdn"))) == 1


def test_memory_holds_recent_games_and_the_disk_all(client, monkeypatch):
    monkeypatch.setattr(game_store, "MAX_IN_MEMORY", 3)
    states = [begin(client) for _ in range(6)]
    assert len(client.app.state.store._games) == 3
    for state in states:
        assert client.get(f"/api/games/{state['key']}").json()["frames"] == state["frames"]
        assert len(client.app.state.store._games) == 3


def test_old_and_excess_games_are_deleted(client, games, monkeypatch):
    monkeypatch.setattr(game_store, "MAX_ON_DISK", 4)
    old = begin(client)
    os.utime(games / "tabs" / f"{old['key']}.json", (0, 0))
    for number in range(8):
        state = begin(client)
        os.utime(games / "tabs" / f"{state['key']}.json", (2e9 + number, 2e9 + number))
    left = {path.stem for path in (games / "tabs").iterdir()}
    assert len(left) == 4
    assert state["key"] in left
    assert old["key"] not in left


def test_games_begun_at_once_delete_old_games_together(games):
    """While one request looks at an old file, another deletes it."""
    store = game_store.GameStore(None, games)
    (games / "tabs").mkdir(parents=True, exist_ok=True)

    def begin_one(number):
        for name in range(300):
            path = games / "tabs" / f"{name}.json"
            path.touch()
            with suppress(FileNotFoundError):
                os.utime(path, (0, 0))
        store._delete_old_files()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(begin_one, range(8)))


# Ratings


def finished(agent, score, rating, name, *, side=BLACK, opening="", **counted):
    """Return a game that an agent of the other side has won (1), drawn or lost."""
    begun = choose_opening(opening, np.random.default_rng(0))
    time = f"2026-01-{name}T00:00:00"
    session = HumanGame(GameSetup(agent, agent, Limits(), side, "Ada", rating, begun, 0, time))
    vars(session).update(counted)
    black = score if side == WHITE else 1 - score
    session.result = {1: "1-0", 0: "0-1"}.get(black, "1/2-1/2")
    return session


def results_in(games):
    return game_archive.results_by_agent(game_archive.load_games(games))


def test_rating_follows_the_papers_formula(games):
    for number, (score, rating, side) in enumerate(((1, 1700, BLACK), (0.5, 1500, WHITE))):
        game_archive.save_game(
            games, finished("x", score, rating, f"{number:02}", side=side), str(number)
        )
    (standing,) = results_in(games)
    assert standing[:5] == ("x", 1, 1, 0, 2)
    orders = [
        updated_rating(updated_rating(1600.0, 1700, 1), 1500, 0.5),
        updated_rating(updated_rating(1600.0, 1500, 0.5), 1700, 1),
    ]
    low, high = sorted(orders)
    assert low < standing.rating.mean < high
    assert standing.rating.mean == pytest.approx(np.mean(orders), abs=0.1)
    assert standing.rating.grade == "B"
    # By hand: 1600 + 32 (1 - 1 / (1 + 10^(100/400)))
    game_archive.save_game(games, finished("y", 1, 1700, "09"), "y")
    assert results_in(games)[1].rating.mean == pytest.approx(1620.48, abs=0.01)


def test_only_fair_games_with_a_rating_count(games):
    unrated = (
        {"rating": None},
        {"hints": 1},
        {"takebacks": 1},
        {"interruptions": 1},
        {"opening": "11-15"},
        {"opening": FORCED},
    )
    for number, options in enumerate(unrated):
        options = {"rating": 1700, **options}
        session = finished("x", 1, options.pop("rating"), f"{number:02}", **options)
        assert session.unrated_reason()
        game_archive.save_game(games, session, str(number))
    (standing,) = results_in(games)
    assert standing == ("x", 6, 0, 0, 0, None)
    for number, opening in enumerate(("", "two-move", "three-move", openings.TWO_MOVE[5])):
        session = finished("x", 1, 1700, f"1{number}", opening=opening)
        assert not session.unrated_reason()
        game_archive.save_game(games, session, f"1{number}")
    assert results_in(games)[0].rated_games == 4


def test_foreign_files_among_the_games_are_ignored(games, caplog):
    game_archive.save_game(games, finished("x", 1, 1700, "01"), "a")
    (games / "0.pdn").write_text("not a game")
    (games / "1.pdn").write_bytes(b"\xff\xfe")
    (games / "2.pdn").write_text('[Black "Ada"]\n[White "Bob"]\n\n1. 11-15 1-0\n')
    assert [standing.agent for standing in results_in(games)] == ["x"]
    assert caplog.text.count("is passed over") == 2


def test_page_shows_the_results(client, games):
    assert client.get("/api/archive").json() == {"folder": str(games), "games": 0, "results": []}
    state = begin(client, agent="blondie24", amount=2, rating=1500)
    assert do(client, state, "resign")["unrated_reason"] == ""
    (line,) = client.get("/api/archive").json()["results"]
    assert (line["agent"], line["wins"], line["rated_games"]) == ("blondie24 (depth 2)", 1, 1)
    assert line["rating"]["mean"] == pytest.approx(1600 + 32 * (1 - 1 / (1 + 10 ** (-100 / 400))))


# Thoughts


@pytest.mark.parametrize("name", ["blondie24", "material"])
def test_analysis_score_equals_minimax(name, monkeypatch):
    monkeypatch.setattr("agents.analysis.LEAST_SECONDS", 60.0)
    agent = agents.make(name, depth=3, seed=0)
    judge = judge_by(agent.player.evaluator)
    for board in random_boards(5, 15, 60):
        for depth in (1, 2, 3):
            thought = analyse_until(agent, board, Limits(depth=depth, seconds=60), Event())
            values = move_values(board, judge, depth, root_perspective=True)
            assert thought.score == max(values)
            assert values[board.legal_moves.index(thought.move)] == max(values)
            assert thought.pv[0] == thought.move
            assert (thought.depth, thought.nodes > 0) == (depth, True)
            after = board.copy()
            for move in thought.pv:
                after.push(move)  # all are legal
            assert len(thought.pv) >= depth or not after.legal_moves


def test_analysis_of_a_deterministic_agent_is_its_own_move():
    for board in random_boards(6, 20, 60):
        thought = analyse_until(agents.make("blondie24"), board, Limits(depth=5), Event())
        assert thought.move == agents.make("blondie24", depth=5).act(board.copy())


@pytest.mark.parametrize("name", ["mcts", "mcts-ept"])
def test_analysis_uses_the_agents_simulations(name):
    for number, board in enumerate(random_boards(7, 25, 90)):
        agent = reseed(agents.make(name, simulations=80), number)
        thought = analyse_until(agent, board, Limits(simulations=80), Event())
        assert thought.move == reseed(agents.make(name, simulations=80), number).act(board.copy())
        assert thought.pv[0] == thought.move
        assert -1 <= thought.score <= 1
        assert thought.nodes in (80, None)


@pytest.mark.parametrize(("name", "limits"), [
    ("blondie24", Limits(depth=4)), ("mcts", Limits(simulations=9)), ("random", Limits()),
])  # fmt: skip
def test_only_move_is_made_without_a_search(name, limits):
    board = Board("B:W32:BK1,5")
    board.push("5-9")
    board.push(board.legal_moves[0])
    board = Board("W:W32:BK23,27")
    assert len(board.legal_moves) == 1
    thought = analyse_until(agents.make(name), board, limits, Event())
    assert thought.move == board.legal_moves[0]
    assert not thought.nodes


def test_search_stopped_at_once_still_moves():
    stopped = Event()
    stopped.set()
    for name, limits in (("blondie24", Limits(depth=64)), ("mcts", Limits(simulations=10**6))):
        thought = analyse_until(agents.make(name), Board(), limits._replace(seconds=0.01), stopped)
        assert thought.move in Board().legal_moves
        assert thought.pv[0] == thought.move
        assert -1 <= thought.score <= 1


def test_timed_out_search_has_a_pv_and_its_score(monkeypatch):
    monkeypatch.setattr("agents.analysis.LEAST_SECONDS", 0.05)
    agent, limits = agents.make("blondie24"), Limits(depth=64, seconds=0.2)
    for board in random_boards(8, 5, 30):
        thought = analyse_until(agent, board, limits, Event())
        last = board.copy()
        for move in thought.pv:
            last.push(move)
        assert thought.pv[0] == thought.move
        assert thought.score is not None


# Words


def test_moves_are_described_in_words():
    assert describe_move(Board(), Board().parse_move("11-15")) == "Black's man moves from 11 to 15."
    board = Board(ROUTES)
    assert describe_move(board, board.legal_moves[0]) == (
        "Black's king jumps from 2 to 9, 18, 11 then 2, capturing on 6, 14, 15 and 7."
    )


@pytest.mark.parametrize(("position", "squares", "words"), [
    (fen.START, [], "a list of squares"),
    (fen.START, [15], "no piece on 15"),
    (fen.START, [22], "is White's, and Black is to move"),
    (fen.START, [1], "blocked"),
    (fen.START, [11, 20], "one square diagonally forward. The piece on 11 can go 11-15 or 11-16"),
    (fen.START, [11, 8], "Square 8 is taken"),
    ("B:W32:BK10", [10, 1], "in any diagonal direction"),
    (FORCED, [31], "White must capture: 30x23, 22x15, 22x13 or 6x13. The piece on 31 cannot."),
    (FORCED, [22, 25], "A capture must be made"),
    (ROUTES, [2, 9], "not finished"),
    (ROUTES, [2, 6], "A capture must be made"),
])  # fmt: skip
def test_illegal_moves_are_refused_with_a_reason(position, squares, words):
    assert words in explain_illegal_move(Board(position), squares)


def test_any_squares_are_refused_in_words():
    rng = np.random.default_rng(8)
    for board in random_boards(9, 60, 90):
        legal = {move.squares for move in board.legal_moves}
        for _ in range(20):
            squares = tuple(rng.integers(0, 34, rng.integers(1, 5)).tolist())
            if squares not in legal:
                assert explain_illegal_move(board, squares).endswith(".")
        assert bool(explain_forced_capture(board)) == bool(board.legal_moves[0].captured)


# Two agents


def test_two_agents_play_as_without_the_page(client):
    black, white = {"agent": "blondie24", "amount": 3}, {"agent": "mcts-ept", "amount": 40}
    told = client.post("/api/compare", json={"black": black, "white": white, "opening": "11-15"})
    game = told.json()
    assert (game["black"], game["opening_plies"]) == ("blondie24 (depth 3)", 1)
    board = create_board(fen.START, ["11-15"])
    moves = [frame["move"]["text"] for frame in game["frames"][1:]]
    ours = [agents.make("blondie24", depth=3), agents.make("mcts-ept", simulations=40)]
    result = "*"
    while result == "*":
        player = (black, white)[board.turn]
        body = {"player": player, "start": fen.START, "moves": moves, "seed": game["seed"]}
        answer = client.post("/api/compare/move", json=body).json()
        assert (
            client.post("/api/compare/move", json=body).json()["frame"]["move"]
            == (answer["frame"]["move"])
        )
        own = reseed(ours[board.turn], game["seed"] + board.ply).act(board.copy())
        board.push(own)
        assert answer["frame"]["fen"] == board.fen()
        moves.append(answer["frame"]["move"]["text"])
        result = answer["result"]
    outcome = board.outcome()
    assert result == {None: "1/2-1/2", BLACK: "1-0", WHITE: "0-1"}[outcome.winner]
    assert answer["reason"]
    body = {"black": "one", "white": "other", "start": fen.START, "moves": moves}
    (record,) = pdn.loads(client.post("/api/compare/pdn", json=body).json()["pdn"])
    assert (record.moves, record.result) == (tuple(board.moves), result)
    assert client.post("/api/compare/move", json={**body, "seed": 1}).status_code == 400


def test_two_external_agents_receive_their_generators(client, strangers):
    body = {"player": {"agent": strangers["Draws"]}, "start": fen.START, "moves": []}
    for seed in range(5):
        answer = client.post("/api/compare/move", json={**body, "seed": seed}).json()
        drawn = np.random.default_rng(seed).integers(len(Board().legal_moves))
        assert answer["frame"]["move"]["text"] == str(Board().legal_moves[drawn])


# The rest


def test_explanation_equals_that_of_agents_explain(client):
    answer = client.get("/api/explain", params={"agent": "blondie24", "fen": FORCED})
    expected = agents.explain(agents.make("blondie24"), Board(FORCED)).to_json()
    assert answer.json() == json.loads(json.dumps(expected))


def test_forms_offer_all_options(client, strangers):
    for path in ("/", "/compare"):
        text = client.get(path).text
        for name in [*agents.available(), *openings.TWO_MOVE, *openings.THREE_MOVE]:
            assert f'value="{name}"' in text
    assert 'data-limit="simulations" data-most="1000000" data-standard="1000"' in text


def test_limits_are_part_of_the_name():
    catalog = AgentCatalog()
    assert catalog.choose("blondie24", 6, None).label == "blondie24 (depth 6)"
    assert catalog.choose("blondie24", None, 1).label == "blondie24 (depth 4, seconds 1)"
    assert catalog.choose("blondie24", 6, None).limits == Limits(depth=6, seconds=10.0)
    assert catalog.choose("mcts", 5, 2).limits == Limits(simulations=5, seconds=2)
    assert catalog.choose("random", None, None).label == "random"


def test_analysis_is_serialised_to_json():
    move = Board().legal_moves[0]
    told = analysis_to_json(Analysis(move, None, (move,), 3, 70, 0.5))
    assert told["pv"] == [str(move)]
    assert (told["score"], told["depth"], told["nodes"]) == (None, 3, 70)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.1", "example.com"])
def test_server_accepts_local_connections_only(host):
    with pytest.raises(ValueError, match="--host must be this machine's own address"):
        serve.run(["--host", host], None)


def test_games_and_runs_are_in_folders(tmp_path):
    (tmp_path / "file").touch()
    for option in ("--games", "--runs"):
        with pytest.raises(ValueError, match=rf"{option} must be a folder, not the file '.*file'"):
            serve.run([option, str(tmp_path / "file")], None)
    with pytest.raises(ValueError, match=r"--games must be a folder, not below the file '.*file'"):
        serve.run(["--games", str(tmp_path / "file" / "inside")], None)
    with pytest.raises(ValueError, match="no games can be kept in '/proc/inside': "):
        serve.run(["--games", "/proc/inside"], None)


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_invalid_port_is_refused(port, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["checkers-play", "--port", port])
    assert serve.main() == 1
    assert f"--port must be 0 to 65535, not {port}" in capsys.readouterr().err


def test_port_in_use_is_refused():
    with serve.open_listener("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen at 127.0.0.1, port {port}"):
            serve.open_listener("127.0.0.1", port)


def test_free_port_is_used_if_none_is_given(monkeypatch):
    with serve.open_listener("127.0.0.1", 0) as taken:
        monkeypatch.setattr(serve, "DEFAULT_PORT", taken.getsockname()[1])
        with serve.open_listener("127.0.0.1", None) as other:
            assert other.getsockname()[1] not in (0, taken.getsockname()[1])


def test_agent_that_cannot_be_created_is_reported_at_the_start():
    with pytest.raises(ValueError, match="there is no weight file"):
        serve.run(["--agent", "missing.safetensors"], None)


@pytest.mark.parametrize(("number", "thinks"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_command_serves_until_it_is_stopped(games, number, thinks):
    warm_up(
        "material", DEFAULT_AGENT, JUDGE
    )  # so that the process of the server has nothing to compile
    options = ["--no-open", "--port", "0", "--games", str(games), "--runs", str(games / "none")]
    command = [sys.executable, "-m", "training.app.serve", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://127.0.0.1:[0-9]+/", process.stderr.readline())[0]
            assert "Games are kept in" in process.stderr.readline()
            assert f"There is no folder {games / 'none'} yet" in process.stderr.readline()
            wanted = {"agent": "blondie24", "colour": "white", "amount": 64, "seconds": 60}
            answer = httpx2.post(f"{address}api/games", json=wanted, timeout=60)
            game = answer.json()["key"]
            if thinks:
                with pytest.raises(httpx2.ReadTimeout):
                    httpx2.post(f"{address}api/games/{game}/reply", json={}, timeout=0.3)
            process.send_signal(number)
            assert process.wait(SECONDS) == 0
        finally:
            process.kill()
    assert (games / "tabs" / f"{game}.json").exists()


def test_command_has_help(capsys):
    with pytest.raises(SystemExit):
        serve.run(["--help"], None)
    shown = " ".join(capsys.readouterr().out.split())
    for text in ("--port", "--host", "--agent", "--runs", "--games", "--no-open", "8024"):
        assert text in shown


# Preparation of the engine


def test_preparation_is_done_unless_it_was_started(client):
    assert client.get("/api/preparation").json() == {"seconds": None, "typical": 20}


def test_preparation_ends_with_its_process(monkeypatch):
    ended = Event()

    class Process:
        def __init__(self, target, daemon):
            assert daemon

        def start(self):
            pass

        def join(self):
            ended.wait(10)

    monkeypatch.setattr(multiprocessing.get_context("spawn"), "Process", Process)
    preparation, stop = Preparation(), Event()
    preparation.wait(stop)  # nothing was started
    preparation.start()
    assert 0 <= preparation.seconds < 10
    Timer(0.2, stop.set).start()
    preparation.wait(stop)
    assert preparation.seconds is not None
    Timer(0.2, ended.set).start()
    preparation.wait(Event())
    assert preparation.seconds is None
