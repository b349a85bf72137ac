"""Page Photo in a real browser: divider, depths, one depth everywhere, strokes, an own photo."""

import re

import pytest
from PIL import Image

from tests.fixtures.browser import Watch

PATIENCE = 60_000


@pytest.fixture(scope="module")
def photo(chromium, served):
    watched = Watch(chromium.new_page(viewport={"width": 1440, "height": 900}), served.url)
    watched.page.set_default_timeout(PATIENCE)
    watched.page.goto(served.url + "photo")
    watched.page.wait_for_selector(".ph-divider:not([hidden])")
    yield watched
    watched.leave()


def test_it_opens_with_a_finished_photo_within_one_screen(photo):
    page = photo.page
    heading = page.inner_text(".ph-said h1")
    assert heading.startswith("Noise in two places.")
    own, best = (float(number) for number in re.findall(r"\d+\.\d", heading))
    assert own > best
    assert page.locator(".ph-close figure img").count() == 4
    assert not page.is_visible(".ph-severity")  # strokes have none
    assert page.locator("#ph-buttons").bounding_box()["y"] < 860
    assert page.locator("[data-way] em").all_inner_texts() == [f"{own:.1f}", f"{best:.1f}"]
    page.set_viewport_size({"width": 768, "height": 1024})
    name, links = (page.locator(f".bar-inner > {at}").bounding_box() for at in ("b", "nav"))
    assert name["x"] + name["width"] + 24 < links["x"]
    page.set_viewport_size({"width": 1440, "height": 900})


def test_divider_depths_and_slider_by_keyboard(photo):
    page = photo.page
    divider = page.get_by_role("slider", name="Divider between damaged and repaired")
    divider.press("Home")
    assert divider.get_attribute("aria-valuenow") == "0"
    divider.press("Shift+ArrowRight")
    assert divider.get_attribute("aria-valuenow") == "5"
    box = page.locator(".ph-frame").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 300)
    assert divider.get_attribute("aria-valuenow") == "50"
    page.keyboard.press("d")
    page.wait_for_selector(".ph-map:not([hidden])")
    assert page.get_by_role("switch", name="Show depths").get_attribute("aria-checked") == "true"
    page.keyboard.press("d")
    page.keyboard.down("h")
    assert page.inner_text(".ph-left") == "Undamaged"
    page.keyboard.up("h")
    axis = page.locator(".ph-plot input")
    axis.press("End")
    photo.says(".ph-said h1", "Depth 32 everywhere")
    photo.says(".ph-said h1", "A depth for each place gives")
    assert page.inner_text(".ph-right") == "Depth 32 everywhere"
    assert "depth 32, " in axis.get_attribute("aria-valuetext")
    page.keyboard.press("s")
    photo.says(".ph-said h1", "Noise in two places")


def test_nothing_takes_the_focus_as_it_opens(chromium, served):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(served.url + "photo")
    page.wait_for_selector("#ph-photo[popover]", state="attached")
    page.wait_for_timeout(500)
    assert page.evaluate("[document.activeElement.tagName, scrollY]") == ["BODY", 0]
    page.close()


