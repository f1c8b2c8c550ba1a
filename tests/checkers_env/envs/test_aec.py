"""The AEC environment: PettingZoo's own tests, and games followed by a slow referee."""

import copy
import functools
import importlib
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

import checkers_env
from checkers_env.actions import move_to_actions
from checkers_env.moves import Move
from checkers_env.openings import BALLOTS
from tests import oracle

# Seen from an agent's seat, its squares 1-32 run from the near right corner to the far left one.
SEATS = [divmod(place, 8) for place in range(63, -1, -1) if sum(divmod(place, 8)) % 2]
FOUR_KINGS = "B:WK1,K3:BK30,K32"
DOUBLE_JUMP = "B:W6,15,32:B1,12"  # 1x10x19
COPIES = [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]
MAKERS = [checkers_env.raw_env, checkers_env.env]


def random_action(env: Any, rng: np.random.Generator) -> int:
    mask = env.observe(env.agent_selection)["action_mask"]
    return int(rng.choice(np.flatnonzero(mask)))


def play_on(env: Any, seed: int, steps: int = 10_000) -> list[Any]:
    """Play random actions to the end or for some steps; return all outputs."""
    rng, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        observation, *rest = env.last()
        arrays = [array.tolist() for array in observation.values()]
        board = env.unwrapped.board
        seen.append([env.agent_selection, rest, arrays, dict(env.rewards), board.fen(), board.ply])
        if rest[1]:
            break
        env.step(random_action(env, rng))
    return seen


# PettingZoo's tests


# It warns of every game with masks but PettingZoo's own, which it knows by name.
@pytest.mark.filterwarnings("ignore:Observation::pettingzoo")
@pytest.mark.parametrize("make", MAKERS[1:])
def test_api(make: Any) -> None:
    api_test(make(), num_cycles=300)


@pytest.mark.parametrize("opening", [None, "two-move"])
def test_equal_seeds_give_equal_games(opening: str | None) -> None:
    seed_test(lambda: checkers_env.env(opening=opening), num_cycles=100)


# The rules


def naive_reason(side: str, pieces: oracle.Pieces, past: list[Any], quiet: int, rules: Any) -> str:
    """Return the reason of the end, or None; `past` are the game's earlier positions."""
    if side not in "".join(pieces.values()).lower():
        return "no pieces"
    if not oracle.legal_turns(side, pieces):
        return "no legal move"  # lost, or drawn with blocked_draws
    if len(past) >= 2 * rules.get("max_moves", 100):
        return "max moves"
    if past.count((side, pieces)) + 1 >= rules.get("repetition", 10**9):
        return "repetition"
    if quiet >= 2 * rules.get("no_progress", 10**9):
        return "no progress"
    return ""


class Moment(NamedTuple):
    """Expected observation; `lifted` is the piece inside a capture, or 0."""

    side: str
    pieces: oracle.Pieces
    lifted: int
    clocks: list[float]
    legal: set[int]


def naive_planes(viewer: str, moment: Moment) -> Any:
    planes = np.zeros((8, 8, 8), np.float32)
    for square, piece in moment.pieces.items():
        seat = SEATS[(square if viewer == "b" else 33 - square) - 1]
        planes[(0 if piece.lower() == viewer else 2) + piece.isupper()][seat] = 1
        planes[4][seat] = square == moment.lifted
    for plane, clock in zip(planes[5:], moment.clocks, strict=True):
        plane[:] = clock
    return planes


def check_moment(env: Any, moment: Moment) -> None:
    assert env.agent_selection == f"player_{'bw'.index(moment.side)}"
    assert not any(env.terminations.values())
    for agent, viewer in (("player_0", "b"), ("player_1", "w")):
        view = env.observe(agent)
        assert env.observation_space(agent).contains(view)
        np.testing.assert_allclose(view["observation"], naive_planes(viewer, moment), rtol=1e-6)
        expected = moment.legal if viewer == moment.side else set()
        assert set(np.flatnonzero(view["action_mask"]).tolist()) == expected


def naive_clocks(plies: int, quiet: int, earlier: int, rules: Any) -> list[float]:
    return [
        plies / (2 * rules.get("max_moves", 100)),
        quiet / (2 * rules["no_progress"]) if "no_progress" in rules else 0,
        earlier / (rules["repetition"] - 1) if "repetition" in rules else 0,
    ]


