"""A regime of your own: Blondie24's, except that parents do not survive their offspring.

A regime is one file and one preset: a registered frozen dataclass with the members of
training.regimes.Regime, and a Preset with its constants. The trainer gives it checkpoints, curves
and TensorBoard; the game runner gives it threads. This one inherits all but the selection.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar

from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import State, rng_from_json
from training.evolution.tournament import best
from training.regimes import register
from training.regimes.coevolution import Coevolution
from training.trainer.loop import RunConfig, begin, train
from training.trainer.presets import Preset


@register
@dataclass(frozen=True)
class CommaSelection(Coevolution):
    """Coevolution with (mu, lambda) selection: among the offspring of twice as many parents."""

    kind: ClassVar[str] = "comma-selection"

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Replicate, play the tournament and select among the offspring."""
        rng, shape = rng_from_json(state.rng), self.shape(state.arrays)
        parents = state.population.join(state.population)
        children = self.with_offspring(shape, parents, rng).pick(slice(parents.size, None))
        scores, metrics = self.tournament(shape, children, runner, rng)
        chosen = best(scores, self.parents, rng)
        survivors, scores = children.pick(chosen), scores[chosen]
        return self.next_state(state.generation + 1, survivors, scores, rng, state.arrays), metrics


COMMA = Preset(CommaSelection(parents=6, depth=2), 5, "none", "Blondie24 with comma selection")


def report(state: State, metrics: Metrics) -> None:
    """Print the performance curve."""
    payoff = metrics["curve/material"]
    print(f"generation {state.generation}: {payoff:+.2f} against a piece counter")


if __name__ == "__main__":
    folder = Path(mkdtemp()) / "comma"
    config = RunConfig("comma", COMMA.regime, COMMA.generations, seed=0, folder=folder)
    train(config, begin(config), report)
    print(f"The champion is in {folder}")
