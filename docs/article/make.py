"""Make the article: numbers, tables and figures from results/, and the text in main.typ.

    python docs/article/make.py [--out FOLDER] [--png]

writes ``article.pdf``, ``metadata.yaml`` (ReScience C's form) and ``data.json`` (the numbers that
the text and its tables show). ``main.typ`` looks each number up by its name: an unknown name stops
the command. A sentence that depends on a result stands in ``#given(condition)[...]``, which stops
the command where the results no longer meet the condition.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import typst
from numpy.typing import NDArray

from checkers_env.files import write_atomically
from training.experiments.champions import load_champion
from training.experiments.claims import OWN_CLAIMS, PAPER_CLAIMS
from training.experiments.effects import ABOVE_HALF, LEAD, decided, share_led
from training.experiments.inference import LEVEL, half_width
from training.experiments.jobs import AS_THE_THESIS, PLAYERS, Match, Player, Run
from training.experiments.measures import (
    MEASURES,
    PlayerGame,
    brief,
    count,
    interval,
    player_games,
    with_cards,
)
from training.experiments.page import effect_text
from training.experiments.plan import Scope, figures
from training.experiments.plots import LOOKS
from training.experiments.results import MatchResult, ResultStore, TrainingResult
from training.experiments.sameness import sameness_rows
from training.experiments.tables import EXPERIMENTS, Row, read_tsv
from training.experiments.verdicts import LEAST, Verdict, measure, verdicts
from training.runtime.curves import new_figure, to_svg

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OUT = ROOT / "docs" / "_build" / "article"
DATA = ROOT / "tests" / "data"
FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"  # of the figures' labels
PANELS = {
    "curve/heuristic": "payoff against the heuristic player",
    "curve/material": "payoff against the piece counter",
    "games/draws": "share of drawn games in training",
    "step/mean": "mean step size of a mutation",
    "champion/saturated": "share of positions beyond 0.99",
}
EVOLVED_TUPLES = ("c5-tuple-sum", "c1-tuple-sum")
# Players in the table of methods: one for each method, and those that a section speaks of.
SHOWN = (
    *("blondie24-1999", "blondie24-2001", "c0", "c0-common", "blondie24-rr"),
    *("c200", "c10", "c1", "c10-rr", *EVOLVED_TUPLES),
    *("c5-n0.001", "c5-n0.001-4ply", "c1-n0.001", "hughes", "nguyen", "nguyen-safe"),
)
TD = EXPERIMENTS["td-depth"]
RULES = (
    *("first-by-direction", "first-by-piece", "last-by-direction", "last-by-piece"),
    *("chance", "ends-at-jump"),
)
CURVES = ("blondie24-1999", "blondie24-2001", "c0", "blondie24-rr", "c10", "learns-unsaturated")
START, END = slice(None, 1), slice(-10, None)  # points of a curve: the first, and the last tenth


def collect(scope: Scope, store: ResultStore) -> dict[str, Any]:
    """Return all numbers of the article that come from the results, ready for JSON.

    Parameters
    ----------
    scope
        Seeds and scale.
    store
        Results.
    """
    claims, reasons = (
        [claim_data(it, scope, store) for it in verdicts(several, scope, store)]
        for several in (PAPER_CLAIMS, OWN_CLAIMS)
    )
    jobs = scope.jobs(EXPERIMENTS.values())
    matches = match_data(scope, store)
    return {
        "claims": claims,
        "reasons": reasons,
        "words": dict(Counter(it["word"] for it in claims).most_common()),
        "halves": half_widths(claims),
        "least": LEAST,
        "confidence": f"{100 * (1 - LEVEL):g} %",
        "conditions": {
            "depth": AS_THE_THESIS.depth,
            "games": Match(Player("c0"), Player("c10"), 0).games - 2,
            "lead": LEAD,
            "margin": PAPER_CLAIMS[0].margin,
        },
        "size": size_data(jobs, store),
        "players": {name: player_data(name, scope, store) for name in SHOWN},
        "curves": {name: curve_data(name, scope, store) for name in CURVES},
        "starts": {name: start_data(name, scope, store) for name in EVOLVED_TUPLES},
        "matches": matches,
        "draws": draw_data(matches),
        "rules": rule_data(store),
        "exact_tanh": tanh_data(scope, store),
        "by_depth": depth_data(scope, store),
        "sameness": sameness_data(scope, store),
        "unrepeatable": [list(line.values()) for line in read_tsv("unrepeatable")],
    }


def claim_data(verdict: Verdict, scope: Scope, store: ResultStore) -> dict[str, Any]:
    """Return what the article shows of a claim."""
    claim, effect = verdict.claim, verdict.measured.estimate.interval
    by_pieces = (
        measure(replace(claim, effect=claim.effect._replace(of=decided)), scope, store).estimate
        if claim.effect.of is PAPER_CLAIMS[0].effect.of
        else verdict.measured.estimate
    ).interval
    return {
        "name": claim.name,
        "says": claim.statement,
        "source": claim.source.removeprefix("thesis, "),
        "family": claim.family,
        "points": claim.unit == ABOVE_HALF,
        "unit": claim.unit,
        "seeds": verdict.measured.seeds.removesuffix(" (planned)"),
        "mean": number(effect.mean),
        "low": number(effect.low),
        "high": number(effect.high),
        "ours": effect_text(claim, effect),
        "theirs": number(claim.theirs.mean) if claim.theirs else None,
        "theirs_shown": effect_text(claim, claim.theirs).partition(" [")[0],
        "outside": verdict.has_their_size is False,
        "values": sorted(verdict.measured.values),
        "by_pieces_mean": number(by_pieces.mean),
        "by_pieces_half": number((by_pieces.high - by_pieces.low) / 2),
        "word": verdict.label or "too few seeds",
    }


def half_widths(claims: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the median half width of the intervals of scores, by the number of seeds."""
    halves: dict[str, list[float]] = {}
    for it in claims:
        if it["points"] and it["low"] is not None:
            halves.setdefault(it["seeds"], []).append((it["high"] - it["low"]) / 2)
    return {seeds: brief(float(np.median(found))) for seeds, found in halves.items()}


