"""The first page as somebody uses it."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from scipy.special import logit

from app.recorded.__main__ import RECORDED
from app.recorded.store import read_record
from app.runs.settings import Settings
from dga.profiles import get_profile
from dga.stopping import choose_depth
from tests.fuzz.blocks import saved

PAGES = ("", "all-15", "results", "learn")


def open_page(watch, path="", is_touched=True):
    """``is_touched``: else only what stands on the first page before the first touch is seen."""
    watch.page.goto(watch.home + path)
    watch.page.wait_for_function("() => document.querySelector('h1').textContent.length > 0")
    if is_touched and watch.page.locator(".is-untouched").count():
        watch.page.locator("#divider").press("Control")
    return watch.page


def wait_for_repair(page):
    page.wait_for_function(
        "() => document.querySelector('#found').textContent.startsWith('Found')"
        " && !document.querySelector('#row-repaired').classList.contains('is-old')"
    )


def wait_for_tag(page, words):
    """Of the picture left of the divider."""
    page.wait_for_selector(f"#tag-before >> text={words}", state="attached")


def wait_for_film(page):
    page.wait_for_function("() => document.querySelectorAll('#film figure').length === 9")


def picture_file(size=(96, 72)):
    pixels = np.random.default_rng(0).integers(60, 190, (*size[::-1], 3), np.uint8)
    return {"name": "own.png", "mimeType": "image/png", "buffer": saved("PNG", pixels)}


def test_a_finished_result_is_there_at_once_and_nothing_is_computed(watch):
    page = open_page(watch)
    assert re.fullmatch(
        r"Low contrast hid the giant panda from AI\. After repair, .* \d\d\s% sure\.",
        page.inner_text("h1"),
    )
    assert "✗" in page.inner_text("#row-damaged")
    assert "✓" in page.inner_text("#row-repaired")
    page.wait_for_selector("#damages img:visible")
    wait_for_film(page)
    readings = page.locator("#film .reading").all_inner_texts()
    assert len([text for text in readings if "✓" in text or "✗" in text]) == 2 * 9
    assert not any(request.endswith("/watch") for request in watch.requests)


def test_a_photo_that_is_not_recorded_is_seen_at_once(watch):
    page = open_page(watch)
    for address in ("watch", "thumbnails/cheetah"):
        page.route(f"**/{address}", lambda route: None)  # which is not answered
    page.get_by_role("radio", name="cheetah").click()
    small = page.locator("#samples [value=cheetah] ~ img").get_attribute("src")
    assert page.locator("#before").get_attribute("src") == small
    assert page.locator("#tag-before").text_content() == "As it came"


def test_the_first_screen_has_few_controls_words_and_numbers_until_it_is_touched(watch):
    page = open_page(watch, is_touched=False)
    page.wait_for_function("() => document.querySelector('#damages img').src")
    texts, controls = page.evaluate("""() => {
      const isSeen = (node) => {
        const box = node.getBoundingClientRect();
        const isShown = node.checkVisibility({visibilityProperty: true}) && box.width > 1;
        const isThere = isShown && !node.closest('.skip, script');
        return isThere && box.bottom > 0 && box.top < innerHeight;
      };
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const seen = [];
      while (texts.nextNode())
        if (isSeen(texts.currentNode.parentElement)) seen.push(texts.currentNode.textContent);
      const own = 'label:not(:has([type=radio])), [role=radiogroup]'; // a group of these is one
      const stops = `a[href], button, ${own}, [tabindex="0"], [type=range]`;
      const controls = document.querySelectorAll(stops);
      return [seen.join(' '), [...controls].filter(isSeen).length];
    }""")
    assert len(re.findall(r"[^\W\d_]+", texts)) <= 50, texts
    assert len(re.findall(r"\d[\d.,]*", texts)) <= 6, texts
    assert controls <= 12
    watch.audit()
    before = page.locator("#strength").bounding_box()
    page.get_by_role("slider", name="Damaged and repaired").press("ArrowRight")
    for later in ("#tile-paper", "#damages [value=none]", "#samples [value=panda]"):
        assert page.locator(later).is_visible()
    assert page.locator("#strength").bounding_box()["y"] == before["y"]


FACE = 0.37  # share of the panda's photo in which its face lies, from the left


@pytest.mark.parametrize("size", [(1440, 900), (768, 1024), (390, 844)])
def test_the_first_screen_has_a_whole_face_and_what_was_found(watch, size):
    page = watch.page
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    open_page(watch, is_touched=False)
    page.wait_for_function("() => !document.getAnimations().length")  # the divider has come to rest
    line, picture = (page.locator(name).bounding_box() for name in ("#divider", "#picture"))
    rest = (line["x"] + line["width"] / 2 - picture["x"]) / picture["width"]
    assert FACE < rest <= 0.5
    found = page.locator("#found").bounding_box()
    assert found["y"] + found["height"] < size[1]
    assert page.inner_text("#found") == "Found: low contrast."
    page.locator("#divider").press("ArrowRight")
    page.wait_for_selector("#found >> text=Contrast stretched")
    if size[0] == 1440:
        tile = page.locator("#tile-fixed").bounding_box()
        assert tile["y"] + tile["height"] < size[1]


def test_any_touch_repairs_and_the_address_is_the_state(watch):
    page = open_page(watch)
    page.get_by_role("radio", name="Speckles").click()
    page.wait_for_function("() => document.querySelector('h1').textContent.startsWith('Speckles')")
    wait_for_repair(page)
    assert "Repaired" in page.inner_text("h1") or "repair" in page.inner_text("h1")
    assert page.url.endswith("?damage=impulse_noise")
    assert page.get_by_role("button", name="Share the link").is_visible()
    page.get_by_role("slider", name="Strength").press("ArrowLeft")
    page.wait_for_url("**/?damage=impulse_noise&strength=4")
    wait_for_repair(page)
    said = page.inner_text("h1")
    open_page(watch, "?damage=impulse_noise&strength=4")
    page.wait_for_function("(text) => document.querySelector('h1').textContent === text", arg=said)


def test_everyday_damage_is_a_group_of_its_own_and_any_may_be_saved_as_jpeg(watch):
    page = open_page(watch)
    assert not any("everyday" in request for request in watch.requests)
    page.get_by_text("+26").click()
    page.get_by_text("Everyday damage", exact=True).click()
    group = page.get_by_role("radiogroup", name="Everyday damage")
    page.wait_for_function(
        "() => document.querySelectorAll('#everyday-damages img[src]').length === 15"
    )
    group.get_by_role("radio", name="Colour cast").click()
    page.wait_for_function("() => document.querySelector('h1').textContent.startsWith('Colour')")
    page.get_by_role("checkbox", name="saved as JPEG").check()
    page.wait_for_url("**/?damage=white_balance&saved=85")
    wait_for_repair(page)
    open_page(watch, "?damage=white_balance&saved=85")
    wait_for_repair(page)
    assert group.get_by_role("radio", name="Colour cast").is_checked()
    page.get_by_role("radio", name="None").click()
    page.wait_for_url("**/?damage=none")


def answer_runs(page, record, error=""):
    """What the server says from now on: parts of a record, and how the run ended."""
    events = [("part", record), ("error", {"error": error}) if error else ("end", {})]
    body = "".join(f"event: {kind}\ndata: {json.dumps(value)}\n\n" for kind, value in events)
    page.unroute("**/watch")
    page.route("**/watch", lambda route: route.fulfill(body=body, content_type="text/event-stream"))


def test_after_an_outage_the_same_choice_is_tried_again_by_itself(watch):
    page = open_page(watch)
    page.route("**/watch", lambda route: route.abort())
    page.get_by_role("slider", name="Strength").press("ArrowLeft")
    page.get_by_role("button", name="Try again").wait_for()
    answer_runs(page, read_record(Settings()))
    wait_for_repair(page)
    assert page.locator("#notice").is_hidden()
    watch.complaints.clear()  # the browser notes the failure


def test_what_fails_behind_a_finished_repair_is_said_where_it_would_stand(watch):
    page, record = open_page(watch), read_record(Settings())
    later = {"paper", "guided", "fixed", "film", "curve", "stop", "depths", "mended_depths"}
    first = {name: part for name, part in record.items() if name not in later}
    answer_runs(page, first, "The server is busy.")
    page.get_by_role("slider", name="Strength").press("ArrowLeft")
    page.wait_for_selector("#tile-paper >> text=not computed")
    assert page.inner_text("#notice") == "The server is busy."
    assert page.inner_text("h1") == record["headline"]
    answer_runs(page, record)
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("#tile-fixed >> text=/\\d\\s%/")


def test_a_finger_that_scrolls_leaves_the_divider_and_a_tap_moves_it(chromium, served):
    page = chromium.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(served.url)
    divider, box = page.locator("#divider"), page.locator("#picture").bounding_box()
    before = divider.get_attribute("aria-valuenow")
    press = {"pointerType": "touch", "pointerId": 7, "clientX": box["x"] + 0.8 * box["width"],
             "clientY": box["y"] + 40, "bubbles": True}  # fmt: skip
    page.evaluate("Element.prototype.setPointerCapture = () => {}")  # of a finger that is not there
    for kind in ("pointerdown", "pointercancel"):
        page.locator("#picture").dispatch_event(kind, press)
    assert divider.get_attribute("aria-valuenow") == before
    page.touchscreen.tap(press["clientX"], press["clientY"])
    assert divider.get_attribute("aria-valuenow") == "80"
    page.close()


# The first is reduced, which is said; of the second more is said than of most.
@pytest.mark.parametrize(
    ("width", "size"), [(390, (1300, 900)), (390, (600, 420)), (1440, (600, 420))]
)
def test_nothing_jumps_while_an_own_photo_is_repaired(watch, width, size):
    page = watch.page
    page.set_viewport_size({"width": width, "height": 844})
    open_page(watch)
    page.wait_for_selector("#damages img:visible")
    page.wait_for_function("() => !document.getAnimations().length")  # the divider has come to rest
    page.evaluate("""() => {
      window.shift = 0;
      new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
        window.shift += entry.value;
      })).observe({ type: "layout-shift" });
    }""")
    page.set_input_files("#photo", picture_file(size=size))
    wait_for_tag(page, "As it came")
    wait_for_repair(page)
    assert page.evaluate("shift") <= 0.02


def test_divider_and_original_by_keys(watch):
    page = open_page(watch)
    divider = page.get_by_role("slider", name="Damaged and repaired")
    divider.press("End")
    assert divider.get_attribute("aria-valuenow") == "100"
    divider.press("ArrowLeft")
    assert divider.get_attribute("aria-valuenow") == "95"
    box = page.locator("#picture").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 4, box["y"] + 20)
    assert divider.get_attribute("aria-valuenow") == "25"
    hold = page.get_by_role("button", name="Hold: original")
    hold.focus()
    page.keyboard.down(" ")
    assert not page.locator("#after").is_visible()
    page.keyboard.up(" ")
    assert page.locator("#after").is_visible()


def test_other_methods_go_into_the_divider_also_by_a_link(watch):
    page = open_page(watch, "?method=fixed")
    page.wait_for_selector("#tag-after >> text=Fixed noise")
    tile = page.locator("#tile-fixed")
    assert page.locator("#after").get_attribute("src") == tile.locator("img").get_attribute("src")
    tile.click()
    assert page.inner_text("#tag-after").startswith("Repaired")


def test_a_threshold_with_the_same_stop_computes_nothing(watch):
    page = open_page(watch, "?photo=goldfish#inside")
    wait_for_film(page)
    before = page.inner_text("#rebuilt")
    page.get_by_role("slider", name="Threshold").press("ArrowUp")  # 61 %: the limit comes first
    page.wait_for_url("**tau=0.61**")
    assert page.inner_text("#rebuilt") == before
    assert not any(request.endswith("/watch") for request in watch.requests)


@pytest.mark.parametrize("photo", ["panda", "goldfish"])  # recorded, and computed
def test_the_paper_s_method_stops_at_our_limit_which_a_button_lifts(watch, photo):
    page, limit = (
        open_page(watch, f"?photo={photo}&damage=impulse_noise#inside"),
        get_profile("photo").stopping.max_depth,
    )
    at_limit = f".story >> text=After {limit} steps of noise, our limit"
    page.wait_for_selector(at_limit, timeout=60_000)
    depth = re.search(r"would stop after (\d+)", page.inner_text("#stop"))[1]
    page.get_by_role("button", name="Let it go on").click()
    page.wait_for_selector(f".story >> text=After {depth} steps of noise", timeout=60_000)
    page.get_by_role("button", name="Back to the usual").click()
    page.wait_for_selector(at_limit)
    assert (photo == "panda") != any(request.endswith("/watch") for request in watch.requests)


@pytest.mark.parametrize("photo", RECORDED[1:3])
def test_the_page_and_python_stop_at_the_same_depth(watch, photo):
    address = f"?photo={photo}&damage=impulse_noise#inside"
    page, rule = open_page(watch, address), get_profile("photo").stopping
    record = read_record(Settings(photo=photo, damage="impulse_noise"))
    wait_for_film(page)
    tau = page.get_by_role("slider", name="Threshold")
    for key, presses in (("ArrowUp", 38), ("ArrowDown", 20), ("ArrowDown", 36)):
        for _ in range(presses):
            tau.press(key)
        rule = replace(rule, tau=float(tau.input_value()))
        stop = choose_depth(logit(record["curve"]["confidence"]), rule)
        sentence = page.inner_text("#stop").replace("\N{NO-BREAK SPACE}", " ")
        is_limit = stop.t_star > 0 and not stop.is_crossed
        stops = f"t* = {stop.t_star}." if stop.t_star else "alone"
        assert ("limit stops" if is_limit else stops) in sentence
        assert ("ven after" in sentence) == stop.has_given_up
        assert ("limit" in sentence) == is_limit


def test_on_a_phone_inside_is_a_story_to_swipe(watch):
    watch.page.set_viewport_size({"width": 390, "height": 844})
    page = open_page(watch, "?photo=goldfish#inside")
    wait_for_film(page)
    names, scenes = page.locator(".scenes button"), page.locator(".scene")
    for n in reversed(range(names.count())):
        names.nth(n).click()
        page.wait_for_selector(f".scenes button:nth-child({n + 1})[aria-current=true]")
        page.wait_for_timeout(600)  # it glides
        sides = [scene.bounding_box() for scene in scenes.all()]
        seen = [k for k, one in enumerate(sides) if one["x"] < 374 and one["x"] + one["width"] > 16]
        assert seen == [n]  # nothing of another
        assert sides[n]["x"] >= 16
        assert sides[n]["x"] + sides[n]["width"] <= 374
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_inside_opens_on_an_example_which_follows_what_is_chosen_or_is_taken(watch):
    page = open_page(watch, "#inside", is_touched=False)
    page.locator("#stop", has_text="there it stops").wait_for()
    assert page.locator("#example").is_visible()
    assert page.inner_text("h1").startswith("Low contrast")
    page.locator("#damages [value=none]").click()
    page.locator("#stop", has_text="left alone").wait_for()
    assert page.locator("#example").is_hidden()
    page = open_page(watch, "#inside", is_touched=False)
    page.locator("#stop", has_text="there it stops").wait_for()
    page.get_by_role("slider", name="Threshold").press("ArrowUp")
    page.wait_for_url("**/?damage=pixelate&tau=0.61#inside")
    assert page.inner_text("h1").startswith("Blocks")


def test_a_dragged_threshold_keeps_its_value_while_reports_come_in(watch):
    page = open_page(watch, "?photo=goldfish&strength=4#inside")
    page.evaluate("document.fonts.ready.then(() => {})")  # nothing moves afterwards
    tau = page.get_by_role("slider", name="Threshold")
    box, start = tau.bounding_box(), tau.input_value()
    place = box["x"] + box["width"] / 2, box["y"] + 10 + (1 - float(start)) * (box["height"] - 20)
    page.mouse.move(*place)
    page.mouse.down()
    page.mouse.move(place[0], place[1] + 40)
    dragged = tau.input_value()
    assert float(dragged) < float(start)
    page.wait_for_function(
        "() => /[5-9] of \\d+ steps|t\\*/.test(document.querySelector('.draws').textContent)"
    )
    assert tau.input_value() == dragged
    page.mouse.up()
    page.wait_for_url(f"**tau={dragged}**")


def upload_photo(watch):
    page = open_page(watch)
    page.set_input_files("#photo", picture_file())
    # The opening's record stays until the upload has ended.
    wait_for_tag(page, "As it came")
    wait_for_repair(page)
    return page


def test_own_photos_are_repaired_and_what_is_none_is_one_sentence(watch):
    page = upload_photo(watch)
    assert page.inner_text("#size") == "96 \N{MULTIPLICATION SIGN} 72"
    assert "panda" not in page.inner_text("h1")
    page.set_input_files("#photo", {"name": "a.png", "mimeType": "image/png", "buffer": b"no"})
    page.wait_for_selector("#notice:not([hidden])")
    page.wait_for_function(
        "() => document.querySelector('#notice').textContent.includes('picture')"
    )
    assert page.inner_text("#size") == "96 \N{MULTIPLICATION SIGN} 72"  # nothing is lost
    page.reload()
    wait_for_repair(page)
    assert page.inner_text("#size") == "96 \N{MULTIPLICATION SIGN} 72"  # nor by a reload
    watch.complaints.clear()  # the browser notes the refusal


def test_what_becomes_of_a_large_moving_file_stays_said_while_it_is_repaired(watch):
    page = open_page(watch)
    frames = [Image.new("RGB", (1300, 900), colour) for colour in ("teal", "coral")]
    data = saved("WEBP", frames[0], save_all=True, append_images=frames[1:])
    moving = {"name": "a.webp", "mimeType": "image/webp", "buffer": data}
    page.set_input_files("#photo", moving)
    wait_for_tag(page, "As it came")
    said = page.inner_text("#notice")
    assert "reduced to" in said
    assert "all but its first frame" in said


@pytest.mark.parametrize(
    ("query", "words"),
    [("photo=zzz", "zzz"), ("damage=hail", "hail"), ("strength=9", "9"), ("seed=many", "many"),
     ("strokes=1.0F0", "strokes")],
)  # fmt: skip
def test_a_link_to_what_is_gone_shows_the_nearest_and_says_so(watch, query, words):
    page = open_page(watch, f"?{query}")
    page.wait_for_selector("#notice:not([hidden])")
    assert words in page.inner_text("#notice")
    assert "panda" in page.inner_text("h1")
    assert query not in page.url  # the address is what is shown


def test_links_within_the_page_keep_what_is_seen(watch):
    page = upload_photo(watch)
    headline, size = page.inner_text("h1"), page.inner_text("#size")
    page.get_by_role("link", name="Inside").click()
    page.wait_for_url("**#inside")
    assert (page.inner_text("h1"), page.inner_text("#size")) == (headline, size)
    page.get_by_role("radio", name="goldfish").click()
    page.wait_for_url("**photo=goldfish**")
    page.get_by_role("link", name="Inside").click()
    assert "photo=goldfish" in page.url
    page.go_back()  # an own photo has no address, and is there again
    page.wait_for_function(f"() => document.querySelector('#size').textContent === '{size}'")


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (768, "dark"), (1440, "light")])
def test_axe_finds_nothing_grave_and_nothing_sticks_out(watch, path, width, scheme):
    watch.page.set_viewport_size({"width": width, "height": 844})
    watch.page.emulate_media(color_scheme=scheme)
    open_page(watch, path)
    watch.page.wait_for_timeout(1000)
    watch.audit()
    assert watch.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_board_counts_what_it_shows(watch):
    page = open_page(watch, "all-15")
    page.wait_for_function("() => document.querySelectorAll('#rows tr').length === 15")
    right = page.locator("#rows td:nth-of-type(2).right").count()
    assert f"right in {right} of 15" in page.inner_text("[data-count=repaired]")
    page.locator("#rows tr").nth(11).locator("a").nth(2).click()
    page.wait_for_url("**/?*damage=contrast*method=paper*")


def test_a_page_whose_script_is_lost_says_so(chromium, served):
    page = chromium.new_page()
    page.route("**/*.js", lambda route: route.abort())
    page.goto(served.url)
    page.locator(".stalled").wait_for(timeout=12_000)
    page.close()
