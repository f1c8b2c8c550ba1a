"""The regimes of the papers: a file each, which reads like the method section it implements."""

from training.regimes.coevolution import Coevolution
from training.regimes.genetic import Genetic
from training.regimes.social import SocialLearning
from training.regimes.temporal import TemporalDifference

Regime = Coevolution | SocialLearning | Genetic | TemporalDifference

__all__ = ["Coevolution", "Genetic", "Regime", "SocialLearning", "TemporalDifference"]
