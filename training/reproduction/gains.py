"""Section of the page: players of several tables side by side, and their gains on the first row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from training.reproduction.claims import OWN, Claim
from training.reproduction.effects import Effect, growth, score
from training.reproduction.inference import student
from training.reproduction.plan import Scope
from training.reproduction.results import ResultStore
from training.reproduction.tables import PlayerGame, Row, Table, interval
from training.reproduction.verdicts import effects

BEGIN, END = "<!-- gains -->", "<!-- end of gains -->"  # other pages include the lines between


def lines(tables: Sequence[Table], scope: Scope, store: ResultStore) -> Iterator[str]:
    """Yield a table in Markdown: each player's scores, and its gains on the first row's player.

    Gains are paired by seed: a seed that the first player lacks does not count. Rows are sorted by
    the gain in the last table. Rows that were not played are left out.

    Parameters
    ----------
    tables
        Tables with equal rows.
    scope
        Seeds and scale.
    store
        Results.
    """
    names = [f"at {table.conditions.depth} plies" for table in tables]
    heads = ["player", "seeds", *names, *(f"gain {name}" for name in names)]
    first, rows = tables[0].rows[0], []
    for row in tables[0].rows:
        scores, gains = (
            [_of_both(effect, row, table, scope, store) for table in tables]
            for effect in (_last_score, growth)
        )
        if not all(scores):
            continue
        seeds = dict.fromkeys(str(len(values)) for values in scores)
        cells = [str(row.first), ", ".join(seeds), *map(interval, scores)]
        cells += ["" if row is first else _bold(values) for values in gains]
        rows.append((row is not first, student(gains[-1]).mean, f"| {' | '.join(cells)} |"))
    if rows:
        yield from (BEGIN, _ABOUT.format(base=first.first), "", f"| {' | '.join(heads)} |")
        yield "|---|---|" + "---:|" * (len(heads) - 2)
        yield from (line for *_, line in sorted(rows))
        yield from (END, "")


_ABOUT = (
    "Scores in %, means over seeds with their 95 % intervals. Gains are the differences from "
    "{base} of the same seeds, in bold where the interval is all on one side of 0."
)


def _of_both(
    effect: Effect, row: Row, table: Table, scope: Scope, store: ResultStore
) -> list[float]:
    says = f"{row.first} gains on {table.rows[0].first}"
    pair = (table.rows[0], row)
    return effects(Claim(says, says, OWN, pair, effect, conditions=table.conditions), scope, store)


def _last_score(rows: Sequence[Sequence[PlayerGame]]) -> float:
    return score(rows[-1])


def _bold(gains: Sequence[float]) -> str:
    return interval(gains) if 0 in student(gains) else f"**{interval(gains)}**"
