"""The vector environment: each game followed by the AEC environment step by step."""

import copy
import pickle
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers import vector as wrappers
from scipy.stats import chisquare

import checkers_env
from checkers_env.actions import describe_action, move_to_actions
from checkers_env.envs.aec import INDEX
from checkers_env.envs.vector import SelfPlayVectorEnv, sample
from checkers_env.movegen import BLACK, WHITE

SAME, NEXT, DISABLED = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED
KINGS = "W:WK30,K32,K27:BK1,K3,K6"
BLOCKED = "W:W11,12:B4"  # 12-8 leaves Black without a move
DOUBLE_JUMP = "B:W6,15,32:B1,12"  # 1x10x19
NOWHERE = 127  # an action off the board: never legal
ALL_RULES = {"max_moves": 8, "repetition": 2, "no_progress": 4}
ALL_DRAWS = {"max moves", "repetition", "no progress"}
GAMES: list[tuple[dict[str, Any], set[str]]] = [  # and the ends that they come to
    ({}, {"no pieces", "no legal move"}),
    ({"opening": "two-move", "max_moves": 20}, {"max moves"}),
    ({"opening": "eleven-man", "max_moves": 9}, {"max moves"}),
    ({"opening": "three-move", "no_progress": 3}, {"no progress", "no pieces", "no legal move"}),
    ({"opening": "9-13 22-18", "repetition": 2}, {"repetition", "no pieces"}),
    ({"opening": KINGS, **ALL_RULES}, {*ALL_DRAWS, "no pieces"}),
    ({"opening": KINGS, "max_moves": None, "repetition": 3}, {"repetition", "no pieces"}),
    ({"opening": BLOCKED}, {"no pieces", "no legal move"}),
    ({"opening": BLOCKED, "blocked_draws": True}, {"no pieces", "no legal move"}),
    ({"opening": DOUBLE_JUMP}, {"no pieces"}),
]


class Referee:
    """One game in the AEC environment."""

    def __init__(self, seed: int | None, rules: dict[str, Any]) -> None:
        self.env = checkers_env.raw_env(**rules)
        self.begin(seed)

    def begin(self, seed: int | None = None, opening: str | None = None) -> None:
        self.env.reset(seed, options={"opening": opening} if opening else None)
        self.reason, self.rewards, self.reward = "", [0.0, 0.0], 0.0

    @property
    def side(self) -> int:
        return INDEX[self.env.agent_selection]

    def view(self) -> list[Any]:
        view = self.env.observe(self.env.agent_selection)
        mask = np.zeros(128, np.int8) if self.reason else view["action_mask"]
        return [view["observation"], mask]

    def step(self, action: int) -> None:
        agent = self.env.agent_selection
        if not self.view()[1][action]:
            self.reason, self.reward = "illegal action", -1.0
            self.rewards[INDEX[agent]] = -1.0
            return
        self.env.step(action)
        self.reason = self.env.infos[agent].get("reason", "")
        self.rewards = [float(self.env.rewards[name]) for name in INDEX]
        self.reward = float(self.env.rewards[agent])


def same(found: Any, expected: Any) -> bool:
    """Return whether arrays are equal in every bit."""
    return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def check_views(observation: Any, info: Any, referees: list[Referee]) -> None:
    planes, masks = zip(*(referee.view() for referee in referees), strict=True)
    assert same(observation["observation"], np.stack(planes))
    assert same(observation["action_mask"], np.stack(masks))
    assert same(info["to_move"], np.array([referee.side for referee in referees], np.int8))


