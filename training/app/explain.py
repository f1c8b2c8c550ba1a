"""An evaluator's view of a position, as JSON."""

from __future__ import annotations

import math
from typing import Any

from agents.agent import Agent, PlayerAgent
from agents.continual.agent import ContinualAgent
from agents.evaluator import evaluate_position
from agents.mcts.player import MonteCarlo
from agents.search.player import AlphaBeta
from checkers_env.board import Board
from training.app.explain_evaluators import Explanation, explain_evaluator
from training.app.serialize import Json


def explain_position(agent: Agent, board: Board) -> Json:
    """Explain a position by an agent's evaluator, without any search.

    Squares are standard numbers 1-32 for both sides. Positive amounts are good for the side to
    move; only layers have the evaluator's own sign.

    Returns
    -------
    ``kind``
        ``network``, ``ntuple``, ``linear``, or ``opaque`` for agents of unknown kind, which have
        a value at most.
    ``value``
        Of the position for the side to move, -1 to 1; None if the agent has none.
    ``total``
        The sum that the value is made of. Of networks, n-tuples and Samuel's features the sum
        before the last tanh, otherwise the value itself.
    ``piece_difference_share``
        |d| / (|d| + |total - d|), 0 to 1; d is the piece difference's part of the total. None
        without such a part, or where both are 0.
    ``terms``
        ``[{"name", "amount"}]``: parts of the total, which add up to it.
    ``squares``
        ``[{"square", "contribution"}]``: contributions of squares to the total.
    ``elsewhere``
        The total less all contributions. It is 0 for n-tuples and piece counters. Of Samuel's
        features it is the part that belongs to no one piece. Of networks, whose nodes weigh pieces
        together, it has no meaning.
    ``meaning``
        The meaning of a contribution, in words.
    ``layers``
        ``[{"name", "size", "cells": [{"squares", "activation"}]}]``. Of the network of 2001 the
        nodes over the 91 sub-squares, -1 to 1; of Nguyen's networks the sums of the pieces there;
        of n-tuple systems the entries of the tuples, where `size` is the number of squares.
    ``perspective``
        "black" or "white": the side with positive pieces in the layers.
    ``hidden``
        ``[[activation, ...], ...]``: layers of a network that take in the whole board.
    """
    position = board.position
    evaluator = _find_evaluator(agent)
    score, explanation = None, Explanation()
    if evaluator is not None:
        explanation = explain_evaluator(evaluator, position)
        output = float(evaluate_position(evaluator, position, position.turn))
        score = output if math.isfinite(output) else None
    total, squares = explanation.total, explanation.squares
    return {
        "kind": explanation.kind,
        "value": score,
        "total": float(total),
        "piece_difference_share": _piece_difference_share(explanation),
        "terms": [{"name": name, "amount": float(x)} for name, x in explanation.terms.items()],
        "squares": [{"square": at, "contribution": float(squares[at])} for at in sorted(squares)],
        "elsewhere": float(total - sum(squares.values())),
        "meaning": explanation.meaning,
        "layers": list(explanation.layers),
        "perspective": ("black", "white")[explanation.perspective],
        "hidden": [layer.tolist() for layer in explanation.hidden],
    }


def _piece_difference_share(explanation: Explanation) -> float | None:
    if explanation.piece_difference is None:
        return None
    pieces = abs(explanation.piece_difference)
    rest = abs(explanation.total - explanation.piece_difference)
    return float(pieces / (pieces + rest)) if pieces + rest else None


def _find_evaluator(agent: Agent) -> Any:
    """Return an agent's evaluator, or None."""
    player: Any = None
    if isinstance(agent, PlayerAgent):
        player = agent.player
    elif isinstance(agent, ContinualAgent):
        player = agent.pool.player(agent.strategy)
    if isinstance(player, MonteCarlo) and not player.cut:  # it plays out, without an evaluator
        return None
    return player.evaluator if isinstance(player, AlphaBeta | MonteCarlo) else None
