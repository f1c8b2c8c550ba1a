"""Language models as players, over the usual chat-completions interface."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import threading
import time
from collections import Counter
from contextlib import closing
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from agents.external.channel import shut_down
from checkers_env.board import Board
from checkers_env.errors import EngineError, UnavailableError
from checkers_env.moves import MARK, Move, find_moves, format_moves, squares_of
from checkers_env.render.scene import SIDES
from checkers_env.state import DrawRules

KEY = "OPENAI_API_KEY"  # environment variable that clients of this interface commonly read
LONGEST_ANSWER = 1_000_000  # bytes
LONGEST_QUOTE = 200  # characters of an answer in an error
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds before a request is sent again
PASSING = {408, 425, 429, *range(500, 600)}  # HTTP statuses of failures that may pass
ADDRESS = re.compile(r"(https?://(?:\[[^\]]*\]|[^/:]+)(?::\d+)?(?:/[^:]*)?):(.+)", re.DOTALL)
MARKED = re.compile(r"^[^\w\n]*final answer[^\w\n]*?:(.*)$", re.IGNORECASE | re.MULTILINE)
MOVE = re.compile(rf"(?<!\d)\d{{1,2}}(?:{MARK}\d{{1,2}}){{1,12}}(?!\d)")  # at most 12 jumps
RULES = (
    "You play English draughts (American checkers) on squares 1 to 32. Black starts on 1 to 12, "
    "moves first and moves towards 32. White starts on 21 to 32 and moves towards 1. Men move and "
    "jump forwards only; kings in both directions, one square at a time. A jump must be made if "
    "there is one, any of several may be chosen, and it goes on as long as it can. A man that "
    "reaches the last row becomes a king, and its move ends. Who cannot move {blocked}.{draws} "
    "Write moves as 11-15 and jumps as 22x15, or with every square where that is needed, as "
    "22x15x8. {form}"
)
DRAWS = {
    "max_moves": "after {} moves by each side",
    "repetition": "when a position occurs for time number {} with the same side to move",
    "no_progress": "after {} moves by each side without a capture or a man's move",
}
LINE = 'End your answer with one line of the form "Final answer: 11-15", with your move.'
OBJECT = 'Answer with a JSON object of the form {"move": "11-15"}, with your move.'


def make_llm(address: str, **options: Any) -> LLMAgent:
    """Make the agent of ``URL:MODEL``. Raise ValueError for another text."""
    if (match := ADDRESS.fullmatch(address)) is None:
        example = "llm:http://localhost:8080/v1:my-model"
        raise ValueError(f"write llm:URL:MODEL, as {example}, not {'llm:' + address!r}")
    return LLMAgent(match[1].rstrip("/"), match[2], **options)


class Answer(NamedTuple):
    """The text of an answer; without a text, or without a move in it, `fault` may say why."""

    text: str
    fault: str = ""  # a kind of answer: "refused" or "cut off"


class BadAnswerError(Exception):
    """Raised for an answer that cannot be played; `kind` is how it is counted."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ServerError(Exception):
    """Raised for a request without an answer.

    It may be sent again if it `passes`; the server may ask for a pause, in seconds.
    """

    def __init__(self, message: str, passes: bool = True, pause: float | None = None) -> None:
        super().__init__(message)
        self.passes, self.pause = passes, pause


