"""Alpha-beta against plain minimax in Python, without pruning or a table."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest

from agents.agent import PlayerAgent
from agents.baselines.material import Material
from agents.blondie.architecture import BLONDIE_1999, BLONDIE_2001, decode, with_bounds
from agents.evaluator import advance_state, evaluate, evaluate_position, start_state, state_size
from agents.search.alphabeta import search
from agents.search.player import AlphaBeta
from agents.search.root_order import BY_DIRECTION, BY_PIECE, CHANCE, FIRST, LAST
from agents.search.selective import FullWidth
from agents.search.workspace import EVALUATED, MAX_DEPTH, STATE_WIDTH, workspace
from checkers_env.bits import popcount
from checkers_env.board import Board
from checkers_env.movegen import PACKED_MOVE, generate_successors
from tests import oracle

ENDINGS = (
    "B:WK31,K32:BK1,K10,K6",
    "W:WK15,K18,22:BK1,3",
    "B:W9,21,30:B5,14,K28",
    "W:W13,K26:B6,K2,K29",
    "B:WK23,18:BK5,K27,12",
    "W:W10,11,K22:BK3,20,24",
)
CAPTURES = (
    "B:W6,7,14,15,27:BK2,K24",
    "W:W22,24,31,32:B6,15,16,18,2",
    "B:W14,15,22,24,26,31:B6,9,10,2,20",
)
DECIDED = (  # in two to four plies; all but the first two by White
    "B:W25:BK15,19,K28",
    "W:W22:BK1,K2,K26,K29",
    "W:W14,15:B6",
    "B:WK4,K11,K14,23:B3",
    "B:WK12,K16:BK8",
)


class Tempo(NamedTuple):
    """Evaluator of a user: pieces and their advance, kept incrementally, within a bound.

    Without a scale its state is too large for a workspace.
    """

    scale: float
    unit: float = 64.0
    most: float = 1.0


TOO_WIDE = Tempo(0.0)


@state_size.register(Tempo)
def tempo_state_size(tempo):
    return 2 if tempo.scale else STATE_WIDTH + 1


@start_state.register(Tempo)
def start_tempo(tempo, position, view, state):
    state[0] = popcount(position.black) - popcount(position.white)
    state[1] = 0
    for bit in range(35):
        if (position.black | position.white) >> bit & 1:
            state[1] += bit


@advance_state.register(Tempo)
def advance_tempo(tempo, before, after, view, old, new):
    start_state(tempo, after, view, new)


@evaluate.register(Tempo)
def evaluate_tempo(tempo, position, view, state, scratch):
    worth = state[0] + state[1] / tempo.scale
    value = (worth if view == 0 else -worth) / tempo.unit
    return min(max(value, -tempo.most), tempo.most)


def network(shape, seed, difference=None):
    rng = np.random.default_rng(seed)
    genome = rng.uniform(-0.2, 0.2, shape.genome_size)
    if difference is not None:
        genome[-1] = difference
        return with_bounds(decode(shape, genome, 2.0))
    return decode(shape, genome, 2.0)


def boasting(worth):
    """Return an evaluator that takes every position to be worth the same."""
    genome = np.zeros(BLONDIE_1999.genome_size)
    genome[-2] = 20.0 * worth  # the bias of the output node
    return decode(BLONDIE_1999, genome, 2.0)


EVALUATORS = {
    "material": Material(),
    "1999": network(BLONDIE_1999, 0),
    "2001": network(BLONDIE_2001, 1),
    "tempo": Tempo(1000.0),
    "bounded": network(BLONDIE_1999, 2, difference=1.0),  # bounds take the place of evaluations
}
either_leaves = pytest.mark.parametrize("root_perspective", [True, False])


def random_boards(seed, count, longest):
    """Yield positions of random games with two or more moves."""
    rng = np.random.default_rng(seed)
    while count:
        board = Board(no_progress=20)
        for _ in range(rng.integers(longest)):
            if board.outcome():
                break
            board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
        if not board.outcome() and len(board.legal_moves) > 1:
            count -= 1
            yield board


def random_positions(seed, count):
    """Yield pieces that perhaps no game reaches, and their position with Black to move."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        _, pieces = oracle.random_position(rng)
        yield pieces, Board(oracle.write_fen("b", pieces)).position


