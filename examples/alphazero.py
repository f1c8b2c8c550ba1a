r"""AlphaZero (Silver et al. 2018) in one file: JAX plays, mctx searches, a network learns.

    pip install '.[alphazero]'
    python examples/alphazero.py                # beats a random player after minutes on a CPU core
    python examples/alphazero.py --num-envs 4096 --num-simulations 64 --channels 128 --blocks 8 \
        --minibatch-size 4096                   # a size for an accelerator

In every iteration the network plays itself, each action chosen by Gumbel MuZero's search (Danihelka
et al. 2022) with the exact rules as its model. Then it learns the search's policy and the games'
results. A multi-jump is several actions of one side. So a value changes its sign not at every
action, but where the side to move changes: see `outcome`.

The run's folder holds a checkpoint, the player as champion.safetensors, the scores as curve.csv,
and the logs of TensorBoard. `checkers-benchmark runs/alphazero` rates the player, which needs no
JAX and searches by 200 simulations a move.
"""

import sys
import time
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import gymnasium
import numpy as np
from rich.progress import track
from tensorboard.summary import Writer

from agents.mcts.policy_value import DIRECTIONS, NEIGHBOURS, PIECES, UNITS
from agents.weights import WeightsMetadata, save_weights
from checkers_env.files import write_atomically
from training.evolution.metrics import append_row
from training.runtime.cli import in_folder, read_options, run_command
from training.runtime.curves import to_csv, write_scalars
from training.runtime.validation import Range, validate_ranges
from training.trainer import checkpoint

try:
    import jax
    import jax.numpy as jnp
    import mctx
    import optax
    from jax.tree_util import keystr, tree_leaves_with_path

    from checkers_env.pgx import CELL_BITS, PLAYABLE, Checkers, CheckersState
except ImportError as error:
    needs = "examples/alphazero.py needs jax, mctx, optax and pgx: pip install '.[alphazero]'"
    if __name__ == "__main__":
        sys.exit(f"error: {needs} ({error})")
    raise ImportError(f"{needs} ({error})", name=error.name) from error

CURVE, HEADER, PLAYER = "curve.csv", "checkers-laboratory alphazero", "champion.safetensors"
OPPONENTS = {"random": {"opponent": "random"}, "material-1": {"opponent": "material", "depth": 1}}


@dataclass(frozen=True)
class Config:
    """A run; what its results do not depend on is not compared."""

    iterations: Annotated[int, Range(1)] = field(default=200, compare=False)
    """Iterations in all, those of a resumed run included."""
    num_envs: Annotated[int, Range(1)] = 64
    """Games at once."""
    num_steps: Annotated[int, Range(1)] = 32
    """Actions of each game in an iteration."""
    num_simulations: Annotated[int, Range(1)] = 8
    """Simulations of a search."""
    blocks: Annotated[int, Range(0, 9)] = 2
    """Residual blocks of the network."""
    channels: Annotated[int, Range(1, 512)] = 16
    """Channels of the network."""
    learning_rate: Annotated[float, Range(1e-9, 1)] = 2e-3
    """Learning rate of Adam."""
    td_lambda: Annotated[float, Range(0, 1)] = 0.9
    """Weight of what follows against the search's value; with 1 a result is learned as it is."""
    minibatch_size: Annotated[int, Range(1)] = 256
    """Samples in a step of the optimiser."""
    update_epochs: Annotated[int, Range(1)] = 2
    """Passes over the samples of an iteration."""
    max_moves: Annotated[int, Range(1, 5000)] = 60
    """Moves of each side after which a game is drawn."""
    eval_interval: Annotated[int, Range(1)] = field(default=10, compare=False)
    """Iterations between two evaluations, each with a checkpoint."""
    eval_games: Annotated[int, Range(1)] = field(default=200, compare=False)
    """Games against each opponent, in which the network plays without a search."""
    seed: Annotated[int, Range(0, 2**32 - 1)] = 0
    """Seed of all randomness."""
    out: Path = field(default=Path("runs/alphazero"), compare=False)
    """Folder of the run."""
    resume: bool = field(default=False, compare=False)
    """Go on with the run in the folder, from its last checkpoint."""


