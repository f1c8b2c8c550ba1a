"""Language models as players, over the usual chat-completions interface."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from agents.external.channel import shut_down
from agents.external.errors import EngineError
from checkers_env.board import Board
from checkers_env.movegen import BLACK
from checkers_env.moves import Move, format_moves, square_to_bit

KEY = "OPENAI_API_KEY"  # environment variable that clients of this interface commonly read
LONGEST_ANSWER = 1_000_000  # bytes
LEAST = 0.001  # seconds: a timeout of 0 has another meaning
LONGEST_QUOTE = 200  # characters of an answer in an error
ADDRESS = re.compile(r"(https?://(?:\[[^\]]*\]|[^/:]+)(?::\d+)?(?:/[^:]*)?):(.+)", re.DOTALL)
MOVE = re.compile(r"\d{1,2}(?:[-x]\d{1,2})+")
RULES = (
    "You play English draughts (American checkers) on squares 1 to 32. Black starts on 1 to 12, "
    "moves first and moves towards 32. White starts on 21 to 32 and moves towards 1. Men move and "
    "jump forwards only; kings in both directions, one square at a time. A jump must be made if "
    "there is one, and goes on as long as it can. A man that reaches the last row becomes a king, "
    "and its move ends. Who cannot move has lost. Write moves as 11-15 and jumps as 22x15, or with "
    "every square where that is needed, as 22x15x8. End your answer with your move."
)


def make_llm(address: str, **options: Any) -> LLMAgent:
    """Make the agent of ``URL:MODEL``. Raise ValueError for another text."""
    if (match := ADDRESS.fullmatch(address)) is None:
        example = "llm:http://localhost:8080/v1:my-model"
        raise ValueError(f"write llm:URL:MODEL, as {example}, not {'llm:' + address!r}")
    return LLMAgent(match[1].rstrip("/"), match[2], **options)


class LLMAgent:
    """A language model behind a server with the chat-completions interface.

    The model gets the rules, the moves so far and the position in words and as FEN, and the `legal`
    moves if asked for. After an illegal answer it is told so, and asked again, `retries` times. All
    answers to a position have `timeout` seconds together. `max_tokens` limits an answer; 0 is the
    server's own limit. Requests go to ``URL/chat/completions``. A key for the server is read from
    the environment variable OPENAI_API_KEY.

    Raises
    ------
    ValueError
        For numbers out of their range, and for a key that an HTTP header cannot hold.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        legal: bool = False,
        retries: int = 2,
        timeout: float = 60.0,
        temperature: float = 0.0,
        max_tokens: int = 0,
    ) -> None:
        if not isinstance(legal, bool):
            raise ValueError(f"legal is true or false, not {legal!r}")
        for name, value in (("retries", retries), ("max_tokens", max_tokens)):
            if type(value) is not int or value < 0:
                raise ValueError(f"{name} must be a whole number from 0 on, not {value!r}")
        if not 0 < timeout < float("inf"):
            raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}")
        if not 0 <= temperature <= 2:
            raise ValueError(f"temperature must be 0 to 2, not {temperature!r}")
        self.name = model
        self.answers = self.illegal_answers = 0
        self._url, self._legal, self._retries, self._timeout = url, legal, retries, timeout
        parts = urlsplit(f"{url}/chat/completions")
        https = parts.scheme == "https"
        kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
        self._path, self._connect = parts.path, partial(kind, parts.netloc)
        self._connected: socket.socket | None = None  # during a request
        self._is_interrupted = False
        read_key()
        self._options: dict[str, Any] = {"model": model, "temperature": temperature}
        if max_tokens:
            self._options["max_tokens"] = max_tokens

    def act(self, board: Board) -> Move:
        """Return the model's move. Raise EngineError without a legal answer."""
        messages = [
            {"role": "system", "content": RULES},
            {"role": "user", "content": describe_position(board, self._legal)},
        ]
        error, end = "", time.monotonic() + self._timeout
        for _ in range(self._retries + 1):
            if self._is_interrupted:
                raise EngineError(f"{self.name} was interrupted")
            answer = self._request(messages, end)
            self.answers += 1
            try:
                return _read_move(answer, board)
            except ValueError as illegal:
                error = str(illegal)
            self.illegal_answers += 1
            messages += [
                {"role": "assistant", "content": answer},
                {"role": "user", "content": f"{error}. Answer with a legal move."},
            ]
        count = self._retries + 1
        raise EngineError(
            f"{self.name}: no legal move in {count} answer{'s' if count > 1 else ''}; {error}"
        )

    def interrupt(self) -> None:
        """End the request from another thread; it raises EngineError, as does any later one."""
        self._is_interrupted = True
        if connected := self._connected:
            shut_down(connected)

    def _request(self, messages: list[dict[str, str]], end: float) -> str:
        """Return the text of the server's answer. Raise EngineError if there is none by `end`."""
        headers = {"Content-Type": "application/json"}
        if key := read_key():
            headers["Authorization"] = f"Bearer {key}"
        body = json.dumps({**self._options, "messages": messages}).encode()
        late = f"gave no legal move within {self._timeout:g} s"
        try:
            with closing(self._connect(timeout=max(end - time.monotonic(), LEAST))) as connection:
                connection.connect()
                self._connected = connection.sock
                if self._is_interrupted:
                    raise self._error("was interrupted")
                # The timeout of a connection starts again with every byte.
                left = max(end - time.monotonic(), LEAST)
                timer = threading.Timer(left, shut_down, [connection.sock])
                timer.start()
                try:
                    connection.request("POST", self._path, body, headers)
                    response = connection.getresponse()
                    content = response.read(LONGEST_ANSWER + 1)
                finally:
                    timer.cancel()
                    self._connected = None
        except (OSError, http.client.HTTPException) as error:
            too_late = time.monotonic() >= end
            raise self._error(late if too_late else f"cannot be reached: {error}") from None
        if time.monotonic() >= end:  # the answer may have been cut off
            raise self._error(late)
        if response.status != http.client.OK:
            text = _quote(content.decode(errors="replace"))
            raise self._error(f"answers {response.status} {response.reason}: {text}")
        if len(content) > LONGEST_ANSWER:
            raise self._error(f"sends more than {LONGEST_ANSWER:,} bytes")
        try:
            answer = json.loads(content)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            answer = None
        if not isinstance(answer, str):
            text = _quote(content.decode(errors="replace"))
            raise self._error(f"sends no chat completion: {text}")
        return answer

    def _error(self, message: str) -> EngineError:
        return EngineError(f"{self.name}: the server at {self._url} {message}")