def judge_by(evaluator) -> Any:
    """Return the evaluator for oracle.minimax; it evaluates each position once."""
    known = {}

    def judge(side, pieces):
        key = (side, *sorted(pieces.items()))
        if key not in known:
            board = Board(oracle.write_fen(side, pieces))
            known[key] = float(
                np.float32(evaluate_position(evaluator, board.position, "bw".index(side)))
            )
        return known[key]

    return judge


def move_values(board, judge, depth, owner):
    """Return the value of each legal move, by plain minimax.

    The judge's side is `owner`; the side to move if True, and the side to move at the leaf if not.
    """
    side = "bw"[board.turn]
    owner = side if owner is True else owner or None
    values = []
    for move in board.legal_moves:
        board.push(move)
        _, pieces = oracle.read_fen(board.fen())
        board.pop()
        values.append(-oracle.minimax(oracle.OTHER[side], pieces, depth - 1, judge, owner))
    return values


def searched(board, evaluator, depth, root_perspective, ws, style=FullWidth()):  # noqa: B008
    """Return the index of the search's move, and the value of the root."""
    position = board.position
    count = generate_successors(ws.rows, 0, *position)
    path = search(style, evaluator, position, depth, root_perspective, board.turn, ws, count)
    return ws.rows[:count, PACKED_MOVE].tolist().index(path), ws.frames[0]["value"]


def assert_search_is_minimax(board, evaluator, judge, depth, root_perspective, ws):
    values = move_values(board, judge, depth, root_perspective)
    best = max(values)
    chosen = searched(board, evaluator, depth, root_perspective, ws)
    told = (type(evaluator).__name__, board.fen(), depth, root_perspective, values)
    assert chosen == (values.index(best), best), told


@pytest.fixture
def every_search(known_turns):
    """Search a board by every evaluator and perspective, each with a workspace of its own."""
    judges = {name: judge_by(evaluator) for name, evaluator in EVALUATORS.items()}
    used = {(name, own): workspace() for name in EVALUATORS for own in (True, False)}

    def compare(board, depths):
        known_turns.clear()
        for (name, own), ws in used.items():
            for depth in depths:
                assert_search_is_minimax(board, EVALUATORS[name], judges[name], depth, own, ws)

    return compare


def test_search_equals_minimax_in_positions_of_games(every_search):
    for board in random_boards(1, 12, 90):
        every_search(board, (1, 2, 3))
    for board in random_boards(2, 2, 60):
        every_search(board, (4,))


@pytest.mark.parametrize("fen", ENDINGS + CAPTURES)
def test_search_equals_minimax_in_endings_and_exchanges(every_search, fen):
    every_search(Board(fen), (4, 1, 3, 2))


@pytest.mark.parametrize("name", ["material", "1999"])
@either_leaves
def test_filled_transposition_table_changes_nothing(name, root_perspective):
    evaluator, used = EVALUATORS[name], workspace()
    for board in random_boards(3, 40, 150):
        for depth in (6, 6, 4, 4, 7, 5, 6, 5, 4, 3):
            if not board.outcome():
                found = searched(board, evaluator, depth, root_perspective, used)
                assert found == searched(board, evaluator, depth, root_perspective, workspace())
                board.push(board.legal_moves[found[0]])


PLAIN, BOUNDED = FullWidth(takes_shortcuts=False), EVALUATORS["bounded"]
SAVINGS = [  # of a search, an evaluator and a style without, and the most that is evaluated
    ("material", EVALUATORS["material"], PLAIN, 0.96),
    ("2001", EVALUATORS["2001"], PLAIN, 0.8),
    ("bounded", BOUNDED, PLAIN, 0.8),
    ("bounded", BOUNDED._replace(bounds=0), FullWidth(), 0.9),
]


@either_leaves
@pytest.mark.parametrize(("name", "without", "style", "most"), SAVINGS)
def test_shortcuts_save_evaluations_and_change_nothing(
    name, without, style, most, root_perspective
):
    evaluator, plain, saving = EVALUATORS[name], workspace(), workspace()

    def compare(board, depth):
        expected = searched(board, without, depth, root_perspective, plain, style)
        assert searched(board, evaluator, depth, root_perspective, saving) == expected
        return board.legal_moves[expected[0]]

    for board in random_boards(8, 25, 150):
        for depth in (7, 6, 5, 4, 3):
            compare(board, depth)
        for _ in range(6):  # the table knows the next positions of a game
            if len(board.legal_moves) > 1:
                board.push(compare(board, 5))
    assert saving.counts[EVALUATED] < most * plain.counts[EVALUATED]


