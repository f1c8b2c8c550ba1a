"""Tables as text: Markdown with its links, what each table rests on, and the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from rich.box import SIMPLE
from rich.table import Column
from rich.table import Table as RichTable

from training.experiments.jobs import Conditions, Player, find_preset, get_preset
from training.experiments.tables import Table
from training.regimes.bootstrap import Bootstrap
from training.regimes.td_learning import TDLearning

ORDINALS = {2: "second", 3: "third", 4: "fourth"}
MOST_BUDGETS = 4  # told below a table; others stand in the table of all budgets
BUDGETS = "training"

Figures = Sequence[Sequence[Sequence[float]]]  # rows x seeds x columns


def heading(table: Table) -> str:
    """Return the title of a table with its name."""
    return f"{table.name}: {table.title}"


def basis(table: Table) -> str:
    """Return the sentences that tell how the games of a table were played, and the training."""
    matches = any(line.others for line in table.rows)
    sentences = [_matches(table.conditions, _ties(table))] if matches else []
    budgets = _budgets(table) if matches else {}
    if budgets and len(budgets) <= MOST_BUDGETS:
        for budget, names in budgets.items():
            sentences.append(f"{', '.join(f'`{name}`' for name in names)}: {budget}.")
    elif budgets:
        sentences.append(f"Each player's training stands in `{BUDGETS}`.")
    return " ".join(sentences)


def _matches(conditions: Conditions, ties: str) -> str:
    cards = (
        f"{conditions.games} games from sampled cards of the {conditions.ballot} ballot"
        if conditions.games
        else f"every card of the {conditions.ballot} ballot with both colours, and the start "
        "position"
    )
    repetition = conditions.repetition
    draws = f", or when a position stands for the {ORDINALS[repetition]} time" if repetition else ""
    ties = ties[0].upper() + ties[1:]
    drawn = f"Drawn after 100 moves a side{draws}"
    return f"Matches at {conditions.depth} plies: {cards}. {drawn}. {ties}."


def _ties(table: Table) -> str:
    """Return how the players of a table choose between equally good moves."""
    players = [player for line in table.rows for player in (line.first, *line.others)]
    rules = dict.fromkeys(_tie(player, table.conditions) for player in players)
    return f"{' or '.join(rules)} of equal moves is made"


def _tie(player: Player, conditions: Conditions) -> str:
    """Return the rule of a player's match, of its own, or of its training."""
    preset = find_preset(player.name)
    regime: Any = preset.regime if preset else None
    tie = player.tie or conditions.tie or getattr(regime, "tie", None) or "first"
    if tie == "chance":
        return "a random one"
    order = conditions.order or getattr(regime, "order", None) or "direction"
    return f"the {tie}" if order == "direction" else f"the {tie} (in the order by {order})"


def _budgets(table: Table) -> dict[str, list[str]]:
    """Return the names of the trained players by their budget."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for line in table.rows:
        for player in (line.first, *line.others):
            if player.trained:
                found[budget(player)][player.name] = None
    return {text: list(names) for text, names in found.items()}


def budget(player: Player) -> str:
    """Return the games of a player's training, and the plies of the search in them."""
    regime: Any = get_preset(player.name).regime
    generations = player.generations or get_preset(player.name).generations
    games = f"{generations} x {regime.games} games"
    return f"{games} {search_in_training(player.name)}"


def search_in_training(name: str) -> str:
    """Return the search by which a preset selects moves in training, e.g. ``at 4 plies``."""
    preset = find_preset(name)
    assert preset is not None
    regime: Any = preset.regime
    if getattr(regime, "simulations", 0):
        return f"by {regime.simulations} playouts a move"
    if isinstance(regime, Bootstrap):
        return f"by {regime.nodes} positions a move"
    plies = regime.search if isinstance(regime, TDLearning) else regime.depth
    return f"at {plies} pl{'y' if plies == 1 else 'ies'}" if plies else "without search"


def to_markdown(table: Table, figures: Figures) -> Iterator[str]:
    """Yield the lines of a table in Markdown; our figures are rows x seeds x columns."""
    yield from (f"## {heading(table)}", "")
    if table.note:
        yield from (table.note, "")
    if text := basis(table):
        yield from (f"*{text}*", "")
    columns = table.measure.columns
    yield f"| player | {_second(table)} | | {' | '.join(columns)} |"
    yield "|---|---|---|" + "---:|" * len(columns)
    yield from (_line(*cells) for cells in _cells(table, figures))
    yield ""


def to_terminal(table: Table, figures: Figures) -> RichTable:
    """Return a table for the terminal."""
    columns = [Column(name, justify="right") for name in table.measure.columns]
    shown_as = RichTable(
        *("player", _second(table), ""),
        *columns,
        title=heading(table),
        caption=basis(table),
        box=SIMPLE,
    )
    for cells in _cells(table, figures):
        shown_as.add_row(*cells)
    return shown_as


def _cells(table: Table, figures: Figures) -> Iterator[list[str]]:
    """Yield the cells of each line: theirs where a paper prints them, then ours."""
    columns = table.measure.columns
    for line, ours in zip(table.rows, figures, strict=True):
        several = len(line.others) > 1
        second = "all of them" if several else str(line.others[0]) if line.others else ""
        second = second or budget(line.first)
        if line.theirs:
            theirs = [str(it) for it in line.theirs] + [""] * (len(columns) - len(line.theirs))
            yield [str(line.first), second, "theirs", *theirs]
        note = f"ours, {len(ours)} seed{'s' if len(ours) > 1 else ''}" if ours else "not yet played"
        cells = [table.measure.show(values) for values in zip(*ours, strict=True)]
        yield [str(line.first), second, note, *(cells or [""] * len(columns))]


def _second(table: Table) -> str:
    """Return the title of the second column."""
    return "against" if any(line.others for line in table.rows) else "training"


def _line(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"
