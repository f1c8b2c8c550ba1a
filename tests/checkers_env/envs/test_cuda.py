"""The games on a device, in numba's simulator, against those on the CPU."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

import checkers_env
from checkers_env.envs import cuda as device
from checkers_env.envs.vector import ENDINGS, sample
from checkers_env.movegen import WHITE
from tests.checkers_env.envs.test_vector import ALL_RULES, BLOCKED, DOUBLE_JUMP, KINGS, NOWHERE

SAME, NEXT, DISABLED = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED
DRAWS = {"repetition", "no progress"}


@pytest.fixture(autouse=True)
def switch_threads_often():
    """Let the simulator's threads run while it waits for them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def make(count, planes="float32", **options):
    """Make the same games on the CPU and on the device."""
    cuda = {"device": "cuda", "planes": planes, "as_array": np.asarray}
    return (
        checkers_env.make_vec(count, **options),
        checkers_env.make_vec(count, **options, **cuda),
    )


def pack(planes, kind):
    """Return float32 planes as those of another type."""
    if kind == "float32":
        return planes
    full = {"int8": 127, "bits": 255}[kind]
    whole = np.floor(planes * full + 1e-3).astype(np.uint8)
    whole[:, :5] //= full
    if kind == "int8":
        return whole.astype(np.int8)
    rows = whole[..., 0]
    rows[:, :5] = np.packbits(whole[:, :5], axis=-1)[..., 0]
    return rows


def same(found, expected):
    return found.dtype == expected.dtype and np.array_equal(found, expected)


def check(seen, expected, kind):
    assert same(seen["observation"], pack(expected["observation"], kind))
    assert same(seen["action_mask"], expected["action_mask"])


@pytest.mark.parametrize(
    ("mode", "kind", "options", "ends"),
    [
        (SAME, "float32", {"opening": "two-move", "max_moves": 6}, {"max moves"}),
        (SAME, "bits", {"opening": KINGS, **ALL_RULES}, DRAWS),
        (SAME, "int8", {"opening": DOUBLE_JUMP}, {"no pieces"}),
        (NEXT, "int8", {"opening": KINGS, **ALL_RULES}, DRAWS),
        (NEXT, "float32", {"opening": BLOCKED, "blocked_draws": True}, {"no legal move"}),
        (NEXT, "bits", {"opening": "three-move", "max_episode_steps": 9}, {"max episode steps"}),
        (DISABLED, "bits", {"opening": DOUBLE_JUMP}, {"no pieces"}),
        (DISABLED, "float32", {"opening": KINGS, "no_progress": 2}, {"no progress"}),
    ],
)
def test_games_equal_those_of_the_cpu(mode, kind, options, ends):
    cpu, gpu = make(4, kind, autoreset_mode=mode, **options)
    rng, reasons = np.random.default_rng(1), set()
    (expected, about), (seen, info) = cpu.reset(seed=4), gpu.reset(seed=4)
    for _ in range(30):
        check(seen, expected, kind)
        assert same(info["to_move"], about["to_move"])
        actions = sample(expected["action_mask"], rng)
        actions[rng.random(4) < 0.03] = NOWHERE
        expected, *results, about = cpu.step(actions)
        seen, *found, info = gpu.step(actions)
        assert all(map(same, found, results))
        assert same(info["rewards"], about["rewards"])
        assert gpu.observation_space.contains(seen)
        over = results[1] | results[2]
        assert same(info["_reason"], over)
        if over.any():
            words = ENDINGS[info["reason"][over]].tolist()
            assert words == about["reason"][over].tolist()
            reasons |= set(words)
            if mode == SAME:
                last = np.stack([it["observation"] for it in about["final_obs"][over]])
                assert same(info["final_obs"]["observation"][over], pack(last, kind))
        if (which := rng.random(4) < 0.1).any() or (mode == DISABLED and over.any()):
            reset = {"reset_mask": which | over}  # also in the middle of a jump
            (expected, about), (seen, info) = (it.reset(options=reset) for it in (cpu, gpu))
    assert {*ends, "illegal action"} <= reasons


def test_cards_are_those_of_the_cpu():
    cpu, gpu = make(2, opening="three-move")
    assert same(gpu.reset(seed=7)[0]["observation"], cpu.reset(seed=7)[0]["observation"])
    for step in range(36):  # more than the CPU draws at once
        if step == 34:
            seeds = [None, 9]
            check(gpu.reset(seed=seeds)[0], cpu.reset(seed=seeds)[0], "float32")
        check(gpu.step([NOWHERE] * 2)[0], cpu.step([NOWHERE] * 2)[0], "float32")
    cpu, gpu = make(2)
    gpu.reset(seed=2)
    cpu.reset(seed=2)
    ballot = {"opening": "two-move"}  # for which the generators are made late
    check(gpu.reset(options=ballot)[0], cpu.reset(options=ballot)[0], "float32")


def test_numbers_are_drawn_as_numpy_draws_them():
    _, gpu = make(2, opening="two-move")
    gpu.reset(seed=11)
    rng, generator = np.random.default_rng(11), gpu._read("numbers")[0]
    rng.integers(43)
    for bound in (3, 10**9, 43) * 20:  # the second rejects many
        assert device.draw(generator, bound) == rng.integers(bound)