def partly_moved(pieces: oracle.Pieces, turn: oracle.Turn, jumps: int) -> oracle.Pieces:
    """Return the pieces after so many jumps of an unfinished turn."""
    gone = turn.captured[:jumps]
    now = {square: piece for square, piece in pieces.items() if square not in gone}
    now[turn.squares[jumps]] = now.pop(turn.squares[0])
    return now


def random_turn(
    env: Any, side: str, pieces: oracle.Pieces, clocks: list[float], rng: np.random.Generator
) -> oracle.Turn:
    """Play random actions until one legal turn is complete, checking each; return it."""
    number, played = "bw".index(side), []
    turns = oracle.legal_turns(side, pieces)
    while len(turns) > 1 or len(turns[0].squares) > len(played) + 1:
        now, lifted = pieces, 0
        if played:
            now, lifted = partly_moved(pieces, turns[0], len(played)), turns[0].squares[len(played)]
        routes = [move_to_actions(Move(turn.squares, turn.captured), number) for turn in turns]
        legal = {route[len(played)] for route in routes}
        check_moment(env, Moment(side, now, lifted, clocks, legal))
        played.append(random_action(env, rng))
        env.step(played[-1])
        turns = [
            t for t, route in zip(turns, routes, strict=True) if route[: len(played)] == played
        ]
    return turns[0]


def referee(env: Any, rules: Any, rng: np.random.Generator) -> str:
    """Play a random game, check all outputs at each step, and return its end."""
    side, pieces = oracle.read_fen(env.unwrapped.board.fen())
    past: list[Any] = []
    quiet = 0
    while not (reason := naive_reason(side, pieces, past, quiet, rules)):
        clocks = naive_clocks(len(past), quiet, past.count((side, pieces)), rules)
        turn = random_turn(env, side, pieces, clocks, rng)
        past.append((side, pieces))
        quiet = quiet + 1 if pieces[turn.squares[0]].isupper() and not turn.captured else 0
        pieces, side = turn.after, oracle.OTHER[side]
        assert env.unwrapped.board.fen() == oracle.write_fen(side, pieces)
    lost = reason == "no pieces" or (reason == "no legal move" and not rules.get("blocked_draws"))
    check_end(env, side, reason, lost)
    return reason


def check_end(env: Any, side: str, reason: str, lost: bool) -> None:
    loser = f"player_{'bw'.index(side)}"
    rewards = {agent: (1 - 2 * (agent == loser)) * lost for agent in env.possible_agents}
    assert env.unwrapped.board.outcome() == (1 - "bw".index(side) if lost else None, reason)
    assert env.rewards == rewards
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    for _ in range(2):
        agent = env.agent_selection
        observation, reward, terminated, _, info = env.last()
        assert not observation["action_mask"].any()
        assert (reward, terminated, info) == (rewards[agent], True, {"reason": reason})
        env.step(None)
    assert env.agents == []


@pytest.mark.parametrize(
    ("opening", "rules", "reasons"),
    [
        (None, {}, {"no pieces"}),
        ("B:W21:B17,10,K1", {}, {"no legal move"}),
        ("B:W21:B17,10,K1", {"blocked_draws": True}, {"no legal move"}),
        ("W:WK1,K18:B5", {"blocked_draws": True}, {"no pieces"}),
        ("W:WK1,5:BK10,K12", {"blocked_draws": True, "max_moves": 3}, {"no legal move"}),
        (FOUR_KINGS, {"max_moves": 8}, {"max moves"}),
        (FOUR_KINGS, {"repetition": 3}, {"repetition"}),
        (FOUR_KINGS, {"no_progress": 5}, {"no progress"}),
        ("W:WK7,K18:BK30,K32,3", {"repetition": 2, "no_progress": 4, "max_moves": 11}, set()),
    ],
)
@pytest.mark.parametrize("make", MAKERS)
def test_games_agree_with_a_slow_referee(make: Any, opening: Any, rules: Any, reasons: Any) -> None:
    env, rng = make(opening=opening, **rules), np.random.default_rng(7)
    seen = set()
    for _ in range(20):
        env.reset()
        seen.add(referee(env, rules, rng))
    assert reasons <= seen


# Openings


