"""Games in progress, one a browser tab, in memory and on disk.

Every change is written to disk before the server answers, so a game survives the server. Worker
threads write, so that a slow disk delays nobody else. Memory holds the most recent games. The key
of a game cannot be guessed.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, Thread

from anyio import move_on_after

from agents.agent import Agent, reseed
from agents.limits import Limits
from checkers_env.files import read_regular, write_atomically
from training.app.agent_catalog import AgentCatalog, is_same_version
from training.app.async_agent import run_in_thread
from training.app.game import HumanGame
from training.app.game_archive import save_game
from training.app.game_setup import GameOpening, GameSetup, TimeControl
from training.app.serialize import Json
from training.league.entrants import close_agent

FORMAT = 2
MAX_IN_MEMORY, MAX_ON_DISK = 100, 1000
MEMORY_SECONDS = 3600  # an idle game is on disk only after these
DISK_SECONDS = 30 * 86_400  # an idle game is deleted after these
GAME_OVER_SECONDS = 5.0  # for an agent to learn the result
KEY = re.compile(r"[A-Za-z0-9_-]{22}")
LIMITS = ("depth", "simulations", "nodes", "seconds")


@dataclass(eq=False)
class LiveGame:
    """A game in memory, and the agent that plays it."""

    key: str
    game: HumanGame
    agent: Agent
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # the agent does one thing at a time
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)  # states reach the disk in order
    stop: Event = field(default_factory=Event)  # ends the agent's search
    is_saved: bool = False  # on disk in its present state
    is_archived: bool = False
    last_use: float = 0.0  # seconds of time.monotonic


class GameStore:
    """All games against people.

    `folder` receives the finished games, and its subfolder ``tabs`` the games in progress.
    """

    def __init__(self, catalog: AgentCatalog, folder: Path) -> None:
        self.catalog = catalog
        self.folder = folder
        self._games: OrderedDict[str, LiveGame] = OrderedDict()

    async def add(self, game: HumanGame, agent: Agent) -> LiveGame:
        """Add a new game. Raise OSError if it cannot be written."""
        live = LiveGame(secrets.token_urlsafe(16), game, agent)
        await run_in_thread(self._delete_old_files)
        await self.save(live)
        return self._touch(live)

    def in_memory(self, key: str) -> LiveGame | None:
        """Return the game with a key if it is in memory."""
        return self._touch(self._games[key]) if key in self._games else None

    def keep(self, loaded: LiveGame) -> LiveGame:
        """Keep a game of :meth:`load` in memory; return the one there if it came first."""
        if there := self.in_memory(loaded.key):
            _close_later(loaded.agent)
            return there
        return self._touch(loaded)

    def load(self, key: str) -> LiveGame:
        """Read a game from disk, in any thread.

        Raises
        ------
        LookupError
            If there is none, or if its file is damaged or of another format.
        """
        try:
            if not KEY.fullmatch(key):
                raise ValueError("it is not a key of this store")
            fields = json.loads(read_regular(self._path(key)))
            if fields["format"] != FORMAT:
                found = f"its format is {fields['format']!r}, not {FORMAT}"
                raise LookupError(f"{str(self._path(key))!r} is not a valid game: {found}")
            game = game_from_json(fields)
            if not game.is_over:
                game.agent_changed |= not is_same_version(game.setup.label, game.setup.agent)
            agent = self.make_agent(game.setup)
            return LiveGame(key, game, agent, is_saved=True, is_archived=game.is_over)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LookupError("There is no such game any more.") from error

    async def save(self, live: LiveGame) -> None:
        """Write a game to disk, and a finished one to the archive too. Raise OSError."""
        live.is_saved = False
        async with live.writing:
            version, content = live.game.version, json.dumps(game_to_json(live.game)).encode()
            is_end = live.game.is_over and not live.is_archived
            if is_end:
                await run_in_thread(save_game, self.folder, live.game, live.key)
                live.is_archived = True
            try:
                await run_in_thread(self._write, live.key, content)
                live.is_saved = version == live.game.version
            finally:
                if is_end:
                    await _announce_end(live)

    def make_agent(self, setup: GameSetup) -> Agent:
        """Make the agent of a game. Raise ValueError if it is not on offer."""
        return reseed(self.catalog.make(setup.agent), setup.seed)

    def close(self) -> None:
        """Close all agents."""
        for live in self._games.values():
            close_agent(live.agent)
        self._games.clear()

    def _write(self, key: str, content: bytes) -> None:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)

    def _path(self, key: str) -> Path:
        return self.folder / "tabs" / f"{key}.json"

    def _touch(self, live: LiveGame) -> LiveGame:
        """Mark a game as the last one in use, and drop idle games from memory."""
        live.last_use, self._games[live.key] = time.monotonic(), live
        self._games.move_to_end(live.key)
        surplus = len(self._games) - MAX_IN_MEMORY
        for number, other in enumerate(list(self._games.values())):
            is_idle = number < surplus or other.last_use < live.last_use - MEMORY_SECONDS
            if is_idle and not other.lock.locked():
                _close_later(self._games.pop(other.key).agent)
        return live

    def _delete_old_files(self) -> None:
        """Delete files that are too old, and the oldest of too many."""
        times = {}
        for path in self._path("*").parent.glob("*.json"):
            with suppress(FileNotFoundError):  # another request deletes old files, too
                times[path] = path.lstat().st_mtime
        files = sorted(times, key=times.__getitem__)
        old = [path for path in files if times[path] < time.time() - DISK_SECONDS]
        for path in {*old, *files[: max(len(files) - MAX_ON_DISK + 1, 0)]}:
            path.unlink(missing_ok=True)


async def _announce_end(live: LiveGame) -> None:
    """Call the method ``game_over`` of an agent that learns."""
    if game_over := getattr(live.agent, "game_over", None):
        board, side = live.game.board.copy(), 1 - live.game.setup.side
        with suppress(Exception), move_on_after(GAME_OVER_SECONDS):  # the result stands
            await run_in_thread(game_over, board, side)


def _close_later(agent: Agent) -> None:
    """Close an agent in a thread: a program may take seconds to end."""
    Thread(target=close_agent, args=(agent,)).start()


def game_to_json(game: HumanGame) -> Json:
    """Return a game as JSON."""
    setup = game.setup
    limits = {name: getattr(setup.limits, name) for name in LIMITS}
    return {
        "format": FORMAT,
        "setup": asdict(setup)
        | {
            "limits": limits,
            "opening": setup.opening._asdict(),
            "clock": setup.clock and setup.clock._asdict(),
        },
        "clock": game.clock and {"left": game.clock.left, "running": game.clock.running},
        "moves": [str(move) for move in game.board.moves],
        "analyses": game.analyses,
        "version": game.version,
        "hints": game.hints,
        "takebacks": game.takebacks,
        "interruptions": game.interruptions,
        "agent_changed": game.agent_changed,
        "result": game.result,
        "reason": game.reason,
    }


def game_from_json(fields: Json) -> HumanGame:
    """Return the game that :func:`game_to_json` wrote.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError
        If the JSON is not a game.
    """
    setup = dict(fields["setup"])
    opening = GameOpening(**setup["opening"])
    opening = opening._replace(moves=tuple(opening.moves))
    limits = Limits(**{name: setup["limits"].get(name) for name in LIMITS})
    control = TimeControl(**setup["clock"]) if setup.get("clock") else None
    values = setup | {"limits": limits, "opening": opening, "clock": control}
    game = HumanGame(GameSetup(**values))
    for text in fields["moves"][len(opening.moves) :]:
        game.board.push(text)
    game.analyses = {int(ply): analysis for ply, analysis in fields["analyses"].items()}
    game.version = int(fields["version"])  # an open page compares it with its own
    for name in ("hints", "takebacks", "interruptions"):
        setattr(game, name, int(fields[name]))
    game.agent_changed = bool(fields["agent_changed"])
    game.result, game.reason = fields["result"], fields["reason"]
    game.message = game.reason
    if game.clock:
        game.clock.left = [float(seconds) for seconds in fields["clock"]["left"]]
        if fields["clock"]["running"] is not None:  # the time without a server does not count
            game.clock.start(game.board.turn)
    return game
