"""How a pane ends, and that all it wrote is heard before its end is said."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import PATIENCE, VERSION, TmuxServerFixture, wait_until, with_each_ear
from ears import (
    CLOSED,
    Main,
    hear,
    listen,
    notice,
    on_both_drivers,
    pipe_processes,
    run_blocking,
    see,
)

from tmux_wait.drive import Driver
from tmux_wait.observe import Ended
from tmux_wait.observe.typing import Typing

pytestmark = pytest.mark.usefixtures("spotless")


# A program that ends with output still unread by tmux loses it in the kernel (tmux asks FIONREAD,
# which does not know of what a terminal has not passed on yet): on two busy cores 1 in 20 to 300
# panes, on each tmux and whoever listens. The screen of a pane that remains shows what tmux read.
ROUNDS = 15
MOST_LOST = 5
LAST_WORDS = b"".join(b"%s\r\n" % w for w in (b"go", *(b"%d" % n for n in range(1, 2001))))
LAST_WORDS += b"FATAL: no port\r\n"


def _last_words(
    run: Main, server: TmuxServerFixture, command: str, **how: object
) -> tuple[str, bytes, Ended | None]:
    pane = server.pane(command)

    async def main(driver: Driver) -> tuple[bytes, Ended | None]:
        ear = await listen(driver, server, pane, typing=Typing("go"), **how)
        return await hear(driver, ear)

    return pane, *run(main)


@on_both_drivers
@pytest.mark.parametrize("option", [None, "remain-on-exit"], ids=["closes", "remains"])
def test_last_words_are_heard_before_the_end(
    run: Main, tmux_server: TmuxServerFixture, option: str | None
) -> None:
    tmux_server.pane()
    if option:
        tmux_server.tmux("set-option", "-g", option, "on")
    lost = 0
    for _ in range(ROUNDS):
        pane, heard, end = _last_words(
            run, tmux_server, "read go; seq 1 2000; echo FATAL: no port; exit 1"
        )
        assert end == CLOSED
        assert LAST_WORDS.startswith(heard)
        if option:
            assert (heard == LAST_WORDS) == ("FATAL: no port" in tmux_server.screen(pane))
        lost += heard != LAST_WORDS
    assert lost <= MOST_LOST


@on_both_drivers
def test_a_reader_that_comes_late_hears_the_last_words_too(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    tmux_server.pane()
    pane = tmux_server.pane("read go; seq 1 50000; echo LAST")
    process = int(tmux_server.get(pane, "#{pane_pid}"))

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        tmux_server.type(pane, "go")
        # The program has written all and ended, or hangs in its last write.
        wait_until(lambda: _ended(process) or pane not in _panes(tmux_server), "its end")
        heard, end = await hear(driver, ear)
        assert end == CLOSED
        whole = b"".join(b"%s\r\n" % w for w in (b"go", *(b"%d" % n for n in range(1, 50_001))))
        assert whole.startswith(heard.removesuffix(b"LAST\r\n"))
        assert len(heard) > len(whole) // 2

    run(main)


def _ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _panes(server: TmuxServerFixture) -> list[str]:
    return server.tmux("list-panes", "-a", "-F", "#{pane_id}").split()


@on_both_drivers
@with_each_ear
@pytest.mark.parametrize("command", ["kill-pane", "kill-window", "kill-session", "kill-server"])
def test_a_pane_that_is_killed_is_closed(
    run: Main, tmux_server: TmuxServerFixture, backend: str, command: str
) -> None:
    tmux_server.pane()
    pane = tmux_server.pane("echo seen; exec cat")
    tmux_server.shows(pane, "seen")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend=backend)
        target = [] if command == "kill-server" else ["-t", pane]
        tmux_server.tmux(command, *target)
        assert await ear.next(driver.now() + PATIENCE) == CLOSED
        assert await ear.next(driver.now() + PATIENCE) == CLOSED, "it stays so"

    run(main)


@on_both_drivers
@with_each_ear
def test_a_server_that_crashes_closes_its_panes(
    run: Main, tmux_server: TmuxServerFixture, backend: str
) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend=backend)
        os.kill(tmux_server.pid, signal.SIGKILL)
        end = await ear.next(driver.now() + PATIENCE)
        while end != CLOSED:  # the poll may still have said that it is quiet
            end = await ear.next(driver.now() + PATIENCE)

    run(main)


@on_both_drivers
@with_each_ear
def test_another_server_on_the_same_socket_is_not_the_pane(
    run: Main, tmux_server: TmuxServerFixture, backend: str
) -> None:
    """Its pane has the same id; its pipe is not ours to close."""
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend=backend)
        before = tmux_server.pid
        tmux_server.tmux("kill-server")
        wait_until(lambda: _ended(before), "the server's end")
        assert tmux_server.pane() == pane
        tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
        assert await ear.next(driver.now() + PATIENCE) == CLOSED

    run(main)
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"


@on_both_drivers
@with_each_ear
def test_a_dead_pane_that_remains_is_closed_after_its_last_words(
    run: Main, tmux_server: TmuxServerFixture, backend: str
) -> None:
    tmux_server.pane()
    tmux_server.tmux("set-option", "-g", "remain-on-exit", "on")
    pane = tmux_server.pane("read go; seq 1 9; echo LAST; sleep 0.1; exit 3", height=4)

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend=backend, typing=Typing("go"))
        if backend != "poll":
            heard, end = await hear(driver, ear)
            assert heard == b"go\r\n" + b"".join(b"%d\r\n" % n for n in range(1, 10)) + b"LAST\r\n"
        else:
            seen, end = await see(driver, ear)
            assert [row for row in seen if row] == ["go", *map(str, range(1, 10)), "LAST"]
        assert end == CLOSED

    run(main)
    assert tmux_server.get(pane, "#{pane_dead}") == "1"
    assert pipe_processes(tmux_server) == []
    wait_until(lambda: tmux_server.get(pane, "#{pane_pipe}") == "0")


@on_both_drivers
@with_each_ear
@pytest.mark.parametrize("remain", ["on", "off"])
def test_a_respawned_pane_is_heard_on(
    run: Main, tmux_server: TmuxServerFixture, backend: str, remain: str
) -> None:
    if backend == "control" and VERSION < (3, 8):
        pytest.skip("tmux 3.7 itself may die of it: see README")
    tmux_server.pane()
    tmux_server.tmux("set-option", "-g", "remain-on-exit", remain)
    pane = tmux_server.pane("echo first; exec cat")
    tmux_server.shows(pane, "first")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend=backend)
        for word in ("second", "third"):
            tmux_server.tmux("respawn-pane", "-k", "-t", pane, f"echo {word}; exec cat")
            heard, end = await notice(driver, ear, word)
            assert end is None, heard
        await ear.next(driver.now() + 0.1)  # long enough to have asked what the end was
        tmux_server.type(pane, "x")
        _, end = await notice(driver, ear, "x")
        assert end is None
        tmux_server.tmux("kill-pane", "-t", pane)
        _, end = await notice(driver, ear)
        assert end == CLOSED

    run(main)


@on_both_drivers
@with_each_ear
def test_a_pane_that_moves_is_heard_on(
    run: Main, tmux_server: TmuxServerFixture, backend: str
) -> None:
    """A control client hears on within its session."""
    pane = tmux_server.pane()
    session = tmux_server.get(pane, "#{session_id}:")
    other = tmux_server.pane()
    if backend == "control":
        other = tmux_server.tmux(
            "new-window", "-d", "-t", session, "-P", "-F", "#{pane_id}", "exec cat"
        )
    tmux_server.tmux("split-window", "-t", pane, "exec cat")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend=backend)
        for number, command in enumerate(
            (
                ["break-pane", "-d", "-s", pane],
                ["join-pane", "-d", "-s", pane, "-t", other],
                ["resize-pane", "-t", pane, "-y", "5"],
                ["break-pane", "-d", "-s", pane],
                ["move-window", "-d", "-s", pane, "-t", f"{session}99"],
                ["swap-pane", "-d", "-s", pane, "-t", other],
            )
        ):
            tmux_server.tmux(*command)
            tmux_server.type(pane, f"word{number}")
            heard, end = await notice(driver, ear, f"word{number}")
            assert end is None, heard

    run(main)


@on_both_drivers
def test_a_process_that_cannot_be_watched_is_asked_about(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the server lives in another PID namespace."""
    monkeypatch.setattr("tmux_wait.observe.ending.watch_process", lambda pid, parent: None)
    monkeypatch.setattr("tmux_wait.observe.ending.LONGEST_PAUSE", 0.05)
    tmux_server.pane()
    tmux_server.tmux("set-option", "-g", "remain-on-exit", "on")
    _, heard, end = _last_words(run, tmux_server, "read go; echo LAST; sleep 0.1; exit 1")
    assert (heard, end) == (b"go\r\nLAST\r\n", CLOSED)


