"""Named opponents of the page "Play": a face, a story and a strength each.

The strengths are read from the zoo's common league (``agents/zoo/README.md``), where the piece
counter at 4 plies has 0 Elo. The levels of ``strong`` were rated in a league of their own on the
same scale; docs/app.md names the command.
"""

from __future__ import annotations

from typing import NamedTuple

from agents.limits import Limits
from agents.registry import DEFAULT_DEPTH
from training.app.agent_catalog import DEFAULT_SECONDS, AgentChoice, zoo_elo
from training.league.entrants import display_name

RECOMMENDED = "counter-2"


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
    levels: tuple[Level, ...] = ()  # the weakest first

    @property
    def elo(self) -> int:
        """Strength; that of the last level if there are levels."""
        if self.levels:
            return self.levels[-1].elo
        deep = self.depth not in (None, DEFAULT_DEPTH)
        return zoo_elo()[display_name(self.agent, {"depth": self.depth} if deep else {})]


STRONG_LEVELS = (
    Level(10, -133),
    Level(30, 432),
    Level(100, 563),
    Level(1_000, 865),
    Level(10_000, 1056),
    Level(100_000, 1211),
)

OPPONENTS = (
    Opponent(
        "random", "Random",
        "Plays any legal move. Good for learning the rules.",
        "random", None,
    ),
    Opponent(
        "counter-2", "Beginner",
        "Counts pieces, and looks one move by each side ahead.",
        "material", 2,
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
        "learns-squares", "Learns squares",
        "Another evolution strategy. No network: what a man and a king are worth on each square.",
        "learns-squares", 4,
    ),
    Opponent(
        "strong", "Strong",
        "Taught itself in one hour of computing. Choose how far it may think.",
        "strong", None, STRONG_LEVELS,
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
    options: dict[str, object] = {}
    if opponent.levels:
        number = 1 if level is None else level
        if not 1 <= number <= len(opponent.levels):
            raise ValueError(f"level must be from 1 to {len(opponent.levels)}, not {number}.")
        options["nodes"] = opponent.levels[number - 1].nodes
    elif level is not None:
        raise ValueError(f"{opponent.name} has no levels.")
    elif opponent.depth is not None:
        options["depth"] = opponent.depth
    limits = Limits(**options, seconds=DEFAULT_SECONDS if options else None)  # type: ignore[arg-type]
    return AgentChoice(opponent.agent, display_name(opponent.agent, options), limits)


def opponent_name(name: str, level: int | None) -> str:
    """Return an opponent's name for people, with its level if it has levels."""
    opponent = BY_ID[name]
    return f"{opponent.name}, level {level or 1}" if opponent.levels else opponent.name
