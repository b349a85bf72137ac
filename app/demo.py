"""Builds the page and serves it."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import gradio as gr
import gradio.mcp
from starlette.middleware import Middleware

from app.adapt_page import adapt_page
from app.analysis_page import analysis_page, shipped_exhibits
from app.api import adapt_endpoint
from app.exhibits import Exhibits, read_exhibits
from app.fair import MAX_WAITING, FairQueue
from app.faults import answer_fault
from app.fifteen_page import fifteen_page
from app.gate import Gate
from app.learn_page import learn_page
from app.line import CONCURRENCY_ID, Line
from app.mcp_words import use_own_words
from app.place import check_place
from app.session import Session
from app.sessions import MAX_SESSIONS, keep_little
from app.storeroom import Storeroom
from app.strict import StrictBlocks
from app.text import FOOTER, PAGES, TAGLINE, TITLE, theme
from dga.fetch import obtain
from dga.pace import warning
from dga.profiles import PROFILES, get_profile
from dga.sources import NETWORKS, Sources
from dga.uploads import MAX_BYTES
from dga.weights import WeightsError

STATIC = Path(__file__).parent / "static"
CACHE_SECONDS = (600, 3000)  # look every 10 minutes, delete what is older than 50


def build(session: Session, exhibits: Exhibits) -> gr.Blocks:
    """All pages for one set of models and its results."""
    line = Line()
    with StrictBlocks(
        title=f"{TITLE}: adaptive diffusion", analytics_enabled=False, delete_cache=CACHE_SECONDS
    ) as demo:
        gr.HTML(_header(session, ""), apply_default_css=False, elem_id="head")
        adapt_page(session, demo, line)
        _foot()
        adapt_endpoint(session, CONCURRENCY_ID)
    with demo.route("Fifteen corruptions", "/fifteen"):
        gr.HTML(_header(session, "fifteen"), apply_default_css=False, elem_id="head")
        fifteen_page(session, demo, line)
        _foot()
    with demo.route("Analysis", "/analysis"):
        gr.HTML(_header(session, "analysis"), apply_default_css=False, elem_id="head")
        analysis_page(session.profile, exhibits)
        _foot()
    with demo.route("Learn", "/learn"):
        gr.HTML(_header(session, "learn"), apply_default_css=False, elem_id="head")
        learn_page(session, demo)
        _foot()
    return _queued(demo, line)


def _queued(demo: gr.Blocks, line: Line) -> gr.Blocks:
    """With a bounded queue in which clients take turns, and no way around it."""
    demo.queue(max_size=MAX_WAITING, api_open=False)
    queue = FairQueue(
        live_updates=True,
        concurrency_count=demo.max_threads,
        update_intervals=1,
        max_size=MAX_WAITING,
        blocks=demo,
    )
    demo._queue = queue
    line.follow(lambda: queue.visitors(CONCURRENCY_ID), queue.address_of)
    return demo


def _styles() -> str:
    """The sheets of all parts; ``page.css`` first, so that the others may refine it."""
    sheets = sorted(STATIC.glob("*.css"), key=lambda path: (path.name != "page.css", path.name))
    return "\n".join(path.read_text("utf-8") for path in sheets)


def _foot() -> None:
    gr.HTML(f"<p>{FOOTER}</p>", apply_default_css=False, elem_id="foot")


def _navigation(page: str) -> str:
    """Links relative to any page, so that they also hold behind a proxy's path."""
    links = "".join(
        f'<a href="./{path}"{" aria-current=page" if path == page else ""}>{name}</a>'
        for name, path in PAGES
    )
    return f'<nav aria-label="Pages">{links}</nav>'


