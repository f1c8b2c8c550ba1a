"""Language models as players, with a local server that answers well, badly or never."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import agents
from agents.external.errors import EngineError
from agents.external.llm import LLMAgent, describe_position, make_llm
from checkers_env.board import Board
from training import benchmark


def reply(text):
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


class Server:
    """Chat-completions server that sends a list of answers and repeats the last one."""

    def __init__(self):
        outer, self.requests, self.answers = self, [], []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), json.loads(body)))
                answer = outer.answers[0] if len(outer.answers) == 1 else outer.answers.pop(0)
                if callable(answer):
                    answer(self)
                    return
                status, content = answer
                self.send_response(status)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def says(self, *texts):
        self.answers = [(200, reply(text)) for text in texts]

    @property
    def last(self):
        return self.requests[-1][2]["messages"]


@pytest.fixture
def server():
    it = Server()
    yield it
    it.server.shutdown()
    it.server.server_close()


def test_model_gets_the_position_and_its_move_is_played(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret\r\n")
    server.says("Black should take the centre. My move: 11-15")
    agent = agents.make(f"llm:{server.url}:some-model:8b", temperature=0.5, max_tokens=30)
    board = Board()
    assert str(agent.act(board)) == "11-15"
    path, headers, body = server.requests[0]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", "Bearer secret")
    assert (body["model"], body["temperature"]) == ("some-model:8b", 0.5)
    assert body["max_tokens"] == 30
    text = body["messages"][-1]["content"]
    assert board.fen() in text
    assert "Black men: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12. Black kings: none." in text
    assert "Legal moves" not in text
    assert (agent.answers, agent.illegal_answers) == (1, 0)


@pytest.mark.parametrize("key", ["sec\rret", "sécret", "\x7f"])
def test_key_that_no_header_holds_is_refused_unseen(key, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ValueError, match="OPENAI_API_KEY has characters") as refused:
        LLMAgent("http://127.0.0.1:9/v1", "model")
    assert "ret" not in str(refused.value)


def test_interrupt_from_another_thread_ends_the_request(server):
    asked, ended = threading.Event(), threading.Event()

    def hang(handler):
        asked.set()
        ended.wait(60)

    server.answers = [hang]
    agent = LLMAgent(server.url, "model")
    threading.Thread(target=lambda: asked.wait(60) and agent.interrupt(), daemon=True).start()
    try:
        with pytest.raises(EngineError, match="cannot be reached"):
            agent.act(Board())
        with pytest.raises(EngineError, match="was interrupted"):
            agent.act(Board())
    finally:
        ended.set()


def test_position_is_described_in_words():
    board = Board("W:W18,K31:B12,K3")
    board.push("18-15")
    board.push("12-16")
    assert describe_position(board, legal=True).splitlines() == [
        "You are White, and it is your turn.",
        "Black men: 16. Black kings: 3.",
        "White men: 15. White kings: 31.",
        f"FEN: {board.fen()}",
        "Moves so far: 18-15, 12-16",
        f"Legal moves: {', '.join(map(str, board.legal_moves))}",
    ]


def test_model_is_asked_again_after_an_illegal_answer(server):
    server.says("12-13", "I resign", "The move 11-16 is bad, so I play 9-14.")
    agent = LLMAgent(server.url, "model")
    assert str(agent.act(Board())) == "9-14"
    assert (agent.answers, agent.illegal_answers) == (3, 2)
    roles = [message["role"] for message in server.last]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert server.last[3]["content"].startswith("12-13 is illegal in B:W")
    assert "no move in 'I resign'" in server.last[5]["content"]


def test_model_without_a_legal_move_forfeits_with_the_reason(server):
    server.says("1-5")
    agent = LLMAgent(server.url, "model", retries=1)
    with pytest.raises(EngineError, match=r"model: no legal move in 2 answers; 1-5 is illegal in"):
        agent.act(Board())
    assert (agent.answers, agent.illegal_answers) == (2, 2)


def drop(handler):
    handler.connection.close()


def trickle(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass


def silence(handler):
    time.sleep(2)


FAILURES = {
    "an error": ((500, b"out of memory"), "answers 500 Internal Server Error: 'out of memory'"),
    "no JSON": ((200, b"<html>"), "sends no chat completion: '<html>'"),
    "other JSON": ((200, b'{"choices": []}'), "sends no chat completion"),
    "no text": ((200, b'{"choices": [{"message": {"content": null}}]}'), "no chat completion"),
    "deep JSON": ((200, b"[" * 100_000), "sends no chat completion"),
    "a flood": ((200, b" " * 3_000_000), "sends more than 1,000,000 bytes"),
    "a closed connection": (drop, "cannot be reached"),
    "silence": (silence, r"gave no legal move within 0\.4 s"),
    "a trickle": (trickle, r"gave no legal move within 0\.4 s"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_failing_server_is_named_in_the_error(server, failure):
    answer, message = FAILURES[failure]
    server.answers = [answer]
    timeout = 0.4 if "within" in message else 30.0
    with pytest.raises(EngineError, match=f"model: the server at {server.url} .*{message}"):
        LLMAgent(server.url, "model", timeout=timeout).act(Board())
    with pytest.raises(EngineError, match="cannot be reached"):
        LLMAgent("http://127.0.0.1:9/v1", "model", timeout=5.0).act(Board())


def test_time_of_a_move_includes_all_its_answers(server):
    def think(handler):
        time.sleep(0.15)
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(reply("12-13"))

    server.answers = [think]
    agent = LLMAgent(server.url, "model", retries=1000, timeout=0.4)
    with pytest.raises(EngineError, match=r"no legal move within 0\.4 s"):
        agent.act(Board())
    assert 1 <= agent.illegal_answers <= 2


def test_league_shows_the_share_of_illegal_answers(server, tmp_path, monkeypatch, capsys):
    server.says("12-13")
    model = f"llm:{server.url}:clever@retries=1"
    options = ["--against", "random", "--openings", "start", "--seed", "3"]
    monkeypatch.setattr(sys, "argv", ["benchmark.py", model, *options, "--out", str(tmp_path)])
    assert benchmark.main() == 0
    games = json.loads((tmp_path / "league.json").read_text())["games"]
    assert [game["score"] for game in games] == [0.0, 1.0]
    assert all("forfeits: clever: no legal move in 2 answers" in game["reason"] for game in games)
    assert [game["answers"] for game in games] == [[2, 0], [0, 2]]
    sentence = "4 of 4 answers were illegal (100.0%)"
    assert sentence in " ".join(capsys.readouterr().out.split())
    assert sentence in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("address", "url", "model"),
    [
        ("http://localhost:8080/v1:m", "http://localhost:8080/v1", "m"),
        ("http://localhost:8080:llama3:8b", "http://localhost:8080", "llama3:8b"),
        ("https://example.org/v1/:a/b", "https://example.org/v1", "a/b"),
        ("http://[::1]:8080/v1:m", "http://[::1]:8080/v1", "m"),
    ],
)
def test_addresses(address, url, model):
    agent = make_llm(address)
    assert (agent._url, agent.name) == (url, model)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("llm:model", {}, "write llm:URL:MODEL"),
        ("llm:file:///etc/passwd:m", {}, "write llm:URL:MODEL"),
        ("llm:http://localhost/v1", {}, "write llm:URL:MODEL"),
        ("llm:http://h/v1:m", {"retries": -1}, "retries must be a whole number from 0 on, not -1"),
        ("llm:http://h/v1:m", {"timeout": 0}, "timeout must be a number of seconds above 0"),
        ("llm:http://h/v1:m", {"temperature": 3}, "temperature must be 0 to 2, not 3"),
        ("llm:http://h/v1:m", {"legal": 1}, "legal is true or false, not 1"),
        ("llm:http://h/v1:m", {"depth": 3}, "cannot be made with"),
    ],
)
def test_bad_addresses_and_options_are_refused(text, options, message):
    with pytest.raises(ValueError, match=message):
        agents.make(text, **options)
