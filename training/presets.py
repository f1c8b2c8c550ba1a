"""The players of the papers: names, and the regimes that train them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from training.regimes import Coevolution, Genetic, Regime, SocialLearning, TemporalDifference


class Preset(NamedTuple):
    """A regime with a paper's constants."""

    regime: Regime
    generations: int
    source: str
    what: str

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
        "Al-Khateeb 2011, 7.6",
        f"{name} trained at {depth} ply",
    )
    for name, regime, depths in (
        ("c0", _C0, (1, 2, 3)),
        ("blondie24-rr", _ROUND_ROBIN, (1, 2, 3)),
        ("c10", _C10, (1,)),
    )
    for depth in depths
}
_TUPLES = replace(_C0, weight=0.0, step_size=1.0, self_adaptive=False)
PRESETS["c5-tuple"] = Preset(
    replace(_TUPLES, network="5-tuples"),
    840,
    "Al-Khateeb 2011, Algorithm 6.1",
    "C0 with the 5-tuples of Table 6.1, mutated by N(0, 1)",
)
PRESETS["c1-tuple"] = Preset(
    replace(_TUPLES, network="1-tuples"),
    840,
    "Al-Khateeb 2011, Algorithm 6.2",
    "C0 with 32 1-tuples, mutated by N(0, 1)",
)
PRESETS["hughes"] = Preset(
    Coevolution("weighted-pieces"),
    840,
    "Hughes 2003 (Al-Khateeb 2011, 7.2)",
    "a weighted piece counter, co-evolved as C0, K by tenths",
)
PRESETS["nguyen"] = Preset(
    Genetic(), 200, "Nguyen, III.C", "genetic algorithm, sums of the 91 sub-squares, 4 ply"
)
PRESETS["nguyen-safe"] = Preset(
    Genetic(perturbations=10), 200, "Nguyen, III.C.3", "the same with safe mutation"
)
DEFAULT = "blondie24-2001"

_C5 = TemporalDifference("walks-5")
TD_PRESETS = {
    f"c{size}-n{alpha}": Preset(
        replace(_C5, tuples=tuples, alpha=alpha),
        126,
        f"Al-Khateeb 2011, Algorithm 6.{3 if size == 5 else 4}",
        f"32 {what}, alpha {alpha}",
    )
    for size, tuples, what in ((5, "walks-5", "random-walk 5-tuples"), (1, "singles", "1-tuples"))
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
        "Al-Khateeb 2011, 7.6",
        "c5-n0.001, moves chosen by a search of 1 ply and captures",
    ),
    "c5-n0.001-4ply": Preset(
        replace(_C5, search=4, depth=4),
        126,
        "Al-Khateeb 2011, 7.6",
        "c5-n0.001 trained at 4 ply",
    ),
}
TD_PRESETS |= {
    name: Preset(replace(_C5, tuples=name), 126, "Al-Khateeb 2011, 8.2 (future work)", what)
    for name, what in (
        ("walks-3", "random-walk 3-tuples"),
        ("walks-4", "random-walk 4-tuples"),
        ("subsquares-3", "all 3x3 sub-squares"),
        ("subsquares-4", "all 4x4 sub-squares"),
        ("subsquares-3-4", "all 3x3 and 4x4 sub-squares"),
    )
}
TD_DEFAULT = "c5-n0.001"
