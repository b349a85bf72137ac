"""Hide it from AI, as somebody plays it."""

import re

import pytest

from app.runs.strokes import parse_strokes


def begin(watch, path="?photo=cheetah&damage=paint"):
    page = watch.page
    page.goto(watch.home + path)
    page.wait_for_selector("h1 >> text=Can you hide the")
    assert page.inner_text("#found").startswith("Paint")  # also while more is computed
    return page


def draw(page, *points):
    box = page.locator("#strokes").bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()


def wait_for_end(page):
    page.wait_for_selector("#sharing:not([hidden])")
    return page.inner_text("h1"), page.inner_text("#touched"), page.inner_text("#row-repaired")


@pytest.mark.parametrize("width", [1440, 390])
def test_ai_answers_while_it_is_painted_then_the_repair_strikes_back(watch, width):
    watch.page.set_viewport_size({"width": width, "height": 844})
    watch.page.goto(watch.home)
    watch.page.get_by_role("button", name="Hide it from AI").click()
    watch.page.wait_for_selector("h1 >> text=Can you hide the")
    page = begin(watch)
    page.mouse.move(0, 0)
    page.locator("#brush-size").fill("8")
    draw(page, (0.1, 0.1), (0.12, 0.1))
    page.wait_for_function("() => /%/.test(document.querySelector('#row-damaged').innerText)")
    assert "AI still sees the cheetah" in page.inner_text("h1")
    assert "strokes=1.0" in page.url
    assert len(parse_strokes(page.url.partition("strokes=")[2])) == 1  # Python reads the script's
    page.get_by_role("radiogroup", name="Brush").get_by_text("Fog").click()
    page.locator("#brush-size").fill("63")
    draw(page, (0.3, 0.45), (0.7, 0.5))
    said = wait_for_end(page)
    assert re.match(r"Brush strokes hid the cheetah from AI[.,]", said[0])
    assert page.inner_text("#outcome") in ("The repair wins.", "The painter wins.")
    assert re.fullmatch(r"\d+\s%", said[1])
    assert page.locator("#divider").is_visible()
    page.goto(page.url)  # a friend
    assert wait_for_end(page) == said
    with page.expect_download() as card:
        page.get_by_role("link", name="Keep the card").click()
    assert card.value.suggested_filename == "cheetah.png"
    if width == 390:
        page.get_by_role("radio", name="goldfish").click()
        page.wait_for_selector("h1 >> text=/Can you hide the (?!cheetah)/")
        page.go_back()
        assert wait_for_end(page) == said
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("h1 >> text=AI still sees the cheetah")
    page.get_by_role("button", name="Clear").click()
    page.wait_for_selector("h1 >> text=Can you hide the cheetah")
    watch.audit()


def test_it_is_played_by_keys(watch):
    page = begin(watch, "?photo=panda&damage=paint")  # whose reading is recorded
    assert not any(request.endswith("/watch") for request in watch.requests)
    page.get_by_role("radio", name="Noise", exact=True).focus()
    page.keyboard.press("ArrowUp")  # from the first to the last
    assert page.evaluate("document.activeElement.value") == "dark"
    page.get_by_role("application", name=re.compile("Paint")).focus()
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press(" ")
    page.wait_for_url("**strokes=1.5**")
    page.wait_for_function("() => /%/.test(document.querySelector('#row-damaged').innerText)")


def test_an_answer_that_fails_is_tried_again(watch):
    page = begin(watch)
    page.route("**/reading?*", lambda route: route.abort())
    draw(page, (0.1, 0.1), (0.2, 0.1))
    page.get_by_role("button", name="Try again").wait_for()
    assert "does not answer" in page.inner_text("#notice")
    page.unroute("**/reading?*")  # and nothing is pressed
    page.wait_for_function("() => /%/.test(document.querySelector('#row-damaged').innerText)")
    assert page.locator("#notice").is_hidden()
    watch.complaints.clear()  # the browser notes the failures
