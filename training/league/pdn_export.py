"""The games of a league in Portable Draughts Notation."""

from __future__ import annotations

from collections.abc import Iterator

from checkers_env import pdn
from checkers_env.board import Board
from checkers_env.moves import Move
from training.league.records import GameRecord, League


def games_to_pdn(league: League) -> Iterator[pdn.Game]:
    """Yield every game as PDN, with its conditions and result in tags."""
    conditions = "; ".join(f"{name} {value}" for name, value in league.conditions.items())
    for game in league.games:
        yield pdn.Game(
            {
                "Event": "Checkers laboratory league",
                "Round": str(game.number + 1),
                "Black": league.entrants[game.black].name,
                "White": league.entrants[game.white].name,
                "BlackAbout": league.entrants[game.black].about,
                "WhiteAbout": league.entrants[game.white].about,
                **_opening(game),
                "Reason": game.reason,
                "PieceDifference": f"{game.difference:+d}",
                "Conditions": conditions,
            },
            _moves(game),
            game.result,
        )


def _opening(game: GameRecord) -> dict[str, str]:
    if ":" in game.opening:
        return {"SetUp": "1", "FEN": game.opening}
    return {"Opening": game.opening} if game.opening else {}


def _moves(game: GameRecord) -> tuple[Move, ...]:
    board = Board(game.opening) if ":" in game.opening else Board()
    try:
        for text in game.moves:
            board.push(text)
    except ValueError as error:
        raise ValueError(f"game {game.number + 1}: {error}") from None
    return tuple(board.moves)
