"""Presets: the players of the papers by name, with the regimes that train them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from training.regimes import Regime
from training.regimes.coevolution import Coevolution
from training.regimes.genetic_algorithm import GeneticAlgorithm
from training.regimes.refit import Refit
from training.regimes.social_learning import SocialLearning
from training.regimes.td_learning import TDLearning
from training.regimes.treestrap import TreeStrap


class Preset(NamedTuple):
    """A regime with a paper's constants.

    Attributes
    ----------
    regime
        Regime with its constants.
    generations
        Generations of a whole run.
    source
        Paper and section.
    what
        Description in a few words.
    cpu_seconds
        CPU time of a whole run; 0 if it has not been measured.
    """

    regime: Regime
    generations: int
    source: str
    what: str
    cpu_seconds: int = 0

    @property
    def games(self) -> int:
        """Games of the whole run."""
        return self.generations * self.regime.games


_C0 = Coevolution("blondie24-2001", king=2.0, king_rule="fixed")
_C10 = SocialLearning("blondie24-2001", king=2.0, king_rule="fixed")
_ROUND_ROBIN = replace(_C0, pairing="round-robin")


def _social(publish_every: int, social_every: int) -> Preset:
    return Preset(
        replace(_C10, publish_every=publish_every, social_every=social_every),
        840,
        "Al-Khateeb 2011, Algorithm 5.2",
        f"individual and social learning, M = {publish_every}, N = {social_every}",
    )


PRESETS = {
    "blondie24-1999": Preset(
        Coevolution("blondie24-1999", king=2.0, king_rule="lognormal"),
        840,
        "Chellapilla & Fogel 1999",
        "32-40-10-1, K log-normal from 2",
    ),
    "blondie24-2001": Preset(
        Coevolution("blondie24-2001", king=1.5, king_rule="tenths"),
        840,
        "Chellapilla & Fogel 2001",
        "91 sub-squares, K by tenths from 1.5",
    ),
    "c0": Preset(_C0, 840, "Al-Khateeb 2011, Algorithm 3.1", "the network of 2001, K fixed at 2"),
    "blondie24-rr": Preset(
        _ROUND_ROBIN, 140, "Al-Khateeb 2011, Algorithm 4.1", "C0 with a round robin of 870 games"
    ),
    "c0-common": Preset(
        replace(_C0, pairing="common"),
        840,
        "Al-Khateeb 2011, 4.4 (after Miconi 2009)",
        "C0 with the same five opponents for all",
    ),
    "c200": _social(100, 200),
    "c100": _social(50, 100),
    "c50": _social(20, 50),
    "c20": _social(10, 20),
    "c10": _social(5, 10),
    "c1": Preset(
        replace(_C10, pool_limit=1),
        840,
        "Al-Khateeb 2011, 5.3",
        "C10 with one strategy in the pool at most",
    ),
    "c10-rr": Preset(
        replace(_C10, pairing="round-robin"),
        140,
        "Al-Khateeb 2011, 5.5",
        "C10 with a round robin of 870 games",
    ),
}
PRESETS |= {
    f"{name}-npd": Preset(
        replace(regime, piece_difference=False),
        PRESETS[name].generations,
        "Al-Khateeb 2011, 7.3",
        f"{name} without the piece difference",
    )
    for name, regime in (("c0", _C0), ("blondie24-rr", _ROUND_ROBIN), ("c10", _C10))
}
PRESETS |= {
    f"{name}-{depth}ply": Preset(
        replace(regime, depth=depth),
        PRESETS[name].generations,
        f"Al-Khateeb 2011, {'7.7.3' if name == 'c10' else '7.6'}",
        f"{name} trained at {depth} ply",
    )
    for name, regime in (("c0", _C0), ("blondie24-rr", _ROUND_ROBIN), ("c10", _C10))
    for depth in (1, 2, 3)  # c10 at 2 and 3 is ours
}
_TUPLES = replace(_C0, weight=0.0, step_size=1.0, self_adaptive=False, king=1.0)
PRESETS["c5-tuple"] = Preset(
    replace(_TUPLES, network="walks-5"),
    840,
    "Al-Khateeb 2011, Algorithm 6.1",
    "C0 with 32 random-walk 5-tuples, mutated by N(0, 1)",
)
PRESETS["c1-tuple"] = Preset(
    replace(_TUPLES, network="singles"),
    840,
    "Al-Khateeb 2011, Algorithm 6.2",
    "C0 with 32 1-tuples, mutated by N(0, 1)",
)
PRESETS |= {
    f"{name}-sum": PRESETS[name]._replace(
        regime=replace(_TUPLES, network=f"{network}-sum"), what=f"{name} without tanh"
    )
    for name, network in (("c5-tuple", "walks-5"), ("c1-tuple", "singles"))
}
PRESETS["hughes"] = Preset(
    Coevolution("weighted-pieces"),
    840,
    "Hughes 2003 (Al-Khateeb 2011, 7.2)",
    "a weighted piece counter, co-evolved as the network of 2001",
)
PRESETS["nguyen"] = Preset(
    GeneticAlgorithm(), 200, "Nguyen, III.C", "genetic algorithm, sums of the 91 sub-squares, 4 ply"
)
PRESETS["nguyen-safe"] = Preset(
    GeneticAlgorithm(perturbations=10), 200, "Nguyen, III.C.3", "the same with safe mutation"
)
PRESETS |= {
    f"nguyen-{depth}ply": Preset(
        GeneticAlgorithm(depth=depth), 200, "Nguyen, III.D, IV.A", f"nguyen trained at {depth} ply"
    )
    for depth in (1, 3, 6)
}
PRESETS["nguyen-mcts"] = Preset(
    GeneticAlgorithm(simulations=200),
    200,
    "Nguyen, III.B",
    "nguyen with MCTS-EPT, 200 playouts a move, in place of minimax",
)
PRESETS["nguyen-logistic"] = Preset(
    GeneticAlgorithm(activation="logistic"),
    200,
    "Nguyen, III.A",
    "nguyen with 2/(1+e^-x) - 1 in place of tanh",
)
DEFAULT = "blondie24-2001"

_C5 = TDLearning("walks-5")
TD_PRESETS = {
    f"c{size}-n{alpha}": Preset(
        replace(_C5, features=features, alpha=alpha),
        126,
        f"Al-Khateeb 2011, Algorithm 6.{3 if size == 5 else 4}",
        f"32 {what}, alpha {alpha}",
    )
    for size, features, what in ((5, "walks-5", "random-walk 5-tuples"), (1, "singles", "1-tuples"))
    for alpha in (0.01, 0.001, 0.0001)
}
TD_PRESETS |= {
    "c5-n0.001-npd": Preset(
        replace(_C5, piece_difference=False),
        126,
        "Al-Khateeb 2011, 7.3",
        "c5-n0.001 without the piece difference",
    ),
    "c5-n0.001-1ply": Preset(
        replace(_C5, search=1),
        126,
        "Al-Khateeb 2011, 7.7.3",
        "c5-n0.001, moves chosen by a search of 1 ply and captures",
    ),
}
TD_PRESETS["c5-n0.001-table-6.1"] = Preset(
    replace(_C5, features="table-6.1"),
    126,
    "Al-Khateeb 2011, Table 6.1",
    "the 5-tuples printed there",
)
TD_PRESETS |= {
    f"c5-n0.001-{depth}ply": Preset(
        replace(_C5, search=depth, depth=depth),
        126,
        "Al-Khateeb 2011, 7.7.3",
        f"c5-n0.001 trained at {depth} ply",
    )
    for depth in (2, 3, 4)  # 2 and 3 are ours
}
TD_PRESETS |= {
    f"c1-n0.001-{depth}ply": Preset(
        replace(_C5, features="singles", search=depth, depth=depth),
        126,
        "Al-Khateeb 2011, 6.9 (plies open)",
        f"c1-n0.001 trained at {depth} ply",
    )
    for depth in (1, 4)
}
TD_PRESETS |= {
    name: Preset(replace(_C5, features=name), 126, "Al-Khateeb 2011, 8.2 (future work)", what)
    for name, what in (
        ("walks-3", "random-walk 3-tuples"),
        ("walks-4", "random-walk 4-tuples"),
        ("subsquares-3", "all 3x3 sub-squares"),
        ("subsquares-4", "all 4x4 sub-squares"),
        ("subsquares-3-4", "all 3x3 and 4x4 sub-squares"),
    )
}
_LEAF = replace(
    _C5,
    alpha=0.0005,
    half_at=2000.0,
    lam=0.7,
    epsilon=0.05,
    openings="two-move",
    search=2,
    leaf=True,
    depth=4,
)
TD_PRESETS["c5-leaf"] = Preset(
    _LEAF, 20, "Baxter et al. 1998", "random-walk 5-tuples by TD-leaf(0.7), ballots, searched 2 ply"
)
TD_PRESETS["samuel"] = Preset(
    replace(_LEAF, features="samuel"),
    20,
    "Samuel 1959, Baxter et al. 1998",
    "eight features made by hand, weighed by TD-leaf(0.7), searched 2 ply",
)
TD_PRESETS["strong-1"] = Preset(
    TreeStrap(games=1200, endgame=4),
    512,
    "Veness et al. 2009; Beal & Smith 1999; Al-Khateeb 2011, ch. 6",
    "53 large windows, TD(0.8) and TreeStrap from searches of 4 plies, endings of 4 pieces known",
)
TD_PRESETS["strong"] = Preset(
    Refit(),
    48,
    "Samuel 1967; Anthony et al. 2017",
    "strong-1 (614,400 games), tapered and with pairs of pieces, fitted to its own searches",
)
TD_DEFAULT = "c5-n0.001"

# Measured in one run each on a core of an AMD EPYC (Zen 4) or an Intel Xeon: docs/regimes.md. A
# preset that is not here has not been measured.
_CPU_SECONDS = {
    "blondie24-1999": 300,
    "blondie24-2001": 540,
    "c0": 510,
    "blondie24-rr": 470,
    "c0-common": 510,
    "c200": 480,
    "c100": 470,
    "c50": 490,
    "c20": 470,
    "c10": 470,
    "c1": 480,
    "c10-rr": 440,
    "c0-npd": 280,
    "blondie24-rr-npd": 250,
    "c10-npd": 240,
    "c0-1ply": 70,
    "c0-2ply": 90,
    "c0-3ply": 300,
    "blondie24-rr-1ply": 46,
    "blondie24-rr-2ply": 84,
    "blondie24-rr-3ply": 250,
    "c10-1ply": 64,
    "c10-2ply": 110,
    "c10-3ply": 260,
    "c5-tuple": 260,
    "c1-tuple": 170,
    "c5-tuple-sum": 200,
    "c1-tuple-sum": 150,
    "hughes": 150,
    "nguyen": 37,
    "nguyen-safe": 32,
    "nguyen-1ply": 10,
    "nguyen-3ply": 27,
    "nguyen-6ply": 200,
    "nguyen-mcts": 300,
    "nguyen-logistic": 48,
    "c5-n0.01": 18,
    "c5-n0.001": 18,
    "c5-n0.0001": 17,
    "c1-n0.01": 11,
    "c1-n0.001": 9,
    "c1-n0.0001": 14,
    "c5-n0.001-npd": 30,
    "c5-n0.001-1ply": 64,
    "c5-n0.001-2ply": 110,
    "c5-n0.001-3ply": 320,
    "c5-n0.001-4ply": 550,
    "c5-n0.001-table-6.1": 11,
    "c1-n0.001-1ply": 50,
    "c1-n0.001-4ply": 400,
    "walks-3": 8,
    "walks-4": 6,
    "subsquares-3": 19,
    "subsquares-4": 23,
    "subsquares-3-4": 33,
    "c5-leaf": 16,
    "samuel": 13,
    "strong-1": 2800,
    "strong": 630,
}
PRESETS, TD_PRESETS = (
    {name: it._replace(cpu_seconds=_CPU_SECONDS.get(name, 0)) for name, it in presets.items()}
    for presets in (PRESETS, TD_PRESETS)
)
