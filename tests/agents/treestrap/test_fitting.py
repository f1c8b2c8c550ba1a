"""Fits of the tapered network against the equations, weight by weight."""

import itertools
import signal

import numpy as np
import pytest

from agents.treestrap import fitting
from agents.treestrap.fitting import EPS, fit
from agents.treestrap.network import SIZE, STAGES
from agents.treestrap.sampling import Samples
from agents.treestrap.tapered import PAIRED_PIECES, PIECE_KINDS
from checkers_env.board import Board
from tests import oracle
from tests.agents.search.test_alphabeta import random_boards
from tests.agents.treestrap.test_network import FENS, named
from tests.agents.treestrap.test_tapered import kinds, shares

START = np.zeros((STAGES, SIZE), np.float32)
RATES = 0.3, 0.2


def samples(seed, count):
    """Return positions of random games, with random targets, and the positions as pieces."""
    boards = [*map(Board, FENS), *random_boards(seed, count, 120)]
    targets = np.random.default_rng(seed).uniform(-1, 1, len(boards)).astype(np.float32)
    found = Samples(np.array([board.position for board in boards], np.int64), targets)
    return found, [oracle.read_fen(board.fen()) for board in boards]


class Plain:
    """Fitting with dictionaries, weight by weight."""

    def __init__(self, start):
        self.start, self.weights, self.sums = start, {}, {}

    def terms(self, side, pieces):
        """Return the weights that a position sums, and the share of each."""
        rows = [("table", entry) for entry in named(side, pieces)[1]]
        if len(pieces) <= PAIRED_PIECES:
            rows += [("pairs", pair) for pair in itertools.combinations(kinds(side, pieces), 2)]
        parts = enumerate(shares(len(pieces)))
        return {(*row, stage): share for stage, share in parts if share for row in rows}

    def weight(self, key):
        kind, entry, stage = key
        return self.weights.get(key, self.start[stage, entry] if kind == "table" else 0.0)

    def value(self, side, pieces):
        terms = self.terms(side, pieces)
        return np.tanh(sum(share * self.weight(key) for key, share in terms.items()))

    def learn(self, side, pieces, target, rates):
        error = target - self.value(side, pieces)
        for key, share in self.terms(side, pieces).items():
            rate, first = (rates[0], 1.0) if key[0] == "table" else (rates[1], 0.0)
            gradient = error * share
            self.sums[key] = self.sums.get(key, first) + gradient**2
            step = rate * gradient / np.sqrt(self.sums[key] + EPS)
            self.weights[key] = self.weight(key) + step


def test_fit_in_batches_equals_the_equations(monkeypatch):
    monkeypatch.setattr(fitting, "BATCH", 7)
    given, pieces = samples(6, 60)
    start = np.resize(np.random.default_rng(2).normal(0, 0.05, 9973), (STAGES, SIZE))
    start = start.astype(np.float32)
    plain, rng = Plain(start), np.random.default_rng(1)
    for share in (1.0, 1.0, 0.25):  # of the last pass
        rates = [share * rate for rate in RATES]
        for at in rng.permutation(len(pieces)):
            plain.learn(*pieces[at], given.targets[at], rates)
    before = start.copy()
    weights = fit(start, given, 3, np.random.default_rng(1), RATES)
    assert np.array_equal(start, before)
    moved = {"table": weights.table != start.T, "pairs": weights.pairs != 0}
    found = {"table": weights.table, "pairs": weights.pairs}
    for key, expected in plain.weights.items():
        kind, entry, stage = key
        at = entry if kind == "table" else entry[0] * PIECE_KINDS + entry[1]
        assert found[kind][at, stage] == pytest.approx(expected, rel=1e-3, abs=1e-5)
        moved[kind][at, stage] = False
    assert {kind for kind, *_ in plain.weights} == {"table", "pairs"}
    assert not np.any(moved["table"])
    assert not np.any(moved["pairs"])


def test_ctrl_c_ends_a_fit_between_two_batches(monkeypatch):
    batches, fit_pass = [], fitting.fit_pass
    monkeypatch.setattr(fitting, "BATCH", 7)

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        batches.append(len(arguments[-1]))
        fit_pass(*arguments)

    monkeypatch.setattr(fitting, "fit_pass", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit(START, samples(3, 5)[0], 2, np.random.default_rng(0))
    assert batches == [7]
