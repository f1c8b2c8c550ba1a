"""Presets: the players of the papers by name, with the regimes that train them.

A row has a base (regime and generations), the section of the source, a description, the CPU-seconds
of a whole run, and the constants that differ from the base. The time was measured in one run each
on a core of an AMD EPYC (Zen 4) or an Intel Xeon, that of the ablations on Zen 5 over ten seeds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from agents.factory import load_object
from training.regimes import Regime
from training.regimes.bootstrap import Bootstrap
from training.regimes.coevolution import Coevolution
from training.regimes.coevolution_extended import ExtendedCoevolution
from training.regimes.evolution_strategies import EvolutionStrategy
from training.regimes.genetic_algorithm import GeneticAlgorithm
from training.regimes.social_learning import SocialLearning
from training.regimes.td_learning import TDLearning

DEFAULT, TD_DEFAULT = "blondie24-2001", "c5-n0.001"


class Preset(NamedTuple):
    """A regime with a paper's constants."""

    regime: Regime
    generations: int  # of a whole run
    source: str  # paper and section
    what: str  # description in a few words
    cpu_seconds: int = 0  # of a whole run; 0 if it has not been measured

    @property
    def games(self) -> int:
        """Games of the whole run."""
        played, regime = self.generations, self.regime
        if isinstance(regime, Bootstrap):  # in the others it learns
            played -= played // (regime.play + regime.study) * regime.study
        return played * regime.games


def load_preset(text: str) -> Preset:
    """Return a preset of one's own, ``file.py:NAME`` or ``package.module:NAME``.

    Raises
    ------
    ValueError
        If it cannot be imported or is no :class:`training.trainer.presets.Preset`.
    """
    preset = load_object(text)
    if not isinstance(preset, Preset):
        place, _, name = text.rpartition(":")
        found = "nothing" if preset is None else repr(preset)[:100]
        raise ValueError(f"{name!r} must be a Preset in {place!r}, not {found}")
    return preset


def _preset(
    author: str, base: Any, length: int, section: str, what: str, seconds: int, **changes: Any
) -> Preset:
    return Preset(replace(base, **changes), length, author + section, what, seconds)


_1999 = Coevolution("blondie24-1999", king=2.0, king_rule="lognormal")
_2001 = Coevolution("blondie24-2001", king=1.5, king_rule="tenths")
_C0 = replace(_2001, king=2.0, king_rule="fixed")
_C10 = SocialLearning("blondie24-2001", king=2.0, king_rule="fixed")
_TUPLES = replace(_C0, weight=0.0, step_size=1.0, self_adaptive=False, king=1.0)
_NPD = {"piece_difference": False}

_thesis = partial(_preset, "Al-Khateeb 2011, ")
_c0, _rr = partial(_thesis, _C0, 840), partial(_thesis, replace(_C0, pairing="round-robin"), 140)
_c10, _tuples = partial(_thesis, _C10, 840), partial(_thesis, _TUPLES, 840)
_nguyen = partial(_preset, "Nguyen, ", GeneticAlgorithm(), 200)


def _social(seconds: int, publish_every: int, social_every: int) -> Preset:
    what = f"individual and social learning, M = {publish_every}, N = {social_every}"
    every = {"publish_every": publish_every, "social_every": social_every}
    return _c10("Algorithm 5.2", what, seconds, **every)


