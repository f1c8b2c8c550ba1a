"""The games of a league on disk while it is played: a line for each, so that none is lost.

Each line is a JSON object with a checksum. It is flushed to the disk before the game counts. A file
that others have replaced or changed is left alone, and the games go on in memory.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from checkers_env.board import Board
from checkers_env.files import flush_folder, open_regular, read_regular, write_atomically
from checkers_env.movegen import BLACK
from checkers_env.openings import opening_board
from checkers_env.render.scene import SIDES
from training.league.adjudicate import adjudicate_by_material
from training.league.game import AGREED, LeagueRules
from training.league.records import GameRecord, game_from_json
from training.league.schedule import LeagueFixture
from training.runtime.run_folder import config_diff

FILE_NAME = "games.jsonl"
CHECKSUM = "checksum"

logger = logging.getLogger(__name__)


class Journal:
    """An append-only file: a line that identifies the league, then its games as they end."""

    def __init__(self, path: Path) -> None:
        self._path, self._is_lost = path, False
        self._stamp: tuple[int, ...] = ()

    def create(self, identity: dict[str, Any], games: Iterable[GameRecord] = ()) -> None:
        """Start a new journal with known games. Raise ValueError if the folder already has one."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._path.exists() and self._path.stat().st_size:  # a full disk leaves an empty file
            raise ValueError(
                f"{str(self._path.parent)!r} already holds a league: resume it by --resume, or "
                "choose another folder by --out"
            )
        lines = [_to_line(identity), *(_to_line(asdict(game)) for game in games)]
        write_atomically(self._path, "".join(lines).encode())
        flush_folder(self._path.parent.parent)  # the folder may be new itself
        with open_regular(self._path) as file:
            self._stamp = _stamp(file)

    def resume(
        self,
        identity: dict[str, Any],
        fixtures: Sequence[LeagueFixture],
        league_rules: LeagueRules | None = None,
    ) -> list[GameRecord]:
        """Return the games of the journal; cut off a half-written last line.

        Raise ValueError if there is no journal, if it belongs to another league, if a line is
        damaged, and if the moves of a game do not give its score by the rules.
        """
        content = b""
        with suppress(FileNotFoundError):
            content = read_regular(self._path)
        if not content:
            raise ValueError(f"there is no league to resume in {str(self._path.parent)!r}")
        whole = content[: content.rfind(b"\n") + 1]
        try:
            there, *games = _read_lines(whole or content)
            if different := config_diff(dict(there), json.loads(json.dumps(identity))):
                raise ValueError(f"it belongs to another league: {different}")
            found = [_checked(game_from_json(game), fixtures) for game in games]
            if len({game.number for game in found}) < len(found):
                raise ValueError("a game is there twice")
            if league_rules:
                for line, game in enumerate(found, 2):
                    check_game(game, league_rules, f"line {line}, game {game.number + 1}: ")
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ValueError(f"{str(self._path)!r} cannot be resumed: {error}") from None
        with open_regular(self._path, "ab") as file:
            file.truncate(len(whole))
            os.fsync(file.fileno())
            self._stamp = _stamp(file)
        return found

    def append(self, games: Iterable[GameRecord]) -> None:
        """Write games down, and flush them to the disk; do nothing once the file is lost."""
        if self._is_lost:
            return
        try:
            file = open_regular(self._path, "ab")
        except OSError as error:
            self._lose(str(error))
            return
        with file:
            if _stamp(file) != self._stamp:
                self._lose("others have replaced or changed it")
                return
            file.write("".join(_to_line(asdict(game)) for game in games).encode())
            file.flush()
            os.fsync(file.fileno())
            self._stamp = _stamp(file)

    def _lose(self, why: str) -> None:
        self._is_lost = True
        logger.warning(
            "The journal %r is lost (%s). The league goes on, and cannot be resumed.",
            str(self._path),
            why,
        )


def _stamp(file: BinaryIO) -> tuple[int, ...]:
    """Return what stays the same while nobody else replaces or writes a file."""
    stat = os.fstat(file.fileno())
    return stat.st_dev, stat.st_ino, stat.st_size


def _to_line(fields: dict[str, Any]) -> str:
    return json.dumps({**fields, CHECKSUM: _checksum(fields)}) + "\n"


def _checksum(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:16]


def _read_lines(content: bytes) -> Iterator[Any]:
    """Yield the fields of each line, whose checksum must fit."""
    for number, line in enumerate(content.splitlines(), 1):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is damaged: {error}") from None
        checksum = fields.pop(CHECKSUM, None) if isinstance(fields, dict) else None
        if checksum is None:
            raise ValueError(f"line {number} is damaged: it has no checksum")
        if checksum != _checksum(fields):
            raise ValueError(f"line {number} is damaged: its checksum does not fit")
        yield fields


def _checked(game: GameRecord, fixtures: Sequence[LeagueFixture]) -> GameRecord:
    if fixtures[game.number] != (game.number, game.black, game.white, game.opening):
        raise ValueError(f"game {game.number + 1} is not what is played here")
    if game.score not in (0, 0.5, 1):
        raise ValueError(f"game {game.number + 1} has a score of {game.score!r}")
    return game


def check_game(game: GameRecord, league_rules: LeagueRules, place: str = "") -> None:
    """Replay a game; raise ValueError if its moves do not give its score.

    A game without moves and reason passes: its moves were not kept. So does any score of a drawn
    game that an agent has played out. The message begins with `place`.
    """
    if not game.moves and not game.reason:
        return
    try:
        board = _replay(game, league_rules)
        if game.difference != board.piece_difference():
            raise ValueError(
                f"its moves give a piece difference of {board.piece_difference():+d}, "
                f"not {game.difference:+d}"
            )
        scores = _possible_scores(game, board, league_rules)
        if game.score not in scores:
            expected = " or ".join(f"{score:g}" for score in scores)
            raise ValueError(f"its moves give Black {expected}, not {game.score:g}: {game.reason}")
    except ValueError as error:
        raise ValueError(f"{place}{error}") from None


def _replay(game: GameRecord, league_rules: LeagueRules) -> Board:
    """Return the final position of a game by its rules."""
    board = opening_board(game.opening, league_rules.rules)
    opening = tuple(map(str, board.moves))
    if game.moves[: len(opening)] != opening:
        raise ValueError("its moves do not begin with its opening")
    for move in game.moves[len(opening) :]:
        if outcome := board.outcome():
            raise ValueError(f"its moves go on after its end by {outcome.reason}")
        board.push(move)
    return board


def _possible_scores(
    game: GameRecord, board: Board, league_rules: LeagueRules
) -> tuple[float, ...]:
    """Return the scores of Black that a game may have."""
    for side, name in enumerate(SIDES):
        if game.reason.startswith((f"{name} forfeits: ", f"{name} ended the game")):
            return (float(side),)
    if game.reason.startswith(AGREED):
        return (0.5,)
    outcome = board.outcome()
    if outcome is None:
        raise ValueError(f"its moves do not end the game: {game.reason}")
    winner, reason = outcome
    if not game.reason.startswith(reason):
        raise ValueError(f"its moves end by {reason}, not by {game.reason}")
    if winner is not None:
        return (float(winner == BLACK),)
    if league_rules.adjudicator is None:
        return (0.5,)
    if league_rules.adjudicator is adjudicate_by_material:
        return ((1 + float(np.sign(game.difference))) / 2,)
    return (0.0, 0.5, 1.0)
