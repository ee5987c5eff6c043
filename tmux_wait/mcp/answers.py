"""Has every call been answered? A server that is told to go must not leave one open."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Protocol

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse, RequestId
from typing_extensions import Self


class Outgoing(Protocol):
    """What the SDK's transport offers for messages to the client."""

    async def send(self, item: SessionMessage, /) -> None: ...
    async def aclose(self) -> None: ...


class Unanswered:
    """The calls that still owe an answer, by request id."""

    def __init__(self) -> None:
        self._ids: set[RequestId] = set()
        self._none = asyncio.Event()
        self._none.set()

    def add(self, request: RequestId) -> None:
        """A call has come."""
        self._ids.add(request)
        self._none.clear()

    def discard(self, request: RequestId) -> None:
        """A call was answered, or needs no answer any more."""
        self._ids.discard(request)
        if not self._ids:
            self._none.set()

    async def none(self) -> None:
        """Return when no call owes an answer."""
        await self._none.wait()


class AnswerStream:
    """A stream to the client that crosses off each call whose answer it has taken."""

    def __init__(self, inner: Outgoing, unanswered: Unanswered) -> None:
        self._inner = inner
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        """Hand a message to the writer; returns when the writer has it."""
        await self._inner.send(item)
        message = item.message
        if isinstance(message, (JSONRPCResponse, JSONRPCError)) and message.id is not None:
            self._unanswered.discard(message.id)

    async def aclose(self) -> None:
        """Close the stream; the writer ends after what it has."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()