PRESETS = {
    "blondie24-1999": Preset(
        _1999, 840, "Chellapilla & Fogel 1999", "32-40-10-1, K log-normal from 2", 300
    ),
    "blondie24-2001": Preset(
        _2001, 840, "Chellapilla & Fogel 2001", "91 sub-squares, K by tenths from 1.5", 540
    ),
    "c0": _c0("Algorithm 3.1", "the network of 2001, K fixed at 2", 510),
    "blondie24-rr": _rr("Algorithm 4.1", "C0 with a round robin of 870 games", 470),
    "c0-common": _c0(
        "4.4 (after Miconi 2009)", "C0 with the same five opponents for all", 510, pairing="common"
    ),
    "c200": _social(480, 100, 200),
    "c100": _social(470, 50, 100),
    "c50": _social(490, 20, 50),
    "c20": _social(470, 10, 20),
    "c10": _social(470, 5, 10),
    "c1": _c10("5.3", "C10 with one strategy in the pool at most", 480, pool_limit=1),
    "c10-rr": _thesis(
        replace(_C10, pairing="round-robin"),
        140,
        "5.5",
        "C10 with a round robin of 870 games",
        440,
    ),
    "c0-npd": _c0("7.3", "c0 without the piece difference", 280, **_NPD),
    "blondie24-rr-npd": _rr("7.3", "blondie24-rr without the piece difference", 250, **_NPD),
    "c10-npd": _c10("7.3", "c10 without the piece difference", 240, **_NPD),
    "c0-1ply": _c0("7.6", "c0 trained at 1 ply", 70, depth=1),
    "c0-2ply": _c0("7.6", "c0 trained at 2 ply", 90, depth=2),
    "c0-3ply": _c0("7.6", "c0 trained at 3 ply", 300, depth=3),
    "blondie24-rr-1ply": _rr("7.6", "blondie24-rr trained at 1 ply", 46, depth=1),
    "blondie24-rr-2ply": _rr("7.6", "blondie24-rr trained at 2 ply", 84, depth=2),
    "blondie24-rr-3ply": _rr("7.6", "blondie24-rr trained at 3 ply", 250, depth=3),
    "c10-1ply": _c10("7.7.3", "c10 trained at 1 ply", 64, depth=1),
    "c10-2ply": _c10("7.7.3", "c10 trained at 2 ply", 110, depth=2),
    "c10-3ply": _c10("7.7.3", "c10 trained at 3 ply", 260, depth=3),
    "c5-tuple": _tuples(
        "Algorithm 6.1",
        "C0 with 32 random-walk 5-tuples, mutated by N(0, 1)",
        260,
        network="walks-5",
    ),
    "c1-tuple": _tuples(
        "Algorithm 6.2", "C0 with 32 1-tuples, mutated by N(0, 1)", 170, network="singles"
    ),
    "c5-tuple-sum": _tuples("Algorithm 6.1", "C0 by 5-tuples, no tanh", 200, network="walks-5-sum"),
    "c1-tuple-sum": _tuples("Algorithm 6.2", "C0 by 1-tuples, no tanh", 150, network="singles-sum"),
    "hughes": Preset(
        Coevolution("weighted-pieces"),
        840,
        "Hughes 2003 (Al-Khateeb 2011, 7.2)",
        "a weighted piece counter, co-evolved as the network of 2001",
        150,
    ),
    "nguyen": _nguyen("III.C", "genetic algorithm, sums of the 91 sub-squares, 4 ply", 37),
    "nguyen-safe": _nguyen("III.C.3", "the same with safe mutation", 32, perturbations=10),
    "nguyen-1ply": _nguyen("III.D, IV.A", "nguyen trained at 1 ply", 10, depth=1),
    "nguyen-3ply": _nguyen("III.D, IV.A", "nguyen trained at 3 ply", 27, depth=3),
    "nguyen-6ply": _nguyen("III.D, IV.A", "nguyen trained at 6 ply", 200, depth=6),
    "nguyen-mcts": _nguyen(
        "III.B",
        "nguyen with MCTS-EPT, 200 playouts a move, in place of minimax",
        300,
        simulations=200,
    ),
    "nguyen-logistic": _nguyen(
        "III.A", "nguyen with 2/(1+e^-x) - 1 in place of tanh", 48, activation="logistic"
    ),
}

# Changes to the evolution of 2001 with the budget of the papers, one at a time and several
# together; see docs/learning.md.
BUDGET = 126_000  # games of a run: 840 generations of 150
_CHANGED = "Chellapilla & Fogel 2001, changed"
_UNSATURATED = "blondie24-2001-unsaturated"


def _ablation(base: Any, source: str, what: str, seconds: int = 430, **changes: Any) -> Preset:
    regime = replace(base, **changes)
    return Preset(regime, round(BUDGET / regime.games), source, what, seconds)


_extended = partial(_ablation, ExtendedCoevolution("blondie24-2001", king=1.5, king_rule="tenths"))
_strategy = partial(_ablation, EvolutionStrategy("blondie24-2001", openings="none"))
_together = partial(_ablation, EvolutionStrategy())

ABLATIONS = {
    "learns-step-size": _extended(_CHANGED, "first step sizes of 0.01", step_size=0.01),
    "learns-step-limit": _extended(_CHANGED, "step sizes of 0.05 at most", step_limit=0.05),
    "learns-unsaturated": _extended(
        _CHANGED, "an output that tells large values apart", network=_UNSATURATED
    ),
    "learns-common": _extended("Miconi 2009", "the same five opponents for all", pairing="common"),
    "learns-games": _extended(_CHANGED, "20 games as Black in place of 5", opponents=20),
    "learns-openings": _extended(
        _CHANGED,
        "ballot openings, the same for all, with both colours",
        openings="two-move",
        return_games=True,
    ),
    "learns-hall": _extended(
        "Rosin & Belew 1997", "five former champions among the opponents", hall=5
    ),
    "learns-recombination": _extended(
        "Bäck & Schwefel 1993", "offspring of the mean of all parents", mates=15
    ),
    "learns-league": _extended(
        _CHANGED, "the champion from leagues of the parents", league_every=24
    ),
    "learns-together": _extended(
        _CHANGED,
        "small steps, recombination, ballots, unsaturated",
        network=_UNSATURATED,
        step_size=0.01,
        mates=15,
        openings="two-move",
        return_games=True,
    ),
    "learns-sep-cma-es": _strategy(
        "Ros & Hansen 2008", "separable CMA-ES over mirrored pairs that play each other"
    ),
    "learns-openai-es": _strategy(
        "Salimans et al. 2017",
        "OpenAI-ES over mirrored pairs that play each other",
        strategy="openai-es",
    ),
    "learns": _together(
        "Ros & Hansen 2008", "separable CMA-ES with ballot openings and the unsaturated output"
    ),
    "learns-openai-es-together": _together(
        "Salimans et al. 2017",
        "OpenAI-ES, ballots, unsaturated, small weights, a falling rate",
        strategy="openai-es",
        weight=0.1,
        half_at=200.0,
    ),
    "learns-squares": _together(
        "Salimans et al. 2017",
        "OpenAI-ES, ballots, and weights of men and kings by square in place of a network",
        250,
        network="piece-squares",
        strategy="openai-es",
        pairs=150,
        sigma=0.15,
        rate=0.03,
        half_at=40.0,
        weight=0.02,
    ),
}

