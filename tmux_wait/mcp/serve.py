"""The MCP server on stdin and stdout: a contract's tools, served until the client goes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from asyncio import FIRST_COMPLETED
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from tmux_wait.errors import TmuxWaitError
from tmux_wait.mcp.answers import AnswerStream, Unanswered
from tmux_wait.mcp.arguments import problem
from tmux_wait.mcp.contract import Call, Contract, Tool
from tmux_wait.mcp.progress import Progress, Report
from tmux_wait.mcp.stdin import StdinLines
from tmux_wait.server import TmuxServer

if TYPE_CHECKING:
    import anyio
    from mcp.server.context import ServerRequestContext

NAME = "tmux-wait"
FLUSH_SECONDS = 2.0  # how long a client that is told to go may take to read the last answers
SIGNAL_STATUS = 128  # exit status of a process that a signal ended: this and the signal's number

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line decided."""

    contract: Contract
    version: str
    socket_name: str | None
    socket_path: str | None
    tmux: str
    ending: Sequence[signal.Signals]
    """The signals that end us, unless they were ignored when we started."""


def run(settings: Settings) -> int:
    """Serve until stdin ends or a signal comes; return the exit status for that."""
    return asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> int:
    signalled = _signalled(settings.ending)
    stdin = StdinLines()
    async with TmuxServer(settings.socket_name, settings.socket_path, settings.tmux) as panes:
        desk = _Desk(settings, panes)
        wire = asyncio.create_task(_speak(desk, stdin))
        gone = asyncio.create_task(stdin.ended())
        ends: list[asyncio.Future[Any]] = [wire, gone, signalled]
        await asyncio.wait(ends, return_when=FIRST_COMPLETED)
    # Leaving the block ended every wait, with an answer that a client may still be there to read.
    answered = asyncio.create_task(desk.unanswered.none())
    await asyncio.wait({wire, answered}, timeout=FLUSH_SECONDS, return_when=FIRST_COMPLETED)
    stdin.stop()
    await asyncio.wait({wire, gone}, timeout=FLUSH_SECONDS)
    status = SIGNAL_STATUS + signalled.result() if signalled.done() else _outcome(wire)
    if not wire.done() or _is_broken(wire):
        # The client does not read: a thread of the SDK is stuck in its write, or the SDK's
        # buffer holds what the interpreter would complain of being unable to flush.
        os._exit(status)
    return status


def _signalled(ending: Sequence[signal.Signals]) -> asyncio.Future[int]:
    """Return a future for the first signal that ends us; ignored ones stay ignored."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[int] = loop.create_future()

    def note(number: int) -> None:
        if not came.done():
            came.set_result(number)

    for number in ending:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, note, int(number))
    return came


def _outcome(wire: asyncio.Task[None]) -> int:
    if not wire.done() or wire.cancelled() or (error := wire.exception()) is None:
        return 0
    if _is_broken(wire):
        return 0  # the client closed its end first
    logger.error("the connection broke: %s", "; ".join(map(repr, _leaves(error))))
    return 1


def _is_broken(wire: asyncio.Task[None]) -> bool:
    """Say whether the client closed its reading end before we had written all."""
    if wire.cancelled() or (error := wire.exception()) is None:
        return False
    return all(isinstance(cause, BrokenPipeError) for cause in _leaves(error))


def _leaves(error: BaseException) -> list[BaseException]:
    parts = getattr(error, "exceptions", None)  # a group; its class is a builtin from 3.11 on
    return [error] if parts is None else [leaf for part in parts for leaf in _leaves(part)]


async def _speak(desk: _Desk, stdin: StdinLines) -> None:
    """Carry messages between the client and the desk until stdin ends or is stopped."""
    server = Server(
        NAME,
        version=desk.settings.version,
        instructions=desk.settings.contract.instructions,
        on_list_tools=desk.list_tools,
        on_call_tool=desk.call_tool,
    )
    # The SDK only iterates over stdin, which is all that ours can do.
    lines = cast("anyio.AsyncFile[str]", stdin)
    async with stdio_server(stdin=lines) as (reading, writing):
        answers = AnswerStream(writing, desk.unanswered)
        await server.run(reading, answers, server.create_initialization_options())


class _Desk:
    """Where requests arrive: lists the tools of a contract, and calls one."""

    def __init__(self, settings: Settings, panes: TmuxServer) -> None:
        self.settings = settings
        self.unanswered = Unanswered()
        self._panes = panes
        self._tools = {tool.name: tool for tool in settings.contract.tools}
        self._listing = types.ListToolsResult(tools=[*map(_listed, settings.contract.tools)])

    async def list_tools(
        self, context: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return self._listing

    async def call_tool(
        self, context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer a call; what is wrong with it is an answer too. Cancelling ends the wait."""
        if context.request_id is None:
            return await self._answer(context, params)
        self.unanswered.add(context.request_id)
        try:
            return await self._answer(context, params)
        except asyncio.CancelledError:
            self.unanswered.discard(context.request_id)
            raise

    async def _answer(
        self, context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = params.arguments or {}
        tool = self._tools.get(params.name)
        if tool is None:
            return _refused(f"there is no tool {params.name!r}; {', '.join(self._tools)} are here")
        if (misfit := problem(tool.name, arguments, tool.input_schema)) is not None:
            return _refused(misfit)
        call = Call(
            server=self._panes,
            socket_name=self.settings.socket_name,
            socket_path=self.settings.socket_path,
            arguments=arguments,
            progress=Progress(_report(context)),
        )
        try:
            answer = await tool.run(call)
        except TmuxWaitError as error:
            return _refused(str(error))
        except Exception as error:
            logger.exception("tool %s failed", tool.name)
            return _refused(f"{tool.name} failed inside tmux-wait: {error!r}")
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.structured,
        )


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema),
        annotations=types.ToolAnnotations.model_validate(tool.annotations),
    )


def _refused(sentence: str) -> types.CallToolResult:
    content = types.TextContent(type="text", text=sentence)
    return types.CallToolResult(content=[content], is_error=True)


def _report(context: ServerRequestContext) -> Report | None:
    """Return how to report progress, or None if the client gave no token to report it under."""
    if context.meta is None or "progress_token" not in context.meta:
        return None
    return context.session.report_progress
