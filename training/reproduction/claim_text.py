"""Claims as Markdown: the table of verdicts, what changed, and why."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from training.reproduction.claims import MARGIN, TIMES, Claim, finite
from training.reproduction.inference import MOST_SEEDS, Interval
from training.reproduction.jobs import Player
from training.reproduction.plan import EXPERIMENTS
from training.reproduction.table_text import link
from training.reproduction.tables import (
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
from training.reproduction.verdicts import LEAST, WORDS, Verdict

OF_GAMES = (RESULTS, BY_MATERIAL, BY_PLAYING_OUT, SCORE, DIFFERENCES, WINS, DRAWS, LOSSES)

# Verdicts of the page before equality was within 3 points and families were corrected, by word.
_FORMER_NAMES = {
    "holds": """
    blondie24-rr > c0; c0-common = blondie24-rr; c10-rr > c0; blondie24-rr > c5-tuple; c10 >
    c5-tuple; c10-rr > c5-tuple; c0 > c1-tuple; blondie24-rr > c1-tuple; c10 > c1-tuple; c10-rr
    > c1-tuple; c5-n0.001 > c0; c1-n0.001 = c0; c1-n0.001 = blondie24-rr; c5-n0.001 = c10;
    c5-n0.001 faster; c5-n0.001 = c1-n0.001; c5-n0.001 > c1-n0.001; c0 > c0-npd; blondie24-rr >
    blondie24-rr-npd; c10 > c10-npd; c5-n0.001 > c5-n0.001-npd; c5-n0.001-4ply > c5-n0.001-1ply;
    MCTS-EPT > alpha-beta; blondie24-1999: step sizes grow; blondie24-1999: saturation;
    blondie24-2001: step sizes grow; blondie24-2001: saturation; c0: step sizes grow; c0:
    saturation; blondie24-rr: step sizes grow; blondie24-rr: saturation; c10: step sizes grow;
    c10: saturation; blondie24-2001 unlearns; c0 unlearns; learns-unsaturated ends higher;
    blondie24-2001: sum > tanh; c0: sum > tanh; random ties: fewer draws; random ties:
    blondie24-rr > c0; random ties: c10 > c0; random ties: c10-rr > c0; unsaturated:
    blondie24-rr > c0; learns-step-size helps; learns-step-limit helps; learns-unsaturated
    helps; learns-games helps; learns-openings helps; learns-hall helps; learns-together helps;
    learns-sep-cma-es helps; learns-openai-es helps; learns helps; learns-openai-es-together
    helps
    """,
    "not shown": """
    red; c10 > blondie24-rr; c10 > c0; C200 < ... < C10; c0 > c1; blondie24-rr > c1; c10-rr >
    blondie24-rr; c10-rr > c10; c0 > c5-tuple; c5-n0.001 > blondie24-rr; c10-rr > c5-n0.001; c10
    > c1-n0.001; c10-rr > c1-n0.001; c5-n0.001 > c5-n0.01; c5-n0.001 > c5-n0.0001; c1-n0.001 >
    c1-n0.01; c1-n0.001 > c1-n0.0001; c0, 1 < ... < 4 plies; blondie24-rr, 1 < ... < 4 plies;
    c10 > c10-1ply; blondie24-rr, growing steps; c0 at 1; c0 at 2; c0 at 3; blondie24-rr at 1;
    blondie24-rr at 2; blondie24-rr at 3; Table 8.1; 2001 levels off above 1999; blondie24-2001
    > blondie24-1999; nguyen improves; nguyen > half; nguyen-safe > nguyen; blondie24-1999
    unlearns; blondie24-rr unlearns; c10 unlearns; learns-unsaturated > blondie24-2001;
    blondie24-2001: whole > quarter; learns-unsaturated: whole > quarter; learns: whole >
    quarter; blondie24-rr: sum > tanh; c10: sum > tanh; c10-rr: sum > tanh; random ties: c10 >
    blondie24-rr; random ties: c10-rr > blondie24-rr; random ties: c10-rr > c10; unsaturated:
    fewer draws; unsaturated: c10 > c0; unsaturated: c10 > blondie24-rr; unsaturated: c10-rr >
    c0; unsaturated: c10-rr > blondie24-rr; unsaturated: c10-rr > c10; learns-common helps;
    learns-recombination helps; learns-league helps
    """,
    "reversed": """
    c0, growing steps; blondie24 by 311 points; hughes > material; learns-unsaturated unlearns
    """,
}
FORMER = {
    name.strip(): word
    for word, names in _FORMER_NAMES.items()
    for name in " ".join(names.split()).split(";")
}
# Claims that were turned round since, and their former names.
RENAMED = {"learns-unsaturated goes on learning": "learns-unsaturated unlearns"}

HOW = (
    "A player is a sample, a game is not. The effect is one figure a seed. Its interval is "
    "Student's t over the seeds, with champions paired by seed. *Theirs* is the paper's effect, "
    "from its printed games. Its interval takes these games as independent. It is not over runs: "
    "the papers have one of each player.",
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
    "A decided claim has q of at most 5 %. q is the false discovery rate among the claims of one "
    "family (Benjamini & Hochberg 1995), of the test that the verdict rests on. p is of the claim "
    f"alone. A verdict needs {LEAST} seeds.",
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
    yield (
        "| claim | theirs | ours [95 % interval] | of theirs | unit | seeds | p | q | verdict "
        "| seeds to decide | before |"
    )
    yield "|---|---:|---:|---:|---|---:|---:|---:|---|---:|---|"
    yield from map(_line, judged)
    yield ""
    sizes = Counter(verdict.claim.family for verdict in judged)
    names = ", ".join(f"{family} ({size})" for family, size in sizes.items())
    yield from (f"Families: {names}.", "")


def change_table(judged: Sequence[Verdict]) -> Iterator[str]:
    """Yield a table of the claims whose verdict is not what it was, each with its reason."""
    lines = [
        f"| {it.claim.says} | {_before(it.claim)} | {it.word} | {reason(it)} |"
        for it in judged
        if it.word and _before(it.claim) not in ("new", it.word)
    ]
    if lines:
        yield from ("### What changed", "", _CHANGED, "")
        yield from ("| claim | before | now | why |", "|---|---|---|---|", *lines, "")


_CHANGED = (
    "There were three verdicts before: holds, not shown (now inconclusive) and reversed. Equality "
    "had a margin of 10 points. One false discovery rate was told for all claims together."
)


def reason(verdict: Verdict) -> str:
    """Return in a line why a claim has its verdict."""
    claim, effect, theirs = verdict.claim, verdict.effect, verdict.theirs
    if verdict.word == "not tested":
        return verdict.untested
    if verdict.word == "equal":
        own = f"; theirs is {brief(theirs.mean)}" if theirs is not None else ""
        return f"the interval is within {MARGIN:g} points{own}"
    if verdict.word == "holds, much smaller":
        assert theirs is not None
        return f"the interval excludes half of theirs ({brief(theirs.mean / 2)})"
    if verdict.word == "inconclusive":
        if claim.kind == "equal" and max(-effect.low, effect.high) < MARGIN:
            return _alone(verdict)
        if claim.kind == "equal":
            excludes = ", though it excludes 0" if 0 not in effect else ""
            return f"the interval is not within {MARGIN:g} points of 0{excludes}"
        if effect.high < 0 and theirs is not None and effect.overlaps(theirs):
            own = effect_text(claim, theirs)
            return f"theirs has an interval of its own, {own}, and ours meets it"
        if 0 not in effect:
            return _alone(verdict)
        return "the interval has 0 in it"
    if theirs is not None and finite(theirs):
        side = "above" if effect.mean > 0 else "below"
        return f"the effect is {side} 0; theirs is {effect_text(claim, theirs)}"
    return f"the interval is all on one side of 0, with q of {verdict.q:.2g}"


def _alone(verdict: Verdict) -> str:
    return f"p is {verdict.p:.2g} alone, but q is {verdict.q:.2g} in its family"


def _before(claim: Claim) -> str:
    """Return the former verdict of a claim in today's words; "new" for a new claim."""
    word = FORMER.get(RENAMED.get(claim.name, claim.name), "new")
    word = "inconclusive" if word == "not shown" else word
    return "equal within 10" if word == "holds" and claim.kind == "equal" else word


