"""The control client on a real tmux: the exact cut, nobody disturbed, a way out that is safe."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import PATIENCE, SECOND_EAR, TmuxServerFixture, control_only, wait_until
from ears import CLOSED, Main, hear, listen, notice, on_both_drivers, reach, run_blocking

from tmux_wait.drive import Driver
from tmux_wait.drive.aio import AsyncioDriver
from tmux_wait.observe import Data, Ended, EndReason, control_client
from tmux_wait.observe.choose import open_observer
from tmux_wait.observe.control import is_safe
from tmux_wait.observe.control_client import ControlClient
from tmux_wait.observe.typing import Typing

pytestmark = [pytest.mark.usefixtures("spotless"), control_only]

FLOOD = "i=0; while :; do i=$((i+1)); echo n$i; done"


def clients(server: TmuxServerFixture) -> str:
    """Return the clients that are attached."""
    return server.tmux("list-clients", "-F", "#{client_flags}")


def nothing_left(server: TmuxServerFixture) -> None:
    """Wait until no client is attached."""
    wait_until(lambda: clients(server) == "", "an end of every client")


@on_both_drivers
def test_screen_and_stream_meet_exactly(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane(f"exec dash -c '{FLOOD}'")
    tmux_server.tmux("split-window", "-d", "-t", pane, f"exec dash -c '{FLOOD}'")
    tmux_server.shows(pane, "n1")

    async def main(driver: Driver) -> None:
        for _ in range(10):
            ear = await listen(driver, tmux_server, pane, backend="control")
            assert (ear.name, ear.complete) == ("control", True)
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
    nothing_left(tmux_server)


@on_both_drivers
def test_a_flood_is_heard_whole(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane("read go; seq 1 100000; exec cat")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control", typing=Typing("go"))
        heard, _ = await hear(driver, ear, b"100000\r\n")
        lines = heard.split(b"\r\n")
        assert lines[0] == b"go"
        assert lines[1:-1] == [b"%d" % n for n in range(1, 100_001)]
        assert ear.complete

    run(main)


@on_both_drivers
def test_every_byte_comes_as_it_was_written(run: Main, tmux_server: TmuxServerFixture) -> None:
    odd = "\\é%'漢;\033[1m\177 end"
    typing = Typing(odd, enter=False)
    pane = tmux_server.pane("stty -echo raw; echo raw; exec cat")
    tmux_server.shows(pane, "raw")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control", typing=typing)
        heard, _ = await hear(driver, ear, b"end")
        assert heard == odd.encode()

    run(main)


@on_both_drivers
def test_a_quiet_ear_sleeps(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where another pane of its session writes all the time."""
    pane = tmux_server.pane()
    tmux_server.tmux("split-window", "-d", "-t", pane, FLOOD)
    waits: list[float | None] = []

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control")
        await ear.next(driver.now() + 0.1)
        wait = driver.wait

        async def counted(fds: Sequence[int], until: float | None) -> Sequence[int]:
            waits.append(until)
            return await wait(fds, until)

        with monkeypatch.context() as patched:
            patched.setattr(driver, "wait", counted)
            assert await ear.next(driver.now() + 0.3) is None

    run(main)
    assert len(waits) == 1


def test_panes_that_nobody_watches_go_on(tmux_server: TmuxServerFixture, tmp_path: Path) -> None:
    """tmux no longer reads a pane that all its clients turned off; paused ones it does read."""
    pane = tmux_server.pane()
    count = tmp_path / "count"
    panes = [f"yes | while read x; do echo {'x' * 60}; echo >>{count}{n}; done" for n in range(2)]

    async def main(driver: Driver) -> None:
        tmux_server.tmux("split-window", "-d", "-t", pane, panes[0])
        await listen(driver, tmux_server, pane, backend="control")
        tmux_server.tmux(
            "new-window", "-d", "-t", tmux_server.get(pane, "#{session_id}:"), panes[1]
        )
        for number in range(2):
            # As many lines as no terminal holds: about 60 KiB.
            path = Path(f"{count}{number}")
            wait_until(lambda path=path: path.exists() and path.stat().st_size > 1000)  # type: ignore[misc]

    run_blocking(main)


