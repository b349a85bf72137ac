"""Page Learn in a browser: six steps by keys, links and addresses, and what each has to touch."""

import re

import pytest


@pytest.fixture
def learn(page, served):
    """Opens a step, with what was recorded in it."""

    def go_to(number=1, width=1280):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{served.url}learn#step-{number}")
        page.wait_for_selector("#fails-words:not(:empty)", state="attached")
        return page

    return go_to


def wait_for_step(page, number):
    page.wait_for_selector(f"#step-{number}:not([hidden])")
    assert page.locator(".step:not([hidden])").count() == 1


def test_keys_links_and_the_browsers_own_buttons_go_through_the_steps(learn):
    page = learn()
    for number in (2, 3, 4, 5, 6, 6):
        page.keyboard.press("ArrowRight")
        wait_for_step(page, number)
    page.get_by_role("link", name="3 Noise in, noise out").click()
    wait_for_step(page, 3)
    assert page.evaluate("document.activeElement.id") == "title-3"
    page.get_by_role("link", name="Next").click()
    wait_for_step(page, 4)
    page.go_back()
    wait_for_step(page, 3)


def test_stronger_noise_changes_what_the_classifier_reads(learn):
    page = learn(1)
    reading, image = page.locator("#trouble-reading"), page.locator("#trouble-picture")
    before = reading.inner_text(), image.get_attribute("src")
    assert "✓" in before[0]
    page.locator("#strength").focus()
    page.keyboard.press("End")
    assert "✗" in reading.inner_text()
    assert image.get_attribute("src") != before[1]
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, 1)  # an arrow on a slider moves the slider
    assert page.locator("#strength").get_attribute("aria-valuetext") == "4 of 5"


def test_the_game_counts_hits_and_ends_with_where_the_detector_stops(learn):
    page = learn(2)
    rounds = int(re.search(r"Round 1 of (\d+)", page.inner_text("#game-words"))[1])
    hits = 0
    for number in range(1, rounds + 1):
        page.locator(".answer").nth(0).click()
        page.locator(".answer").nth(1).click(force=True)  # too late: the first answer counts
        hits += page.locator(".answer").nth(0).evaluate("b => b.classList.contains('is-damaged')")
        assert page.locator("#game-you").inner_text() == f"{hits} of {number}"
        if number < rounds:
            page.locator("#game-next").click()
    assert "for the first time less than" in page.locator("#game-words").inner_text()
    page.get_by_role("button", name="Play again").click()
    assert page.locator("#game-you").inner_text() == "0 of 0"


def test_more_noise_than_the_rule_adds_is_called_so(learn):
    page = learn(3)
    words, depth = page.locator("#noise-words"), page.locator("#depth")
    assert "Not enough" in words.inner_text()
    depth.focus()
    while "Not enough" in words.inner_text():
        page.keyboard.press("ArrowRight")
    assert "Here it stops" in words.inner_text()
    page.keyboard.press("End")
    assert "More than the detector asks for" in words.inner_text()


@pytest.mark.parametrize("width", [390, 1440])
def test_every_step_fits_and_axe_finds_nothing_grave(learn, watch, width):
    for number in range(1, 7):
        page = learn(number, width)
        wait_for_step(page, number)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        watch.audit()
