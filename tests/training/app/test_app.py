"""The web application without a browser: analyses, refusals, archive, security."""

import contextlib
import itertools
import json
import re
import threading
import time
from contextlib import contextmanager
from multiprocessing import get_context
from threading import Event
from types import SimpleNamespace

import httpx2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

import agents
from agents.agent import reseed
from agents.blondie.architecture import BLONDIE_2001
from agents.registry import ZOO
from agents.weights import WeightsMetadata, save_weights
from checkers_env import BLACK, WHITE, Board, fen, openings, pdn
from tests import DATA
from tests.training.app.conftest import error_of, serve_in_thread
from tests.training.commands import SECONDS
from training.app import agent_pool, archive, preparation, serve
from training.app.analysis import create_board
from training.app.app import create_app
from training.app.opponents import OPPONENTS, STRONG_LEVELS
from training.app.request_body import check_fields
from training.app.security import HEADERS, MAX_BYTES
from training.rating.thesis_ratings import updated_rating

HOST = "http://127.0.0.1:8024"
FORCED = "W:W30,31,22,K6:B26,18,17,9,3,K14"  # 30x23, 22x15, 22x13 and 6x13
ROUTES = "B:W6,7,14,15:BK2"  # 2x9x18x11x2 and 2x11x18x9x2: the same ends
STRANGERS = """
class Failing:
    def act(self, board):
        raise RuntimeError("it has no idea")


class Text:
    def act(self, board):
        return "1-32"


class Illegal:
    def act(self, board):
        from checkers_env import Move
        return Move((1, 32))


class Counting:
    calls = 0

    def act(self, board):
        self.calls += 1
        return board.legal_moves[min(self.calls, len(board.legal_moves)) - 1]


class Learner:
    heard, closed = [], []

    def act(self, board):
        return board.legal_moves[0]

    def game_over(self, board, side):
        print("heard", board.fen(), side)

    def close(self):
        print("closed")
"""


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    path = tmp_path_factory.mktemp("code") / "app_strangers.py"
    path.write_text(STRANGERS)
    names = ("Counting", "Failing", "Illegal", "Learner", "Text")
    return {name: f"{path}:{name}" for name in names} | {"Draws": f"{DATA / 'strangers.py'}:Draws"}


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


