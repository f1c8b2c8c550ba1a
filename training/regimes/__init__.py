"""The regimes of the papers: a file each, which reads like the method section it implements."""

from dataclasses import fields
from typing import Any, get_args

from training.regimes.coevolution import Coevolution
from training.regimes.coevolution_extended import LearningEvolution
from training.regimes.evolution_strategies import EvolutionStrategy
from training.regimes.genetic_algorithm import Genetic
from training.regimes.social_learning import SocialLearning
from training.regimes.td_learning import TemporalDifference
from training.regimes.treestrap import DeepSelfPlay

Regime = (
    Coevolution
    | LearningEvolution
    | SocialLearning
    | Genetic
    | EvolutionStrategy
    | TemporalDifference
    | DeepSelfPlay
)


def regime_of(identity: dict[str, Any]) -> Regime:
    """The regime of a run, from its checkpoint. Raises ValueError for one that is not known."""
    constants = {
        name: constant for name, constant in identity.items() if name not in ("name", "seed")
    }
    for kind in get_args(Regime):
        if {field.name for field in fields(kind)} == set(constants):
            regime: Regime = kind(**constants)
            return regime
    raise ValueError(f"{identity.get('name')!r} is not a regime of this version")


__all__ = [
    "Coevolution",
    "DeepSelfPlay",
    "EvolutionStrategy",
    "Genetic",
    "LearningEvolution",
    "Regime",
    "SocialLearning",
    "TemporalDifference",
    "regime_of",
]