class Run(NamedTuple):
    """All that the rest of a run depends on, beside its config and the number of iterations."""

    params: dict[str, jax.Array]
    moments: optax.OptState
    games: CheckersState


class Sample(NamedTuple):
    """What an action teaches."""

    planes: jax.Array
    mask: jax.Array
    policy: jax.Array  # of the search
    value: jax.Array  # of the search, for the side to move
    reward: jax.Array
    discount: jax.Array


# The network


def square_cells():
    """Return row and column of each square that the side to move sees, by the pgx game's bits."""
    cells = np.flatnonzero(PLAYABLE)
    return np.stack(np.divmod(cells[np.argsort(CELL_BITS.flat[cells])], 8), axis=1)


CELLS = square_cells()
SQUARES = len(CELLS)


def new_network(config):
    """Return weights by name; the last of each block and head are zeros."""
    fan_in, rng = NEIGHBOURS.shape[1] * config.channels, np.random.default_rng(config.seed)
    shapes = {"input": (NEIGHBOURS.shape[1] * PIECES, config.channels)}
    for block in range(config.blocks):
        shapes[f"block{block}.first"] = fan_in, config.channels
        shapes[f"block{block}.last"] = fan_in, config.channels
    shapes["value.first"] = SQUARES * config.channels, UNITS
    shapes |= {"value.last": (UNITS, 1), "policy.last": (config.channels, DIRECTIONS)}
    params = {"input.bias": jnp.zeros((SQUARES, config.channels))}
    for name, shape in shapes.items():
        scale = 0.0 if name.endswith("last") else np.sqrt(2 / shape[0])
        params[f"{name}.weight"] = jnp.float32(scale * rng.standard_normal(shape))
        params.setdefault(f"{name}.bias", jnp.zeros(shape[1]))
    return params


def network(params, planes):
    """Return logits, (n, 128), and values between -1 and 1, (n,), of the side to move.

    The network sees the pieces, as all evaluators of this project do, and no draw clock.
    """

    def dense(name, x):
        return x @ params[f"{name}.weight"] + params[f"{name}.bias"]

    def convolve(name, x):
        x = jnp.pad(x, ((0, 0), (0, 1), (0, 0)))[:, NEIGHBOURS]
        return dense(name, x.reshape(len(x), SQUARES, -1))

    x = planes[:, :PIECES, CELLS[:, 0], CELLS[:, 1]].swapaxes(1, 2)
    x = jax.nn.relu(convolve("input", x))
    for block in range(sum("block" in name for name in params) // 4):
        inner = jax.nn.relu(convolve(f"block{block}.first", x))
        x = jax.nn.relu(x + convolve(f"block{block}.last", inner))
    hidden = jax.nn.relu(dense("value.first", x.reshape(len(x), -1)))
    # An action is a square and a direction: the policy has four outputs a square.
    return dense("policy.last", x).reshape(len(x), -1), jnp.tanh(dense("value.last", hidden))[:, 0]


def masked(logits, mask):
    """Return logits by which no illegal action is ever chosen."""
    return jnp.where(mask, logits, -1e9)


# Self-play


def outcome(before, after):
    """Return the reward of the side that acted, and the factor of the next value for that side.

    The factor is 0 at the end of a game, 1 in the middle of a multi-jump, and otherwise -1.
    """
    reward = jnp.take_along_axis(after.rewards, before.current_player[:, None], axis=1)[:, 0]
    sign = jnp.where(after.current_player == before.current_player, 1.0, -1.0)
    return reward, jnp.where(after.terminated, 0.0, sign)


def search(env, params, key, state, simulations):
    """Search in each game of a state."""

    def play(params, key, actions, before):
        after = jax.vmap(env.step)(before, actions)
        reward, discount = outcome(before, after)
        logits, values = network(params, after.observation)
        node = mctx.RecurrentFnOutput(
            reward=reward,
            discount=discount,
            prior_logits=masked(logits, after.legal_action_mask),
            value=values,
        )
        return node, after.replace(observation=None)  # the largest field, and not needed

    logits, values = network(params, state.observation)
    root = mctx.RootFnOutput(
        prior_logits=logits, value=values, embedding=state.replace(observation=None)
    )
    illegal = ~state.legal_action_mask
    return mctx.gumbel_muzero_policy(params, key, root, play, simulations, illegal)


@partial(jax.jit, static_argnums=(0, 2))
def new_games(env, key, count):
    """Begin games."""
    return jax.vmap(env.init)(jax.random.split(key, count))


def self_play(config, params, state, key):
    """Play on in all games; return their state, the samples, and the values to learn."""
    env = Checkers(max_moves=config.max_moves)

    def step(state, key):
        found = search(env, params, key, state, config.num_simulations)
        after = jax.vmap(env.step)(state, found.action)
        sample = Sample(
            state.observation,
            state.legal_action_mask,
            found.action_weights,
            found.search_tree.summary().value,
            *outcome(state, after),
        )
        fresh = new_games(env, jax.random.fold_in(key, 1), config.num_envs)
        choose = jax.vmap(lambda over, *both: jax.tree.map(partial(jnp.where, over), *both))
        return choose(after.terminated, fresh, after), sample

    state, samples = jax.lax.scan(step, state, jax.random.split(key, config.num_steps))

    def to_target(following, sample):
        target, value = following
        mixed = config.td_lambda * target + (1 - config.td_lambda) * value
        target = sample.reward + sample.discount * mixed
        return (target, sample.value), target

    last = network(params, state.observation)[1]
    _, targets = jax.lax.scan(to_target, (last, last), samples, reverse=True)
    return state, samples, targets


# Learning


def loss(params, samples, targets):
    """Return the loss, and its two parts: the policy's divergence and the value's square error."""
    logits, values = network(params, samples.planes)
    log_policy = jax.nn.log_softmax(masked(logits, samples.mask))
    policy = optax.losses.kl_divergence(log_policy, samples.policy).mean()
    value = jnp.square(values - targets).mean()
    return policy + value, {"loss/policy": policy, "loss/value": value}


def optimiser(config):
    """Return Adam with clipped gradients."""
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(config.learning_rate))


