"""Catalogue of the agents that the pages offer, and their limits."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import agents
from agents.agent import Agent, Limits, PlayerAgent
from agents.agent_spec import WEIGHTS_SUFFIX, AgentSpec
from agents.architectures import find_architecture
from agents.registry import ZOO
from agents.search.workspace import MAX_DEPTH
from agents.weights import load_weights
from checkers_env.files import open_regular
from training.league.entrants import close_agent, describe_agent, display_name, file_digest
from training.rating.zoo_scale import player_elo

DEFAULT_AGENT, JUDGE = "blondie24", "strong"
JUDGE_NODES = 30_000  # positions of a view of the judge
DEFAULT_SECONDS = 10.0  # a move
MAX_SECONDS = 60.0
KINDS = {
    "Network": "neural network",
    "NTuple": "n-tuples",
    "Material": "counts pieces",
    "WeightedPieces": "counts pieces by their squares",
    "PieceSquares": "weights of men and kings by square",
    "Samuel": "Samuel's features",
    "Nnue": "small network",
}
"""Evaluators in words, by class."""
MAX_AMOUNT = {"depth": MAX_DEPTH, "simulations": 1_000_000}


class CatalogEntry(NamedTuple):
    """An agent on offer."""

    name: str  # as agents.make takes it
    label: str
    about: str
    limit: str | None  # the limit beside time: "depth", "simulations", or None
    default: int | None  # of that limit
    elo: int | None  # in the zoo's league, at 4 plies


class AgentChoice(NamedTuple):
    """An agent with the limits of its moves, and the share of random ones."""

    agent: str  # as agents.make takes it
    label: str  # for people and records: with limits, and the version of a weight file
    limits: Limits
    blunder: float = 0.0


@dataclass(frozen=True)
class AgentCatalog:
    """Agents on offer: the zoo's, those of the command line, and the weight files of runs.

    The catalogue makes no other agent, because other texts can start programs and run code.
    """

    extra: Sequence[str] = ()
    runs: Sequence[Path] = ()

    def names(self) -> list[str]:
        """Return the names to choose from; weight files of runs are accepted besides."""
        return [*agents.available(), *self.extra]

    def make(self, name: str) -> Agent:
        """Make an agent. Raise ValueError for one that is not on offer."""
        self._check(name)
        return agents.make(name)

    def entry(self, name: str) -> CatalogEntry:
        """Return the entry of an agent. Raise ValueError if it is not on offer or fails."""
        self._check(name)
        return _make_entry(name, _file_version(name))

    def entries(self) -> list[CatalogEntry]:
        """Return the entries of all names."""
        return [self.entry(name) for name in self.names()]

    def choose(
        self, name: str, amount: int | None, seconds: float | None, *, has_clock: bool = False
    ) -> AgentChoice:
        """Combine an agent with limits: plies or simulations, and seconds a move.

        None is the agent's default; where a clock limits the moves, there is no default amount.
        Raise ValueError if the agent is not on offer, takes no limits, or a limit is out of range.
        """
        entry = self.entry(name)
        if entry.limit is None:
            if amount is not None or seconds is not None:
                raise ValueError(f"{entry.label} does not search: it takes no limits.")
            return AgentChoice(name, _make_label(name, {}), Limits())
        by_clock = has_clock and amount is None
        amount = entry.default if amount is None else amount
        if amount is None or not 1 <= amount <= MAX_AMOUNT[entry.limit]:
            raise ValueError(f"{entry.limit} must be from 1 to {MAX_AMOUNT[entry.limit]:,}.")
        seconds = DEFAULT_SECONDS if seconds is None else seconds
        if not 0 < seconds <= MAX_SECONDS:
            raise ValueError(f"The seconds a move must be above 0, and {MAX_SECONDS:g} at most.")
        options: dict[str, object] = {entry.limit: amount}
        options = {} if by_clock else options
        options |= {} if seconds == DEFAULT_SECONDS else {"seconds": f"{seconds:g}"}
        limits = Limits(seconds=seconds)._replace(**{} if by_clock else {entry.limit: amount})
        return AgentChoice(name, _make_label(name, options), limits)

    def _check(self, name: str) -> None:
        if name not in self.names() and not self._is_weight_file_of_run(name):
            near = difflib.get_close_matches(name[:200], self.names(), 1)
            hint = f"did you mean {near[0]!r}?" if near else "choose one of the page's list."
            raise ValueError(f"No agent {name[:200]!r} is on offer: {hint}")

    def _is_weight_file_of_run(self, name: str) -> bool:
        if not name.endswith(WEIGHTS_SUFFIX):  # a folder would do elsewhere, with any links in it
            return False
        try:
            path = Path(name).resolve()
            if not any(path.is_relative_to(run.resolve()) for run in self.runs):
                return False
            open_regular(path).close()
        except FileNotFoundError:
            pass  # agents.make says so
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
            raise ValueError(f"{name[:200]!r} is not a weight file: {error}.") from None
        return AgentSpec.from_name(name).kind == "weights"


@functools.lru_cache(1000)
def _make_entry(name: str, file_version: str) -> CatalogEntry:
    path = ZOO / f"{name}{WEIGHTS_SUFFIX}"
    if path.is_file():  # its header will do: the player may need endgame tables
        metadata = load_weights(path)[1]
        own = metadata.mcts_options or {"depth": metadata.depth}
        evaluator = find_architecture(metadata.architecture).evaluator.__name__
        about = f"{'Monte Carlo' if metadata.mcts_options else 'alpha-beta'}, {evaluator}"
    else:
        agent = agents.make(name)
        close_agent(agent)
        own = agent.player._asdict() if isinstance(agent, PlayerAgent) else {}
        about = describe_agent(agent, name)
    limit = next((it for it in MAX_AMOUNT if it in own), None)
    about = ", ".join(KINDS.get(word, word) for word in about.split(", "))
    label, elo = display_name(name, {}), player_elo(name)
    return CatalogEntry(name, label, about, limit, own.get(limit or ""), elo)


def _make_label(name: str, options: dict[str, object]) -> str:
    version = _file_version(name)
    return f"{display_name(name, options)} #{version}" if version else display_name(name, options)


def _file_version(name: str) -> str:
    """Return the first digits of a weight file's digest; an empty text for other agents."""
    spec = AgentSpec.from_name(name)
    path = Path(spec.name)
    return file_digest(path)[:6] if spec.kind == "weights" and path.is_file() else ""