def agent(evaluator, depth, seed=0, **options):
    return PlayerAgent("a", AlphaBeta(evaluator, depth, **options), np.random.default_rng(seed))


@pytest.mark.parametrize("fen", [Board().fen(), "B:WK31,K32:BK1,K10,K6", "W:W21,22,23:B1,2,3"])
def test_ties_are_broken_uniformly_among_the_best_moves(fen):
    board, evaluator, draws = Board(fen), Material(), 900
    values = move_values(board, judge_by(evaluator), 2, True)
    best = [str(m) for m, v in zip(board.legal_moves, values, strict=True) if v == max(values)]
    assert len(best) > 1
    chooser = agent(evaluator, 2, tie=CHANCE)
    counts = Counter(str(chooser.act(board)) for _ in range(draws))
    assert set(counts) == set(best)
    share = draws / len(best)
    assert max(abs(count - share) for count in counts.values()) < 5 * np.sqrt(share)


def test_tie_rule_and_order_choose_among_the_best_moves():
    """The piece counter finds many moves equally good."""
    judge, changed = judge_by(Material()), Counter()
    for board in (*random_boards(8, 50, 120), *map(Board, ENDINGS + CAPTURES)):
        found = move_values(board, judge, 2, True)
        best = [m for m, v in zip(board.legal_moves, found, strict=True) if v == max(found)]
        by_piece = sorted(best, key=lambda move: [-square for square in move.squares])
        for order, moves in ((BY_DIRECTION, best), (BY_PIECE, by_piece)):
            for tie, expected in ((FIRST, moves[0]), (LAST, moves[-1])):
                assert agent(Material(), 2, order=order, tie=tie).act(board) == expected
                changed[order, tie] += expected != best[0]
    assert changed[BY_DIRECTION, FIRST] == 0
    assert min(changed[rule] for rule in changed if rule != (BY_DIRECTION, FIRST)) > 10


def minimax_to_jumps(side, pieces, depth, value, judge):
    """Minimax whose lines end behind a jump: then only further jumps are searched."""
    turns = oracle.legal_turns(side, pieces)
    if not turns:
        return -1.0
    jumps = bool(turns[0].captured)
    if depth <= 0 and not jumps:
        seen = value(judge, pieces)
        return seen if judge == side else -seen
    left = 0 if jumps else depth - 1
    return max(
        -minimax_to_jumps(oracle.OTHER[side], turn.after, left, value, judge) for turn in turns
    )


def test_lines_may_end_behind_a_jump(known_turns):
    evaluators = {name: EVALUATORS[name] for name in ("tempo", "1999")}
    judges = {name: judge_by(evaluator) for name, evaluator in evaluators.items()}
    used, differing = {name: workspace() for name in evaluators}, Counter()
    for board in (*random_boards(9, 10, 90), *map(Board, CAPTURES)):
        known_turns.clear()
        side, pieces = oracle.read_fen(board.fen())
        for name, evaluator in evaluators.items():
            for depth in (2, 4, 3):
                expected = minimax_to_jumps(side, pieces, depth, judges[name], side)
                style = FullWidth(ends_at_jump=True)
                _, value = searched(board, evaluator, depth, True, used[name], style)
                assert value == expected, (name, board.fen(), depth)
                plain = searched(board, evaluator, depth, True, workspace())[1]
                differing[name] += value != plain
    assert min(differing[name] for name in evaluators) > 5


def test_lost_position_has_no_move():
    with pytest.raises(ValueError, match="no legal move in B:W18:B"):
        agent(Material(), 2).act(Board("B:W18:B"))


def test_unsuitable_state_is_refused():
    with pytest.raises(ValueError, match="state"):
        searched(Board(), TOO_WIDE, 1, True, workspace())


def test_value_beyond_a_win_counts_as_a_win():
    for board in random_boards(3, 30, 60):
        free, clipped = (
            searched(board, Tempo(1e9, 1.0, most), 3, True, workspace()) for most in (24.0, 1.0)
        )
        assert free == clipped


@pytest.mark.parametrize("depth", [0, MAX_DEPTH + 1])
def test_depth_out_of_range_is_refused(depth):
    agent = PlayerAgent("deep", AlphaBeta(Material(), depth))
    with pytest.raises(ValueError, match="a search is 1 to 64 plies deep"):
        agent.act(Board("W:WK32:BK1"))
