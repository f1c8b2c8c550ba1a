"""The explanation of a position: what an agent's evaluator sees, without any search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.agent import Agent
from agents.evaluator import evaluate_position
from agents.explanation.evaluators import Parts, find_parts
from agents.explanation.picture import draw
from agents.mcts.player import MonteCarlo
from agents.registry import open_agent
from agents.search.player import AlphaBeta
from checkers_env.board import Board
from checkers_env.render.scene import SIDES
from checkers_env.render.svg import Svg


@dataclass(frozen=True, repr=False, kw_only=True)
class Explanation(Parts):
    """What an agent's evaluator sees in a position. A notebook draws it.

    Squares are standard numbers 1-32 for both sides. Positive amounts are good for the side to
    move; only layers have the evaluator's own sign.

    Attributes
    ----------
    agent
        Name of the agent.
    board
        The position.
    kind
        ``network``, ``ntuple``, ``linear``, or ``opaque`` for agents of unknown kind, which have a
        value at most.
    value
        Value for the side to move, -1 to 1; None if the agent has none.
    total
        Sum before the last tanh, for networks, n-tuples and Samuel's features; else the value.
    terms
        Parts of the total by name, which add up to it.
    squares
        Contribution of each square to the total.
    meaning
        The meaning of a contribution, in words.
    piece_difference
        The piece difference's part of the total; None for evaluators without it.
    layers
        Of the network of 2001 the nodes over the 91 sub-squares, -1 to 1; of Nguyen's networks the
        sums of the pieces there; of n-tuple systems the entries of the tuples. A cell's effect on
        the total is good for the side to move.
    hidden
        Layers of a network that take in the whole board, float64, shape (width,); of `strong` the
        16 nodes of its small layer, 0 to 1.
    perspective
        BLACK or WHITE: the side with positive pieces in the layers.
    """

    agent: str
    board: Board
    value: float | None = None

    @property
    def elsewhere(self) -> float:
        """The total less all contributions of squares.

        It is 0 for n-tuples and piece counters. Of Samuel's features it is the part that belongs
        to no one piece. Of networks, whose nodes weigh pieces together, it has no meaning.
        """
        return float(self.total - sum(self.squares.values()))

    @property
    def piece_difference_share(self) -> float | None:
        """``|d| / (|d| + |total - d|)``, 0 to 1; d is the piece difference's part of the total.

        None without such a part, or where both are 0.
        """
        if self.piece_difference is None:
            return None
        pieces, rest = abs(self.piece_difference), abs(self.total - self.piece_difference)
        return float(pieces / (pieces + rest)) if pieces + rest else None

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON, as the web page reads it."""
        squares = sorted(self.squares.items())
        return {
            "kind": self.kind,
            "value": self.value,
            "total": float(self.total),
            "piece_difference_share": self.piece_difference_share,
            "terms": [{"name": name, "amount": float(x)} for name, x in self.terms.items()],
            "squares": [{"square": at, "contribution": float(x)} for at, x in squares],
            "elsewhere": self.elsewhere,
            "meaning": self.meaning,
            "layers": [
                layer._asdict()
                | {"cells": [it._asdict() | {"squares": [*it.squares]} for it in layer.cells]}
                for layer in self.layers
            ],
            "perspective": SIDES[self.perspective].lower(),
            "hidden": [layer.tolist() for layer in self.hidden],
        }

    def __repr__(self) -> str:
        mover = SIDES[self.board.turn]
        value = "no value"
        if self.value is not None:
            value = f"value {self.value:+.3f} for {mover}, the side to move"
        terms = [f"  {name} {amount:+.3f}" for name, amount in self.terms.items()]
        return "\n".join([f"{self.agent} ({self.kind}): {value}", *terms])

    def _repr_svg_(self) -> Svg:
        return draw(self, self.agent, self.board, self.value)


def explain(agent: Agent | str | Path, board: Board) -> Explanation:
    """Explain a position by an agent's evaluator, without any search.

    Parameters
    ----------
    agent
        Any agent, or the text or path that :func:`agents.make` makes it of. Of agents without an
        evaluator that is known here, the explanation is empty.
    board
        Position to explain; it stays as it is.

    Raises
    ------
    ValueError
        For what is no agent.
    """
    with open_agent(agent) as opened:
        evaluator = _find_evaluator(opened)
        name = getattr(opened, "name", type(opened).__name__)
    position, parts, value = board.position, Parts(), None
    if evaluator is not None:
        parts = find_parts(evaluator, position)
        output = float(evaluate_position(evaluator, position, position.turn))
        value = output if math.isfinite(output) else None
    return Explanation(**vars(parts), agent=name, board=board.copy(), value=value)


def _find_evaluator(agent: Agent) -> Any:
    """Return an agent's evaluator, or None."""
    player = getattr(agent, "player", None)
    if isinstance(player, MonteCarlo) and not player.cut:  # it plays out, without an evaluator
        return None
    return player.evaluator if isinstance(player, AlphaBeta | MonteCarlo) else None
