"""Learning of the small network against numpy in float64."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agents.nnue.learner import Learner, learn, start_learner, to_examples
from agents.nnue.network import SIZE, split
from agents.nnue.sampling import Samples
from tests import oracle
from tests.agents.nnue.test_network import boards, inputs, plain_value, random_genome

RATES = np.array([0.05, 0.005, 0.002], np.float32)


@pytest.fixture(scope="module")
def positions():
    """Return positions as the side to move and the pieces."""
    return [oracle.read_fen(board.fen()) for board in boards()]


@pytest.fixture(scope="module")
def examples():
    found = np.array([board.position for board in boards()], np.int64)
    targets = np.random.default_rng(1).uniform(-1, 1, len(found)).astype(np.float32)
    return to_examples(Samples(found, targets))


def unlearnt():
    return Learner(random_genome(), np.zeros(SIZE, np.float32), np.zeros(SIZE, np.float32))


def test_examples_hold_the_board_as_the_side_to_move_sees_it(positions, examples):
    assert [mover for mover, _ in positions].count("w") > 20
    for (mover, pieces), found in zip(positions, examples.boards.tolist(), strict=True):
        expected = [0, 0, 0]
        for number in inputs(mover, pieces):
            (other, crowned), square = divmod(number // 32, 2), 1 << number % 32
            expected[other] |= square
            expected[2] |= crowned * square
        assert found == expected


def test_steps_are_those_of_adam_along_the_gradient(positions, examples):
    """Derivatives of a few weights of each kind, by differences, half of them not 0."""
    rng, after = np.random.default_rng(3), unlearnt()
    for step, rate in enumerate(RATES):
        batch, before = rng.integers(0, len(positions), 24), after
        kept = [array.tobytes() for array in before]
        after, error = learn(before, examples, batch[None], RATES[step : step + 1], step)
        assert [array.tobytes() for array in before] == kept

        def loss(genome, batch=batch):
            errors = [plain_value(genome, *positions[at]) - examples.targets[at] for at in batch]
            return np.mean(np.square(errors))

        start, mean, square = (array.astype(np.float64) for array in before)
        assert error == pytest.approx(loss(start), rel=1e-5)
        gradient = (after.mean - 0.9 * mean) / 0.1
        for part in split(np.arange(SIZE)):
            moved = part[gradient[part] != 0]
            for at in (*rng.choice(moved.ravel(), 5), *rng.choice(part.ravel(), 5)):
                shift = np.zeros(SIZE)
                shift[at] = 1e-5
                slope = (loss(start + shift) - loss(start - shift)) / 2e-5
                assert gradient[at] == pytest.approx(slope, rel=1e-3, abs=1e-6)
        squares = 0.999 * square + 0.001 * gradient**2
        np.testing.assert_allclose(after.square, squares, rtol=1e-3, atol=1e-11)
        mean = after.mean / (1 - 0.9 ** (step + 1))
        square = after.square / (1 - 0.999 ** (step + 1))
        moved = start - rate * (mean / (np.sqrt(square) + 1e-8) + 1e-4 * start)
        np.testing.assert_allclose(after.genome, moved, rtol=0, atol=3e-7)


def test_threads_learn_the_same(examples):
    batches = np.random.default_rng(0).integers(0, len(examples.targets), (3, 20))
    one, error = learn(unlearnt(), examples, batches, RATES, 5)
    with ThreadPoolExecutor(3) as pool:
        other, same_error = learn(unlearnt(), examples, batches, RATES, 5, pool.map)
    assert error == same_error
    assert [array.tobytes() for array in one] == [array.tobytes() for array in other]
    first, _ = learn(unlearnt(), examples, batches[:1], RATES[:1], 5)
    rest, _ = learn(first, examples, batches[1:], RATES[1:], 6)
    assert [array.tobytes() for array in rest] == [array.tobytes() for array in one]


def test_learning_reduces_the_error_on_what_is_learnt(examples):
    learner, errors = start_learner(np.random.default_rng(0)), []
    everything = np.resize(np.arange(len(examples.targets)), (15, 124))
    for steps in range(0, 90, 15):
        learner, error = learn(learner, examples, everything, np.repeat(RATES[1:2], 15), steps)
        errors.append(error)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 4