def analyse(client, moves=(), **fields):
    answer = client.post("/api/analysis", json={"moves": list(moves), **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()


# Analyses


def test_judge_is_strong_with_a_number_of_positions(client):
    moves = ["11-15", "22-18", "15x22"]
    answer = analyse(client, moves, nodes=500)
    board = create_board(fen.START, moves)
    expected = agents.analyse("strong", board, nodes=500)
    assert answer["pv"] == list(map(str, expected.pv))
    assert (answer["score"], answer["nodes"]) == (expected.score, expected.nodes)
    assert (answer["label"], answer["exact"]) == ("strong", None)


def test_repetitions_are_seen_by_the_search(client):
    """White would repeat the position for the third time, which a lost side wants."""
    start, there = "W:WK15,K20,K5:BK12,K28", ["15-11", "28-32", "11-15", "32-28"]
    scores = [analyse(client, moves, start=start, nodes=2000)["score"] for moves in ([], there)]
    history = create_board(start, there)
    expected = agents.analyse("strong", history, nodes=2000)
    assert scores[1] == expected.score


def test_endings_have_exact_results(client, monkeypatch):
    body = {"start": "W:WK15,20:B12,K28", "nodes": 10}  # "First position": docs/endgames.md
    assert analyse(client, **body)["exact"] == {"value": 1, "plies": 81}
    black = body | {"start": body["start"].replace("W:", "B:", 1)}
    assert analyse(client, **black)["exact"] == {"value": 0, "plies": None}
    monkeypatch.setattr(preparation, "TABLES_PREPARATION", SimpleNamespace(seconds=1.0))
    assert analyse(client, **body)["exact"] is None  # no request waits for the tables


def test_two_agents_play_as_without_the_page(client):
    players = {"agent": "blondie24", "amount": 3}, {"agent": "mcts-ept", "amount": 40}
    ours = [agents.make("blondie24", depth=3), agents.make("mcts-ept", simulations=40)]
    board, seed = create_board(fen.START, ["11-15"]), 7
    while board.ply < 30:
        asked = {"moves": list(map(str, board.moves)), "seed": seed, **players[board.turn]}
        answer = analyse(client, **asked)
        assert analyse(client, **asked)["move"] == answer["move"]
        own = reseed(ours[board.turn], seed + board.ply).act(board.copy())
        assert board.parse_move(answer["move"]) == own
        board.push(own)


def test_external_agents_receive_their_generators(client, strangers):
    for seed in range(5):
        answer = analyse(client, agent=strangers["Draws"], seed=seed)
        drawn = np.random.default_rng(seed).integers(len(Board().legal_moves))
        assert Board().parse_move(answer["move"]) == Board().legal_moves[drawn]


def test_move_is_written_with_all_squares(client):
    assert analyse(client, start=ROUTES, agent="random")["move"] in (
        "2x9x18x11x2",
        "2x11x18x9x2",
    )


def test_named_opponent_plays_with_its_own_limits(client):
    player = {"opponent": "counter-2", "level": None}
    told = client.post("/api/player", json=player | {"has_clock": False}).json()
    assert told == {
        "agent": "material", "label": "material (depth 2)", "name": "Beginner", "seconds": 10.0,
    }  # fmt: skip
    answer = analyse(client, **player)
    assert (answer["label"], answer["depth"]) == (told["label"], 2)
    weak = {"opponent": "sleepyhead", "start": "W:W13,14:B5"}  # 13-9 wins
    answers = [analyse(client, **weak, seed=seed) for seed in range(12)]
    assert {answer["label"] for answer in answers} == {"material (depth 2, blunder 0.8)"}
    assert 2 < sum(answer["move"] != "13-9" for answer in answers) < 12
    strong = client.post("/api/player", json={"opponent": "strong", "level": 3}).json()
    assert (strong["name"], strong["label"]) == ("Strong, level 3", "strong (nodes 30)")


def test_clock_limits_a_search(client):
    clock = {"seconds": 0.2, "share": 0.05}
    label = client.post("/api/player", json={"agent": "blondie24", "has_clock": True}).json()
    answer = analyse(client, agent="blondie24", clock=clock)
    assert answer["label"] == label["label"] == "blondie24"
    assert answer["seconds"] < 5
    assert analyse(client, agent="blondie24", amount=2, clock=clock)["depth"] == 2
    assert analyse(client, agent="random", clock=clock)["depth"] is None


def test_agent_keeps_its_memory_in_a_game(client, strangers, monkeypatch):
    def ask(seed, *moves):
        answer = analyse(client, moves, agent=strangers["Counting"], seed=seed)
        board = create_board(fen.START, moves)
        return board.legal_moves.index(board.parse_move(answer["move"])) + 1  # calls so far

    assert [ask(1), ask(2), ask(1), ask(1, "11-15"), ask(1)] == [1, 1, 2, 1, 3]
    monkeypatch.setattr(agent_pool, "MAX_AGENTS", 1)
    assert [ask(3), ask(1)] == [1, 1]


def test_agent_that_waits_for_its_turn_holds_no_large_table(client):
    analyse(client, agent="strong", seconds=0.1)
    (place,) = client.app.state.pool._places.values()
    assert place.agent.ws.table.nbytes <= 1 << 21


def test_failed_agent_is_made_anew(client, strangers):
    for name, words in (
        ("Failing", "it has no idea"),
        ("Illegal", "act(board) returned 1-32, which is illegal in B:"),
        ("Text", "act(board) returned '1-32' is illegal"),
    ):
        answer = client.post("/api/analysis", json={"agent": strangers[name]})
        assert words in error_of(answer, 502)
    assert not any(place.agent for place in client.app.state.pool._places.values())


def test_engine_that_does_not_start_is_reported(games):
    with serving(games, extra=["hub:false"]) as client:
        for path in ("/api/player", "/api/analysis"):
            answer = client.post(path, json={"agent": "hub:false"})
            assert answer.status_code == 502
            assert answer.json()["error"]


# Searches that end early

ENDLESS = {"agent": "blondie24", "amount": 64, "seconds": 60}


@pytest.mark.parametrize("is_told", [True, False])
def test_search_ends_when_it_is_told_and_when_its_client_has_gone(games, is_told):
    app = create_app(games)
    with serve_in_thread(games, app=app) as address, httpx2.Client(base_url=address) as client:
        body, answers, begun = ENDLESS | {"search": "mine"}, [], time.monotonic()

        def ask():
            with contextlib.suppress(httpx2.ReadTimeout):
                answers.append(
                    client.post("/api/analysis", json=body, timeout=60 if is_told else 1)
                )

        thread = threading.Thread(target=ask)
        thread.start()
        while not app.state.searches and thread.is_alive():
            time.sleep(0.01)
        if is_told:
            while thread.is_alive():  # as soon as it has a move
                client.post("/api/analysis/stop", json={"search": "mine"})
                thread.join(0.1)
            assert 1 <= answers[0].json()["depth"] < 64
            create_board(fen.START, answers[0].json()["pv"])  # legal moves
        else:
            thread.join()
            assert answers == []
        while app.state.searches:
            assert time.monotonic() < begun + SECONDS
            time.sleep(0.05)
        assert client.post("/api/analysis/stop", json={"search": "none"}).status_code == 200


def weight_file(folder, seed=0):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "champion.safetensors"
    genome = np.random.default_rng(seed).normal(0, 0.2, BLONDIE_2001.genome_size)
    save_weights(
        path, genome, WeightsMetadata("blondie24-2001", 1.5, "blondie24-2001", 0, 3, depth=2)
    )
    return str(path)


def asked_of(client, agent):
    """Return the answers of all requests that name an agent."""
    return (
        client.post("/api/player", json={"agent": agent}),
        client.post("/api/analysis", json={"agent": agent}),
        client.get("/api/explain", params={"agent": agent, "fen": fen.START}),
        client.get("/", params={"agent": agent}),
    )


def test_champion_of_a_run_can_be_played_and_other_files_cannot(client, tmp_path):
    agent = weight_file(tmp_path / "runs" / "mine")
    first = analyse(client, agent=agent)
    assert re.fullmatch(r"mine \(depth 2\) #[0-9a-f]{6}", first["label"])
    assert first["depth"] == 2
    assert client.get("/", params={"agent": agent}).status_code == 200
    weight_file(tmp_path / "runs" / "mine", seed=1)
    assert (
        analyse(client, agent=agent)["label"] != first["label"]
    )  # the page sees that it has changed
    elsewhere = weight_file(tmp_path / "elsewhere")
    sneaky = str(tmp_path / "runs" / ".." / "elsewhere" / "champion.safetensors")
    linked = tmp_path / "runs" / "linked"
    linked.mkdir()
    (linked / "champion.safetensors").symlink_to(elsewhere)
    links = (f"{linked}", f"{linked}/", f"{linked}/champion.safetensors")
    (tmp_path / "runs" / "code.py").write_text("raise SystemExit")
    code = (f"{tmp_path}/runs/code.py:Agent", "hub:true", "os:system")
    ending = "x" + "/.." * 30 + agent  # as a path the file's, whatever is before it
    programs = [f"{it}{ending}" for it in ("hub:touch ran ", "continual:", "openspiel:", "dxp:")]
    for text in (elsewhere, sneaky, *links, *code, *programs):
        for answer in asked_of(client, text):
            assert answer.status_code == 400, text
            assert "is on offer" in answer.text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x" * 5000, "File name too long"),
        ("missing", "there is no weight file"),
        ("nul\0", "null byte"),
    ],
)
def test_invalid_weight_file_is_refused_with_a_reason(client, tmp_path, name, words):
    for answer in asked_of(client, str(tmp_path / "runs" / f"{name}.safetensors")):
        assert answer.status_code == 400
        assert words in answer.text


