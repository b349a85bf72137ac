"""Two thousand requests that no client would send, to every open address: each gets a sentence."""

from __future__ import annotations

import json
import random
from typing import Any

import httpx
import pytest

from app.pages.findings.page import plotly_script
from app.parts.files import MADE
from app.server.gate import API, OPEN, OPEN_BELOW
from tests.fixtures.app import Served

REQUESTS, SEED = 2_000, 20261123
LOGGED = 300  # bytes that one may leave in the log
LEAKS = ("Traceback", "site-packages", "/root", 'File "', "0x7f", "pydantic", "errors.pydantic")
ENDLESS = ("queue/data", "heartbeat/", "upload_progress")  # streams, which end when one leaves
NAMES = ("", "predict", "adapt", "damaged", "quick", "cancel", "drop", "save", "show", "v2/adapt",
         "lambda", "../run", "%00", "%ff", "a" * 300, "..%2f", "\u0000".encode().hex())  # fmt: skip
TEXTS = (b"", b"{", b"null", b"[]", b"1", b'"a"', b"\xff\xfe{\x00}\x00", b"[" * 9_000, b"9" * 5_000,
         b'{"data":[' + b"1," * 9_999 + b"1]}", b'{"a":' * 900, b"--x\r\n\r\n", b"a=b&c=d",
         b'{"\\ud800":1}', b'{"data":[],"data":{}}', b"<a/>", bytes(range(256)))  # fmt: skip
KINDS = ("application/json", "text/plain", "multipart/form-data; boundary=x", "a/b", "",
         "multipart/form-data", "application/x-www-form-urlencoded",
         "multipart/form-data; boundary=" + "y" * 9_000)  # fmt: skip
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 2**31, 10**38, 1e308, -0.0, "", "a", "\u202e", "None", "/etc/passwd", [], {}),
    *([[[]]], {"path": "/etc/passwd"}, {"path": None}, {"__type__": "update"}, "a-session-name"),
    *({"meta": {"_type": "gradio.FileData"}, "path": "x"}, {"_type": "gradio.State"}),
)
ASKED = ("name", "path", "damage", "key", "depth", "file", "token", "image", "severity", "atlas",
         "files", "row", "truth", "case", "noise", "start", "exposure", "sharpness",
         "ask")  # fmt: skip
TOLD: tuple[Any, ...] = (
    *VALUES, float("nan"), float("inf"), 10**60, "9" * 4_400, "\ud800", "cat", "own", "dga",
    {"kind": "strokes", "strokes": [{"kind": "blur", "size": 1e308, "points": [[0, "a"]]}]},
    {"kind": "strokes", "strokes": {"a": []}}, {"kind": "fog", "severity": float("nan")},
    {"kind": "noise", "severity": []}, [{"path": "\x00", "name": "../a"}], [{"path": []}, 5],
    "cat-motion_blur",
)  # fmt: skip
KEYS = ("data", "fn_index", "session_hash", "event_data", "trigger_id", "event_id", "batched",
        "simple_format", "oauth_token", "jsonrpc", "id", "method", "params", "request")  # fmt: skip
METHODS = ("tools/call", "tools/list", "initialize", "ping", "prompts/get", "resources/read",
           "completion/complete", "logging/setLevel", "notifications/cancelled", "x")  # fmt: skip
HEADERS = (
    *({"range": "bytes=5-"}, {"origin": "null"}, {"host": "127.0.0.1:1"}, {"x-forwarded-for": "a"}),
    *({"x-gradio-server": "javascript:a"}, {"accept": "text/html"}, {"accept-encoding": "br, xx"}),
    *({"x-forwarded-proto": "a"}, {"content-encoding": "gzip"}, {"sec-fetch-site": "cross-site"}),
    *({"accept": "application/json, text/event-stream"}, {"cookie": "a" * 4_000}, {"te": "x"}, {}),
)


def paths() -> list[str]:
    below = [start + name for start in OPEN_BELOW for name in NAMES]
    return sorted({*OPEN, *below, f"{API}/file=/etc/passwd", f"{API}/nothing", "/monitoring"})


def own_files(served: Served) -> list[str]:
    """What pages ask for by name, and what is almost one of those names."""
    value = httpx.get(served.url + served.first("photo")).json()
    names = [f"/{name}" for name in (*value["pictures"].values(), value["damaged"])]
    names += [f"/{MADE}/{'0' * 16}.json", *plotly_script()]
    return [name + end for name in names[-4:] for end in ("", "/", ".gz", "%00", "/../x", "?a=b")]


def body(dice: random.Random, events: int) -> bytes:
    """``events``: how many the pages have."""
    if dice.random() < 0.4:
        return dice.choice(TEXTS)
    chosen: dict[str, Any] = {key: dice.choice(VALUES) for key in dice.sample(KEYS, 6)}
    if dice.random() < 0.5:  # far enough to reach the functions
        chosen |= {"session_hash": f"odd-session-{dice.randrange(9)}", "event_id": None}
        chosen |= {"fn_index": dice.randrange(events), "trigger_id": dice.randrange(200)}
        chosen["data"] = [dice.choice(VALUES) for _ in range(dice.choice((0, 1, 2, 6, 10)))]
        asked = {key: dice.choice(TOLD) for key in dice.sample(ASKED, 5)}
        text = dice.choice((json.dumps(asked), dice.choice(TEXTS).decode("latin-1")))
        chosen["event_data"] = {dice.choice(("ask", "every", "file", "example")): text}
    if dice.random() < 0.3:
        chosen |= {"jsonrpc": "2.0", "id": dice.choice(VALUES), "method": dice.choice(METHODS)}
    return json.dumps(chosen).encode()


def test_odd_requests_get_sentences_and_leave_no_log(
    served: Served, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    every = [*paths(), *own_files(served)]
    dice, events, seen = random.Random(SEED), len(served.demo.fns), 0
    with httpx.Client(base_url=served.url, timeout=60) as client:
        for number in range(REQUESTS):
            path = every[number % len(every)]
            ends = not any(name in path for name in ENDLESS)
            method = dice.choice(("GET", "POST", "POST", "POST", "PUT", "OPTIONS"))
            if not ends:
                method = "POST"
            headers = {"content-type": dice.choice(KINDS)} | dice.choice(HEADERS)
            content = body(dice, events) if method in ("POST", "PUT") else b""
            caplog.clear()
            capfd.readouterr()
            answer = client.request(method, path.lstrip("/"), content=content, headers=headers)
            told = (method, path, headers, content[:200], answer.status_code, answer.text[:300])
            assert answer.status_code < 500, told
            printed = capfd.readouterr()
            logged = [r.getMessage() for r in caplog.records if r.name.split(".")[0] != "httpx"]
            text = "".join(logged) + printed.out + printed.err
            assert len(text) <= LOGGED, (told, text[:1_000])
            assert "Traceback" not in text
            if answer.status_code >= 400:
                seen += 1
                assert not any(leak in answer.text for leak in LEAKS), told
                assert "a-session-name" not in answer.text
                assert answer.headers["x-content-type-options"] == "nosniff", told
                if "text/html" not in answer.headers["content-type"] and answer.text:
                    said = answer.json()
                    sentence = said.get("detail") or said["error"]
                    assert str(sentence).endswith(".")
    assert seen > REQUESTS // 2
