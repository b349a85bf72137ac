"""Builds the page and serves it."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import gradio as gr
import gradio.mcp
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from app.pages.adapt.page import adapt_page
from app.pages.api import adapt_endpoint, repair_endpoint
from app.pages.board.page import board_page
from app.pages.findings.exhibits import Exhibits, read_exhibits
from app.pages.findings.page import (
    findings_page,
    model_cards,
    plotly_script,
    shipped_exhibits,
)
from app.pages.learn.page import learn_page
from app.pages.photo.page import photo_page
from app.pages.shell import first_screen, foot, head, header
from app.parts.files import MADE
from app.parts.theme import theme
from app.runs.compute_thread import computed
from app.runs.session import Session
from app.server import decoder
from app.server.fair_queue import FairQueue
from app.server.first_paint import FirstPaint
from app.server.gate import Gate, path_of
from app.server.limits import MAX_SESSIONS, MAX_WAITING
from app.server.mcp_errors import PlainServer
from app.server.queue_position import CONCURRENCY_ID, PHOTOGRAPHS_ID, QueuePositions
from app.server.strict_blocks import StrictBlocks
from app.server.upload_folder import UploadFolder
from app.words.common import PAGES, TAGLINE, TITLE
from dga.data.uploads import MAX_BYTES
from dga.profiles import PROFILES, get_profile
from dga.speed.pace import warning
from dga.weights.checkpoints import WeightsError
from dga.weights.fetch import obtain
from dga.weights.sources import NETWORKS, Sources


def build(
    session: Session, exhibits: Exhibits
) -> tuple[gr.Blocks, dict[str, bytes], dict[str, str]]:
    """All pages for one set of models and its results.

    Returns also what their scripts ask for by name, JSON and WebP, to which Learn adds what is
    made; and each page's first screen by its address.
    """
    demo = StrictBlocks(title=f"{TITLE}: {TAGLINE.lower()}", analytics_enabled=False)
    queue = FairQueue(True, demo.max_threads, 1, MAX_WAITING, demo)
    line = QueuePositions(partial(queue.visitors, CONCURRENCY_ID))
    photographs = partial(queue.visitors, PHOTOGRAPHS_ID)
    photos = QueuePositions(photographs, PHOTOGRAPHS_ID, line)
    opens, screens = dict[str, bytes](), dict[str, str]()
    pages: dict[str, Callable[[], Sequence[str]]] = {
        "": lambda: adapt_page(session, demo, line, opens),
        "photo": lambda: photo_page(session, demo, photos, opens),
        "board": lambda: board_page(session, demo, line),
        "findings": lambda: findings_page(session, exhibits, opens),
        "learn": lambda: learn_page(session, demo, line, opens),
    }
    for name, path in PAGES:
        with demo.route(name, f"/{path}") if path else demo:
            header(session, path)
            screens[f"/{path}"] = first_screen(session, path, *pages[path]())
            foot()
            if not path:
                adapt_endpoint(session, CONCURRENCY_ID)
                repair_endpoint(session, PHOTOGRAPHS_ID)
    demo.queue(max_size=MAX_WAITING, api_open=False)
    demo._queue = queue
    return demo, opens, screens


def _answer(opens: Mapping[str, bytes], request: Request) -> Response:
    """Made anew each time: whatever packs an answer writes into its headers."""
    name = path_of(request.scope)[1:]
    if name not in opens:
        raise HTTPException(404)
    kind = "image/webp" if name.endswith(".webp") else "application/json"
    return Response(opens[name], media_type=kind)


def serve(
    session: Session,
    host: str,
    port: int | None = None,
    block: bool = True,
    results: Path | None = None,
) -> gr.Blocks:
    """Launch the page; without ``port`` Gradio looks for a free one.

    With ``block`` the models are loaded once it is shown, else they have to be there.
    ``results``: a folder that ``python -m dga figures`` wrote, instead of the shipped one.
    """
    uploads = UploadFolder.open()  # before anything is built: components remember it
    # Torch makes a folder when it compiles.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(uploads.folder / "torch"))
    # It asks itself whether it is there, which no proxy may answer; and nobody else from now on.
    os.environ["no_proxy"] = "*"
    if prefix := os.environ.get("GRADIO_ROOT_PATH", "").rstrip("/"):
        os.environ["GRADIO_ROOT_PATH"] = prefix if "://" in prefix else f"/{prefix.lstrip('/')}"
    gradio.mcp.GradioMCPServer.Server = PlainServer
    exhibits = read_exhibits(results or shipped_exhibits(session.profile))
    demo, opens, screens = computed(build, session, exhibits)
    queue = demo._queue
    assert isinstance(queue, FairQueue)
    shared = [str(path) for path in (*exhibits.files(), *model_cards(session.profile))]
    demo.count = uploads.count
    first = Middleware(FirstPaint, head=head(), screens=screens)
    routes = [Route(f"/{MADE}/{{name}}", partial(_answer, opens))]
    for path, script in plotly_script().items():
        answer = partial(FileResponse, script, media_type="text/javascript")
        routes.append(Route(path, lambda _, answer=answer: answer()))
    # Forwarded addresses count from proxies that were named; a Space has its own in front of it.
    named = os.environ.setdefault("FORWARDED_ALLOW_IPS", "")
    proxied = bool(named or os.environ.get("SPACE_ID"))
    local = not proxied and (host in ("localhost", "::1", "[::1]") or host.startswith("127."))
    lasting = {str(path) for path in uploads.folder.rglob("*")}  # what the page itself shows

    @asynccontextmanager
    async def gated(served: Starlette) -> AsyncIterator[None]:
        """The gate outside of Gradio's own middleware, before the first request."""
        assert served.middleware_stack is not None
        served.middleware_stack = Gate(
            served.middleware_stack, uploads.count, queue.is_own,
            shared, local, proxied,
        )  # fmt: skip
        yield

    launch = partial(
        demo.launch,
        server_name=host,
        server_port=port,
        prevent_thread_lock=True,
        show_error=False,  # only sentences meant for visitors, never an exception's own words
        run_history=False,
        enable_monitoring=False,
        max_file_size=MAX_BYTES,
        state_session_capacity=MAX_SESSIONS,
        app_kwargs={"middleware": [first], "routes": routes, "lifespan": gated},
        allowed_paths=shared,
        theme=theme(),
        footer_links=["api"],
        mcp_server=True,
        ssr_mode=False,
        quiet=not block,
    )
    logging.getLogger("mcp").setLevel(logging.ERROR)  # its warnings repeat whatever it was sent
    threading.Thread(target=uploads.keep_tidy, args=(lasting,), daemon=True).start()
    decoder.start()
    if not block:
        launch()
        # Not a daemon: a network cut off in the middle of a pass brings the interpreter down.
        threading.Thread(target=session.warm_up).start()
        return demo
    failures, ended = list[BaseException](), threading.Event()

    def load() -> None:
        try:
            session.load_models()
            gc.freeze()  # what is loaded stays
            gc.enable()
            if session.pace is not None:
                print(warning(session.models, session.pace), file=sys.stderr)
            session.warm_up()
        except BaseException as error:
            failures.append(error)
            ended.set()

    # A host that stops the page gets the same orderly end as Ctrl+C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        launch()
        # In a thread: code that compiles in this one would swallow an interrupt.
        threading.Thread(target=load).start()
        ended.wait()
    except KeyboardInterrupt:
        pass  # whoever is connected would be waited for
    finally:
        uploads.close()
    if failures:
        raise failures[0]
    return demo


