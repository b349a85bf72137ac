"""The camera, which Chromium plays from a file."""

import numpy as np
import pytest
from PIL import Image

from app.runs.samples import SAMPLES
from tests.fixtures.browser import ARGUMENTS, CHROMIUM, Watch, launch_chromium

WIDTH, HEIGHT = 640, 480


@pytest.fixture(scope="module")
def chromium(tmp_path_factory, networks):
    """One whose camera sees the panda in the middle of its frames, and may be used."""
    path = tmp_path_factory.mktemp("camera") / "panda.y4m"
    panda = Image.fromarray(SAMPLES["panda"].pixels(networks.profile)).resize((HEIGHT, HEIGHT))
    frame = Image.new("YCbCr", (WIDTH, HEIGHT))
    frame.paste(panda.convert("YCbCr"), ((WIDTH - HEIGHT) // 2, 0))
    planes = [frame.getchannel(0), *(frame.reduce(2).getchannel(n) for n in (1, 2))]
    head = f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F10:1 Ip A1:1 C420jpeg\nFRAME\n".encode()
    path.write_bytes(head + b"".join(np.asarray(plane).tobytes() for plane in planes))
    camera = "--use-fake-device-for-media-stream"
    film = f"--use-file-for-fake-video-capture={path}"
    yield from launch_chromium(camera, "--use-fake-ui-for-media-stream", film)


def switch_on(page, home, width=1440):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(home)
    page.get_by_role("slider", name="Damaged and repaired").press("ArrowRight")  # the first touch
    page.get_by_role("button", name="Camera", exact=True).click()


def test_every_frame_is_read_and_the_newest_repaired(watch):
    page = watch.page
    switch_on(page, watch.home, 390)
    page.wait_for_selector("#camera-now .label >> text=giant panda")
    page.wait_for_selector("#camera-repaired img[src]")
    assert page.inner_text("#camera .words").startswith(("AI ", "We found "))
    read = [url for url in watch.requests if "/frame?" in url]
    assert len(read) > 1
    dialog = page.locator("#camera").bounding_box()
    assert dialog["x"] >= 0
    assert dialog["y"] + dialog["height"] <= 844
    watch.audit()


def test_a_frame_is_kept_as_ones_own_photograph(watch):
    page = watch.page
    switch_on(page, watch.home)
    page.wait_for_selector("#camera-keep")
    page.wait_for_selector("#camera-now .label:not(:empty)")
    with page.expect_response("**/photo") as answer:
        page.get_by_role("button", name="Keep as my photo").click()
    assert (answer.value.json()["width"], answer.value.json()["height"]) == (WIDTH, HEIGHT)
    page.wait_for_function("() => !/Looking/.test(document.querySelector('h1').innerText)")
    assert not page.locator("#camera").is_visible()
    assert page.evaluate("document.querySelector('video').srcObject") is None
    page.wait_for_timeout(500)  # what was asked last
    asked = len(watch.requests)
    page.wait_for_timeout(1500)
    assert not any("frame" in url for url in watch.requests[asked:])


def test_a_camera_that_stops_is_said_and_can_go_on(watch):
    page = watch.page
    switch_on(page, watch.home)
    page.wait_for_selector("#camera-now .label:not(:empty)")
    page.evaluate("document.querySelector('video').srcObject.getTracks()[0]"
                  ".dispatchEvent(new Event('ended'))")  # fmt: skip
    page.locator("#camera [role=status]", has_text="stopped").wait_for()
    page.get_by_role("button", name="Turn the camera on").click()
    page.wait_for_selector("#camera-now .label:not(:empty)")
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true });"
                  "document.dispatchEvent(new Event('visibilitychange'))")  # fmt: skip
    page.locator("#camera [role=status]", has_text="hidden").wait_for()
    assert page.evaluate("document.querySelector('video').srcObject") is None


def test_a_server_that_does_not_answer_is_said_and_asked_again(watch):
    page = watch.page
    page.route("**/frame**", lambda route: route.abort())
    switch_on(page, watch.home)
    page.locator("#camera [role=status]", has_text="does not answer").wait_for()
    page.unroute("**/frame**")
    page.wait_for_selector("#camera-now .label:not(:empty)")
    watch.complaints.clear()  # the browser notes the failures


@pytest.mark.parametrize("arguments", [(), ("--use-fake-device-for-media-stream",)])
def test_without_a_camera_or_leave_to_use_it_the_page_goes_on(served, chromium, arguments):
    arguments = [*ARGUMENTS, *arguments]
    browser = chromium.browser_type.launch(executable_path=str(CHROMIUM), args=arguments)
    watch = Watch(browser.new_page(), served.url)
    switch_on(watch.page, watch.home)
    watch.page.locator("#camera [role=status]:not(:empty)").wait_for()
    assert not watch.page.locator("#camera .views").is_visible()
    assert watch.page.evaluate("document.activeElement.id") == "camera-on"
    watch.page.get_by_role("button", name="Close").click()
    watch.page.get_by_role("radio", name="goldfish").click()
    watch.page.wait_for_selector("h1 >> text=goldfish")
    watch.leave()
    browser.close()
