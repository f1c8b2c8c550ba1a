"""The page of analysis in a browser; the static site runs these tests, too."""

import pytest
from playwright.sync_api import expect

from tests.training.app.test_app_browser import (  # noqa: F401 - fixtures
    address,
    cell,
    games,
    open_page,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def open_analysis(open_page):  # noqa: F811
    """Return a function that opens the page."""

    def open_analysis():
        page = open_page()
        page.get_by_role("link", name="Analyse", exact=True).click()
        expect(page.locator("#lines button")).to_have_count(3)
        return page

    return open_analysis


def load(page, text):
    page.fill("#text", text)
    page.click("#load button >> nth=0")


def piece_on(page, square):
    return cell(page, square).get_attribute("aria-label")


def test_edited_position_survives_the_controls(open_analysis):
    page = open_analysis()
    load(page, "1. 11-15 22-18 *")
    expect(page.locator("#score button")).to_have_count(2)
    page.click("#edit")
    cell(page, 1).click()
    assert piece_on(page, 1) == "1, empty"
    expect(page.locator("#lines button")).to_have_count(0)  # they would discard the edit
    for control in ("#ask", "#back"):
        expect(page.locator(control)).to_be_disabled()
    for control in ("Turn the board", "Back"):
        page.click(f"[aria-label='{control}']")
        assert piece_on(page, 1) == "1, empty"
    cell(page, 2).click()
    assert piece_on(page, 2) == "2, empty"
    page.click("#edit")  # leaves the editor: the game is there again
    assert piece_on(page, 1).startswith("1, black man")
    expect(page.locator("#lines button")).to_have_count(3)
    expect(page.locator("#ask")).to_be_enabled()


def test_positions_that_are_stepped_over_are_not_analysed(open_analysis):
    page = open_analysis()
    load(page, "1. 11-15 22-18 2. 15x22 25x18 3. 8-11 29-25 4. 4-8 25-22 *")
    expect(page.locator("#score button")).to_have_count(8)
    expect(page.locator("#lines button")).to_have_count(3)
    asked = []
    page.on("request", lambda it: asked.extend([it] if it.url.endswith("/api/analysis") else []))
    texts = page.evaluate(
        """() => {
            const find = (name) => document.querySelector(`[aria-label="${name}"]`);
            find("First position").click();
            const texts = [];
            for (let step = 0; step < 8; step += 1) {
                find("Forward").click();
                const lines = document.querySelectorAll("#lines button").length;
                texts.push(`${document.getElementById("verdict").textContent} ${lines}`);
            }
            return texts;
        }"""
    )
    assert texts == ["… 0"] * 8  # the lines of the position before cannot be chosen
    expect(page.locator("#lines button")).to_have_count(3)
    assert {len(it.post_data_json["moves"]) for it in asked} <= {8, 9}  # none in the static site
    page.click("#lines button >> nth=0")
    expect(page.locator("#score button")).to_have_count(9)