@on_both_drivers
def test_a_pane_that_appears_is_not_listened_to(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control")
        assert await ear.next(driver.now() + 0.05) is None
        for command in ("split-window", "new-window"):
            tmux_server.tmux(command, "-d", "-t", tmux_server.get(pane, "#{session_id}:"), FLOOD)
        limit = driver.now() + PATIENCE
        sizes = [1]
        read = ControlClient.read

        def counted(client: ControlClient, most: int) -> int:
            sizes.append(read(client, most))
            return sizes[-1]

        monkeypatch.setattr(ControlClient, "read", counted)
        while sum(sizes):  # what comes until it is paused
            assert driver.now() < limit
            sizes.clear()
            assert await ear.next(driver.now() + 0.1) is None

    run(main)


@on_both_drivers
def test_the_user_is_not_disturbed(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = tmux_server.pane(width=81, height=25)
    session = tmux_server.get(pane, "#{session_id}")
    tmux_server.tmux("set-environment", "-t", session, "DISPLAY", "the user's")
    tmux_server.tmux("split-window", "-d", "-t", pane, "exec cat")
    shape = "#{window_width}x#{window_height} #{pane_width}x#{pane_height} #{pane_active}"
    before = tmux_server.get(pane, shape)
    monkeypatch.setenv("DISPLAY", "ours")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control")
        assert tmux_server.get(pane, shape) == before
        tmux_server.tmux("send-keys", "-t", pane, "typed", "Enter")
        await hear(driver, ear, b"typed\r\ntyped\r\n")
        tmux_server.tmux("resize-window", "-t", pane, "-x", "60", "-y", "20")
        assert tmux_server.get(pane, "#{window_width}x#{window_height}") == "60x20"
        tmux_server.tmux("pipe-pane", "-o", "-t", pane, "cat >/dev/null")
        assert tmux_server.get(pane, "#{pane_pipe}") == "1"
        await ear.close()
        assert clients(tmux_server) == ""

    run(main)
    assert tmux_server.tmux("show-environment", "-t", session, "DISPLAY") == "DISPLAY=the user's"
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"


@on_both_drivers
@pytest.mark.parametrize("how", ["detach-client", "kill-session", "switch-client"])
def test_an_ear_that_is_sent_away_says_so(
    run: Main, tmux_server: TmuxServerFixture, how: str
) -> None:
    """The session goes, but its window is linked to another one."""
    pane = tmux_server.pane()
    other = tmux_server.pane()
    session = tmux_server.get(pane, "#{session_id}")
    where = tmux_server.get(other, "#{session_id}:9")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control")
        tmux_server.type(pane, "before")
        await hear(driver, ear, b"before\r\nbefore\r\n")
        if how == "detach-client":
            tmux_server.tmux(how, "-s", session)
        elif how == "switch-client":
            client = tmux_server.tmux("list-clients", "-F", "#{client_name}")
            tmux_server.tmux(how, "-c", client, "-t", tmux_server.get(other, "#{session_id}"))
        else:
            tmux_server.tmux("link-window", "-d", "-s", pane, "-t", where)
            tmux_server.tmux(how, "-t", session)
        noticed, end = await notice(driver, ear)
        assert end is not None
        assert end.reason in (EndReason.DETACHED, EndReason.MOVED), noticed
        assert await ear.next(None) == end, "it stays so"

    run(main)
    nothing_left(tmux_server)


@on_both_drivers
def test_a_pane_that_moves_to_another_session_is_said_to_have_moved(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    other = tmux_server.pane()
    pane = tmux_server.pane()
    tmux_server.tmux("split-window", "-d", "-t", pane, "exec cat")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control")
        tmux_server.tmux("join-pane", "-d", "-s", pane, "-t", other)
        _, end = await notice(driver, ear)
        assert end == Ended(EndReason.MOVED)

    run(main)


@on_both_drivers
def test_a_pane_that_is_gone_may_have_said_more(run: Main, tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane()
    pane = tmux_server.pane("read go; seq 1 2000; echo LAST")
    tmux_server.tmux("set-option", "-g", "remain-on-exit", "on")
    kept = tmux_server.pane("read go; seq 1 2000; echo LAST")

    async def main(driver: Driver) -> None:
        for target, certain in ((pane, False), (kept, True)):
            ear = await listen(driver, tmux_server, target, backend="control", typing=Typing("go"))
            _, end = await notice(driver, ear)
            assert end == CLOSED
            assert ear.complete == certain

    tmux_server.tmux("set-option", "-w", "-t", pane, "remain-on-exit", "off")
    run(main)


def test_a_cancelled_wait_leaves_nothing(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane(FLOOD)

    async def wait(driver: AsyncioDriver, opened: asyncio.Event) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control")
        try:
            opened.set()
            while not isinstance(await ear.next(None), Ended):
                pass
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
    assert clients(tmux_server) == ""


@pytest.mark.parametrize("steps", range(0, 40, 4))
def test_an_open_that_is_cancelled_anywhere_leaves_nothing(
    tmux_server: TmuxServerFixture, steps: int
) -> None:
    pane = tmux_server.pane()

    async def main() -> None:
        driver = AsyncioDriver()
        task = asyncio.ensure_future(listen(driver, tmux_server, pane, backend="control"))
        for _ in range(steps):
            await asyncio.sleep(0.0005)
        if task.done():
            driver.later(task.result().close)
        task.cancel()
        await asyncio.wait([task])
        await driver.aclose()

    asyncio.run(main())
    assert clients(tmux_server) == ""


LEFT = """
import asyncio, sys
from tmux_wait.drive.aio import AsyncioDriver
from tmux_wait.observe.choose import open_observer
from tmux_wait.tmux import Tmux

async def wait(driver):
    tmux = Tmux(sys.argv[1], sys.argv[2])
    ear = await open_observer(driver, tmux, sys.argv[3], until=1e12, backend="control")
    print("attached", flush=True)
    if sys.argv[4] in ("close", "exit"):
        loop.call_soon(loop.stop)
    try:
        while True:
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


@pytest.mark.parametrize("how", ["close", "exit", "kill", "kill, no setpriv"])
def test_a_process_that_ends_leaves_no_client(
    tmux_server: TmuxServerFixture, tmp_path: Path, how: str
) -> None:
    pane = tmux_server.pane(FLOOD)
    code = LEFT
    if how.endswith("no setpriv"):
        code = "import shutil; shutil.which = lambda name: None\n" + LEFT
    process = subprocess.Popen(
        [sys.executable, "-c", code, tmux_server.binary, tmux_server.name, pane, how],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, cwd=tmp_path,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"attached\n"
        if how.startswith("kill"):
            process.send_signal(signal.SIGKILL)
        assert process.wait(PATIENCE) == (-signal.SIGKILL if how.startswith("kill") else 0)
    nothing_left(tmux_server)
    assert tmux_server.get(pane, "#{pid}") == str(tmux_server.pid)


def test_a_forked_child_closes_nothing_of_its_parents(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        from tmux_wait.observe import at_exit

        ear = await listen(driver, tmux_server, pane, backend="control")
        child = os.fork()
        if child == 0:
            at_exit.close_all()
            os._exit(0)
        os.waitpid(child, 0)
        tmux_server.type(pane, "x")
        await hear(driver, ear, b"x\r\nx\r\n")

    run_blocking(main)
    nothing_left(tmux_server)


def test_a_client_that_does_not_leave_is_killed(
    tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_client, "DETACH_TIME", 0.2)
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control")
        os.kill(tmux_server.pid, signal.SIGSTOP)
        try:
            await ear.close()
        finally:
            os.kill(tmux_server.pid, signal.SIGCONT)

    run_blocking(main)
    nothing_left(tmux_server)


@on_both_drivers
def test_where_no_client_can_attach_the_pane_is_polled(
    run: Main, tmux_server: TmuxServerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = tmux_server.pane()
    tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")
    start = ControlClient.__init__

    def elsewhere(client: ControlClient, *args: object) -> None:
        start(client, *args[:2], "$999")  # type: ignore[arg-type]

    monkeypatch.setattr(ControlClient, "__init__", elsewhere)

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, typing=Typing("once"))
        assert ear.name == "poll"
        _, end = await notice(driver, ear, "once")
        assert end is None

    run(main)
    assert tmux_server.screen(pane).count("once") == 2


@on_both_drivers
@pytest.mark.skipif(SECOND_EAR != "control", reason="auto takes a control client from 3.8 on")
def test_a_pane_that_was_typed_into_is_not_typed_into_again(
    run: Main, tmux_server: TmuxServerFixture
) -> None:
    pane = tmux_server.pane()
    tmux_server.tmux("pipe-pane", "-t", pane, "cat >/dev/null")

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, typing=Typing("once"))
        assert ear.name == "control"
        await hear(driver, ear, b"once\r\nonce\r\n")

    run(main)
    assert tmux_server.screen(pane).count("once") == 2


def test_a_server_that_is_gone_is_an_error(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, backend="control")
        tmux_server.tmux("kill-server")
        assert await ear.next(driver.now() + PATIENCE) == CLOSED
        assert not ear.complete

    run_blocking(main)


def test_the_server_of_a_wait_is_reached_by_its_path_too(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    tmux = type(reach(tmux_server))(tmux_server.binary, socket_path=tmux_server.socket)

    async def main(driver: Driver) -> None:
        until = driver.now() + PATIENCE
        ear = await open_observer(driver, tmux, pane, until=until, backend="control")
        driver.later(ear.close)
        assert ear.entry.session == tmux_server.get(pane, "#{session_id}")

    run_blocking(main)


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        *[(version, True) for version in ("3.7", "3.7c", "3.8", "4.0", "next-3.8")],
        *[(version, False) for version in ("3.6a", "next-3.7", "", "openbsd-7.9")],
    ],
)
def test_which_servers_a_control_client_may_attach_to(version: str, safe: bool) -> None:
    assert is_safe(version) == safe