def learn(config, params, moments, samples, targets, key):
    """Learn from all samples in minibatches; return weights, moments and mean losses."""
    samples, targets = jax.tree.map(
        lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), (samples, targets)
    )

    def update(carry, rows):
        params, moments = carry
        batch = jax.tree.map(lambda leaf: leaf[rows], (samples, targets))
        gradients, parts = jax.grad(loss, has_aux=True)(params, *batch)
        changes, moments = optimiser(config).update(gradients, moments)
        return (optax.apply_updates(params, changes), moments), parts

    keys = jax.random.split(key, config.update_epochs)
    rows = jax.vmap(lambda key: jax.random.permutation(key, len(targets)))(keys)
    rows = rows.reshape(-1, config.minibatch_size)
    (params, moments), parts = jax.lax.scan(update, (params, moments), rows)
    return params, moments, jax.tree.map(jnp.mean, parts)


# Scores


@jax.jit
def act(params, planes, mask):
    """Return the best actions by the policy alone, (n,)."""
    return masked(network(params, planes)[0], mask).argmax(axis=1)


def score(params, opponent, games, max_moves=100):
    """Return the score in games against a player of this package: a win counts 1, a draw 0.5."""
    env = gymnasium.make_vec(
        "checkers_env/Checkers-v0",
        num_envs=games,
        opening="two-move",
        max_moves=max_moves,
        **opponent,
    )
    observation, _ = env.reset(seed=0)
    scores = np.full(games, np.nan)
    while np.isnan(scores).any():
        planes, mask = observation["observation"], observation["action_mask"]
        actions = np.asarray(act(params, planes, mask))
        observation, reward, over, _, _ = env.step(actions)
        scores = np.where(np.isnan(scores) & over, (reward + 1) / 2, scores)
    return float(scores.mean())


# The run


@partial(jax.jit, static_argnums=0)
def iterate(config, run, iteration):
    """Play and learn; return the run and the mean losses."""
    play_key, learn_key = jax.random.split(
        jax.random.fold_in(jax.random.key(config.seed), iteration)
    )
    games, samples, targets = self_play(config, run.params, run.games, play_key)
    params, moments, losses = learn(config, run.params, run.moments, samples, targets, learn_key)
    return Run(params, moments, games), losses


