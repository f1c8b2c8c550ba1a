"""The pages as HTML: templates filled in."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from checkers_env.fen import START
from checkers_env.openings import NAMES, THREE_MOVE, TWO_MOVE
from training.app.agent_catalog import DEFAULT, LONGEST, MOST, SECONDS, Roster
from training.app.serialize import Json

PAGES = {"Play": "/", "Compare": "/compare", "Evolution": "/evolution"}
_templates = Environment(
    loader=PackageLoader("training.app", "template"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(template: str, here: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page out of ``template/``; `here` is its name in the menu."""
    text = _templates.get_template(template).render(pages=PAGES, here=here, **values)
    return HTMLResponse(text, status)


def choices(roster: Roster, chosen: str | None) -> Json:
    """What a form needs to choose an agent and an opening; `chosen` is an agent already named.

    Raises ValueError for one that is not on offer.
    """
    offers = roster.offers()
    chosen = chosen or DEFAULT
    if chosen not in [offer.name for offer in offers]:
        offers.append(roster.offer(chosen))
    return {
        "start": START,
        "offers": offers,
        "chosen": chosen,
        "most": MOST,
        "seconds": SECONDS,
        "longest": LONGEST,
        "two_move": TWO_MOVE,
        "three_move": [(card, NAMES.get(card, "")) for card in THREE_MOVE],
    }