def check_endings(info: Any, referees: list[Referee], mode: AutoresetMode) -> None:
    """Check the information about games that ended with this step."""
    ended = [bool(referee.reason) for referee in referees]
    assert same(info["rewards"], np.array([referee.rewards for referee in referees]))
    assert ("reason" in info) == any(ended)
    assert ("final_obs" in info) == ("final_info" in info) == (any(ended) and mode == SAME)
    if any(ended):
        assert info["_reason"].tolist() == ended
        assert info["reason"].tolist() == [referee.reason or None for referee in referees]
    if any(ended) and mode == SAME:
        final = info["final_info"]
        assert info["_final_obs"].tolist() == info["_final_info"].tolist() == ended
        assert final["_reason"].tolist() == ended
        assert final["reason"].tolist() == info["reason"].tolist()
        assert same(final["rewards"], info["rewards"])
        for referee, view in zip(referees, info["final_obs"], strict=True):
            if not referee.reason:
                assert view is None
                continue
            planes, mask = referee.view()
            assert same(view["observation"], planes)
            assert same(view["action_mask"], mask)


def follow(
    env: Any, referees: list[Referee], seed: int, steps: int, slip: float = 0.004
) -> Counter[str]:
    """Play at random, sometimes illegally, and compare all outputs; return the ends."""
    rng, mode, ends = np.random.default_rng(seed), env.metadata["autoreset_mode"], Counter[str]()
    observation, info = env.reset(seed=seed)
    check_views(observation, info, referees)
    for _ in range(steps):
        actions = sample(observation["action_mask"], rng)
        slips = rng.random(len(referees)) < slip
        actions[slips] = rng.integers(128, size=slips.sum())
        observation, reward, over, truncated, info = env.step(actions)
        for referee, action in zip(referees, actions.tolist(), strict=True):
            if referee.reason:
                referee.begin()
            else:
                referee.step(action)
        assert env.observation_space.contains(observation)
        assert same(over, np.array([bool(referee.reason) for referee in referees]))
        assert same(reward, np.array([referee.reward for referee in referees]))
        assert same(truncated, np.zeros(len(referees), np.bool_))
        check_endings(info, referees, mode)
        ended = [referee for referee in referees if referee.reason]
        ends.update(referee.reason for referee in ended)
        if mode == SAME:
            for referee in ended:
                referee.begin()
        check_views(observation, info, referees)
        if mode == DISABLED and ended:
            observation, info = env.reset(options={"reset_mask": over})
            for referee in ended:
                referee.begin()
            check_views(observation, info, referees)
    return ends


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(("rules", "expected"), GAMES)
def test_each_game_equals_that_of_the_aec_environment(
    rules: dict[str, Any], expected: set[str], mode: AutoresetMode
) -> None:
    env = checkers_env.make_vec(24, autoreset_mode=mode, **rules)
    ends = follow(env, [Referee(5 + i, rules) for i in range(24)], seed=5, steps=200)
    assert ends.total() > 40
    assert expected | {"illegal action"} <= ends.keys()


def test_illegal_action_has_the_reward_of_the_wrapped_environment() -> None:
    vector, wrapped = checkers_env.make_vec(2), checkers_env.env()
    vector.reset()
    wrapped.reset()
    for action in (32, 0):  # legal, illegal
        _, reward, over, _, info = vector.step([action, 32])
        wrapped.step(action)
    assert over.tolist() == [True, False]
    assert reward.tolist() == [-1, 0]
    assert info["rewards"].tolist() == [list(wrapped.rewards.values()), [0, 0]] == [[0, -1], [0, 0]]
    assert info["illegal"].tolist() == [describe_action(0, WHITE), None]
    assert info["_illegal"].tolist() == [True, False]
    assert info["final_info"]["illegal"].tolist() == info["illegal"].tolist()
    _, _, over, _, info = vector.step([32, 0])
    assert over.tolist() == [False, True]
    assert info["illegal"].tolist() == [None, describe_action(0, BLACK)]
    assert "illegal" not in vector.step([32, 32])[-1]


def test_history_of_a_game_without_a_limit_grows() -> None:
    rules: dict[str, Any] = {"opening": "B:WK32:BK1", "max_moves": None}
    env, referee = checkers_env.make_vec(1, **rules), Referee(None, rules)
    env.reset()
    for text in ("1-6", "32-27", "6-1", "27-32") * 150:
        [action] = move_to_actions(referee.env.board.parse_move(text), referee.side)
        observation, _, _, _, info = env.step([action])
        referee.step(action)
        check_views(observation, info, [referee])
    assert env.board(0).moves == referee.env.board.moves


