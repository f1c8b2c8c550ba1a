"""Games as text, in Portable Draughts Notation (PDN)."""

from __future__ import annotations

import os
import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from checkers_env import fen
from checkers_env.board import Board
from checkers_env.files import open_regular, write_atomically
from checkers_env.moves import Move

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
ROSTER = ("Event", "Site", "Date", "Round", "Black", "White", "Result")
GAME_TYPE = "21"  # English draughts
WIDTH = 80
MAX_LENGTH = MAX_BYTES = 100_000_000  # longest text in characters, largest file in bytes
MAX_QUOTE = 60  # characters of a wrong word in an error

_SPELLINGS = {result: result for result in RESULTS} | {
    "2-0": "1-0",
    "0-2": "0-1",
    "1-1": "1/2-1/2",
    "0-0": "*",  # not played, or lost by both
    "?": "*",
    "": "*",
}
_READ_TAGS = {name.lower(): name for name in ("Result", "GameType", "SetUp", "FEN")}
_EXPECTED = 'expected a move such as 11-15, a result or a tag such as [Event "Match"]'
_TOKEN = re.compile(
    r"""
    (?P<passed>\s+|\{[^}]*\}|;[^\r\n]*|(?<![^\r\n])%[^\r\n]*|\$[0-9]+|[!?]+|[0-9]+\.+|\.{2,})
    |(?P<variation>\()
    |(?P<tag>\[\s*(?P<name>[A-Za-z0-9_]+)\s*"(?P<value>(?:[^"\\\r\n]|\\[^\r\n])*)"\s*\])
    |(?P<result>(?:1/2-1/2|[0-2]-[0-2]|\*)(?![0-9x*/-]))
    |(?P<move>[0-9]+(?:[-x:][0-9]+)+)
    """,
    re.VERBOSE,
)
_VARIATION_TOKEN = re.compile(r"\{[^}]*\}|;[^\r\n]*|[(){]|^[ \t]*\[", re.MULTILINE)
_LINE_END, _TAG_LINE = re.compile(r"[\r\n]"), re.compile(r"^[ \t]*\[", re.MULTILINE)
_TAG_LINE_OR_RESULT = re.compile(
    _TAG_LINE.pattern + r"|(?<!\S)(?:1/2-1/2|[0-2]-[0-2])(?!\S)", re.MULTILINE
)
_WORD = re.compile(rf"\S{{1,{MAX_QUOTE}}}")


class PdnError(ValueError):
    """An error in a PDN text, with its `line` and `column` (both count from 1)."""

    def __init__(self, message: str, line: int, column: int) -> None:
        self.line, self.column = line, column
        super().__init__(f"line {line}, column {column}: {message}")


class _Source:
    """A text with what makes its errors cheap: many errors must not cost a scan each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.last_brace = text.rfind("}")

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def error(self, message: str, at: int) -> PdnError:
        line = bisect_right(self._line_starts, at)
        return PdnError(message, line, at - self._line_starts[line - 1] + 1)

    @contextmanager
    def errors_at(self, at: int) -> Iterator[None]:
        """Give the ValueErrors of a with block a place."""
        try:
            yield
        except ValueError as error:
            raise self.error(str(error), at) from None

    def is_open_comment(self, at: int) -> bool:
        """Return whether a comment begins here and never ends."""
        return self.text[at] == "{" and at > self.last_brace

    def is_line_start(self, at: int) -> bool:
        """Return whether only spaces precede a place in its line."""
        while at and self.text[at - 1] not in "\r\n":
            at -= 1
            if not self.text[at].isspace():
                return False
        return True


@dataclass(frozen=True)
class Game:
    """A recorded game: all its tags but Result, its moves, and its result.

    "1-0" is a win of Black, the side that moves first, and "0-1" a win of White, as in published
    games of English draughts. "*" is a game without a result.

    Raises
    ------
    ValueError
        For another result.
    """

    tags: dict[str, str] = field(default_factory=dict)
    moves: tuple[Move, ...] = ()
    result: str = "*"

    def __post_init__(self) -> None:
        if self.result not in RESULTS:
            raise ValueError(f"result {self.result!r} is not one of {', '.join(RESULTS)}")

    @property
    def start(self) -> str:
        """Return the FEN of the start position."""
        return self.tags.get("FEN", fen.START)

    def board(self) -> Board:
        """Return the final position, without draw rules. Raise ValueError for an illegal move."""
        board = Board(self.start, max_moves=None)
        for move in self.moves:
            board.push(move)
        return board


class _Token(NamedTuple):
    kind: str
    value: str
    at: int
    name: str = ""
    error: PdnError | None = None


def load(path: str | os.PathLike[str], errors: list[PdnError] | None = None) -> list[Game]:
    """Read the games in a file, as `loads` does.

    Raises
    ------
    ValueError
        As `loads` does, and if the file is not UTF-8 text.
    OSError
        If it is not a regular file.
    """
    with open_regular(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{os.fspath(path)} is too long: at most {MAX_BYTES:,} bytes are read")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{os.fspath(path)} is not UTF-8 text: {error}; "
            "read it in its own encoding, and give the text to loads"
        ) from None
    return loads(text, errors)


def loads(text: str, errors: list[PdnError] | None = None) -> list[Game]:
    """Read the games in a text.

    Comments, variations, glyphs, marks such as the star of ``24-20*``, and move numbers are
    skipped. A game that does not end in a result takes that of its Result tag, or "*".

    Parameters
    ----------
    text
        Games in PDN.
    errors
        A list that takes the errors; games with an error are then left out.

    Raises
    ------
    PdnError
        For anything else than tags, legal moves and results, and for text that is not terminated,
        unless `errors` is a list.
    ValueError
        For a text of more than 100,000,000 characters.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a PDN of {len(text):,} characters: at most {MAX_LENGTH:,} are read")
    games = []
    source = _Source(text)
    for tokens in _split(text, _tokens(source)):
        try:
            games.append(_read_game(source, tokens))
        except PdnError as error:
            if errors is None:
                raise
            errors.append(error)
    return games