def test_named_opponents_have_the_elo_of_the_zoo():
    page = (ZOO / "README.md").read_text("utf-8")
    names = {f"counter-{depth}": f"*material (depth {depth})*" for depth in (1, 2, 4)}
    for it in OPPONENTS:
        if not (it.levels or it.blunder or it.depth == 3):
            name = names.get(it.id, f"*{it.agent}*" if it.depth is None else f"[{it.agent}](")
            (row,) = [line for line in page.splitlines() if f"| {name}" in line]
            assert f"| {it.elo:+d} [" in row
    assert [it.elo for it in OPPONENTS] == sorted(it.elo for it in OPPONENTS)
    for column in zip(*STRONG_LEVELS, strict=True):  # nodes, and Elo
        assert list(column) == sorted(set(column))
    rungs = sorted(it.elo for it in (*OPPONENTS, *STRONG_LEVELS))
    assert max(after - before for before, after in itertools.pairwise(rungs)) <= 120


def test_each_opponent_has_a_face(client):
    faces = client.get("/static/icon.svg").text
    assert all(f'<view id="{opponent.id}"' in faces for opponent in OPPONENTS)


# Refusals

RECORD = '[Black "Ada"]\n[White "random"]\n[BlackType "human"]\n[WhiteType "program"]\n{}\n\n{}'
REFUSED = [
    ("player", {"agent": "nobody"}, "'nobody' is on offer: choose one of the"),
    ("player", {"agent": "strng"}, "on offer: did you mean 'strong'?"),
    ("player", {"agent": 7}, "agent must be a text"),
    ("player", {"has_clock": 1}, "has_clock must be true or false"),
    ("player", {"amount": True}, "amount must be a whole number"),
    ("player", {"seconds": 61}, "above 0, and 60 at most"),
    ("player", {"agent": "random", "amount": 3}, "does not search"),
    ("player", {"opponent": "nobody"}, "No opponent 'nobody': there are random"),
    ("player", {"opponent": "c10", "agent": "c10"}, "not both"),
    ("player", {"opponent": "c10", "level": 1}, "C10 has no levels"),
    ("player", {"opponent": "strong", "level": 99}, "level must be from 1 to"),
    ("player", {"depth": 3}, "There is no field 'depth'"),
    ("player", [], "JSON object"),
    ("analysis", {"agent": "nobody"}, "No agent 'nobody'"),
    ("analysis", {"moves": ["11-12"]}, "'11-12' is illegal"),
    ("analysis", {"moves": ["11-15"] * 3000}, "'11-15' is illegal"),
    ("analysis", {"moves": "11-15"}, "moves must be a list"),
    ("analysis", {"start": "nonsense"}, "bad FEN"),
    ("analysis", {"start": "B:W5:B"}, "The game is over"),
    ("analysis", {"start": "B:WK32:BK1", "moves": ["1-6", "32-28", "6-1", "28-32"] * 2}, "over"),
    ("analysis", {"repetition": -1}, "repetition"),
    ("analysis", {"no_progress": "x"}, "no_progress must be a whole number"),
    ("analysis", {"agent": "random", "seed": -1}, "seed must"),
    ("analysis", {"nodes": 0}, "nodes must be from 1 to 1,000,000"),
    ("analysis", {"amount": 3}, "limited by nodes alone"),
    ("analysis", {"agent": "c10", "nodes": 3}, "nodes is for the judge"),
    ("analysis", {"agent": "c10", "clock": {"seconds": 0, "share": 1}}, "both above 0"),
    ("analysis", {"agent": "c10", "clock": "5+0"}, "clock must be an object"),
    ("analysis/stop", {"search": 1}, "search must be a text"),
    ("explain", None, "Ask for"),
    ("explain?agent=random&fen=B", None, "bad FEN"),
    ("archive", {"pdn": ""}, "The PDN holds 0 games"),
    ("archive", {"pdn": "1. 11-15 1-0\n\n1. 11-15 1-0"}, "The PDN holds 2 games"),
    ("archive", {"pdn": "x" * 100_001}, "at most 100000"),
    ("archive", {"pdn": "1. 11-12 1-0"}, "line 1, column 4"),
    ("archive", {"pdn": RECORD.format("", "1. 11-15 *")}, "not finished"),
    ("archive", {"pdn": "1. 11-15 1-0"}, "between a human and a program"),
    ("archive", {"pdn": RECORD.format('[BlackRating "0"]', "1-0")}, "from 1 to 3000"),
    ("archive", {"pdn": RECORD.replace("Ada", "x" * 61).format("", "1-0")}, "at most 60"),
    ("archive", {"pdn": RECORD.replace("Ada", "a\0b").format("", "1-0")}, "printable"),
    ("archive", {"pdn": RECORD.format('[FEN "B:W6:B2"]', "1. 2x9 0-1")}, "not that of the moves"),
]


