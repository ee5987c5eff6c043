"""Two clients for our server: the SDK's own, and a bare one that sees every line and process."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
from conftest import TmuxServerFixture, wait_until
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult

ROOT = Path(__file__).parents[2]
CONTRACT = json.loads((ROOT / "tests/contracts/libtmux-rs.json").read_text())
VERSION = "2025-06-18"  # of the protocol, for the bare client
HELLO = {
    "protocolVersion": VERSION,
    "capabilities": {},
    "clientInfo": {"name": "bare", "version": "0"},
}
SCENARIO_SECONDS = 60.0  # a scenario that takes longer has failed
ANSWER_SECONDS = 60.0  # starting the server alone is a second's work, on a machine that is free


def arguments(server: TmuxServerFixture) -> list[str]:
    """Return the arguments that start our server for a test's tmux server."""
    return ["-m", "tmux_wait.cli", "mcp", "-L", server.name, "--tmux", server.binary]


def environment(server: TmuxServerFixture, **more: str) -> dict[str, str]:
    """Return an environment whose temporary files are all below the test's own folder."""
    scratch = server.folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return {"TMPDIR": str(scratch), "XDG_RUNTIME_DIR": str(scratch), **more}


class Agent:
    """The SDK's client; every answer it gets is held against the contract."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def call(self, tool: str, **given: Any) -> CallToolResult:
        """Call a tool and return the result, which fits the output schema if it is no error."""
        result = await self.session.call_tool(tool, given)
        assert [content.type for content in result.content] == ["text"]
        assert "\n" not in text(result)
        if not result.is_error:
            jsonschema.validate(result.structured_content, CONTRACT[tool]["outputSchema"])
        return result

    async def found(self, tool: str, **given: Any) -> dict[str, Any]:
        """Call a tool that must succeed and return its structured content."""
        result = await self.call(tool, **given)
        assert not result.is_error, text(result)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def refusal(self, tool: str, **given: Any) -> str:
        """Call a tool that must refuse and return its one sentence."""
        result = await self.call(tool, **given)
        assert result.is_error
        assert result.structured_content is None
        return text(result)


def text(result: CallToolResult) -> str:
    """Return the text content of a result."""
    content = result.content[0]
    assert content.type == "text"
    return content.text


@asynccontextmanager
async def _connected(server: TmuxServerFixture, **env: str) -> AsyncIterator[Agent]:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=arguments(server),
        cwd=ROOT,
        env=environment(server, **env),
    )
    async with stdio_client(parameters) as (reading, writing):  # noqa: SIM117 - two closings
        async with ClientSession(reading, writing) as session:
            await session.initialize()
            yield Agent(session)


def with_agent(
    server: TmuxServerFixture, scenario: Callable[[Agent], Awaitable[None]], **env: str
) -> None:
    """Run a scenario with the SDK's client connected to our server."""

    async def run() -> None:
        with anyio.fail_after(SCENARIO_SECONDS):
            async with _connected(server, **env) as agent:
                await scenario(agent)

    anyio.run(run)


async def eventually(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition without holding up the client."""
    await anyio.to_thread.run_sync(wait_until, condition, what)


class Bare:
    """A client that writes and reads single messages, and owns the process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.unread: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reading = threading.Event()
        self._reading.set()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in () if self.process.stdout.closed else self.process.stdout:
            self.unread.put(json.loads(line))
            self._reading.wait()
        self.unread.put(None)

    def pause(self) -> None:
        """Read nothing more than the next message until ``close``."""
        self._reading.clear()

    def send(self, method: str, params: dict[str, Any], request: int | None = None) -> None:
        """Send a request, or a notification if it has no number."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if request is not None:
            message["id"] = request
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Write bytes to the server's stdin."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> dict[str, Any] | None:
        """Return the next message from the server, or None if it closed its stdout."""
        return self.unread.get(timeout=ANSWER_SECONDS)

    def wait(self, request: int, pane: str, meta: dict[str, Any] | None = None) -> None:
        """Send a wait for text that does not come."""
        given = {"pane": pane, "patterns": ["never written"], "seconds": 60}
        params: dict[str, Any] = {"name": "wait_for_text", "arguments": given}
        if meta is not None:
            params["_meta"] = meta
        self.send("tools/call", params, request)

    def close_stdin(self) -> None:
        """Go away, as a client that has ended does."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def status(self) -> int:
        """Wait for the server's end and return its exit status."""
        return self.process.wait(timeout=ANSWER_SECONDS)

    def close(self) -> None:
        """End the server if it has not ended, and the reading thread with it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=ANSWER_SECONDS)
        self._reading.set()
        self._thread.join(timeout=ANSWER_SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def bare(
    server: TmuxServerFixture, *, handshake: bool = True, reading: bool = True
) -> Iterator[Bare]:
    """Start our server with a bare client, after the handshake.

    Without ``reading`` the client has closed its end of the server's stdout, and says nothing.
    """
    process = subprocess.Popen(
        [sys.executable, *arguments(server)],
        cwd=ROOT,
        env={**os.environ, **environment(server)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    if not reading:
        assert process.stdout is not None
        process.stdout.close()
    client = Bare(process)
    try:
        if handshake and reading:
            client.send("initialize", HELLO, 0)
            answer = client.read()
            assert answer is not None
            assert answer["id"] == 0
            client.send("notifications/initialized", {})
        yield client
    finally:
        client.close()
