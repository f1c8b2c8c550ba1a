"""HTML pages from templates."""

from __future__ import annotations

import math
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from checkers_env.openings import ELEVEN_MAN, NAMES, THREE_MOVE, TWO_MOVE
from training.app.agent_catalog import (
    DEFAULT_SECONDS,
    MAX_AMOUNT,
    MAX_SECONDS,
    AgentCatalog,
)
from training.app.opponents import OPPONENTS, RECOMMENDED
from training.app.request_body import Json

MENU = {
    "Play": "/",
    "Puzzles": "/puzzles",
    "Analyse": "/analyse",
    "Compare": "/compare",
    "Evolution": "/evolution",
    "Rules": "/about",
}
_templates = Environment(
    loader=PackageLoader("training.app", "template"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render_page(template: str, menu_item: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a template with its variables; `menu_item` is the page's name in the menu."""
    text = _templates.get_template(template).render(menu=MENU, menu_item=menu_item, **values)
    return HTMLResponse(text, status)


def form_values(catalog: AgentCatalog, agent: str | None) -> Json:
    """Return the variables of the forms for agents and openings.

    Raise ValueError if `agent`, the one to select, is not on offer.
    """
    entries = sorted(catalog.entries(), key=lambda it: -it.elo if it.elo is not None else math.inf)
    if agent and agent not in [entry.name for entry in entries]:
        entries.append(catalog.entry(agent))
    return {
        "entries": entries,
        "agent": agent,
        "opponents": OPPONENTS,
        "recommended": RECOMMENDED,
        "max_amount": MAX_AMOUNT,
        "default_seconds": DEFAULT_SECONDS,
        "max_seconds": MAX_SECONDS,
        "two_move": TWO_MOVE,
        "eleven_men": sorted({card.rpartition(":B")[2] for card in ELEVEN_MAN}),
        "three_move": [(card, NAMES.get(card, "")) for card in THREE_MOVE],
    }
