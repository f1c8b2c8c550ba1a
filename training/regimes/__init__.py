"""The regimes of the papers: a file each, which reads like the method section it implements."""

from dataclasses import fields
from typing import Any, get_args

from training.regimes.coevolution import Coevolution
from training.regimes.coevolution_extended import ExtendedCoevolution
from training.regimes.evolution_strategies import EvolutionStrategy
from training.regimes.genetic_algorithm import GeneticAlgorithm
from training.regimes.social_learning import SocialLearning
from training.regimes.td_learning import TDLearning
from training.regimes.treestrap import TreeStrap

Regime = (
    Coevolution
    | ExtendedCoevolution
    | SocialLearning
    | GeneticAlgorithm
    | EvolutionStrategy
    | TDLearning
    | TreeStrap
)


def regime_from_config(identity: dict[str, Any]) -> Regime:
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
    "EvolutionStrategy",
    "ExtendedCoevolution",
    "GeneticAlgorithm",
    "Regime",
    "SocialLearning",
    "TDLearning",
    "TreeStrap",
    "regime_from_config",
]
