"""Make the article: numbers, tables and figures from results/, and the text in main.typ.

    python docs/article/make.py [--out FOLDER] [--png]

writes ``article.pdf``, ``metadata.yaml`` (ReScience C's form) and ``data.json`` (the numbers that
the text and its tables show). ``main.typ`` looks each number up by its name: an unknown name stops
the command. A sentence that depends on a result stands in ``#given(condition)[...]``, which stops
the command where the results no longer meet the condition.
"""

from __future__ import annotations

import argparse
import io
import json
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import typst

from checkers_env.files import write_atomically
from training.reproduction.article import CURVES, collect, runs_of
from training.reproduction.plan import Scope
from training.reproduction.results import ResultStore, TrainingResult
from training.reproduction.tables import half_width
from training.runtime.curves import new_figure

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


def verified() -> dict[str, Any]:
    """Return the sizes of the tables that the engine is tested against."""
    start, positions = (perft_rows(name) for name in ("perft_start", "perft_positions"))
    counts = [line[1].split(",") for line in positions]
    return {
        "start_depth": max(int(line[0]) for line in start),
        "start_leaves": f"{max(int(line[1]) for line in start):,}",
        "positions": len(positions),
        "counts": sum(map(len, counts)),
        "golden": len(json.loads((DATA / "golden.json").read_text("utf-8"))),
    }


def perft_rows(name: str) -> list[list[str]]:
    """Return the rows of a perft table of the tests."""
    lines = (DATA / f"{name}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def pictures(scope: Scope, store: ResultStore, data: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures as SVG, by name."""
    runs = {name: runs_of(name, scope, store) for name in CURVES}
    return {"curves": plot_curves(runs), "draws": plot_draws(data["matches"])}


def plot_curves(runs: Mapping[str, Sequence[TrainingResult]]) -> str:
    """Plot the measurements of PANELS over training: mean over seeds, with 95 % interval."""
    with mpl.rc_context({"font.size": 7}):
        figure = new_figure(6.7, 4.1)
        *panels, legend = figure.subplots(2, 3, sharex=True).flat
        for axes, (measure, title) in zip(panels, PANELS.items(), strict=True):
            for place, results in enumerate(runs.values()):
                lines = np.array([run.curves[measure] for run in results])
                there = ~np.isnan(lines).any(axis=0)
                done = 100 * results[0].points[there] / results[0].points[-1]
                mean, half = lines[:, there].mean(axis=0), half_width(lines[:, there])
                axes.plot(done, mean, color=f"C{place}", linewidth=1)
                axes.fill_between(done, mean - half, mean + half, color=f"C{place}", alpha=0.2)
            axes.set_title(title, fontsize=7)
            axes.spines[["top", "right"]].set_visible(False)
        for axes in panels[2:]:
            axes.set_xlabel("% of the generations")
            axes.xaxis.set_tick_params(labelbottom=True)
        for place, (name, results) in enumerate(runs.items()):
            legend.plot([], [], color=f"C{place}", label=f"{name}, {len(results)} seeds")
        legend.legend(loc="center", frameon=False)
        legend.axis("off")
        return svg(figure)


def plot_draws(matches: Sequence[Mapping[str, Any]]) -> str:
    """Plot the share of draws of matches against their lead, theirs and ours."""
    with mpl.rc_context({"font.size": 8}):
        figure = new_figure(5.2, 2.7)
        axes = figure.subplots()
        for side, colour, whose in (("theirs", "black", "the thesis"), ("ours", "C1", "here")):
            for is_league, marker, kind in ((False, "x", "match"), (True, "o", "league of equals")):
                places = [it[side] for it in matches if it["league"] == is_league]
                leads, drawn = np.array(places).T
                label = f"{whose}, {kind}"
                axes.plot(np.abs(leads), drawn, marker, color=colour, ms=4, alpha=0.7, label=label)
        axes.set(
            xlabel="lead: distance of the score from 50 %", ylabel="drawn games, %", ylim=(0, 100)
        )
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        return svg(figure)


def svg(figure: Any) -> str:
    """Return a figure as SVG whose labels are text."""
    picture = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "article", "svg.fonttype": "none"}):
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return picture.getvalue()


def fill_metadata(data: Mapping[str, Any]) -> str:
    """Return metadata.yaml with its numbers. Raise KeyError for an unknown name in it."""
    numbers = data["size"] | {
        "claims": len(data["claims"]),
        "verdicts": "; ".join(f"{count} {word}" for word, count in data["words"].items()),
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
