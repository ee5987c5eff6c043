"""Panes that are resized while a wait listens: what wraps, and where a carriage return goes."""

from __future__ import annotations

import dataclasses
import os
import pty
import struct
import termios
from collections.abc import Callable
from fcntl import ioctl

import pytest
from conftest import PATIENCE, VERSION, TmuxServerFixture, wait_until, with_each_ear
from real_waits import Wait, during, wait

from tmux_wait import WaitOutcome
from tmux_wait.drive import Driver, blocking
from tmux_wait.observe.choose import look
from tmux_wait.observe.width import TerminalWidth
from tmux_wait.tmux import Tmux

__all__ = ["wait"]  # the fixture

# In 20 columns the carriage return goes to the beginning of the second row.
PROGRAM = (
    "stty -echo; echo up; while read x; do printf 'aaaaaaaaaaaaaaaaaaaabbbbb\\rREADY\\n'; done"
)


def columns(terminal: str) -> int:
    """Return how wide a terminal knows itself to be; tmux may tell it 0.25 s late."""
    fd = os.open(terminal, os.O_RDONLY | os.O_NOCTTY)
    try:
        return int(struct.unpack_from("HH", ioctl(fd, termios.TIOCGWINSZ, bytes(8)))[1])
    finally:
        os.close(fd)


@with_each_ear
@pytest.mark.parametrize("respawned", [False, True], ids=["", "respawned"])
def test_a_line_is_assembled_in_the_new_width(
    tmux_server: TmuxServerFixture, wait: Wait, backend: str, respawned: bool
) -> None:
    if respawned and backend == "control" and VERSION < (3, 8):
        pytest.skip("tmux 3.7 itself may die of it: see README")
    pane = tmux_server.pane(PROGRAM)
    tmux_server.shows(pane, "up")

    def resize(_: object) -> None:
        if respawned:
            again = PROGRAM.replace("up", "up again")
            tmux_server.tmux("respawn-pane", "-k", "-t", pane, again)
            tmux_server.shows(pane, "up again")
        tmux_server.tmux("resize-window", "-t", pane, "-x", "20", "-y", "10")
        wait_until(lambda: columns(tmux_server.get(pane, "#{pane_tty}")) == 20)
        tmux_server.type(pane, "")

    result = during(lambda: wait(pane, ["aREADY"], stop=["READYa"], backend=backend), resize)
    assert (result.outcome, result.backend) == (WaitOutcome.MATCHED, backend)
    assert result.matched_line == "aaaaaaaaaaaaaaaaaaaaREADY"


@with_each_ear
def test_a_line_that_was_begun_goes_on_in_the_new_width(
    tmux_server: TmuxServerFixture, wait: Wait, backend: str
) -> None:
    pane = tmux_server.pane(
        "stty -echo; echo up; printf 'begun by %s' me; read x; echo ', ended'; cat"
    )
    tmux_server.shows(pane, "begun by me")

    def resize(_: object) -> None:
        tmux_server.tmux("resize-window", "-t", pane, "-x", "7", "-y", "10")
        tmux_server.type(pane, "")

    result = during(lambda: wait(pane, ["me, ended"], backend=backend), resize)
    assert (result.outcome, result.matched_line) == (WaitOutcome.MATCHED, "begun by me, ended")


def widths(
    server: TmuxServerFixture, pane: str, act: Callable[[], object], **changes: object
) -> list[tuple[bool, int]]:
    """Return what is told of a pane's width at first, after ``act``, and then once more."""

    async def main(driver: Driver) -> list[tuple[bool, int]]:
        tmux = Tmux(server.binary, socket_name=server.name)
        entry = await look(driver, tmux, pane, until=driver.now() + PATIENCE)
        width = TerminalWidth(driver, tmux, dataclasses.replace(entry, **changes))  # type: ignore[arg-type]
        before = os.listdir("/proc/self/fd")  # noqa: PTH208
        told = [(await width.changed(), width.cells)]
        act()
        told += [(await width.changed(), width.cells) for _ in range(2)]
        assert os.listdir("/proc/self/fd") == before, "it holds nothing"  # noqa: PTH208
        return told

    return blocking.run(main)


def test_the_terminal_tells_the_width(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane(width=81)
    told = widths(
        tmux_server, pane, lambda: tmux_server.tmux("resize-window", "-t", pane, "-x", "33")
    )
    assert told == [(False, 81), (True, 33), (False, 33)]


def test_another_terminal_of_that_name_is_not_believed(tmux_server: TmuxServerFixture) -> None:
    """As where the server lives in a container."""
    ours, theirs = pty.openpty()
    try:
        size = struct.pack("HHHH", 24, 33, 0, 0)
        told = widths(
            tmux_server, tmux_server.pane(), lambda: ioctl(theirs, termios.TIOCSWINSZ, size),
            tty=os.ttyname(theirs),
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    assert told == [(False, 80)] * 3


@pytest.mark.parametrize("path", ["", "/dev/null", "/nonexistent", "/dev/pts/0\0"])
def test_a_terminal_that_cannot_be_asked_leaves_the_width(
    tmux_server: TmuxServerFixture, path: str
) -> None:
    assert widths(tmux_server, tmux_server.pane(), lambda: None, tty=path) == [(False, 80)] * 3
