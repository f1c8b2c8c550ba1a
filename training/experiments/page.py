"""The pages in Markdown, from the results alone: the verdicts, and all tables with plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from checkers_env.files import write_atomically
from training.experiments import paper_notes
from training.experiments.claim_text import HOW, claim_table, count
from training.experiments.claims import Claim
from training.experiments.effects import (
    LEAD,
    advantage,
    decided,
    share_drawn,
    share_led,
)
from training.experiments.jobs import Player, Run
from training.experiments.own_claims import CHANGES, REASONS
from training.experiments.paper_claims import CLAIMS
from training.experiments.papers.other_papers import NETS, NETWORKS, UNSATURATED
from training.experiments.papers.strong_player import SCORES
from training.experiments.plan import EXPERIMENTS, Scope, figures
from training.experiments.plots import curves, dots, forest
from training.experiments.results import ResultStore, TrainingResult
from training.experiments.table_text import to_markdown
from training.experiments.tables import Row, Table, brief, interval
from training.experiments.verdicts import Verdict, effects, jobs_of, verdicts

PANELS: dict[str, tuple[Sequence[str], Sequence[tuple[str, str]]]] = {
    "curves": (
        (*NETWORKS, UNSATURATED),
        (
            ("curve/heuristic", "against the heuristic player"),
            ("curve/material", "against the piece counter, 1 ply"),
        ),
    ),
    "reasons": (
        (*NETWORKS, *NETS),
        (
            ("step/mean", "mean step size"),
            ("champion/saturated", "share of saturated outputs"),
            ("games/draws", "share of drawn games"),
        ),
    ),
}
GROWTH = (
    (
        "strong-1",
        "strong-base",
        *(f"strong-{plies}" for plies in ("1-ply", "2-plies", "6-plies", "no-tree")),
    ),
    [(name, f"score at {plies} plies") for plies, name in SCORES.items()],
)
# Pictures of scores against the piece counter: for each label a table and its column.
DOTS = {
    "ingredients": {
        "at 4 plies": ("strong-ingredients", 0),
        "at 6 plies": ("strong-ingredients", 1),
    },
    "learning": {"at 4 plies": ("learns-4-plies", 0), "at 6 plies": ("learns-6-plies", 0)},
}


SECTIONS = {"What the papers claim": CLAIMS, "Why": REASONS, "Evolution that learns": CHANGES}
CAPTIONS = {
    "claims": "Effects and intervals of the claims.",
    "curves": "Parents against the yardsticks over the generations: mean payoff (+1, 0, -2).",
    "reasons": "What happens to the networks: step sizes, saturated outputs, and drawn games.",
    "strength": "Scores of players that learn by deep searches against the piece counter, both at 4"
    " or at 6 plies, by the CPU time of their training.",
    "ingredients": "The strong player after a minute, without one ingredient at a time: scores "
    "against the piece counter.",
    "learning": "Champions of changed evolution against the piece counter.",
}


def write_page(path: Path, tables: Sequence[Table], scope: Scope, store: ResultStore) -> None:
    """Write the page of the tables, and its plots to a folder of the same name beside it."""
    judged = verdicts(_within(CLAIMS, tables, scope), scope, store)
    found = {table.name: figures(table, scope, store) for table in tables}
    lines = [*_beginning("The papers' tables, theirs and ours", tables, scope, store)]
    pictures = _pictures(judged, scope, store) | _dots(tables, found)
    (path.parent / path.stem).mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        write_atomically(path.parent / path.stem / f"{name}.svg", picture)
        lines += [f"![{CAPTIONS[name]}]({path.stem}/{name}.svg)", ""]
    if set(tables) == set(EXPERIMENTS.values()):
        lines += paper_notes.unrepeatable_lines()
    lines += drawn_lines(judged, scope, store)
    lines += ["## The tables", "", _ABOUT_TABLES, ""]
    for table in tables:
        lines += to_markdown(table, found[table.name])
    write_atomically(path, "\n".join(lines).encode())


def write_verdicts(path: Path, tables: Sequence[Table], scope: Scope, store: ResultStore) -> None:
    """Write the page of the verdicts on claims; claims that need other tables are left out."""
    lines = [*_beginning("Verdicts", tables, scope, store)]
    for title, claims in SECTIONS.items():
        if not (judged := verdicts(_within(claims, tables, scope), scope, store)):
            continue
        lines += [f"## {title}", ""]
        if claims is CLAIMS:
            lines += [count(judged), "", *HOW]
        lines += claim_table(judged)
    lines += paper_notes.sameness_lines(tables, scope, store)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "\n".join(lines).encode())


_ABOUT_TABLES = (
    "Ours are means over seeds with their 95 % intervals (Student's t); of single games from the "
    "start position, how many seeds won, drew and lost them."
)


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
    share = f"{len(done)} of {len(jobs)} runs and matches are done"
    yield f"# {title}"
    yield ""
    yield (
        f"Written by `python training/reproduce.py` from the results; {share}, in {hours:.1f} "
        f"CPU-hours{' on ' + ', '.join(processors) if processors else ''}."
    )
    yield ""


def _pictures(judged: Sequence[Verdict], scope: Scope, store: ResultStore) -> dict[str, bytes]:
    found = {}
    scores = [it for it in judged if it.claim.unit == Claim.unit and it.values]
    if scores:
        found["claims"] = forest(scores)
    for name, (players, panels) in PANELS.items():
        runs = {player: done for player in players if (done := _runs(player, scope, store))}
        if runs:
            found[name] = curves(runs, panels)
    grown = {player: done for player in GROWTH[0] if (done := _runs(player, scope, store))}
    if grown:
        found["strength"] = curves(grown, GROWTH[1], timed=True)
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
    jobs = [job for seed in scope.games(Row(Player(player), (), ())) for job, _ in seed]
    results = [store.result(job) for job in jobs if isinstance(job, Run)]
    return [result for result in results if isinstance(result, TrainingResult)]


def drawn_lines(judged: Sequence[Verdict], scope: Scope, store: ResultStore) -> Iterator[str]:
    """Yield the section in Markdown: every claim about scores, as played and decided."""
    scores = [it for it in judged if it.claim.effect is advantage and it.values]
    if not scores:
        return
    claims: list[Claim] = [it.claim for it in scores]
    again = verdicts([replace(claim, effect=decided) for claim in claims], scope, store)
    yield from ("## Drawn games", "", _ABOUT_DRAWN, "")
    yield (
        f"| claim | drawn, % | of them with a lead of {LEAD} pieces, % | effect as played "
        "| effect if draws go to the side with more pieces | verdict then |"
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


_ABOUT_DRAWN = (
    "A game is drawn after 100 moves of each side, even if one is ahead. These are the claims "
    "about scores once more, with every drawn game given to the side that has more pieces at its "
    "end."
)
