"""Golden runs: short runs of everything that learns or plays, each held to a recorded hash.

They say when a change of code changes a result. A refactoring leaves every hash alone: only
numbers and moves are hashed, never names of classes, fields or modules.

If a change is meant to alter results:

1. raise the ``results_version`` of each regime or search that it touches;
2. run again what those versions cover;
3. write the hashes anew by ``python -m tests.test_golden``, and commit them with the change.

Hashes do not depend on the processor, as far as was tried: numba's generic target, and numpy and
OpenBLAS without AVX, give those of an AVX-512 machine. Kernels sum in a fixed order
(docs/kernels.md), so compiled code gives the same bits everywhere. numpy and the BLAS promise less:
the last bit of a float64 may differ between kinds of processor. Numbers are therefore hashed as
float32, as they are played. A difference in that last bit shows in about one number of 10^8.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import agents
import checkers_env
from agents.evaluator import evaluate_position
from agents.match import play_game
from agents.search.workspace import VISITED
from checkers_env.files import write_atomically
from checkers_env.state import DrawRules
from tests import DATA
from training.evolution.game_runner import open_game_runner
from training.trainer import loop
from training.trainer.presets import ABLATIONS, PRESETS, TD_PRESETS

FILE = DATA / "golden.json"
COMMAND = "python -m tests.test_golden"
DIGITS = 16
SEED = 1

C0, C10, C5 = PRESETS["c0"].regime, PRESETS["c10"].regime, TD_PRESETS["c5-n0.001"].regime
VARIANTS: dict[str, Any] = {  # options that no preset has
    "c0, leaves judged by the side to move": replace(C0, root_perspective=False),
    "c0, Black alone scores": replace(C0, both_score=False),
    "c10, pool scores double": replace(C10, publish_every=1, social_every=8, doubling=True),
    "c10, pool scores count": replace(C10, publish_every=1, social_every=8),
    "c0, the last of equal moves by piece": replace(C0, tie="last", order="piece"),
    "c5-n0.001 from random positions": replace(C5, openings="three-move", random_plies=6),
}
PRESETS_BY_NAME = {**PRESETS, **ABLATIONS, **TD_PRESETS}
REGIMES: dict[str, Any] = {name: preset.regime for name, preset in PRESETS_BY_NAME.items()}
REGIMES |= VARIANTS
del REGIMES["samuel"]  # c5-n0.001 with an evaluator whose kernels take 16 s to compile

# The largest sizes of a golden run; a regime keeps its own where they are smaller.
SMALL = {"parents": 3, "pairs": 3, "simulations": 20, "league_every": 2}
LONG = SMALL | {"parents": 6, "opponents": 2}  # for some ten generations
TINY = SMALL | {"opponents": 1, "depth": 1, "max_moves": 20}  # for more than that
SMALLER: dict[str, dict[str, float]] = {
    **{name: {"games": 10} for name in (*TD_PRESETS, "c5-n0.001 from random positions")},
    "strong": {
        "games": 4,
        "nodes": 50,
        "side_nodes": 30,
        "steps": 3,
        "batch": 64,
        "play": 1,
        "study": 1,
    },
    **{name: {"step_size": 0.02} for name in ("c1-tuple", "c5-tuple")},  # else no child survives
    "c10-rr": {"parents": 3},
}
SATURATING = 2.0  # first weights with which it matters whether outputs are told apart

OPENINGS = (None, "9-13 22-18", "11-15 23-19")
ENDINGS = ("B:W18,K23,K32:B3,K5,K12", "W:W30,K14:B1,K7,K19")
BLOCKED = "W:W11,12:B4"  # 12-8 leaves Black without a move
NETWORKS = (  # one for each kind of evaluator
    "blondie24-1999",
    "blondie24",
    "learns",
    "learns-squares",
    "nguyen",
    "nguyen-logistic",
    "hughes",
    "c1-tuple",
    "c5-n0.001",
    "subsquares-3-4",
    "samuel",
)


def hashed(*numbers: Any) -> str:
    """Return the hash of arrays and numbers as little-endian float32."""
    content = b"".join(np.ravel(part).astype("<f4").tobytes() for part in numbers)
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def small(name: str) -> tuple[Any, int]:
    """Return a regime with small sizes, and the generations that show all it does."""
    regime = REGIMES[name]
    generations = getattr(regime, "social_every", 1) + 1
    sizes = SMALL if generations <= 2 else LONG if generations <= 11 else TINY
    sizes = sizes | SMALLER.get(name, {})
    own = {field.name: getattr(regime, field.name) for field in fields(regime)}
    least = {size: min(own[size], sizes[size]) for size in sizes if size in own}
    if name in ("learns-unsaturated", "c5-tuple-sum", "c1-tuple-sum"):
        least["weight"] = SATURATING
    return replace(regime, **least), generations


def weights_of(state: Any) -> Any:
    """Return what a regime learns: genomes, weights, or a distribution's mean."""
    names = ("genomes", "genome", "mean", "weights")
    return next(state.arrays[name] for name in names if name in state.arrays)


