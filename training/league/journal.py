"""The games of a league on disk while it is played: a line for each, so that none is lost.

Each line is a JSON object with a checksum. It is flushed to the disk before the game counts.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from checkers_env.files import flush_folder, read_regular, write_atomically
from training.league.game import LeagueRules
from training.league.records import GameRecord, game_from_json
from training.league.replay import check_game
from training.league.schedule import LeagueFixture
from training.runtime.run_folder import config_diff

FILE_NAME = "games.jsonl"
CHECKSUM = "checksum"


class Journal:
    """An append-only file: a line that identifies the league, then its games as they end."""

    def __init__(self, path: Path) -> None:
        self._path = path

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

    def resume(
        self,
        identity: dict[str, Any],
        fixtures: Sequence[LeagueFixture],
        league_rules: LeagueRules | None = None,
    ) -> list[GameRecord]:
        """Return the games of the journal; cut off a half-written last line.

        Parameters
        ----------
        identity
            Fields that identify the league.
        fixtures
            All its games.
        league_rules
            Rules of the league, to replay the games; None to believe their scores.

        Raises
        ------
        ValueError
            If there is no journal, if it belongs to another league or other fixtures, if a line is
            damaged, and if the moves of a game do not give its score.
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
                _replay(found, league_rules)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ValueError(f"{str(self._path)!r} cannot be resumed: {error}") from None
        with self._path.open("r+b") as file:
            file.truncate(len(whole))
            os.fsync(file.fileno())
        return found

    def append(self, games: Iterable[GameRecord]) -> None:
        """Write games down, and flush them to the disk."""
        with self._path.open("a", encoding="utf-8") as file:
            for game in games:
                file.write(_to_line(asdict(game)))
            file.flush()
            os.fsync(file.fileno())


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


def _replay(games: Sequence[GameRecord], league_rules: LeagueRules) -> None:
    for line, game in enumerate(games, 2):
        try:
            check_game(game, league_rules)
        except ValueError as error:
            raise ValueError(f"line {line}, game {game.number + 1}: {error}") from None


def _checked(game: GameRecord, fixtures: Sequence[LeagueFixture]) -> GameRecord:
    if fixtures[game.number] != (game.number, game.black, game.white, game.opening):
        raise ValueError(f"game {game.number + 1} is not what is played here")
    if game.score not in (0, 0.5, 1):
        raise ValueError(f"game {game.number + 1} has a score of {game.score!r}")
    return game
