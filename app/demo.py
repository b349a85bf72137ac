"""Builds the server and its pages, and serves them."""

from __future__ import annotations

import argparse
import gc
import inspect
import json
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus, urlencode

import gradio as gr
from fastapi import HTTPException, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from gradio.utils import get_upload_folder
from markupsafe import escape
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from app.endpoints import Service, find_home
from app.pages.all15 import all15_page
from app.pages.learn import learn_page
from app.pages.repair import repair_page
from app.pages.results import results_page
from app.pages.shell import STATIC, Page, digest, render_page
from app.runs.models import Networks
from app.runs.samples import find_packaged
from app.runs.sentences import describe_link
from app.runs.settings import SettingsError, parse_link
from app.server.gate import Gate
from app.server.visitors import FILE_SECONDS, Visitors
from dga.data.uploads import MAX_BYTES
from dga.io.shipped import find_shipped_folder
from dga.networks.models import find_models
from dga.profiles import PROFILES
from dga.weights.checkpoints import WeightsError
from dga.weights.sources import NETWORKS, OPTIONAL_NETWORKS, Sources

RECORDED, RESULTS = find_shipped_folder("assets/recorded"), find_shipped_folder("assets/results")
_log = logging.getLogger(__name__)
LOOK_SECONDS = 20.0
"""Between looks at what is old or idle."""


class Server(gr.Server):
    """Gradio's, with the gate outside of all middleware. ``is_local``: for this machine alone."""

    def __init__(self, is_local: bool, visitors: Visitors) -> None:
        super().__init__(title="dga", docs_url=None, redoc_url=None, openapi_url=None)
        self.is_local, self.visitors = is_local, visitors

    def build_middleware_stack(self) -> ASGIApp:
        """Called once, when the server begins."""
        return Gate(super().build_middleware_stack(), self.is_local, self.visitors)


def build_server(service: Service, is_local: bool) -> Server:
    """The server with our pages, files and endpoints."""
    server = Server(is_local, service.visitors)
    for page in (repair_page(service.networks), all15_page(), results_page(), learn_page()):
        answer = partial(_send_page, render_page(page), page, service)
        server.get(f"/{page.path}", response_class=HTMLResponse)(answer)
    server.mount(f"/files/{digest()}", StaticFiles(directory=STATIC))
    server.mount("/recorded", StaticFiles(directory=RECORDED))
    server.mount("/results-files", StaticFiles(directory=RESULTS))
    server.get("/plotly.js")(_send_plotly)
    server.post("/photo")(service.upload)
    server.get("/photo/{key}/{result}")(service.download)
    server.post("/watch")(service.watch)
    server.get("/brushes/{key}/{kind}")(service.show_brush)
    server.get("/thumbnails/{key}")(service.show_thumbnails)
    server.post("/reading")(service.read)
    server.post("/frame")(service.read_frame)
    server.post("/frame/repair")(service.repair_frame)
    server.get("/card.png")(service.make_card)
    # Without Gradio's queue an assistant's call is her own request, and ends with it; programs'
    # clients go through the queue all the same, and then through ours.
    words = inspect.getdoc(service.repair)  # what it takes and gives, too
    server.api(
        service.repair, name="repair", description=words, concurrency_limit=None, queue=False
    )
    return server


async def _send_page(html: str, page: Page, service: Service, request: Request) -> str:
    """The page; its links are relative to where this server is reached.

    Other sites show what its link leads to: title, description and a card. Settings that a link
    asks for are checked here alone; its script shows them, or that they are not here.
    """
    root = request.scope.get("root_path", "").rstrip("/")
    title, description, stray = page.title, page.description, ""
    asked = dict[str, Any]()
    if not page.path and request.query_params:
        try:
            settings = parse_link(request.query_params)
            original = service.photos.samples[settings.photo]
        except (SettingsError, KeyError):
            stray = f"“{unquote_plus(request.url.query)[:60]}” is not here: the usual is shown."
        else:
            title, description = describe_link(settings, original.label)
            asked = settings.model_dump(exclude_defaults=True)
    card = f"{find_home(request)}card.png{'?' if asked else ''}{urlencode(asked)}"
    values = {"base": f"{root}/", "title": title, "description": description, "card": card,
              "asked": json.dumps(asked), "stray": stray}  # fmt: skip
    for name, value in values.items():
        html = html.replace(f"[[{name}]]", escape(value), 1)
    return html


async def _send_plotly() -> Response:
    """The library that draws figures, as the installed package has it."""
    script = find_packaged("plotly", "package_data/plotly.min.js")
    if script is None:
        raise HTTPException(404)
    return FileResponse(script, media_type="text/javascript")


