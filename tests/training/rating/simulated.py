"""Players of known strength: correlated pairs of games with the expected scores."""

import itertools

import numpy as np
from scipy.special import ndtr

from checkers_env.openings import opening_board
from training.league.records import Entrant, GameRecord, League
from training.rating.elo import expected_score


def pairs(expected, draws, correlation, count, rng):
    """The first player's points in pairs of games with colours swapped (float64[count, 2]).

    `expected` are its expected scores as Black and as White, `draws` the share of draws of what is
    possible, and `correlation` is that of the two games' latent normal variables: below 0 where it
    is the opening that decides, above 0 where the better player of that opening wins both.
    """
    expected = np.asarray(expected)
    drawn = draws * 2 * np.minimum(expected, 1 - expected)
    shape = [[1, correlation], [correlation, 1]]
    luck = ndtr(rng.multivariate_normal([0, 0], shape, size=count))
    return 0.5 * (luck < expected + drawn / 2) + 0.5 * (luck < expected - drawn / 2)


def league(elo, openings, rng, *, draws=0.5, correlation=0.0, first_move=0.0):
    """Return a round robin: each pair of players plays two games from each opening."""
    games = []
    for first, second in itertools.combinations(range(len(elo)), 2):
        difference = elo[first] - elo[second]
        expected = expected_score(np.array([difference + first_move, difference - first_move]))
        points = pairs(expected, draws, correlation, openings, rng)
        for opening, (black, white) in enumerate(points):
            games.append(record(first, second, opening, float(black)))
            games.append(record(second, first, opening, 1 - float(white)))
    return League(tuple(Entrant(f"player {n}", "none") for n in range(len(elo))), {}, tuple(games))


def record(black, white, opening, score, moves=()):
    """Return a game of which only the result matters."""
    return GameRecord(0, black, white, str(opening), score, "simulated", 0, tuple(moves))


def random_game(seed, opening="11-15 23-19", *, black=0, white=1, score=0.5, plies=80):
    """Return a game of random moves."""
    board, rng = opening_board(opening), np.random.default_rng(seed)
    while board.legal_moves and len(board.moves) < plies:
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    moves = tuple(map(str, board.moves))
    return GameRecord(seed, black, white, opening, score, "", 0, moves)