_c5n = partial(_thesis, TDLearning("walks-5"), 126)
_c1n = partial(_thesis, TDLearning("singles"), 126)
_FUTURE = "8.2 (future work)"
_LEAF = TDLearning(
    "walks-5",
    alpha=0.0005,
    half_at=2000.0,
    lam=0.7,
    epsilon=0.05,
    openings="two-move",
    search=2,
    leaf=True,
    depth=4,
)
TD_PRESETS = {
    "c5-n0.01": _c5n("Algorithm 6.3", "32 random-walk 5-tuples, alpha 0.01", 18, alpha=0.01),
    "c5-n0.001": _c5n("Algorithm 6.3", "32 random-walk 5-tuples, alpha 0.001", 18),
    "c5-n0.0001": _c5n("Algorithm 6.3", "32 random-walk 5-tuples, alpha 0.0001", 17, alpha=0.0001),
    "c1-n0.01": _c1n("Algorithm 6.4", "32 1-tuples, alpha 0.01", 11, alpha=0.01),
    "c1-n0.001": _c1n("Algorithm 6.4", "32 1-tuples, alpha 0.001", 9),
    "c1-n0.0001": _c1n("Algorithm 6.4", "32 1-tuples, alpha 0.0001", 14, alpha=0.0001),
    "c5-n0.001-npd": _c5n("7.3", "c5-n0.001 without the piece difference", 30, **_NPD),
    "c5-n0.001-1ply": _c5n(
        "7.7.3", "c5-n0.001, moves chosen by a search of 1 ply and captures", 64, search=1
    ),
    "c5-n0.001-table-6.1": _c5n(
        "Table 6.1", "the 5-tuples printed there", 11, features="table-6.1"
    ),
    "c5-n0.001-2ply": _c5n("7.7.3", "c5-n0.001 trained at 2 ply", 110, search=2, depth=2),
    "c5-n0.001-3ply": _c5n("7.7.3", "c5-n0.001 trained at 3 ply", 320, search=3, depth=3),
    "c5-n0.001-4ply": _c5n("7.7.3", "c5-n0.001 trained at 4 ply", 550, search=4, depth=4),
    "c1-n0.001-1ply": _c1n("6.9 (plies open)", "c1-n0.001 trained at 1 ply", 50, search=1, depth=1),
    "c1-n0.001-4ply": _c1n(
        "6.9 (plies open)", "c1-n0.001 trained at 4 ply", 400, search=4, depth=4
    ),
    "walks-3": _c5n(_FUTURE, "random-walk 3-tuples", 8, features="walks-3"),
    "walks-4": _c5n(_FUTURE, "random-walk 4-tuples", 6, features="walks-4"),
    "subsquares-3": _c5n(_FUTURE, "all 3x3 sub-squares", 19, features="subsquares-3"),
    "subsquares-4": _c5n(_FUTURE, "all 4x4 sub-squares", 23, features="subsquares-4"),
    "subsquares-3-4": _c5n(_FUTURE, "all 3x3 and 4x4 sub-squares", 33, features="subsquares-3-4"),
    "c5-leaf": Preset(
        _LEAF,
        20,
        "Baxter et al. 1998",
        "random-walk 5-tuples by TD-leaf(0.7), ballots, searched 2 ply",
        16,
    ),
    "samuel": Preset(
        replace(_LEAF, features="samuel"),
        20,
        "Samuel 1959, Baxter et al. 1998",
        "eight features made by hand, weighed by TD-leaf(0.7), searched 2 ply",
        13,
    ),
    "strong": Preset(
        Bootstrap(games=4000),
        120,
        "Samuel 1967; Anthony et al. 2017; Nasu 2018",
        "a small network that learns from searches: of strong-2, then in rounds of its own",
        8_300,
    ),
}
