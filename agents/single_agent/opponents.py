"""Opponents of the single-agent environments, as users give them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from agents.agent import Agent, FunctionAgent, PlayerAgent, check_move
from agents.agent_spec import AgentSpec
from agents.registry import make
from agents.search.workspace import table_bits, workspace
from checkers_env.board import Board
from checkers_env.moves import Move, format_moves

COLOURS = ("black", "white")

Opponent: TypeAlias = str | Agent | Callable[[Board], Move | str]


def make_opponents(opponent: Opponent | Sequence[Opponent], depth: int | None) -> list[Agent]:
    """Return the opponents, at least one; `depth`, in plies, is for those given as texts.

    Each :class:`agents.agent.PlayerAgent` is a copy with its own generator and workspace.

    Raises
    ------
    ValueError
        For what is no opponent, for none, and for a depth of one that is no text.
    """
    several = isinstance(opponent, Sequence) and not isinstance(opponent, str)
    given: Any = opponent if several else [opponent]
    agents = [_agent(each, depth) for each in given]
    if not agents:
        raise ValueError("opponent must name at least one: the sequence is empty")
    return agents


def _agent(opponent: Opponent, depth: int | None) -> Agent:
    if isinstance(opponent, str):
        # A draw that OpenSpiel's rule gives is none of ours, so its bots play on.
        own: dict[str, Any] = (
            {"plays_on": True} if AgentSpec.parse(opponent).kind == "openspiel" else {}
        )
        return make(opponent, depth=depth, **own)
    if depth is not None:
        raise ValueError("depth is for opponents given by name: this one is an agent already")
    if isinstance(opponent, type):
        raise ValueError(f"opponent is the class {opponent.__name__}: give an object of it")
    if isinstance(opponent, PlayerAgent):
        ws = workspace(table_bits(opponent.player))
        return replace(opponent, rng=np.random.default_rng(), ws=ws)
    act: Any = getattr(opponent, "act", None)
    if callable(act):
        return opponent  # type: ignore[return-value]
    if callable(opponent):
        return FunctionAgent(opponent)
    raise ValueError(
        "opponent must be a text, a function of a board, or an object with a method act(board), "
        f"not {opponent!r}"
    )


def sides_of(colour: str | None) -> Sequence[int]:
    """Return the sides that an agent of this colour may have; None is any."""
    if colour not in (None, *COLOURS):
        raise ValueError(f"colour must be None or one of {list(COLOURS)}, not {colour!r}")
    return range(len(COLOURS)) if colour is None else [COLOURS.index(colour)]


def check_first_turn(board: Board, sides: Collection[int]) -> None:
    """Raise ValueError if an opponent moves first on `board` and can end the game by that.

    `sides` are those that the agent may have.
    """
    for move in board.legal_moves if 1 - board.turn in sides else ():
        after = board.copy()
        after.push(move)
        if outcome := after.outcome():
            raise ValueError(
                f"the opening can end before the agent's first turn: {outcome.reason} after the "
                f"opponent's {move} in {board.fen()}"
            )


def legal_reply(agent: Agent, board: Board) -> Move:
    """Return an opponent's move, which may be text. Raise ValueError if it is illegal."""
    move = agent.act(board.copy())
    try:
        return check_move(move, board)
    except (TypeError, ValueError):
        who = getattr(agent, "name", type(agent).__name__)
        raise ValueError(
            f"the opponent ({who}) played {move}, illegal in {board.fen()}: "
            f"the legal moves are {format_moves(board.legal_moves)}"
        ) from None
