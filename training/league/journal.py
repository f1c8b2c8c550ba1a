"""The games of a league on disk while it is played: a line for each, so that none is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from checkers_env.files import read_regular, write_atomically
from training.league.records import GameRecord, game_from_json
from training.league.schedule import LeagueFixture
from training.runtime.run_folder import config_diff

FILE_NAME = "games.jsonl"


class Journal:
    """An append-only file: a line that identifies the league, then its games as they end."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self, identity: dict[str, Any]) -> None:
        """Start a new journal. Raise ValueError if the folder already has one."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._path.exists() and self._path.stat().st_size:  # a full disk leaves an empty file
            raise ValueError(
                f"{str(self._path.parent)!r} already holds a league: resume it by --resume, or "
                "choose another folder by --out"
            )
        write_atomically(self._path, (json.dumps(identity) + "\n").encode())

    def resume(
        self, identity: dict[str, Any], fixtures: Sequence[LeagueFixture]
    ) -> list[GameRecord]:
        """Return the games of the journal; cut off a half-written last line.

        Parameters
        ----------
        identity
            Fields that identify the league.
        fixtures
            All its games.

        Raises
        ------
        ValueError
            If there is no journal, or it belongs to another league or other fixtures.
        """
        content = b""
        with suppress(FileNotFoundError):
            content = read_regular(self._path)
        if not content:
            raise ValueError(f"there is no league to resume in {str(self._path.parent)!r}")
        whole = content[: content.rfind(b"\n") + 1]
        try:
            there, *games = map(json.loads, whole.splitlines())
            if different := config_diff(dict(there), json.loads(json.dumps(identity))):
                raise ValueError(f"it belongs to another league: {different}")
            found = [_checked(game_from_json(game), fixtures) for game in games]
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ValueError(f"{str(self._path)!r} cannot be resumed: {error}") from None
        os.truncate(self._path, len(whole))
        return found

    def append(self, games: Iterable[GameRecord]) -> None:
        """Write games down."""
        with self._path.open("a", encoding="utf-8") as file:
            for game in games:
                file.write(json.dumps(asdict(game)) + "\n")


def _checked(game: GameRecord, fixtures: Sequence[LeagueFixture]) -> GameRecord:
    if fixtures[game.number] != (game.number, game.black, game.white, game.opening):
        raise ValueError(f"game {game.number + 1} is not what is played here")
    if game.score not in (0, 0.5, 1):
        raise ValueError(f"game {game.number + 1} has a score of {game.score!r}")
    return game
