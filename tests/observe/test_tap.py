"""The tap on a real tmux: the exact cut, nobody's pipe harmed, deafness noticed, nothing left."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE, SECOND_EAR, TmuxServerFixture, wait_until
from ears import (
    STOLEN,
    Main,
    hear,
    listen,
    notice,
    on_both_drivers,
    pipe_processes,
    reach,
    run_blocking,
    see,
)

from tmux_wait.drive import Driver
from tmux_wait.drive.aio import AsyncioDriver
from tmux_wait.errors import TmuxWaitError
from tmux_wait.observe import Data, Ended, EndReason, at_exit, fifo, pipe
from tmux_wait.observe.choose import open_observer
from tmux_wait.observe.fifo import Fifo, base_folders
from tmux_wait.observe.typing import Typing

pytestmark = pytest.mark.usefixtures("spotless")

COUNTER = "i=0; while :; do i=$((i+1)); echo n$i; done"


def nothing_left(server: TmuxServerFixture, pane: str) -> None:
    """Assert that no pipe and no process of ours is left, now, not soon."""
    assert server.get(pane, "#{pane_pipe}") == "0"
    wait_until(lambda: pipe_processes(server) == [], "an end of every `cat`")


@on_both_drivers
def test_screen_and_stream_meet_exactly(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane(f"exec dash -c '{COUNTER}'")
    tmux_server.shows(pane, "n1")

    async def main(driver: Driver) -> None:
        for _ in range(10):
            ear = await listen(driver, tmux_server, pane)
            stream = b"\n".join([row.encode() for row in ear.entry.rows[: ear.entry.cursor_row]])
            stream += b"\n" + ear.entry.rows[ear.entry.cursor_row].encode()
            while len(stream) < 20_000:
                event = await ear.next(None)
                assert isinstance(event, Data)
                stream += event.data
            numbers = [int(n) for n in re.findall(rb"n(\d+)\r?\n", stream)]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            await ear.close()

    run(main)


@on_both_drivers
def test_a_flood_is_heard_whole(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("read go; seq 1 200000; exec cat")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, typing=Typing("go"))
        heard, _ = await hear(driver, ear, b"200000\r\n")
        lines = heard.split(b"\r\n")
        assert lines[0] == b"go"
        assert lines[1:-1] == [b"%d" % n for n in range(1, 200_001)]
        assert ear.complete

    run(main)


@on_both_drivers
def test_nothing_comes_until_the_time_has_come(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        assert await ear.next(driver.now() + 0.02) is None
        assert await ear.next(driver.now() - 1) is None
        tmux_server.type(pane, "x")
        wait_until(lambda: tmux_server.screen(pane).split()[:2] == ["x", "x"])
        assert isinstance(await ear.next(driver.now() - 1), Data), "what is there is returned"

    run(main)


@on_both_drivers
def test_close_leaves_nothing_and_may_be_called_again(
    run: Main, tmux_server: TmuxServerFixture, spotless: Path
) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        assert tmux_server.get(pane, "#{pane_pipe}") == "1"
        assert list(spotless.iterdir()) == [], "an open tap needs no name"
        await ear.close()
        assert pipe_processes(tmux_server) == []
        assert tmux_server.get(pane, "#{pane_pipe}") == "0"
        await ear.close()

    run(main)
    nothing_left(tmux_server, pane)


@on_both_drivers
def test_close_in_a_flood_leaves_nothing(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("exec yes 'a flooding pane writes lines of this length'")

    async def main(driver: Driver) -> None:
        for _ in range(5):
            ear = await listen(driver, tmux_server, pane)
            await ear.next(None)
            await ear.close()
            assert tmux_server.get(pane, "#{pane_pipe}") == "0"

    run(main)
    nothing_left(tmux_server, pane)


@on_both_drivers
def test_a_second_tap_right_after_the_answer_is_a_tap_again(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    """The teardown is in the background; the next call must not take our pipe for a user's."""
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        for _ in range(5):
            ear = await listen(driver, tmux_server, pane)
            assert ear.name == "tap"
            if isinstance(driver, AsyncioDriver):
                ear.let_go()
                driver.later(ear.close)
            else:  # there, the teardown comes before the answer
                await ear.close()

    run(main)
    nothing_left(tmux_server, pane)


