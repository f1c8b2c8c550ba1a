"""A regime of your own: Blondie24's, except that parents do not survive their offspring.

A regime is a frozen dataclass with init and step; the run loop gives it checkpoints, curves and
TensorBoard, the executor its threads. Here all but the survival is taken over.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import State, rng_from_json, rng_to_json
from training.evolution.tournament import best
from training.regimes.coevolution import Coevolution
from training.trainer.loop import RunConfig, begin, train


@dataclass(frozen=True)
class Comma(Coevolution):
    """As coevolution, but selection is among the offspring only: of twice as many parents."""

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        rng, shape = rng_from_json(state.rng), self.shape(state.extra)
        parents = state.population.join(state.population)
        children = self.with_offspring(shape, parents, rng).pick(slice(parents.size, None))
        scores, measured = self.tournament(shape, children, runner, rng)
        chosen = best(scores, self.parents, rng)
        survivors = children.pick(chosen)
        generation = state.generation + 1
        return State(generation, survivors, scores[chosen], rng_to_json(rng), {}), measured


def told(state: State, measured: Metrics) -> None:
    print(
        f"generation {state.generation}: {measured['curve/material']:+.2f} against a piece counter"
    )


folder = Path(mkdtemp()) / "comma"
plan = RunConfig("comma", Comma(parents=6, depth=2), generations=5, seed=0, folder=folder)
train(plan, begin(plan), told)
print(f"The champion is in {folder}")
