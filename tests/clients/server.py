"""A local server that speaks like OpenAI and like Anthropic, and fails on request.

Run as a program it prints its port and serves until its standard input ends. The name of the model
says what happens: ``ok``, a name of `FAULTS`, ``once-NAME`` (the first request of a sample fails,
the next is answered) or ``mix-20`` (20 % of the requests fail, in turn by digest of the request).
``GET /log`` lists what was asked so far, ``DELETE /log`` forgets it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import socket
import struct
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, ClassVar

HOSTILE = "\x1b[31mred\x1b]0;title\x07 <script>alert(1)</script> \x00 \ud83d \u202e end"
HUGE = 10_000_000
# What a mixed run throws at a client; a stall is the slowest and so the rarest.
MIXED = [
    *("429", "429-after-0", "500", "502", "503", "529", "reset", "hang-up", "truncated"),
    *("bad-json", "html", "no-body", "refusal", "filtered", "length", "null", "empty"),
    *("no-choice", "stall"),
]
LIKELIEST = {"Yes": 0.6, " Yes": 0.1, "No": 0.25, "N": 0.004, "May": 0.03, "Yes, of": 0.001}


class Server:
    """What was asked, and what comes next."""

    def __init__(self) -> None:
        self.log: list[dict[str, Any]] = []
        self.asked: Counter[str] = Counter()
        self.busy: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.split("\r\n")
                headers = {k.lower(): v.strip() for k, _, v in (s.partition(":") for s in lines)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, path, _ = first.split()
                if path == "/log":
                    self.tell(method, writer)
                else:
                    await self.answer(path, headers, json.loads(body), writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def tell(self, method: str, writer: asyncio.StreamWriter) -> None:
        said = json.dumps(self.log)
        if method == "DELETE":
            self.log, self.asked = [], Counter()
        write(writer, 200, said)

    async def answer(
        self,
        path: str,
        headers: dict[str, str],
        body: dict[str, Any],
        writer: asyncio.StreamWriter,
    ) -> None:
        speaks = Anthropic if path.endswith("/messages") else OpenAI
        prompt = body["messages"][-1]["content"]
        sample = f"{body['model']}|{prompt}|{body.get('seed')}"
        fault = fault_of(body["model"], sample, self.asked[sample])
        self.asked[sample] += 1
        model = body["model"]
        self.busy[model] += 1
        self.log.append({"fault": fault, "path": path, "busy": self.busy[model], "body": body})
        try:
            if model.startswith("wait-"):
                await asyncio.sleep(float(model.removeprefix("wait-")))
            await fail(fault, speaks, headers, body, writer)
        finally:
            self.busy[model] -= 1


def fault_of(model: str, sample: str, asked: int) -> str:
    if model.startswith("once-"):
        return "" if asked else model.removeprefix("once-")
    if model.startswith("mix-"):
        draw = hashlib.sha256(f"{sample}|{asked}".encode()).digest()
        if draw[0] >= int(model.removeprefix("mix-")) * 2.56:
            return ""
        return MIXED[int.from_bytes(draw[1:3], "big") * len(MIXED) // 2**16]
    return "" if model == "ok" or model.startswith("wait-") else model


class OpenAI:
    """The shapes of a chat completion."""

    stops: ClassVar = {"length": "length", "filtered": "content_filter"}

    @staticmethod
    def said(text: Any, stop: str = "stop", **more: Any) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, **more.pop("message", {})}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": stop, **more}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12},
        }

    @classmethod
    def called(cls, prompt: str, tools: Any) -> dict[str, Any]:
        """Call every tool for a prompt that asks for it, without a text if it says "silently"."""
        if not tools or "call" not in prompt:
            return cls.said("no tool is needed")
        calls = [
            {"id": "1", "type": "function", "function": {**tool["function"], "arguments": "{}"}}
            for tool in tools
        ]
        text = None if "silently" in prompt else "done"
        return cls.said(text, "tool_calls", message={"tool_calls": calls})

    @classmethod
    def refused(cls) -> dict[str, Any]:
        return cls.said(None, message={"refusal": "I cannot help with that."})

    @staticmethod
    def nothing() -> dict[str, Any]:
        return {"id": "1", "object": "chat.completion", "choices": [], "model": "m"}


class Anthropic:
    """The shapes of a message."""

    stops: ClassVar = {"length": "max_tokens", "filtered": "refusal"}

    @staticmethod
    def said(text: Any, stop: str = "end_turn", **more: Any) -> dict[str, Any]:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": text if text is None else [{"type": "text", "text": text}],
            "stop_reason": stop,
            "usage": {"input_tokens": 7, "output_tokens": 5},
        }

    @classmethod
    def called(cls, prompt: str, tools: Any) -> dict[str, Any]:
        """Use every tool for a prompt that asks for it, without a text if it says "silently"."""
        if not tools or "call" not in prompt:
            return cls.said("no tool is needed")
        names = [tool["name"] for tool in tools]
        uses = [{"type": "tool_use", "id": "1", "name": name, "input": {}} for name in names]
        text = [] if "silently" in prompt else [{"type": "text", "text": "done"}]
        return {**cls.said("", "tool_use"), "content": [*text, *uses]}

    @classmethod
    def refused(cls) -> dict[str, Any]:
        return cls.said("I cannot", "refusal")

    @classmethod
    def nothing(cls) -> dict[str, Any]:
        return {**cls.said(""), "content": []}


async def fail(
    fault: str,
    speaks: type[OpenAI] | type[Anthropic],
    headers: dict[str, str],
    body: dict[str, Any],
    writer: asyncio.StreamWriter,
) -> None:
    prompt = body["messages"][-1]["content"]
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    text = f"answer to {prompt} seed {body.get('seed')}"
    whole = json.dumps(speaks.said(text))
    kind, _, rest = fault.partition("-after-")
    if fault == "429-date":
        then = datetime.now(UTC) + timedelta(seconds=1)
        error(writer, 429, "slow down", {"Retry-After": format_datetime(then, usegmt=True)})
    elif fault == "quota":
        error(writer, 429, "You exceeded your current quota", code="insufficient_quota")
    elif fault == "400-filter":
        error(writer, 400, "The prompt was filtered", code="content_filter")
    elif fault == "new-style" and "max_tokens" in body:
        error(writer, 400, "Use 'max_completion_tokens' instead.", param="max_tokens")
    elif fault in ("307", "302"):
        write(writer, int(fault), "", headers={"Location": "/v1/chat/completions"})
    elif kind.isdigit():
        wait = {"Retry-After": rest} if rest else {}
        error(writer, int(kind), f"status {kind} for key {key}", wait)
    elif fault == "reset":
        reset(writer)
    elif fault == "hang-up":
        writer.close()
    elif fault == "truncated":
        write(writer, 200, whole[: len(whole) // 2], length=len(whole))
        writer.close()
    elif fault == "stall":
        await asyncio.sleep(3600)
    elif fault == "drip":
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        while not writer.is_closing():
            writer.write(b"X-More: 1\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)
    else:
        echo = {"X-Key": key, "Set-Cookie": f"key={key}"} if fault == "echo" else None
        write(writer, 200, reply(fault, speaks, key, body, whole), kind=shape(fault), headers=echo)


def reply(
    fault: str,
    speaks: type[OpenAI] | type[Anthropic],
    key: str,
    body: dict[str, Any],
    whole: str,
) -> str:
    fixed = {
        "bad-json": whole[: len(whole) // 2],
        "html": "<html>Gateway</html>",
        "no-body": "",
        "list": "[]",
        "number": "3",
        "odd": json.dumps({"choices": [{"message": "hi"}], "content": "hi", "usage": 3}),
        "error-200": json.dumps({"error": {"message": f"upstream failed {key}", "code": 502}}),
    }
    if fault in fixed:
        return fixed[fault]
    if fault in speaks.stops:
        return json.dumps(speaks.said("half an ans", speaks.stops[fault]))
    said: dict[str, Any] = {
        "refusal": speaks.refused,
        "no-choice": speaks.nothing,
        "null": lambda: speaks.said(None),
        "empty": lambda: speaks.said(""),
        "tools": lambda: speaks.called(body["messages"][-1]["content"], body.get("tools")),
        "echo": lambda: speaks.said(f"your key is {key}, yes {key}!"),
        "hostile": lambda: speaks.said(HOSTILE),
        "huge": lambda: speaks.said("x" * HUGE),
        "parts": lambda: speaks.said([{"type": "text", "text": "in "}, {"text": "parts"}]),
        "huge-usage": lambda: {**speaks.said("hi"), "usage": {"prompt_tokens": 10**30}},
        "no-usage": lambda: {**speaks.said("hi"), "usage": None},
    }
    if fault in said:
        return json.dumps(said[fault]())
    if fault == "logprobs" and body.get("logprobs"):
        top = [{"token": t, "logprob": math.log(p)} for t, p in LIKELIEST.items()]
        return json.dumps(OpenAI.said("Yes", logprobs={"content": [{"top_logprobs": top}]}))
    return whole


def shape(fault: str) -> str:
    return "text/html" if fault == "html" else "application/json"


def error(
    writer: asyncio.StreamWriter,
    status: int,
    message: str,
    headers: dict[str, str] | None = None,
    **more: str,
) -> None:
    said = json.dumps({"error": {"message": message, "type": "error", **more}})
    write(writer, status, said, headers=headers)


def write(
    writer: asyncio.StreamWriter,
    status: int,
    body: str,
    *,
    kind: str = "application/json",
    length: int | None = None,
    headers: dict[str, str] | None = None,
) -> None:
    data = body.encode()
    lines = [f"HTTP/1.1 {status} Said", f"Content-Type: {kind}"]
    lines += [f"Content-Length: {len(data) if length is None else length}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)


def reset(writer: asyncio.StreamWriter) -> None:
    # Without lingering a close is a reset.
    writer.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    writer.transport.abort()


async def main() -> None:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=2**24, backlog=512)
    print(listening.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - the caller reads it
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    # Stalled requests would wait for an hour.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
