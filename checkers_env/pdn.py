"""Games as text, in Portable Draughts Notation (PDN)."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np

from checkers_env import fen
from checkers_env.board import Board
from checkers_env.files import open_regular, write_atomically
from checkers_env.movegen import MAX_ROWS, ROW_WIDTH, Position
from checkers_env.moves import Move, find_moves, pack_move, parse_squares, unpack_move
from checkers_env.pdn_tokens import DASH, MOVE, TAG, WORD, PdnError, Source, Token
from checkers_env.replay import MARK_BITS, replay

__all__ = ["Game", "PdnError", "dump", "dumps", "load", "loads", "stream"]

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
ROSTER = ("Event", "Site", "Date", "Round", "Black", "White", "Result")
GAME_TYPE = "21"  # English draughts
WIDTH = 80
MAX_WARNINGS = 100  # of a game
LONGEST_ROUTE = 10  # squares of a packed move

# Of 0-0, the game was not played, or both lost it.
_SPELLINGS = {"2-0": "1-0", "0-2": "0-1", "1-1": "1/2-1/2", "0-0": "*", "?": "*", "": "*"}
_SPELLINGS = {result: result for result in RESULTS} | _SPELLINGS
_READ_TAGS = {name.lower(): name for name in ("Result", "GameType", "SetUp", "FEN")}


@dataclass(frozen=True)
class Game:
    """A recorded game: all its tags but Result, its moves, its result, and warnings.

    "1-0" is a win of Black, the side that moves first, and "0-1" a win of White, as in published
    games of English draughts. "*" is a game without a result. The warnings say, with line and
    column, what was read otherwise than it was written: the first of each kind, 100 at most.

    Raises
    ------
    ValueError
        For another result.
    """

    tags: dict[str, str] = field(default_factory=dict)
    moves: tuple[Move, ...] = ()
    result: str = "*"
    warnings: tuple[str, ...] = field(default=(), compare=False)

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


def stream(
    path: str | os.PathLike[str], errors: list[PdnError] | None = None, *, strict: bool = False
) -> Iterator[Game]:
    """Yield the games in a file one at a time, in bounded memory. For the rest, see `load`."""
    with open_regular(path) as file, io.TextIOWrapper(file, "utf-8-sig") as text:
        try:
            yield from _games(text, errors, strict)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{os.fspath(path)} is not UTF-8 text: {error}; "
                "read it in its own encoding, and give the text to loads"
            ) from None


def load(
    path: str | os.PathLike[str], errors: list[PdnError] | None = None, *, strict: bool = False
) -> list[Game]:
    """Read the games in a file, as `loads` does.

    Raises
    ------
    ValueError
        As `loads` does, and if the file is not UTF-8 text.
    OSError
        If it is not a regular file.
    """
    return list(stream(path, errors, strict=strict))


def loads(text: str, errors: list[PdnError] | None = None, *, strict: bool = False) -> list[Game]:
    """Read the games in a text.

    Comments, variations, glyphs, marks such as the star of ``24-20*``, and move numbers are
    skipped. A comment ends at the next line with a tag, at the latest. A game that does not end in
    a result takes that of its Result tag, or "*".

    Other spellings of the field are read, with a warning: ``x`` for ``-`` and back, other dashes,
    spaces and commas, move numbers without a dot, results such as ``1/2``, remarks without braces,
    a second tag of a name (the first counts), positions in other forms of FEN, and a short capture
    whose route the next move decides. A position amid the moves begins the game anew.

    Parameters
    ----------
    text
        Games in PDN.
    errors
        A list that takes the errors; games with an error are then left out.
    strict
        Whether anything that has a warning is an error.

    Raises
    ------
    PdnError
        For other text, for illegal and undecided moves, for the types of other variants, and for a
        game of more than 1,000,000 characters, unless `errors` is a list.
    """
    return list(_games(io.StringIO(text.removeprefix("\ufeff"), newline=None), errors, strict))


def dump(games: Iterable[Game], path: str | os.PathLike[str]) -> None:
    """Write games to a file, which is replaced only once all is written."""
    write_atomically(Path(path), dumps(games).encode())


def dumps(games: Iterable[Game]) -> str:
    """Write games as text. Raise ValueError for an illegal move or a tag that PDN cannot hold."""
    return "\n".join(_write_game(game) for game in games)


def _games(text: TextIO, errors: list[PdnError] | None, strict: bool) -> Iterator[Game]:
    source = Source(text)
    while tokens := source.next_game():
        try:
            yield _Reader(source, tokens, strict).read()
        except PdnError as error:
            if errors is None:
                raise
            error.__context__ = None
            errors.append(error.with_traceback(None))  # its frames would keep the game's tokens


class _Reader:
    """The reading of one game from its tokens."""

    def __init__(self, source: Source, tokens: list[Token], strict: bool) -> None:
        self._source, self._tokens, self._strict = source, tokens, strict
        self._error = source.error
        self._tags: dict[str, str] = {}
        self._places: dict[str, int] = {}  # of the tags
        self._runs: list[Token] = []  # of moves
        self._moves: list[str] = []  # as they are written
        self._end: Token | None = None
        self._warnings: dict[str, str] = {}

    def read(self) -> Game:
        """Return the game. Raise PdnError if it cannot be read."""
        for token in self._tokens:
            if token.is_error:
                raise self._error(token.text, token.at)
            if token.kind == "tag":
                self._read_tags(token)
            elif token.kind in ("plain", "moves", "remark"):
                self._read_moves(token)
            else:
                self._read_other(token)
        if not (self._tags or self._moves or self._end):
            raise self._source.unexpected(self._tokens[0].text.split()[0], self._tokens[0].at)
        moves = self._replay(self._read_start())
        result = self._read_result(self._tags.pop("Result", "*"))
        return Game(self._tags, moves, result, tuple(self._warnings.values()))

    def _warn(self, kind: str, message: str, at: int) -> None:
        """Keep the first warning of a kind. Raise PdnError if the reader is strict."""
        if self._strict:
            raise self._error(message, at)
        if kind not in self._warnings and len(self._warnings) < MAX_WARNINGS:
            self._warnings[kind] = str(self._error(message, at))

    def _read_tags(self, token: Token) -> None:
        for match in TAG.finditer(token.text):
            written, text = match.groups()
            at, name = token.at + match.start(), _READ_TAGS.get(written.lower(), written)
            value = re.sub(r"\\(.)", r"\1", text) if "\\" in text else text
            if name not in self._tags:
                self._tags[name], self._places[name] = value, at
            elif name in _READ_TAGS.values() and self._tags[name] != value:
                raise self._error(f"a second tag {name}, which differs from the first", at)
            else:
                self._warn(f"tag {name}", f"a second tag {name} is passed over", at)

    def _read_moves(self, token: Token) -> None:
        self._runs.append(token)
        if token.kind == "plain":
            self._moves += [word for word in token.text.split() if word[-1] != "."]
            return
        for index, word in enumerate(filter(None, WORD.findall(token.text))):
            is_number = word.isdecimal()
            if word[0].isdecimal() and not is_number:
                self._moves.append(word)
                continue
            is_right = not is_number or int(word[:9]) == len(self._moves) // 2 + 1
            if not is_right and "FEN" not in self._tags:
                raise self._source.unexpected(word, _place(WORD, [token], index))
            how = "read as the number of a move" if is_number else "passed over"
            if how not in self._warnings:
                self._warn(how, f"{word!r} is {how}", _place(WORD, [token], index))

    def _read_other(self, token: Token) -> None:
        """Read a result, or a position amid the moves."""
        kind, text, at, *_ = token
        if kind == "result":
            if self._end:
                raise self._error(f"{text!r} after the result: expected a game", at)
            self._end = token
        else:
            message = f"the game begins here; {len(self._moves)} moves before are left out"
            self._warn(kind, message, at)
            self._tags["FEN"], self._places["FEN"] = text, at
            self._runs, self._moves = [], []

    def _read_start(self) -> Position:
        kind, given = self._tags.get("GameType", "?"), self._tags.get("FEN", fen.START)
        if kind.split(",")[0].strip() not in (GAME_TYPE, "?", ""):
            message = f"GameType {kind!r}: expected {GAME_TYPE!r}, English draughts"
            raise self._error(message, self._places["GameType"])
        is_unusual = fen.is_unusual(given)
        try:
            start = fen.parse(given, lenient=is_unusual)
        except ValueError as error:
            raise self._error(str(error), self._places["FEN"]) from None
        if is_unusual:
            text = self._tags["FEN"] = fen.format_position(*start)
            message = f"the position {given!r} is read as {text!r}"
            self._warn("FEN", message, self._places["FEN"])
        return start

    def _replay(self, start: Position) -> tuple[Move, ...]:
        """Return the moves, with a warning about those in other spellings."""
        written = [*map(_read_move, self._moves)]
        routes = np.array(written, np.int64)
        if replay(routes, np.empty((MAX_ROWS, ROW_WIDTH), np.int64), *start) == len(routes):
            moves = [*map(unpack_move, routes.tolist())]
        else:
            moves = self._replay_with_errors(start)
        pairs = zip(written, moves, strict=True)
        is_usual = [route >> MARK_BITS == (2 if move.captured else 1) for route, move in pairs]
        if not all(is_usual):
            index = is_usual.index(False)
            message = f"{self._moves[index]!r} is read as {moves[index]}"
            self._warn("move", message, _place(MOVE, self._runs, index))
        return tuple(moves)

    def _replay_with_errors(self, start: Position) -> list[Move]:
        """Return the moves. The next move may decide between routes; other faults are errors."""
        board = Board.from_position(*start, max_moves=None)
        for index, text in enumerate(self._moves):
            try:
                fitting = find_moves(text, board.legal_moves)
                following = self._moves[index + 1 : index + 2]
                kept = [it for it in fitting if not fitting[1:] or _goes_on(board, it, following)]
                board.push(kept[0] if len(kept) == 1 else text)  # a text raises what is wrong
            except ValueError as error:
                raise self._error(str(error), _place(MOVE, self._runs, index)) from None
            if len(fitting) > 1:
                routes = " and ".join(map(str, fitting))
                message = f"{text!r} fits {routes}; the next move decides for {kept[0]}"
                self._warn("route", message, _place(MOVE, self._runs, index))
        return board.moves

    def _read_result(self, tag: str) -> str:
        """Return the result at the end, or the one in the tag if that is missing or "*"."""
        end, in_tag = self._end, self._result_of(tag, None)
        at_end = self._result_of(end.text, end) if end else "*"
        if end and "*" not in (at_end, in_tag) and at_end != in_tag:
            raise self._error(f"result {at_end}, but the tag Result says {in_tag}", end.at)
        return in_tag if at_end == "*" else at_end

    def _result_of(self, written: str, end: Token | None) -> str:
        """Return the result at the end, or in the tag."""
        if written in _SPELLINGS:
            return _SPELLINGS[written]
        at = end.at if end else self._places["Result"]
        text = re.sub(DASH, "-", written.strip()).replace("\u00bd", "1/2")
        text = "1/2-1/2" if text == "1/2" else text
        if text not in _SPELLINGS:
            message = f"result {written!r}: expected {', '.join(filter(None, _SPELLINGS))}"
            raise self._error(message, at)
        self._warn("result", f"the result {written!r} is read as {text}", at)
        return _SPELLINGS[text]


def _place(words: re.Pattern[str], tokens: list[Token], index: int) -> int:
    """Return where a word is written in tokens."""
    found = ((token.at, it) for token in tokens for it in words.finditer(token.text) if it[1])
    at, match = next(itertools.islice(found, index, None))
    return at + match.start()


@functools.lru_cache(4096)
def _read_move(text: str) -> int:
    """Return a move packed, with its mark, 0 to 2, above MARK_BITS; 0 if no piece can make it."""
    mark = {"-": 1, "x": 2, ":": 2}.get("".join({*re.split("[0-9]+", text)[1:-1]}), 0)
    with contextlib.suppress(ValueError):
        squares = parse_squares(text)
        if len(squares) <= LONGEST_ROUTE:
            return mark << MARK_BITS | pack_move(Move(squares))
    return 0


def _goes_on(board: Board, move: Move, following: list[str]) -> bool:
    """Return whether the following move is legal after a move."""
    after = board.copy()
    after.push(move)
    return bool(following and find_moves(following[0], after.legal_moves))


def _write_game(game: Game) -> str:
    tags = "".join(f'[{name} "{_escaped(name, it)}"]\n' for name, it in _all_tags(game).items())
    movetext = textwrap.fill(" ".join([*_numbered(game), game.result]), WIDTH)
    return f"{tags}\n{movetext}\n"


def _all_tags(game: Game) -> dict[str, str]:
    known = game.tags | {"Result": game.result}
    known.pop("SetUp", None)
    start = fen.format_position(*fen.parse(known.pop("FEN", fen.START)))
    position = {"SetUp": "1", "FEN": start} if start != fen.START else {}
    unset = dict.fromkeys(ROSTER, "?") | {"Date": "????.??.??", "GameType": GAME_TYPE}
    return unset | position | known


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