def training(name: str) -> str:
    """Train by a regime; hash the champion and the last population."""
    regime, generations = small(name)
    state = regime.init(SEED)
    first = weights_of(state)
    with open_game_runner(1) as runner:
        for _ in range(generations):
            state, _ = regime.step(state, runner)
    assert not np.array_equal(weights_of(state), first)
    champion, last = regime.champion(state), weights_of(state)
    # Packed weights are not the same bytes in all versions of zlib.
    numbers = [last, champion.genome if name != "strong" else last, champion.metadata.king]
    if hasattr(regime, "king_rule"):
        numbers += [state.population.steps, state.population.kings, state.scores]
    return hashed(*numbers)


def whole_run(name: str) -> str:
    """Train a preset by the loop that all runs have; hash the champion and what was measured."""
    regime, generations = small(name)
    with TemporaryDirectory() as folder:
        plan = loop.RunConfig(name, regime, generations, SEED, Path(folder), plot=False)
        checkpoint = loop.train(plan, loop.begin(plan), lambda state, measured: None)
    columns = {what: row for what, row in checkpoint.history.items() if what != loop.SPEED}
    measured = np.sort(list(columns.values()), axis=0)  # in no order of names
    assert len(measured) > 5
    champion = regime.champion(checkpoint.state)
    return hashed(champion.genome, np.nan_to_num(measured, nan=-9.0))


def match(
    first: dict[str, Any],
    second: dict[str, Any],
    openings: tuple[str | None, ...] = OPENINGS,
    rules: DrawRules = DrawRules(),  # noqa: B008 - immutable
    engine: str = "env",
) -> str:
    """Play each opening with both colours; hash the moves and the winners.

    Both engines give equal games, but each pair of players compiles a kernel of its own.
    """
    pair = agents.make(**first).player, agents.make(**second).player
    games = [
        play_game(*players, opening=opening, rules=rules, rng=rng, engine=engine)
        for number, opening in enumerate(openings)
        for players in (pair, pair[::-1])
        for rng in [np.random.default_rng((SEED, number))]
    ]
    lines = [" ".join(map(str, game.board.moves)) for game in games]
    assert len(set(lines)) > 1
    winners = [game.result.winner for game in games]
    text = "\n".join(f"{line} {winner}" for line, winner in zip(lines, winners, strict=True))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def searched(**made: Any) -> str:
    """Search a few positions; hash the moves and the positions visited."""
    text = ""
    for opening in ("", *checkers_env.openings.TWO_MOVE[::12]):
        board = checkers_env.Board()
        for move in opening.split():
            board.push(move)
        agent = agents.make(**made)
        move = agent.search(board, agent.limits, threading.Event(), lambda depth, move: None)
        nodes = agent.ws.counts[VISITED]
        assert nodes > 100
        text += f"{move} {nodes}\n"
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def values() -> str:
    """Evaluate the positions of random games by each kind of evaluator, as both sides see them."""
    rng, found = np.random.default_rng(SEED), []
    evaluators = [agents.make(name).player.evaluator for name in (*NETWORKS, "strong-2")]
    for _ in range(3):
        board = checkers_env.Board()
        while not board.outcome():
            board.push(board.legal_moves[rng.integers(len(board.legal_moves))])
            for evaluator, view in itertools.product(evaluators, range(2)):
                found.append(evaluate_position(evaluator, board.position, view))
    assert len(set(found)) > len(found) / 2
    return hashed(found)


def rollouts(steps: int = 300, **options: Any) -> str:
    """Step games at random in a vector environment; hash all that it answers."""
    env, rng = checkers_env.make_vec(16, **options), np.random.default_rng(SEED)
    seen, info = env.reset(seed=SEED)
    digest, ended = hashlib.sha256(), 0
    for _ in range(steps):
        mask = seen["action_mask"]
        actions = np.argmax(rng.random(mask.shape) * mask, axis=1)
        seen, reward, terminated, truncated, info = env.step(actions)
        ended += np.count_nonzero(terminated | truncated)
        for part in (seen["observation"], seen["action_mask"], reward, terminated, truncated):
            digest.update(np.asarray(part, "<f4").tobytes())
        for part in (info["to_move"], info["rewards"]):
            digest.update(np.asarray(part, "<f4").tobytes())
    assert ended > 16
    return digest.hexdigest()[:DIGITS]


