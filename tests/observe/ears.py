"""How the tests run ears: on both drivers, on the test's own server, and what may be left."""

from __future__ import annotations

import asyncio
import re
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


def run_asyncio(main: Main[T]) -> T:
    """Run ``main`` on an asyncio driver and wait for its teardowns."""

    async def whole() -> T:
        driver = AsyncioDriver()
        try:
            return await main(driver)
        finally:
            await driver.aclose()

    return asyncio.run(whole())


RUNNERS = {"blocking": blocking.run, "asyncio": run_asyncio}
on_both_drivers = pytest.mark.parametrize("run", RUNNERS.values(), ids=RUNNERS)


def reach(server: TmuxServerFixture) -> Tmux:
    """Say how to reach the test's server."""
    return Tmux(server.binary, socket_name=server.name)


async def listen(driver: Driver, server: TmuxServerFixture, pane: str, **how: Any) -> Observer:
    """Open an ear on a pane."""
    return await open_observer(driver, reach(server), pane, until=driver.now() + PATIENCE, **how)


async def hear(driver: Driver, ear: Observer, text: bytes = b"") -> tuple[bytes, Ended | None]:
    """Return what a tap hears until ``text`` came or it ended; fail after `PATIENCE` seconds."""
    limit = driver.now() + PATIENCE
    heard = b""
    while not (text and text in heard):
        event = await ear.next(limit)
        if isinstance(event, Ended):
            return heard, event
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


CLOSED = Ended(EndReason.CLOSED)
STOLEN = Ended(EndReason.STOLEN)


def version(server: TmuxServerFixture) -> tuple[int, int]:
    """Return the version of the tmux under test."""
    words = re.search(r"(\d+)\.(\d+)", server.run("-V").stdout)
    assert words
    return int(words[1]), int(words[2])


def pipe_processes(server: TmuxServerFixture) -> list[str]:
    """Return the command lines of the server's children that write into a FIFO of ours."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if parent == str(server.pid) and (command.startswith("cat") or "tmux-wait-" in command):
            found.append(command)
    return found
