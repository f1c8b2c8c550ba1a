"""MaskablePPO in self-play: samples, checkpoints, command line and learning."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

import agents
import checkers_env
from agents.match import play_through_environment
from checkers_env.movegen import BLACK
from checkers_env.openings import TWO_MOVE
from checkers_env.state import MAX_MOVES, DrawRules
from tests import ROOT
from tests.training.commands import ended
from training import ppo
from training.rl.config import PPOConfig, validate_config

TINY = PPOConfig(
    total_timesteps=2048,
    num_envs=16,
    num_steps=16,
    minibatch_size=64,
    hidden_sizes=(32,),
    num_past_policies=2,
    checkpoint_interval=2,
    eval_games=20,
    threads=1,
)


def finish_run(config, reports=None):
    """Train a run, optionally interrupted at a report."""
    from training.rl.loop import start_run, train

    done = []

    def progress(run):
        done.append(run)
        if len(done) == reports:
            raise KeyboardInterrupt

    run = start_run(config)
    if reports is None:
        train(config, run, progress)
    else:
        with pytest.raises(KeyboardInterrupt):
            train(config, run, progress)
    return run


# Samples


def slow_advantages(rewards, values, sides, starts, last, gamma, gae_lambda):
    """Advantages of one game after another, each as the sum that defines it.

    `last` is the value of what follows the rollout, its side, and whether it begins a game.
    """
    values, sides, starts = [*values, last[0]], [*sides, last[1]], [*starts, last[2]]
    advantages = []
    for begin in range(len(rewards)):
        total, weight = 0.0, 1.0
        for step in range(begin, len(rewards)):
            over = starts[step + 1]
            same = sides[step] == sides[step + 1]
            following = 0.0 if over else values[step + 1] * (1 if same else -1)
            error = rewards[step] + gamma * following - values[step]
            total += weight * error * (1 if sides[step] == sides[begin] else -1)
            weight *= gamma * gae_lambda
            if over:
                break
        advantages.append(total)
    return advantages


@pytest.mark.sb3
@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 1.0), (0.99, 0.9), (0.9, 0.0)])
def test_advantages_are_those_of_the_player_to_move(gamma, gae_lambda):
    """Sides change or not, as in multi-jumps, and games end at random."""
    import torch
    from gymnasium import spaces

    from training.rl.learner import ZeroSumBuffer

    rng, steps, games = np.random.default_rng(0), 30, 7
    spaces_of = spaces.Box(0, 1, (2,), np.float32), spaces.Discrete(128)
    buffer = ZeroSumBuffer(
        steps, *spaces_of, "cpu", n_envs=games, gamma=gamma, gae_lambda=gae_lambda, rng=rng
    )
    sides = rng.integers(2, size=(steps + 1, games))
    starts = rng.random((steps + 1, games)) < 0.1
    rewards = np.where(starts[1:], rng.integers(-1, 2, size=(steps, games)), 0)
    values = rng.normal(size=(steps + 1, games)).astype(np.float32)
    for step in range(steps):
        buffer.signs[step] = 1 - 2 * sides[step]
        seen, actions = rng.random((games, 2)), rng.integers(128, size=games)
        known = torch.from_numpy(values[step]), torch.zeros(games)
        mask = np.ones((games, 128))
        buffer.add(seen, actions, rewards[step], starts[step], *known, action_masks=mask)
    buffer.compute_advantages(values[-1], (1 - 2 * sides[-1]).astype(np.float32), starts[-1])
    for game in range(games):
        expected = slow_advantages(
            rewards[:, game],
            values[:-1, game],
            sides[:-1, game],
            starts[:-1, game],
            (values[-1, game], sides[-1, game], starts[-1, game]),
            gamma,
            gae_lambda,
        )
        np.testing.assert_allclose(buffer.advantages[:, game], expected, atol=1e-4)
    np.testing.assert_allclose(buffer.returns, buffer.advantages + values[:-1], atol=1e-4)
    np.testing.assert_array_equal(buffer.values, values[:-1])
    np.testing.assert_array_equal(buffer.rewards, rewards)
    batches = list(buffer.get(50))
    assert [len(batch.actions) for batch in batches] == [50, 50, 50, 50, 10]
    given = torch.cat([batch.advantages for batch in batches]).numpy()
    np.testing.assert_array_equal(np.sort(given), np.sort(buffer.advantages.ravel()))
    first = batches[0]
    where = [
        np.argwhere(buffer.advantages == advantage)[0] for advantage in first.advantages.tolist()
    ]
    for row, (step, game) in enumerate(where):
        assert first.actions[row] == buffer.actions[step, game]
        assert first.old_values[row] == values[step, game]


@pytest.mark.sb3
def test_self_play_equals_the_environment():
    """Each game equals one in an AEC environment: mover, observation and rewards."""
    from training.rl.game_pool import GamePool
    from training.rl.policy import FEATURE_INDICES

    rng, count = np.random.default_rng(1), 6
    games = GamePool(count, 0, 0.5, rng)
    games.set_opponents([])
    envs = [checkers_env.raw_env() for _ in range(count)]
    for env, number in zip(envs, games.batch.numbers[:, 0], strict=True):
        env.reset(options={"opening": TWO_MOVE[number % len(TWO_MOVE)]})
    ended, multi_jumps = 0, 0
    while ended < 2 * count:
        for i, env in enumerate(envs):
            seen = env.observe(env.agent_selection)
            whole = np.zeros(512, np.float32)
            whole[FEATURE_INDICES] = games.features[i]
            playable = seen["observation"].copy()
            clock = playable[5, 0, 1]
            playable[5] = 0
            playable[5, 0, 1] = clock
            np.testing.assert_array_equal(whole, playable.ravel())
            np.testing.assert_array_equal(games.mask[i], seen["action_mask"])
            assert games.signs[i] == (1 if env.agent_selection == "player_0" else -1)
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in games.mask])
        rewards, over, done = games.step(actions)
        assert (done.slots == 0).all()
        for i, env in enumerate(envs):
            agent = env.agent_selection
            env.step(actions[i])
            multi_jumps += env.agent_selection == agent
            assert over[i] == env.terminations[agent]
            assert rewards[i] == env.rewards[agent]
            if over[i]:
                number = games.batch.numbers[i, games.batch.used[i] - 1]
                env.reset(options={"opening": TWO_MOVE[number % len(TWO_MOVE)]})
        ended += over.sum()
    assert multi_jumps


@pytest.mark.sb3
def test_against_opponents_one_side_learns():
    from training.rl.game_pool import GamePool
    from training.rl.learner import new_model
    from training.rl.policy import copy_actor

    rng = np.random.default_rng(3)
    actor = copy_actor(new_model(TINY, rng).policy)
    material = agents.make("material", depth=2, seed=0)
    games = GamePool(40, 2, 0.0, rng)
    games.set_opponents([actor, material])
    signs, lost = games.signs, {0: [], 1: []}
    assert {*signs} == {1, -1}
    for _ in range(300):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in games.mask])
        rewards, over, done = games.step(actions)
        assert (games.signs[~over] == signs[~over]).all()
        assert (rewards[~over] == 0).all()
        np.testing.assert_array_equal(rewards[over], done.rewards)
        for slot in lost:
            lost[slot] += done.rewards[done.slots == slot].tolist()
        signs = games.signs
    assert np.mean(lost[1]) < -0.9  # by chance, against two plies
    assert abs(np.mean(lost[0])) < 0.5  # against one that has learned nothing, too


@pytest.mark.sb3
def test_actions_are_legal_and_sampled_by_their_probabilities():
    from training.rl.policy import greedy_actions, sample_actions

    rng = np.random.default_rng(4)
    logits = rng.normal(scale=20, size=(3000, 128)).astype(np.float32)
    mask = (rng.random((3000, 128)) < 0.05).astype(np.int8)
    mask[np.arange(3000), rng.integers(128, size=3000)] = 1
    actions, logs = sample_actions(logits, mask, rng)
    assert mask[np.arange(3000), actions].all()
    assert mask[np.arange(3000), greedy_actions(logits, mask)].all()
    weights = [
        np.exp(row[legal > 0] - row[legal > 0].max())
        for row, legal in zip(logits, mask, strict=True)
    ]
    for row, action in enumerate(actions):
        at = mask[row, :action].sum()
        assert np.exp(logs[row]) == pytest.approx(weights[row][at] / weights[row].sum(), rel=1e-3)
    few = np.zeros((30000, 128), np.int8)
    few[:, [3, 70, 127]] = 1
    row = np.zeros((30000, 128), np.float32)
    row[:, [3, 70, 127]] = np.log([0.2, 0.5, 0.3])
    counts = np.bincount(sample_actions(row, few, rng)[0], minlength=128)[[3, 70, 127]] / 30000
    np.testing.assert_allclose(counts, [0.2, 0.5, 0.3], atol=0.015)
    assert (greedy_actions(row, few) == 70).all()


# The pool


@pytest.mark.sb3
def test_stronger_opponents_are_sampled_more_often():
    from training.rl.game_pool import OpponentPool, pfsp_probabilities

    np.testing.assert_allclose(
        pfsp_probabilities([0.5, 0.0, 1.0]), np.array([0.25, 1, 0.01]) / 1.26
    )
    pool, rng = OpponentPool(), np.random.default_rng(5)
    assert pool.sample(3, rng) == []
    for _ in range(3):
        pool.add(None)
    pool.update_score(0, np.full(1000, 1))
    pool.update_score(1, np.full(1000, -1))
    pool.update_score(2, np.array([]))
    np.testing.assert_allclose(pool.scores, [1, 0, 0.5], atol=1e-3)
    counts = np.bincount(pool.sample(20000, rng), minlength=3) / 20000
    np.testing.assert_allclose(counts, pfsp_probabilities(pool.scores), atol=0.02)
    pool.update_score(1, np.array([1, 1, -1, 0]))
    assert pool.scores[1] == pytest.approx(0.625 * (1 - 0.99**4), abs=1e-3)


# A whole run


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """Return the folder of a run that was interrupted in its third phase of four."""
    config = replace(TINY, out=tmp_path_factory.mktemp("interrupted"))
    finish_run(config, reports=8)
    return config.folder


@pytest.fixture
def halves(interrupted, tmp_path):
    """Return the configuration of the interrupted run, which a test may change."""
    return replace(TINY, out=shutil.copytree(interrupted, tmp_path / "halves"))


def read_arrays(folder):
    """Return the arrays and the header of a checkpoint, without its checksum."""
    from safetensors import safe_open

    with safe_open(str(folder / "checkpoint.safetensors"), framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = json.loads(file.metadata()["checkers-laboratory ppo"])
    del header["sha256"]
    return arrays, header


@pytest.mark.sb3
def test_resumed_run_equals_an_uninterrupted_one(tmp_path, halves):
    """Another seed gives another run."""
    whole, other = (replace(TINY, out=tmp_path / name) for name in ("whole", "other"))
    finish_run(whole)
    assert read_arrays(halves.folder)[1]["steps"] == 1024
    finish_run(replace(halves, resume=True))
    (arrays, header), (again, header_again) = map(read_arrays, (whole.folder, halves.folder))
    assert header == header_again
    assert arrays.keys() == again.keys()
    for name in arrays.keys() - {"history/speed/steps_per_cpu_second"}:
        np.testing.assert_array_equal(again[name], arrays[name], err_msg=name)
    assert len(arrays["scores"]) == 1 + 4
    finish_run(replace(other, seed=1))
    weights = "weights/action_net.weight"
    assert not np.array_equal(read_arrays(other.folder)[0][weights], arrays[weights])


@pytest.mark.sb3
def test_champion_plays_in_the_benchmark(tmp_path):
    """The file is loaded without its pickles, and plays as in the evaluation."""
    from training.rl.evaluation import evaluate_actor
    from training.rl.policy import copy_actor

    config = replace(TINY, out=tmp_path / "run")
    run = finish_run(config)
    champion = agents.make(str(config.folder / "champion.zip"))
    assert champion.act(checkers_env.Board()) in checkers_env.Board().legal_moves
    opponent = agents.make("blondie24", depth=1)
    rng = np.random.default_rng(0)
    tally = evaluate_actor(copy_actor(run.model.policy), opponent.player, 24, rng)
    outcomes = []
    for game in range(24):
        side, opening = game % 2, TWO_MOVE[game // 2]
        black, white = (champion, opponent) if side == BLACK else (opponent, champion)
        played = play_through_environment(black, white, opening=opening, rules=DrawRules())
        winner = played.result.winner
        outcomes.append(0 if winner < 0 else 1 if winner == side else -1)
    assert [*tally] == [outcomes.count(outcome) for outcome in (1, 0, -1)]
    for name in ("curve.csv", "curve.png"):
        assert (config.folder / name).stat().st_size
    assert list(config.folder.glob("events.out.tfevents.*"))
    table = (config.folder / "curve.csv").read_text().splitlines()
    assert table[0].startswith("steps,games/draws,")
    assert [row.split(",")[0] for row in table[1:]] == ["0", "512", "1024", "1536", "2048"]


@pytest.mark.sb3
def test_policy_learns(tmp_path):
    """In seconds: from equal probabilities to winning most games against a random player."""
    config = replace(
        TINY,
        total_timesteps=32768,
        num_envs=64,
        num_steps=32,
        minibatch_size=128,
        update_epochs=6,
        hidden_sizes=(64,),
        checkpoint_interval=16,
        eval_games=200,
        out=tmp_path,
    )
    run = finish_run(config)
    scores = run.history["score/random"]
    assert scores[0] < 0.7
    assert scores[-1] > 0.85
    assert run.history["score/heuristic"][-1] > 0.8


# The command line


def run_command(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["training/ppo.py", *map(str, arguments)])
    status = ppo.main()
    return status, " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"total_timesteps": 0}, "total_timesteps must be at least 1, not 0"),
        ({"num_envs": 1}, "num_envs must be at least 2, not 1"),
        ({"self_play_share": 1.5}, "self_play_share must be 0 to 1, not 1.5"),
        ({"seed": -1}, "seed must be 0 to 4294967295, not -1"),
        ({"seed": 2**32}, "seed must be 0 to "),
        ({"learning_rate": 0}, "learning_rate must be 1e-09 to 1, not 0"),
        ({"ent_coef": float("nan")}, "ent_coef must be 0 to 1, not nan"),
        ({"num_envs": 3, "num_steps": 11, "minibatch_size": 32}, "a single sample over"),
        ({"hidden_sizes": ()}, r"hidden_sizes must be numbers from 1 on, not \(\)"),
        ({"gamma": 2}, "gamma must be 0 to 1, not 2"),
        ({"self_play_share": 0, "num_past_policies": 0, "zoo": ()}, "there is no opponent"),
    ],
)
def test_invalid_config_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        validate_config(PPOConfig(**changed))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--zoo --zoo-depth 2", "--zoo-depth has no effect without --zoo: leave it out"),
        ("--self-play-share 1 --zoo material", "--zoo has no effect with --self-play-share 1.0"),
        ("--num-past-policies 2 --self-play-share 1", "has no effect with --self-play-share 1.0"),
    ],
)
def test_options_without_effect_are_refused(capsys, monkeypatch, words, message):
    text = ended(run_command(capsys, monkeypatch, *words.split()), 1)
    assert message in text


def test_missing_extra_is_one_line(capsys, monkeypatch, tmp_path):
    class NoTorch:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "torch":
                raise ModuleNotFoundError("no module named 'torch'", name="torch")

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoTorch, *sys.meta_path])
    for name in [name for name in sys.modules if name.startswith("training.rl.")]:
        if not name.endswith(".config"):
            monkeypatch.delitem(sys.modules, name)
    status, text = run_command(capsys, monkeypatch, "--out", tmp_path / "run")
    assert (status, text) == (1, "error: PPO needs torch: pip install 'checkers-laboratory[sb3]'")
    assert not (tmp_path / "run").exists()


def test_only_the_rl_package_imports_torch():
    program = (
        "import importlib, pkgutil, sys, training\n"
        "for it in pkgutil.walk_packages(training.__path__, 'training.'):\n"
        "    if not it.name.startswith('training.rl.'):\n"
        "        importlib.import_module(it.name)\n"
        "assert 'training.ppo' in sys.modules\n"
        "print('torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert ran.stdout.split() == ["False"], ran.stderr


@pytest.mark.sb3
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("games/used", None, "it lacks 'games/used'"),
        ("scores", None, "it lacks 'scores'"),
        ("history/steps", None, "its history has gaps"),
        ("weights/action_net.bias", None, "action_net.bias"),
        ("games/used", 32, "games/used are not all from 0 to 31"),
        ("games/seats", 2, "games/seats are not all from -1 to 1"),
        ("games/games", 10**6, "games/games are not all from 0 to 200"),
        ("games/games", (np.s_[:, MAX_MOVES], 200), "games/games have other draw rules"),
        ("games/games", 3, "turn must be BLACK (0) or WHITE (1), not 3"),
        ("history/steps", [1.0], "its history has gaps"),
        ("format", 1, "its format is 1, not 2"),
    ],
)
def test_damaged_checkpoint_is_named(halves, name, change, message):
    from safetensors.numpy import save_file

    arrays, header = read_arrays(halves.folder)
    path = halves.folder / "checkpoint.safetensors"
    if name in header:
        header[name] = change
    elif change is None:
        del arrays[name]
    elif isinstance(change, list):
        arrays[name] = np.array(change)
    elif isinstance(change, tuple):
        arrays[name][change[0]] = change[1]
    else:
        arrays[name][:] = change
    save_file(arrays, str(path), metadata={"checkers-laboratory ppo": json.dumps(header)})
    with pytest.raises(ValueError, match="(?s)is not a valid checkpoint: .*" + re.escape(message)):
        finish_run(replace(halves, resume=True))


@pytest.mark.sb3
def test_command_trains_and_resumes(capsys, monkeypatch, tmp_path):
    """A run, and errors of its folder."""
    from training.rl import loop as run

    folder = tmp_path / "run"
    options = ["--total-timesteps", 512, "--num-envs", 16, "--hidden-sizes", 16]
    options += ["--num-steps", 16, "--checkpoint-interval", 1, "--eval-games", 10]
    options += ["--threads", 1, "--out", folder]
    status, text = run_command(capsys, monkeypatch, *options, "--resume")
    assert (status, text) == (1, f"error: there is no run to resume in {str(folder)!r}")
    text = ended(run_command(capsys, monkeypatch, *options, "--zoo", "nobody"), 1)
    assert "unknown agent 'nobody'" in text
    assert not folder.exists()
    with monkeypatch.context() as patch:
        patch.setattr(run, "update", Mock(side_effect=KeyboardInterrupt))
        text = ended(run_command(capsys, monkeypatch, *options), 130)
    assert re.search(r"the last checkpoint is kept. Go on with: \S*python\S* training/ppo.py", text)
    text = ended(run_command(capsys, monkeypatch, *options, "--resume"))
    assert "512 of 512: heuristic" in text
    assert f"Champion: {folder / 'champion.zip'}" in text
    text = ended(run_command(capsys, monkeypatch, *options), 1)
    assert "already holds a run: resume it by --resume" in text
    text = ended(run_command(capsys, monkeypatch, *options, "--resume"), 1)
    assert text.startswith(f"error: the run in {str(folder)!r} has come to its end, and its learn")
    text = ended(run_command(capsys, monkeypatch, *options, "--seed", 5, "--resume"), 1)
    assert "holds another run: seed is 0 there and 5 here" in text
    (folder / "checkpoint.safetensors").write_bytes(b"nonsense")
    text = ended(run_command(capsys, monkeypatch, *options, "--resume"), 1)
    assert "is not a valid checkpoint" in text
