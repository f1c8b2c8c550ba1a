"""The page in Markdown: verdicts, plots and all tables, from the results alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from checkers_env.files import write_atomically
from training.reproduction import drawn_games, gains, paper_notes
from training.reproduction.claim_text import HOW, claim_table, count, untested_claims
from training.reproduction.claims import Claim
from training.reproduction.jobs import Player, Run
from training.reproduction.own_claims import CHANGES, REASONS
from training.reproduction.paper_claims import CLAIMS
from training.reproduction.papers import coevolution_ablations
from training.reproduction.papers.other_papers import NETS, NETWORKS, UNSATURATED
from training.reproduction.papers.strong_player import SCORES
from training.reproduction.plan import EXPERIMENTS, Scope, figures
from training.reproduction.plots import curves, dots, forest
from training.reproduction.results import ResultStore, TrainingResult
from training.reproduction.table_text import to_markdown
from training.reproduction.tables import Row, Table
from training.reproduction.verdicts import Verdict, jobs_of, verdicts

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


class Section(NamedTuple):
    """Section of the page: its title, pictures, claims, and tables side by side."""

    title: str
    pictures: Iterable[str] = ()
    claims: Sequence[Claim] = ()
    compared: Sequence[Table] = ()


WHY = Section("Why", PANELS, REASONS)
BEYOND = (
    Section("The strong player", ("strength", "ingredients")),
    Section("Evolution that learns", ("learning",), CHANGES, coevolution_ablations.TABLES),
)
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
    """Write the page, and its plots to a folder of the same name beside it.

    Parameters
    ----------
    path
        Markdown file of the page.
    tables
        Tables on the page. Claims that need other jobs are left out.
    scope
        Seeds and scale.
    store
        Results.
    """
    judged = verdicts(_within(CLAIMS, tables, scope), scope, store)
    found = {table.name: figures(table, scope, store) for table in tables}
    pictures = _pictures(judged, scope, store) | _dots(tables, found)

    def pictured(*names: str) -> list[str]:
        links = [f"![{CAPTIONS[it]}]({path.stem}/{it}.svg)" for it in names if it in pictures]
        return [line for link in links for line in (link, "")]

    def lines_of(section: Section) -> list[str]:
        judged = verdicts(_within(section.claims, tables, scope), scope, store)
        body = pictured(*section.pictures)
        if section.compared and set(section.compared) <= set(tables):
            body += gains.lines(section.compared, scope, store)
        body += [*claim_table(judged), *untested_claims(judged)] if judged else ()
        return [f"## {section.title}", "", *body] if body else []

    lines = [*_beginning(tables, scope, store)]
    if judged:
        lines += ["## What the papers claim", "", count(judged), "", *HOW]
        lines += [*pictured("claims"), *claim_table(judged), *untested_claims(judged)]
    lines += paper_notes.sameness_lines(tables, scope, store)
    if set(tables) == set(EXPERIMENTS.values()):
        lines += paper_notes.unrepeatable_lines()
    lines += lines_of(WHY)
    lines += drawn_games.lines(judged, scope, store)
    lines += drawn_games.by_lead(tables, scope, store)
    for section in BEYOND:
        lines += lines_of(section)
    lines += ["## The tables", "", _ABOUT_TABLES, ""]
    for table in tables:
        lines += to_markdown(table, found[table.name])
    path.parent.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        (path.parent / path.stem).mkdir(exist_ok=True)
        write_atomically(path.parent / path.stem / f"{name}.svg", picture)
    write_atomically(path, "\n".join(lines).encode())


_ABOUT_TABLES = (
    "Ours are means over seeds with their 95 % intervals (Student's t); of single games from the "
    "start position, how many seeds won, drew and lost them."
)


def _within(claims: Sequence[Claim], tables: Sequence[Table], scope: Scope) -> list[Claim]:
    """Return the claims whose jobs are all among those of the tables."""
    jobs = set(scope.jobs(tables))
    return [claim for claim in claims if jobs_of(claim, scope) <= jobs]


def _beginning(tables: Sequence[Table], scope: Scope, store: ResultStore) -> Iterator[str]:
    jobs = scope.jobs(tables)
    done = [result for job in jobs if (result := store.result(job)) is not None]
    hours = sum(result.origin.cpu_seconds for result in done) / 3600
    processors = sorted({result.origin.processor for result in done})
    share = f"{len(done)} of {len(jobs)} runs and matches are done"
    yield "# The papers' tables and claims, theirs and ours"
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
