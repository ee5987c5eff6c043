"""Running tmux: bounded, reaped, with one clear error for each thing that can be wrong."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE, TMUX, TmuxServerFixture, wait_until
from ears import Main, on_both_drivers, reach

from tmux_wait.drive import Driver, blocking
from tmux_wait.drive.aio import AsyncioDriver
from tmux_wait.errors import (
    NoServerError,
    PaneNotFoundError,
    TmuxNotFoundError,
    TmuxTimeoutError,
    TmuxWaitError,
)
from tmux_wait.observe.choose import look, open_observer
from tmux_wait.tmux import MOST_ARGUMENT_BYTES, PaneInfo, Tmux, list_panes, parse_version, resolve

pytestmark = pytest.mark.usefixtures("spotless")

VERSIONS = {
    "3.3a": (3, 3, "a"),
    "tmux 3.1c": (3, 1, "c"),
    "3.8": (3, 8, ""),
    "3.6-rc": (3, 6, ""),
    "3.7a-rc2": (3, 7, "a"),
    "next-3.6": (3, 6, ""),
    "openbsd-7.4": (0, 0, ""),
    "master": (0, 0, ""),
    "": (0, 0, ""),
}


@pytest.mark.parametrize(("text", "version"), VERSIONS.items())
def test_a_version_is_read(text: str, version: tuple[int, int, str]) -> None:
    assert parse_version(text) == version


def test_versions_are_in_order() -> None:
    names = ["openbsd-7.4", "2.9a", "3.1c", "3.3", "3.3a", "next-3.6", "3.7", "3.7c", "3.10"]
    assert sorted(names, key=parse_version) == names


def test_a_semicolon_at_an_arguments_end_is_no_separator() -> None:
    argv = Tmux("tmux").argv([["send-keys", "a;"], ["send-keys", ";"]])
    assert argv == ["tmux", "-u", "send-keys", "a\\;", ";", "send-keys", "\\;"]


SOCKETS = {
    "default": (Tmux(), []),
    "by name": (Tmux(socket_name="x"), ["-L", "x"]),
    "by path": (Tmux(socket_path="/x"), ["-S", "/x"]),
}


@pytest.mark.parametrize(("tmux", "options"), SOCKETS.values(), ids=SOCKETS)
def test_the_socket_is_named(tmux: Tmux, options: list[str]) -> None:
    assert tmux.argv([["ls"]]) == ["tmux", "-u", *options, "ls"]


@pytest.mark.parametrize("above", [-1, 0, 1])
def test_what_tmux_cannot_take_is_refused(above: int) -> None:
    room = MOST_ARGUMENT_BYTES - len("tmux -u x ") + above
    command = ["x", "y" * (room - 1)]
    if above > 0:
        with pytest.raises(TmuxWaitError, match=f"limit is {MOST_ARGUMENT_BYTES}"):
            Tmux().argv([command])
    else:
        assert Tmux().argv([command])[-1] == command[-1]


@on_both_drivers
def test_a_reply_has_output_status_and_complaint(run: Main, tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        tmux = reach(tmux_server)
        until = driver.now() + PATIENCE
        good = await tmux.run(driver, [["display-message", "-p", "-t", pane, "é"]], until=until)
        assert (good.status, good.out, good.err) == (0, "é\n".encode(), "")
        bad = await tmux.run(driver, [["capture-pane", "-t", "%999"]], until=until)
        assert (bad.status, bad.out) == (1, b"")
        assert "can't find pane" in bad.err

    run(main)


@on_both_drivers
def test_no_server_is_said(run: Main, tmp_path: Path) -> None:
    tmux = Tmux(TMUX, socket_path=str(tmp_path / "none"))

    async def main(driver: Driver) -> None:
        with pytest.raises(NoServerError, match="none") as told:
            await open_observer(driver, tmux, "%0", until=driver.now() + PATIENCE)
        assert told.value.socket == str(tmp_path / "none")

    run(main)


@on_both_drivers
def test_a_server_that_has_ended_is_no_server(run: Main, tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane()
    tmux_server.run("kill-server")

    async def main(driver: Driver) -> None:
        with pytest.raises(NoServerError, match=tmux_server.name):
            await look(driver, reach(tmux_server), "%0", until=driver.now() + PATIENCE)

    run(main)


@on_both_drivers
def test_a_missing_binary_is_said(run: Main) -> None:
    async def main(driver: Driver) -> None:
        with pytest.raises(TmuxNotFoundError, match="no-such-tmux"):
            await look(driver, Tmux("no-such-tmux"), "%0", until=driver.now() + PATIENCE)

    run(main)


def _script(folder: Path, text: str) -> str:
    path = folder / "tmux"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@on_both_drivers
def test_a_tmux_that_hangs_is_ended_and_said(run: Main, tmp_path: Path) -> None:
    tmux = Tmux(_script(tmp_path, f"echo $$ >{tmp_path}/pid; exec sleep 100"), patience=0.1)

    async def main(driver: Driver) -> None:
        with pytest.raises(TmuxTimeoutError, match=re.escape("0.1 s")):
            await look(driver, tmux, "%0", until=driver.now() + PATIENCE)

    run(main)


@on_both_drivers
def test_a_tmux_that_closes_its_output_and_hangs_is_ended_too(run: Main, tmp_path: Path) -> None:
    tmux = Tmux(_script(tmp_path, "exec sleep 100 >/dev/null 2>&1"), patience=0.1)

    async def main(driver: Driver) -> None:
        with pytest.raises(TmuxTimeoutError):
            await look(driver, tmux, "%0", until=driver.now() + PATIENCE)

    run(main)


def test_a_second_is_granted_past_the_callers_deadline(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    entry = blocking.run(
        lambda driver: look(driver, reach(tmux_server), pane, until=driver.now() - 5)
    )
    assert entry.pane == pane


@on_both_drivers
def test_something_that_is_no_tmux_is_one_clear_error(run: Main, tmp_path: Path) -> None:
    tmux = Tmux(_script(tmp_path, "echo what is this >&2; exit 3"))

    async def main(driver: Driver) -> None:
        with pytest.raises(TmuxWaitError, match="what is this"):
            await look(driver, tmux, "%0", until=driver.now() + PATIENCE)

    run(main)


def test_a_cancelled_client_is_ended(tmp_path: Path) -> None:
    tmux = Tmux(_script(tmp_path, f"echo $$ >{tmp_path}/pid; exec sleep 100"))
    pid = tmp_path / "pid"

    async def main() -> None:
        driver = AsyncioDriver()
        task = asyncio.ensure_future(tmux.run(driver, [["ls"]], until=driver.now() + 60))
        while not (pid.exists() and pid.read_text()):
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@on_both_drivers
def test_an_unknown_pane_is_said(run: Main, tmux_server: TmuxServerFixture) -> None:
    tmux_server.pane()

    async def main(driver: Driver) -> None:
        for target in ("%999", "nosuch:0", "%0x", "=nosuch:"):
            for backend in ("auto", "poll"):
                with pytest.raises(PaneNotFoundError) as told:
                    await open_observer(
                        driver, reach(tmux_server), target, backend=backend,
                        until=driver.now() + PATIENCE,
                    )  # fmt: skip
                assert told.value.target == target
            with pytest.raises(PaneNotFoundError):
                await look(driver, reach(tmux_server), target, until=driver.now() + PATIENCE)

    run(main)


@on_both_drivers
def test_a_target_is_resolved_to_its_pane(run: Main, tmux_server: TmuxServerFixture) -> None:
    first = tmux_server.pane()
    second = tmux_server.tmux("split-window", "-t", first, "-P", "-F", "#{pane_id}", "exec cat")
    session = tmux_server.get(first, "#{session_name}")

    async def main(driver: Driver) -> None:
        tmux = reach(tmux_server)
        until = driver.now() + PATIENCE
        assert await resolve(driver, tmux, f"{session}:0.0", until=until) == first
        assert await resolve(driver, tmux, f"{session}:", until=until) == second
        assert await resolve(driver, tmux, "%77", until=until) == "%77"

    run(main)


@on_both_drivers
def test_panes_are_listed_whatever_their_paths_hold(
    run: Main, tmux_server: TmuxServerFixture, tmp_path: Path
) -> None:
    folder = tmp_path / "é|漢 #{pane_id} ;"
    folder.mkdir()
    first = tmux_server.pane("exec cat")
    tmux_server.tmux("split-window", "-t", first, f"cd '{folder}' && exec sleep 1000")
    session = tmux_server.get(first, "#{session_id}")
    tmux_server.tmux("link-window", "-s", f"{session}:0", "-t", f"{session}:7")
    wait_until(lambda: "sleep" in tmux_server.tmux("list-panes", "-aF#{pane_current_command}"))

    async def main(driver: Driver) -> list[PaneInfo]:
        return await list_panes(driver, reach(tmux_server), until=driver.now() + PATIENCE)

    panes = run(main)
    assert [pane.id for pane in panes] == ["%0", "%1"]
    assert [pane.active for pane in panes] == [False, True]
    assert [pane.command for pane in panes] == ["cat", "sleep"]
    assert panes[1].path == str(folder)
    assert panes[0].window_id == panes[1].window_id == "@0"
    assert panes[0].session_id == session
    assert panes[0].pid == int(tmux_server.get(first, "#{pane_pid}"))
    assert (panes[0].width, panes[0].dead) == (80, False)


EMPTY_LOCALE = """
import sys
from tmux_wait.drive import blocking
from tmux_wait.observe.choose import look, open_observer
from tmux_wait.tmux import Tmux, list_panes

async def main(driver):
    tmux = Tmux(sys.argv[1], socket_path=sys.argv[2])
    until = driver.now() + 10
    ear = await open_observer(driver, tmux, "%0", until=until)
    entry = await look(driver, tmux, "%0", until=until)
    panes = await list_panes(driver, tmux, until=until)
    driver.later(ear.close)
    return ear.name, ear.entry.rows[0], entry.rows[0], panes[0].path

print(ascii(blocking.run(main)))
"""


def test_an_empty_environment_changes_no_character(
    tmux_server: TmuxServerFixture, tmp_path: Path
) -> None:
    folder = tmp_path / "é"
    folder.mkdir()
    pane = tmux_server.pane(f"cd '{folder}'; printf 'é漢😀'; exec cat")
    tmux_server.shows(pane, "é漢😀")
    socket = tmux_server.get(pane, "#{socket_path}")
    done = subprocess.run(
        [sys.executable, "-c", EMPTY_LOCALE, tmux_server.binary, socket],
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]},
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    row = "é漢😀"
    assert done.stdout == ascii(("tap", row, row, str(folder))) + "\n"
