"""Every part of Gradio and of the assistants' protocol that is not theirs to promise.

A new version that fails here changes what a module of ours leans on: read that module before
raising the bound in requirements.txt.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
import gradio.blocks
import gradio.mcp
import pytest
from gradio import processing_utils, queueing, route_utils
from gradio.components.api_component import Api
from gradio.data_classes import FileData, ImageData
from gradio.state_holder import SessionState
from gradio.themes.utils import fonts
from gradio.utils import get_upload_folder
from gradio_client.exceptions import AppError
from gradio_client.utils import QueueError
from mcp.server import Server

ROOT = Path(__file__).resolve().parents[2]


def parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def code_of(function: Callable[..., Any]) -> str:
    return inspect.getsource(function)


def queue() -> queueing.Queue:
    with gr.Blocks() as blocks:
        gr.Button("a").click(lambda: None, concurrency_id="models", concurrency_limit=1)
    blocks.queue()
    return blocks._queue


def event() -> queueing.Event:
    with gr.Blocks() as blocks:
        gr.Button("a").click(lambda: None)
    return queueing.Event("a", next(iter(blocks.fns.values())), object(), None)  # type: ignore[arg-type]


def holder() -> SessionState:
    with gr.Blocks() as blocks:
        gr.Image()
    return SessionState(blocks)


LEANED_ON: tuple[tuple[str, str, Callable[[], object]], ...] = (
    # who leans on it, what it is, whether it is as it was
    (
        "app/demo.py",
        "Blocks._queue, a Queue(live_updates, concurrency_count, update_intervals, max_size, ...)",
        lambda: (
            isinstance(queue(), queueing.Queue)
            and parameters(queueing.Queue)[:5]
            == ["live_updates", "concurrency_count", "update_intervals", "max_size", "blocks"]
        ),
    ),
    (
        "app/demo.py",
        "Block.keep_in_cache: paths that a component shows from the start",
        lambda: gr.Image().keep_in_cache == set(),
    ),
    (
        "app/demo.py",
        "gradio.mcp.DEFAULT_TEMP_DIR: where assistants' pictures are put down",
        lambda: (
            isinstance(gradio.mcp.DEFAULT_TEMP_DIR, str)
            and "DEFAULT_TEMP_DIR"
            in code_of(gradio.mcp.GradioMCPServer.convert_strings_to_filedata)
        ),
    ),
    (
        "app/server/fair_queue.py",
        "Queue.push(body, request, username), which answers (whether, sentence or id, state)",
        lambda: (
            parameters(queueing.Queue.push) == ["self", "body", "request", "username"]
            and '"queue_full"' in code_of(queueing.Queue.push)
            and "event_queue.queue.append(event)" in code_of(queueing.Queue.push)
        ),
    ),
    (
        "app/server/fair_queue.py",
        "Queue.get_events: takes the first of EventQueue.queue if current_concurrency allows it",
        lambda: "first_event = event_queue.queue[0]" in code_of(queueing.Queue.get_events),
    ),
    (
        "app/server/fair_queue.py",
        "Queue.send_message(event, event_message), which sends nothing to an event not alive",
        lambda: (
            parameters(queueing.Queue.send_message) == ["self", "event", "event_message"]
            and "if not event.alive" in code_of(queueing.Queue.send_message)
        ),
    ),
    (
        "app/server/fair_queue.py",
        "Queue.broadcast_estimations(concurrency_id)",
        lambda: parameters(queueing.Queue.broadcast_estimations)[:2] == ["self", "concurrency_id"],
    ),
    (
        "app/server/fair_queue.py",
        "the queue's books: messages, events by id and by session, running tasks and jobs",
        lambda: all(
            isinstance(getattr(queue(), name), kind)
            for name, kind in {
                "pending_messages_per_session": dict,
                "pending_event_ids_session": dict,
                "event_ids_to_events": dict,
                "event_queue_per_concurrency_id": dict,
                "active_jobs": list,
                "_asyncio_tasks": set,
            }.items()
        ),
    ),
    (
        "app/server/fair_queue.py",
        "Event._id, session_hash, fn._id, request, concurrency_id, enqueue_time, alive",
        lambda: (
            {
                *(
                    "_id",
                    "session_hash",
                    "fn",
                    "request",
                    "concurrency_id",
                    "enqueue_time",
                    "alive",
                ),
            }
            <= vars(event()).keys()
        ),
    ),
    (
        "app/server/fair_queue.py",
        "EventQueue.queue, concurrency_limit, current_concurrency",
        lambda: (
            {"queue", "concurrency_limit", "current_concurrency"}
            <= vars(queueing.EventQueue("models", 1)).keys()
        ),
    ),
    (
        "app/server/fair_queue.py",
        "tasks are named by their event's id",
        lambda: _named_task().endswith("<gradio-sep>an-event"),
    ),
    (
        "app/server/gate.py",
        "route_utils.FnIndexInferError: no endpoint of that name",
        lambda: issubclass(route_utils.FnIndexInferError, Exception),
    ),
    (
        "app/server/gate.py",
        "POST /cancel takes session_hash, fn_index and event_id, and names tasks by the first two",
        lambda: 'f"{body.session_hash}_{body.fn_index}"' in _routes(),
    ),
    (
        "app/server/request_body.py",
        "files are values with a path: FileData",
        lambda: "path" in FileData.model_fields and "path" in ImageData.model_fields,
    ),
    (
        "app/server/request_body.py",
        "gradio.utils.get_upload_folder",
        lambda: parameters(get_upload_folder) == [],
    ),
    (
        "app/server/strict_blocks.py",
        "Blocks.preprocess_data(block_fn, inputs, state, ...), which calls block.preprocess",
        lambda: (
            parameters(gr.Blocks.preprocess_data)[:4] == ["self", "block_fn", "inputs", "state"]
            and "block = state[block._id]" in code_of(gr.Blocks.preprocess_data)
            and "block.preprocess, inputs_cached" in code_of(gr.Blocks.preprocess_data)
        ),
    ),
    (
        "app/server/strict_blocks.py",
        "SessionState.get(id, default)",
        lambda: holder().get(-1, "none") == "none",
    ),
    (
        "app/server/mcp_errors.py",
        "GradioMCPServer.Server, of which create_mcp_server makes its server",
        lambda: (
            hasattr(gradio.mcp.GradioMCPServer, "Server")
            and "self.Server(" in code_of(gradio.mcp.GradioMCPServer.create_mcp_server)
        ),
    ),
    (
        "app/server/mcp_errors.py",
        "Server.call_tool(**options), a decorator",
        lambda: "validate_input" in parameters(Server.call_tool),
    ),
    (
        "app/server/mcp_errors.py",
        "AppError.message and QueueError of Gradio's client",
        lambda: AppError("a").message == "a" and issubclass(QueueError, Exception),
    ),
    (
        "app/parts/theme.py",
        "gradio.themes.utils.fonts.LocalFont",
        lambda: hasattr(fonts, "LocalFont"),
    ),
    (
        "app/pages/api.py",
        "Api(value, schema, label): a value taken as it comes",
        lambda: len(parameters(Api)) >= 3,
    ),
    (
        "app/pages/adapt/try_handlers.py",
        "processing_utils.save_bytes_to_cache(data, file_name, cache_dir)",
        lambda: (
            parameters(processing_utils.save_bytes_to_cache)[:3]
            == ["data", "file_name", "cache_dir"]
        ),
    ),
    (
        "app/pages/board/handlers.py",
        "processing_utils.save_bytes_to_cache(data, file_name, cache_dir)",
        lambda: (
            parameters(processing_utils.save_bytes_to_cache)[:3]
            == ["data", "file_name", "cache_dir"]
        ),
    ),
    (
        "app/parts/examples.py",
        "gradio/media_assets/images: the shipped cat",
        lambda: (Path(gr.__file__).parent / "media_assets" / "images").is_dir(),
    ),
)


def _named_task() -> str:
    from gradio.utils import set_task_name

    async def named() -> str:
        task = asyncio.current_task()
        assert task is not None
        set_task_name(task, "a", 1, "an-event", False)
        return task.get_name()

    return asyncio.run(named())


def _routes() -> str:
    from gradio import routes

    return inspect.getsource(routes)


@pytest.mark.parametrize(
    ("module", "part", "holds"), LEANED_ON, ids=[f"{m}: {p}" for m, p, _ in LEANED_ON]
)
def test_it_is_as_it_was(module: str, part: str, holds: Callable[[], object]) -> None:
    assert holds(), f"{module} leans on {part}: Gradio {gr.__version__} has changed it"


def test_no_other_part_is_leaned_on() -> None:
    """Modules that take something from inside Gradio, by import or by a name of its own."""
    known = {module for module, *_ in LEANED_ON}
    for path in sorted((ROOT / "app").rglob("*.py")):
        code = path.read_text("utf-8")
        inside = [
            node.module
            for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.ImportFrom)
            and re.match(r"gradio(_client)?\.", node.module or "")
            if node.module != "gradio.events"  # documented
        ]
        private = re.findall(r"\b(?:demo|blocks|queue|event|page)\._[a-z]\w+", code)
        if inside or private:
            name = str(path.relative_to(ROOT))
            assert name in known, f"{name} takes {inside + private}: name it above"
