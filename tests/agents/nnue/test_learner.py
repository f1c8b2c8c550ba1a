"""Learning of the small network against numpy in float64."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agents.nnue.learner import learn, start_learner, to_examples
from agents.nnue.network import LAYOUT, SIZE, split
from agents.nnue.sampling import Samples
from tests import oracle
from tests.agents.nnue.test_network import boards, plain_layers, random_genome

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
    return start_learner(np.random.default_rng(0))._replace(genome=random_genome())


def test_examples_hold_the_board_as_the_side_to_move_sees_it(positions, examples):
    assert [mover for mover, _ in positions].count("w") > 20
    for (mover, pieces), found in zip(positions, examples.boards.tolist(), strict=True):
        expected = [0, 0, 0]
        for square, piece in pieces.items():
            bit = 1 << (square - 1 if mover == "b" else 32 - square)
            expected[piece.lower() != mover] |= bit
            expected[2] |= piece.isupper() * bit
        assert found == expected


def test_steps_are_those_of_adam_along_the_gradient(positions, examples):
    """Derivatives of a few weights of each kind, by differences, half of them not 0."""
    rng, after = np.random.default_rng(3), unlearnt()
    for step, rate in enumerate(RATES):
        batch, before = rng.integers(0, len(positions), 24), after
        kept = [array.tobytes() for array in before]
        after, error = learn(before, examples, batch[None], RATES[step : step + 1], step)
        assert [array.tobytes() for array in before] == kept

        def loss(genome, sparsity=3e-5, batch=batch):
            layers = [plain_layers(genome, *positions[at]) for at in batch]
            errors = [value for _, value in layers] - examples.targets[batch]
            return np.mean(np.square(errors)) + sparsity * sum(it.sum() for it, _ in layers) / 24

        start, mean, square, contents = (array.astype(np.float64) for array in before)
        assert error == pytest.approx(loss(start, 0), rel=1e-5)
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
        total = np.zeros_like(contents[0])
        slopes = np.c_[split(gradient).first, split(gradient).worths]
        for block, place, digits in shared_contents():
            np.add.at(total[block, place], digits, slopes[625 * block :][:625])
        expected = [0.9 * contents[0] + 0.1 * total, 0.999 * contents[1] + 0.001 * total**2]
        np.testing.assert_allclose(after.contents, expected, rtol=1e-3, atol=1e-8)

        def moved(mean, square, rate=rate, step=step):
            mean, square = mean / (1 - 0.9 ** (step + 1)), square / (1 - 0.999 ** (step + 1))
            return rate * mean / (np.sqrt(square) + 1e-6)

        end = start - moved(after.mean, after.square)
        for block, place, digits in shared_contents():
            way = moved(*after.contents[:, block, place])
            split(end).first[625 * block :][:625] -= way[digits, :-1]
            split(end).worths[625 * block :][:625] -= way[digits, -1]
        end[256 * 12500 : -12500] *= 1 - 1e-4 * rate  # all weights but those of entries
        np.testing.assert_allclose(after.genome, end, rtol=2e-7, atol=3e-7)


def shared_contents():
    """Yield a block, a place of a square that no block before it holds, and its digit by entry."""
    for at in np.unique(LAYOUT, return_index=True)[1]:
        yield at // 4, at % 4, np.arange(625) // 5 ** (3 - at % 4) % 5


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
