"""Presets that change one constant of the regime of 2001 at a time, and several together.

All have the budget of the papers, some 126,000 games at 4 plies; see docs/learning.md.
"""

from __future__ import annotations

from dataclasses import replace

from training.regimes import Regime
from training.regimes.coevolution_extended import ExtendedCoevolution
from training.regimes.evolution_strategies import EvolutionStrategy
from training.trainer.presets import Preset

BUDGET = 126_000  # games of a run: 840 generations of 150
# Expected time of a run: of a network, and of the weights of squares (Zen 5; ten seeds each).
NETWORK_SECONDS, SQUARES_SECONDS = 430, 250
SOURCE = "Chellapilla & Fogel 2001, changed"
UNSATURATED = "blondie24-2001-unsaturated"
_2001 = ExtendedCoevolution("blondie24-2001", king=1.5, king_rule="tenths")
_STRATEGY = EvolutionStrategy("blondie24-2001", "sep-cma-es", openings="none")
_CHANGED: dict[str, tuple[Regime, str, str]] = {
    "learns-step-size": (replace(_2001, step_size=0.01), SOURCE, "first step sizes of 0.01"),
    "learns-step-limit": (replace(_2001, step_limit=0.05), SOURCE, "step sizes of 0.05 at most"),
    "learns-unsaturated": (
        replace(_2001, network=UNSATURATED),
        SOURCE,
        "an output that tells large values apart",
    ),
    "learns-common": (
        replace(_2001, pairing="common"),
        "Miconi 2009",
        "the same five opponents for all",
    ),
    "learns-games": (replace(_2001, opponents=20), SOURCE, "20 games as Black in place of 5"),
    "learns-openings": (
        replace(_2001, openings="two-move", return_games=True),
        SOURCE,
        "ballot openings, the same for all, with both colours",
    ),
    "learns-hall": (
        replace(_2001, hall=5),
        "Rosin & Belew 1997",
        "five former champions among the opponents",
    ),
    "learns-recombination": (
        replace(_2001, mates=15),
        "Bäck & Schwefel 1993",
        "offspring of the mean of all parents",
    ),
    "learns-league": (
        replace(_2001, league_every=24),
        SOURCE,
        "the champion from leagues of the parents",
    ),
    "learns-together": (
        replace(
            _2001,
            network=UNSATURATED,
            step_size=0.01,
            mates=15,
            openings="two-move",
            return_games=True,
        ),
        SOURCE,
        "small steps, recombination, ballots, unsaturated",
    ),
    "learns-sep-cma-es": (
        _STRATEGY,
        "Ros & Hansen 2008",
        "separable CMA-ES over mirrored pairs that play each other",
    ),
    "learns-openai-es": (
        replace(_STRATEGY, strategy="openai-es"),
        "Salimans et al. 2017",
        "OpenAI-ES over mirrored pairs that play each other",
    ),
    "learns": (
        EvolutionStrategy(),
        "Ros & Hansen 2008",
        "separable CMA-ES with ballot openings and the unsaturated output",
    ),
    "learns-openai-es-together": (
        EvolutionStrategy(strategy="openai-es", weight=0.1, half_at=200.0),
        "Salimans et al. 2017",
        "OpenAI-ES, ballots, unsaturated, small weights, a falling rate",
    ),
    "learns-squares": (
        EvolutionStrategy(
            "piece-squares",
            "openai-es",
            pairs=150,
            sigma=0.15,
            rate=0.03,
            half_at=40.0,
            weight=0.02,
        ),
        "Salimans et al. 2017",
        "OpenAI-ES, ballots, and weights of men and kings by square in place of a network",
    ),
}
ABLATIONS = {
    name: Preset(
        regime,
        round(BUDGET / regime.games),
        source,
        what,
        SQUARES_SECONDS if name == "learns-squares" else NETWORK_SECONDS,
    )
    for name, (regime, source, what) in _CHANGED.items()
}
