"""Which agents the page offers, and what can be asked of them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import agents
from agents.agent import Agent
from agents.agent_spec import AgentSpec
from agents.analysis import Limits
from agents.search.workspace import MAX_DEPTH
from training.league.entrants import close_agent, describe_agent, display_name, file_digest

DEFAULT = "blondie24"
SECONDS = 10.0  # a move, where nothing is said
LONGEST = 60.0
MOST = {"depth": MAX_DEPTH, "simulations": 1_000_000}


class Offer(NamedTuple):
    """An agent on offer."""

    name: str  # as agents.make takes it
    label: str
    about: str
    limit: str | None  # what a move is limited by beside time: "depth", "simulations", or nothing
    default: int | None  # of that limit


class Player(NamedTuple):
    """An agent that was chosen, and what its moves may cost."""

    agent: str  # as agents.make takes it
    label: str  # for people and records: with its limits, and the version of its file
    limits: Limits


@dataclass(frozen=True)
class Roster:
    """The agents on offer: ours, those named on the command line, the weight files of runs.

    Nothing else is made: for other texts agents.make would start programs and run code.
    """

    extra: Sequence[str] = ()
    runs: Sequence[Path] = ()

    def names(self) -> list[str]:
        """The agents to choose from; weight files of the runs are accepted besides."""
        return [*agents.available(), *self.extra]

    def make(self, name: str) -> Agent:
        """Make an agent. Raises ValueError for one that is not on offer."""
        self._check(name)
        return agents.make(name)

    def offer(self, name: str) -> Offer:
        """What is on offer under a name. Raises ValueError if it is not, or cannot be made."""
        self._check(name)
        return _offer(name, _version(name))

    def offers(self) -> list[Offer]:
        """Everything to choose from."""
        return [self.offer(name) for name in self.names()]

    def player(self, name: str, amount: int | None, seconds: float | None) -> Player:
        """An agent with limits: an amount of plies or simulations, and seconds a move.

        Raises ValueError for what the agent does not take, or more than is allowed.
        """
        offer = self.offer(name)
        if offer.limit is None:
            if amount is not None or seconds is not None:
                raise ValueError(f"{offer.label} does not search: it takes no limits.")
            return Player(name, _label(name, {}), Limits())
        amount = offer.default if amount is None else amount
        if amount is None or not 1 <= amount <= MOST[offer.limit]:
            raise ValueError(f"{offer.limit} must be from 1 to {MOST[offer.limit]:,}.")
        seconds = SECONDS if seconds is None else seconds
        if not 0 < seconds <= LONGEST:
            raise ValueError(f"The seconds a move must be above 0, and {LONGEST:g} at most.")
        told: dict[str, object] = {offer.limit: amount}
        told |= {} if seconds == SECONDS else {"seconds": f"{seconds:g}"}
        limits = Limits(seconds=seconds)._replace(**{offer.limit: amount})
        return Player(name, _label(name, told), limits)

    def _check(self, name: str) -> None:
        if name not in self.names() and not self._is_of_a_run(name):
            raise ValueError(f"No agent {name!r} is on offer: {', '.join(self.names())} are.")

    def _is_of_a_run(self, name: str) -> bool:
        if AgentSpec.from_name(name).kind != "weights":
            return False
        path = Path(name).resolve()
        return any(path.is_relative_to(run.resolve()) for run in self.runs)


@functools.lru_cache(1000)
def _offer(name: str, version: str) -> Offer:
    agent = agents.make(name)
    close_agent(agent)
    player = getattr(agent, "player", None)
    limit = next((name for name in MOST if hasattr(player, name)), None)
    default = getattr(player, limit) if limit else None
    return Offer(name, display_name(name, {}), describe_agent(agent, name), limit, default)


def _label(name: str, told: dict[str, object]) -> str:
    version = _version(name)
    return f"{display_name(name, told)} #{version}" if version else display_name(name, told)


def is_still(label: str, name: str) -> bool:
    """Whether the agent of that name is the one with the label: its file may have changed."""
    version = _version(name)
    return not version or label.endswith(f" #{version}")


def _version(name: str) -> str:
    """What tells a version of a weight file from others; nothing for agents that are no files."""
    path, kind = Path(name), AgentSpec.from_name(name).kind
    return file_digest(path)[:6] if kind == "weights" and path.is_file() else ""
