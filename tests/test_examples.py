"""Every script in examples/ and every notebook of the docs runs; long training is cut short."""

import importlib.util
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console
from safetensors.numpy import load_file

import agents
import checkers_env
from agents.mcts.policy_value import judge
from tests import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
OWN_TESTS = {ROOT / "examples" / "alphazero.py"}
PROGRAMS = [*sorted({*(ROOT / "examples").glob("*.py")} - OWN_TESTS), *NOTEBOOKS]
NEED_TORCH = ("ppo", "torchrl_loop", "train")
SHORTER = {
    "evolve_in_a_minute": [("GENERATIONS = 30", "GENERATIONS = 10")],  # prints every tenth
    "mcts": [("= 32, 16, 128", "= 4, 4, 128")],
    "ppo": [
        ("total_timesteps=50_000", "total_timesteps=6_000"),
        ("checkpoint_interval=8", "checkpoint_interval=1"),
        ("eval_games=100", "eval_games=10"),
    ],
    "torchrl_loop": [("range(5)", "range(2)")],
    "train": [("learn(8_000)", "learn(1_000)"), ("range(50)", "range(10)")],
    "other_optimiser": [("GENERATIONS, DEPTH, KING = 20,", "GENERATIONS, DEPTH, KING = 2,")],
    "own_evaluator": [
        ('Coevolution("advance", parents=4, opponents=2', 'TDLearning("advance", games=5'),
        ("generations=3", "generations=1, curve_every=0"),
    ],
    "evolve": [("range(1, 41)", "range(1, 11)"), ("range(3, 39)", "range(3, 9)")],
}


def cells(notebook):
    return [
        it for it in json.loads(notebook.read_text("utf-8"))["cells"] if it["cell_type"] == "code"
    ]


def source(program):
    if program.suffix == ".py":
        return program.read_text("utf-8")
    return "\n".join("".join(cell["source"]) for cell in cells(program))


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(it, marks=pytest.mark.sb3 if it.stem in NEED_TORCH else (), id=it.stem)
        for it in PROGRAMS
    ],
)
def test_program_runs_and_prints(program, tmp_path):
    script = program
    if program in NOTEBOOKS or program.stem in SHORTER:
        code = source(program)
        for long, short in SHORTER.get(program.stem, []):
            assert long in code
            code = code.replace(long, short)
        script = tmp_path / f"{program.stem}.py"
        script.write_text(code, "utf-8")
    ran = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.jax
def test_alphazero_resumes_and_finds_a_double_jump(tmp_path):
    from training.trainer.checkpoint import FILE_NAME

    alphazero, console = load_example("alphazero"), Console(file=io.StringIO())
    sizes = "--num-envs 4 --num-steps 4 --num-simulations 4 --blocks 1 --channels 4"

    def train(folder, *words):
        options = f"{sizes} --minibatch-size 8 --eval-games 2 --out {tmp_path / folder}".split()
        alphazero.main([*options, *words], console)

    train("whole", "--iterations", "3")
    train("parts", "--iterations", "1")
    train("parts", "--iterations", "3", "--resume")
    whole, parts = (load_file(tmp_path / folder / FILE_NAME) for folder in ("whole", "parts"))
    learned = {name for name in whole if not name.startswith("history")}
    assert len(learned) > 30
    for name in learned:
        np.testing.assert_array_equal(whole[name], parts[name])
    for words, message in (
        (("whole",), "already holds a run"),
        (("whole", "--resume", "--seed", "1"), "holds another run: seed"),
        (("none", "--resume"), "no run to resume"),
        (("none", "--minibatch-size", "3"), "no multiple of minibatch_size"),
        (("none", "--channels", "0"), "channels must be 1 to 512"),
    ):
        with pytest.raises(ValueError, match=message):
            train(*words)
    # The double jump wins at once. With a sign changed in it, 10x17 would seem better.
    player = agents.make(tmp_path / "parts", simulations=8)
    assert len(player.act(checkers_env.Board("B:W14,23:B9,10")).captured) == 2
    params = {name[9:-2]: it for name, it in parts.items() if name.startswith(".params")}
    board = checkers_env.Board("W:W14,K23,30:BK2,3,9")
    planes, _ = checkers_env.observe(board)
    logits, values = alphazero.network(params, planes[None])
    found = judge(player.player.evaluator, board.position)
    np.testing.assert_allclose(found[0].ravel(), np.asarray(logits)[0], atol=1e-5)
    assert found[1] == pytest.approx(float(values[0]), abs=1e-5)


