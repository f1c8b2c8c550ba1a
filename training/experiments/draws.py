"""What the drawn games hide: who was ahead in them, and what then becomes of the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from training.experiments.claims import Claim
from training.experiments.effects import advantage
from training.experiments.plan import Ledger, Scope
from training.experiments.tables import Seen, brief, interval
from training.experiments.verdict import Verdict, effects, verdicts

LEAD = 2  # pieces

Games = Sequence[Sequence[Seen]]  # of a seed: those of each row


def decided(rows: Games) -> float:
    """How far the first players score above one half if drawn games go to who has more pieces."""
    return advantage([[_decided(game) for game in games] for games in rows])


def _decided(game: Seen) -> Seen:
    if game.result != "D":
        return game
    return game._replace(result="LDW"[int(np.sign(game.difference)) + 1])


def share_drawn(rows: Games) -> float:
    """Per cent of the games that are drawn."""
    return 100 * float(np.mean([game.result == "D" for game in _with_cards(rows)]))


def share_led(rows: Games) -> float:
    """Per cent of the drawn games at whose end a side is LEAD pieces ahead; nan without any."""
    drawn = [game for game in _with_cards(rows) if game.result == "D"]
    led = [abs(game.difference) >= LEAD for game in drawn]
    return 100 * float(np.mean(led)) if led else float("nan")


def _with_cards(rows: Games) -> list[Seen]:
    return [game for games in rows for game in games if game.opening]


def lines(judged: Sequence[Verdict], scope: Scope, ledger: Ledger) -> Iterator[str]:
    """A section of the page, in Markdown: every claim about scores, as played and decided."""
    scores = [it for it in judged if it.claim.effect is advantage and it.values]
    if not scores:
        return
    claims: list[Claim] = [it.claim for it in scores]
    again = verdicts([replace(claim, effect=decided) for claim in claims], scope, ledger)
    yield from ("## Drawn games", "", _ABOUT, "")
    yield (
        f"| claim | drawn, % | of them with a lead of {LEAD} pieces, % | effect as played "
        "| effect if draws go to who has more pieces | verdict then |"
    )
    yield "|---|---:|---:|---:|---:|---|"
    for played, then in zip(scores, again, strict=True):
        drawn, led = (
            _mean(effects(replace(played.claim, effect=share), scope, ledger))
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