def cards_drawn(env: Any, count: int, seed: int) -> list[str]:
    cards = []
    for number in range(count):
        env.reset(seed=seed if number == 0 else None)
        cards.append(" ".join(str(move) for move in env.unwrapped.board.moves))
    return cards


@pytest.mark.parametrize(("ballot", "plies"), [("two-move", 2), ("three-move", 3)])
def test_each_reset_samples_an_opening_of_the_ballot(ballot: str, plies: int) -> None:
    cards = cards_drawn(checkers_env.env(opening=ballot), 400, seed=1)
    assert set(cards) <= set(BALLOTS[ballot])
    assert len(set(cards)) > len(BALLOTS[ballot]) * 0.8
    assert cards == cards_drawn(checkers_env.env(opening=ballot), 400, seed=1)
    assert cards != cards_drawn(checkers_env.env(opening=ballot), 400, seed=2)
    assert {card.count(" ") + 1 for card in cards} == {plies}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opening": "two move"}, "bad opening 'two move': did you mean 'two-move'"),
        ({"opening": "four-move"}, "bad opening 'four-move'.*accepted: 'two-move', 'three-move'"),
        ({"opening": "9-13 9-13"}, "bad opening '9-13 9-13'.*illegal"),
        ({"opening": " "}, "bad opening ' ': no moves"),
        ({"opening": 9}, "opening must be None or one of 'two-move'.*not 9"),
        ({"opening": ["9-13"]}, "opening must be None or one of"),
        ({"opening": "W:W18,18:BK3"}, "bad FEN"),
        ({"opening": "W:W:BK3"}, "leaves no game to play: no pieces"),
        ({"opening": "three-move", "max_moves": 1}, "leaves no game to play: max moves"),
        ({"max_moves": 0}, "max_moves must be None or a whole number from 1 .*, not 0"),
        ({"render_mode": "svg"}, "render_mode must be None or one of .*'ansi'.*not 'svg'"),
    ],
)
@pytest.mark.parametrize("make", MAKERS)
def test_invalid_arguments_are_refused(make: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"options": {"opening": "1-2"}}, "bad opening '1-2'"),
        ({"options": {"opening": "W:W:B1"}}, "'W:W:B1' leaves no game to play: no pieces"),
        ({"options": {"opening": "three-move"}}, "leaves no game to play: max moves"),
        ({"options": {"openning": "9-13"}}, "dictionary with 'opening', not {'openning': '9-13'}"),
        ({"options": {"opening": None, 3: 4}}, "options must be None or a dictionary with"),
        ({"options": "9-13"}, "options must be None or a dictionary with 'opening', not '9-13'"),
        ({"seed": 1.5}, "seed must be a whole number from 0 on, not 1.5"),
        ({"seed": -1}, "seed must be a whole number from 0 on, not -1"),
        ({"seed": "ab"}, "seed must be a whole number from 0 on, not 'ab'"),
    ],
)
def test_invalid_reset_changes_nothing(arguments: Any, message: str) -> None:
    env = checkers_env.raw_env(opening="9-13", max_moves=1)
    env.reset(seed=1)
    before = pickle.dumps(env)
    with pytest.raises(ValueError, match=message):
        env.reset(**{"seed": 3} | arguments)
    assert pickle.dumps(env) == before


def test_step_before_reset_is_refused() -> None:
    env = checkers_env.raw_env(opening="B:W6:B1")
    for act in (lambda: env.step(0), lambda: env.observe("player_0"), env.last):
        with pytest.raises(ResetNeeded, match="was not begun"):
            act()
    env.reset()
    for action in (random_action(env, np.random.default_rng(0)), None, None):
        env.step(action)
    with pytest.raises(ResetNeeded, match="the game is over"):
        env.step(None)
    env.reset()
    env.step(random_action(env, np.random.default_rng(0)))


# Illegal actions


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (0, r"action 0 \(1 forward right \(1-5\)\) is illegal for player_0: .*\[32, 33, 36"),
        (-1, "action -1 is illegal"),
        (128, "action 128 is illegal"),
        (2**70, "action 1180591620717411303424 is illegal"),
        (None, "action None is not a whole number"),
        (True, "action True is not a whole number"),
        (32.0, "action 32.0 is not a whole number"),
    ],
)
def test_raw_environment_refuses_an_illegal_action(action: Any, message: str) -> None:
    env = checkers_env.raw_env()
    env.reset()
    before = pickle.dumps(env)
    with pytest.raises(ValueError, match=message):
        env.step(action)
    assert pickle.dumps(env) == before


