"""Games as text, in Portable Draughts Notation (PDN)."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from checkers_env import fen
from checkers_env.board import Board
from checkers_env.files import write_atomically
from checkers_env.moves import Move

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
ROSTER = ("Event", "Site", "Date", "Round", "Black", "White", "Result")
GAME_TYPE = "21"  # English draughts
WIDTH = 80

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
_VARIATION_TOKEN = re.compile(r"\{[^}]*\}|;[^\r\n]*|[(){]")
_LINE_END, _TAG_LINE = re.compile(r"[\r\n]"), re.compile(r"^[ \t]*\[", re.MULTILINE)
_TAG_LINE_OR_RESULT = re.compile(
    _TAG_LINE.pattern + r"|(?<!\S)(?:1/2-1/2|[0-2]-[0-2])(?!\S)", re.MULTILINE
)


class PdnError(ValueError):
    """An error in a PDN text, with its `line` and `column` (both count from 1)."""

    def __init__(self, message: str, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        self.column = at - text.rfind("\n", 0, at)
        super().__init__(f"line {self.line}, column {self.column}: {message}")


@dataclass(frozen=True)
class Game:
    """A recorded game: all its tags but Result, its moves, and its result.

    As in published games of English draughts, "1-0" is a win of Black, who moves first, and "0-1"
    one of White; "*" is a game without a result.

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
        """Return the final position, without draw rules. Raises ValueError for an illegal move."""
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
    """Read the games in a file, as `loads` does. Raises ValueError too if it is not UTF-8."""
    try:
        text = Path(path).read_text("utf-8-sig")
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
    """
    games = []
    for tokens in _split(text, _tokens(text)):
        try:
            games.append(_read_game(text, tokens))
        except PdnError as error:
            if errors is None:
                raise
            errors.append(error)
    return games


def dump(games: Iterable[Game], path: str | os.PathLike[str]) -> None:
    """Write games to a file, which is replaced only once all is written."""
    write_atomically(Path(path), dumps(games).encode())


def dumps(games: Iterable[Game]) -> str:
    """Write games as text. Raises ValueError for an illegal move or a tag that PDN cannot hold."""
    return "\n".join(_write_game(game) for game in games)


def _tokens(text: str) -> Iterator[_Token]:
    """Yield tags, moves and results, and errors as tokens of their own.

    After an error in a tag, the line is skipped; in a comment or variation, all up to the next
    line with a tag; elsewhere, all up to that or to a result.
    """
    at = 0
    while at < len(text):
        try:
            token, at = _token(text, at)
        except PdnError as error:
            begun = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
            is_tag = text[at] == "[" and not text[begun:at].strip()
            token = _Token("tag" if is_tag else "move", "", at, error=error)
            on = _TAG_LINE if text[at] in "{(" else _TAG_LINE_OR_RESULT
            found = (_LINE_END if is_tag else on).search(text, at + 1)
            at = found.start() if found else len(text)
        if token:
            yield token


def _token(text: str, at: int) -> tuple[_Token | None, int]:
    """Return the token at a place, or None between tokens, and where it ends."""
    match = _TOKEN.match(text, at)
    if match is None:
        raise PdnError(_unexpected(text, at), text, at)
    kind = str(match.lastgroup)
    if kind == "variation":
        return None, _end_of_variation(text, at)
    if kind == "passed":
        return None, match.end()
    if kind == "tag":
        name = _READ_TAGS.get(match["name"].lower(), match["name"])
        value = re.sub(r"\\(.)", r"\1", match["value"])
        return _Token(kind, value, at, name), match.end()
    return _Token(kind, match[0].replace(":", "x"), at), match.end()


def _unexpected(text: str, at: int) -> str:
    if text[at] == "{":
        return "unterminated comment: expected }"
    if text[at] == "[":
        return 'bad tag: expected the form [Event "Match"], with a name of letters, digits and _'
    return f"{text[at:].split(maxsplit=1)[0]!r}: {_EXPECTED}"


def _end_of_variation(text: str, start: int) -> int:
    depth = 0
    for match in _VARIATION_TOKEN.finditer(text, start):
        if match[0] == "{":
            raise PdnError(_unexpected(text, match.start()), text, match.start())
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0:
            return match.end()
    raise PdnError("unterminated variation: expected )", text, start)


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


def _read_game(text: str, tokens: list[_Token]) -> Game:
    tags: dict[str, _Token] = {}
    for token in tokens:
        if token.error:
            raise token.error
        if token.kind == "tag":
            if token.name in tags:
                raise PdnError(f"a second tag {token.name}: expected a move", text, token.at)
            tags[token.name] = token
    board = _set_up(text, tags)
    end: _Token | None = None
    for token in tokens[len(tags) :]:
        if end and _is_end(text, end):
            raise PdnError(f"{token.value!r} after the result: expected a game", text, token.at)
        end = token if token.kind == "result" else None
        if end is None:
            _push(text, board, token)
    result = _read_result(text, tags.pop("Result", None), end)
    return Game({name: tag.value for name, tag in tags.items()}, tuple(board.moves), result)


def _set_up(text: str, tags: dict[str, _Token]) -> Board:
    if (kind := tags.get("GameType")) and kind.value.split(",")[0].strip() != GAME_TYPE:
        message = f"GameType {kind.value!r}: expected {GAME_TYPE!r}, English draughts"
        raise PdnError(message, text, kind.at)
    start = tags.get("FEN")
    try:
        return Board(start.value if start else fen.START, max_moves=None)
    except ValueError as error:
        raise PdnError(str(error), text, start.at if start else 0) from None


def _push(text: str, board: Board, token: _Token) -> None:
    try:
        board.push(token.value)
    except ValueError as error:
        raise PdnError(str(error), text, token.at) from None


def _read_result(text: str, tag: _Token | None, end: _Token | None) -> str:
    """Return the result at the end, or the one in the tag if that is missing or "*"."""
    results = []
    for token in (end, tag):
        if token and token.value not in _SPELLINGS:
            message = f"result {token.value!r}: expected {', '.join(filter(None, _SPELLINGS))}"
            raise PdnError(message, text, token.at)
        results.append(_SPELLINGS[token.value] if token else "*")
    at_end, in_tag = results
    if end and "*" not in results and at_end != in_tag:
        raise PdnError(f"result {at_end}, but the tag Result says {in_tag}", text, end.at)
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
