"""How the tests run ears: on both drivers, on the test's own server, and what may be left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from conftest import PATIENCE, TmuxServerFixture

from tmux_wait.drive import Driver, blocking
from tmux_wait.drive.aio import AsyncioDriver
from tmux_wait.observe import Data, Ended, EndReason, Observer, Rows
from tmux_wait.observe.choose import open_observer
from tmux_wait.tmux import Tmux

T = TypeVar("T")
Main = Callable[[Driver], Coroutine[Any, Any, T]]


_opened: list[tuple[Driver, Observer]] = []


def run_blocking(main: Main[T]) -> T:
    """Run ``main`` on the blocking driver and close every ear that it opened."""
    return blocking.run(_closing(main))


def run_asyncio(main: Main[T]) -> T:
    """Run ``main`` on an asyncio driver, close every ear that it opened, wait for that."""

    async def whole() -> T:
        driver = AsyncioDriver()
        try:
            return await _closing(main)(driver)
        finally:
            await driver.aclose()

    return asyncio.run(whole())


def _closing(main: Main[T]) -> Main[T]:
    async def whole(driver: Driver) -> T:
        try:
            return await main(driver)
        finally:
            for owner, ear in _opened:
                if owner is driver:
                    driver.later(ear.close)
            _opened[:] = [(owner, ear) for owner, ear in _opened if owner is not driver]

    return whole


RUNNERS = {"blocking": run_blocking, "asyncio": run_asyncio}
on_both_drivers = pytest.mark.parametrize("run", RUNNERS.values(), ids=RUNNERS)


def reach(server: TmuxServerFixture) -> Tmux:
    """Say how to reach the test's server."""
    return Tmux(server.binary, socket_name=server.name)


async def listen(
    driver: Driver, server: TmuxServerFixture, pane: str, tmux: Tmux | None = None, **how: Any
) -> Observer:
    """Open an ear on a pane; it is closed, by `Driver.later`, when the run is over."""
    until = driver.now() + PATIENCE
    ear = await open_observer(driver, tmux or reach(server), pane, until=until, **how)
    _opened.append((driver, ear))
    return ear


async def hear(driver: Driver, ear: Observer, text: bytes = b"") -> tuple[bytes, Ended | None]:
    """Return the bytes that an ear hears until ``text`` came or it ended.

    Fails after `PATIENCE` seconds. A control client's last screen is passed over.
    """
    limit = driver.now() + PATIENCE
    heard = b""
    while not (text and text in heard):
        event = await ear.next(limit)
        if isinstance(event, Ended):
            return heard, event
        if isinstance(event, Rows) and ear.name == "control":
            continue
        assert isinstance(event, Data), f"nothing more after {heard[-200:]!r}"
        heard += event.data
    return heard, None


async def see(driver: Driver, ear: Observer, text: str = "") -> tuple[list[str], Ended | None]:
    """Return the rows that a poll sees until one holds ``text`` or it ended."""
    limit = driver.now() + PATIENCE
    seen: list[str] = []
    while not (text and any(text in row for row in seen)):
        event = await ear.next(limit)
        if isinstance(event, Ended):
            return seen, event
        assert isinstance(event, Rows), f"nothing more after {seen[-20:]!r}"
        seen += [row.text for row in event.rows]
    return seen, None


async def notice(driver: Driver, ear: Observer, text: str = "") -> tuple[str, Ended | None]:
    """Return, as text, what any ear notices until ``text`` came or it ended."""
    limit = driver.now() + PATIENCE
    noticed = ""
    while not (text and text in noticed):
        event = await ear.next(limit)
        if isinstance(event, Ended):
            return noticed, event
        if isinstance(event, Data):
            noticed += event.data.decode(errors="replace")
        else:
            assert isinstance(event, Rows), f"nothing more after {noticed[-200:]!r}"
            noticed += "".join(f"{row.text}\r\n" for row in event.rows)
    return noticed, None


CLOSED = Ended(EndReason.CLOSED)
STOLEN = Ended(EndReason.STOLEN)


def pipe_processes(server: TmuxServerFixture) -> list[int]:
    """Return the server's children that write into a FIFO of ours, or are about to."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
            output = os.readlink(folder / "fd/1")  # noqa: PTH115 - it may be "pipe:[1]"
        except (OSError, IndexError):
            continue
        if parent == str(server.pid) and "/tmux-wait-" in command + output:
            found.append(int(folder.name))
    return found
