"""The page of what is true: verdicts, plots, and every table, from the records alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from checkers_env.files import write_atomically
from training.experiments import draws
from training.experiments.claims import CLAIMS, MARGIN, REASONS, Claim
from training.experiments.ingredients import BASE
from training.experiments.jobs import Player, Run
from training.experiments.others import NETWORKS
from training.experiments.pictures import curves, forest
from training.experiments.plan import Job, Ledger, Scope, figures
from training.experiments.records import Trained
from training.experiments.strong import SCORES
from training.experiments.tables import Row, Table, brief, shown
from training.experiments.verdict import LEAST, Verdict, verdicts

NETS = (*NETWORKS, "c0", "blondie24-rr", "c10")
PANELS: dict[str, tuple[str, Sequence[str], Sequence[tuple[str, str]]]] = {
    "curves": (
        "Parents against the yardsticks over the generations: mean payoff (+1, 0, -2).",
        NETWORKS,
        (
            ("curve/heuristic", "against the heuristic player"),
            ("curve/material", "against the piece counter, 1 ply"),
        ),
    ),
    "reasons": (
        "What happens to the networks: step sizes, saturated outputs, and drawn games.",
        NETS,
        (
            ("step/mean", "mean step size"),
            ("champion/saturated", "share of saturated outputs"),
            ("games/draws", "share of drawn games"),
        ),
    ),
}
GROWTH = (
    ("strong", BASE, *(f"strong-{plies}" for plies in ("1-ply", "2-plies", "6-plies", "no-tree"))),
    [(name, f"score at {plies} plies") for plies, name in SCORES.items()],
)


def write_page(path: Path, tables: Sequence[Table], scope: Scope, ledger: Ledger) -> None:
    """Write the page in Markdown, and its plots into a folder beside it that has its name."""
    judged = verdicts(_within(CLAIMS, tables, scope), scope, ledger)
    reasons = verdicts(_within(REASONS, tables, scope), scope, ledger)
    pictures = _pictures(judged, scope, ledger)
    lines = [*_beginning(tables, scope, ledger)]
    lines += _claims("What the papers claim", judged, pictures, path.stem)
    lines += _claims("Why", reasons, pictures, path.stem)
    lines += draws.lines(judged, scope, ledger)
    if "strength" in pictures:
        lines += ["## The strong player", "", f"![{_GROWTH}]({path.stem}/strength.svg)", ""]
    lines += ["## The tables", "", _ABOUT_TABLES, ""]
    for table in tables:
        lines += shown(table, figures(table, scope, ledger))
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        (path.parent / path.stem).mkdir(exist_ok=True)
        write_atomically(path.parent / path.stem / f"{name}.svg", picture)
    write_atomically(path, "\n".join(lines).encode())


_GROWTH = (
    "Scores of players that learn by deep searches against the piece counter, both at 4 or at 6 "
    "plies, by the CPU time of their training."
)
_ABOUT_TABLES = (
    "Ours are means over seeds with their 95 % intervals (Student's t); of single games from the "
    "start position, how many seeds won, drew and lost them."
)


def _within(claims: Sequence[Claim], tables: Sequence[Table], scope: Scope) -> list[Claim]:
    """The claims that the tables have all jobs of."""
    jobs = set(scope.jobs(tables))
    return [claim for claim in claims if jobs_of(claim, scope) <= jobs]


def jobs_of(claim: Claim, scope: Scope) -> set[Job]:
    """What must be done to judge a claim."""
    return {job for line in claim.rows for seed in scope.games(line) for job, _ in seed}


def _beginning(tables: Sequence[Table], scope: Scope, ledger: Ledger) -> Iterator[str]:
    jobs = scope.jobs(tables)
    done = [result for job in jobs if (result := ledger.result(job)) is not None]
    hours = sum(result.origin.cpu_seconds for result in done) / 3600
    processors = sorted({result.origin.processor for result in done})
    share = f"{len(done)} of {len(jobs)} runs and matches are done"
    yield "# The papers' tables and claims, theirs and ours"
    yield ""
    yield (
        f"Written by `python training/reproduce.py` from the records; {share}, in {hours:.1f} "
        f"CPU-hours{' on ' + ', '.join(processors) if processors else ''}."
    )
    yield ""


def _claims(
    title: str, judged: Sequence[Verdict], pictures: Mapping[str, bytes], folder: str
) -> Iterator[str]:
    if not judged:
        return
    yield from (f"## {title}", "")
    if title == "Why":
        shown_here = [name for name in PANELS if name in pictures]
    else:
        words = Counter(verdict.word for verdict in judged)
        told = [f"{words[word]} {word}" for word in ("holds", "not shown", "reversed")]
        waiting = f", {words[None]} wait for more seeds" if words[None] else ""
        yield from (f"Of {len(judged)} claims: {', '.join(told)}{waiting}.", "", _HOW, "")
        shown_here = [name for name in ("claims",) if name in pictures]
    for name in shown_here:
        caption = PANELS[name][0] if name in PANELS else "Effects and intervals of the claims."
        yield from (f"![{caption}]({folder}/{name}.svg)", "")
    yield "| claim | source | effect [95 % interval] | unit | seeds | p | verdict |"
    yield "|---|---|---:|---|---:|---:|---|"
    yield from map(_line, judged)
    yield ""


_HOW = (
    "A player is a sample, a game is not: the effect is one figure a seed, its interval is "
    "Student's t over the seeds, champions being paired by seed. **Holds**: the whole interval "
    "is on the claim's side of its bar (0 where none is named). **Reversed**: the whole interval "
    "is on the other side. **Not shown**: neither. Claims that two are equal hold where the "
    f"interval is within {MARGIN:g} points of score. There is no verdict below {LEAST} seeds. With "
    "so many claims at 95 %, one in forty may err to either side by chance."
)


def _line(verdict: Verdict) -> str:
    claim, seeds = verdict.claim, len(verdict.values)
    effect = "" if not seeds else brief(verdict.mean)
    if np.isfinite(verdict.low):
        effect += f" [{brief(verdict.low)}, {brief(verdict.high)}]"
    bar = f" > {claim.bar:g}" if claim.bar else ""
    p = f"{verdict.p:.2g}" if seeds > 1 else ""
    word = f"**{verdict.word}**" if verdict.word else "too few seeds" if seeds else "not yet played"
    return (
        f"| {claim.says} | {claim.source} | {effect} | {claim.unit}{bar} | {seeds} | {p} | {word} |"
    )


def _pictures(judged: Sequence[Verdict], scope: Scope, ledger: Ledger) -> dict[str, bytes]:
    found = {}
    scores = [it for it in judged if it.claim.unit == Claim.unit and it.values]
    if scores:
        found["claims"] = forest(scores)
    for name, (_, players, panels) in PANELS.items():
        runs = {player: done for player in players if (done := _runs(player, scope, ledger))}
        if runs:
            found[name] = curves(runs, panels)
    grown = {player: done for player in GROWTH[0] if (done := _runs(player, scope, ledger))}
    if grown:
        found["strength"] = curves(grown, GROWTH[1], timed=True)
    return found


def _runs(player: str, scope: Scope, ledger: Ledger) -> list[Trained]:
    """The finished runs of a player."""
    jobs = [job for seed in scope.games(Row(Player(player), (), ())) for job, _ in seed]
    results = [ledger.result(job) for job in jobs if isinstance(job, Run)]
    return [result for result in results if isinstance(result, Trained)]
