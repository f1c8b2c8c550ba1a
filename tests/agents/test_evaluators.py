"""What holds for every evaluator: incremental states, and the board turned round."""

import numpy as np
import pytest

from agents.baselines.piece_squares import SIZE as SQUARES_SIZE
from agents.baselines.piece_squares import piece_squares
from agents.baselines.samuel import samuel
from agents.baselines.weighted_pieces import weighted_pieces
from agents.blondie.architecture import NETWORK_LAYOUTS, decode
from agents.evaluator import (
    advance_state,
    evaluate_position,
    is_antisymmetric,
    start_state,
    state_size,
)
from agents.nnue.network import nnue
from agents.ntuple.network import ntuple, table_size
from agents.ntuple.tuples import TABLE_6_1
from agents.treestrap.tapered import PIECE_KINDS, tapered_network
from agents.treestrap.windows import SIZE, STAGES
from checkers_env.board import Board
from tests import oracle
from tests.agents.endgame.test_endgame import turned
from tests.agents.nnue.test_network import random_genome
from tests.agents.nnue.test_sampling import following
from tests.agents.search.test_alphabeta import random_boards
from tests.agents.treestrap.test_packed import STEP

BY_COLOUR = ("by colour", "nguyen-91", "nguyen-91-logistic")  # Black's pieces are positive
BY_TURN = ("samuel", "tapered", "nnue")  # the value depends on the side to move


def rng():
    return np.random.default_rng(0)


def random_network(layout):
    return decode(layout, np.random.default_rng(3).uniform(-0.2, 0.2, layout.genome_size), 1.37)


def random_tuples(**options):
    table = rng().normal(0, 0.1, table_size(TABLE_6_1))
    return ntuple(TABLE_6_1, table, **options)


def random_tapered():
    table = np.resize(np.arange(-60, 61, dtype=np.int16), (SIZE, STAGES))
    pairs = rng().integers(-60, 61, (PIECE_KINDS, PIECE_KINDS, STAGES), np.int16)
    return tapered_network(table, pairs, STEP)


MAKERS = {
    **{name: lambda it=layout: random_network(it) for name, layout in NETWORK_LAYOUTS.items()},
    "own view": random_tuples,
    "by colour": lambda: random_tuples(black_perspective=True),
    "weighted": lambda: weighted_pieces(rng().uniform(0.2, 2.0, 32), 1.5),
    "piece squares": lambda: piece_squares(rng().uniform(-0.5, 0.5, SQUARES_SIZE), 1.4),
    "samuel": lambda: samuel(rng().normal(0, 0.1, 8)),
    "tapered": random_tapered,
    "nnue": lambda: nnue(random_genome()),
}


@pytest.fixture(scope="module", params=MAKERS)
def named(request):
    return request.param, MAKERS[request.param]()


def some_positions(seed, count):
    """Yield positions of games, and some that no game reaches."""
    generator = np.random.default_rng(seed)
    for board in random_boards(seed, count, 120):
        yield board.position
        yield Board(oracle.write_fen(*oracle.random_position(generator))).position


LONG_CAPTURES = (
    "B:W6,7,14,15:BK2",  # ends where it began
    "W:WK31:BK18,19,26,27",  # the same for White, of men and a king
    "B:WK10,17,26:B6",
    "B:W10,18,26:B6",  # crowned by the last of three jumps
    "W:W27:BK24,15,7",
    "W:W22:B18,10,7",
)


def states(evaluator, position):
    fresh = np.full((2, state_size(evaluator)), 77, np.int32)
    for view in range(2):
        start_state(evaluator, position, view, fresh[view])
    return fresh


def test_incremental_state_equals_a_recomputed_one(named):
    _, evaluator = named
    for position in (*some_positions(7, 60), *(Board(fen).position for fen in LONG_CAPTURES)):
        old, one = states(evaluator, position), following(position)
        two = [after for before in one for after in following(before)]
        three = [after for before in two[::6] for after in following(before)]
        for after in (position, *one, *two, *three):
            new = np.full_like(old, 99)
            for view in range(2):
                advance_state(evaluator, position, after, view, old[view], new[view])
            assert new.tolist() == states(evaluator, after).tolist()


def test_board_turned_round_has_the_value_of_the_other_side(named):
    name, evaluator = named
    for here in some_positions(6, 40):
        values = [evaluate_position(evaluator, here, view) for view in range(2)]
        assert max(map(abs, values)) <= 1
        if name not in BY_COLOUR:
            there = [evaluate_position(evaluator, turned(here), view) for view in (1, 0)]
            # The weighted pieces of the two sides are summed in another order.
            assert values == (pytest.approx(there, abs=1e-6) if name == "weighted" else there)
        if name in BY_COLOUR + BY_TURN:
            assert values[0] == -values[1] != 0


def test_learning_knows_antisymmetric_evaluators():
    assert is_antisymmetric(samuel())
    assert is_antisymmetric(random_tuples(black_perspective=True))
    assert not is_antisymmetric(random_tuples())
