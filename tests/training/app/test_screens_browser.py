"""Low screens, high contrast, and boards out of sight, in a browser."""

import pytest
from playwright.sync_api import expect

from tests.training.app.test_app_browser import (  # noqa: F401 - fixtures
    address,
    begin,
    cell,
    click,
    drag,
    games,
    open_page,
    resign,
    settle,
)

pytestmark = pytest.mark.browser
TALL_PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("path", ["/", "/compare"])
def test_board_is_about_as_high_as_a_low_screen(open_page, path):  # noqa: F811
    page = open_page(path)
    for width, height in ((844, 390), (667, 375), (640, 400)):
        page.set_viewport_size({"width": width, "height": height})
        board = page.locator("#board").bounding_box()
        assert 0.65 * height < board["height"] <= height - 16
        assert board["width"] == board["height"]
        for plate in (it.bounding_box() for it in page.locator(".plate").all()):
            is_above = plate["y"] + plate["height"] <= board["y"]
            assert is_above or plate["y"] >= board["y"] + board["height"]
        assert page.evaluate("document.documentElement.scrollWidth") == width


def middle_of(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def colour_at(page, x, y):
    """Return a picture of four pixels; equal colours give equal bytes."""
    return page.screenshot(clip={"x": round(x) - 1, "y": round(y) - 1, "width": 2, "height": 2})


def test_board_is_seen_in_high_contrast(open_page):  # noqa: F811
    page = open_page("/", forced_colors="active", color_scheme="dark")
    begin(page)
    cell(page, 11).click()
    page.mouse.move(0, 0)
    light = colour_at(page, *middle_of(page.locator("#board .light >> nth=0")))
    dark, dot = (colour_at(page, *middle_of(cell(page, square))) for square in (18, 15))
    discs = [
        colour_at(page, *middle_of(page.locator(f"#{name} .disc"))) for name in ("above", "below")
    ]
    assert len({light, dark, dot}) == 3
    assert len(set(discs)) == 2
    edge = cell(page, 11).bounding_box()
    ring = colour_at(page, edge["x"] + 2, edge["y"] + edge["height"] / 2)
    assert ring != dark
    borders = page.eval_on_selector_all(
        ".top nav a", "all => all.map((link) => getComputedStyle(link).borderBottomColor)"
    )
    assert len(set(borders)) == 2  # the present page's is another one


def is_in_sight(page):
    box = page.locator("#board").bounding_box()
    return box["y"] >= -1 and box["y"] + box["height"] <= page.viewport_size["height"] + 1


def scroll_away(page):
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert not is_in_sight(page)


def test_board_comes_into_sight_when_it_changes(open_page):  # noqa: F811
    page = open_page("/", TALL_PHONE)
    begin(page, agent="material", plies=2, opening="B:W23,24,27,31,32:B1,2,3,5,14")
    drag(page, [14, 18])
    settle(page)
    resign(page)
    page.click("[data-do=review]")
    expect(page.locator("#mistakes button")).not_to_have_count(0)
    for panel in page.locator("details").all():
        panel.evaluate("panel => { panel.open = true; }")
    for control in ("[aria-label=Back]", "#score button >> nth=0", "#mistakes button >> nth=0"):
        scroll_away(page)
        page.locator(control).evaluate("node => node.click()")
        assert is_in_sight(page), control
