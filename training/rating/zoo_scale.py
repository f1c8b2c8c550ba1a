"""The zoo's scale: known ratings by the text of an agent; 0 is the piece counter at 4 plies."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib.resources import files

from agents.agent_spec import AgentSpec
from agents.registry import DEFAULT_DEPTH
from training.league.records import Entrant

# Rated in leagues of their own on this scale (docs/app.md).
STRONG_NODES = {
    10: -103, 15: 84, 30: 353, 50: 407, 80: 525, 100: 585, 200: 673, 300: 787, 400: 839,
    600: 898, 1_000: 1003, 2_000: 1071, 3_000: 1103, 10_000: 1209, 100_000: 1302,
}  # fmt: skip
FORMER = {
    "strong-2@nodes=30": 334, "strong-2@nodes=100": 547, "strong-2@depth=4": 796,
    "strong-2@nodes=1000": 919, "strong-2@nodes=10000": 1159,
}  # fmt: skip
APART = {"learns-squares@depth=3": 186, "alphazero@simulations=200": -59, "alphazero": -59}
BLUNDERS = {0.8: -680, 0.6: -590, 0.4: -482, 0.3: -431, 0.2: -357}  # of material@depth=2
ANCHORS = (  # opponents of an agent that is rated alone, the weakest first
    *("random", "nguyen-1ply@depth=4", "c10-npd@depth=4", "material@depth=1", "hughes@depth=4"),
    *("material@depth=2", "c0-1ply@depth=4", "material@depth=4", "blondie24@depth=4"),
    *("c10@depth=4", "learns@depth=4", "learns-squares@depth=4", *FORMER),
)


@functools.cache
def zoo_scale() -> dict[str, int]:
    """Return the ratings of the zoo's page, and of the levels, by the texts of their agents."""
    page = files("agents").joinpath("zoo/README.md").read_text("utf-8")
    scale = APART | FORMER | {f"strong@nodes={nodes}": elo for nodes, elo in STRONG_NODES.items()}
    scale |= {f"material@depth=2,blunder={share}": elo for share, elo in BLUNDERS.items()}
    for trained, baseline, elo in re.findall(
        r"^\| \d+ \| (?:\[([^]]+)\]\S*|\*([^*]+)\*) \| ([+-]\d+) ", page, re.MULTILINE
    ):
        limit = "simulations=200" if trained == "nguyen-mcts" else "depth=4"
        name = re.sub(r" \((\w+) (\d+)\)", r"@\1=\2", baseline) or f"{trained}@{limit}"
        scale[name] = int(elo)
    return scale


def player_elo(name: str) -> int | None:
    """Return the rating of a player without options: of one that searches by plies, at 4 plies."""
    return zoo_scale().get(f"{name}@depth={DEFAULT_DEPTH}", zoo_scale().get(name))


def agent_text(entrant: Entrant) -> str:
    """Return the text that makes an entrant's agent."""
    spec = AgentSpec.from_name(entrant.agent)
    return str(AgentSpec(spec.name, spec.kind, spec.target, entrant.options))


def known_ratings(entrants: Sequence[Entrant], start: int = 0) -> dict[int, float]:
    """Return the ratings on the scale, by number, of entrants from number `start` on."""
    texts = {number: agent_text(entrants[number]) for number in range(start, len(entrants))}
    scale = zoo_scale()
    return {number: float(scale[text]) for number, text in texts.items() if text in scale}