def dump(games: Iterable[Game], path: str | os.PathLike[str]) -> None:
    """Write games to a file, which is replaced only once all is written."""
    write_atomically(Path(path), dumps(games).encode())


def dumps(games: Iterable[Game]) -> str:
    """Write games as text. Raise ValueError for an illegal move or a tag that PDN cannot hold."""
    return "\n".join(_write_game(game) for game in games)


def _tokens(source: _Source) -> Iterator[_Token]:
    """Yield tags, moves and results, and errors as tokens of their own.

    After an error in a tag, the rest of the line is skipped. After one in a comment or variation,
    all up to the next line with a tag is skipped; elsewhere, all up to that line or to a result.
    No place is scanned more than a few times.
    """
    at = 0
    while at < len(source.text):
        token, at = _token(source, at)
        if token:
            yield token


def _token(source: _Source, at: int) -> tuple[_Token | None, int]:
    """Return the token at a place, or None between tokens, and where to go on."""
    match = None if source.is_open_comment(at) else _TOKEN.match(source.text, at)
    if match is None:
        return _unexpected(source, at)
    kind = str(match.lastgroup)
    if kind == "variation":
        return _variation(source, at)
    if kind == "passed":
        return None, match.end()
    if kind == "tag":
        name = _READ_TAGS.get(match["name"].lower(), match["name"])
        value = re.sub(r"\\(.)", r"\1", match["value"])
        return _Token(kind, value, at, name), match.end()
    return _Token(kind, match[0].replace(":", "x"), at), match.end()


def _unexpected(source: _Source, at: int) -> tuple[_Token, int]:
    """Return an error at a place, and where to go on behind it."""
    text = source.text
    if text[at] == "{":
        return _failure(source, at, "unterminated comment: expected }", _TAG_LINE)
    if text[at] == "[":
        message = 'bad tag: expected the form [Event "Match"], with a name of letters, digits and _'
        if source.is_line_start(at):
            return _failure(source, at, message, _LINE_END, "tag")
        return _failure(source, at, message, _TAG_LINE_OR_RESULT)
    word = _WORD.match(text, at)
    message = f"{word[0] if word else text[at]!r}: {_EXPECTED}"
    return _failure(source, at, message, _TAG_LINE_OR_RESULT)


def _failure(
    source: _Source, at: int, message: str, goal: re.Pattern[str], kind: str = "move"
) -> tuple[_Token, int]:
    """Return an error at a place, and where behind it the next `goal` is."""
    found = goal.search(source.text, at + 1)
    token = _Token(kind, "", at, error=source.error(message, at))
    return token, found.start() if found else len(source.text)