def _header(session: Session, page: str) -> str:
    profile = session.profile
    device = "GPU" if session.models.device.type == "cuda" else "CPU"
    logo = (
        '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" '
        'fill="var(--acc)"/><path d="M7 9c7 0 8 14 18 14" fill="none" stroke="var(--on-acc)" '
        'stroke-width="3" stroke-linecap="round"/><circle cx="16" cy="16.5" r="3.5" '
        'fill="var(--acc)" stroke="var(--on-acc)" stroke-width="2.5"/></svg>'
    )
    return (
        f'<div class="bar-inner">{logo}<b>{TITLE}</b><span class="tag">{TAGLINE}</span>'
        f'{_navigation(page)}<span class="profile"><b>{profile.name}</b> · '
        f"{profile.image_size} px · {device}</span></div>"
    )


def serve(
    session: Session,
    host: str | None = None,
    port: int | None = None,
    block: bool = True,
    results: Path | None = None,
) -> gr.Blocks:
    """Launch the page; ``host`` and ``port`` default to Gradio's environment variables.

    ``results``: a folder that ``python -m dga figures`` wrote, instead of the shipped one.
    """
    room = Storeroom.open()  # before anything is built: components remember their folder
    gradio.mcp.DEFAULT_TEMP_DIR = str(room.folder)  # it was read when Gradio was imported
    use_own_words()
    exhibits = read_exhibits(results or shipped_exhibits(session.profile))
    demo = build(session, exhibits)
    demo.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=True,
        show_error=False,  # only sentences meant for visitors, never an exception's own words
        run_history=False,
        enable_monitoring=False,
        max_file_size=MAX_BYTES,
        state_session_capacity=MAX_SESSIONS,
        app_kwargs={
            "middleware": [Middleware(Gate, has_room=room.has_room)],
            "exception_handlers": {OSError: answer_fault},
        },
        allowed_paths=[str(path) for path in exhibits.files()],
        theme=theme(),
        head=f"<style>{_styles()}</style>",
        footer_links=["api"],
        mcp_server=True,
        ssr_mode=False,
        quiet=not block,
    )
    keep_little(demo)
    logging.getLogger("mcp").setLevel(logging.ERROR)  # its warnings repeat whatever it was sent
    room.keep_tidy(lambda: _lasting_files(demo))
    # After the page can be loaded: both need the processor. Not a daemon: a network cut off
    # in the middle of a pass brings the interpreter down with it.
    threading.Thread(target=session.warm_up).start()
    if block:
        # A host that stops the page gets the same orderly end as Ctrl+C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        demo.block_thread()
        room.close()
    return demo


def _lasting_files(demo: gr.Blocks) -> set[str]:
    """What components show from the start."""
    return {path for block in demo.blocks.values() for path in getattr(block, "keep_in_cache", ())}


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry of ``python app.py``."""
    parser = argparse.ArgumentParser(description="Serve the page.")
    parser.add_argument("--profile", default="everyday16", choices=sorted(PROFILES))
    parser.add_argument("--weights", type=Path, help="folder that holds PROFILE/diffusion, ...")
    for name in NETWORKS:
        parser.add_argument(f"--{name}", type=Path, help=f"the {name}'s folder or checkpoint")
    parser.add_argument("--yes", action="store_true", help="fetch public weights without asking")
    parser.add_argument("--results", type=Path, help="folder that dga figures wrote")
    parser.add_argument("--host", help="address to listen on (default: GRADIO_SERVER_NAME)")
    parser.add_argument("--port", type=int, help="port (default: GRADIO_SERVER_PORT, or 7860)")
    options = parser.parse_args(arguments)
    try:
        check_place(options.host, options.port)
        named = {name: getattr(options, name) for name in NETWORKS}
        profile = get_profile(options.profile)
        obtain(profile, Sources(options.weights, **named), options.yes)
        session = Session.load(options.profile, options.weights, **named)
        if session.pace is not None:
            print(warning(profile, session.pace), file=sys.stderr)
        serve(session, options.host, options.port, results=options.results)
        sys.stdout.flush()
        os._exit(0)  # nobody waits for the rest of a run that nobody will see
    except (WeightsError, ValueError, OSError) as error:
        raise SystemExit(f"dga: {error}") from None