MATERIAL = {"agent": "material", "depth": 2}
ENTRIES: dict[str, Callable[[], str]] = {
    **{f"training {name}": partial(training, name) for name in REGIMES},
    **{f"run {name}": partial(whole_run, name) for name in ("c0", "c5-n0.001")},
    **{
        f"match {name} at depth {depth} against material": partial(
            match, {"agent": name, "depth": depth}, MATERIAL
        )
        for name in NETWORKS
        for depth in (4, 6)
    },
    "match material at depth 4 against material": partial(match, MATERIAL | {"depth": 4}, MATERIAL),
    "match blondie24 against c10": partial(
        match, {"agent": "blondie24"}, {"agent": "c10"}, engine="kernel"
    ),
    "match heuristic against random": partial(match, {"agent": "heuristic"}, {"agent": "random"}),
    "match selective blondie24 against material": partial(
        match, {"agent": "blondie24", "depth": 6, "selective": True}, MATERIAL, engine="kernel"
    ),
    **{
        f"match {name} against material": partial(match, {"agent": name, "depth": 6}, MATERIAL)
        for name in ("strong", "strong-2")
    },
    "match mcts against mcts-ept": partial(
        match, {"agent": "mcts", "simulations": 50}, {"agent": "mcts-ept", "simulations": 50}
    ),
    "match nguyen-mcts against material": partial(
        match, {"agent": "nguyen-mcts", "simulations": 50}, MATERIAL
    ),
    "match blondie24 with endgame tables against material": partial(
        match, {"agent": "blondie24", "depth": 4, "endgame": 3}, MATERIAL, ENDINGS
    ),
    "match blondie24 without endgame tables against material": partial(
        match, {"agent": "blondie24", "depth": 4}, MATERIAL, ENDINGS
    ),
    **{
        f"match c0 against c1 with {title}": partial(
            match, {"agent": "c0"}, {"agent": "c1"}, rules=rules, engine="kernel"
        )
        for title, rules in {
            "no rule": DrawRules(),
            "20 moves": DrawRules(20),
            "repetition": DrawRules(repetition=3),
            "no_progress": DrawRules(no_progress=8),
            "all rules": DrawRules(60, 2, 12, True),
        }.items()
    },
    **{
        f"search by {made['agent']} at depth {made['depth']}": partial(searched, **made)
        for made in (
            {"agent": "c0", "depth": 6},
            {"agent": "c5-n0.001", "depth": 6},
            {"agent": "strong", "depth": 8},
            {"agent": "strong-2", "depth": 8},
        )
    },
    "values of positions": values,
    "environment without rules": partial(rollouts),
    "environment with ballots and rules": partial(
        rollouts, opening="three-move", max_moves=30, repetition=2, no_progress=8
    ),
    "environment that begins in the next step": partial(
        rollouts, opening=BLOCKED, blocked_draws=True, autoreset_mode="NextStep"
    ),
}


def recorded() -> dict[str, str]:
    """Return the recorded hashes by entry."""
    hashes: dict[str, str] = json.loads(FILE.read_text("utf-8"))
    return hashes


@pytest.mark.parametrize("name", ENTRIES)
def test_result_equals_the_recorded_hash(name):
    result, expected = ENTRIES[name](), recorded().get(name)
    assert result == expected, (
        f"{name!r} has changed: {result}, not {expected}. A refactoring must leave it alone. If "
        "the change is deliberate, raise the results_version of what it touches, run that again, "
        f"and write {FILE.name} anew by: {COMMAND}"
    )


def test_every_golden_run_is_recorded():
    assert list(recorded()) == list(ENTRIES), f"write {FILE.name} anew by: {COMMAND}"


def test_results_of_all_golden_runs_differ():
    names: dict[str, list[str]] = {}
    for name, result in recorded().items():
        names.setdefault(result, []).append(name)
    assert [each for each in names.values() if len(each) > 1] == []


def write() -> None:
    """Compute every entry, record it, and print which have changed."""
    old = recorded() if FILE.exists() else {}
    results = {}
    for name, entry in ENTRIES.items():
        began = time.process_time()
        results[name] = entry()
        mark = "" if old.get(name) == results[name] else "  changed"
        print(f"{time.process_time() - began:6.2f} s  {results[name]}  {name}{mark}", flush=True)
    write_atomically(FILE, f"{json.dumps(results, indent=2)}\n".encode())


if __name__ == "__main__":
    write()
