"""What an agent sees in a position: the inside of its evaluator, as JSON holds it."""

from __future__ import annotations

import math
from typing import Any

from agents.agent import Agent, PlayerAgent
from agents.continual.agent import ContinualAgent
from agents.evaluator import value
from agents.mcts.player import MonteCarlo
from agents.search.player import AlphaBeta
from checkers_env.board import Board
from training.app.explain_evaluators import Inside, look_inside
from training.app.serialize import Json


def describe(agent: Agent, board: Board) -> Json:
    """What an agent's evaluator sees in a position, without any search.

    - ``kind``: ``network``, ``ntuple``, ``linear``, or ``opaque`` for agents that are not
      understood, of which there is a value at most.
    - ``value``: of the position for the side to move, -1 to 1; None if the agent has none.
    - ``total``: what that is made of. Of networks, n-tuples and Samuel's features the sum before
      the last tanh, otherwise the value itself.
    - ``piece_difference_share``: |d| / (|d| + |total - d|), where d is the part of the total that
      the piece difference makes: 0 to 1; None without such a part, or where both are 0.
    - ``terms``: ``[{"name", "amount"}]``, the parts of the total, which add up to it.
    - ``squares``: ``[{"square", "contribution"}]``; and ``elsewhere``, the total less all of these:
      0 for n-tuples and piece counters; of Samuel's features what belongs to no one piece; of
      networks, whose nodes weigh pieces together, without a meaning of its own. ``meaning`` says
      what a contribution is.
    - ``layers``: ``[{"name", "size", "cells": [{"squares", "activation"}]}]``. Of the network of
      2001 the nodes over the 91 sub-squares, -1 to 1; of Nguyen's networks the sums of the pieces
      there; of n-tuple systems the entries of the tuples, `size` being their number of squares.
    - ``seen_by``: "black" or "white", whose pieces are positive in the layers.
    - ``hidden``: ``[[activation, ...], ...]``, layers of a network that see the whole board.

    Squares are standard numbers 1-32, whoever is to move. Amounts are good for the side to move if
    they are positive; only layers are as the evaluator has them.
    """
    position = board.position
    evaluator = _evaluator(agent)
    worth, inside = None, Inside()
    if evaluator is not None:
        inside = look_inside(evaluator, position)
        found = float(value(evaluator, position, position.turn))
        worth = found if math.isfinite(found) else None
    squares = sorted(inside.squares.items())
    return {
        "kind": inside.kind,
        "value": worth,
        "total": float(inside.total),
        "piece_difference_share": _share(inside),
        "terms": [{"name": name, "amount": float(part)} for name, part in inside.terms.items()],
        "squares": [{"square": at, "contribution": float(part)} for at, part in squares],
        "elsewhere": float(inside.total - sum(inside.squares.values())),
        "meaning": inside.meaning,
        "layers": list(inside.layers),
        "seen_by": ("black", "white")[inside.seen_by],
        "hidden": [nodes.tolist() for nodes in inside.hidden],
    }


def _share(inside: Inside) -> float | None:
    if inside.pieces is None:
        return None
    pieces, rest = abs(inside.pieces), abs(inside.total - inside.pieces)
    return float(pieces / (pieces + rest)) if pieces + rest else None


def _evaluator(agent: Agent) -> Any:
    """What judges positions for an agent, or None."""
    player: Any = None
    if isinstance(agent, PlayerAgent):
        player = agent.player
    elif isinstance(agent, ContinualAgent):
        player = agent.pool.player(agent.strategy)
    if isinstance(player, MonteCarlo) and not player.cut:  # plays to the end: judges nothing
        return None
    return player.evaluator if isinstance(player, AlphaBeta | MonteCarlo) else None