def read_key() -> str:
    """Return the key of the server, from the environment; empty if there is none.

    One that an HTTP header cannot hold is a ValueError, whose message does not show it.
    """
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError(f"{KEY} has characters that are not allowed in an HTTP header")
    return key


def describe_position(board: Board, legal: bool = False) -> str:
    """Return a position in words, with its FEN and the moves so far."""
    return "\n".join(_describe(board, legal))


def _describe(board: Board, legal: bool) -> Iterator[str]:
    yield f"You are {'Black' if board.turn == BLACK else 'White'}, and it is your turn."
    for side, pieces in (("Black", board.black), ("White", board.white)):
        men, kings = _squares(pieces & ~board.kings), _squares(pieces & board.kings)
        yield f"{side} men: {men}. {side} kings: {kings}."
    yield f"FEN: {board.fen()}"
    if board.moves:
        yield f"Moves so far: {format_moves(board.moves)}"
    if legal:
        yield f"Legal moves: {format_moves(board.legal_moves)}"


def _squares(pieces: int) -> str:
    squares = [square for square in range(1, 33) if pieces >> square_to_bit(square) & 1]
    return ", ".join(map(str, squares)) or "none"


def _read_move(answer: str, board: Board) -> Move:
    """Return the last move in an answer. Raise ValueError for an illegal one, or none."""
    found = MOVE.findall(answer)
    if not found:
        raise ValueError(f"there is no move in {_quote(answer)}")
    try:
        return board.parse_move(found[-1])
    except ValueError:
        raise ValueError(f"{found[-1]} is illegal in {board.fen()}") from None


def _quote(text: str) -> str:
    short = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}..."
    return repr(short)