def test_strokes_are_painted_repaired_and_taken_back(photo):
    page = photo.page
    page.get_by_role("button", name="Cat").click()
    photo.says(".ph-seconds", "repaired in")  # by itself
    page.locator("[data-brush=noise]").click()
    page.keyboard.press("Space")  # where the ring is
    photo.says(".ph-strokes", "3 strokes")
    box = page.locator(".ph-frame").bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + 560, box["y"] + 90)
    page.mouse.up()
    photo.says(".ph-strokes", "4 strokes")
    assert page.locator(".ph-canvas").is_visible()  # where it will be repaired, until it is
    page.keyboard.press("Control+z")
    photo.says(".ph-strokes", "3 strokes")
    assert not page.locator(".ph-canvas").is_visible()
    photo.says(".ph-right", "From before")
    page.keyboard.press("Control+z")  # also while it works
    photo.says(".ph-strokes", "2 strokes")
    page.keyboard.press("Escape")
    photo.says(".ph-seconds", "repaired in")
    assert page.inner_text(".ph-right") == "Repaired"
    page.locator(".ph-plot input").press("Home")  # computed now
    photo.says(".ph-said h1", "Depth 0 everywhere:")
    page.wait_for_url("**/photo?photo=cat&damage=strokes&depth=0")
    for name, file in ("Photo", "cat-repaired.png"), ("Depth map", "cat-depths.png"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Download: {name}").click()
        assert download.value.suggested_filename == file
        with Image.open(download.value.path()) as image:
            assert image.size == (451, 300)


def test_a_link_is_the_state_and_one_pixel_is_one(photo):
    page = photo.page
    page.goto(photo.home + "photo?photo=cat&damage=fog&severity=4&depth=9")
    photo.says(".ph-said h1", "Depth 9 everywhere: ")
    assert page.locator("select").input_value() == "fog"
    assert page.locator("[data-severity][aria-pressed=true]:visible").inner_text() == "4"
    page.get_by_role("button", name="One pixel of the photo").click()
    box = page.locator(".ph-frame").bounding_box()
    assert (box["width"], box["height"]) == (451, 300)


PLACES = "document.querySelector('.ph-said h1').innerText.match(/(\\d+) of (\\d+) places/)"


@pytest.mark.parametrize("width", [1440, 390])
def test_rows_are_seen_as_they_are_repaired_and_stay_where_it_was_stopped(
    chromium, served, monkeypatch, width
):
    monkeypatch.setattr("dga.photograph.AT_ONCE", 4)  # so that there is time to press Cancel
    visit = Watch(chromium.new_page(viewport={"width": width, "height": 900}), served.url)
    page, rows = visit.page, visit.page.locator(".ph-rows")
    page.goto(served.url + "photo?photo=cat&damage=gaussian_noise&severity=3")
    rows.wait_for(state="visible")
    assert page.inner_text(".ph-right") == "Repaired so far"
    page.wait_for_function(f"{PLACES}?.[1] > 12")
    frame, seen = (page.locator(part).bounding_box() for part in (".ph-frame", ".ph-rows"))
    assert (seen["x"], seen["y"], seen["width"]) == (frame["x"], frame["y"], frame["width"])
    assert 0.2 < seen["height"] / frame["height"] < 1
    page.get_by_role("button", name="Cancel").click()
    visit.says(".ph-said h1", "Stopped at")
    done, total = (int(number) for number in page.evaluate(f"{PLACES}.slice(1)"))
    assert 12 < done < total
    assert rows.is_visible()
    assert rows.bounding_box()["height"] >= seen["height"]
    assert page.inner_text(".ph-right") == "Repaired so far"
    assert page.locator("#ph-files button:enabled").count() == 0
    assert page.inner_text(".ph-spoken") == ""
    page.get_by_role("button", name="Repair it").click()
    rows.wait_for(state="visible")  # of the second repair
    visit.says(".ph-seconds", "repaired in")
    assert not rows.is_visible()
    assert page.inner_text(".ph-right") == "Repaired"
    visit.leave()


def test_another_change_drops_what_is_half_done(chromium, served, monkeypatch):
    monkeypatch.setattr("dga.photograph.AT_ONCE", 4)
    visit = Watch(chromium.new_page(viewport={"width": 1440, "height": 900}), served.url)
    page, rows = visit.page, visit.page.locator(".ph-rows")
    page.goto(served.url + "photo?photo=cat&damage=gaussian_noise&severity=3")
    rows.wait_for(state="visible")
    page.locator("[data-severity='5']").click()
    rows.wait_for(state="hidden")
    rows.wait_for(state="visible")
    visit.says(".ph-seconds", "repaired in")
    assert not rows.is_visible()
    visit.leave()


@pytest.mark.parametrize(
    ("query", "said", "shown"),
    [
        ("photo=zzz", "photo “zzz” is not here: Astronaut is shown", "Noise in two places"),
        ("photo=cat&damage=zzz", "damage “zzz” is not here: Noise in two places", ""),
        ("photo=cat&damage=fog&severity=9", "severity “9” is not here: 5 is shown", ""),
        ("depth=99", "depth “99” is not here: 32 is shown", "Depth 32 everywhere"),
        ("depth=deep", "depth “deep” is not here: a depth for each place", "Noise in two places"),
    ],
)
def test_a_link_to_what_is_not_here_shows_the_nearest_and_says_so(
    chromium, served, query, said, shown
):
    visit = Watch(chromium.new_page(viewport={"width": 1440, "height": 900}), served.url)
    page = visit.page
    page.goto(f"{served.url}photo?{query}")
    page.wait_for_selector("#ph-stage .ph-after[src]", state="attached")
    page.wait_for_selector(".ph-notice:not(:empty)", timeout=2000)
    assert said in page.inner_text(".ph-notice")
    visit.says(".ph-said h1", shown)
    assert page.inner_text(".ph-error") == ""
    if "cat" in query:
        assert page.get_attribute("[data-name=cat]", "aria-pressed") == "true"
    if "fog" in query:
        assert page.locator("[data-severity][aria-pressed=true]").inner_text() == "5"
    page.click("#ph-photo [data-name=coffee]")
    page.wait_for_function("!document.querySelector('.ph-notice').textContent.includes('link')")
    visit.leave()


def test_an_own_photo_has_no_truth(photo, tmp_path):
    page = photo.page
    Image.effect_noise((300, 200), 90).convert("RGB").save(tmp_path / "secret.png")
    page.locator(".ph-upload input").set_input_files(tmp_path / "secret.png")
    photo.says(".ph-left", "As it came")
    assert page.get_by_role("switch", name="My photo is already damaged").is_checked()
    page.wait_for_selector("#ph-files button:enabled")
    shown = page.inner_text("#main")
    assert " dB" not in shown
    assert page.get_by_role("button", name="Hold to see it undamaged").count() == 0
    unchanged = "Nothing was found" in page.inner_text(".ph-said h1")
    assert page.inner_text(".ph-seconds").startswith("looked at" if unchanged else "repaired in")
    finished = page.get_by_role("button", name="Done")
    assert finished.is_disabled()  # it would be the same again
    Image.new("RGB", (300, 200), "teal").save(tmp_path / "plain.png")
    page.locator(".ph-upload input").set_input_files(tmp_path / "plain.png")
    photo.says(".ph-said h1", "Nothing was found")
    assert not page.is_visible(".ph-chart")  # all of it lies at depth 0
    assert finished.is_disabled()
    (tmp_path / "words.png").write_text("no picture")
    page.locator(".ph-upload input").set_input_files(tmp_path / "words.png")
    photo.says(".ph-error", "not a PNG")
    page.get_by_role("button", name="Cat").click()  # came undamaged: there would be nothing to see
    photo.says(".ph-strokes", "2 strokes")


def test_on_a_phone_photos_and_damage_are_sheets(chromium, served):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    watched = Watch(chromium.new_page(**phone), served.url)
    page = watched.page
    page.goto(served.url + "photo")
    page.wait_for_selector(".ph-divider:not([hidden])")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name, inside in ("Photo", "#ph-photo"), ("Damage it yourself", "#ph-damage"):
        assert not page.locator(inside).is_visible()
        page.locator(".ph-sheets").get_by_role("button", name=name).tap()
        page.wait_for_selector(inside)
        assert page.evaluate("(sheet) => !!document.activeElement.closest(sheet)", inside)
        low = page.locator(f"{inside} :is(button, select, .ph-upload):visible").all()
        assert min(one.bounding_box()["height"] for one in low) >= 44
        page.keyboard.press("Escape")
        page.wait_for_selector(inside, state="hidden")
        assert page.evaluate("document.activeElement.textContent") == name
    page.locator(".ph-sheets button").last.tap()
    page.locator("#ph-damage").get_by_role("button", name="Close").tap()
    page.wait_for_selector("#ph-damage", state="hidden")
    page.locator(".ph-sheets button").last.tap()
    page.locator("[data-brush=noise]").tap()  # whoever paints has to see the photo
    page.wait_for_selector("#ph-damage", state="hidden")
    watched.leave()


def test_on_a_phone_cancel_is_in_sight_and_escape_ends_a_sheet_before_a_repair(
    chromium, served, monkeypatch
):
    monkeypatch.setattr("dga.photograph.AT_ONCE", 4)
    watched = Watch(chromium.new_page(viewport={"width": 390, "height": 844}), served.url)
    page = watched.page
    page.goto(served.url + "photo?photo=cat&damage=gaussian_noise&severity=3")
    page.locator(".ph-rows").wait_for(state="visible")
    cancel = page.get_by_role("button", name="Cancel")
    assert cancel.bounding_box()["y"] + cancel.bounding_box()["height"] <= 844 - 60
    page.get_by_role("button", name="Photo", exact=True).click()
    page.wait_for_selector("#ph-photo")
    page.keyboard.press("Escape")
    page.wait_for_selector("#ph-photo", state="hidden")
    page.wait_for_timeout(500)
    watched.says(".ph-said h1", "Repairing it.")
    cancel.focus()
    page.keyboard.press("Enter")
    watched.says(".ph-said h1", "Stopped at")
    page.wait_for_function("document.activeElement.textContent.trim() === 'Repair it'")
    watched.leave()