# Seeds and resets


def test_game_depends_on_its_own_seed_only() -> None:
    rules = {"opening": "three-move"}
    env, alone = checkers_env.make_vec(5, **rules), checkers_env.make_vec(1, **rules)
    for seeds in (7, [7, 8, 9, 10, 11]):
        env.reset(seed=seeds)
        alone.reset(seed=9)
        for _ in range(100):  # past what is drawn in advance
            assert env.board(2).moves == alone.board(0).moves
            env.reset()
            alone.reset()


def test_games_without_a_seed_continue_their_generators() -> None:
    env, other = (checkers_env.make_vec(3, opening="two-move") for _ in range(2))
    env.reset(seed=1)
    other.reset(seed=1)
    env.reset(seed=[None, 5, None])
    other.reset()
    assert [env.board(i).moves == other.board(i).moves for i in range(3)] == [True, False, True]
    cards = {str(checkers_env.make_vec(1, opening="two-move").reset()[0]) for _ in range(30)}
    assert len(cards) > 1  # no seed at all: by chance


def test_reset_mask_selects_the_games_that_begin() -> None:
    env = checkers_env.make_vec(3, opening="three-move")
    observation, _ = env.reset(seed=4)
    for _ in range(9):
        observation, *_ = env.step(sample(observation["action_mask"], np.random.default_rng(0)))
    before = [env.board(i) for i in range(3)]
    seen, _ = env.reset(options={"reset_mask": np.array([False, True, False])}, seed=4)
    assert [env.board(i).moves == before[i].moves for i in range(3)] == [True, False, True]
    assert env.board(1).ply == 3
    assert same(seen["observation"][[0, 2]], observation["observation"][[0, 2]])
    assert same(seen["action_mask"][[0, 2]], observation["action_mask"][[0, 2]])


def test_opening_can_be_set_for_one_game() -> None:
    env, single = checkers_env.make_vec(2, opening=DOUBLE_JUMP), checkers_env.raw_env()
    env.reset(seed=8, options={"opening": "three-move"})
    for i in range(2):
        single.reset(seed=8 + i, options={"opening": "three-move"})
        assert env.board(i).moves == single.board.moves
    opening = {"opening": "B:W6:B1"}
    env.reset(options={**opening, "reset_mask": np.array([True, False])})
    assert (env.board(0).fen(), env.board(1).ply) == ("B:W6:B1", 3)
    observation, _ = env.reset(options=opening)
    *_, over, _, _ = env.step(observation["action_mask"].argmax(1))
    assert over.all()
    assert [env.board(i).fen() for i in range(2)] == [DOUBLE_JUMP] * 2


def test_without_autoreset_finished_games_wait() -> None:
    env = checkers_env.make_vec(3, opening="B:W6,7:B1", autoreset_mode="Disabled")
    env.reset()
    env.step([0, 1, 127])
    with pytest.raises(ResetNeeded, match=r"these games are over.*: 0, 2$"):
        env.step([0, 0, 0])
    env.reset(options={"reset_mask": np.array([True, False, False])})
    with pytest.raises(ResetNeeded, match=r": 2$"):
        env.step([0, 0, 0])


# As Gymnasium has it


