"""Adjudication of drawn games: by material or by playing them out, as in the papers; by tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agents.agent import PlayerAgent
from agents.agent_spec import AgentSpec
from agents.endgame.probe import Tablebase, probe_board
from agents.endgame.tables import load_tablebase
from agents.match import play_game
from agents.match_kernel import DRAW
from agents.registry import make
from agents.search.interrupt import LateMoveError
from checkers_env.board import Board
from checkers_env.movegen import BLACK
from checkers_env.state import REASONS
from training.league.game import Adjudicator
from training.league.records import GameRecord

TABLEBASE_PIECES = 5


def make_adjudicator(text: str, seed: int, seconds: float | None = None) -> Adjudicator | None:
    """Return the adjudicator of a text: none, material, endgame, or an agent that plays games out.

    The seed is that of the playouts, and `seconds` limits each of their moves.
    """
    if text in ("none", "material"):
        return adjudicate_by_material if text == "material" else None
    if text == "endgame":
        return adjudicate_by_tablebase(load_tablebase(TABLEBASE_PIECES))
    spec = AgentSpec.parse(text)
    agent = make(spec.name, **spec.options)
    if not isinstance(agent, PlayerAgent) or agent.seconds is not None or agent.blunder:
        raise ValueError(
            "adjudicate must be none, material, endgame, or a built-in player at a depth, "
            f"not {text!r}"
        )
    return adjudicate_by_playout(agent.player, text, seed, seconds)


def adjudicate_by_material(board: Board, game: GameRecord) -> GameRecord:
    """Return the game as a win of the side with more pieces."""
    score = (1 + np.sign(game.difference)) / 2
    reason = f"{game.reason}; by material {game.difference:+d}"
    return replace(game, score=float(score), reason=reason)


def adjudicate_by_tablebase(tables: Tablebase) -> Adjudicator:
    """Return an adjudicator that gives won endings to the winner of perfect play.

    A drawn game ends as its last position would without draw rules. It stays drawn if the position
    is drawn, or has more pieces than the tables.
    """

    def adjudicate(board: Board, game: GameRecord) -> GameRecord:
        ending = probe_board(tables, board)
        if ending is None or ending.value == 0:
            return game
        black_wins = (ending.value > 0) == (board.turn == BLACK)
        reason = f"{game.reason}; by endgame tables in {ending.plies} plies"
        return replace(game, score=float(black_wins), reason=reason)

    return adjudicate


def adjudicate_by_playout(
    player: object, name: str, seed: int, seconds: float | None = None
) -> Adjudicator:
    """Return an adjudicator that plays the rest of the game with `player` on both sides.

    A game stays drawn if the player takes too long for a move.
    """

    def adjudicate(board: Board, game: GameRecord) -> GameRecord:
        rng = np.random.default_rng((seed, game.number, 1))  # not the generator of the game
        try:
            end = play_game(player, player, opening=board.fen(), rng=rng, seconds=seconds).result
        except LateMoveError:
            late = f"not played out by {name}, which took more than {seconds:g} s for a move"
            return replace(game, reason=f"{game.reason}; {late}")
        score = 0.5 if end.winner == DRAW else float(end.winner == BLACK)
        reason = f"{game.reason}; played out by {name}: {REASONS[end.reason]}"
        return replace(game, score=score, reason=reason)

    return adjudicate
