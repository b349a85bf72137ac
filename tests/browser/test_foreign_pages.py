"""Hostile pages of other origins, in a real browser, against a page on this machine."""

from pathlib import Path
from typing import Any

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
    ["", {}], ["config", {}], [first, {}], [file, {}], ["gradio_api/upload", upload],
    ["gradio_api/run/predict", text], ["gradio_api/queue/join", json], ["watch", text],
    ["watch", json], ["gradio_api/mcp/", json], ["gradio_api/queue/status", {}],
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
  const socket = new WebSocket(home.replace("http", "ws") + "gradio_api/queue/join");
  await ends(socket, "socket", "onopen");
  for (const [tag, path] of [["img", file], ["script", "config"], ["script", "theme.css"]]) {
    const element = document.createElement(tag);
    element.src = home + path;
    const ended = ends(element, `${tag} ${path}`, "onload");
    document.body.append(element);
    await ended;
  }
  const frame = document.createElement("iframe");
  const sent = document.createElement("form");
  const field = document.createElement("input");
  const files = new DataTransfer();
  files.items.add(new File(["foreign-bytes"], "a.png"));
  Object.assign(field, { type: "file", name: "files", files: files.files });
  Object.assign(sent, { method: "post", enctype: "multipart/form-data", target: "frame" });
  Object.assign(sent, { action: home + "gradio_api/upload" });
  Object.assign(frame, { name: "frame" });
  sent.append(field);
  document.body.append(frame, sent);
  const loaded = new Promise((end) => { frame.onload = end; setTimeout(end, 3000); });
  sent.submit();
  await loaded;
  return told;
}"""


@pytest.fixture
def upload(served: Served) -> str:
    """Somebody else's file, by a name that the hostile page may even know."""
    files = {"files": ("a.png", saved("PNG"))}
    [path] = httpx.post(f"{served.url}gradio_api/upload", files=files).json()
    return str(path)


@pytest.mark.parametrize("name", ["evil.test", "127.0.0.1"])
def test_another_origin_gets_nothing_and_changes_nothing(chromium, served, host, upload, name):
    folder = Path(upload).parent.parent
    before = set(folder.rglob("*"))
    page, answers = chromium.new_page(), list[tuple[str, str, int]]()

    def note(response: Any) -> None:
        if response.url.startswith(served.url):
            answers.append((response.request.method, response.url, response.status))

    page.on("response", note)
    host.files["/"] = b"<!doctype html><body>mine</body>"
    page.goto(host.url.replace("127.0.0.1", name))
    told = page.evaluate(
        ATTACKS, [served.url, f"gradio_api/file={upload}", "recorded/thumbnails/panda.json"]
    )
    page.close()
    assert told == {}
    assert any(method == "POST" for method, *_ in answers)
    assert [answer for answer in answers if answer[2] < 400] == []
    assert set(folder.rglob("*")) == before