@pytest.mark.parametrize("make", MAKERS[1:])
@pytest.mark.parametrize("opening", [None, DOUBLE_JUMP])
def test_illegal_action_loses_in_the_wrapped_environment(make: Any, opening: str | None) -> None:
    env = make(opening=opening)
    env.reset(seed=1)
    env.step(random_action(env, np.random.default_rng(0)))
    loser = env.agent_selection
    env.step(127)
    assert all(env.terminations.values())
    assert {agent: env.rewards[agent] for agent in env.agents if agent != loser}.popitem()[1] == 0
    assert env.rewards[loser] == -1
    while env.agents:
        observation, reward, *ending = env.last()
        assert ending == [True, False, {"reason": "illegal action"}]
        assert reward == (-1 if env.agent_selection == loser else 0)
        assert not observation["action_mask"].any()
        env.step(None)
    env.reset()
    assert not any(env.terminations.values())
    referee(env, {}, np.random.default_rng(5))


# The wrapper


READ = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos")
READ += ("num_agents", "_cumulative_rewards", "max_num_agents", "metadata", "board")
CALLS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    *((name, ()) for name in ("last", "state", "render", "close")),
    *(("observe", (agent,)) for agent in (*checkers_env.raw_env().possible_agents, "nobody")),
    ("action_space", ("player_0",)),
    *(("step", (action,)) for action in (None, -1, 128, 2**70, 1.5, "32", np.zeros(2))),
    *(("step", (kind(127),)) for kind in (np.int64, np.int8, np.uint64)),
    *(("step", (np.int64(action),)) for action in (-1, 128)),
)


def outcome(work: Callable[[], Any]) -> Any:
    """Return what a call returns, its errors and its warnings, in a form to compare."""
    EnvLogger.flush()
    try:
        result = work()
    except Exception as error:
        return type(error), str(error), list(EnvLogger.mqueue)
    return pickle.dumps(result), list(EnvLogger.mqueue)


def observed(env: Any) -> list[Any]:
    """Return all that can be read or called in this moment, without the steps."""
    read = [outcome(lambda name=name: getattr(env, name)) for name in READ]
    called = [
        outcome(lambda call=call: getattr(env, call[0])(*call[1]))
        for call in CALLS
        if call[0] != "step"
    ]
    return [*read, *called, str(env)]


def in_turns(env: Any, seed: int, steps: int, illegal: float) -> list[Any]:
    """Play random actions, some of them illegal; return all that is seen on the way."""
    rng, seen = np.random.default_rng(seed), [observed(env)]
    for _ in range(steps):
        if not env.agents or env.terminations[env.agent_selection]:
            action = None if rng.random() < 0.8 else 5
        elif rng.random() < illegal:
            action = int(rng.integers(128))
        else:
            action = random_action(env, rng)
        seen.append(outcome(lambda action=action: env.step(action)))
        seen.append(observed(env))
    return seen


class IllegalActionWrapper(wrappers.TerminateIllegalWrapper):
    """PettingZoo's wrapper, but the ending is a termination with a reason, as all others are."""

    def step(self, action: Any) -> None:
        was_terminated = self._terminated
        super().step(action)
        if self._terminated and not was_terminated:
            game = self.unwrapped
            game.truncations = dict.fromkeys(game.agents, False)
            game.infos = {agent: {"reason": "illegal action"} for agent in game.agents}


def pettingzoo_env(**arguments: Any) -> Any:
    game = IllegalActionWrapper(checkers_env.raw_env(**arguments), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(game))


@pytest.mark.filterwarnings("ignore:.*render_mode")
@pytest.mark.parametrize("illegal", [0.0, 0.03])
def test_one_wrapper_does_what_pettingzoos_three_do(illegal: float) -> None:
    one, three = checkers_env.env(max_moves=30), pettingzoo_env(max_moves=30)
    assert type(one.env) is type(three.unwrapped)
    assert observed(one) == observed(three)
    assert outcome(lambda: one.step(0)) == outcome(lambda: three.step(0))
    assert outcome(lambda: one.agent_iter()) == outcome(lambda: three.agent_iter())
    for seed in range(6):
        for env in (one, three):
            env.reset(seed=seed)
        assert in_turns(one, seed, 80, illegal) == in_turns(three, seed, 80, illegal)