@on_both_drivers
def test_a_users_pipe_is_left_alone(
    run: Main, tmux_server: TmuxServerFixture, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pane = tmux_server.pane()
    tmux_server.tmux("pipe-pane", "-t", pane, f"exec cat >>'{log}'")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        assert (ear.name, ear.entry.piped) == (SECOND_EAR, True)
        tmux_server.type(pane, "first")
        await notice(driver, ear, "first")
        await ear.close()
        with pytest.raises(TmuxWaitError, match="already has a pipe"):
            await listen(driver, tmux_server, pane, backend="tap")

    run(main)
    tmux_server.type(pane, "second")
    wait_until(lambda: log.read_bytes().count(b"second") == 2, "both words in the log")
    assert log.read_bytes().count(b"first") == 2
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"


@on_both_drivers
@pytest.mark.parametrize("options", [[], ["-o"]], ids=["plain", "toggle"])
def test_a_stolen_pipe_is_said_and_left_alone(
    run: Main, tmux_server: TmuxServerFixture, tmp_path: Path, options: list[str]
) -> None:
    log = tmp_path / "log"
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        tmux_server.type(pane, "before")
        # tmux drops what it has not written yet into a pipe that is replaced.
        heard, _ = await hear(driver, ear, b"before\r\nbefore\r\n")
        assert heard == b"before\r\nbefore\r\n"
        tmux_server.tmux("pipe-pane", *options, "-t", pane, f"exec cat >>'{log}'")
        assert await hear(driver, ear) == (b"", STOLEN)
        assert await ear.next(None) == STOLEN, "it stays so"
        await ear.close()

    run(main)
    # The toggle's first press only closes ours.
    assert tmux_server.get(pane, "#{pane_pipe}") == ("0" if options else "1")
    if not options:
        tmux_server.type(pane, "after")
        wait_until(lambda: log.exists() and log.read_bytes().count(b"after") == 2)


@on_both_drivers
def test_a_pipe_stolen_while_we_were_not_reading_is_not_closed(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        tmux_server.type(pane, "unread")
        tmux_server.tmux("pipe-pane", "-t", pane, "exec cat >/dev/null")
        wait_until(lambda: pipe_processes(tmux_server) == [], "the end of our `cat`")
        await ear.close()

    run(main)
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"


@on_both_drivers
@pytest.mark.parametrize("typing", [None, Typing("typed once")], ids=["silent", "typing"])
def test_a_deaf_tap_is_noticed_and_replaced(
    run: Main,
    tmux_server: TmuxServerFixture,
    monkeypatch: pytest.MonkeyPatch,
    typing: Typing | None,
) -> None:
    """The pipe's shell cannot reach the FIFO: as with another user's server."""
    unreachable = "exec >'/nonexistent/fifo'; echo $$; exec cat"
    monkeypatch.setattr(Fifo, "shell_command", lambda fifo: unreachable)
    monkeypatch.setattr(pipe, "PROOF_TIME", 0.2)
    pane = tmux_server.pane("echo seen; exec cat")
    tmux_server.shows(pane, "seen")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, typing=typing)
        assert (ear.name, ear.complete) == ("poll", False)
        assert ear.entry.rows[:2] == ("seen", "")
        assert tmux_server.get(pane, "#{pane_pipe}") == "0"
        tmux_server.type(pane, "heard all the same")
        seen, _ = await see(driver, ear, "heard all the same")
        if typing:
            assert seen.count("typed once") >= 1
        with pytest.raises(TmuxWaitError, match="cannot reach"):
            await listen(driver, tmux_server, pane, backend="tap")

    run(main)
    assert tmux_server.screen(pane).count("typed once") == (2 if typing else 0)
    nothing_left(tmux_server, pane)


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace of its own needs root")
def test_a_server_that_sees_other_temporary_files_is_heard_all_the_same(
    tmux_server: TmuxServerFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(hidden))
    socket = tmp_path / "socket"
    start = (
        f"mount -t tmpfs none '{hidden}' && exec '{tmux_server.binary}' -u -f /dev/null"
        f" -S '{socket}' new-session -d 'echo seen; exec cat'"
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", start],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip("unshare -m does not work here")
    tmux = reach(tmux_server)
    tmux = type(tmux)(tmux.binary, socket_path=str(socket))

    async def main(driver: Driver) -> str:
        ear = await open_observer(driver, tmux, "%0", until=driver.now() + PATIENCE)
        driver.later(ear.close)
        return ear.name

    try:
        assert run_blocking(main) == "poll"
    finally:
        subprocess.run([tmux.binary, "-S", str(socket), "kill-server"], check=True)
    assert list(hidden.iterdir()) == []


def test_no_descriptor_of_ours_reaches_a_child(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    before = {int(name) for name in os.listdir("/proc/self/fd")}  # noqa: PTH208

    async def main(driver: Driver) -> None:
        await listen(driver, tmux_server, pane)
        mine = {int(name) for name in os.listdir("/proc/self/fd")} - before  # noqa: PTH208
        mine = {fd for fd in mine if Path(f"/dev/fd/{fd}").exists()}
        inheritable = [fd for fd in mine if os.get_inheritable(fd)]
        assert inheritable == []

    run_blocking(main)


def test_a_cancelled_wait_leaves_nothing(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def wait(driver: AsyncioDriver, opened: asyncio.Event) -> None:
        ear = await listen(driver, tmux_server, pane)
        try:
            opened.set()
            await ear.next(None)
        finally:
            driver.later(ear.close)

    async def main() -> None:
        driver = AsyncioDriver()
        opened = asyncio.Event()
        task = asyncio.ensure_future(wait(driver, opened))
        await opened.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # Not awaited: asyncio.run cancels the teardown, which has to happen all the same.

    asyncio.run(main())
    nothing_left(tmux_server, pane)


@pytest.mark.parametrize("steps", range(0, 30, 3))
def test_an_open_that_is_cancelled_anywhere_leaves_nothing(
    tmux_server: TmuxServerFixture, steps: int
) -> None:
    pane = tmux_server.pane()

    async def main() -> None:
        driver = AsyncioDriver()
        task = asyncio.ensure_future(listen(driver, tmux_server, pane))
        for _ in range(steps):
            await asyncio.sleep(0.0005)
        if task.done():
            driver.later(task.result().close)
        task.cancel()
        await asyncio.wait([task])
        await driver.aclose()

    asyncio.run(main())
    nothing_left(tmux_server, pane)


LOOP_CLOSED = """
import asyncio, sys
from tmux_wait.drive.aio import AsyncioDriver
from tmux_wait.observe.choose import open_observer
from tmux_wait.tmux import Tmux

async def wait(driver):
    ear = await open_observer(driver, Tmux(sys.argv[1], sys.argv[2]), sys.argv[3], until=1e12)
    assert ear.name == "tap", ear.name
    loop.call_soon(loop.stop)
    try:
        await ear.next(None)
    finally:
        driver.later(ear.close)

loop = asyncio.new_event_loop()
task = loop.create_task(wait(AsyncioDriver(loop)))
loop.run_forever()
if sys.argv[4] == "close":
    loop.close()
    del task
"""


@pytest.mark.parametrize("how", ["close", "exit"])
def test_a_loop_that_is_closed_or_left_under_a_wait_leaves_nothing(
    tmux_server: TmuxServerFixture, tmp_path: Path, how: str
) -> None:
    pane = tmux_server.pane()
    subprocess.run(
        [sys.executable, "-c", LOOP_CLOSED, tmux_server.binary, tmux_server.name, pane, how],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, cwd=tmp_path,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    nothing_left(tmux_server, pane)


def test_a_forked_child_closes_nothing_of_its_parents(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        child = os.fork()
        if child == 0:
            at_exit.close_all()
            os._exit(0)
        os.waitpid(child, 0)
        assert tmux_server.get(pane, "#{pane_pipe}") == "1"
        assert await ear.next(driver.now() + 0.01) is None

    run_blocking(main)
    nothing_left(tmux_server, pane)


UNSAFE = ["/a#b", "/a%b", "/a'b", '/a"b', "/a\\b", "/a`b", "/a$b", "relative", ""]


@pytest.mark.parametrize("path", UNSAFE)
def test_a_folder_that_tmux_or_the_shell_would_change_is_skipped(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", path)
    monkeypatch.setenv("TMPDIR", "/tmp/plain é {};~")
    assert list(base_folders()) == [Path("/tmp/plain é {};~"), Path("/tmp")]


@on_both_drivers
def test_without_any_folder_the_pane_is_polled(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = tmux_server.pane()
    monkeypatch.setattr(fifo, "base_folders", lambda: iter([Path("/nonexistent")]))

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, typing=Typing("once"))
        assert ear.name == "poll"
        with pytest.raises(TmuxWaitError, match="cannot be tapped"):
            await listen(driver, tmux_server, pane, backend="tap")

    run(main)
    tmux_server.shows(pane, "once")


def test_the_next_folder_is_taken_where_one_cannot_be_written(
    spotless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nonexistent")
    monkeypatch.setenv("TMPDIR", str(spotless))
    made = Fifo("3")
    assert [path.name for path in spotless.glob("*/*")] == ["3"]
    made.close()


def test_a_folder_with_blanks_and_brackets_works(
    tmux_server: TmuxServerFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "é {a}; ~ (b) & *"
    base.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="tap")
        tmux_server.type(pane, "x")
        await hear(driver, ear, b"x\r\nx\r\n")

    run_blocking(main)
    assert list(base.iterdir()) == []


def test_a_killed_cat_ends_the_tap_as_stolen(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane)
        for pid in pipe_processes(tmux_server):
            os.kill(pid, signal.SIGKILL)
        assert await ear.next(driver.now() + PATIENCE) == Ended(EndReason.STOLEN)
        await ear.close()

    run_blocking(main)
    tmux_server.type(pane, "x")
    wait_until(lambda: tmux_server.get(pane, "#{pane_pipe}") == "0")
