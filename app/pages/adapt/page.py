"""The page Try it: one picture, damaged and repaired."""

from __future__ import annotations

from html import escape
from typing import Any

import gradio as gr

from app.pages.adapt.input_card import input_card
from app.pages.adapt.screen import screen
from app.pages.adapt.try_handlers import TryComponents, TryHandlers
from app.parts.examples import load_examples
from app.parts.files import add_json
from app.parts.html import LIGHT, SAVE, for_event, for_visitor, html
from app.parts.marks import mark
from app.parts.pictures import data_uri
from app.presets.store import Preset, Presets
from app.runs.run_value import blank_value, run_value
from app.runs.session import Session
from app.server.queue_position import LOOK_INTERVAL, QueuePositions
from app.words.common import PRESET_WORDS
from app.words.screen import SCREEN_WORDS
from dga.titles import short

# The script's tau and fixed depth, in the places of check_settings' order, and the method.
_ASKED = "(...a) => { [a[3], a[5], a[9]] = window.dga.asked(); return a; }"
_START = _ASKED.replace("return", "window.dga.waiting(); return")
_UPLOADED = "(picture, note) => { window.dgaLine.uploaded(picture, note); return []; }"
# Picture and run outlive a look at another page: they are still on the server.
_KEPT = """async () => {
  const kept = JSON.parse(sessionStorage.getItem("dga-picture") || "null");
  const there = kept?.url && (await fetch(kept.url).catch(() => null))?.ok;
  if (!there) sessionStorage.removeItem("dga-picture");
  return [there ? kept : null, sessionStorage.getItem("dga-last") ?? ""];
}"""


def adapt_page(
    session: Session, demo: gr.Blocks, line: QueuePositions, opens: dict[str, bytes]
) -> tuple[str]:
    """Lay the page out and connect it. Returns what it opens with, as HTML.

    The run that it asks for then goes into ``opens`` as JSON, by name.
    """
    examples = load_examples()
    presets = Presets(session, examples)
    first = next(iter(presets.all), None)
    recorded = [_example(preset) for preset in presets.all]
    with gr.Column(elem_id="main"):
        card = input_card(session, examples, recorded, presets.opening)
        notice = html("", elem_id="notice")
        run = run_value(first.state) if first else {}
        named = add_json(opens, run) if run else ""
        shown = screen(blank_value(session.profile) | {"opens": named})
    page = TryComponents(
        screen=shown,
        timer=gr.Timer(LOOK_INTERVAL, active=False),
        saved=gr.File(visible="hidden"),
        notice=notice,
        **card,
    )
    _connect(TryHandlers(session, line, page, examples, presets), demo)
    return (opens_with(run) if run else "",)


def opens_with(run: dict[str, Any]) -> str:
    """What the opening begins with: how a finished run's damaged picture is read, and why noise."""
    words: dict[str, Any] = SCREEN_WORDS
    shares = run["input"]["probs"]
    best = shares.index(max(shares))
    kind = "opens_wrong" if best != run["truth"] else "opens_right_first"
    said = escape(words[kind].format(label=run["classes"][best]), quote=False)
    reads, _, verdict = said.rstrip(".").rpartition(" ")
    why = words["why"]["dga-guided"].format(kind=run["classes"][run["truth"]])
    pictures = "".join(
        f'<figure class="pic of-{name}"><figcaption><span class="choose">{mark(name)}'
        f'<b>{words["short"][name]}</b></span></figcaption><p class="gloss"></p>'
        f'<div class="im"><img src="{run[key]["src"]}" alt=""></div></figure>'
        for name, key in (("clean", "clean"), ("damaged", "input"))
    )
    return (
        f'<div class="try"><div class="say"><h1>{reads} <b class="{verdict}">{verdict}</b>.</h1>'
        f'<p class="second">{why}</p></div><div class="shots">{pictures}</div></div>'
    )


def _example(preset: Preset) -> dict[str, str]:
    """A recorded run as one of the line's examples."""
    settings = preset.state.settings
    damage = short(settings.corruption) if settings.corruption else ""
    return {
        "name": preset.name,
        "title": PRESET_WORDS["detail"].format(
            picture=preset.example.title, damage=damage, severity=settings.severity
        ),
        "lesson": preset.lesson,
        "src": data_uri(preset.state.subject.input, "JPEG"),
    }


def _connect(handlers: TryHandlers, demo: gr.Blocks) -> None:
    page = handlers.page
    screen, asked = page.screen, page.asked()
    run = handlers.connect(asked, [screen], start=_START)
    locked = [screen, page.adapt, page.cancel, page.timer]
    more = [*locked, page.notice]
    expanded = handlers.connect_more(screen.expand, handlers.expand, "every", more)

    # The damaged picture at once, in a line of its own what follows: it is dropped where it
    # would have to wait.
    damaged = screen.input(
        for_visitor(handlers.damaged),
        asked,
        locked,
        js=_ASKED,
        cancels=[run, expanded],
        trigger_mode="multiple",
        **LIGHT,
    )
    handlers.connect_beside(damaged, locked)

    shown = [*more, page.upload_note, page.good, *asked]

    screen.edit(for_event(handlers.name_picture, "kind"), None, [screen], **LIGHT)

    pick = for_event(handlers.pick, "example")
    screen.select(pick, None, shown, cancels=[run, expanded], **LIGHT)

    download = for_event(handlers.download, "file")
    saved = screen.download(download, None, [page.saved, page.notice], **LIGHT)
    saved.then(None, page.saved, None, js=SAVE, **LIGHT)

    # The notice is empty then: it brings what the tab had last.
    came = [page.picture, page.notice]
    opened = demo.load(handlers.arrive, came, shown, js=_KEPT, **LIGHT)
    handlers.connect_beside(opened, locked)

    judged = page.picture.upload(
        handlers.arrived,
        [page.picture, page.good],
        [page.picture, page.upload_note, page.good, page.corruption],
        **LIGHT,
    )
    judged.then(None, [page.picture, page.upload_note], None, js=_UPLOADED, **LIGHT)
