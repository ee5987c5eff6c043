"""The one door to the outside: all that waits or tears down does it through a `Driver`.

What touches tmux is written once, as coroutines over this protocol. `blocking` drives them with a
plain poll loop, `aio` with an asyncio event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeAlias

Job: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


class Driver(Protocol):
    """Time, waiting for descriptors, and work to do after the answer."""

    def now(self) -> float:
        """Return the monotonic clock, in seconds."""
        ...

    async def wait(self, fds: Sequence[int], until: float | None) -> Sequence[int]:
        """Return those of ``fds`` that can be read or are at their end.

        Empty once ``until`` (monotonic; None: never) has come. ``fds`` may be empty: a sleep.
        One descriptor has one waiter at a time. If cancelled, nothing is watched any more.
        """
        ...

    def later(self, job: Job) -> None:
        """Run a teardown soon: asyncio in the background, blocking before the call returns.

        ``job`` may be started twice if the first start was cancelled. What it raises is dropped.
        """
        ...
