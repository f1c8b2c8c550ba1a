"""Let one of our agents play another program by the DamExchange protocol (DXP).

    python -m agents.external.dxp --listen --agent blondie24
    python -m agents.external.dxp --connect --agent material --depth 6 --games 10

The first lets an agent play whoever connects, the second calls a program that listens. As an agent
of ours, the other program is ``agents.make("dxp:127.0.0.1:27531")`` where it listens, and
``agents.make("dxp:listen:27531")`` where it calls. :mod:`agents.external.dxp.messages` says how
English draughts is put into a protocol that was made for 10x10 draughts.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from agents.external.dxp.connection import address
from agents.external.dxp.messages import HOST, PORT
from agents.external.dxp.server import PATIENCE, Place, Played, challenge, serve
from agents.external.errors import EngineError
from agents.registry import make
from checkers_env import pdn
from checkers_env.fen import START
from checkers_env.files import check_output
from checkers_env.movegen import BLACK, WHITE

RESULTS = {BLACK: "1-0", WHITE: "0-1", None: "1/2-1/2"}
FAILED, INTERRUPTED = 1, 130
_ROLE = tyro.conf.create_mutex_group(required=True)


@dataclass(frozen=True)
class Settings:
    """Who plays, and how the other program is met."""

    listen: Annotated[bool, _ROLE, tyro.conf.FlagCreatePairsOff] = False
    """Wait for programs to connect, and play the games that they ask for."""
    connect: Annotated[bool, _ROLE, tyro.conf.FlagCreatePairsOff] = False
    """Call a program that listens, and ask it for games, Black and White in turn."""
    agent: str = "blondie24"
    """A name, a weight file, or a factory as module:name or file.py:name."""
    depth: int | None = None
    """Plies that the agent searches."""
    seconds: float | None = None
    """The agent's time for a move, instead of a depth."""
    seed: int | None = None
    """For agents that use chance."""
    host: str = HOST
    """Address to listen on or to call; the default is seen by this machine only."""
    port: int = PORT
    """Port to listen on or to call."""
    games: int | None = None
    """Games to play; by default 2 when calling, and no end of them when listening."""
    minutes: int = 0
    """When calling: time for each side and a whole game; 0 for no limit."""
    moves: int = 100
    """When calling: draw after this many moves by each side; 0 for no limit."""
    patience: float = PATIENCE
    """Seconds to wait for anything that the other program is to send."""
    pdn: Path | None = None
    """File for the games."""


def main() -> int:
    """Run the command line; return the exit status."""
    description = (__doc__ or "").partition("\n\n")[0]
    settings = tyro.cli(Settings, prog="python -m agents.external.dxp", description=description)
    try:
        run(settings)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (EngineError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    return 0


def run(settings: Settings) -> None:
    """Play the games, with a line on each when it is over. Raises ValueError for bad settings."""
    if not settings.patience > 0:
        raise ValueError(f"--patience must be more than 0 seconds, not {settings.patience}")
    if settings.pdn:
        check_output("--pdn", settings.pdn)
    agent = make(settings.agent, depth=settings.depth, seconds=settings.seconds, seed=settings.seed)
    played: list[Played] = []

    def report(game: Played) -> None:
        played.append(game)
        print(f"game {len(played)}: {_summary(game)}", flush=True)
        if settings.pdn:
            pdn.dump([_record(game, settings.agent) for game in played], settings.pdn)

    place = Place(settings.host, settings.port, settings.patience)
    if settings.listen:
        print(f"{settings.agent} waits on {address(*place[:2])}", flush=True)
        serve(agent, place, games=settings.games, report=report)
    else:
        games = 2 if settings.games is None else settings.games
        limits = {"minutes": settings.minutes, "moves": settings.moves}
        challenge(agent, place, games=games, **limits, report=report)


def _summary(game: Played) -> str:
    colours = ("Black", "White") if game.colour == BLACK else ("White", "Black")
    text = f"{colours[0]} against {game.opponent}, {game.board.ply} plies: "
    if game.outcome is None:
        return text + (game.error or "ended without a result")
    winner = game.outcome.winner
    result = "drawn" if winner is None else "won" if winner == game.colour else "lost"
    return f"{text}{result} ({game.outcome.reason})"


def _record(game: Played, name: str) -> pdn.Game:
    names = (name, game.opponent) if game.colour == BLACK else (game.opponent, name)
    start = game.board.root().fen()
    tags = {"Event": "DXP", "Black": names[0], "White": names[1]}
    if start != START:
        tags["FEN"] = start
    result = "*" if game.outcome is None else RESULTS[game.outcome.winner]
    return pdn.Game(tags, tuple(game.board.moves), result)


if __name__ == "__main__":
    sys.exit(main())
