"""How a client that asked for it learns that a wait is still going on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")

INTERVAL = 1.0  # seconds between two reports

# (progress, total, message): seconds that have passed, seconds there are, both in words
Report = Callable[[float, float, str], Awaitable[None]]


class Progress:
    """Runs a wait, and reports while it runs; without ``report`` it only runs it."""

    def __init__(self, report: Report | None = None) -> None:
        self._report = report

    async def during(self, wait: Coroutine[Any, Any, T], budget: float, what: str) -> T:
        """Return what ``wait`` returns; ``budget`` is its bound in seconds, ``what`` names it.

        If this is cancelled, ``wait`` is cancelled once and has ended before the cancellation
        goes on. It runs in a task of its own, since the SDK's cancel scopes would interrupt
        every await of its cleaning up.
        """
        began = time.monotonic()
        task = asyncio.create_task(wait)
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=None if self._report is None else INTERVAL)
                if self._report is not None and not task.done():
                    passed = time.monotonic() - began
                    message = f"{what}: nothing yet after {passed:.0f} s of {budget:g} s"
                    await self._report(passed, budget, message)
        finally:
            await _ended(task)
        return task.result()


async def _ended(task: asyncio.Task[Any]) -> None:
    if task.done():
        return
    task.cancel()
    with anyio.CancelScope(shield=True):
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # looked at: nobody is left whom it could tell anything