def _variation(source: _Source, start: int) -> tuple[_Token | None, int]:
    """Return None and the end of a variation, or an error and where to go on."""
    depth, end = 0, len(source.text)
    for match in _VARIATION_TOKEN.finditer(source.text, start):
        if match[0] == "{":
            return _unexpected(source, match.start())
        if match[0].endswith("["):  # the next game
            end = match.start()
            break
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0:
            return None, match.end()
    error = source.error("unterminated variation: expected )", start)
    return _Token("move", "", start, error=error), end


def _split(text: str, tokens: Iterable[_Token]) -> Iterator[list[_Token]]:
    """Yield the tokens of one game at a time.

    The next game begins with a tag behind something else, or with a move behind a result.
    """
    game: list[_Token] = []
    for token in tokens:
        if game and (
            (token.kind == "tag" and game[-1].kind != "tag")
            or (token.kind == "move" and _is_end(text, game[-1]))
        ):
            yield game
            game = []
        game.append(token)
    if game:
        yield game


def _is_end(text: str, token: _Token) -> bool:
    """Return whether a token before others ends a game, and is no mark as in ``24-20*``."""
    return token.kind == "result" and (
        token.value != "*" or not text[token.at - 1 : token.at].isdigit()
    )


def _read_game(source: _Source, tokens: list[_Token]) -> Game:
    tags: dict[str, _Token] = {}
    for token in tokens:
        if token.error:
            raise token.error
        if token.kind == "tag":
            if token.name in tags:
                raise source.error(f"a second tag {token.name}: expected a move", token.at)
            tags[token.name] = token
    if (kind := tags.get("GameType")) and kind.value.split(",")[0].strip() != GAME_TYPE:
        message = f"GameType {kind.value!r}: expected {GAME_TYPE!r}, English draughts"
        raise source.error(message, kind.at)
    start = tags.get("FEN", _Token("tag", fen.START, 0))
    with source.errors_at(start.at):
        board = Board(start.value, max_moves=None)
    end: _Token | None = None
    for token in tokens[len(tags) :]:
        if end and _is_end(source.text, end):
            raise source.error(f"{token.value!r} after the result: expected a game", token.at)
        end = token if token.kind == "result" else None
        if end is None:
            with source.errors_at(token.at):
                board.push(token.value)
    result = _read_result(source, tags.pop("Result", None), end)
    return Game({name: tag.value for name, tag in tags.items()}, tuple(board.moves), result)


def _read_result(source: _Source, tag: _Token | None, end: _Token | None) -> str:
    """Return the result at the end, or the one in the tag if that is missing or "*"."""
    results = []
    for token in (end, tag):
        if token and token.value not in _SPELLINGS:
            message = f"result {token.value!r}: expected {', '.join(filter(None, _SPELLINGS))}"
            raise source.error(message, token.at)
        results.append(_SPELLINGS[token.value] if token else "*")
    at_end, in_tag = results
    if end and "*" not in results and at_end != in_tag:
        raise source.error(f"result {at_end}, but the tag Result says {in_tag}", end.at)
    return in_tag if at_end == "*" else at_end


def _write_game(game: Game) -> str:
    tags = "".join(f'[{name} "{_escaped(name, value)}"]\n' for name, value in _all_tags(game))
    movetext = textwrap.fill(" ".join([*_numbered(game), game.result]), WIDTH)
    return f"{tags}\n{movetext}\n"


def _all_tags(game: Game) -> Iterator[tuple[str, str]]:
    known = game.tags | {"Result": game.result}
    for name in ROSTER:
        yield name, known.pop(name, "????.??.??" if name == "Date" else "?")
    yield "GameType", known.pop("GameType", GAME_TYPE)
    known.pop("SetUp", None)
    start = fen.format_position(*fen.parse(known.pop("FEN", fen.START)))
    if start != fen.START:
        yield from (("SetUp", "1"), ("FEN", start))
    yield from known.items()


def _escaped(name: str, value: str) -> str:
    if not isinstance(name, str) or not isinstance(value, str):
        raise ValueError(f"tag {name!r} holds {value!r}: names and values are text")
    if not re.fullmatch("[A-Za-z0-9_]+", name):
        raise ValueError(f"tag name {name!r}: letters, digits and underscores are accepted")
    if "\n" in value or "\r" in value:
        raise ValueError(f"tag {name} holds a line break: {value!r}")
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _numbered(game: Game) -> Iterator[str]:
    white_first = fen.parse(game.start).turn
    for ply, move in enumerate(game.board().moves, white_first):
        if ply % 2 == 0:
            yield f"{ply // 2 + 1}."
        elif ply == white_first:
            yield "1..."
        yield str(move)
