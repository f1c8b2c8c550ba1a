"""Sphinx: Furo's theme, pages in Markdown (MyST), reference text from the docstrings."""

from importlib.metadata import version as installed_version
from pathlib import Path

from checkers_env.files import write_atomically
from training.app.static_site import build
from training.experiments import cycles, regret
from training.experiments.page import write_page
from training.experiments.plan import Scope
from training.experiments.results import ResultStore
from training.experiments.tables import EXPERIMENTS
from training.zoo import ZooConfig, write_cards

project = "checkers-laboratory"
author = "the checkers-laboratory authors"
project_copyright = f"2026, {author}"
version = release = installed_version("checkers-laboratory")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
nb_execution_mode = "off"  # the notebooks hold their outputs; tests run them
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
autodoc_typehints = "both"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes as fields: autodoc documents those of NamedTuples besides
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = project


def write_generated_pages(app):
    """Write tables, pictures and model cards, which git does not keep, from the records."""
    folder, records = Path(app.srcdir) / "generated", Path(app.srcdir).parent / "results"
    tables = list(EXPERIMENTS.values())
    write_page(folder / "reproduction.md", tables, Scope(), ResultStore(records))
    write_cards(folder / "zoo", ZooConfig(results=records))
    (folder / "strength").mkdir(exist_ok=True)
    for name, content in (regret.pages(records) | cycles.pages(records)).items():
        write_atomically(folder / "strength" / name, content)


def build_static_site(app, error):
    """Write the page that needs no server beside the documentation."""
    if error is None and app.builder.format == "html":
        build(Path(app.outdir) / "play")


def setup(app):
    """Connect to Sphinx's events."""
    app.connect("builder-inited", write_generated_pages)
    app.connect("build-finished", build_static_site)
