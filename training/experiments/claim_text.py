"""Claims as Markdown: the table of verdicts, what changed, and why."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from training.experiments.claims import MARGIN, TIMES, Claim, finite
from training.experiments.inference import MOST_SEEDS, Interval
from training.experiments.jobs import Player
from training.experiments.plan import EXPERIMENTS
from training.experiments.tables import (
    BY_MATERIAL,
    BY_PLAYING_OUT,
    DIFFERENCES,
    DRAWS,
    LOSSES,
    RESULTS,
    SCORE,
    WINS,
    Table,
    brief,
)
from training.experiments.verdicts import LEAST, WORDS, Verdict

OF_GAMES = (RESULTS, BY_MATERIAL, BY_PLAYING_OUT, SCORE, DIFFERENCES, WINS, DRAWS, LOSSES)

HOW = (
    "A player is a sample, a game is not. The effect is one figure a seed, and without a unit the "
    "score above 50 %. Its interval is Student's t over the seeds, with champions paired by seed. "
    "*Theirs* is the paper's effect, from its printed games. Its interval takes these games as "
    "independent. It is not over runs: the papers have one of each player.",
    "",
    "- **Holds**: the effect is above 0.",
    "- **Holds, much smaller**: it is above 0, and its interval excludes half of theirs.",
    f"- **Equal**: the interval is within {MARGIN:g} points of score. A claim of equality is then "
    "confirmed, and a claim of a lead contradicted. *Power* is the chance of this verdict if there "
    "is no difference.",
    "- **Inconclusive**: none of these. *Seeds to decide* decide the claim with a chance of 80 %, "
    "if the seeds so far show the true mean and spread.",
    "- **Reversed**: the effect is below 0, and the interval of theirs has no value in common with "
    "ours.",
    "- **Not tested**: our players are no evidence for or against the claim.",
    "",
    "A decided claim has q of at most 5 %. Here q is the false discovery rate among the claims of "
    "one family (Benjamini & Hochberg 1995), of the test that the verdict rests on. The p is of "
    f"the claim alone. A verdict needs {LEAST} seeds.",
    "",
)


def count(judged: Sequence[Verdict]) -> str:
    """Return a sentence with the number of claims by verdict."""
    words = Counter(verdict.word for verdict in judged)
    counts = [f"{word.replace(',', ' but')} {words[word]}" for word in WORDS if words[word]]
    counts += [f"waiting for more seeds {words[None]}"] if words[None] else []
    text = f"Verdicts on {len(judged)} claims: {', '.join(counts)}."
    leads = sum(it.word == "equal" and it.claim.kind == "more" for it in judged)
    if words["equal"]:
        text += (
            f" Of the equal, {words['equal'] - leads} are claims of equality, and {leads} of a "
            "lead, which they contradict."
        )
    return text


def claim_table(judged: Sequence[Verdict]) -> Iterator[str]:
    """Yield the table of verdicts, and the names of their families."""
    yield "| claim | theirs | ours [95 %] | unit | seeds | p | q | verdict | seeds to decide |"
    yield "|---|---:|---:|---|---:|---:|---:|---|---:|"
    yield from map(_line, judged)
    yield ""
    sizes = Counter(verdict.claim.family for verdict in judged)
    yield from ("Claims of each family:", "")
    yield from (f"- {family}: {size}" for family, size in sizes.items())
    yield ""


def _line(verdict: Verdict) -> str:
    claim, seeds = verdict.claim, len(verdict.values)
    p, q = (f"{it:.2g}" if seeds > 1 else "" for it in (verdict.p, verdict.q))
    word = f"**{verdict.word}**" if verdict.word else "too few seeds" if seeds else "not yet played"
    if verdict.word == "not tested":
        word += f": {verdict.untested}"
    if verdict.power is not None:
        word += f" (power {verdict.power:.2f})"
    needed = ""
    if verdict.word == "inconclusive":
        needed = str(verdict.seeds_needed or f"> {MOST_SEEDS}")
    names = ", ".join(table.name for table in tables_of(claim))
    cells = (
        f"{claim.says} ({claim.source}; {names})",
        effect_text(claim, verdict.theirs),
        effect_text(claim, verdict.effect) if seeds else "",
        "" if claim.unit == Claim.unit else claim.unit,
        seeds,
        *((p, q) if verdict.word not in (None, "not tested") else ("", "")),
        word,
        needed,
    )
    return f"| {' | '.join(map(str, cells))} |"


def effect_text(claim: Claim, effect: Interval | None) -> str:
    """Return an effect with its interval; of logarithms, the factors."""
    if effect is None or math.isnan(effect.mean):
        return ""
    numbers = [10**it if claim.unit == TIMES else it for it in effect]
    if not finite(effect):
        return brief(numbers[0])
    mean, low, high = map(brief, numbers)
    return f"{mean} [{low}, {high}]"


@functools.cache
def tables_of(claim: Claim) -> tuple[Table, ...]:
    """Return the tables that show a claim's matches or runs, as few as possible."""
    if claim.tables:
        return tuple(EXPERIMENTS[name] for name in claim.tables)
    wanted = {frozenset((line.first, other)) for line in claim.rows for other in line.others}
    tables: list[Table] = []
    while wanted:
        best = max(EXPERIMENTS.values(), key=lambda table: _covered(table, claim, wanted))
        pairs = wanted & _pairs(best, claim)
        if not pairs:
            break
        tables.append(best)
        wanted -= pairs
    return tuple(tables)


def _covered(table: Table, claim: Claim, wanted: set[frozenset[Player]]) -> tuple[int, int]:
    return len(wanted & _pairs(table, claim)), -len(table.rows)


def _pairs(table: Table, claim: Claim) -> set[frozenset[Player]]:
    if table.conditions != claim.conditions or table.measure not in OF_GAMES:
        return set()
    return {frozenset((line.first, other)) for line in table.rows for other in line.others}
