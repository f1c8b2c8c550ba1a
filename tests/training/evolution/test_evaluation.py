"""The performance curve: its games and payoffs."""

from itertools import chain

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.baselines.heuristic import Heuristic
from agents.blondie.architecture import BLONDIE_1999, decode
from agents.match import MatchGame, opening_line
from agents.match_kernel import DRAW, Result
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from checkers_env.openings import TWO_MOVE
from checkers_env.state import MOVE_LIMIT, NO_PIECES, DrawRules
from training.evolution.evaluation import OPPONENTS, performance_curve
from training.evolution.game_runner import open_game_runner

NAMES = ["curve/heuristic", "curve/material"]
RULES = DrawRules(30)
PAYOFFS = {True: 1, None: 0, False: -2}


class Recorder:
    """Game runner that plays nothing: `winner` names the winner of each fixture."""

    def __init__(self, winner):
        self.winner, self.fixtures, self.rules = winner, [], []

    def play(self, fixtures, rules):
        self.rules.append(rules)
        self.fixtures.append(list(fixtures))
        winners = map(self.winner, self.fixtures[-1])
        reasons = {True: MOVE_LIMIT, False: NO_PIECES}
        results = [Result(winner, reasons[winner == DRAW], 60) for winner in winners]
        return [MatchGame(result, opening_line(None)[0], ()) for result in results]


def networks(count):
    rng = np.random.default_rng(8)
    return [
        AlphaBeta(decode(BLONDIE_1999, rng.uniform(-0.2, 0.2, BLONDIE_1999.genome_size), 2.0), 1)
        for _ in range(count)
    ]


def fixtures_of(seed, generation, count=3):
    runner = Recorder(lambda fixture: DRAW)
    performance_curve(networks(count), seed, generation, RULES, runner)
    return runner


def test_each_player_meets_each_opponent_once_per_colour_from_one_opening():
    players, runner = networks(3), Recorder(lambda fixture: DRAW)
    assert list(performance_curve(players, 1, 2, RULES, runner)) == NAMES == list(OPPONENTS)
    heuristic, material = OPPONENTS.values()
    assert heuristic == Heuristic()
    assert (material.depth, material.evaluator.king, material.tie) == (1, 1.5, CHANCE)
    assert runner.rules == [RULES, RULES]
    for fixtures, opponent in zip(runner.fixtures, OPPONENTS.values(), strict=True):
        seats = [(id(fixture.black), id(fixture.white)) for fixture in fixtures]
        expected = {(id(player), id(opponent)) for player in players}
        assert sorted(seats) == sorted(expected | {(white, black) for black, white in expected})
    everything = list(chain(*runner.fixtures))
    assert len({fixture.opening for fixture in everything}) == 1
    assert everything[0].opening in TWO_MOVE
    assert len({fixture.seed for fixture in everything}) == len(everything)


def test_one_point_equals_games_on_a_board():
    players, recorder = networks(3), fixtures_of(4, 7)
    with open_game_runner(2) as runner:
        measured = performance_curve(players, 4, 7, RULES, runner)
    assert list(measured) == NAMES
    for fixtures, opponent, mean in zip(
        recorder.fixtures, OPPONENTS.values(), measured.values(), strict=True
    ):
        payoffs = []
        for fixture in fixtures:
            rng = np.random.default_rng(fixture.seed)
            seats = [PlayerAgent("", seat, rng) for seat in (fixture.black, fixture.white)]
            board = Board(max_moves=30)
            for move in fixture.opening.split():
                board.push(move)
            while not board.outcome():
                board.push(seats[board.turn].act(board))
            winner = board.outcome().winner
            own = WHITE if fixture.black is opponent else BLACK
            payoffs.append(PAYOFFS[None if winner is None else winner == own])
        assert mean == pytest.approx(np.mean(payoffs))
