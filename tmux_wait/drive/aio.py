"""Drive the same coroutines from an asyncio event loop: no threads, no child watcher."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from tmux_wait.drive import Job
from tmux_wait.drive.blocking import drive, poll_once

HAND_OUT = 0.002
"""Seconds before a teardown begins: starting its tmux client would hold the answer up."""


class AsyncioDriver:
    """`Driver` on the running event loop; `aclose` waits for what is still to be torn down."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop or asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        # Set while a teardown runs without the loop: then `wait` blocks instead of suspending.
        self._blocking = False

    def now(self) -> float:
        """Return the loop's clock, which is the monotonic one, in seconds."""
        return self._loop.time()

    async def wait(self, fds: Sequence[int], until: float | None) -> Sequence[int]:
        """Suspend until a descriptor is ready or the time has come.

        If cancelled, the descriptors are no longer watched.
        """
        if self._blocking:
            return poll_once(fds, until)
        ready: list[int] = []
        woken: asyncio.Future[None] = self._loop.create_future()
        timer = None if until is None else self._loop.call_at(until, _wake, woken)
        try:
            for fd in fds:
                self._loop.add_reader(fd, _note, ready, fd, woken)
            await woken
        finally:
            if timer is not None:
                timer.cancel()
            if not self._loop.is_closed():
                for fd in fds:
                    self._loop.remove_reader(fd)
        return ready

    def later(self, job: Job) -> None:
        """Start a teardown in the background; without a live loop, do it here and now."""
        if self._loop.is_closed():
            self._at_once(job)
            return
        task = self._loop.create_task(_quietly(job))
        self._tasks.add(task)
        task.add_done_callback(partial(self._done, job))

    async def aclose(self) -> None:
        """Wait until every teardown has ended. If cancelled, they go on."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def _done(self, job: Job, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():  # the loop is being closed: it may not have begun at all
            self._at_once(job)

    def _at_once(self, job: Job) -> None:
        before, self._blocking = self._blocking, True
        try:
            with suppress(Exception):
                drive(job())
        finally:
            self._blocking = before


async def _quietly(job: Job) -> None:
    await asyncio.sleep(HAND_OUT)
    with suppress(Exception):
        await job()


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


def _note(ready: list[int], fd: int, woken: asyncio.Future[None]) -> None:
    if fd not in ready:
        ready.append(fd)
    _wake(woken)
