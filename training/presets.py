"""The players of the papers: names, and the regimes that train them."""

from __future__ import annotations

from typing import NamedTuple

from training.regimes.coevolution import Coevolution


class Preset(NamedTuple):
    """A regime with a paper's constants."""

    regime: Coevolution
    generations: int
    source: str


PRESETS = {
    "blondie24-1999": Preset(
        Coevolution("blondie24-1999", king=2.0, king_rule="lognormal"),
        840,
        "Chellapilla & Fogel 1999: 32-40-10-1, K log-normal from 2",
    ),
    "blondie24-2001": Preset(
        Coevolution("blondie24-2001", king=1.5, king_rule="tenths"),
        840,
        "Chellapilla & Fogel 2001: 91 sub-squares, K by tenths from 1.5",
    ),
    "c0": Preset(
        Coevolution("blondie24-2001", king=2.0, king_rule="fixed"),
        840,
        "Al-Khateeb 2011, Algorithm 3.1: the network of 2001, K fixed at 2",
    ),
}
DEFAULT = "blondie24-2001"
