"""How the client's lines come in: through the event loop, so that reading can be stopped.

The SDK's own reader sits in a thread that only the next line from the client can wake, and a
signal would have to wait for it. Like the SDK we take descriptor 0 away, so that no child of ours
can read what the client sends.
"""

from __future__ import annotations

import asyncio
import fcntl
import os

READ_BYTES = 65536  # at most so many bytes a read: what a pipe holds
FIRST_PRIVATE_DESCRIPTOR = 3


class StdinLines:
    """The lines of stdin, as an asynchronous iterator of text; ends with stdin or ``stop``."""

    def __init__(self, descriptor: int = 0) -> None:
        self._fd = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE_DESCRIPTOR)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
        self._pending = bytearray()
        self._searched = 0  # bytes of _pending that hold no line feed
        self._ended = asyncio.Event()
        self._ready: asyncio.Future[bool] | None = None

    async def ended(self) -> None:
        """Return when the client has closed stdin, or ``stop`` was called."""
        await self._ended.wait()

    def stop(self) -> None:
        """Read no more: the iterator ends, also one that is waiting."""
        self._ended.set()
        if self._ready is not None:
            _settle(self._ready, False)

    def __aiter__(self) -> StdinLines:
        return self

    async def __anext__(self) -> str:
        """Return the next line without its line feed; a last one may end with stdin instead."""
        while (end := self._pending.find(b"\n", self._searched)) < 0:
            self._searched = len(self._pending)
            if self._ended.is_set() or not await self._more():
                self._ended.set()
                if not self._pending:
                    raise StopAsyncIteration
                end = len(self._pending)
                break
        line = self._pending[:end].decode("utf-8", "replace")
        del self._pending[: end + 1]
        self._searched = 0
        return line

    async def _more(self) -> bool:
        """Read once; False when there is nothing left to come."""
        if not await self._readable():
            return False
        try:
            data = os.read(self._fd, READ_BYTES)
        except OSError:  # a terminal that is gone
            return False
        self._pending += data
        return bool(data)

    async def _readable(self) -> bool:
        loop = asyncio.get_running_loop()
        self._ready = loop.create_future()
        try:
            loop.add_reader(self._fd, _settle, self._ready, True)
        except PermissionError:  # a regular file: always readable, and not to be watched
            return True
        try:
            return await self._ready
        finally:
            loop.remove_reader(self._fd)


def _settle(ready: asyncio.Future[bool], readable: bool) -> None:
    if not ready.done():
        ready.set_result(readable)
