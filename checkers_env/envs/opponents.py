"""Opponents of the single-agent environments, as users give them."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any, TypeAlias

from checkers_env.agent import Agent, FunctionAgent, RandomAgent, check_move
from checkers_env.board import Board
from checkers_env.moves import Move

COLOURS = ("black", "white")

Opponent: TypeAlias = str | Agent | Callable[[Board], Move | str]
MakeNamed: TypeAlias = Callable[..., Agent]  # from a text and the keyword depth


def make_opponents(
    opponent: Opponent | Sequence[Opponent], depth: int | None, named: MakeNamed
) -> list[Agent]:
    """Return the opponents, at least one; `named` makes those given as texts.

    `depth`, in plies, is for texts. An agent with a method ``fork()`` is copied by it.

    Raises
    ------
    ValueError
        For what is no opponent, for none, and for a depth of one that is no text.
    """
    several = isinstance(opponent, Sequence) and not isinstance(opponent, str)
    given: Any = opponent if several else [opponent]
    agents = [_agent(each, depth, named) for each in given]
    if not agents:
        raise ValueError("opponent must name at least one: the sequence is empty")
    return agents


def make_named(text: str, depth: int | None) -> Agent:
    """Make the opponent that a text names; all but ``random`` need the package `agents`."""
    if text == "random" and depth is None:
        return RandomAgent()
    made: Agent = import_agents("registry").make(text, depth=depth)
    return made


def import_agents(module: str) -> ModuleType:
    """Return a module of this project's `agents`.

    Raise ImportError that tells where another package of that name lies.
    """
    try:
        return importlib.import_module(f"agents.{module}")
    except ImportError as error:
        spec = importlib.util.find_spec("agents")
        places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or ())]
        raise ImportError(
            f"this opponent needs the package agents of checkers-laboratory: {error}. Python finds "
            f"agents at {next(filter(None, places), None)}. Rename or uninstall any other agents; "
            "without the package, gymnasium.make takes 'random', a function of a board or an object"
        ) from error


def _agent(opponent: Opponent, depth: int | None, named: MakeNamed) -> Agent:
    if isinstance(opponent, str):
        return named(opponent, depth=depth)
    if depth is not None:
        raise ValueError("depth is for opponents given by name: this one is an agent already")
    if isinstance(opponent, type):
        raise ValueError(f"opponent is the class {opponent.__name__}: give an object of it")
    if fork := getattr(opponent, "fork", None):
        return fork()
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
    except (TypeError, ValueError) as error:
        who = getattr(agent, "name", type(agent).__name__)
        raise ValueError(f"the opponent ({who}): {error}") from None