@pytest.mark.parametrize("mode", [*AutoresetMode, *(mode.value for mode in AutoresetMode)])
def test_gymnasium_metadata_are_right(mode: Any) -> None:
    env = gymnasium.make_vec("checkers_env/SelfPlay-v0", num_envs=3, autoreset_mode=mode)
    assert isinstance(env, VectorEnv)
    assert isinstance(env, SelfPlayVectorEnv)
    assert env.metadata["autoreset_mode"] == AutoresetMode(mode)
    assert SelfPlayVectorEnv.metadata["autoreset_mode"] == SAME
    single = checkers_env.raw_env()
    assert env.single_observation_space == single.observation_space("player_0")
    assert env.single_action_space == single.action_space("player_0")
    assert env.observation_space == batch_space(env.single_observation_space, 3)
    assert env.action_space == batch_space(env.single_action_space, 3)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    env.step(env.action_space.sample())
    assert (repr(env), env.unwrapped) == (
        "SelfPlayVectorEnv(checkers_env/SelfPlay-v0, num_envs=3)",
        env,
    )
    env.close()


def test_returned_arrays_do_not_change_later() -> None:
    env, rng = checkers_env.make_vec(4, opening=BLOCKED), np.random.default_rng(0)
    observation, _ = env.reset(seed=0)
    given, copies = [], []
    for _ in range(20):
        outcome = env.step(sample(observation["action_mask"], rng))
        observation = outcome[0]
        given.append(outcome)
        copies.append(pickle.dumps(outcome))
    assert [pickle.dumps(outcome) for outcome in given] == copies


# Actions


def test_sampled_actions_are_uniform_over_the_legal_ones() -> None:
    mask = np.zeros((3000, 128), np.int8)
    mask[:, [0, 5, 63, 127]] = 1
    mask[1000:2000] = 0
    mask[1500, 126] = 1
    actions = sample(mask, np.random.default_rng(0))
    assert actions.shape == (3000,)
    assert actions[1500] == 126
    assert not np.delete(actions[1000:2000], 500).any()
    found, counts = np.unique(np.delete(actions, np.s_[1000:2000]), return_counts=True)
    assert found.tolist() == [0, 5, 63, 127]
    assert chisquare(counts).pvalue > 0.01
    assert sample(mask, np.random.default_rng(0)).tolist() == actions.tolist()


