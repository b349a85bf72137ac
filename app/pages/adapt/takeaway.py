"""What follows a run: the comparison, files to take along, the link."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder

from app.pages.adapt.compare import compare, compare_value
from app.parts.examples import Example, identify
from app.parts.html import LIGHT, for_visitor, html
from app.runs import links
from app.runs.export import RunExport
from app.runs.links import KEYS
from app.runs.run_state import RunState
from app.runs.session import Session
from app.runs.visitors import Runs
from app.server.strict_blocks import picked
from app.words.adapt import DOWNLOAD_WORDS, DOWNLOADS, LINK_WORDS

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
    return html(
        files_value(False),
        html_template=_FILES,
        js_on_load=_FILES_JS,
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
    return html(
        link_value("", own=False),
        html_template=_LINK,
        scripts=["adapt/links"],
        elem_id="link",
        words=LINK_WORDS,
        keys=list(KEYS),
    )


def copy_button() -> gr.HTML:
    """The same link, to be copied from beside the timeline's sentence."""
    return html(
        html_template=_COPY,
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


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ResultActions:
    """The components below the cards; ``saved`` holds the file last asked for."""

    session: Session
    examples: list[Example]
    compare: gr.HTML
    files: gr.HTML
    saved: gr.File
    link: gr.HTML

    def outputs(self) -> list[gr.HTML]:
        """What :meth:`show` writes to."""
        return [self.compare, self.files, self.link]

    def show(self, state: RunState) -> dict[Any, Any]:
        """A run that ended, however it did, or a recorded one."""
        example = self.example(state)
        name = None if example is None else example.name
        query = links.write(self.session.profile, state.settings, name)
        return {
            self.compare: compare_value(state),
            self.files: files_value(state.result is not None),
            self.link: link_value(query, own=example is None),
        }

    def example(self, state: RunState) -> Example | None:
        """The example that the run began with; None for an own picture."""
        subject = state.subject
        source = subject.input if subject.clean is None else subject.clean
        return identify(source, self.examples)

    def keep(self, state: RunState) -> RunExport | None:
        """The run with its picture's name; None unless it was finished."""
        if state.result is None:
            return None
        example = self.example(state)
        known = {"example": example.name, "title": example.title} if example else {}
        return RunExport(state, state.result, self.session.weights, **known)


def result_actions(session: Session, examples: list[Example]) -> ResultActions:
    """Lay out the card below the results."""
    with gr.Row(elem_id="after"):
        slider = compare(session.profile)
        with gr.Column(elem_id="take"):
            files = files_list()
            saved = gr.File(visible="hidden", elem_id="saved")
            link = link_field()
    return ResultActions(session, examples, slider, files, saved, link)


def connect_after(after: ResultActions, runs: Runs, ended: Mapping[str, Any]) -> None:
    """``ended``: events after which a visitor's last run has something new to show."""

    def show(visitor: str) -> dict[Any, Any]:
        last = runs.last(visitor)
        if last is None or last.state.stop is None:
            return {after.files: gr.skip()}
        return after.show(last.state)

    def make(event: gr.EventData, request: gr.Request) -> dict[Any, Any]:
        """Write one file into Gradio's cache, which deletes it after a while."""
        kind = picked(event, "kind")
        last = runs.last(str(request.session_hash))
        kept = after.keep(last.state) if last else None
        if kept is None or kind not in DOWNLOADS:
            note = files_value(False, DOWNLOAD_WORDS["gone"])
            return {after.saved: None, after.files: note}
        name, content = kept.file(kind)
        try:
            return {after.saved: save_bytes_to_cache(content, name, get_upload_folder())}
        except OSError:
            _log.exception("A file could not be saved")
            return {after.saved: None, after.files: files_value(True, DOWNLOAD_WORDS["failed"])}

    for event in ended.values():
        event.then(for_visitor(show), None, after.outputs(), **LIGHT)
    made = after.files.select(make, None, [after.saved, after.files], **LIGHT)
    made.then(None, after.saved, None, js=SAVE, **LIGHT)
