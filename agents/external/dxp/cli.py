"""Play an agent against another program by the DamExchange protocol (DXP).

    python -m agents.external.dxp --listen --agent blondie24
    python -m agents.external.dxp --connect --agent material --depth 6 --games 10

The first command plays programs that connect, the second one a program that listens. The other
program is an agent, too: ``agents.make("dxp:127.0.0.1:27531")`` for one that listens, and
``agents.make("dxp:listen:27531")`` for one that connects. The protocol was made for 10x10 draughts;
:mod:`agents.external.dxp.messages` defines its use for English draughts.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from agents.external.dxp.connection import TIMEOUT, DxpAddress
from agents.external.dxp.messages import HOST, PORT
from agents.external.dxp.session import DxpGame, challenge, serve
from agents.registry import make
from checkers_env import pdn
from checkers_env.board import RESULTS
from checkers_env.errors import EngineError
from checkers_env.files import check_output, write_atomically
from checkers_env.movegen import BLACK

FAILED, INTERRUPTED = 1, 130
LARGEST_LIMIT = 999  # minutes or moves: a request has three digits for each
_ROLE = tyro.conf.create_mutex_group(required=True)


@dataclass(frozen=True)
class DxpConfig:
    """The agent, the other program's address and the games."""

    listen: Annotated[bool, _ROLE, tyro.conf.FlagCreatePairsOff] = False
    """Wait for programs to connect, and play the games that they request."""
    connect: Annotated[bool, _ROLE, tyro.conf.FlagCreatePairsOff] = False
    """Connect to a program that listens, and request games, with Black and White in turn."""
    agent: str = "blondie24"
    """A name, a weight file, or a factory as module:name or file.py:name; options after an @."""
    depth: int | None = None
    """Search depth of the agent in plies."""
    seconds: float | None = None
    """The agent's time for a move, instead of a depth."""
    seed: int | None = None
    """Seed of a stochastic agent."""
    host: str = HOST
    """Address to listen on or to connect to; only this machine can reach the default."""
    port: int = PORT
    """Port to listen on or to connect to."""
    games: int | None = None
    """Number of games; by default 2 with --connect, and no limit with --listen."""
    minutes: int | None = None
    """With --connect: time of each side for a whole game; by default 0, no limit."""
    moves: int | None = None
    """With --connect: draw after this many moves by each side, by default 100; 0 for no limit."""
    timeout: float = TIMEOUT
    """Seconds to wait for a message of the other program."""
    pdn: Path | None = None
    """PDN file that the games are added to."""


def main() -> int:
    """Run the command line; return the exit status."""
    description = (__doc__ or "").partition("\n\n")[0]
    config = tyro.cli(DxpConfig, prog="python -m agents.external.dxp", description=description)
    try:
        run(config)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (EngineError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    return 0


def run(config: DxpConfig) -> None:
    """Play the games, and print a line after each. Raise ValueError for bad config."""
    address = DxpAddress(config.host, config.port, config.timeout)
    try:
        address.check(config.listen)
    except ValueError as error:
        raise ValueError(f"--{error}") from None
    limits = {"minutes": config.minutes, "moves": config.moves}
    given = {name: value for name, value in limits.items() if value is not None}
    for name, value in given.items():
        if config.listen:
            raise ValueError(
                f"--{name} has no effect with --listen, where the other program sets the "
                "limits of a game: leave it out"
            )
        if not 0 <= value <= LARGEST_LIMIT:
            raise ValueError(f"--{name} must be 0 to {LARGEST_LIMIT}, not {value}")
    if config.games is not None and config.games < 1:
        raise ValueError(f"--games must be at least 1, not {config.games}")
    record = b""
    if config.pdn:
        check_output("--pdn", config.pdn)
        record = config.pdn.read_bytes() if config.pdn.exists() else b""
    agent = make(config.agent, depth=config.depth, seconds=config.seconds, seed=config.seed)
    rng = np.random.default_rng(config.seed)
    if config.listen:
        print(f"{config.agent} waits on {address}", flush=True)
        count, games = config.games, serve(agent, address, rng)
    else:
        count, games = config.games or 2, challenge(agent, address, rng, **given)
    for number, game in enumerate(islice(games, count), 1):
        print(f"game {number}: {_summary(game)}", flush=True)
        if config.pdn:
            text = pdn.dumps([_record(game, config.agent)]).encode()
            record = b"\n".join(filter(None, [record, text]))
            write_atomically(config.pdn, record)


def _summary(game: DxpGame) -> str:
    colours = ("Black", "White") if game.colour == BLACK else ("White", "Black")
    text = f"{colours[0]} against {game.opponent}, {game.board.ply} plies: "
    if game.outcome is None:
        return text + _reason(game)
    winner = game.outcome.winner
    result = "drawn" if winner is None else "won" if winner == game.colour else "lost"
    return f"{text}{result} ({_reason(game)})"


def _reason(game: DxpGame) -> str:
    reason = game.outcome.reason if game.outcome else game.error or "ended without a result"
    return " ".join(reason.split())


def _record(game: DxpGame, name: str) -> pdn.Game:
    names = (name, game.opponent) if game.colour == BLACK else (game.opponent, name)
    tags = {"Event": "DXP", "Black": names[0], "White": names[1], "Reason": _reason(game)}
    tags["FEN"] = game.board.root().fen()  # pdn leaves the usual one out
    result = "*" if game.outcome is None else RESULTS[game.outcome.winner]
    return pdn.Game(tags, tuple(game.board.moves), result)
