"""Tokens of Portable Draughts Notation, a game at a time, of a text that is read in parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from checkers_env.moves import MARK

MAX_GAME = 1_000_000  # characters of a game with its comments
MAX_QUOTE = 60  # characters of a wrong word in an error

DASH = r"\s*[-\u2010-\u2015\u2212]\s*"
_RESULT = rf"(?:(?:1/2|\u00bd)(?:{DASH}(?:1/2|\u00bd))?|[0-2]{DASH}[0-2]|\*)(?![0-9x:/]|-[0-9])"
_MARKED = rf"(?:[-x:][0-9]++|(?!\s[0-9]){MARK}[0-9]++)"
_TAG_START = r"[ \t]*\[\s*[A-Za-z0-9_]+\s*\""
TAG = re.compile(r'\[\s*([A-Za-z0-9_]+)\s*"([^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+)"\s*\]\s*+')
_COMMENT = rf"\{{[^}}\n]*+(?:\n(?!{_TAG_START})[^}}\n]*+)*+\}}"
_VARIATION = rf"\((?:[^(){{}};\n]++|\n(?!{_TAG_START})|{_COMMENT})*+\)"  # without another in it
_ASIDE = rf"{_COMMENT}|{_VARIATION}|;[^\n]*+|(?<![^\n])%[^\n]*+|\$[0-9]++"
_REMARK = r"""(?<![0-9])["']?[^\W\d_\u00bd](?:[^\W\d_\u00bd]|[-.,:!?'"])*+(?!\w)"""
MOVE = re.compile(rf"{_ASIDE}|([0-9]++{_MARKED}++)")
WORD = re.compile(rf"{_ASIDE}|([0-9]++(?!\.){_MARKED}*+|{_REMARK}|,)")  # numbers without a dot
_EXPECTED = 'expected a move such as 11-15, a result or a tag such as [Event "Match"]'
_BAD_TAG = 'bad tag: expected the form [Event "Match"], with a name of letters, digits and _'
_PLAYED = rf"(?:[0-9]++\.++\s*+|[0-9]++\s++|)(?!{_RESULT})[0-9]++{_MARKED}++[!?*]*+"
_PASSED = rf"[\s\x1a\ufeff]++|{_ASIDE}|[!?]++|[0-9]++\.++|\.{{2,}}"
_TOKEN = re.compile(
    rf"""
    (?P<plain>(?:(?:[0-9]++\.++\s++)?+(?![0-2]-[0-2]\s)[0-9]++(?:[-x:][0-9]++)++\s++(?=[0-9*{{[]))++)
    |(?P<moves>{_PLAYED}(?:[,\s]++|{_PLAYED}|{_PASSED}|{_REMARK})*+)
    |(?P<passed>(?:{_PASSED})++)
    |(?P<tag>(?:{TAG.pattern})++)
    |(?P<result>{_RESULT})
    |(?P<setup>/\s*FEN\s*"(?P<position>[^"/\n]*)"\s*/)
    |(?P<remark>(?:(?:{_REMARK}|,)\s*+)++)
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_VARIATION_TOKEN = re.compile(rf"{_COMMENT}|;[^\n]*|\(++|[){{]|^{_TAG_START}", re.MULTILINE)
_TAG_LINE, _LINE_END = re.compile(rf"^{_TAG_START}", re.MULTILINE), re.compile("\n")
_TAG_LINE_OR_RESULT = re.compile(rf"^{_TAG_START}|(?<!\S){_RESULT}(?!\S)", re.MULTILINE)


class PdnError(ValueError):
    """An error in a PDN text, with its `line` and `column` (both count from 1)."""

    def __init__(self, message: str, line: int, column: int) -> None:
        self.line, self.column = line, column
        super().__init__(f"line {line}, column {column}: {message}")


class Token(NamedTuple):
    """A part of a game; an error has a message as its text."""

    kind: str
    text: str
    at: int
    is_error: bool = False


class Source:
    """A text in parts: from the start of a game, more than MAX_GAME characters are there."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.text, self.at = "", 0
        self._start, self._line, self._column = 0, 1, 1  # of the game

    def next_game(self) -> list[Token]:
        """Return the tokens of the next game; none at the end of the text."""
        self._begin()
        tokens: list[Token] = []
        is_begun = is_over = False
        for token in self._tokens():
            kind = token.kind
            is_next = is_over and kind in ("plain", "moves", "setup")
            if is_next or (kind == "tag" and is_begun and tokens[-1].kind != "tag"):
                return tokens
            is_begun = is_begun or kind != "remark"
            is_over = is_over or kind == "result"
            tokens.append(token)
        if self.at - self._start > MAX_GAME:
            message = f"a game of more than {MAX_GAME:,} characters"
            token, self.at = self._failure(self.at, message, _TAG_LINE)
            tokens.append(token._replace(at=self._start))
        return tokens

    def _begin(self) -> None:
        """Set the place of a game, and read on until the game or the text ends in the buffer."""
        while True:
            is_lost = 0 < self.at == len(self.text)  # behind an error: the next game has tags
            place = self.error("", self.at)
            self._line, self._column = place.line, place.column
            if len(self.text) - self.at <= MAX_GAME and (more := self._file.read(2 * MAX_GAME)):
                more += self._file.readline(MAX_GAME)  # to the line's end: no tag is cut
                self.text, self.at = self.text[self.at :] + more, 0
            self._start = self.at
            if self.at or not is_lost:
                return
            self.at = self._find(_TAG_LINE, 0)

    def error(self, message: str, at: int) -> PdnError:
        """Return an error at a place behind the start of the game."""
        before = self.text.rfind("\n", self._start, at)
        line = self._line + self.text.count("\n", self._start, at)
        column = at - before if before >= 0 else self._column + at - self._start
        return PdnError(message, line, column)

    def unexpected(self, text: str, at: int) -> PdnError:
        """Return an error about a text that is out of place."""
        return self.error(f"{text[:MAX_QUOTE]!r}: {_EXPECTED}", at)

    def _tokens(self) -> Iterator[Token]:
        """Yield the tokens of at most MAX_GAME characters, each with `at` on its start."""
        while self.at < len(self.text):
            for match in _TOKEN.finditer(self.text, self.at):
                kind, self.at = str(match.lastgroup), match.start()
                if self.at - self._start > MAX_GAME:
                    return
                if kind == "other":
                    token, end = self._jump(self.at)
                    if token:
                        yield token
                    self.at = end
                    break
                if kind != "passed":
                    yield Token(kind, match["position"] or match[0], self.at)
            else:
                self.at = len(self.text)

    def _jump(self, at: int) -> tuple[Token | None, int]:
        """Return an error at a place, or None for a variation, and where to go on behind it."""
        char = self.text[at]
        if char == "(":
            return self._variation(at)
        if char == "{":
            return self._failure(at, "unterminated comment: expected }", _TAG_LINE)
        if char == "[":
            if not self.text[max(0, at - 99) : at].rpartition("\n")[2].strip():  # at a line's start
                return self._failure(at, _BAD_TAG, _LINE_END, "tag")
            return self._failure(at, _BAD_TAG, _TAG_LINE_OR_RESULT)
        word = self.text[at : at + MAX_QUOTE].split(None, 1)[0]
        return self._failure(at, f"{word!r}: {_EXPECTED}", _TAG_LINE_OR_RESULT)

    def _failure(
        self, at: int, message: str, goal: re.Pattern[str], kind: str = "error"
    ) -> tuple[Token, int]:
        """Return an error at a place, and where behind it the next `goal` is."""
        return Token(kind, message, at, is_error=True), self._find(goal, at + 1)

    def _find(self, goal: re.Pattern[str], at: int) -> int:
        """Return where a goal is, from a place on; the end of the text if there is none."""
        found = goal.search(self.text, at)
        return found.start() if found else len(self.text)

    def _variation(self, start: int) -> tuple[Token | None, int]:
        """Return None and the end of a variation, or an error and where to go on."""
        depth = 0
        for match in _VARIATION_TOKEN.finditer(self.text, start):
            if match[0] == "{":
                return self._jump(match.start())
            if match[0].lstrip()[0] == "[":  # the next game
                break
            depth += len(match[0]) if match[0][0] == "(" else -(match[0] == ")")
            if depth == 0:
                return None, match.end()
        return self._failure(start, "unterminated variation: expected )", _TAG_LINE)