@pytest.mark.parametrize(("path", "body", "words"), REFUSED)
def test_invalid_request_is_refused_with_a_reason(client, games, path, body, words):
    url = f"/api/{path}"
    answer = client.get(url) if body is None else client.post(url, json=body)
    assert words in error_of(answer)
    assert not games.exists()


def test_missing_page_is_answered_with_a_page(client):
    answer = client.get("/nowhere")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no page at this address." in answer.text


@pytest.mark.parametrize(("content", "kind", "words"), [
    (b"{", "application/json", "no JSON"),
    (b"[" * 100_000, "application/json", "no JSON"),
    (b'{"amount": ' + b"9" * 5000 + b"}", "application/json", "no JSON"),
    (b'{"seconds": NaN}', "application/json", "above 0"),
    (b'{"agent": "\\ud800"}', "application/json", "half a character"),
    (b'{"\\ud800": 1}', "application/json", "no field"),
    (b'{"agent": "' + b"x" * 200_000 + b'"}', "application/json", "at most"),
    (b"{}", "text/plain", "application/json"),
    (b"{}", "", "without a type"),
])  # fmt: skip
def test_body_that_is_not_a_request_is_refused(client, content, kind, words):
    headers = {"Content-Type": kind} if kind else {}
    answer = client.post("/api/player", content=content, headers=headers)
    assert words in error_of(answer)


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
    "", "[::1", "192.168.0.7:8024", "0.0.0.0", "127.0.0.1:8024, evil", "evil@127.0.0.1:8024",
    "127.0.0.1#evil"])  # fmt: skip
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
    answer = client.post("/api/archive", json={}, headers=headers)
    assert (answer.status_code, answer.json()) == (
        403, {"error": "Requests from other pages are refused."})  # fmt: skip
    assert not games.exists()
    assert client.get("/api/archive", headers=headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 200  # a link


def test_own_page_may_ask(client):
    headers = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/player", json={}, headers=headers).status_code == 200
    assert client.get("/api/archive", headers=headers).status_code == 200


def test_too_long_request_is_refused(client):
    answer = client.post("/api/player", content=b" " * (MAX_BYTES + 1))
    assert answer.status_code == 413
    assert client.post("/api/player", content=iter([b"{}"])).status_code == 411


@pytest.mark.parametrize("path", ["/", "/static/engine/rules.js", "/nowhere", "/api/analysis"])
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


# The archive


def record(label, score, rating=None, *, side=BLACK, rated=True, moves="1. 11-15"):
    """Return the PDN of a game that a program of the other side has won (1), drawn or lost."""
    person, program = ("Black", "White")[side], ("White", "Black")[side]
    black = score if side == WHITE else 1 - score
    tags = {person: "Ada", f"{person}Type": "human", program: label, f"{program}Type": "program"}
    tags |= {f"{person}Rating": str(rating)} if rating else {}
    tags |= {"Rated": "yes" if rated else "no"}
    lines = "\n".join(f'[{name} "{value}"]' for name, value in tags.items())
    return f"{lines}\n\n{moves} { {1: '1-0', 0: '0-1'}.get(black, '1/2-1/2') }\n"


def keep(client, text, seed=0):
    answer = client.post("/api/archive", json={"pdn": text, "seed": seed})
    assert answer.status_code == 201, answer.text
    return client.get("/api/archive").json()


def test_finished_game_is_kept_once(client, games):
    assert client.get("/api/archive").json() == {"folder": str(games), "games": 0, "results": []}
    text = record("blondie24 (depth 2)", 1, 1500)
    for _ in range(2):  # the page asks again if an answer is lost
        assert keep(client, text)["games"] == 1
    (path,) = games.glob("*.pdn")
    (game,) = pdn.load(path)
    (sent,) = pdn.loads(text)
    assert (game.moves, game.result) == (sent.moves, sent.result)
    assert sent.tags.items() <= game.tags.items()
    assert client.get("/api/archive/pdn").json()["pdn"] == path.read_text()
    (line,) = client.get("/api/archive").json()["results"]
    assert (line["agent"], line["wins"], line["rated_games"]) == ("blondie24 (depth 2)", 1, 1)
    assert line["rating"]["mean"] == pytest.approx(1600 + 32 * (1 - 1 / (1 + 10 ** (-100 / 400))))


def test_learning_agent_is_told_the_result_once(client, strangers, capsys):
    start = "W:W10:B2,3"
    label = analyse(client, agent=strangers["Learner"], seed=5, start=start)["label"]
    text = record(label, 0, moves=f'[FEN "{start}"]\n\n1... 10-7 2. 3x10')
    said, _ = "", capsys.readouterr()
    for seed in (4, 5, 5):
        keep(client, text.replace("\n\n[", "\n["), seed)
    end = create_board(start, ["10-7", "3x10"]).fen()
    while "closed" not in said:
        said += capsys.readouterr().out
    assert said == f"heard {end} {WHITE}\nclosed\n"


def test_agent_that_hangs_at_the_end_keeps_nobody_waiting(client, strangers, monkeypatch):
    monkeypatch.setattr(archive, "GAME_OVER_SECONDS", 0.1)
    label, freed = analyse(client, agent=strangers["Learner"])["label"], Event()
    (place,) = client.app.state.pool._places.values()
    place.agent = SimpleNamespace(game_over=lambda board, side: freed.wait(60))
    try:
        assert keep(client, record(label, 1, side=WHITE))["games"] == 1
    finally:
        freed.set()


def test_game_that_cannot_be_written_is_reported(client, games):
    games.write_text("a file in the place of the folder")
    answer = client.post("/api/archive", json={"pdn": record("x", 1)})
    assert "could not be read or written" in error_of(answer, 500)


def save(games, *records):
    for text in records:
        archive.save_game(games, pdn.loads(text)[0])
    return archive.results_by_agent(archive.load_games(games))


def test_rating_follows_the_papers_formula(games):
    (standing,) = save(games, record("x", 1, 1700), record("x", 0.5, 1500, side=WHITE))
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
    assert save(games, record("y", 1, 1700))[1].rating.mean == pytest.approx(1620.48, abs=0.01)
    unrated = save(games, record("z", 1), record("z", 1, 1700, rated=False))[2]
    assert unrated == ("z", 2, 0, 0, 0, None)


def test_foreign_files_among_the_games_are_ignored(games, caplog):
    save(games, record("x", 1, 1700))
    (games / "0.pdn").write_text("not a game")
    (games / "1.pdn").write_bytes(b"\xff\xfe")
    (games / "2.pdn").write_text('[Black "Ada"]\n[White "Bob"]\n\n1. 11-15 1-0\n')
    assert [standing.agent for standing in save(games)] == ["x"]
    assert caplog.text.count("is passed over") == 2


# The rest


def test_explanation_equals_that_of_agents_explain(client):
    answer = client.get("/api/explain", params={"agent": "blondie24", "fen": FORCED})
    expected = agents.explain(agents.make("blondie24"), Board(FORCED)).to_json()
    assert answer.json() == json.loads(json.dumps(expected))


def test_forms_offer_all_options(client):
    for path in ("/", "/compare"):
        text = client.get(path).text
        for name in [*agents.available(), *openings.TWO_MOVE, *openings.THREE_MOVE]:
            assert f'value="{name}"' in text
    assert 'data-limit="simulations" data-most="1000000" data-standard="1000"' in text


def test_wrong_options_are_refused(tmp_path):
    (tmp_path / "file").touch()
    for options, message in (
        (["--host", "0.0.0.0"], "--host must be this machine's own address"),
        (["--host", "example.com"], "--host must be this machine's own address"),
        (["--port", "65536"], "--port must be 0 to 65535, not 65536"),
        (["--games", str(tmp_path / "file")], r"--games must be a folder, not the file '.*file'"),
        (["--runs", str(tmp_path / "file")], r"--runs must be a folder, not the file '.*file'"),
        (["--games", str(tmp_path / "file" / "x")], r"--games must be a folder, not below the"),
        (["--games", "/proc/inside"], "no games can be kept in '/proc/inside': "),
        (["--agent", "missing.safetensors"], "there is no weight file"),
    ):
        with pytest.raises(ValueError, match=message):
            serve.run(options, None)


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


# Preparation of the engine


def test_preparation_is_done_unless_it_was_started(client):
    assert client.get("/api/preparation").json() == {"seconds": None, "typical": 10}


def test_first_opponents_answer_alike_before_kernels_are_compiled(client, monkeypatch):
    """Only the counts of positions may differ: the hashes of the table do."""
    early, gate = preparation.Preparation(), Event()
    early.start(get_context("spawn").Lock(), after=SimpleNamespace(wait=lambda stop: gate.wait()))
    monkeypatch.setattr(preparation, "PREPARATION", early)
    first = [one.id for one in OPPONENTS if one.agent in preparation.FIRST]
    asked = [
        {"opponent": name, "moves": moves.split(), "seed": seed}
        for name in first
        for seed, moves in enumerate(("", "9-13 22-18 12-16 18-14 10x17", "11-15 22-18 15x22"))
    ]

    def answers():
        return [analyse(client, **it) | {"nodes": None, "seconds": None} for it in asked]

    assert len(first) == 9
    plain = answers()
    illegal = client.post("/api/analysis", json={"opponent": "random", "moves": ["11-20"]})
    assert error_of(illegal).startswith("'11-20' is illegal")
    gate.set()
    early.wait(Event())
    assert plain == answers()
