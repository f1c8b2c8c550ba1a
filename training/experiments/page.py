"""The pages in Markdown, from the results alone: the verdicts, and all tables with plots."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from checkers_env.files import write_atomically
from training.experiments.claims import OWN, OWN_CLAIMS, PAPER_CLAIMS, Claim
from training.experiments.effects import ABOVE_HALF, EFFECTS, TIMES
from training.experiments.inference import Interval
from training.experiments.jobs import Player, Run
from training.experiments.measures import brief
from training.experiments.plan import Scope, figures
from training.experiments.plots import curves, dots, forest
from training.experiments.results import ResultStore, TrainingResult
from training.experiments.sameness import sameness_rows
from training.experiments.table_text import to_markdown
from training.experiments.tables import EXPERIMENTS, Row, Table, read_tsv
from training.experiments.verdicts import LABELS, Verdict, jobs_of, measure, verdicts

SATURATED = ("blondie24-1999", "blondie24-2001")
PANELS: dict[str, tuple[Sequence[str], Sequence[tuple[str, str]]]] = {
    "curves": (
        (*SATURATED, "learns-unsaturated"),
        (
            ("curve/heuristic", "against the heuristic player"),
            ("curve/material", "against the piece counter, 1 ply"),
        ),
    ),
    "reasons": (
        (*SATURATED, "c0", "blondie24-rr", "c10"),
        (
            ("step/mean", "mean step size"),
            ("champion/saturated", "share of saturated outputs"),
            ("games/draws", "share of drawn games"),
        ),
    ),
}
# Pictures of scores against the piece counter: for each label a table and its column.
DOTS = {
    "learning": {"at 4 plies": ("learns-4-plies", 0), "at 6 plies": ("learns-6-plies", 0)},
}
CAPTIONS = {
    "claims": "Effects and intervals of the claims.",
    "curves": "Parents against the yardsticks over the generations: mean payoff (+1, 0, -2).",
    "reasons": "What happens to the networks: step sizes, saturated outputs, and drawn games.",
    "learning": "Champions of changed evolution against the piece counter.",
}
SECTIONS = {"The papers' claims": PAPER_CLAIMS, "Our own claims": OWN_CLAIMS}
CLAIM_COLUMNS = ("claim", "theirs", "ours [95 %]", "seeds", "p", "q", "here", "the claim")
ENDPOINT_COLUMNS = (
    *("claim", "score above 50 %", "piece difference of drawn games"),
    "score against the panel, less the opponent's",
)
SAME_COLUMNS = ("claim", "theirs", "ours: chi-square", "p", "q", "what it shows", "the claim")


def write_page(path: Path, tables: Sequence[Table], scope: Scope, store: ResultStore) -> None:
    """Write the page of the tables, and its plots to a folder of the same name beside it."""
    judged = verdicts(_within(PAPER_CLAIMS, tables, scope), scope, store)
    found = {table.name: figures(table, scope, store) for table in tables}
    lines = [*_beginning("The papers' tables, theirs and ours", tables, scope, store)]
    pictures = _pictures(judged, scope, store) | _dots(tables, found)
    (path.parent / path.stem).mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        write_atomically(path.parent / path.stem / f"{name}.svg", picture)
        lines += [f"![{CAPTIONS[name]}]({path.stem}/{name}.svg)", ""]
    if set(tables) == set(EXPERIMENTS.values()):
        rows = [list(line.values()) for line in read_tsv("unrepeatable")]
        lines += ["## What cannot be repeated", "", *_table(("what", "source", "why"), rows)]
    if rows := list(endpoint_rows(judged, scope, store)):
        lines += ["## Other endpoints", "", *_table(ENDPOINT_COLUMNS, rows)]
    lines += ["## The tables", "", _ABOUT_TABLES, ""]
    for table in tables:
        lines += to_markdown(table, found[table.name])
    write_atomically(path, "\n".join(lines).encode())


def write_verdicts(path: Path, tables: Sequence[Table], scope: Scope, store: ResultStore) -> None:
    """Write the page of the verdicts on claims; claims that need other tables are left out."""
    lines = [*_beginning("Verdicts", tables, scope, store)]
    for title, claims in SECTIONS.items():
        if judged := verdicts(_within(claims, tables, scope), scope, store):
            lines += [f"## {title}", "", count(judged), ""]
            lines += _table(CLAIM_COLUMNS, map(cells, judged))
    if same := list(sameness_rows(tables, scope, store)):
        lines += ["## Claims that players or runs are the same", "", _ABOUT_SAMENESS, ""]
        lines += _table(SAME_COLUMNS, same)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "\n".join(lines).encode())


_ABOUT_TABLES = (
    "Ours are means over seeds with their 95 % intervals (Student's t); of single games from the "
    "start position, how many seeds won, drew and lost them."
)
_ABOUT_SAMENESS = (
    "Chi-squares test whether players are equal. *Ours* takes the ballot's cards as independent. "
    "*Theirs* has the wins and losses of each pair in the thesis's table. Independent games of "
    "equal players give about its degrees of freedom. It is far less."
)


def count(judged: Sequence[Verdict]) -> str:
    """Return a sentence with the number of claims by verdict."""
    words = Counter(verdict.label for verdict in judged)
    counts = [f"{words[label]} {label.replace(',', ' but')}" for label in LABELS if words[label]]
    counts += [f"{words[None]} waiting for seeds"] if words[None] else []
    return f"{len(judged)} claims: {', '.join(counts)}. [How verdicts are made](reproducing.md)."


def cells(verdict: Verdict) -> list[str]:
    """Return the cells of a claim under CLAIM_COLUMNS."""
    claim, measured = verdict.claim, verdict.measured
    shown = [table.name for table in claim.tables]
    places = "; ".join([*([] if claim.source == OWN else [claim.source]), *shown])
    unit = "" if claim.unit == ABOVE_HALF else f" {claim.unit}"
    theirs = effect_text(claim, claim.theirs)
    if verdict.has_their_size is not None:
        theirs += ", inside" if verdict.has_their_size else ", outside"
    why = claim.untestable or claim.reading
    label = f"**{verdict.label or 'too few seeds'}**"
    return [
        f"{claim.statement} ({places})",
        theirs,
        effect_text(claim, measured.estimate.interval) + unit,
        measured.seeds,
        *(f"{it:.2g}" if verdict.finding else "" for it in (verdict.p, verdict.q)),
        verdict.finding or "",
        f"{label}: {why}" if why else label,
    ]


def effect_text(claim: Claim, effect: Interval | None) -> str:
    """Return an effect with its interval, if it has one; of logarithms, the factors."""
    if effect is None or math.isnan(effect.mean):
        return ""
    numbers = [brief(10**it if claim.unit == TIMES else it) for it in effect if math.isfinite(it)]
    return numbers[0] if len(numbers) == 1 else "{} [{}, {}]".format(*numbers)


def endpoint_rows(judged: list[Verdict], scope: Scope, store: ResultStore) -> Iterator[list[str]]:
    """Yield each claim on pairings, with the endpoints beside its own, which decide nothing."""
    for measured in (verdict.measured for verdict in judged):
        claim = measured.claim
        if claim.seeds and claim.effect == EFFECTS[""]:
            others = [replace(claim, effect=EFFECTS[name]) for name in ("drawn-lead", "panel")]
            found = [measured, *(measure(it, scope, store) for it in others)]
            yield [claim.statement, *(effect_text(it.claim, it.estimate.interval) for it in found)]


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a table, without columns that are empty in all rows."""
    rows = [*rows]
    kept = [at for at in range(len(columns)) if any(row[at] for row in rows)]
    for line in (columns, ["---"] * len(columns), *rows):
        yield f"| {' | '.join(line[at] for at in kept)} |"
    yield ""