class LLMAgent:
    """A language model behind a server with the chat-completions interface.

    The model gets all rules, the moves so far and the position in words and as FEN, and the `legal`
    moves if asked for. It ends its answer with a marked line, or with `json` it answers with an
    object, where the server has ``response_format``. After an answer that cannot be played it is
    told so, and asked again, `retries` times. `timeout` is for each answer. A request that fails is
    sent again after a pause; of a move, `budget` seconds may be lost by that. `max_tokens` limits
    an answer; 0 is the server's own limit. Requests go to ``URL/chat/completions``. A key for the
    server is read from the environment variable OPENAI_API_KEY.

    ``answers`` counts the requests: those played, illegal, unparsable, refused, cut off and failed.

    Raises
    ------
    ValueError
        For numbers out of their range, and for a key that an HTTP header cannot hold.
    """

    keeps_time = True  # a league does not count the pauses as time of a move

    def __init__(
        self,
        url: str,
        model: str,
        *,
        legal: bool = False,
        json: bool = False,
        retries: int = 2,
        timeout: float = 60.0,
        budget: float = 600.0,
        temperature: float = 0.0,
        max_tokens: int = 0,
    ) -> None:
        whole, endless = "a whole number from 0 on", float("inf")
        for name, value, fits, accepted in (
            ("legal", legal, isinstance(legal, bool), "true or false"),
            ("json", json, isinstance(json, bool), "true or false"),
            ("retries", retries, type(retries) is int and retries >= 0, whole),
            ("max_tokens", max_tokens, type(max_tokens) is int and max_tokens >= 0, whole),
            ("timeout", timeout, 0 < timeout < endless, "a number of seconds above 0"),
            ("budget", budget, 0 <= budget < endless, "a number of seconds from 0 on"),
            ("temperature", temperature, 0 <= temperature <= 2, "0 to 2"),
        ):
            if not fits:
                raise ValueError(f"{name} must be {accepted}, not {value!r}")
        self.name = model
        self.answers: Counter[str] = Counter()
        self._url, self._legal, self._json, self._retries = url, legal, json, retries
        self._timeout, self._budget, self._left = timeout, budget, budget
        parts = urlsplit(f"{url}/chat/completions")
        https = parts.scheme == "https"
        kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
        self._path, self._connect = parts.path, partial(kind, parts.netloc)
        self._connected: socket.socket | None = None  # during a request
        self._interrupted = threading.Event()
        self._headers = {"Content-Type": "application/json"}
        if key := read_key():
            self._headers["Authorization"] = f"Bearer {key}"
        self._options: dict[str, Any] = {"model": model, "temperature": temperature}
        if max_tokens:
            self._options["max_tokens"] = max_tokens
        if json:
            self._options["response_format"] = {"type": "json_object"}

    def act(self, board: Board) -> Move:
        """Return the model's move.

        Raise EngineError without a legal answer, and UnavailableError without a working server.
        """
        form = OBJECT if self._json else LINE
        rules, position = describe_rules(board.rules, form), describe_position(board, self._legal)
        messages = _messages(system=rules, user=position)
        self._left, error = self._budget, ""
        for _ in range(self._retries + 1):
            answer = self._ask(messages)
            try:
                move = read_move(answer, board)
            except BadAnswerError as bad:
                self.answers[bad.kind] += 1
                error = str(bad)
            else:
                self.answers["played"] += 1
                return move
            if answer.text:
                messages += _messages(assistant=answer.text, user="")
            messages[-1]["content"] += f"\n{error}. Answer with a legal move. {form}"
        count = self._retries + 1
        raise EngineError(
            f"{self.name}: no legal move in {count} answer{'s' if count > 1 else ''}; {error}"
        )

    def interrupt(self) -> None:
        """End the request from another thread; it raises EngineError, as does any later one."""
        self._interrupted.set()
        if connected := self._connected:
            shut_down(connected)

    def _ask(self, messages: list[dict[str, str]]) -> Answer:
        """Return the server's answer; ask again after failures, as long as the budget lasts."""
        pause = FIRST_PAUSE
        while True:
            if self._interrupted.is_set():
                raise EngineError(f"{self.name} was interrupted")
            began = time.monotonic()
            try:
                return read_answer(self._request(messages))
            except ServerError as error:
                failure = error
            self.answers["failed"] += 1
            wait = pause if failure.pause is None else failure.pause
            self._left -= time.monotonic() - began + wait
            if not self._interrupted.is_set() and (not failure.passes or self._left < 0):
                raise UnavailableError(f"{self.name}: the server at {self._url} {failure}")
            self._wait(wait)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _wait(self, seconds: float) -> None:
        self._interrupted.wait(seconds)

    def _request(self, messages: list[dict[str, str]]) -> bytes:
        """Return the content of the server's answer. Raise ServerError if there is none in time."""
        body = json.dumps({**self._options, "messages": messages}).encode()
        late = f"gave no answer within {self._timeout:g} s"
        end = time.monotonic() + self._timeout
        try:
            with closing(self._connect(timeout=self._timeout)) as connection:
                connection.connect()
                self._connected = connection.sock
                if self._interrupted.is_set():
                    raise ServerError("was left")
                # The timeout of a connection starts again with every byte.
                timer = threading.Timer(self._timeout, shut_down, [connection.sock])
                timer.start()
                try:
                    connection.request("POST", self._path, body, self._headers)
                    with connection.getresponse() as response:
                        content = response.read(LONGEST_ANSWER + 1)
                finally:
                    timer.cancel()
                    self._connected = None
        except (OSError, http.client.HTTPException) as error:
            too_late = time.monotonic() >= end
            raise ServerError(late if too_late else f"cannot be reached: {error}") from None
        if time.monotonic() >= end:  # the answer may have been cut off
            raise ServerError(late)
        if response.status != http.client.OK:
            text = _quote(content.decode(errors="replace"))
            passes = response.status in PASSING
            pause = _read_pause(response.headers.get("Retry-After", ""))
            raise ServerError(f"answers {response.status} {response.reason}: {text}", passes, pause)
        if len(content) > LONGEST_ANSWER:
            raise ServerError(f"sends more than {LONGEST_ANSWER:,} bytes")
        return content