def serve(
    networks: Networks, host: str = "127.0.0.1", port: int | None = None, is_quiet: bool = False
) -> tuple[gr.Server, str]:
    """Launch; without ``port`` Gradio looks for a free one. Returns the server and its address.

    ``is_quiet``: whether Gradio prints nothing. Runs wait until the networks are loaded.
    """
    if prefix := os.environ.get("GRADIO_ROOT_PATH", "").rstrip("/"):
        os.environ["GRADIO_ROOT_PATH"] = prefix if "://" in prefix else f"/{prefix.lstrip('/')}"
    service = Service(networks)
    proxies, os.environ["FORWARDED_ALLOW_IPS"] = service.visitors.proxies, ""  # the gate's, alone
    is_local = not proxies and not os.environ.get("SPACE_ID") and is_loopback(host)
    service.decoder.start()
    server = build_server(service, is_local)
    _, url, _ = server.launch(
        server_name=host, server_port=port, prevent_thread_lock=True, quiet=is_quiet,
        show_error=True, run_history=False, enable_monitoring=False, max_file_size=MAX_BYTES,
        mcp_server=True, ssr_mode=False, footer_links=[], _frontend=False,
    )  # fmt: skip
    folder = Path(os.environ.setdefault("GRADIO_TEMP_DIR", get_upload_folder()))
    threading.Thread(target=_keep_tidy, args=(server, folder), daemon=True).start()
    return server, url


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    return host in ("localhost", "::1", "[::1]") or host.startswith("127.")


def _keep_tidy(server: gr.Server, folder: Path) -> None:
    """End connections on which nothing moves, and old files of programs' calls, for ever."""
    still = dict[Any, object]()
    while folder.exists():
        time.sleep(LOOK_SECONDS)
        try:
            still = close_idle(list(server.get_blocks().server.server_state.connections), still)
            remove_old(folder)
        except Exception:
            _log.exception("Connections and files were not looked through; tried again soon")


def remove_old(folder: Path) -> None:
    """Remove files below a folder that are older than :data:`FILE_SECONDS`, and empty folders."""
    for path in folder.rglob("*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > FILE_SECONDS:
                path.rmdir() if path.is_dir() else path.unlink()


def close_idle(connections: Sequence[Any], still: Mapping[Any, object]) -> dict[Any, object]:
    """End those that wait, for a request or for their reader, just as in ``still``, a look ago."""
    now = dict[Any, object]()
    for connection in connections:
        unsent = connection.transport.get_write_buffer_size()
        cycle = getattr(connection, "cycle", None)
        if unsent or cycle is None or cycle.response_complete:
            now[connection] = cycle, unsent
            if still.get(connection) == now[connection]:
                connection.loop.call_soon_threadsafe(connection.transport.abort)
    return now


def check_address(host: str, port: int | None) -> None:
    """Raise ``OSError`` with a sentence where the page could not be served."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port or 0), family=family).close()
    except (OSError, OverflowError) as error:
        reason = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise OSError(f"{host}, port {port or 'any'}: {reason}. See --host and --port.") from error


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command's options."""
    parser = argparse.ArgumentParser(description="Serve the page.")
    parser.add_argument("--profile", default="photo", choices=sorted(PROFILES))
    parser.add_argument("--weights", type=Path, help="folder that holds PROFILE/diffusion, ...")
    for name in NETWORKS + OPTIONAL_NETWORKS:
        parser.add_argument(f"--{name}", type=Path, help=f"the {name}'s folder or checkpoint")
    host, port = (os.environ.get(f"GRADIO_SERVER_{name}") for name in ("NAME", "PORT"))
    host = host or "127.0.0.1"
    parser.add_argument("--host", default=host, help=f"address to listen on (here: {host})")
    parser.add_argument("--port", default=port, type=int, help="port (default: 7860, or next free)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, check what can be checked at once, and serve. Called by ``app.start``.

    Errors are sentences; where ``DGA_TRACEBACK`` is set, they are raised as they are.
    """
    options = parse_options(arguments)
    try:
        check_address(options.host, options.port)
        places = {name: getattr(options, name) for name in NETWORKS + OPTIONAL_NETWORKS}
        sources = Sources(options.weights, **places)
        files = find_models(options.profile, sources)
        _serve_until_stopped(Networks(files), options.host, options.port)
    except (WeightsError, ValueError, OSError) as error:
        if os.environ.get("DGA_TRACEBACK"):
            raise
        raise SystemExit(f"dga: {error}") from None


def _serve_until_stopped(networks: Networks, host: str, port: int | None) -> None:
    """Serve until Ctrl+C or SIGTERM; the networks are loaded once the page is there."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        serve(networks, host, port)
        networks.load()
        gc.freeze()  # what is loaded stays
        gc.enable()
        threading.Event().wait()
