"""The zoo's players: the best seed of each, their model cards and their leaderboard."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from agents.agent_spec import WEIGHTS_SUFFIX
from training.experiments.jobs import PLAYERS, Run, run_of, with_seed
from training.experiments.measures import score
from training.experiments.plan import Scope, outcome_of
from training.experiments.results import ResultStore, TrainingResult
from training.experiments.tables import EXPERIMENTS, STRONG
from training.report.standings import StandingsRow
from training.trainer.presets import TD_PRESETS

NEAREST = 5  # stronger players that a card names


class Choice(NamedTuple):
    """A player's best seed, and the scores of all its seeds in the validation, in %.

    A player that measures itself has no scores. Its weights are in the zoo only.
    """

    run: Run
    result: TrainingResult
    scores: dict[int, float]


def choose(scope: Scope, store: ResultStore) -> dict[str, Choice]:
    """Return the best seed of each player that finished a validation; of equal ones the first."""
    found, validation = {}, EXPERIMENTS["validation"]
    for line in validation.rows:
        scores, runs = {}, dict[int, tuple[Run, TrainingResult]]()
        for seed, jobs in enumerate(scope.games(line, validation.conditions)):
            games = outcome_of(jobs, store)
            run = run_of(with_seed(line.first, seed), scope.scale)
            trained = store.result(run)
            if isinstance(trained, TrainingResult) and isinstance(games, list):
                scores[seed], runs[seed] = score(games), (run, trained)
        if scores:
            best = max(scores, key=lambda seed: scores[seed])
            found[line.first.name] = Choice(*runs[best], scores)
    alone = run_of(STRONG, scope.scale)
    if isinstance(trained := store.result(alone), TrainingResult):
        found[STRONG.name] = Choice(alone, trained, {})
    return found


def card(
    name: str,
    choice: Choice,
    ratings: Mapping[str, str],
    drawn: float,
    alone: Sequence[StandingsRow],
    found: Sequence[str],
) -> str:
    """Return the card of a player in Markdown.

    The ratings are those of the common league by name, the best first, and `drawn` is the player's
    share of drawn games there. The standings and the findings are those of its examination.
    """
    names = list(ratings)
    place = names.index(name)
    return "\n".join(
        [
            f"# {name}",
            "",
            *_training(choice),
            "",
            "## Strength",
            "",
            f"{ratings[name]} Elo, place {place + 1} of {len(names)} in the common league. "
            "All of the zoo and the yardsticks play there at 4 plies, 86 games a pair from the "
            "two-move ballot. 0 is the piece counter at 4 plies.",
            "",
            "| in its examination | Elo [95 %] | games |",
            "|---|---|---:|",
            *(f"| {line.name} | {rating(line)} | {line.games} |" for line in alone),
            "",
            *(f"- {sentence}" for sentence in found),
            "",
            "## Known weaknesses",
            "",
            *(
                list(_weaknesses(name, choice, names[:place], drawn, alone))
                or ["None was seen in these games."]
            ),
            "",
        ]
    )


def read_ratings(leaderboard: str) -> dict[str, str]:
    """Return the ratings of the leaderboard's page by name, the best first."""
    rows = re.findall(r"^\| \d+ \| (?:\[([^]]+)\]\S*|\*([^*]+)\*) \| ([^|]+) \|", leaderboard, re.M)
    return {trained or yardstick: rated for trained, yardstick, rated in rows}


def command(choice: Choice) -> str:
    """Return the command line that trains the player."""
    script = "td.py" if choice.run.preset in TD_PRESETS else "evolve.py"
    return f"python training/{script} {choice.run.preset} --seed {choice.run.seed}"


def _training(choice: Choice) -> Iterator[str]:
    preset = PLAYERS[choice.run.preset]
    origin = choice.result.origin
    yield f"{preset.what[0].upper()}{preset.what[1:]} ({preset.source})."
    yield ""
    yield (
        f"Trained by `{command(choice)}`: {preset.games:,} games, {origin.cpu_seconds:.0f} "
        f"CPU-seconds ({origin.processor})."
    )
    if not choice.scores:
        return
    shown = ", ".join(f"{seed}: {points:.1f} %" for seed, points in sorted(choice.scores.items()))
    chosen = "the only one so far" if len(choice.scores) == 1 else f"of {len(choice.scores)}"
    best = max(choice.scores, key=lambda seed: choice.scores[seed])
    told = f"Its seed, {chosen}, is the best in 160 games of the validation league, which no other "
    if best != choice.run.seed:
        told = (
            f"Its seed was the best when the zoo was filled; seed {best} is better since. The 160 "
            "games are those of the validation league, which no other "
        )
    yield f"{told}table uses. Scores by seed: {shown}."