@on_both_drivers
def test_background_processes_do_not_hold_back_the_end(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    tmux_server.pane()
    _, heard, end = _last_words(run, tmux_server, "read go; sleep 60 & echo $!; sleep 0.1; exit 1")
    assert end == CLOSED
    with suppress(ProcessLookupError):  # the terminal's end may have ended it
        os.kill(int(heard.split()[1]), signal.SIGTERM)


@on_both_drivers
def test_a_quiet_tap_sleeps_and_asks_nobody(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = tmux_server.pane()
    waits: list[float | None] = []

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        wait = driver.wait

        async def counted(fds: Sequence[int], until: float | None) -> Sequence[int]:
            waits.append(until)
            return await wait(fds, until)

        with monkeypatch.context() as patched:
            patched.setattr(driver, "wait", counted)
            assert await ear.next(driver.now() + 0.3) is None

    run(main)
    assert len(waits) == 1


def test_the_pipes_of_many_panes_all_end(tmux_server: TmuxServerFixture) -> None:
    panes = [tmux_server.pane(f"read go; seq 1 500; echo LAST {n}; sleep 0.1") for n in range(8)]
    keeper = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ears = [await listen(driver, tmux_server, pane, typing=Typing("go")) for pane in panes]
        for number, ear in enumerate(ears):
            heard, end = await hear(driver, ear)
            assert end == CLOSED
            assert heard.endswith(b"LAST %d\r\n" % number)

    run_blocking(main)
    assert _panes(tmux_server) == [keeper]
    assert pipe_processes(tmux_server) == []