def number(value: float) -> float | None:
    """Return a number for JSON, which has no infinity and no nan."""
    return float(value) if math.isfinite(value) else None


def size_data(jobs: Sequence[Run | Match], store: ResultStore) -> dict[str, Any]:
    """Return the number of runs, matches and games, and their computing time."""
    done = [(job, result) for job in jobs if (result := store.result(job)) is not None]
    origins = [result.origin for _, result in done]
    played = [result for _, result in done if isinstance(result, MatchResult)]
    trained = [job for job, result in done if isinstance(result, TrainingResult)]
    hours = sum(origin.cpu_seconds for origin in origins) / 3600
    return {
        "jobs": len(jobs),
        "left": len(jobs) - len(done),
        "runs": len(trained),
        "presets": len({job.preset for job in trained if isinstance(job, Run)}),
        "matches": len(played),
        "games": f"{sum(len(result.results) for result in played):,}",
        "hours": f"{hours:.0f}",
        "processors": sorted({origin.processor for origin in origins}),
        "versions": origins[0].versions,
        "tables": len(EXPERIMENTS),
        "figures": sum(bool(line.theirs) for it in EXPERIMENTS.values() for line in it.rows),
    }


def runs_of(name: str, scope: Scope, store: ResultStore) -> list[TrainingResult]:
    """Return the results of a player's finished runs, seed by seed."""
    jobs = [job for seed in scope.games(Row(Player(name))) for job, _ in seed]
    results = [store.result(job) for job in jobs]
    return [result for result in results if isinstance(result, TrainingResult)]


def player_data(name: str, scope: Scope, store: ResultStore) -> dict[str, Any]:
    """Return a player's method, its size, and the time of its runs."""
    preset, runs = PLAYERS[name], runs_of(name, scope, store)
    regime: Any = preset.regime
    weights = regime.champion(regime.init(0), 0).genome.size
    minutes = [run.origin.cpu_seconds / 60 for run in runs]
    return {
        "source": preset.source,
        "what": preset.what,
        "weights": f"{weights:,}",
        "games": f"{preset.games:,}",
        "plies": regime.search if hasattr(regime, "search") else regime.depth,
        "seeds": len(runs),
        "minutes": interval(minutes),
        "mean_minutes": float(np.mean(minutes)),
    }


def curve_data(name: str, scope: Scope, store: ResultStore) -> dict[str, Any]:
    """Return a player's measurements at the start and in the last tenth of its runs."""
    runs = runs_of(name, scope, store)
    ends = {
        place: {
            measure: interval([float(known(run.curves[measure])[part].mean()) for run in runs])
            for measure in (*PANELS, "weight/mean")
        }
        for place, part in (("start", START), ("end", END))
    }
    return ends | {"seeds": len(runs)}