def read_key() -> str:
    """Return the key of the server, from the environment; empty if there is none.

    One that an HTTP header cannot hold is a ValueError, whose message does not show it.
    """
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError(f"{KEY} has characters that are not allowed in an HTTP header")
    return key


def _messages(**contents: str) -> list[dict[str, str]]:
    """Return one message of each role."""
    return [{"role": role, "content": content} for role, content in contents.items()]


def _read_pause(header: str) -> float | None:
    """Return the seconds to wait by a Retry-After header, a number or a date; else None."""
    if re.fullmatch(r"\d{1,9}(\.\d*)?", header, re.ASCII):
        return float(header)
    try:
        seconds = parsedate_to_datetime(header).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds > 0 else None


def describe_rules(rules: DrawRules, form: str) -> str:
    """Return the rules of a game in words, and the form of an answer."""
    limits = [
        words.format(limit)
        for name, words in DRAWS.items()
        if (limit := getattr(rules, name)) is not None
    ]
    blocked = "draws if it has pieces left, else it has lost" if rules.blocked_draws else "has lost"
    draws = f" The game is drawn {', or '.join(limits)}." if limits else ""
    return RULES.format(blocked=blocked, draws=draws, form=form)


def describe_position(board: Board, legal: bool) -> str:
    """Return a position in words, with its FEN and the moves so far."""
    lines = [f"You are {SIDES[board.turn]}, and it is your turn."]
    for side, pieces in zip(SIDES, (board.black, board.white), strict=True):
        men, kings = _squares(pieces & ~board.kings), _squares(pieces & board.kings)
        lines.append(f"{side} men: {men}. {side} kings: {kings}.")
    lines.append(f"FEN: {board.fen()}")
    if board.moves:
        lines.append(f"Moves so far: {format_moves(board.moves)}")
    if legal:
        lines.append(f"Legal moves: {format_moves(board.legal_moves)}")
    return "\n".join(lines)


def _squares(pieces: int) -> str:
    return ", ".join(map(str, squares_of(pieces))) or "none"


def read_answer(content: bytes) -> Answer:
    """Return the answer of a chat completion. Raise ServerError for other content."""
    try:
        choice = json.loads(content)["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        refusal = _text(message.get("refusal"))
        texts = [
            _text(message.get(it)).strip() for it in ("content", "reasoning_content", "reasoning")
        ]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        text = _quote(content.decode(errors="replace"))
        raise ServerError(f"sends no chat completion: {text}") from None
    if refusal or reason == "content_filter":
        return Answer(texts[0] or refusal, "refused")
    return Answer(next(filter(None, texts), ""), "cut off" if reason == "length" else "")


def _text(content: Any) -> str:
    """Return the text of a string, or of a list of parts; empty for anything else."""
    if isinstance(content, list):
        return "\n".join(_text(it.get("text") if isinstance(it, dict) else it) for it in content)
    return content if isinstance(content, str) else ""


def read_move(answer: Answer, board: Board) -> Move:
    """Return the move of an answer. Raise BadAnswerError if it has none, or an illegal one.

    It is in the last marked line, in a JSON object, or alone in the last line.
    """
    marked = MARKED.findall(answer.text)
    if match := MOVE.search(marked[-1] if marked else _unmarked(answer.text)):
        try:
            found = find_moves(match[0], board.legal_moves)
        except ValueError as error:
            raise BadAnswerError("illegal", str(error)) from None
        if len(found) == 1:
            return found[0]
        if found:
            text = f"{match[0]} is ambiguous: write {' or '.join(map(str, found))}"
            raise BadAnswerError("unparsable", text)
        raise BadAnswerError("illegal", f"{match[0]} is illegal in {board.fen()}")
    if answer.fault:
        raise BadAnswerError(answer.fault, f"The answer was {answer.fault}")
    text = f"There is no move in the last line of {_quote(answer.text)}"
    raise BadAnswerError("unparsable", text)


def _unmarked(text: str) -> str:
    """Return the move of a JSON object, or a last line that is nothing but a move."""
    try:
        move = json.loads(text.removeprefix("```json").strip("`\n "))["move"]
        return move if isinstance(move, str) else ""
    except (ValueError, LookupError, TypeError, RecursionError):
        last = text.splitlines()[-1].strip(" *`.\"'") if text else ""
        return last if MOVE.fullmatch(last) else ""


def _quote(text: str) -> str:
    short = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}..."
    return repr(short)
