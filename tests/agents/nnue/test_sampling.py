"""Positions and search values of self-play, against a record of the games."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

from agents.endgame.probe import DRAWN, NO_HIT, probe
from agents.endgame.tables import load_tablebase
from agents.nnue import sampling
from agents.nnue.network import nnue
from agents.nnue.sampling import NO_PROGRESS, SamplingConfig, sample
from checkers_env.board import Board
from checkers_env.movegen import BLACK, Position
from tests.agents.nnue.test_network import random_genome

QUICK = SamplingConfig(nodes=60, side_nodes=40, max_plies=120, epsilon=0.1)
TABLES = load_tablebase(2)
START = Board().position
KINGS = Board("B:WK3,K10,K32:BK1,K21").position


@pytest.fixture(scope="module")
def network():
    return nnue(random_genome())


class Game(NamedTuple):
    """A game and its samples."""

    positions: list[Position]  # the last one included
    samples: list[Position]
    targets: list[float]
    from_game: list[bool]


@pytest.fixture
def played(network, monkeypatch):
    """Play games one by one; return their records."""

    def play(games, config=QUICK, start=START, tables=TABLES, seed=0):
        records, sample_game = [], sampling.sample_game

        def spy(sampler, *arguments):
            sampler.positions.fill(0)
            count = sample_game(sampler, *arguments)
            path, found = (
                [Position(*map(int, row)) for row in rows if row.any()]
                for rows in (sampler.positions, sampler.samples.positions[:count])
            )
            targets = sampler.samples.targets[:count].tolist()
            records.append(Game(path, found, targets, sampler.from_game[:count].tolist()))
            return count

        with monkeypatch.context() as patch:
            patch.setattr(sampling, "sample_game", spy)
            rng = np.random.default_rng(seed)
            found = sample(network, games, rng, config, starts=[start], tables=tables)
        assert found.targets.tolist() == [each for game in records for each in game.targets]
        return records

    return play


def following(position):
    """Return the positions after each legal move."""
    board, found = Board.from_position(*position, max_moves=None), []
    for move in list(board.legal_moves):
        board.push(move)
        found.append(board.position)
        board.pop()
    return found


def captures(position):
    board = Board.from_position(*position, max_moves=None)
    return any(move.captured for move in board.legal_moves)


def result(game, tables=TABLES):
    """Return the result of a game for Black."""
    last = game.positions[-1]
    sign = 1 if last.turn == BLACK else -1
    if not following(last):
        return -sign
    plies = probe(tables, last)
    return 0 if plies in (NO_HIT, DRAWN) else sign if plies % 2 else -sign


def test_games_are_legal_and_end_by_the_rules(played):
    endings = set()
    for game in [*played(6), *played(3, QUICK._replace(max_plies=30)), *played(6, start=KINGS)]:
        path = game.positions
        for before, after in itertools.pairwise(path):
            assert after in following(before)
            assert probe(TABLES, before) == NO_HIT
        assert len(set(path[:-1])) == len(path) - 1
        last = path[-1]
        over = not following(last) or probe(TABLES, last) != NO_HIT
        repeated = last in path[:-1]
        endings.add("over" if over else "repeated" if repeated else len(path) - 1)
    assert endings <= {"over", "repeated", 30, NO_PROGRESS, QUICK.max_plies}
    assert {"over", "repeated", 30} <= endings


def test_each_quiet_position_with_a_choice_is_recorded(played):
    for game in played(3, QUICK._replace(nodes=400)):
        choices = [
            position
            for position in game.positions[:-1]
            if not captures(position) and len(following(position)) > 1
        ]
        recorded = [at for at, own in zip(game.samples, game.from_game, strict=True) if own]
        assert recorded == choices


def led_to(position, plies):
    """Return what a number of moves lead to, and then captures until there is none."""
    if plies <= 0 and not captures(position):
        return {position}
    return {end for after in following(position) for end in led_to(after, plies - 1)}


def test_positions_aside_are_reached_by_random_moves(played):
    config, numbers = QUICK._replace(sides=3, side_plies=2, max_plies=40), set()
    for game in played(2, config):
        path = iter(position for position in game.positions if len(following(position)) > 1)
        here, aside = next(path), 0
        for position, own in zip(game.samples, game.from_game, strict=True):
            while (
                here != position
                if own
                else (aside == config.sides or position not in led_to(here, 1) | led_to(here, 2))
            ):
                here, aside = next(path), 0
            if not own:
                aside += 1
                numbers |= {plies for plies in (1, 2) if position in led_to(here, plies)}
    assert numbers == {1, 2}


def test_targets_mix_results_and_values(played):
    """The share of the results changes no game."""
    results = set()
    values, ends, mixed = (played(12, QUICK._replace(lam=lam)) for lam in (1.0, 0.0, 0.75))
    for value, end, mix in zip(values, ends, mixed, strict=True):
        assert value.positions == end.positions == mix.positions
        black = result(value)
        results.add(black)
        for at, position in enumerate(value.samples):
            own = black if position.turn == BLACK else -black
            if not value.from_game[at]:
                assert value.targets[at] == end.targets[at] == mix.targets[at]
                continue
            assert end.targets[at] == own
            assert mix.targets[at] == pytest.approx(0.75 * value.targets[at] + 0.25 * own)
    assert {-1, 1} <= results


def test_no_game_begins_after_a_stop(network):
    def play(games, *stop):
        rng, stopped = np.random.default_rng(4), iter((*stop, *[False] * games))
        options = {"starts": [START], "tables": TABLES, "stop": stopped.__next__}
        return [it.tolist() for it in sample(network, games, rng, QUICK, **options)]

    assert play(3, False, False, True) == play(2) != play(3)
    assert play(3, True) == [[], []]


@pytest.mark.parametrize("starts", [[], [START[:3]], START])
def test_starts_that_are_no_positions_are_refused(network, starts):
    with pytest.raises(ValueError, match="starts are positions, one or more"):
        sample(network, 1, np.random.default_rng(0), QUICK, starts=starts, tables=TABLES)
