"""Runner of games: a game that is known is not played again, and is the same."""

import threading
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from agents.baselines.heuristic import RandomPlayer
from agents.baselines.material import Material
from agents.match import play_game
from agents.search.player import AlphaBeta
from agents.search.root_order import CHANCE, LAST
from agents.search.selective import Selective
from checkers_env.state import DrawRules
from training.evolution import game_runner
from training.evolution.game_runner import (
    Matchup,
    game_keys,
    open_game_runner,
    play_tasks,
    player_hash,
    player_numbers,
)
from training.regimes.coevolution import Coevolution

RULES = DrawRules(40)
SMALL = Coevolution(network="blondie24-1999", parents=4, opponents=5, depth=2, max_moves=30)


@pytest.fixture
def play(monkeypatch):
    play = Mock(wraps=play_game)
    monkeypatch.setattr(game_runner, "play_game", play)
    return play


def players(count):
    """Return deterministic players that differ."""
    return [AlphaBeta(Material(1.0 + king / 8), 2) for king in range(count)]


def uncached(matchups, rules):
    return [
        play_game(
            game.black,
            game.white,
            opening=game.opening,
            rules=rules,
            rng=np.random.default_rng(game.seed),
        )
        for game in matchups
    ]


def test_games_equal_those_played_one_by_one(play):
    rng, few = np.random.default_rng(1), players(4)
    few.append(AlphaBeta(Material(), 2, tie=CHANCE))
    calls = []
    for call in range(3):
        pairs = [rng.choice(5, 2, replace=False).tolist() for _ in range(25)]
        openings = rng.choice([None, "9-13 22-18"], 25).tolist()
        calls.append(
            [
                Matchup(few[black], few[white], opening, (call, number))
                for number, ((black, white), opening) in enumerate(
                    zip(pairs, openings, strict=True)
                )
            ]
        )
    with open_game_runner(2) as runner:
        for matchups in calls:
            assert runner.play(matchups, RULES) == uncached(matchups, RULES)
    matchups = [game for games in calls for game in games]
    chance = [game for game in matchups if CHANCE in (game.black.tie, game.white.tie)]
    certain = {game[:3] for game in matchups if game not in chance}
    assert play.call_count == len(chance) + len(certain) < len(matchups)


def test_equal_players_have_equal_numbers_and_others_do_not():
    few = players(3)
    matchups = [Matchup(few[0], few[1]), Matchup(few[1], few[2]), Matchup(few[2], RandomPlayer())]
    first, second, third = map(player_numbers, game_keys(matchups, RULES))
    assert third == (0, 0)
    assert first[1] == second[0]
    assert len({*first, *second}) == 3
    assert all(0 < number < 1 << 60 for number in first + second)


def test_worker_that_is_asked_to_stop_begins_no_further_game(monkeypatch, play):
    monkeypatch.setattr(game_runner, "stop_requested", Mock(side_effect=[False, True]))
    tasks = [(place, Matchup(*players(2)), (0, 0)) for place in range(3)]
    played = play_tasks(iter(tasks), RULES, "kernel")
    assert [place for place, _, _ in played] == [0]
    assert play.call_count == 1


def test_other_rules_or_colours_make_another_game(play):
    one, other = players(2)
    with open_game_runner(1) as runner:
        for rules in (RULES, replace(RULES, max_moves=30), RULES):
            runner.play([Matchup(one, other), Matchup(other, one)], rules)
    assert play.call_count == 4


def test_hash_tells_players_apart_by_their_content():
    regime = replace(SMALL, network="blondie24-2001")
    state = regime.init(0)
    equal, same, other = (
        regime.players(regime.encoding(state.arrays), state.population.pick([member]))[0]
        for member in (0, 0, 1)
    )
    assert player_hash(equal) == player_hash(same) is not None
    variants = [other, equal._replace(depth=3), equal._replace(tie=LAST)]
    variants.append(equal._replace(evaluator=equal.evaluator._replace(king=np.float32(9))))
    assert len({player_hash(player) for player in (equal, *variants)}) == 5
    equal.evaluator.weights[7] += 1
    assert player_hash(equal) != player_hash(same)


@pytest.mark.parametrize(
    "player",
    [
        RandomPlayer(),
        AlphaBeta(Material(), 2, tie=CHANCE),
        AlphaBeta(Material(), 2, style=Selective()),
        AlphaBeta(Material(object()), 2),
    ],
)
def test_players_of_chance_of_memory_and_of_unknown_content_have_no_hash(player):
    assert player_hash(player) is None


def doubled(number):
    sum(range(10**5))
    return 2 * number


def test_calls_have_their_results_in_order_and_their_time_counts():
    here = []
    for kind in ("threads", "processes"):
        with open_game_runner(2, executor=kind) as runner:
            assert runner.map(doubled, range(5)) == [0, 2, 4, 6, 8]
            assert runner.seconds > 0
            own = runner.map_threads(lambda number: (number, threading.get_ident()), range(3))
            assert [number for number, _ in own] == [0, 1, 2]
            here.append(all(thread == threading.get_ident() for _, thread in own))
    assert here == [False, True]
