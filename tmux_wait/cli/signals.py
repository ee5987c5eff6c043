"""What a signal does to a command: it unwinds, so that the teardown runs, and then ends it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tmux_wait.cli.status import Status

# A closed terminal (SIGHUP) leaves as much behind as a Ctrl-C would.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 3  # signals: the first unwinds, the last ends us even in the middle of a teardown


class Interrupted(SystemExit):
    """A signal came; ``code`` is the exit status that says which."""

    def __init__(self, number: int) -> None:
        super().__init__(Status.SIGNAL + number)
        self.status = Status.SIGNAL + number


@contextmanager
def raised() -> Iterator[None]:
    """Raise ``Interrupted`` at the first signal, where it finds us; leave handlers as they were.

    A signal that was ignored when we started (``nohup``, a background job) stays ignored.
    """
    seen = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        if seen == 1:
            raise Interrupted(number)
        if seen >= PATIENCE:
            os._exit(Status.SIGNAL + number)

    before = {}
    try:
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handle)
    except ValueError:  # not in the main thread: whoever called us has the signals
        pass
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