@pytest.mark.jax
def test_alphazero_negates_values_only_where_the_side_changes():
    import jax

    alphazero = load_example("alphazero")
    env = alphazero.Checkers()
    step = jax.jit(jax.vmap(env.step))
    state = env.from_fen("B:W14,23,32:B9")  # 9x18x27, then 32x23
    state, signs = jax.tree.map(lambda it: it[None], state), []
    while not state.terminated[0]:
        before, state = state, step(state, state.legal_action_mask.argmax(axis=1))
        signs.append([float(it[0]) for it in alphazero.outcome(before, state)])
    assert signs == [[0, 1], [0, -1], [1, 0]]


class SlowTree:
    """A tree of the search on a board; all values are those of the side to move."""

    def __init__(self, board, mcts):
        self.board, self.mcts, self.children = board, mcts, {}
        planes, mask = checkers_env.observe(board)
        priors, values = mcts.policy_value(planes[None], mask[None])
        self.priors, self.value = priors[0].astype(np.float32), values[0]
        self.totals, self.visits = np.zeros(128, np.float32), np.zeros(128, np.int32)

    def simulate(self):
        means = self.totals / np.maximum(self.visits, 1)
        bonus = self.mcts.EXPLORATION * np.sqrt(self.visits.sum() + 1) / (self.visits + 1)
        legal = self.board.legal_actions
        action = max(legal, key=lambda it: (means[it] + bonus[it] * self.priors[it], -it))
        after = self.board.copy()
        after.push_action(action)
        if outcome := after.outcome():
            value = {None: 0, self.board.turn: 1}.get(outcome.winner, -1)
        elif action in self.children:
            value = self.children[action].simulate()
        else:
            self.children[action] = SlowTree(after, self.mcts)
            value = self.children[action].value
        if after.turn != self.board.turn and not outcome:
            value = -value
        self.visits[action] += 1
        self.totals[action] += value
        return value


def test_search_equals_a_slow_one_on_boards():
    mcts = load_example("mcts")
    rules, rng, simulations = {"max_moves": 30, "repetition": 2}, np.random.default_rng(1), 40
    env = checkers_env.make_vec(6, **rules)
    tree = checkers_env.make_vec(6, autoreset_mode="NextStep", **rules)
    observation, _ = env.reset(seed=0)
    boards, jumping = [checkers_env.Board(**rules) for _ in range(6)], 0
    for ply in range(45):
        if ply % 5 == 4:
            state = env.get_state()
            jumping += (state["games"][:, 3] > 1).sum()
            found = mcts.search(tree, state, mcts.policy_value, simulations)
            slow = [SlowTree(board, mcts) for board in boards]
            for one in slow * simulations:
                one.simulate()
            assert np.array_equal(found, [one.visits for one in slow])
        actions = checkers_env.sample(observation["action_mask"], rng)
        observation, _, over, _, _ = env.step(actions)
        for i, action in enumerate(actions.tolist()):
            boards[i].push_action(action)
            boards[i] = checkers_env.Board(**rules) if over[i] else boards[i]
    assert jumping


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_its_outputs(notebook):
    for number, cell in enumerate(cells(notebook), 1):
        assert cell["execution_count"] == number
        assert cell["outputs"] or "import" in "".join(cell["source"])
        assert all(output["output_type"] != "error" for output in cell["outputs"])
    assert "/tmp" not in notebook.read_text("utf-8")
