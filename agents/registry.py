"""Agents by name, by weight file, or from a user's code."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from agents.agent import Agent, Limits, PlayerAgent
from agents.agent_spec import OPTIONS, WEIGHTS_SUFFIX, AgentSpec
from agents.architectures import load_player
from agents.baselines.heuristic import Heuristic, RandomPlayer
from agents.baselines.material import Material
from agents.endgame.tables import load_tablebase
from agents.factory import make_external
from agents.mcts.player import MonteCarlo, monte_carlo
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from agents.search.selective import FORMER
from agents.search.workspace import UNLIMITED

DEFAULT_DEPTH = 4
ZOO = Path(str(files("agents") / "zoo"))

BASELINES: dict[str, Callable[[int | None], Any]] = {
    "random": lambda depth: RandomPlayer(),
    "heuristic": lambda depth: Heuristic(),
    "material": lambda depth: AlphaBeta(Material(), depth or DEFAULT_DEPTH, tie=CHANCE),
    "mcts": lambda depth: monte_carlo(cut=0),
    "mcts-ept": lambda depth: monte_carlo(),
}


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
    blunder: float | None = None,
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

        - a name from :func:`available`, or the former player ``strong-2``;
        - a weight file (``champion.safetensors``);
        - a folder with one, such as a run's or a model hub's: ``runs/c0-seed-1``, ``./folder``;
        - code of your own, ``package.module:name`` or ``file.py:name``: a class or function that
          makes an agent, or a function ``move(board)``;
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
    blunder
        Share of random moves, from 0 to 1, of any player of this project.
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
        For players that search selectively: ``reduces``, ``ends_early`` and the margins of
        :class:`agents.search.selective.Selective`. Factories and outside players get all options,
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
    options |= {"seed": seed, "blunder": blunder, "endgame": endgame, "selective": selective}
    options |= {"tie": tie, "order": order, "ends_at_jump": ends_at_jump}
    given = {name: _plain(value) for name, value in options.items() if value is not None}
    if spec.is_builtin:
        return _make_builtin(spec, spec.options | given)
    return make_external(spec, spec.options | given)


def _make_builtin(spec: AgentSpec, given: Mapping[str, Any]) -> PlayerAgent:
    agent, options = spec.name, dict(given)
    if unknown := [name for name in options if name not in (*OPTIONS, "seed")]:
        raise ValueError(f"{agent!r} takes {', '.join(OPTIONS)}, seed, not {', '.join(unknown)}")
    seed, simulations = options.pop("seed", None), options.pop("simulations", None)
    blunder = options.pop("blunder", 0.0)
    depth, nodes, seconds = (options.get(name) for name in ("depth", "nodes", "seconds"))
    Limits(depth, simulations, seconds, nodes=nodes).check()
    if seed is not None and not (type(seed) is int and seed >= 0):
        raise ValueError(f"seed must be a whole number from 0 on, not {seed!r}")
    if not (type(blunder) in (int, float) and 0 <= blunder <= 1):
        raise ValueError(f"blunder must be a share from 0 to 1, not {blunder!r}")
    player: Any = _player(spec, depth)
    if isinstance(player, AlphaBeta) and simulations is None:
        endgame = options.pop("endgame", None)
        try:
            player = player.with_search(**options)
        except ValueError as error:
            raise ValueError(f"{agent!r}: {error}") from None
        if endgame is not None:
            player = player._replace(tablebase=load_tablebase(endgame))
    else:
        player = _simulating(agent, player, simulations, options)
    return PlayerAgent(agent, player, np.random.default_rng(seed), seconds, float(blunder))


def _simulating(
    agent: str, player: Any, simulations: int | None, options: Mapping[str, Any]
) -> Any:
    """Return a player that does not search by plies; refuse options that it does not have."""
    if isinstance(player, AlphaBeta):
        if "depth" in options:
            raise ValueError("give depth or simulations, not both")
        player = monte_carlo(player.evaluator, root_perspective=player.root_perspective)
    if refused := [name for name in options if name != "seconds"]:
        raise ValueError(f"{agent!r} does not search by plies: it takes no {', '.join(refused)}")
    if isinstance(player, MonteCarlo):
        most = UNLIMITED if "seconds" in options else player.simulations
        return player._replace(simulations=simulations or most)
    if simulations is not None or options:
        raise ValueError(f"{agent!r} does not search: it takes no simulations and no seconds")
    return player


@contextmanager
def open_agent(agent: Agent | str | Path) -> Iterator[Agent]:
    """Yield an agent for a with block; an agent named by text is made, and closed at the end.

    Raise ValueError for what is neither text nor an agent, and as :func:`make` does.
    """
    opened = make(agent) if isinstance(agent, str | Path) else agent
    if not callable(getattr(opened, "act", None)):
        raise ValueError(f"an agent is text, a path or an object with act(board), not {agent!r}")
    try:
        yield opened
    finally:
        if opened is not agent and (close := getattr(opened, "close", None)):
            close()


def _plain(number: Any) -> Any:
    """Return a numpy number as a Python number, anything else as it is."""
    return number.item() if isinstance(number, np.number) else number


def _player(spec: AgentSpec, depth: int | None) -> Any:
    if spec.kind == "weights":
        return load_player(spec.name, depth)
    if spec.name in BASELINES:
        return BASELINES[spec.name](depth)
    former = _zoo("zoo/former").get(spec.name)
    if stored := former or _zoo().get(spec.name):
        with as_file(stored) as path:
            player: Any = load_player(path, depth)
        return player._replace(style=FORMER) if former else player
    names = available()
    advice = (
        f"name one of the {len(names)} of agents.available(), a weight file "
        f"(*{WEIGHTS_SUFFIX}), or a factory (package.module:name or file.py:name)."
    )
    if similar := difflib.get_close_matches(spec.name, names, 1):
        advice = f"did you mean {similar[0]!r}? See agents.available() for all {len(names)}."
    raise ValueError(f"unknown agent {spec.name!r}: {advice}")


def _zoo(folder: str = "zoo") -> dict[str, Traversable]:
    weights = (it for it in files("agents").joinpath(folder).iterdir() if it.is_file())
    return {path.stem: it for it in weights if (path := Path(it.name)).suffix == WEIGHTS_SUFFIX}
