"""The page answers others while one request is hostile, and ends at the first Ctrl-C."""

import os
import platform
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx2
import pytest

HANGING = """
class Works:
    def act(self, board):
        while True:
            pass
"""
ANSWER_SECONDS = 5.0  # generous: one second is what the docs promise


class Server:
    """``checkers-play`` in a process of its own."""

    def __init__(self, folder, *options):
        command = [sys.executable, "-c", START, "--no-open", "--port", "0"]
        command += ["--games", str(folder / "games"), "--runs", str(folder / "runs"), *options]
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stderr=log)
        while not (found := re.search(r"http://127.0.0.1:([0-9]+)/", self.log.read_text())):
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.05)
        self.address, self.port = found[0], int(found[1])

    def connect(self, text):
        """Send a part of a request."""
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.sendall(text.replace("\n", "\r\n").encode())
        return connection

    def request(self, method, path, timeout=60, **options):
        with httpx2.Client(base_url=self.address, timeout=timeout) as client:
            return client.request(method, path, **options)


SERVE = "import sys; from training.app import serve; sys.exit(serve.main())"
# No warm-up: it would take a core for a minute where kernels are not compiled yet.
START = f"""
from training.app import preparation, request_body, serve
preparation.Preparation.start = lambda self, told, after=None: None
serve.HEADER_SECONDS = request_body.BODY_SECONDS = 2.0
{SERVE}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "runs").mkdir()
    os.mkfifo(folder / "runs" / "pipe.safetensors")
    (folder / "hanging.py").write_text(HANGING)
    return folder


@pytest.fixture(scope="module")
def server(folder, request):
    options = getattr(request, "param", ())
    server = Server(folder, *(text.format(folder=folder) for text in options))
    yield server
    server.process.kill()
    server.process.wait()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_others_are_answered_during_a_hostile_request(server, folder):
    pipe = {"agent": str(folder / "runs" / "pipe.safetensors")}
    spaces = "B:W1" + " " * 50_000 + "x"
    hostile = [
        ("/api/analysis", {"start": spaces}),
        ("/api/analysis", {"moves": ["11-15"] * 60_000}),
        ("/api/analysis", pipe),
        ("/api/player", pipe),
        ("/api/archive", {"pdn": "(\n[a\n" * 16_000}),
        ("/api/archive", {"pdn": f'[FEN "{spaces}"]'}),
        ("/api/archive", {"pdn": "11-15 24-19 15-24 28-19 " * 4000}),
        ("/api/archive", {"pdn": "[" * 99_999}),
        ("/api/launch", {"preset": "../" * 30_000, "generations": 1, "seed": 0}),
        ("/api/launch", {"preset": "c0", "generations": 10**4000, "seed": 0}),
    ]
    answers = {}
    for number, (path, body) in enumerate(hostile):

        def ask(number=number, path=path, body=body):
            answers[number] = server.request("POST", path, json=body)

        thread = threading.Thread(target=ask)
        thread.start()
        longest = 0.0
        while True:
            running, start = thread.is_alive(), time.monotonic()
            assert server.request("GET", "/static/style.css").status_code == 200
            longest = max(longest, time.monotonic() - start)
            if not running:
                break
        assert longest < ANSWER_SECONDS, (path, body)
        assert answers[number].status_code == 400, answers[number].text[:200]
        assert len(answers[number].text) < 2000
        assert answers[number].json()["error"]


def test_incomplete_request_is_ended_without_a_traceback(server):
    head = f"POST /api/player HTTP/1.1\nHost: 127.0.0.1:{server.port}\n"
    body = head + "Content-Type: application/json\nContent-Length: 100\n\n{"
    slow = [server.connect(text) for text in ("", "GET / HT", head, body)]
    dropped = server.connect(body)
    time.sleep(0.5)
    dropped.close()
    received = []
    for connection in slow:
        connection.settimeout(20)
        received.append(connection.makefile("rb").read())  # until the server closes it
        connection.close()
    assert received[:3] == [b""] * 3
    assert b" 408 " in received[3]
    assert b"did not arrive within 2 seconds" in received[3]
    assert server.request("GET", "/static/style.css").status_code == 200
    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize("server", [["--agent", "{folder}/hanging.py:Works"]], indirect=True)
def test_hanging_agent_does_not_keep_the_command_from_ending(server):
    endless = {"agent": "blondie24", "amount": 64, "seconds": 60}
    for body in ({"agent": server.process.args[-1]}, endless):
        with pytest.raises(httpx2.ReadTimeout):
            server.request("POST", "/api/analysis", timeout=1, json=body)
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(60) == 0
    assert "Traceback" not in server.log.read_text()


ALLOCATE = """
import threading
import numpy as np
from training.app import serve
serve.share_heap()
gate = threading.Barrier(5)
for _ in range(4):
    threading.Thread(target=lambda: (np.empty(10_000), gate.wait())).start()
gate.wait()
print(open("/proc/self/maps").read())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has a heap a thread")
def test_threads_of_the_server_share_one_heap():
    maps = subprocess.run([sys.executable, "-c", ALLOCATE], capture_output=True, check=True).stdout
    reserved = re.findall(rb"([0-9a-f]+)-([0-9a-f]+) ---p", maps)
    assert all(int(end, 16) - int(start, 16) < 1 << 25 for start, end in reserved)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no sessions")
@pytest.mark.parametrize("pauses", [(0,), (0, 0.02), (0, 0.2)])
def test_ctrl_c_while_kernels_are_compiled_ends_silently(tmp_path, pauses):
    """It reaches all processes of a terminal: those that begin just then, too."""
    command = [sys.executable, "-c", SERVE, "--no-open", "--port", "0", "--games", str(tmp_path)]
    process = subprocess.Popen(
        command,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert any("Games are kept" in line for line in iter(process.stderr.readline, ""))
    for pause in pauses:
        time.sleep(pause)
        os.killpg(process.pid, signal.SIGINT)
    assert "Traceback" not in process.communicate(timeout=60)[1]
    assert process.returncode in (0, -signal.SIGINT)