def known(line: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the points of a curve that were measured."""
    return line[~np.isnan(line)]


def start_data(name: str, scope: Scope, store: ResultStore) -> dict[str, Any]:
    """Return how many champions of tables that begin with zeros still have zeros only."""
    regime: Any = PLAYERS[name].regime
    if regime.weight != 0:
        raise ValueError(f"{name} begins with random tables, not with zeros")
    paths = [store.champion_path(run.champions[0]) for run in runs_of(name, scope, store)]
    changed = [int(np.count_nonzero(load_champion(path).genome)) for path in paths]
    return {
        "seeds": len(paths),
        "unmoved": changed.count(0),
        "entries": f"{max(load_champion(path).genome.size for path in paths):,}",
    }


def match_data(scope: Scope, store: ResultStore) -> list[dict[str, Any]]:
    """Return lead and draws in %, the thesis's and ours.

    There is one entry for each match with printed wins, draws and losses, and one for each player
    of a league of equals (Tables 3.2 and 4.1), against all others of it.
    """
    found = []
    for table in EXPERIMENTS.values():
        is_league = table.measure is MEASURES["wins-and-losses"]
        if table.conditions != AS_THE_THESIS or not (
            is_league or table.measure is MEASURES["results"]
        ):
            continue
        for line in table.rows:
            if not line.theirs or (len(line.others) > 1 and not is_league):
                continue
            seeds = [games for games in games_of(line, scope, store) if games]
            won, lost = float(line.theirs[0]), float(line.theirs[-1])
            results = [count(games) for games in seeds]
            theirs = point(won, lost, len(seeds[0]))
            ours = [point(it[0], it[-1], sum(it)) for it in results]
            found.append(
                {
                    "table": table.name.removeprefix("table-"),
                    "league": is_league,
                    "seeds": len(seeds),
                    "theirs": theirs,
                    "ours": np.mean(ours, axis=0).tolist(),
                    "led": float(np.nanmean([share_led([games]) for games in seeds])),
                }
            )
    return found


def games_of(line: Row, scope: Scope, store: ResultStore) -> Iterator[list[PlayerGame]]:
    """Yield the games of a row that began with a card, seed by seed; none if some are missing."""
    for jobs in scope.games(line):
        results = [(store.result(job), turned) for job, turned in jobs]
        played = [(it, turned) for it, turned in results if isinstance(it, MatchResult)]
        several = [with_cards(player_games(it, turned)) for it, turned in played]
        yield [*chain(*several)] if len(played) == len(jobs) else []


def point(won: float, lost: float, games: float) -> list[float]:
    """Return a lead, the score less 50 %, and the share of draws, both in %."""
    return [50 * (won - lost) / games, 100 * (games - won - lost) / games]


def draw_data(matches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return draws and leads of the thesis's matches and leagues of equals, theirs and ours."""
    found: dict[str, Any] = {}
    for name, is_league in (("matches", False), ("leagues", True)):
        some = [it for it in matches if it["league"] == is_league]
        found[name] = {"count": len(some), "led": brief(float(np.mean([it["led"] for it in some])))}
        for side in ("theirs", "ours"):
            leads, drawn = np.array([it[side] for it in some]).T
            found[name] |= {
                side: brief(float(drawn.mean())),
                f"{side}_lead": brief(float(np.abs(leads).mean())),
            }
        found[name]["more"] = sum(it["ours"][1] > it["theirs"][1] for it in some)
    return found


def depth_data(scope: Scope, store: ResultStore) -> list[dict[str, Any]]:
    """Return time and scores of the players by temporal differences that have met all others."""
    found = []
    rows = list(zip(TD.rows, figures(TD, scope, store), strict=True))
    for player in dict.fromkeys(line.first for line, _ in rows):
        scores = [
            [50 * (won - lost) / (won + drawn + lost) for won, drawn, lost in ours]
            for line, ours in rows
            if line.first == player
        ]
        if all(len(seeds) >= LEAST for seeds in scores):
            data = player_data(player.name, scope, store)
            data |= {"name": player.name, "scores": [interval(seeds) for seeds in scores]}
            found.append(data | {"seeds": min(map(len, scores))})
    return found


def rule_data(store: ResultStore) -> dict[str, Any]:
    """Return draws and leads of the same champions by other rules of play, on the same seeds."""
    scope, found = Scope(), {}
    for rule in RULES:
        table = EXPERIMENTS[f"tie-{rule}"]
        played = list(zip(table.rows, figures(table, scope, store), strict=True))
        pairs = [it for line, it in played if line.first.name != line.others[0].name]
        equals = [it[0][0] for line, it in played if line.first.name == line.others[0].name and it]
        drawn, leads = zip(*pairs[0], strict=True)  # Blondie24-RR against C0
        by_seed = [np.mean([seed[0] for seed in seeds]) for seeds in zip(*pairs, strict=False)]
        found[rule] = {
            "drawn": interval(drawn),
            "lead": interval(leads),
            "pairs": interval(by_seed),
            "pairs_mean": float(np.mean(by_seed)),
            "equals": brief(float(np.mean(equals))),
            "equals_mean": float(np.mean(equals)),
            "seeds": len(by_seed),
            "equal_matches": len(equals),
        }
    return found


def tanh_data(scope: Scope, store: ResultStore) -> dict[str, Any]:
    """Return the points that champions gain against the piece counter by an exact tanh."""
    found, table = {}, EXPERIMENTS["exact-tanh"]
    for line, ours in zip(table.rows, figures(table, scope, store), strict=True):
        if line.others == (Player("material"),):
            plain = replace(line, first=Player(line.first.name))
            before = [count(games) for games in games_of(plain, scope, store)]
            gains = [
                50 * (a[0] - a[2] - b[0] + b[2]) / sum(b) for a, b in zip(ours, before, strict=True)
            ]
            high = float(np.mean(gains) + half_width(gains))
            found[line.first.name] = {"gain": interval(gains), "high": high, "seeds": len(gains)}
    return found


def sameness_data(scope: Scope, store: ResultStore) -> list[list[str]]:
    """Return the rows of players that are said to be the same."""
    rows = sameness_rows([*EXPERIMENTS.values()], scope, store)
    return [[cell.strip("*") for cell in row] for row in rows]


def verified() -> dict[str, Any]:
    """Return the sizes of the tables that the engine is tested against."""
    start, positions = start_counts(), perft_rows("perft_positions")
    counts = [line[1].split(",") for line in positions]
    return {
        "start_depth": len(start),
        "start_leaves": f"{start[-1]:,}",
        "positions": len(positions),
        "counts": sum(map(len, counts)),
        "golden": len(json.loads((DATA / "golden.json").read_text("utf-8"))),
    }


def start_counts() -> tuple[int, ...]:
    """Return the published counts of move paths that a test holds, depth 1 first."""
    text = (ROOT / "tests" / "checkers_env" / "test_perft.py").read_text("utf-8")
    assigned = [node for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    (values,) = [it.value for it in assigned if ast.unparse(it.targets[0]) == "START_COUNTS"]
    return tuple(ast.literal_eval(values))


def perft_rows(name: str) -> list[list[str]]:
    """Return the rows of a perft table of the tests."""
    lines = (DATA / f"{name}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def pictures(scope: Scope, store: ResultStore, data: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures as SVG, by name."""
    runs = {name: runs_of(name, scope, store) for name in CURVES}
    return {
        "curves": plot_curves(runs),
        "draws": plot_draws(data["matches"]),
        "claims": plot_claims([it for it in data["claims"] if it["points"]]),
    }


def plot_claims(claims: Sequence[Mapping[str, Any]]) -> str:
    """Plot our intervals and the papers' figures of claims on scores, by chapter."""
    with mpl.rc_context({"font.size": 5.5}):
        figure, axes = new_figure(6.7, 9.2)
        places, place, family = [], -1, ""
        for it in claims:
            place += 1 + (it["family"] != family)
            if it["family"] != family:
                family = it["family"]
                axes.text(-50, place - 1, family, weight="bold", va="center")
            colour, marker = LOOKS[it["word"] if it["word"] in LOOKS else None]
            if it["low"] is not None:
                axes.plot([it["low"], it["high"]], [place, place], color=colour, linewidth=1.2)
            axes.plot(it["mean"], place, marker, color=colour, markersize=2.5)
            if it["theirs"] is not None:
                axes.plot(it["theirs"], place, "o", color="black", mfc="none", ms=3, mew=0.5)
            places.append(place)
        axes.set_yticks(places, [it["name"] for it in claims])
        axes.set(ylim=(place + 1, -2), xlabel="score less 50 %")
        axes.axvline(0, color="black", linewidth=0.5)
        axes.spines["left"].set_visible(False)
        for word in dict.fromkeys(it["word"] for it in claims):
            colour, marker = LOOKS[word if word in LOOKS else None]
            axes.plot([], [], marker, color=colour, label=word)
        axes.plot([], [], "o", color="black", mfc="none", label="the paper's")
        return to_svg(figure, 6).decode()


def plot_curves(runs: Mapping[str, Sequence[TrainingResult]]) -> str:
    """Plot the measurements of PANELS over training: mean over seeds, with 95 % interval."""
    with mpl.rc_context({"font.size": 7}):
        figure, _ = new_figure(6.7, 4.1, 2, 3)
        *panels, legend = figure.axes
        for axes, (measure, title) in zip(panels, PANELS.items(), strict=True):
            for place, results in enumerate(runs.values()):
                lines = np.array([run.curves[measure] for run in results])
                there = ~np.isnan(lines).any(axis=0)
                done = 100 * results[0].points[there] / results[0].points[-1]
                mean, half = lines[:, there].mean(axis=0), half_width(lines[:, there])
                axes.plot(done, mean, color=f"C{place}", linewidth=1)
                axes.fill_between(done, mean - half, mean + half, color=f"C{place}", alpha=0.2)
            axes.set_title(title, fontsize=7)
        for axes in panels[2:]:
            axes.set_xlabel("% of the generations")
            axes.xaxis.set_tick_params(labelbottom=True)
        for place, (name, results) in enumerate(runs.items()):
            legend.plot([], [], color=f"C{place}", label=f"{name}, {len(results)} seeds")
        legend.legend(loc="center", frameon=False)
        legend.axis("off")
        return to_svg(figure).decode()


def plot_draws(matches: Sequence[Mapping[str, Any]]) -> str:
    """Plot the share of draws of matches against their lead, theirs and ours."""
    with mpl.rc_context({"font.size": 8}):
        figure, axes = new_figure(5.2, 2.7)
        for side, colour, whose in (("theirs", "black", "the thesis"), ("ours", "C1", "here")):
            for is_league, marker, kind in ((False, "x", "match"), (True, "o", "league of equals")):
                places = [it[side] for it in matches if it["league"] == is_league]
                leads, drawn = np.array(places).T
                label = f"{whose}, {kind}"
                axes.plot(np.abs(leads), drawn, marker, color=colour, ms=4, alpha=0.7, label=label)
        axes.set(
            xlabel="lead: distance of the score from 50 %", ylabel="drawn games, %", ylim=(0, 100)
        )
        axes.legend(frameon=False)
        return to_svg(figure).decode()


def fill_metadata(data: Mapping[str, Any]) -> str:
    """Return metadata.yaml with its numbers. Raise KeyError for an unknown name in it."""
    numbers = data["size"] | {
        "claims": len(data["claims"]),
        "verdicts": "; ".join(f"{count} {word}" for word, count in data["words"].items()),
        "td_seeds": next(it["seeds"] for it in data["by_depth"] if it["name"] == "c5-n0.001-4ply"),
        "drawn": data["draws"]["leagues"]["ours"],
        "their_drawn": data["draws"]["leagues"]["theirs"],
    }
    return string.Template((HERE / "metadata.yaml").read_text("utf-8")).substitute(numbers)


def compile_article(
    data: Mapping[str, Any], drawn: Mapping[str, str], kind: Literal["pdf", "png"] = "pdf"
) -> list[bytes]:
    """Compile main.typ; return the PDF, or a PNG a page.

    Raises
    ------
    typst.TypstError
        If the text names a number that is not in `data`, or says what the numbers do not.
    """
    inputs = {"data": json.dumps(data), "metadata": fill_metadata(data), **drawn}
    compiled = typst.compile(
        str(HERE / "main.typ"),
        format=kind,
        ppi=110.0,
        sys_inputs=inputs,
        font_paths=[str(FONTS)],
        ignore_system_fonts=True,
    )
    return compiled if isinstance(compiled, list) else [compiled]


def main() -> None:
    """Write the article."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the article")
    parser.add_argument("--png", action="store_true", help="write a picture of each page, too")
    options = parser.parse_args()
    scope, store = Scope(), ResultStore(ROOT / "results")
    data = collect(scope, store) | {"verified": verified()}
    drawn = pictures(scope, store, data)
    options.out.mkdir(parents=True, exist_ok=True)
    files = {
        "article.pdf": compile_article(data, drawn)[0],
        "metadata.yaml": fill_metadata(data).encode(),
        "data.json": json.dumps(data, indent=1).encode(),
    }
    if options.png:
        pages = compile_article(data, drawn, "png")
        files |= {f"page-{place}.png": page for place, page in enumerate(pages, 1)}
    for name, content in files.items():
        write_atomically(options.out / name, content)
    print(f"The article: {options.out / 'article.pdf'}")


if __name__ == "__main__":
    main()