def _within(claims: Sequence[Claim], tables: Sequence[Table], scope: Scope) -> list[Claim]:
    """Return the claims whose jobs are all among those of the tables."""
    jobs = set(scope.jobs(tables))
    return [claim for claim in claims if jobs_of(claim, scope) <= jobs]


def _beginning(
    title: str, tables: Sequence[Table], scope: Scope, store: ResultStore
) -> Iterator[str]:
    jobs = scope.jobs(tables)
    done = [result for job in jobs if (result := store.result(job)) is not None]
    hours = sum(result.origin.cpu_seconds for result in done) / 3600
    processors = sorted({result.origin.processor for result in done})
    yield from (f"# {title}", "")
    yield (
        f"Written by `python training/reproduce.py` from the results; {len(done)} of {len(jobs)} "
        f"runs and matches are done, in {hours:.1f} CPU-hours"
        f"{' on ' + ', '.join(processors) if processors else ''}."
    )
    yield ""


def _pictures(judged: Sequence[Verdict], scope: Scope, store: ResultStore) -> dict[str, bytes]:
    found = {}
    if scores := [it for it in judged if it.claim.unit == ABOVE_HALF and it.measured.values]:
        found["claims"] = forest(scores)
    for name, (players, panels) in PANELS.items():
        runs = {player: done for player in players if (done := _runs(player, scope, store))}
        if runs:
            found[name] = curves(runs, panels)
    return found


def _dots(
    tables: Sequence[Table], found: Mapping[str, Sequence[Sequence[Sequence[float]]]]
) -> dict[str, bytes]:
    """Return the pictures of tables that have values."""
    rows = {table.name: table.rows for table in tables}
    drawn = {}
    for picture, columns in DOTS.items():
        values = {
            label: {
                str(row.first): [seed[column] for seed in seeds]
                for row, seeds in zip(rows[name], found[name], strict=True)
                if seeds
            }
            for label, (name, column) in columns.items()
            if name in rows
        }
        if any(values.values()):
            drawn[picture] = dots(values, "score, %")
    return drawn


def _runs(player: str, scope: Scope, store: ResultStore) -> list[TrainingResult]:
    """Return the results of a player's finished runs."""
    jobs = [job for seed in scope.games(Row(Player(player))) for job, _ in seed]
    results = [store.result(job) for job in jobs if isinstance(job, Run)]
    return [result for result in results if isinstance(result, TrainingResult)]
