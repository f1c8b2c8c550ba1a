"""Claims of our own: reasons for the results, and changes to evolution."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from training.experiments.claims import OWN, Claim, beats, gains, in_family
from training.experiments.effects import climb, fall, fewer_drawn, levels, rise
from training.experiments.jobs import Player
from training.experiments.papers.coevolution_ablations import QUARTERED
from training.experiments.papers.other_papers import (
    EVOLVED,
    NETWORKS,
    PAIRS,
    UNSATURATED,
    by_lot,
    by_sum,
    early,
)
from training.experiments.tables import row
from training.trainer.presets import ABLATIONS

MEASURED = (*NETWORKS, "c0", "blondie24-rr", "c10")


def _saturation() -> Iterable[Claim]:
    for player in MEASURED:
        yield Claim(
            f"{player}: step sizes grow",
            f"The mean step size of {player} grows over the generations.",
            OWN,
            (row(player, ()),),
            rise("step/mean"),
            "step size",
            tables=("step-sizes",),
        )
        yield Claim(
            f"{player}: saturation",
            f"The outputs of {player} saturate: beyond 0.99 in more positions at the end.",
            OWN,
            (row(player, ()),),
            rise("champion/saturated"),
            "share of positions",
            tables=("saturation",),
        )


def _unlearning() -> Iterable[Claim]:
    for player in MEASURED:
        yield Claim(
            f"{player} unlearns",
            f"{player} unlearns: against the piece counter at 1 ply its parents end below where "
            "they had risen to.",
            OWN,
            (row(player, ()),),
            fall("curve/material"),
            "payoff",
            tables=("skycak-material",),
        )
    yield Claim(
        f"{UNSATURATED} goes on learning",
        f"{UNSATURATED}, whose output does not saturate, does not unlearn: its parents end above "
        "where they had risen to.",
        OWN,
        (row(UNSATURATED, ()),),
        climb("curve/material"),
        "payoff",
        tables=("skycak-material",),
    )
    yield Claim(
        f"{UNSATURATED} ends higher",
        f"{UNSATURATED}, whose output does not saturate, ends higher there than {EVOLVED[0]}.",
        OWN,
        (row(UNSATURATED, ()), row(EVOLVED[0], ())),
        levels("curve/material"),
        "payoff",
        tables=("skycak-material",),
    )


def _strength() -> Iterable[Claim]:
    yield beats(UNSATURATED, EVOLVED[0], f"{UNSATURATED} beats {EVOLVED[0]}.", OWN)
    for player in QUARTERED:
        yield gains(
            f"{player}: whole > quarter",
            f"the champion of {player} does better after the whole run than after a quarter of it",
            early(player, 4),
            player,
        )
    for player in EVOLVED:
        yield gains(
            f"{player}: sum > tanh",
            f"{player} does better judging by the sum at its output than by its tanh",
            player,
            by_sum(player),
        )


def _played_otherwise(name: str, where: str, changed: Callable[[str], Player]) -> Iterable[Claim]:
    """Yield claims on a change in how champions play: fewer draws, and the same winners."""
    yield Claim(
        f"{name}: fewer draws",
        f"Fewer games are drawn where {where}.",
        OWN,
        (
            *(row(*pair) for pair in PAIRS),
            *(row(changed(player), changed(other)) for player, other in PAIRS),
        ),
        fewer_drawn,
        "% of the games",
    )
    for player, other in PAIRS:
        yield Claim(
            f"{name}: {player} > {other}",
            f"Where {where}, {player} beats {other}.",
            OWN,
            (row(changed(player), changed(other)),),
        )


def _changes() -> Iterable[Claim]:
    """Yield a claim for each change to the evolution of 2001: its champion plays better."""
    base = EVOLVED[0]
    for name, preset in ABLATIONS.items():
        yield gains(f"{name} helps", f"{name} does better than {base}: {preset.what}", base, name)


REASONS: tuple[Claim, ...] = tuple(
    chain(
        in_family("saturation", _saturation()),
        in_family("unlearning", _unlearning()),
        in_family("strength of other readings of a champion", _strength()),
        in_family(
            "random ties",
            _played_otherwise("random ties", "chance decides between equally good moves", by_lot),
        ),
        in_family(
            "sums at the outputs",
            _played_otherwise(
                "unsaturated", "champions judge by the sums at their outputs", by_sum
            ),
        ),
    )
)
CHANGES: tuple[Claim, ...] = tuple(in_family("changes to evolution", _changes()))
