"""Temporal differences as a regime: what is measured of a state, and how tables read the board."""

import pytest

from agents.evaluator import evaluate_position
from checkers_env.board import Board
from checkers_env.movegen import BLACK, WHITE
from training.evolution.game_runner import open_game_runner
from training.regimes.td_learning import TDLearning

POSITION, TURNED = (Board(fen).position for fen in ("W:W24,K30:B9", "B:W24:B9,K3"))


@pytest.mark.parametrize("king", [1.0, 2.0])
def test_measured_king_is_that_of_the_regime(king):
    regime = TDLearning("singles", king=king)
    assert regime.metrics(regime.init(0))["king/mean"] == king


@pytest.mark.parametrize("by_colour", [True, False])
def test_tables_read_the_board_by_colour_or_by_the_viewing_side(by_colour):
    regime = TDLearning("singles", by_colour=by_colour, games=50)
    with open_game_runner(1) as runner:
        state, _ = regime.step(regime.init(0), runner)
    assert regime.champion(state).metadata.options["by_colour"] == by_colour
    (player,) = regime.contenders(state)
    value = evaluate_position(player.evaluator, POSITION, BLACK)
    assert value != 0
    assert (value == evaluate_position(player.evaluator, TURNED, WHITE)) != by_colour


def test_evaluator_without_a_logit_is_refused():
    with pytest.raises(ValueError, match=r"features cannot be 'piece-squares', .*\.logit"):
        TDLearning("piece-squares")
