"""Language models as players, with a local server that answers well, badly or never."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import agents
from agents.external.llm import Answer, BadAnswerError, LLMAgent, make_llm, read_move
from checkers_env.board import Board
from checkers_env.errors import EngineError, UnavailableError
from training import benchmark


def reply(text, reason="stop", **others):
    choice = {"message": {"content": text, **others}, "finish_reason": reason}
    return json.dumps({"choices": [choice]}).encode()


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
                status, content, *headers = answer
                self.send_response(status)
                for header in headers:
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

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
    server.says("Black should take the centre.\nFinal answer: 11-15")
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
    assert agent.answers == {"played": 1}


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
        with pytest.raises(EngineError, match="was interrupted"):
            agent.act(Board())
        with pytest.raises(EngineError, match="was interrupted"):
            agent.act(Board())
    finally:
        ended.set()


READ = {  # answers, each a kind, and the moves in them
    "Final answer: 11-15\nReason: it stops 9-13.": "11-15",
    "I see 9-13 and 9-14.\n**Final answer: 11 to 15**": "11-15",
    "Final answer: 9-13\nNo.\n  final ANSWER: 11 - 15.": "11-15",
    "Final answer: 11\u201315": "11-15",
    "Final answer: 1. 11x15, as 9-14 loses": "11-15",
    "Let me see: 9-13?\n11-15.": "11-15",
    '{"reason": "9-13 loses", "move": "11-15"}': "11-15",
    '```json\n{"move": "11-15"}\n```': "11-15",
}


@pytest.mark.parametrize("text", READ)
def test_answers_are_read(text):
    assert str(read_move(Answer(text), Board())) == READ[text]


def test_captures_are_read_by_their_ends_or_their_path():
    board = Board("W:W22,K32:B18,11,12")
    for text in ("22x8", "22-8", "22 x 15 x 8", "22 to 15 to 8"):
        assert str(read_move(Answer(f"Final answer: {text}"), board)) == "22x8"
    diamond = Board("B:W6,7,14,15:BK2")
    with pytest.raises(BadAnswerError, match="2x2 is ambiguous: write 2x9x18x11x2 or 2x11x18x9x2"):
        read_move(Answer("2x2"), diamond)


PLAIN = "Final answer: 9-14"
RETRIED = {  # an answer that is not played, its kind, and what the model is told
    "illegal": ((200, reply("Final answer: 12-13")), "illegal", "12-13 is illegal in B:W"),
    "no square": ((200, reply("33-37")), "illegal", "'33-37' names square 33: squares are 1 to 32"),
    "no move": ((200, reply("I resign")), "unparsable", "There is no move in the last line of 'I"),
    "talk": ((200, reply("9-13 is bad, so 9-14")), "unparsable", "There is no move in the last"),
    "empty": ((200, reply("")), "unparsable", "There is no move in the last line of ''"),
    "a bad object": ((200, reply('{"move": 7}')), "unparsable", "There is no move in the last"),
    "text and length": ((200, reply("Hm, 9-13", "length")), "cut off", "The answer was cut off"),
    "refusal": ((200, reply(None, refusal="I can't")), "refused", "The answer was refused"),
    "filter": ((200, reply(None, "content_filter")), "refused", "The answer was refused"),
}


@pytest.mark.parametrize("name", RETRIED)
def test_model_is_asked_again_after_a_bad_answer(server, name):
    answer, kind, told = RETRIED[name]
    server.answers = [answer, (200, reply(PLAIN))]
    agent = LLMAgent(server.url, "model", retries=1)
    assert str(agent.act(Board())) == "9-14"
    assert agent.answers == {kind: 1, "played": 1}
    roles = [message["role"] for message in server.last]
    assert roles in (["system", "user"], ["system", "user", "assistant", "user"])
    assert f"\n{told}" in server.last[-1]["content"]
    assert "11-16" not in server.last[-1]["content"]  # the legal moves stay untold
    server.answers = [answer]
    with pytest.raises(EngineError, match=f"model: no legal move in 2 answers; {told}"):
        agent.act(Board())
    assert agent.answers == {kind: 3, "played": 1}


PARTS = [{"type": "thinking", "thinking": []}, {"type": "text", "text": PLAIN}]


@pytest.mark.parametrize(
    "content",
    [reply(PARTS), reply(None, reasoning_content=f"Hm.\n{PLAIN}"), reply(PLAIN, "length")],
)
def test_answers_in_other_places_are_read(server, content):
    server.answers = [(200, content)]
    agent = LLMAgent(server.url, "model", retries=0)
    assert str(agent.act(Board())) == "9-14"


def test_json_is_asked_of_the_server(server):
    server.says('{"move": "9-14"}')
    assert str(LLMAgent(server.url, "model", json=True, legal=True).act(Board())) == "9-14"
    body = server.requests[0][2]
    assert "\nLegal moves: 9-13, 10-14, 11-15, " in body["messages"][-1]["content"]
    assert body["response_format"] == {"type": "json_object"}
    assert body["messages"][0]["content"].endswith('{"move": "11-15"}, with your move.')


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


BUSY, PAST = "Too Many Requests", "Wed, 21 Oct 2015 07:28:00 GMT"
FAILURES = {  # pauses before further requests, and the error after the budget of 7 seconds
    "an error": ((500, b"no memory"), [1, 2, 4], "answers 500 Internal Server Error: 'no memory'"),
    "a pause": ((429, b"", ("Retry-After", "3")), [3, 3], f"answers 429 {BUSY}: ''"),
    "a far date": ((429, b"", ("Retry-After", PAST.replace("2015", "2915"))), [], "answers 429"),
    "a long pause": ((503, b"", ("Retry-After", "3600")), [], "answers 503 Service Unavailable"),
    "no pause": ((503, b"", ("Retry-After", "soon")), [1, 2, 4], "answers 503 Service Unavailable"),
    "a wrong key": ((401, b"key?"), [], r"answers 401 Unauthorized: 'key\?'"),
    "no JSON": ((200, b"<html>"), [1, 2, 4], "sends no chat completion: '<html>'"),
    "other JSON": ((200, b'{"choices": []}'), [1, 2, 4], "sends no chat completion"),
    "deep JSON": ((200, b"[" * 100_000), [1, 2, 4], "sends no chat completion"),
    "a flood": ((200, b" " * 3_000_000), [1, 2, 4], "sends more than 1,000,000 bytes"),
    "a closed connection": (drop, [1, 2, 4], "cannot be reached"),
    "silence": (silence, [1], r"gave no answer within 0\.2 s"),
    "a trickle": (trickle, [1], r"gave no answer within 0\.2 s"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_failing_server_is_asked_again_within_the_budget(server, failure, monkeypatch):
    answer, expected, message = FAILURES[failure]
    server.answers, pauses = [answer], []

    monkeypatch.setattr(LLMAgent, "_wait", lambda agent, seconds: pauses.append(seconds))
    slow = "within" in message
    timeout, budget = (0.2, 1.3) if slow else (30.0, 7.5)
    agent = LLMAgent(server.url, "model", timeout=timeout, budget=budget)
    with pytest.raises(UnavailableError, match=f"model: the server at {server.url} {message}"):
        agent.act(Board())
    assert (pauses, agent.answers) == (expected, {"failed": len(server.requests)})


def test_server_that_works_again_costs_no_answer(server, monkeypatch):
    monkeypatch.setattr(LLMAgent, "_wait", lambda agent, seconds: None)
    server.answers = [(503, b""), (200, reply("12-13")), (429, b""), (200, reply(PLAIN))]
    agent = LLMAgent(server.url, "model", retries=1)
    assert str(agent.act(Board())) == "9-14"
    assert agent.answers == {"failed": 2, "illegal": 1, "played": 1}
    with pytest.raises(UnavailableError, match="cannot be reached"):
        LLMAgent("http://127.0.0.1:9/v1", "model", budget=0.0).act(Board())


def play_benchmark(monkeypatch, model, folder, *options):
    words = ["--against", "random", "--openings", "start", "--seed", "3", "--out", str(folder)]
    monkeypatch.setattr(sys, "argv", ["benchmark.py", model, *words, *options])
    return benchmark.main()


def test_game_without_a_server_is_not_played_but_resumed(server, tmp_path, monkeypatch, capsys):
    server.answers = [(200, reply("12-13")), (401, b"")]
    model, options = f"llm:{server.url}:clever@retries=0", ("--threads", "1")
    assert play_benchmark(monkeypatch, model, tmp_path, *options) == 0
    games = json.loads((tmp_path / "league.json").read_text())["games"]
    assert [(game["number"], game["score"]) for game in games] == [(0, 0.0)]
    told = " ".join(capsys.readouterr().out.split())
    assert "1 of 2 games were not played; --resume plays them. The first: game 2: clever:" in told
    server.answers = [(200, reply(None, "length"))]
    assert play_benchmark(monkeypatch, model, tmp_path, *options, "--resume") == 0
    games = json.loads((tmp_path / "league.json").read_text())["games"]
    assert all("forfeits: clever: no legal move in 1 answer;" in game["reason"] for game in games)
    sentence = "of 2 answers 1 illegal (50.0%), 1 cut off (50.0%)"
    assert sentence in " ".join(capsys.readouterr().out.split())
    assert sentence in (tmp_path / "report.html").read_text()
    server.answers = [(401, b"")]
    assert play_benchmark(monkeypatch, model, tmp_path / "new") == 1
    assert "2 of 2 games were not played" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("address", "url", "model"),
    [
        ("http://localhost:8080/v1:m", "http://localhost:8080/v1", "m"),
        ("http://localhost:8080:llama3:8b", "http://localhost:8080", "llama3:8b"),
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
        ("llm:http://h/v1:m", {"retries": -1}, "retries must be a whole number from 0 on, not -1"),
        ("llm:http://h/v1:m", {"timeout": 0}, "timeout must be a number of seconds above 0"),
        ("llm:http://h/v1:m", {"temperature": 3}, "temperature must be 0 to 2, not 3"),
        ("llm:http://h/v1:m", {"budget": -1}, "budget must be a number of seconds from 0 on"),
        ("llm:http://h/v1:m", {"legal": 1}, "legal must be true or false, not 1"),
        ("llm:http://h/v1:m", {"json": 1}, "json must be true or false, not 1"),
        ("llm:http://h/v1:m", {"depth": 3}, "cannot be made with"),
    ],
)
def test_bad_addresses_and_options_are_refused(text, options, message):
    with pytest.raises(ValueError, match=message):
        agents.make(text, **options)
