"""A tmux server as its user holds it: waits on its panes, over asyncio."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from tmux_wait.echo import LedgerBook
from tmux_wait.errors import TmuxWaitError
from tmux_wait.results import WaitResult
from tmux_wait.tmux import PATIENCE, PaneInfo, Tmux, list_panes
from tmux_wait.waits.request import Target, TextRequest
from tmux_wait.waits.run import TextRun

if TYPE_CHECKING:
    import asyncio

    from tmux_wait.drive.aio import AsyncioDriver


class LibtmuxServer(Protocol):
    """What is read of a ``libtmux.Server``."""

    socket_name: str | None
    socket_path: Any


class TmuxServer:
    """One tmux server; an async context manager.

    Args:
        socket_name, socket_path: the server, as ``tmux -L`` and ``tmux -S`` name it; neither:
            tmux's own default.
        tmux: the tmux program.
        backend: "auto", or the ear that must be used: "tap", "control", "poll".

    Closing it ends its waits with the outcome ``cancelled`` and returns when nothing of them
    is left.
    """

    def __init__(
        self,
        socket_name: str | None = None,
        socket_path: str | None = None,
        tmux: str = "tmux",
        backend: str = "auto",
    ) -> None:
        self._tmux = Tmux(tmux, socket_name, socket_path)
        self._backend = backend
        self._book = LedgerBook()
        self._driver: AsyncioDriver | None = None
        self._running: set[asyncio.Future[WaitResult]] = set()

    @classmethod
    def from_libtmux(cls, server: LibtmuxServer, backend: str = "auto") -> TmuxServer:
        """Return the server that a ``libtmux.Server`` stands for."""
        path = None if server.socket_path is None else str(server.socket_path)
        binary = getattr(server, "tmux_bin", None) or "tmux"
        return cls(None if path else server.socket_name, path, str(binary), backend)

    async def __aenter__(self) -> TmuxServer:
        from tmux_wait.drive.aio import AsyncioDriver

        self._driver = AsyncioDriver()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End all waits (``cancelled``) and wait until nothing of them is left."""
        import asyncio

        driver, self._driver = self._driver, None
        if driver is None:
            return
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(tuple(self._running))
        await driver.aclose()

    async def wait_for_text(
        self,
        pane: Target,
        patterns: Sequence[str] | None = (),
        *,
        stop: Sequence[str] | None = (),
        regex: bool = False,
        match_case: bool = False,
        seconds: float | None = 30,
        fresh: bool = False,
        send: str | None = None,
        keys: Sequence[str] = (),
        pending: str = "report",
    ) -> WaitResult:
        """Wait until a pane writes one of ``patterns``; return how the wait ended.

        Arguments, result and errors are those of ``tmux_wait.wait_for_text``. The answer comes
        first; the ear is closed right behind it. If cancelled, the ear is closed too.
        """
        import asyncio

        driver = self._open()
        request = TextRequest.check(
            pane, patterns, stop=stop, regex=regex, match_case=match_case, seconds=seconds,
            fresh=fresh, send=send, keys=keys, pending=pending,
        )  # fmt: skip
        run = TextRun(driver, self._tmux, request, self._book, self._backend)
        task = asyncio.ensure_future(run.run())
        self._running.add(task)
        try:
            await asyncio.wait((task,))
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._running.discard(task)
        return run.cancelled() if task.cancelled() else task.result()

    async def list_panes(self) -> list[PaneInfo]:
        """Return all panes of the server.

        Raises:
            TmuxWaitError: no server, or no answer within 10 s.
        """
        driver = self._open()
        return await list_panes(driver, self._tmux, until=driver.now() + PATIENCE)

    def _open(self) -> AsyncioDriver:
        """Return the driver of an open server object."""
        if self._driver is None:
            raise TmuxWaitError(
                "this TmuxServer is not open: use it inside `async with TmuxServer(...)`"
            )
        return self._driver
