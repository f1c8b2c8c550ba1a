"""Named opponents of the page "Play": a face, a story and a strength each.

The strengths are those of :mod:`training.rating.zoo_scale`: 0 is the piece counter at 4 plies.
"""

from __future__ import annotations

from typing import NamedTuple

from agents.agent import Limits
from agents.agent_spec import AgentSpec
from training.app.agent_catalog import DEFAULT_SECONDS, AgentChoice
from training.league.entrants import display_name
from training.rating.zoo_scale import STRONG_NODES, zoo_scale

RECOMMENDED = "sleepyhead"


class Level(NamedTuple):
    """A level of ``strong``: the positions that it visits for a move, and its strength."""

    nodes: int
    elo: int


class Opponent(NamedTuple):
    """A named opponent."""

    id: str  # in requests, and of the face in static/icon.svg
    name: str
    story: str
    agent: str  # as agents.make takes it
    depth: int | None  # plies; None for an opponent that does not search, or has levels
    blunder: float = 0.0  # share of random moves
    levels: tuple[Level, ...] = ()  # the weakest first

    @property
    def options(self) -> dict[str, int | float]:
        """Options for agents.make."""
        options = {"depth": self.depth, "blunder": self.blunder}
        return {name: value for name, value in options.items() if value}

    @property
    def elo(self) -> int:
        """Strength; that of the last level if there are levels."""
        if self.levels:
            return self.levels[-1].elo
        return zoo_scale()[str(AgentSpec(self.agent, "name", self.agent, self.options))]


STRONG_LEVELS = tuple(map(Level._make, STRONG_NODES.items()))

OPPONENTS = (
    Opponent(
        "random", "Random",
        "Plays any legal move. Good for learning the rules.",
        "random", None,
    ),
    *(
        Opponent(
            name.lower(), name, f"{moves} random. It plays the others as Beginner does.",
            "material", 2, blunder,
        )
        for name, moves, blunder in (
            ("Sleepyhead", "Four moves of five are", 0.8),
            ("Daydreamer", "Three moves of five are", 0.6),
            ("Hasty", "Two moves of five are", 0.4),
            ("Restless", "Three moves of ten are", 0.3),
            ("Careless", "One move of five is", 0.2),
        )
    ),
    Opponent(
        "counter-1", "Short-sighted",
        "Counts pieces, and looks at its own next move only.",
        "material", 1,
    ),
    Opponent(
        "counter-2", "Beginner",
        "Counts pieces, and looks one move by each side ahead.",
        "material", 2,
    ),
    Opponent(
        "c0-1ply", "Apprentice",
        "A network that evolved while it looked at its own next move only.",
        "c0-1ply", 4,
    ),
    Opponent(
        "counter-4", "Piece counter",
        "Counts men and kings, two moves by each side ahead. The yardstick of the papers.",
        "material", 4,
    ),
    Opponent(
        "blondie24-1999", "Blondie24, 1999",
        "A network that learned from its games' results alone, by evolution.",
        "blondie24-1999", 4,
    ),
    Opponent(
        "blondie24", "Blondie24, 2001",
        "The same idea with an eye for parts of the board. Its model beat people online.",
        "blondie24", 4,
    ),
    Opponent(
        "c10", "C10",
        "Evolved in a group whose members learn from each other: the thesis of 2011.",
        "c10", 4,
    ),
    Opponent(
        "learns", "Learns",
        "Blondie24's network with a modern evolution strategy and the same number of games.",
        "learns", 4,
    ),
    Opponent(
        "learns-squares-3", "Quick squares",
        "The next opponent in a hurry: it looks a little less far ahead.",
        "learns-squares", 3,
    ),
    Opponent(
        "learns-squares", "Learns squares",
        "Another evolution strategy. No network: what a man and a king are worth on each square.",
        "learns-squares", 4,
    ),
    Opponent(
        "strong", "Strong",
        "A small network that taught itself. Choose how far it may think.",
        "strong", None, levels=STRONG_LEVELS,
    ),
)  # fmt: skip

BY_ID = {opponent.id: opponent for opponent in OPPONENTS}


def choose_opponent(name: str, level: int | None) -> AgentChoice:
    """Return a named opponent with the limits of its moves. Raise ValueError if there is none.

    Levels count from 1, the default of an opponent that has levels.
    """
    opponent = BY_ID.get(name)
    if opponent is None:
        raise ValueError(f"No opponent {name[:200]!r}: there are {', '.join(BY_ID)}.")
    options: dict[str, int | float] = {}
    if opponent.levels:
        number = 1 if level is None else level
        if not 1 <= number <= len(opponent.levels):
            raise ValueError(f"level must be from 1 to {len(opponent.levels)}, not {number}.")
        options["nodes"] = opponent.levels[number - 1].nodes
    elif level is not None:
        raise ValueError(f"{opponent.name} has no levels.")
    else:
        options = opponent.options
    label, blunder = display_name(opponent.agent, options), options.pop("blunder", 0.0)
    limits = Limits(**options, seconds=DEFAULT_SECONDS if options else None)  # type: ignore[arg-type]
    return AgentChoice(opponent.agent, label, limits, blunder)


def opponent_name(name: str, level: int | None) -> str:
    """Return an opponent's name for people, with its level if it has levels."""
    opponent = BY_ID[name]
    return f"{opponent.name}, level {level or 1}" if opponent.levels else opponent.name
