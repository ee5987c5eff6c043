"""The pipes this process has open: who shares them, and who closes them in the end."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from tmux_wait.drive import Driver
from tmux_wait.observe import at_exit
from tmux_wait.observe.pipe import Pipe, Stage
from tmux_wait.tmux import Tmux

if TYPE_CHECKING:
    from tmux_wait.observe.tap import Tap

CLOSING_TIME = 1.0  # seconds to wait for a pipe of ours that is being closed
SHORTEST_PAUSE, LONGEST_PAUSE = 0.0005, 0.01  # seconds between two looks at another wait's doings

# A busy tmux may still call a pipe open for so many seconds after its end.
NOTICE_TIME = 1.0

_pipes: list[Pipe] = []
_closed: dict[tuple[Tmux, str], float] = {}  # when pipes were closed: monotonic, seconds
_lock = Lock()


def join(tap: Tap) -> Pipe:
    """Return the pipe of a tap's pane with the tap among its users; OSError: none can be made.

    It may be a new one, which the tap has to open.
    """
    with _lock:
        for pipe in _pipes:
            if _same(pipe, tap.tmux, tap.pane) and _can_be_shared(pipe):
                pipe.users.add(tap)
                return pipe
        pipe = Pipe(tap.tmux, tap.pane)
        pipe.opener = tap
        pipe.users.add(tap)
        _pipes.append(pipe)
    at_exit.remember(pipe)
    return pipe


async def settle(driver: Driver, pipe: Pipe, until: float) -> Stage:
    """Wait, until ``until`` at most, for what comes of somebody else's opening of a pipe."""
    pause = SHORTEST_PAUSE
    while pipe.stage is Stage.OPENING and driver.now() < until:
        await driver.wait((), driver.now() + pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return pipe.stage


def leave(pipe: Pipe, tap: Tap) -> None:
    """A tap uses a pipe no longer; the pipe is closed by whoever leaves it last."""
    with _lock:
        pipe.users.discard(tap)
        if pipe.opener is tap and pipe.stage is Stage.OPENING:
            pipe.stage = Stage.FAILED


async def close(driver: Driver, pipe: Pipe) -> None:
    """Close a pipe if it has no users, or wait until somebody else has; see `Pipe.close`."""
    await _while(driver, lambda: pipe.closing)
    await pipe.close(driver)
    if pipe.closed:
        with _lock:
            if pipe in _pipes:
                _pipes.remove(pipe)
                if pipe.stage is Stage.OPEN:  # tmux has begun to write into it
                    _closed[pipe.tmux, pipe.pane] = driver.now()
        at_exit.forget(pipe)


async def wait_for_closing(driver: Driver, tmux: Tmux, pane: str) -> None:
    """Wait until no pipe of ours on ``pane`` is being closed, or about to be, any more."""
    await _while(driver, lambda: any(_same(p, tmux, pane) and _is_left(p) for p in [*_pipes]))


async def was_ours(driver: Driver, tmux: Tmux, pane: str) -> bool:
    """Say whether the pipe that tmux sees on ``pane`` may be one of ours that has just ended.

    If so, tmux was given a moment to notice.
    """
    now = driver.now()
    with _lock:
        for closed, when in list(_closed.items()):
            if when + NOTICE_TIME < now:
                del _closed[closed]
        ours = (tmux, pane) in _closed
    if ours:
        await driver.wait((), now + LONGEST_PAUSE)
    return ours


async def _while(driver: Driver, goes_on: Callable[[], bool]) -> None:
    """Wait as long as something goes on, `CLOSING_TIME` at most."""
    limit = driver.now() + CLOSING_TIME
    pause = SHORTEST_PAUSE
    while goes_on() and driver.now() < limit:
        await driver.wait((), driver.now() + pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def _is_left(pipe: Pipe) -> bool:
    return not pipe.users and not pipe.closed


def _can_be_shared(pipe: Pipe) -> bool:
    if not pipe.users or pipe.closing or pipe.closed:
        return False
    return pipe.stage is Stage.OPENING or (pipe.stage is Stage.OPEN and not pipe.ended)


def _same(pipe: Pipe, tmux: Tmux, pane: str) -> bool:
    return pipe.pane == pane and pipe.tmux == tmux


def _abandon() -> None:
    """In a forked child: the pipes are the parent's."""
    global _lock
    _lock = Lock()
    for pipe in _pipes:
        pipe.abandon()
    _pipes.clear()
    _closed.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon)