def check_address(host: str, port: int | None) -> None:
    """Raise ``OSError`` with a sentence where the page could not be served."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port or 0), family=family).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise OSError(f"{host}, port {port or 'any'}: {why}. See --host and --port.") from error


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, check what can be checked at once, and serve. Called by ``app.start``."""
    parser = argparse.ArgumentParser(description="Serve the page.")
    parser.add_argument("--profile", default="everyday16", choices=sorted(PROFILES))
    parser.add_argument("--weights", type=Path, help="folder that holds PROFILE/diffusion, ...")
    for name in NETWORKS:
        parser.add_argument(f"--{name}", type=Path, help=f"the {name}'s folder or checkpoint")
    parser.add_argument("--yes", action="store_true", help="fetch public weights without asking")
    parser.add_argument("--results", type=Path, help="folder that dga figures wrote")
    host, port = (os.environ.get(f"GRADIO_SERVER_{name}") for name in ("NAME", "PORT"))
    host = host or "127.0.0.1"
    parser.add_argument("--host", default=host, help=f"address to listen on (here: {host})")
    parser.add_argument("--port", default=port, type=int, help="port (default: 7860, or next free)")
    options = parser.parse_args(arguments)
    try:
        check_address(options.host, options.port)
        profile = get_profile(options.profile)
        sources = Sources(options.weights, **{name: getattr(options, name) for name in NETWORKS})
        obtain(profile, sources, options.yes)
        session = Session.open(options.profile, sources)
        serve(session, options.host, options.port, results=options.results)
        sys.stdout.flush()
        os._exit(0)  # nobody waits for the rest of a run that nobody will see
    except (WeightsError, ValueError, OSError) as error:
        raise SystemExit(f"dga: {error}") from None
