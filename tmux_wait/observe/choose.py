"""Which ear: the tap wherever it can be had; else a control client where that is safe; else looks.

One ear may follow another in a wait, when somebody took the first one's pipe, say. `avoid` then
names the ears that must not be used on that pane again.
"""

from __future__ import annotations

from collections.abc import Collection

from tmux_wait.drive import Driver
from tmux_wait.errors import TmuxWaitError
from tmux_wait.observe import leftovers, taps
from tmux_wait.observe.control import Control, is_safe, survives_respawn
from tmux_wait.observe.control_client import dies_with_us
from tmux_wait.observe.entry import LOOKBACK, Entry, Look, Snapshot
from tmux_wait.observe.fifo import base_folders
from tmux_wait.observe.poll import Poll
from tmux_wait.observe.protocol import Observer
from tmux_wait.observe.tap import Tap
from tmux_wait.observe.typing import Typing
from tmux_wait.results import BACKENDS
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
    avoid: Collection[str] = (),
    lookback: int = LOOKBACK,
) -> Observer:
    """Make the cut on ``target``, type, and return the ear that hears what comes after it.

    ``backend`` is one of `BACKENDS`; ``avoid`` names the ears that ``auto`` must not use, and
    ``lookback`` is how many rows of the history the cut of an ear but the tap holds. If it raises
    or is cancelled, what was begun is torn down by ``driver.later``.
    """
    if backend not in BACKENDS:
        raise TmuxWaitError(f"unknown backend {backend!r}: use one of {', '.join(BACKENDS)}")
    pane = await resolve(driver, tmux, target, until=until)
    leftovers.sweep(base_folders())
    if backend == "poll" or {"tap", "control"} <= set(avoid):
        return await _open_poll(driver, tmux, pane, typing, until, lookback)
    if backend == "control" or "tap" in avoid:
        before = (await _look(driver, tmux, pane, None, until)).entry
        return await _open_control(driver, tmux, before, typing, until, lookback, backend)
    await taps.wait_for_closing(driver, tmux, pane)
    snapshot, orphans = None, 0
    while orphans < MOST_ORPHANS:
        try:
            tap = Tap(driver, tmux, pane)
            snapshot = await _open_tap(tap, typing, until, backend)
        except OSError as failure:
            if backend == "tap":
                raise TmuxWaitError(f"{pane} cannot be tapped: {failure}") from failure
            break
        if snapshot is None:
            return tap
        if not snapshot.entry.piped:
            return Poll(driver, tmux, snapshot)  # the tap was deaf; the cut stands
        if await taps.was_ours(driver, tmux, pane):
            continue
        orphans += 1
        server, pipe = snapshot.entry.server_pid, snapshot.pipe_pid
        if not await leftovers.end_orphan(driver, pane, server, pipe):
            break
    if backend == "tap":
        raise TmuxWaitError(f"{pane} already has a pipe (pipe-pane); it cannot be tapped")
    if snapshot is None or "control" in avoid:
        return await _open_poll(driver, tmux, pane, typing, until, lookback)
    return await _open_control(driver, tmux, snapshot.entry, typing, until, lookback, backend)


async def look(
    driver: Driver, tmux: Tmux, target: str, *, typing: Typing | None = None, until: float
) -> Entry:
    """Look at ``target`` once, type, and return what was seen before the typing."""
    pane = await resolve(driver, tmux, target, until=until)
    return (await _look(driver, tmux, pane, typing, until)).entry


async def _look(
    driver: Driver,
    tmux: Tmux,
    pane: str,
    typing: Typing | None,
    until: float,
    lookback: int = LOOKBACK,
) -> Snapshot:
    question = Look(pane, lookback=lookback, typing=typing)
    return question.read(await tmux.run(driver, question.commands(), until=until))


async def _open_poll(
    driver: Driver, tmux: Tmux, pane: str, typing: Typing | None, until: float, lookback: int
) -> Poll:
    return Poll(driver, tmux, await _look(driver, tmux, pane, typing, until, lookback))


async def _open_control(
    driver: Driver,
    tmux: Tmux,
    before: Entry,
    typing: Typing | None,
    until: float,
    lookback: int,
    backend: str,
) -> Observer:
    """Open a control client on the pane last seen as ``before``; ``auto`` polls where it cannot."""
    refusal = _refusal(before)
    safe = bool(dies_with_us()) and survives_respawn(before.server_version)
    may = backend == "control" or safe
    if refusal is None and may and not before.dead:
        control = Control(driver, tmux, before)
        try:
            if await control.attach(until):
                await control.open(typing, until, lookback)
                return control
        except BaseException:
            driver.later(control.close)
            raise
        driver.later(control.close)
        refusal = f"tmux let no control client attach to {before.session}, where {before.pane} is"
    if refusal is not None and backend == "control":
        raise TmuxWaitError(refusal)
    return await _open_poll(driver, tmux, before.pane, typing, until, lookback)


def _refusal(entry: Entry) -> str | None:
    """Say why no control client may be used, in one sentence; None: it may."""
    if is_safe(entry.server_version):
        return None
    return (
        f"the control backend needs a tmux server of version 3.7 or newer, and this one is "
        f"{entry.server_version or 'unknown'}, which a control client can bring down: "
        "use auto, tap or poll"
    )


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
