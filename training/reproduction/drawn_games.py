"""Section of the page: the claims with drawn games decided by the piece difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from training.reproduction.claims import Claim
from training.reproduction.effects import LEAD, advantage, decided, share_drawn, share_led
from training.reproduction.plan import Scope
from training.reproduction.results import ResultStore
from training.reproduction.tables import brief, interval
from training.reproduction.verdicts import Verdict, effects, verdicts


def lines(judged: Sequence[Verdict], scope: Scope, store: ResultStore) -> Iterator[str]:
    """Yield the section in Markdown: every claim about scores, as played and decided.

    Parameters
    ----------
    judged
        Verdicts of the page.
    scope
        Seeds and scale.
    store
        Results.
    """
    scores = [it for it in judged if it.claim.effect is advantage and it.values]
    if not scores:
        return
    claims: list[Claim] = [it.claim for it in scores]
    again = verdicts([replace(claim, effect=decided) for claim in claims], scope, store)
    yield from ("## Drawn games", "", _ABOUT, "")
    yield (
        f"| claim | drawn, % | of them with a lead of {LEAD} pieces, % | effect as played "
        "| effect if draws go to who has more pieces | verdict then |"
    )
    yield "|---|---:|---:|---:|---:|---|"
    for played, then in zip(scores, again, strict=True):
        drawn, led = (
            _mean(effects(replace(played.claim, effect=share), scope, store))
            for share in (share_drawn, share_led)
        )
        yield (
            f"| {played.claim.says} | {drawn} | {led} | {interval(played.values)} "
            f"| {interval(then.values)} | {then.word or 'too few seeds'} |"
        )
    yield ""


def _mean(values: Sequence[float]) -> str:
    return brief(float(np.mean(values))) if values else ""


_ABOUT = (
    "A game is drawn after 100 moves of each side, whoever is ahead. These are the claims about "
    "scores once more, with every drawn game given to the side that has more pieces at its end."
)
