"""Which ear: the tap wherever it can be had, looking again and again where it cannot."""

from __future__ import annotations

from tmux_wait.drive import Driver
from tmux_wait.errors import TmuxWaitError
from tmux_wait.observe import leftovers, taps
from tmux_wait.observe.entry import Entry, Look, Snapshot
from tmux_wait.observe.fifo import base_folders
from tmux_wait.observe.poll import Poll
from tmux_wait.observe.protocol import Observer
from tmux_wait.observe.tap import Tap
from tmux_wait.observe.typing import Typing
from tmux_wait.tmux import Tmux, resolve

# Dispatches that may find an orphan of ours before the pane counts as somebody else's.
MOST_ORPHANS = 2


async def open_observer(
    driver: Driver,
    tmux: Tmux,
    target: str,
    *,
    backend: str = "auto",
    typing: Typing | None = None,
    until: float,
    avoid_tap: bool = False,
) -> Observer:
    """Make the cut on ``target``, type, and return the ear that hears what comes after it.

    ``backend`` is ``auto``, ``tap`` or ``poll``; ``avoid_tap`` makes ``auto`` poll. If it raises
    or is cancelled, what was begun is torn down by ``driver.later``.
    """
    _check(backend, avoid_tap)
    pane = await resolve(driver, tmux, target, until=until)
    leftovers.sweep(base_folders())
    if backend == "poll" or avoid_tap:
        return await _open_poll(driver, tmux, pane, typing, until)
    await taps.wait_for_closing(driver, tmux, pane)
    for _ in range(MOST_ORPHANS):
        try:
            tap = Tap(driver, tmux, pane)
        except OSError as failure:
            if backend == "tap":
                raise TmuxWaitError(f"{pane} cannot be tapped: {failure}") from failure
            break
        snapshot = await _open_tap(tap, typing, until, backend)
        if snapshot is None:
            return tap
        if not snapshot.entry.piped:
            return Poll(driver, tmux, snapshot)  # the tap was deaf; the cut stands
        server, pipe = snapshot.entry.server_pid, snapshot.pipe_pid
        if not await leftovers.end_orphan(driver, pane, server, pipe):
            break
    if backend == "tap":
        raise TmuxWaitError(f"{pane} already has a pipe (pipe-pane); it cannot be tapped")
    return await _open_poll(driver, tmux, pane, typing, until)


async def look(
    driver: Driver, tmux: Tmux, target: str, *, typing: Typing | None = None, until: float
) -> Entry:
    """Look at ``target`` once, type, and return what was seen before the typing."""
    pane = await resolve(driver, tmux, target, until=until)
    return (await _look(driver, tmux, pane, typing, until)).entry


def _check(backend: str, avoid_tap: bool) -> None:
    if backend == "control":
        raise TmuxWaitError("the control backend is not built yet; use auto, tap or poll")
    if backend not in ("auto", "tap", "poll"):
        raise TmuxWaitError(f"unknown backend {backend!r}: use auto, tap or poll")
    if backend == "tap" and avoid_tap:
        raise TmuxWaitError("the tap was asked for on a pane where it must not be used")


async def _look(
    driver: Driver, tmux: Tmux, pane: str, typing: Typing | None, until: float
) -> Snapshot:
    question = Look(pane, typing=typing)
    return question.read(await tmux.run(driver, question.commands(), until=until))


async def _open_poll(
    driver: Driver, tmux: Tmux, pane: str, typing: Typing | None, until: float
) -> Poll:
    return Poll(driver, tmux, await _look(driver, tmux, pane, typing, until))


async def _open_tap(tap: Tap, typing: Typing | None, until: float, backend: str) -> Snapshot | None:
    """Open a tap; the snapshot tells of a pane that has a pipe or is out of reach."""
    try:
        snapshot = await tap.open(typing, until)
        if not snapshot.entry.piped and await tap.proved(until):
            return None
        if backend == "tap" and not snapshot.entry.piped:
            raise TmuxWaitError(
                f"the tap on {tap.pane} stays silent: its shell cannot reach our FIFO"
            )
        await tap.close()
    except BaseException:
        tap.let_go()
        tap.driver.later(tap.close)
        raise
    return snapshot
