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
import pytest
from gradio import routes
from gradio.components.api_component import Api
from gradio.data_classes import FileData
from gradio.mcp import GradioMCPServer
from gradio.queueing import Event, EventQueue, Queue
from gradio.state_holder import SessionState
from gradio.utils import set_task_name
from gradio_client.exceptions import AppError
from gradio_client.utils import QueueError
from mcp.server import Server

ROOT = Path(__file__).resolve().parents[2]
DEMO, FAIR = "app/demo.py", "app/server/fair_queue.py"
GATE, BODY = "app/server/gate.py", "app/server/request_body.py"
STRICT, MCP = "app/server/strict_blocks.py", "app/server/mcp_errors.py"

with gr.Blocks() as BLOCKS:
    gr.Image()
    gr.Button("a").click(lambda: None, concurrency_id="models", concurrency_limit=1)
QUEUE: Any = BLOCKS.queue()._queue
EVENT = Event("a", next(iter(BLOCKS.fns.values())), object(), None)  # type: ignore[arg-type]

PARAMETERS: tuple[tuple[str, Callable[..., Any], str], ...] = (  # a function, how its own begin
    (DEMO, Queue, "live_updates concurrency_count update_intervals max_size blocks"),
    (FAIR, Queue.push, "self body request username"),
    (FAIR, Queue.send_message, "self event event_message"),
    (FAIR, Queue.broadcast_estimations, "self concurrency_id"),
    (STRICT, gr.Blocks.preprocess_data, "self block_fn inputs state"),
    (STRICT, gr.Blocks.process_api, "self block_fn inputs state request"),
    ("app/pages/api.py", Api, "value _api_info label"),
)
CODE: tuple[tuple[str, Any, str], ...] = (  # what is done, where nothing else can tell
    (FAIR, Queue.push, '"queue_full"'),
    (FAIR, Queue.push, "event_queue.queue.append(event)"),
    (FAIR, Queue.get_events, "first_event = event_queue.queue[0]"),
    (FAIR, Queue.send_message, "if not event.alive"),
    (GATE, routes, 'f"{body.session_hash}_{body.fn_index}"'),  # of /cancel: how a task is named
    (STRICT, gr.Blocks.preprocess_data, "block = state[block._id]"),
    (STRICT, gr.Blocks.preprocess_data, "block.preprocess, inputs_cached"),
    (MCP, GradioMCPServer.create_mcp_server, "self.Server("),
    (MCP, Server.call_tool, "validate_input"),
)
KINDS: tuple[tuple[str, object, type], ...] = (
    (DEMO, QUEUE, Queue),
    (FAIR, QUEUE.pending_messages_per_session, dict),
    (FAIR, QUEUE.pending_event_ids_session, dict),
    (FAIR, QUEUE.event_ids_to_events, dict),
    (FAIR, QUEUE.event_queue_per_concurrency_id, dict),
    (FAIR, QUEUE.active_jobs, list),
    (FAIR, QUEUE._asyncio_tasks, set),
    (MCP, GradioMCPServer.Server, type),
    (MCP, QueueError(), Exception),
)
NAMES: tuple[tuple[str, Any, str], ...] = (
    (FAIR, vars(EVENT), "_id session_hash fn request concurrency_id enqueue_time alive"),
    (FAIR, vars(EventQueue("models", 1)), "queue concurrency_limit current_concurrency"),
    (BODY, FileData.model_fields, "path"),
)


def task_name() -> str:
    async def named() -> str:
        task = asyncio.current_task()
        assert task is not None
        set_task_name(task, "a", 1, "an-event", False)
        return task.get_name()

    return asyncio.run(named())


EQUAL: tuple[tuple[str, Callable[[], object], object], ...] = (
    (FAIR, task_name, "a_1<gradio-sep>an-event"),
    (STRICT, lambda: SessionState(BLOCKS).get(-1, "none"), "none"),
    (STRICT, lambda: type(BLOCKS.state_holder.session_data).__name__, "OrderedDict"),
    (MCP, lambda: AppError("a").message, "a"),
    ("app/parts/examples.py", (Path(gr.__file__).parent / "media_assets/images").is_dir, True),
)


@pytest.mark.parametrize(("module", "function", "names"), PARAMETERS)
def test_parameters(module: str, function: Callable[..., Any], names: str) -> None:
    found = list(inspect.signature(function).parameters)
    assert found[: len(names.split())] == names.split(), module


@pytest.mark.parametrize(("module", "function", "code"), CODE)
def test_code(module: str, function: Any, code: str) -> None:
    assert code in inspect.getsource(function), module


@pytest.mark.parametrize(("module", "value", "kind"), KINDS)
def test_kinds(module: str, value: object, kind: type) -> None:
    assert isinstance(value, kind), module


@pytest.mark.parametrize(("module", "known", "names"), NAMES)
def test_names(module: str, known: Any, names: str) -> None:
    assert set(names.split()) <= known.keys(), module


@pytest.mark.parametrize(("module", "ask", "answer"), EQUAL)
def test_answers(module: str, ask: Callable[[], object], answer: object) -> None:
    assert ask() == answer, module


def test_they_are_few() -> None:
    functions = {function for _, function, _ in PARAMETERS} | {Queue.get_events}
    others = ("FileData.path", "SessionState.get", "StateHolder.session_data", "AppError.message")
    assert len(functions) + len(KINDS) + len(others) <= 21


def test_no_other_part_is_leaned_on() -> None:
    """Modules that take something from inside Gradio, by import or by a name of its own."""
    known = {module for module, *_ in (*PARAMETERS, *CODE, *KINDS, *NAMES, *EQUAL)}
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