def _line(verdict: Verdict) -> str:
    claim, seeds = verdict.claim, len(verdict.values)
    p, q = (f"{it:.2g}" if seeds > 1 else "" for it in (verdict.p, verdict.q))
    word = f"**{verdict.word}**" if verdict.word else "too few seeds" if seeds else "not yet played"
    if verdict.power is not None:
        word += f" (power {verdict.power:.2f})"
    needed = ""
    if verdict.word == "inconclusive":
        needed = str(verdict.seeds_needed or f"> {MOST_SEEDS}")
    links = ", ".join(link(table) for table in tables_of(claim))
    cells = (
        f"{claim.says} ({claim.source}; {links})",
        effect_text(claim, verdict.theirs),
        effect_text(claim, verdict.effect) if seeds else "",
        _share(verdict),
        claim.unit,
        seeds,
        *((p, q) if verdict.word not in (None, "not tested") else ("", "")),
        word,
        needed,
        _before(claim),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _share(verdict: Verdict) -> str:
    """Return which part of the paper's effect ours is, in %."""
    share = verdict.share_of_theirs
    if share is None or verdict.claim.kind == "equal" or verdict.claim.unit == TIMES:
        return ""
    mean, low, high = (f"{round(100 * it)}" for it in share)
    return f"{mean} [{low}, {high}] %"


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