def _weaknesses(
    name: str, choice: Choice, above: Sequence[str], drawn: float, alone: Sequence[StandingsRow]
) -> Iterator[str]:
    if above:
        nearest = ", ".join(above[-NEAREST:])
        rest = len(above) - NEAREST
        yield f"- Weaker than {nearest}{f', and {rest} others' if rest > 0 else ''}."
    depths = {int(line.name[len(name) + 8 : -1]): line for line in alone if at(name, line)}
    if depths:
        best = max(depths, key=lambda depth: depths[depth].elo)
        for depth, line in sorted(depths.items()):
            if depth > best and line.high < depths[best].low:
                yield f"- At {depth} plies weaker than at {best}: its values mislead deeper."
    if drawn > 0.5:
        yield f"- {drawn:.0%} of its games in the common league are drawn."
    if choice.scores:  # a player of the papers
        yield "- It knows no draw rule, and no endings: it may let a win slip (`endgame=4` helps)."


def at(name: str, line: StandingsRow) -> bool:
    """Return whether a line of an examination is about the player itself, at some depth."""
    return line.name.startswith(f"{name} (depth ")


def leaderboard(
    kept: Mapping[str, Choice], lines: Sequence[StandingsRow], visited: Mapping[str, float]
) -> str:
    """Return the table of all players in Markdown, the best first."""
    rows = []
    for place, line in enumerate(lines, 1):
        if line.name not in kept:
            rows.append(f"| {place} | *{line.name}* | {rating(line)} | | | |")
            continue
        choice = kept[line.name]
        rows.append(
            f"| {place} | [{line.name}]({line.name}{WEIGHTS_SUFFIX}) | {rating(line)} "
            f"| {visited[line.name]:.0f} | {_in_short(choice)} | `{command(choice)}` |"
        )
    return "\n".join([*COLUMNS, *rows, ""])


def front_page(
    kept: Collection[str], lines: Sequence[StandingsRow], shown: Mapping[str, str]
) -> str:
    """Return a short table for newcomers in Markdown, the best first.

    `kept` are the trained players, and `shown` the plain words on each player of the table.
    """
    rows = []
    for line in lines:
        if line.name not in shown:
            continue
        name = line.name if line.name in kept else f"*{line.name.partition(' (')[0]}*"
        rows.append(f"| {name} | {_front_rating(line)} | {shown[line.name]} |")
    columns = ("| player | Elo | 95 % interval | what it is |", "|---|---:|---|---|")
    return "\n".join([*columns, *rows, ""])


def _front_rating(line: StandingsRow) -> str:
    if line.low == line.high:  # the anchor
        return f"{line.elo:.0f} | "
    return f"{line.elo:+.0f} | {line.low:+.0f} to {line.high:+.0f}"


HUB_CARD = """---
license: mit
library_name: checkers-laboratory
pipeline_tag: reinforcement-learning
tags:
- checkers
- draughts
model-index:
- name: {name}
  results:
  - task:
      type: reinforcement-learning
    dataset:
      type: checkers_env/checkers-v0
      name: the zoo's league, 86 games a pair from the two-move ballot
    metrics:
    - type: elo
      name: Elo and its 95 % interval
      value: "{rating}"
---

{card}
## Use

With `checkers-laboratory` installed, beside this folder:

```python
import agents

agent = agents.make("./{name}")
```
"""
HEAD = (
    "# The zoo",
    "",
    "Trained players that `agents.make(NAME)` loads, and the yardsticks. "
    "0 Elo is the piece counter at 4 plies. `python training/zoo.py` writes this page.",
    "",
    "- **Seeds.** Each player is the best of its seeds in a validation league, "
    "whose games no table uses. Its card in the docs says among how many. `strong` has one seed.",
    "- **Games.** All meet all at 4 plies, 86 games a pair from the two-move ballot. Players by "
    "Monte Carlo tree search use 200 playouts a move instead.",
    "- **Search.** `strong` searches selectively. The other players by plies search full-width.",
    "- **Apart.** `alphazero` is not in this league: docs/rl.md tells its rating.",
    "- **Intervals** have a confidence of 95 % and are over openings.",
    "",
)
COLUMNS = (
    "| | player | Elo | nodes a move | how it was trained | reproduce with |",
    "|---|---|---|---:|---|---|",
)


def _in_short(choice: Choice) -> str:
    preset = PLAYERS[choice.run.preset]
    return (
        f"{preset.what}; {preset.games:,} games, {choice.result.origin.cpu_seconds:.0f} CPU-seconds"
    )


def rating(line: StandingsRow) -> str:
    """Format an Elo rating with its 95 % interval."""
    return f"{line.elo:+.0f} [{line.low:+.0f}, {line.high:+.0f}]"
