"""The games in progress: one a tab, under an unguessable name, in memory and on disk.

What is in memory are the most recent ones; every change is written to disk first, so that a game
goes on after the server was stopped.
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
from threading import Event

from agents.agent import Agent, reseed
from agents.analysis import Limits
from checkers_env.files import write_atomically
from training.app.agent_catalog import Roster, is_still
from training.app.game import Session, Setup
from training.app.game_archive import keep
from training.app.game_setup import Opening
from training.app.serialize import Json
from training.league.entrants import close_agent

FORMAT = 1
IN_MEMORY, ON_DISK = 100, 1000
AWAKE = 3600  # seconds after which a game that nobody asks for is on disk only
IDLE = 30 * 86_400  # seconds after which it is forgotten
KEY = re.compile(r"[A-Za-z0-9_-]{22}")


@dataclass(eq=False)
class Seat:
    """A game, and the agent that plays it."""

    key: str
    session: Session
    agent: Agent
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # the agent does one thing at a time
    stopped: Event = field(default_factory=Event)  # set to have the agent move at once
    saved: bool = False  # is it on disk as it stands?
    kept: bool = False  # is it among the finished games?
    used: float = 0.0  # when it was asked for last


class Sessions:
    """All games; `folder` takes the finished ones, and in a folder of its own the others."""

    def __init__(self, roster: Roster, folder: Path) -> None:
        self.roster = roster
        self.folder = folder
        self._seats: OrderedDict[str, Seat] = OrderedDict()

    def begin(self, session: Session, agent: Agent) -> Seat:
        """Seat a new game. Raises OSError if it cannot be written."""
        seat = Seat(secrets.token_urlsafe(16), session, agent)
        self._forget()
        self.save(seat)
        return self._seated(seat)

    def seat(self, key: str) -> Seat:
        """The game of that name. Raises LookupError if there is none."""
        if key in self._seats:
            return self._seated(self._seats[key])
        try:
            if not KEY.fullmatch(key):
                raise ValueError("it is none of our names")
            session = read(json.loads(self._path(key).read_bytes()))
            if not session.over:
                session.replaced |= not is_still(session.setup.label, session.setup.agent)
            seat = Seat(key, session, self.agent_for(session.setup), saved=True, kept=session.over)
            return self._seated(seat)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise LookupError("There is no such game any more.") from error

    def save(self, seat: Seat) -> None:
        """Write a game down, and one that is over to where it is kept. Raises OSError."""
        seat.saved = False
        if seat.session.over and not seat.kept:
            keep(self.folder, seat.session, seat.key)
            seat.kept = True
            if hear := getattr(seat.agent, "game_over", None):  # it learns from its games
                with suppress(Exception):  # the result stands
                    hear(seat.session.board.copy(), 1 - seat.session.setup.side)
        path = self._path(seat.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(written(seat.session)).encode())
        seat.saved = True

    def agent_for(self, setup: Setup) -> Agent:
        """A new agent for a game. Raises ValueError if it is not on offer any more."""
        return reseed(self.roster.make(setup.agent), setup.seed)

    def close(self) -> None:
        """Let all agents go."""
        for seat in self._seats.values():
            close_agent(seat.agent)
        self._seats.clear()

    def _path(self, key: str) -> Path:
        return self.folder / "tabs" / f"{key}.json"

    def _seated(self, seat: Seat) -> Seat:
        """Note that a game is in use, and let go of those that have not been for long."""
        seat.used, self._seats[seat.key] = time.monotonic(), seat
        self._seats.move_to_end(seat.key)
        spare = len(self._seats) - IN_MEMORY
        for number, other in enumerate(list(self._seats.values())):
            idle = number < spare or other.used < seat.used - AWAKE
            if idle and not other.lock.locked():
                close_agent(self._seats.pop(other.key).agent)
        return seat

    def _forget(self) -> None:
        """Delete what is old, and what is too much."""
        files = sorted(self._path("*").parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
        old = [path for path in files if path.stat().st_mtime < time.time() - IDLE]
        for path in {*old, *files[: max(len(files) - ON_DISK + 1, 0)]}:
            path.unlink(missing_ok=True)


def written(session: Session) -> Json:
    """A game as JSON."""
    setup = session.setup
    return {
        "format": FORMAT,
        "setup": asdict(setup)
        | {"limits": setup.limits._asdict(), "opening": setup.opening._asdict()},
        "moves": [str(move) for move in session.board.moves],
        "thoughts": session.thoughts,
        "version": session.version,
        "hints": session.hints,
        "taken_back": session.taken_back,
        "hurried": session.hurried,
        "replaced": session.replaced,
        "result": session.result,
        "reason": session.reason,
    }


def read(fields: Json) -> Session:
    """The game that :func:`written` wrote. Raises ValueError, KeyError or TypeError for others."""
    if fields["format"] != FORMAT:
        raise ValueError(f"its format is {fields['format']!r}, not {FORMAT}")
    setup = dict(fields["setup"])
    opening = Opening(**setup["opening"])
    opening = opening._replace(moves=tuple(opening.moves))
    session = Session(Setup(**setup | {"limits": Limits(**setup["limits"]), "opening": opening}))
    for text in fields["moves"][len(opening.moves) :]:
        session.board.push(text)
    session.thoughts = {int(ply): thought for ply, thought in fields["thoughts"].items()}
    session.version = int(fields["version"])  # pages that are still open go by it
    for name in ("hints", "taken_back", "hurried"):
        setattr(session, name, int(fields[name]))
    session.replaced = bool(fields.get("replaced", False))  # which older files do not have
    session.result, session.reason = fields["result"], fields["reason"]
    session.message = session.reason
    return session