@pytest.mark.parametrize("steps", [0, 4, 100])
def test_one_wrapper_refuses_what_pettingzoos_three_refuse(steps: int) -> None:
    for call in CALLS:
        outcomes = []
        for make in (checkers_env.env, pettingzoo_env):
            env = make(max_moves=20)
            env.reset(seed=1)
            in_turns(env, 1, steps, 0.0)
            outcomes.append([outcome(lambda: getattr(env, call[0])(*call[1])), observed(env)])  # noqa: B023
        assert outcomes[0] == outcomes[1], call


# Copies


@pytest.mark.parametrize("clone", COPIES)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "arguments",
    [
        {"opening": "three-move", "repetition": 3, "no_progress": 20},
        {"opening": DOUBLE_JUMP},  # after one step in the middle of a capture
        {"opening": "W:WK1,5:BK10", "blocked_draws": True},
    ],
)
def test_copy_plays_on_identically(make: Any, clone: Callable[[Any], Any], arguments: Any) -> None:
    env = make(**arguments)
    env.reset(seed=11)
    for steps in (0, 1, 7, 30):
        play_on(env, steps, steps)
        twin = clone(env)
        other = clone(twin)
        assert play_on(twin, 5) == play_on(other, 5)
        untouched = clone(env)
        assert play_on(untouched, 9, 5) == play_on(clone(env), 9, 5)
        twin.reset()
        other.reset()
        assert play_on(twin, 3) == play_on(other, 3)
        assert twin.np_random.bit_generator.state == other.np_random.bit_generator.state
        is_same = twin.np_random.bit_generator.state == env.np_random.bit_generator.state
        assert is_same == (arguments["opening"] != "three-move")  # which draws a card
    assert cards_drawn(clone(env), 5, seed=3) == cards_drawn(env, 5, seed=3)


# The rest


def test_observing_twice_gives_equal_arrays_that_are_not_shared() -> None:
    env = checkers_env.raw_env()
    env.reset()
    env.step(36)
    for agent in env.possible_agents:
        first, second = env.observe(agent), env.observe(agent)
        for name, array in first.items():
            np.testing.assert_array_equal(array, second[name])
            assert not np.shares_memory(array, second[name])


def test_reset_forgets_a_position_that_nobody_has_observed() -> None:
    env = checkers_env.raw_env(opening="9-13")
    env.reset()
    expected = env.observe("player_1")
    env.step(int(np.flatnonzero(expected["action_mask"])[0]))
    env.step(int(np.flatnonzero(env.observe("player_0")["action_mask"])[0]))
    env.reset()
    np.testing.assert_array_equal(env.observe("player_1")["observation"], expected["observation"])


def test_registration() -> None:
    env = pettingzoo.make("aec", "checkers_env/checkers-v0", opening="9-13", max_moves=30)
    env.reset()
    assert env.unwrapped.board.rules.max_moves == 30
    assert env.agent_selection == "player_1"
    spec = gymnasium.spec("checkers_env/Checkers-v0")
    assert spec.entry_point == "checkers_env.envs.single_agent:SingleAgentEnv"


def test_self_play_names_what_makes_it() -> None:
    for call in (gymnasium.make, functools.partial(gymnasium.make_vec, vectorization_mode="sync")):
        with pytest.raises(gymnasium.error.Error, match=r"call gymnasium.make_vec\(.*SelfPlay-v0"):
            call("checkers_env/SelfPlay-v0")


@pytest.mark.parametrize("make", MAKERS)
def test_state_is_the_whole_game(make: Any) -> None:
    env = make()
    env.reset()
    first = env.state()
    assert np.array_equal(first[:8], env.observe("player_0")["observation"])
    assert not first[8].any()
    env.step(33)
    assert np.array_equal(env.state()[:8], env.observe("player_0")["observation"])
    assert env.state()[8].all()
    assert env.state_space.contains(env.state())


def test_second_import_does_not_warn() -> None:
    importlib.reload(checkers_env.envs.registration)
    importlib.reload(checkers_env)
    assert checkers_env.make is checkers_env.env
