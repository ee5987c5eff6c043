"""Drive coroutines with a plain poll loop: no event loop, and no import of asyncio (0.11 s)."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from tmux_wait.drive import Driver, Job

T = TypeVar("T")

# poll(2) takes milliseconds in a C int; longer waits are several polls.
LONGEST_POLL = 1_000_000


def poll_once(fds: Sequence[int], until: float | None) -> Sequence[int]:
    """Block until one of ``fds`` can be read (or is at its end) or ``until`` has come."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    while True:
        left = LONGEST_POLL if until is None else (until - time.monotonic()) * 1000
        # Rounded up: a wait that ends a fraction early would spin until its time has come.
        ready = poll.poll(min(LONGEST_POLL, max(0, int(left) + (left > 0))))
        if ready:
            return [fd for fd, _event in ready]
        if until is not None and time.monotonic() >= until:
            return []


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end, and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine for the blocking driver tried to suspend")


class BlockingDriver:
    """`Driver` that blocks the calling thread."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []

    def now(self) -> float:
        """Return the monotonic clock, in seconds."""
        return time.monotonic()

    async def wait(self, fds: Sequence[int], until: float | None) -> Sequence[int]:
        """Block until a descriptor is ready or the time has come."""
        return poll_once(fds, until)

    def later(self, job: Job) -> None:
        """Keep a teardown for the end of the call."""
        self._jobs.append(job)

    def finish(self) -> None:
        """Run what was kept, in order; an interrupt meanwhile is raised after the last of them."""
        interrupt: BaseException | None = None
        while self._jobs:
            job = self._jobs.pop(0)
            try:
                with suppress(Exception):
                    drive(job())
            except BaseException as raised:  # Ctrl-C in the teardown: it still has to happen
                if interrupt is None:
                    self._jobs.insert(0, job)
                interrupt = raised
        if interrupt is not None:
            raise interrupt


def run(main: Callable[[Driver], Coroutine[Any, Any, T]]) -> T:
    """Run ``main`` to its end and then its teardowns, also when it raises or is interrupted."""
    driver = BlockingDriver()
    try:
        return drive(main(driver))
    finally:
        driver.finish()
