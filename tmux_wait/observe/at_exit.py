"""The ears this process has open: none may outlive the interpreter."""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from typing import Protocol

from tmux_wait.drive import Driver
from tmux_wait.drive.blocking import BlockingDriver, drive


class Closable(Protocol):
    """What is to be closed at the end."""

    def give_to(self, driver: Driver) -> None:
        """Let ``driver`` do what is still to do, whatever became of the one before."""
        ...

    async def close(self) -> None:
        """Leave nothing behind."""
        ...


_open: dict[Closable, int] = {}  # and the process that opened it: a forked child closes nothing


def remember(ear: Closable) -> None:
    """Take responsibility for an ear until it is forgotten."""
    if not _open:
        atexit.register(close_all)
    _open[ear] = os.getpid()


def forget(ear: Closable) -> None:
    """An ear is closed."""
    _open.pop(ear, None)
    if not _open:
        atexit.unregister(close_all)


def close_all() -> None:
    """Close what is open at the interpreter's end, without an event loop."""
    for ear, owner in list(_open.items()):
        if owner == os.getpid():
            ear.give_to(BlockingDriver())
            with suppress(Exception):
                drive(ear.close())
