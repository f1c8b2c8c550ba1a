"""Agents by name, by weight file, or from a user's code."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from agents.agent import Agent, PlayerAgent
from agents.agent_spec import WEIGHTS_SUFFIX, AgentSpec
from agents.architectures import load_player
from agents.baselines.heuristic import Heuristic
from agents.baselines.material import Material
from agents.baselines.random_player import RandomPlayer
from agents.endgame.tables import load_tablebase
from agents.factory import make_external
from agents.limits import check_limits, require_selective, with_nodes
from agents.mcts.player import UNLIMITED, MonteCarlo, monte_carlo
from agents.player import uses_history
from agents.search.player import AlphaBeta, with_options
from agents.search.root_order import CHANCE
from agents.search.selective import (
    FULL_WIDTH,
    NODES_PER_SECOND,
    OPTIONS,
    Selective,
    with_search_options,
    with_table,
)
from agents.search.workspace import MAX_DEPTH

DEFAULT_DEPTH = 4
PLAYER_OPTIONS = ("depth", "simulations", "nodes", "seconds", "seed", "endgame", "selective")
RULES = ("tie", "order", "ends_at_jump")
ZOO = Path(str(files("agents") / "zoo"))

BASELINES: dict[str, Callable[[int | None], Any]] = {
    "random": lambda depth: RandomPlayer(),
    "heuristic": lambda depth: Heuristic(),
    "material": lambda depth: AlphaBeta(Material(), depth or DEFAULT_DEPTH, tie=CHANCE),
    "mcts": lambda depth: monte_carlo(cut=0),
    "mcts-ept": lambda depth: monte_carlo(),
}

FORMER: dict[str, Selective] = {"strong-1": Selective()}
"""Former players, to measure progress by, and their search, which stays as it is. Their weights are
in the folder ``zoo/former``. :func:`available` does not list them."""


def available() -> list[str]:
    """Return all names for :func:`make`: the baselines and the trained players of the zoo."""
    return [*BASELINES, *sorted(_zoo())]


def make(
    agent: str | Path,
    *,
    depth: int | None = None,
    simulations: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    endgame: int | None = None,
    selective: bool | None = None,
    tie: str | None = None,
    order: str | None = None,
    ends_at_jump: bool | None = None,
    **options: Any,
) -> Agent:
    """Make an agent.

    Parameters
    ----------
    agent
        One of these texts, or one with options after an @, as in ``blondie24@depth=6,tie=last``:

        - a name from :func:`available`, or ``strong-1`` (see :data:`FORMER`);
        - a weight file (``champion.safetensors``);
        - a folder with one, such as a run's or a model hub's: ``runs/c0-seed-1``, ``./folder``;
        - a class or function of your own: ``package.module:factory`` or ``file.py:factory``;
        - an outside player (see the docs): ``hub:COMMAND``, ``dxp:HOST:PORT``,
          ``policy:file.py:name``, ``openspiel:mcts``, or a zip file of Stable-Baselines3;
        - ``continual:POOL`` or ``continual:POOL:RECORD`` (see :mod:`agents.continual.agent`).
    depth
        Search depth in plies. Default: the depth of the player's training, 4 for ``material``.
    simulations
        Playouts a move. Default for ``mcts`` and ``mcts-ept``: 1,000. An alpha-beta player then
        plays by Monte Carlo tree search with its evaluator, without endgame tables.
    nodes
        Positions visited a move, instead of a depth. Only for players that search selectively:
        equal effort, the same on every machine.
    seconds
        Time a move, instead of a depth or simulations.
    seed
        Seed of agents that use chance.
    endgame
        Largest number of pieces for endgame tables, 2 to 5 (see :mod:`agents.endgame`). Only for
        alpha-beta players. The tables are computed once, in seconds for up to 4 pieces.
    selective
        Whether an alpha-beta player searches selectively (see
        :class:`agents.search.selective.Selective`). Default: as its weight file says; the papers'
        players do not.
    tie
        Which of equally good moves an alpha-beta player makes: ``"first"``, ``"last"`` or
        ``"chance"``. Default: as in its training; ``material`` leaves it to chance.
    order
        Order of an alpha-beta player's moves: ``"direction"`` or ``"piece"`` (see
        :data:`agents.search.root_order.ORDERS`). Default: as in its training.
    ends_at_jump
        Whether the lines of a full-width search end behind a jump (see
        :class:`agents.search.selective.FullWidth`). Default: as in its training.
    options
        For players that search selectively: ``reduces``, ``static_margin`` and ``futility`` (see
        :class:`agents.search.selective.Selective`). Factories and outside players get all options,
        and those of the parameters above that are not None.

    Returns
    -------
    An object with ``act(board)``.

    Raises
    ------
    ValueError
        If the agent is unknown, its file cannot be read, or an option does not suit it.
    """
    if not isinstance(agent, str | Path):
        raise ValueError(f"agent must be a text or a path, not {agent!r}")
    if isinstance(agent, Path):
        spec = AgentSpec.from_name(os.path.join(".", agent) if agent.is_dir() else str(agent))
    else:
        spec = AgentSpec.parse(agent)
    options |= {"depth": depth, "simulations": simulations, "nodes": nodes, "seconds": seconds}
    options |= {"seed": seed, "endgame": endgame, "selective": selective}
    options |= {"tie": tie, "order": order, "ends_at_jump": ends_at_jump}
    given = {name: _plain(value) for name, value in options.items() if value is not None}
    if spec.is_builtin:
        return _make_builtin(spec, spec.options | given)
    return make_external(spec, spec.options | given)


def _make_builtin(spec: AgentSpec, given: Mapping[str, Any]) -> PlayerAgent:
    agent, options = spec.name, dict(given)
    depth, simulations, nodes, seconds, seed, endgame, selective = (
        options.pop(name, None) for name in PLAYER_OPTIONS
    )
    rules = {name: options.pop(name, None) for name in RULES}
    if unknown := [name for name in options if name not in OPTIONS]:
        known = ", ".join([*PLAYER_OPTIONS, *RULES, *OPTIONS])
        raise ValueError(f"{agent!r} takes {known}, not {', '.join(unknown)}")
    check_limits(depth, simulations, seconds, nodes)
    _check(seed, selective)
    player: Any = _player(spec, depth)
    player = _with_limits(agent, player, depth, simulations, seconds)
    if selective is not None:
        _require_plies(agent, player, "selective")
        if selective != uses_history(player):
            player = player._replace(style=Selective() if selective else FULL_WIDTH)
    if options:
        require_selective(agent, player, ", ".join(options))
        player = player._replace(style=with_search_options(player.style, options))
    if changed := [name for name, rule in rules.items() if rule is not None]:
        _require_plies(agent, player, changed[0])
        player = with_options(player, **rules)
    if nodes is not None:
        player = with_nodes(agent, player, nodes, depth)
    if seconds is not None and uses_history(player):
        player = player._replace(style=with_table(player.style, seconds * NODES_PER_SECOND))
    if endgame is not None:
        _require_plies(agent, player, "endgame")
        player = player._replace(tablebase=load_tablebase(endgame))
    return PlayerAgent(agent, player, np.random.default_rng(seed), seconds)


@contextmanager
def open_agent(agent: Agent | str | Path) -> Iterator[Agent]:
    """Yield an agent for a with block; an agent named by text is made, and closed at the end.

    Raises
    ------
    ValueError
        For what is neither text nor an agent, and as :func:`make` does.
    """
    if not isinstance(agent, str | Path):
        if not callable(getattr(agent, "act", None)):
            raise ValueError(
                f"an agent is text, a path or an object with act(board), not {agent!r}"
            )
        yield agent
        return
    own = make(agent)
    try:
        yield own
    finally:
        if close := getattr(own, "close", None):
            close()


def _require_plies(agent: str, player: Any, option: str) -> None:
    if not isinstance(player, AlphaBeta):
        raise ValueError(f"{agent!r} does not search by plies: it takes no {option}")


def _with_limits(
    agent: str, player: Any, depth: int | None, simulations: int | None, seconds: float | None
) -> Any:
    """Return the player with its limit of a move: depth, simulations or time."""
    if isinstance(player, AlphaBeta) and simulations is not None:
        if depth is not None:
            raise ValueError("give depth or simulations, not both")
        player = monte_carlo(
            player.evaluator, simulations, root_perspective=player.root_perspective
        )
    if isinstance(player, AlphaBeta):
        return player if seconds is None else player._replace(depth=depth or MAX_DEPTH)
    if depth is not None:
        _require_plies(agent, player, "depth")
    if isinstance(player, MonteCarlo):
        most = player.simulations if seconds is None else UNLIMITED
        return player._replace(simulations=simulations or most)
    if simulations is not None or seconds is not None:
        raise ValueError(f"{agent!r} does not search: it takes no simulations and no seconds")
    return player


def _check(seed: int | None, selective: bool | None) -> None:
    if seed is not None and not (type(seed) is int and seed >= 0):
        raise ValueError(f"seed must be a whole number from 0 on, not {seed!r}")
    if selective not in (None, True, False):
        raise ValueError(f"selective must be True or False, not {selective!r}")


def _plain(number: Any) -> Any:
    """Return a numpy number as a Python number, anything else as it is."""
    return number.item() if isinstance(number, np.number) else number


def _player(spec: AgentSpec, depth: int | None) -> Any:
    if spec.kind == "weights":
        return load_player(spec.name, depth)
    if spec.name in BASELINES:
        return BASELINES[spec.name](depth)
    if spec.name in FORMER:
        former: Any = load_player(ZOO / "former" / f"{spec.name}{WEIGHTS_SUFFIX}", depth)
        return former._replace(style=FORMER[spec.name])
    zoo = _zoo()
    if spec.name in zoo:
        return load_player(zoo[spec.name], depth)
    names = available()
    error = f"unknown agent {spec.name!r}: "
    if similar := difflib.get_close_matches(spec.name, names, 1):
        error += f"did you mean {similar[0]!r}? See agents.available() for all {len(names)}."
    else:
        error += (
            f"name one of the {len(names)} of agents.available(), a weight file "
            f"(*{WEIGHTS_SUFFIX}), or a factory (package.module:name or file.py:name)."
        )
    raise ValueError(error)


def _zoo() -> dict[str, Path]:
    return {path.stem: path for path in ZOO.glob(f"*{WEIGHTS_SUFFIX}")}