@pytest.mark.parametrize("kind", device.PLANES)
def test_lanes_share_the_work(kind, monkeypatch):
    board = checkers_env.Board("W:W18,24,K31:BK3,12,20", repetition=3)
    planes, mask = checkers_env.observe(board)
    plane, full, write_pieces = device.PLANES[kind]
    found, actions = np.stack([plane] * 8), np.zeros(128, np.int8)
    monkeypatch.setattr(device, "LANES", 32)
    for lane in range(32):
        here = SimpleNamespace(threadIdx=SimpleNamespace(x=lane))
        monkeypatch.setattr(device, "cuda", here)
        write_pieces(found[0], board.to_array()[WHITE] & ~board.position.kings, WHITE)
        device.share_writer(full)(found[5], 3, 8)
        device.write_actions(actions, board.to_array())
    planes[5] = 3 / 8
    expected = pack(planes[None], kind)[0]
    assert same(found[[0, 5]], expected[[0, 5]])
    assert same(actions, mask)


@pytest.mark.parametrize("options", [{"opening": "two-move"}, {"opening": KINGS, "repetition": 2}])
def test_states_go_on(options):
    _, gpu = make(2, **options)
    other = make(2, **options)[1]
    seen, _ = gpu.reset(seed=1)
    rng = np.random.default_rng(2)
    for _ in range(6):
        seen, *_ = gpu.step(sample(seen["action_mask"], rng))
    again, _ = other.set_state(gpu.get_state())
    check(again, seen, "float32")
    actions = sample(seen["action_mask"], rng)
    for found, expected in zip(other.step(actions)[:4], gpu.step(actions)[:4], strict=True):
        np.testing.assert_equal(found, expected)
    assert other._read("numbers").any() == (options["opening"] == "two-move")


def test_finished_games_wait_until_they_are_reset():
    _, gpu = make(2, autoreset_mode=DISABLED)
    gpu.reset()
    assert gpu.step([NOWHERE, 32])[2].tolist() == [True, False]
    seen, reward, over, _, _ = gpu.step([32, 32])
    assert (reward.tolist(), over.tolist()) == ([0, 0], [False, False])
    assert not seen["action_mask"][0].any()
    seen, _ = gpu.reset(options={"reset_mask": np.array([True, False])})
    assert seen["action_mask"][0].any()


def test_step_copies_nothing_to_the_host_and_outputs_last(monkeypatch):
    cpu, gpu = make(2, opening="two-move")
    before, _ = gpu.reset(seed=0)
    copy = before["observation"].copy()
    cpu.reset(seed=0)
    actions = device.cuda.to_device(np.array([NOWHERE, NOWHERE], np.uint8))
    expected = cpu.step([NOWHERE] * 2)[0]
    with monkeypatch.context() as changes:
        changes.setattr(type(actions), "copy_to_host", None)
        after = gpu.step(actions)[0]
    assert same(before["observation"], copy)
    gpu.reset(seed=1)
    check(after, expected, "float32")


ELSEWHERE = SimpleNamespace(__dlpack_device__=lambda: (4, 0), shape=(2,), dtype="int64")


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([32], r"actions must be 2 whole numbers, not int64 of shape \(1,\)"),
        (np.zeros(2), "actions must be 2 whole numbers, not float64"),
        (3, "actions must be an array on the device, not 3"),
        (ELSEWHERE, "actions must be an array on the device"),
    ],
)
def test_wrong_actions_are_refused(actions, message):
    _, gpu = make(2)
    with pytest.raises(ResetNeeded, match="call reset"):
        gpu.step([32, 32])
    gpu.reset()
    with pytest.raises(ValueError, match=message):
        gpu.step(actions)
    gpu.close()
    with pytest.raises(ClosedEnvironmentError):
        gpu.step([32, 32])


@pytest.mark.parametrize(
    ("options", "changes", "error", "message"),
    [
        ({"device": "tpu"}, {}, ValueError, "device must be 'cpu' or 'cuda', not 'tpu'"),
        ({"planes": "int4"}, {}, ValueError, "one of float32, int8, bits, not 'int4'"),
        ({"max_moves": None, "repetition": 3}, {}, ValueError, "repetition on a device needs max"),
        ({"opening": "9"}, {}, ValueError, "bad opening"),
        ({"opning": None}, {}, TypeError, "unexpected argument 'opning'"),
        (
            {},
            {"SIMULATED": False, "find_spec": lambda name: None},
            ImportError,
            re.escape("needs numba-cuda: pip install 'checkers-laboratory[cuda]'"),
        ),
        (
            {},
            {"cuda.is_available": lambda: False},
            RuntimeError,
            "finds no device or driver",
        ),
        (
            {},
            {"cuda.current_context": lambda: SimpleNamespace(get_memory_info=lambda: (9000, 9000))},
            MemoryError,
            "2 games take 8840 bytes each: 0.0 GB, and the device has 0.0 GB free",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(options, changes, error, message, monkeypatch):
    for name, value in changes.items():
        monkeypatch.setattr(f"checkers_env.envs.cuda.{name}", value)
    with pytest.raises(error, match=message):
        checkers_env.make_vec(2, **{"device": "cuda", **options})


def test_other_states_and_boards_are_refused():
    cpu, gpu = make(2)
    kept = make(2, repetition=2)[1]
    for env in (cpu, gpu, kept):
        env.reset()
    for env, state, message in (
        (cpu, gpu.get_state(), "state is of a device"),
        (gpu, cpu.get_state(), "state is not of a device with the same rules"),
        (kept, gpu.get_state(), "state has other draw rules"),
    ):
        with pytest.raises(ValueError, match=message):
            env.set_state(state)
    with pytest.raises(NotImplementedError, match="a device does not keep the moves"):
        gpu.board(0)
