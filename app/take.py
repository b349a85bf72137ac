"""What can be taken along from a run: files, and a link to its settings."""

from __future__ import annotations

import gradio as gr

from app.adapt_words import DOWNLOAD_WORDS, DOWNLOADS, LINK_WORDS
from app.links import KEYS
from app.scripts import script

_FILES = """
<h2 class="section">${words.title}</h2><p class="help">${words.help}</p>
<div class="files">
  {{#each files}}<button type="button" data-kind="{{kind}}" disabled>
    <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 2v8M4.5 6.8L8 10.3l3.5-3.5M2.5 14h11"/>
    </svg><b>{{title}}</b><span>{{type}}</span></button>{{/each}}
</div><p class="files-note" role="status">${words.waiting}</p>
"""
_FILES_JS = """
const note = element.querySelector(".files-note");
function receive() {
  const { ready, note: words } = props.value;
  element.querySelectorAll("button").forEach((button) => (button.disabled = !ready));
  note.textContent = words;
}
element.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) trigger("select", { kind: button.dataset.kind });
});
watch("value", receive);
receive();
"""
# The browser saves the file as soon as the server has made it.
SAVE = """(file) => {
  if (!file) return;
  const anchor = document.createElement("a");
  anchor.href = file.url;
  anchor.download = file.orig_name || file.path.split("/").pop();
  anchor.click();
}"""
_COPY = """<button type="button" data-copy-link>
  <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M6.7 9.3a3 3 0 0 0 4.3 0l2.1-2.1a3 3 0 0
 0-4.3-4.3l-.9.9M9.3 6.7a3 3 0 0 0-4.3 0L2.9 8.8a3 3 0 0 0 4.3 4.3l.9-.9"/></svg>
  <span>${words.copy}</span></button>"""
_LINK = f"""
<div class="link"><h3 class="title" id="link-title">${{words.title}}</h3>
  <div class="link-row"><input type="text" readonly aria-labelledby="link-title">
  {_COPY}</div>
  <p class="help"></p><p class="link-said" role="status"></p></div>
"""


def files_list() -> gr.HTML:
    """One button a file; its value is what :func:`files_value` returns."""
    return gr.HTML(
        files_value(False),
        html_template=_FILES,
        js_on_load=_FILES_JS,
        apply_default_css=False,
        elem_id="files",
        words=DOWNLOAD_WORDS,
        files=[{"kind": k, "title": t, "type": word} for k, (t, word) in DOWNLOADS.items()],
    )


def files_value(ready: bool, note: str | None = None) -> dict[str, object]:
    """Whether there is a run to take along, and a line about it."""
    usual = "" if ready else DOWNLOAD_WORDS["waiting"]
    return {"ready": ready, "note": usual if note is None else note}


def link_field() -> gr.HTML:
    """The link; ``query`` is written into the page's address too."""
    return gr.HTML(
        link_value("", own=False),
        html_template=_LINK,
        js_on_load=script("links"),
        apply_default_css=False,
        elem_id="link",
        words=LINK_WORDS,
        keys=list(KEYS),
    )


def copy_button() -> gr.HTML:
    """The same link, to be copied from beside the timeline's sentence."""
    return gr.HTML(
        html_template=_COPY,
        apply_default_css=False,
        elem_id="copy-link",
        words={"copy": LINK_WORDS["copy_link"]},
    )


def link_value(
    query: str, own: bool, press: str | None = "", start: bool = False
) -> dict[str, object]:
    """``own``: the run had somebody's own picture.

    ``press``: the example that was put into the page, None if there is none, empty if the
    page keeps what it has; ``start``: press Adapt.
    """
    return {"query": query, "own": own, "press": press, "start": start}
