"""The regimes of the papers: a file each, which reads like the method section it implements."""

from training.regimes.coevolution import Coevolution
from training.regimes.genetic import Genetic
from training.regimes.learning import LearningEvolution
from training.regimes.social import SocialLearning
from training.regimes.strategies import EvolutionStrategy
from training.regimes.strong import DeepSelfPlay
from training.regimes.temporal import TemporalDifference

Regime = (
    Coevolution
    | LearningEvolution
    | SocialLearning
    | Genetic
    | EvolutionStrategy
    | TemporalDifference
    | DeepSelfPlay
)

__all__ = [
    "Coevolution",
    "DeepSelfPlay",
    "EvolutionStrategy",
    "Genetic",
    "LearningEvolution",
    "Regime",
    "SocialLearning",
    "TemporalDifference",
]
