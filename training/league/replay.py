"""Replay of recorded games: whether the moves of a game give its score."""

from __future__ import annotations

import numpy as np

from checkers_env.board import Board
from checkers_env.movegen import BLACK
from checkers_env.openings import opening_board
from checkers_env.render.scene import SIDES
from training.league.adjudicate import adjudicate_by_material
from training.league.game import AGREED, LeagueRules
from training.league.records import GameRecord


def check_game(game: GameRecord, league_rules: LeagueRules) -> None:
    """Replay a game, and compare its end with the record.

    A game without moves and reason passes: its moves were not kept. So does any score of a drawn
    game that an agent has played out.

    Parameters
    ----------
    game
        Record of the game.
    league_rules
        Rules of its league.

    Raises
    ------
    ValueError
        If a move is illegal, or the moves do not give the score.
    """
    if not game.moves and not game.reason:
        return
    board = opening_board(game.opening, league_rules.rules)
    opening = tuple(map(str, board.moves))
    if game.moves[: len(opening)] != opening:
        raise ValueError("its moves do not begin with its opening")
    for move in game.moves[len(opening) :]:
        if outcome := board.outcome():
            raise ValueError(f"its moves go on after its end by {outcome.reason}")
        board.push(move)
    if game.difference != board.piece_difference():
        raise ValueError(
            f"its moves give a piece difference of {board.piece_difference():+d}, "
            f"not {game.difference:+d}"
        )
    scores = _possible_scores(game, board, league_rules)
    if game.score not in scores:
        expected = " or ".join(f"{score:g}" for score in scores)
        raise ValueError(f"its moves give Black {expected}, not {game.score:g}: {game.reason}")


def _possible_scores(
    game: GameRecord, board: Board, league_rules: LeagueRules
) -> tuple[float, ...]:
    """Return the scores of Black that a game may have."""
    for side, name in enumerate(SIDES):
        if game.reason.startswith((f"{name} forfeits: ", f"{name} ended the game")):
            return (float(side),)
    if game.reason.startswith(AGREED):
        return (0.5,)
    outcome = board.outcome()
    if outcome is None:
        raise ValueError(f"its moves do not end the game: {game.reason}")
    winner, reason = outcome
    if not game.reason.startswith(reason):
        raise ValueError(f"its moves end by {reason}, not by {game.reason}")
    if winner is not None:
        return (float(winner == BLACK),)
    if league_rules.adjudicator is None:
        return (0.5,)
    if league_rules.adjudicator is adjudicate_by_material:
        return ((1 + float(np.sign(game.difference))) / 2,)
    return (0.0, 0.5, 1.0)
