"""The taps this process has open: none may outlive it, and none is opened over a closing one."""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from tmux_wait.drive import Driver
from tmux_wait.drive.blocking import BlockingDriver, drive
from tmux_wait.tmux import Tmux

if TYPE_CHECKING:
    from tmux_wait.observe.tap import Tap

CLOSING_TIME = 1.0  # seconds to wait for a tap of ours that is being closed

_taps: dict[Tap, int] = {}  # and the process that opened it: a forked child closes nothing


def remember(tap: Tap) -> None:
    """Take responsibility for a tap until it is forgotten."""
    if not _taps:
        atexit.register(close_all)
    _taps[tap] = os.getpid()


def forget(tap: Tap) -> None:
    """A tap is closed."""
    _taps.pop(tap, None)
    if not _taps:
        atexit.unregister(close_all)


def close_all() -> None:
    """Close what is open at the interpreter's end, without an event loop."""
    for tap, owner in list(_taps.items()):
        if owner == os.getpid():
            tap.driver = BlockingDriver()
            tap.closing = False
            with suppress(Exception):
                drive(tap.close())


async def wait_for_closing(driver: Driver, tmux: Tmux, pane: str) -> None:
    """Wait until no tap of ours on ``pane`` is being closed any more."""
    limit = driver.now() + CLOSING_TIME
    pause = 0.0005
    while driver.now() < limit and any(_same(tap, tmux, pane) for tap in _taps if _ending(tap)):
        await driver.wait((), driver.now() + pause)
        pause = min(pause * 2, 0.01)


def _ending(tap: Tap) -> bool:
    return tap.closing or tap.let_go_of


def _same(tap: Tap, tmux: Tmux, pane: str) -> bool:
    return tap.pane == pane and tap.tmux == tmux
