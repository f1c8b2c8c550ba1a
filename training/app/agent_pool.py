"""Agents of games: one for each game and side, so that a memory of its own stays with it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import NamedTuple

from agents.agent import Agent
from training.app.async_agent import run_in_thread
from training.league.entrants import close_agent

MAX_AGENTS = 16


class PlayerKey(NamedTuple):
    """A player of a game: its label, the game's seed, and its side."""

    label: str
    seed: int
    side: int


@dataclass(eq=False)
class _Place:
    agent: Agent | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # an agent does one thing at a time


class AgentPool:
    """The agents that were asked last. An older one is made anew when its game goes on."""

    def __init__(self) -> None:
        self._places: OrderedDict[PlayerKey, _Place] = OrderedDict()

    @asynccontextmanager
    async def borrow(self, key: PlayerKey, make: Callable[[], Agent]) -> AsyncIterator[Agent]:
        """Yield the agent of a player, which waits for others; one that fails is dropped."""
        place = self._places.setdefault(key, _Place())
        self._places.move_to_end(key)
        try:
            async with place.lock:
                if place.agent is None:
                    place.agent = await run_in_thread(make)
                yield place.agent
        except Exception:
            _close_later(place)
            raise
        finally:
            self._drop_surplus()

    def take(self, key: PlayerKey) -> Agent | None:
        """Remove the agent of a player, and return it if there is one."""
        place = self._places.pop(key, None)
        return place.agent if place else None

    def close(self) -> None:
        """Close all agents."""
        for place in self._places.values():
            if place.agent:
                close_agent(place.agent)
        self._places.clear()

    def _drop_surplus(self) -> None:
        surplus = len(self._places) - MAX_AGENTS
        for key, place in list(self._places.items())[: max(surplus, 0)]:
            if not place.lock.locked():
                _close_later(self._places.pop(key))


def _close_later(place: _Place) -> None:
    """Close an agent in a thread: a program may take seconds to end."""
    if place.agent:
        Thread(target=close_agent, args=(place.agent,)).start()
    place.agent = None