def identity(config):
    """Return the options that the results depend on."""
    return {it.name: getattr(config, it.name) for it in fields(config) if it.compare}


def start(config):
    """Return a run, its iterations so far, and its history: a new one, or the saved one."""
    samples = config.num_envs * config.num_steps
    if samples % config.minibatch_size:
        raise ValueError(
            f"num_envs * num_steps is {samples:,}, no multiple of minibatch_size, "
            f"{config.minibatch_size:,}: change one of the three"
        )
    params, key = new_network(config), jax.random.key(config.seed)
    games = new_games(Checkers(max_moves=config.max_moves), key, config.num_envs)
    run = Run(params, optimiser(config).init(params), games)
    if not config.resume:
        if (config.out / checkpoint.FILE_NAME).exists():
            raise ValueError(
                f"{str(config.out)!r} already holds a run: resume it by --resume, "
                "or choose another folder by --out"
            )
        return run, 0, {}
    with checkpoint.checkpoint_errors(config.out):
        header, arrays = checkpoint.read_checkpoint(config.out, HEADER, 1)
        saved, iterations = header["config"], header["iterations"]
    checkpoint.check_same_run(config.out, saved, identity(config))
    with checkpoint.checkpoint_errors(config.out):
        history = checkpoint.strip_prefix("history/", arrays)
        leaves = {name: array for name, array in arrays.items() if name not in history}
        run = jax.tree.map_with_path(
            lambda path, leaf: jnp.asarray(leaves[keystr(path)]).reshape(leaf.shape), run
        )
    return run, iterations, {name: row.tolist() for name, row in history.items()}


def save_run(config, run, iterations, history):
    """Write the player, the curve and the checkpoint."""
    weights = np.concatenate([np.ravel(run.params[name]) for name in sorted(run.params)])
    metadata = WeightsMetadata(
        *("policy-value", 1.0, "alphazero", config.seed, iterations),
        root_perspective=False,
        mcts_options={"simulations": 200, "exploration": 1.5},
        options={"blocks": config.blocks, "channels": config.channels},
        extra={"cpu_seconds": round(history["cpu_seconds"][-1])},
    )
    save_weights(config.out / PLAYER, weights, metadata)
    write_atomically(config.out / CURVE, to_csv(history))
    arrays = {keystr(path): np.asarray(leaf) for path, leaf in tree_leaves_with_path(run)}
    arrays |= {f"history/{name}": np.array(row) for name, row in history.items()}
    header = {"format": 1, "iterations": iterations, "config": identity(config)}
    checkpoint.write_checkpoint(config.out, HEADER, header, arrays)


def train(config, console):
    """Train to the last iteration, with a line for each evaluation; return the run."""
    run, done, history = start(config)
    seconds = history["cpu_seconds"][-1] if history else 0.0
    left = range(done, config.iterations)
    bar = track(left, "alphazero", console=console, disable=not console.is_terminal)
    with closing(Writer(str(config.out))) as log:
        for iteration in bar:
            began = time.process_time()
            run, losses = jax.block_until_ready(iterate(config, run, iteration))
            seconds += time.process_time() - began
            done = iteration + 1
            if done % config.eval_interval and done < config.iterations:
                continue
            steps = done * config.num_envs * config.num_steps
            scores = {
                f"score/{name}": score(run.params, opponent, config.eval_games)
                for name, opponent in OPPONENTS.items()
            }
            metrics = {"steps": steps, "cpu_seconds": seconds}
            metrics |= {name: float(value) for name, value in losses.items()} | scores
            history = append_row(history, metrics)
            write_scalars(log, metrics, steps)
            save_run(config, run, done, history)
            print(", ".join(f"{name} {value:,.5g}" for name, value in metrics.items()), flush=True)
    return run


def main(arguments, console):
    """Read the command line and train."""
    config = read_options(Config, arguments, "python examples/alphazero.py", __doc__)
    validate_ranges(config)

    def complete():
        return start(replace(config, resume=True))[1] >= config.iterations

    files = checkpoint.FILE_NAME, PLAYER, CURVE
    with in_folder(config.out, *files, console, complete, kept="the last checkpoint is kept"):
        train(config, console)


if __name__ == "__main__":
    sys.exit(run_command(main))
