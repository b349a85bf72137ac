"""Hostile pages of other origins, in a real browser, against a page on this machine."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.fixtures.app import Served
from tests.fuzz.blocks import saved

# What one origin can send another without asking, with asking, and through elements of its own.
ATTACKS = """async ([home, file, first]) => {
  const told = {};
  const body = JSON.stringify({ fn_index: 0, data: [], session_hash: "a-stranger" });
  const form = new FormData();
  form.append("files", new Blob(["foreign-bytes"], { type: "image/png" }), "a.png");
  const text = { method: "POST", body, headers: { "content-type": "text/plain" } };
  const json = { method: "POST", body, headers: { "content-type": "application/json" } };
  const upload = { method: "POST", body: form };
  const asked = [
    ["", {}], ["config", {}], ["gradio_api/info", {}], [first, {}], [file, {}],
    ["gradio_api/upload", upload], ["gradio_api/run/predict", text],
    ["gradio_api/run/predict", json], ["gradio_api/queue/join", text],
    ["gradio_api/call/repair", text], ["watch", text], ["watch", json],
    ["gradio_api/mcp/", text], ["gradio_api/mcp/", json],
    ["gradio_api/cancel", text], ["gradio_api/reset", text],
    ["gradio_api/startup-events", {}], ["gradio_api/queue/status", {}],
  ];
  for (const mode of ["cors", "no-cors"])
    for (const credentials of ["omit", "include"])
      for (const [path, how] of asked)
        try {
          const answer = await fetch(home + path, { ...how, mode, credentials });
          if (await answer.text()) told[`${mode} ${path}`] = answer.status;
        } catch {}
  navigator.sendBeacon(home + "gradio_api/upload", form);
  navigator.sendBeacon(home + "gradio_api/run/predict", body);
  const ends = (thing, name, good) => new Promise((end) => {
    thing[good] = () => end((told[name] = good));
    thing.onerror = () => end();
    setTimeout(end, 3000);
  });
  const beat = new EventSource(home + "gradio_api/heartbeat/a-stranger");
  await ends(beat, "heartbeat", "onopen");
  const data = new EventSource(home + "gradio_api/queue/data?session_hash=a-stranger");
  await ends(data, "messages", "onmessage");
  const socket = new WebSocket(home.replace("http", "ws") + "gradio_api/queue/join");
  await ends(socket, "socket", "onopen");
  for (const [tag, path] of [["img", file], ["script", "config"], ["script", "theme.css"]]) {
    const element = document.createElement(tag);
    element.src = home + path;
    const ended = ends(element, `${tag} ${path}`, "onload");
    document.body.append(element);
    await ended;
  }
  for (const enctype of ["multipart/form-data", "text/plain"]) {
    const frame = document.createElement("iframe");
    frame.name = enctype;
    const sent = document.createElement("form");
    Object.assign(sent, { method: "post", enctype, target: enctype });
    sent.action = home + "gradio_api/upload";
    const field = document.createElement("input");
    Object.assign(field, { type: "file", name: "files" });
    const files = new DataTransfer();
    files.items.add(new File(["foreign-bytes"], "a.png"));
    field.files = files.files;
    sent.append(field);
    document.body.append(frame, sent);
    const loaded = new Promise((end) => { frame.onload = end; setTimeout(end, 3000); });
    sent.submit();
    await loaded;
  }
  return told;
}"""


class Blank(BaseHTTPRequestHandler):
    """A page of somebody else's."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><body>mine</body>")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@pytest.fixture
def upload(served: Served) -> str:
    """Somebody else's file, by a name that the hostile page may even know."""
    files = {"files": ("a.png", saved("PNG"))}
    [path] = httpx.post(f"{served.url}gradio_api/upload", files=files).json()
    return str(path)


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1"])
def test_another_origin_gets_nothing_and_changes_nothing(chromium, served, port, upload, host):
    folder = Path(upload).parent.parent
    before = set(folder.rglob("*"))
    page, answers = chromium.new_page(), list[tuple[str, str, int]]()

    def note(response: Any) -> None:
        if response.url.startswith(served.url):
            answers.append((response.request.method, response.url, response.status))

    page.on("response", note)
    page.goto(f"http://{host}:{port}/")
    told = page.evaluate(
        ATTACKS, [served.url, f"gradio_api/file={upload}", "recorded/thumbnails/panda.json"]
    )
    page.close()
    assert told == {}
    assert any(method == "POST" for method, *_ in answers)
    assert [answer for answer in answers if answer[2] < 400] == []
    assert set(folder.rglob("*")) == before


def test_another_origin_frames_nothing(chromium, served, port, upload):
    page = chromium.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    for path in ("", "all-15", f"gradio_api/file={upload}"):
        page.evaluate(
            """(src) => new Promise((end) => {
              const frame = document.createElement("iframe");
              Object.assign(frame, { src, onload: end });
              document.body.append(frame);
            })""",
            served.url + path,
        )
        frame = page.frames[-1]
        assert frame.url.startswith("chrome-error:") or "gradio" not in frame.content()
    page.close()


def test_a_name_that_was_let_to_point_here_is_not_answered(chromium, served):
    """DNS rebinding: to the browser the hostile page is then of the same origin."""
    page = chromium.new_page()
    own = f"http://localhost.evil.test:{urlsplit(served.url).port}/"
    answer = page.goto(own)
    assert answer.status == 403
    found = page.evaluate(
        """(paths) => Promise.all(paths.map(async (path) => {
          const how = path === "/watch" ? { method: "POST", body: "{}" } : {};
          return (await fetch(path, how)).status;
        }))""",
        ["/", "/config", "/gradio_api/info", "/watch"],
    )
    assert set(found) == {403}
    page.close()


def test_links_from_elsewhere_lead_here(chromium, served, port):
    page = chromium.new_page()
    page.goto(f"http://evil.test:{port}/")
    page.evaluate("(url) => { location.href = url; }", served.url)
    page.wait_for_url(served.url + "**")
    page.wait_for_selector("#headline", state="attached")
    page.close()