@pytest.mark.parametrize(("mask", "rng", "error", "message"), [
    (np.ones(128), 0, ValueError, "mask must have the shape"),
    (np.ones((3, 64)), 0, ValueError, "mask must have the shape"),
    (np.ones((2, 2, 128)), 0, ValueError, "mask must have the shape"),
    ({"action_mask": 1}, 0, TypeError, r'observation\["action_mask"\], not the observation'),
    (np.ones((3, 128)), 3, TypeError, "rng must be a Generator, .*, not 3"),
])  # fmt: skip
def test_wrong_mask_and_generator_are_refused(
    mask: Any, rng: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        sample(mask, rng or np.random.default_rng(0))


@pytest.mark.parametrize("kind", [list, tuple, np.uint8, np.int32, "strided"])
def test_actions_may_have_any_integer_type(kind: Any) -> None:
    env, other = checkers_env.make_vec(3), checkers_env.make_vec(3)
    actions: Any = np.repeat([32, 33, 36], 2)[::2]
    env.reset()
    other.reset()
    given = actions if kind == "strided" else kind(actions.tolist())
    expected = other.step(np.array([32, 33, 36]))
    assert pickle.dumps(env.step(given)) == pickle.dumps(expected)


@pytest.mark.parametrize(("actions", "message"), [
    ([32], r"actions must be 2 whole numbers, not int64 of shape \(1,\)"),
    ([[32, 32]], "actions must be 2 whole numbers"),
    ([32.0, 32.0], "actions must be 2 whole numbers, not float64"),
    ([True, False], "actions must be 2 whole numbers, not bool"),
    (None, "actions must be 2 whole numbers"),
    ([32, 128], "actions must be from 0 to 127, not 128"),
    ([-1, 32], "actions must be from 0 to 127, not -1"),
])  # fmt: skip
def test_invalid_actions_are_refused(actions: Any, message: str) -> None:
    env = checkers_env.make_vec(2)
    env.reset()
    before = pickle.dumps(env)
    with pytest.raises(ValueError, match=message):
        env.step(actions)
    assert pickle.dumps(env) == before


# Copies


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("mode", [SAME, NEXT])
def test_copy_plays_on_identically(clone: Any, mode: AutoresetMode) -> None:
    env = checkers_env.make_vec(200, opening="three-move", repetition=3, autoreset_mode=mode)
    clone(env).reset(seed=0)
    observation, _ = env.reset(seed=2)
    rng = np.random.default_rng(3)
    for _ in range(70):
        observation, *_ = env.step(sample(observation["action_mask"], rng))
    assert observation["observation"][:, 4].any()  # some are in the middle of a multi-jump
    twin, mask = clone(env), observation["action_mask"]
    for _ in range(70):
        actions = sample(mask, rng)
        seen = env.step(actions)
        assert pickle.dumps(seen) == pickle.dumps(twin.step(actions))
        mask = seen[0]["action_mask"]


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(
    "name", ["checkers_env/SelfPlay-v0", "checkers_env/Checkers-v0"], ids=["self-play", "one side"]
)
def test_games_are_truncated_after_as_many_steps(name: str, mode: AutoresetMode) -> None:
    options = {} if "SelfPlay" in name else {"opponent": "random", "colour": "white"}
    env: Any = gymnasium.make_vec(
        name, num_envs=6, max_episode_steps=9, opening=KINGS, autoreset_mode=mode, **options
    )
    observation, _ = env.reset(seed=1)
    steps, before, ends = np.zeros(6, int), np.zeros(6, np.bool_), Counter[str]()
    for _ in range(60):
        actions = sample(observation["action_mask"], np.random.default_rng(2))
        observation, reward, terminated, truncated, info = env.step(actions)
        steps = np.where(before, 0, steps + 1)  # the next-step mode ignores an action
        assert same(truncated, (steps == 9) & ~terminated)
        over = terminated | truncated
        assert not reward[truncated].any()
        if over.any():
            ends.update(info["reason"][over])
            assert (info["reason"][truncated] == "max episode steps").all()
        if mode == DISABLED and over.any():
            observation, _ = env.reset(options={"reset_mask": over})
        steps[over] = 0
        before = over & (mode == NEXT)
    assert ends["max episode steps"] > 20
    assert len(ends) > 1


def test_state_brings_games_back_in_any_order() -> None:
    rules = {"repetition": 3, "no_progress": 20}
    env = checkers_env.make_vec(8, **rules)
    tree = checkers_env.make_vec(5, autoreset_mode=NEXT, **rules)
    rng, (observation, _) = np.random.default_rng(5), env.reset(seed=5)
    for _ in range(60):
        observation, *_ = env.step(sample(observation["action_mask"], rng))
    assert observation["observation"][:, 4].any()  # some are in the middle of a multi-jump
    state, actions = env.get_state(), sample(observation["action_mask"], rng)
    after, reward, *_ = env.step(actions)
    chosen = [7, 2, 2, 5, 0]
    seen, info = tree.set_state(state[chosen])
    assert same(seen["observation"], observation["observation"][chosen])
    assert info["to_move"].tolist() == state["games"][chosen, 4].tolist()
    for mask, known in zip(seen["action_mask"], observation["action_mask"][chosen], strict=True):
        assert same(mask, known)
    found, rewards, over, *_ = tree.step(actions[chosen])
    assert not over.any()
    assert same(found["observation"], after["observation"][chosen])
    assert same(rewards, reward[chosen])
    for i, game in enumerate(chosen):
        assert tree.board(i).moves == env.board(game).moves
    again, _ = env.set_state(state)
    assert same(again["observation"], observation["observation"])
    assert pickle.dumps(env.step(actions)[:2]) == pickle.dumps((after, reward))


def test_other_states_are_refused() -> None:
    env = checkers_env.make_vec(2, autoreset_mode=NEXT, opening=BLOCKED)
    with pytest.raises(ResetNeeded, match="the games were not begun"):
        env.get_state()
    env.reset()
    state = env.get_state()
    seated = state.copy()
    seated["seats"] = 1
    env.step([0, 0])  # an illegal action
    over = env.get_state()
    refused: list[tuple[dict[str, Any], Any, str]] = [
        ({}, state[:1], r"state must be 2 entries of get_state\(\)"),
        ({}, [1, 2], r"state must be 2 entries of get_state\(\)"),
        ({}, state["games"], r"state must be 2 entries of get_state\(\)"),
        ({}, seated, "state has other draw rules, seats or opponents than"),
        ({}, over, "state has games that are over"),
        ({"max_moves": 7}, state, "state has other draw rules, seats or opponents than"),
    ]
    for rules, given, message in refused:
        other = checkers_env.make_vec(2, **rules)
        before = pickle.dumps(other)
        with pytest.raises(ValueError, match=message):
            other.set_state(given)
        assert pickle.dumps(other) == before
    env.set_state(state)
    assert not env.step([0, 0])[4]["rewards"].all()


def test_states_of_a_long_game_have_one_type() -> None:
    env = checkers_env.make_vec(1, opening="B:WK4:BK29", max_moves=200, autoreset_mode=NEXT)
    env.reset()
    early = env.get_state()
    for turn in range(300):
        move = ("29-25", "4-8", "25-29", "8-4")[turn % 4]
        env.step(move_to_actions(move, turn % 2))
    late = env.get_state()
    assert np.concatenate([early, late]).dtype == late.dtype
    short = checkers_env.make_vec(1)
    short.reset()
    cut = np.empty(1, short.get_state().dtype)
    cut[:] = late
    with pytest.raises(ValueError, match="state was cut short"):
        env.set_state(cut)
    assert env.board(0).ply == 300


@pytest.mark.parametrize("call", [lambda env: env.step([0]), lambda env: env.reset()])
def test_closed_environment_is_refused(call: Any) -> None:
    env = checkers_env.make_vec(1)
    env.reset()
    env.close()
    with pytest.raises(ClosedEnvironmentError, match="the environment was closed: make a new one"):
        call(env)


# Arguments


@pytest.mark.parametrize(("arguments", "message"), [
    ({"num_envs": 0}, "num_envs must be a whole number from 1 on, not 0"),
    ({"num_envs": 2.5}, "num_envs must be a whole number from 1 on"),
    ({"autoreset_mode": "Never"}, r"must be one of \['NextStep', 'SameStep', 'Disabled'\], not"),
    ({"opening": "11-16 11-16"}, "bad opening"),
    ({"opening": 3}, "opening must be None or one of"),
    ({"max_episode_steps": 0}, "max_episode_steps must be None or from 1 on, not 0"),
    ({"opening": "two-move", "max_moves": 1}, "leaves no game to play: max moves"),
    ({"max_moves": 0}, "max_moves must be"),
])  # fmt: skip
def test_invalid_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checkers_env.make_vec(**{"num_envs": 2} | arguments)


@pytest.mark.parametrize(("arguments", "message"), [
    ({"seed": -5}, "seed must be a whole number from 0 on, not -5"),
    ({"seed": [3, -1]}, "seed must be a whole number from 0 on, not -1"),
    ({"seed": "ab"}, "seed must be a whole number from 0 on, not 'a'"),
    ({"seed": 1.5}, "seed must be one seed or 2 of them, not 1.5"),
    ({"seed": [1, 2, 3]}, r"one seed or 2 of them, not \[1, 2, 3\]"),
    ({"options": {"openning": None}}, "dictionary with 'opening' and 'reset_mask', not {'openning"),
    ({"options": ["opening"]}, "options must be None or a dictionary with"),
    ({"options": {"opening": "9-13 9-13"}}, "bad opening"),
    ({"options": {"reset_mask": np.zeros(2, np.bool_)}}, "reset_mask must be 2 truth values"),
    ({"options": {"reset_mask": np.ones(2)}}, "reset_mask must be 2 truth values"),
    ({"options": {"reset_mask": [True]}}, "reset_mask must be 2 truth values"),
])  # fmt: skip
def test_invalid_resets_are_refused(arguments: dict[str, Any], message: str) -> None:
    env = checkers_env.make_vec(2, opening="two-move")
    env.reset(seed=1)
    before = pickle.dumps(env)
    with pytest.raises(ValueError, match=message):
        env.reset(**arguments)
    assert pickle.dumps(env) == before


def test_boards_are_those_of_the_games_after_any_number_of_turns() -> None:
    """Its own boards are kept in step; those of the other are played from the start each time."""
    env, other = (checkers_env.make_vec(3, max_moves=20) for _ in range(2))
    rng, (observation, _), _ = np.random.default_rng(4), env.reset(seed=4), other.reset(seed=4)
    for _ in range(150):
        actions = sample(observation["action_mask"], rng)
        observation, *_ = env.step(actions)
        other.step(actions)
        for i in np.flatnonzero(rng.random(3) < 0.3).tolist():
            other._boards.clear()
            board, expected = env.board(i), other.board(i)
            assert (board, board.moves) == (expected, expected.moves)
            board.push(board.legal_moves[0])  # it is a copy


def long_opening(plies: int) -> checkers_env.Board:
    rng, board = np.random.default_rng(3415), checkers_env.Board(max_moves=None)
    while board.ply < plies:
        board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
    return board


def test_opening_may_be_longer_than_most_games() -> None:
    board = long_opening(270)
    rules = {"opening": " ".join(map(str, board.moves)), "max_moves": 150}
    env = checkers_env.make_vec(4, **rules)
    assert follow(env, [Referee(i, rules) for i in range(4)], 0, 60, slip=0.0)["max moves"]
    env = checkers_env.make_vec(1, max_moves=150)
    env.reset(options={"opening": rules["opening"]})
    assert env.board(0) == board


def test_history_has_room_for_the_opening_of_the_next_games() -> None:
    board = long_opening(300)
    env = checkers_env.make_vec(2, opening=" ".join(map(str, board.moves)), max_moves=None)
    env.reset(options={"opening": None})
    env.step([NOWHERE] * 2)
    assert [env.board(i).moves for i in range(2)] == [board.moves] * 2


FIRST_PLANE = {"filter_keys": ["observation"]}
NEEDS_BOX = "requires a Box|axis 0 is out of bounds|to be AutoresetMode.NEXT_STEP"
WRAPPERS: list[tuple[str, dict[str, Any], dict[AutoresetMode, str]]] = [  # and their refusals
    ("RecordEpisodeStatistics", {}, {}),
    ("DictInfoToList", {}, {}),
    ("ClipReward", {"min_reward": -1, "max_reward": 1}, {}),
    ("NormalizeReward", {}, {}),
    ("FlattenObservation", {}, {SAME: "Expected autoreset_mode"}),
    ("FilterObservation", FIRST_PLANE, {SAME: "Expected autoreset_mode"}),
    (
        "NormalizeObservation",
        {},
        {SAME: "Expected autoreset_mode", **dict.fromkeys((NEXT, DISABLED), NEEDS_BOX)},
    ),
    (
        "RecordVideo",
        {"video_folder": "videos"},
        dict.fromkeys(AutoresetMode, "Render mode is None"),
    ),
]


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(("name", "options", "refusals"), WRAPPERS)
def test_gymnasiums_vector_wrappers(name: str, options: Any, refusals: Any, mode: Any) -> None:
    def play() -> None:
        game = checkers_env.make_vec(2, max_moves=1, autoreset_mode=mode)
        env = getattr(wrappers, name)(game, **options)
        env.reset(seed=0)
        for _ in range(6):
            _, _, over, *_ = env.step([32, 32] if game.board(0).turn == BLACK else [33, 33])
            if mode == DISABLED and over.any():
                env.reset(options={"reset_mask": over})

    if mode not in refusals:
        play()
        return
    with pytest.raises((ValueError, TypeError, IndexError), match=refusals[mode]):
        play()
