"""What a killed process of ours leaves, and that the next one removes it and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import PATIENCE, SECOND_EAR, TmuxServerFixture, wait_until
from ears import Main, hear, listen, on_both_drivers, pipe_processes, run_blocking

from tmux_wait.drive import Driver
from tmux_wait.observe.leftovers import abandoned_folders, owner_prefix, sweep
from tmux_wait.observe.typing import Typing

pytestmark = [
    pytest.mark.usefixtures("spotless"),
    pytest.mark.skipif(sys.platform != "linux", reason="recognises the dead by /proc"),
]

WAITER = """
import sys
from tmux_wait.drive import blocking
from tmux_wait.observe.choose import open_observer
from tmux_wait.tmux import Tmux

async def main(driver):
    ear = await open_observer(driver, Tmux(sys.argv[1], sys.argv[2]), sys.argv[3], until=1e12)
    driver.later(ear.close)
    print(ear.name, flush=True)
    await ear.next(None)

blocking.run(main)
"""


@contextmanager
def waiter(server: TmuxServerFixture, pane: str) -> Iterator[subprocess.Popen[str]]:
    """Run another process that waits on a pane; it is listening by now."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITER, server.binary, server.name, pane],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, cwd=server.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "tap\n"
        try:
            yield process
        finally:
            process.kill()


def kill_waiter(server: TmuxServerFixture, pane: str) -> None:
    """Let a process wait on a pane and kill it."""
    with waiter(server, pane) as process:
        process.kill()
        process.wait()


def test_after_a_kill_the_panes_next_output_ends_the_pipe(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()
    kill_waiter(tmux_server, pane)
    tmux_server.type(pane, "x")
    wait_until(lambda: tmux_server.get(pane, "#{pane_pipe}") == "0")
    assert pipe_processes(tmux_server) == []


@on_both_drivers
@pytest.mark.parametrize("typing", [None, Typing("once")], ids=["silent", "typing"])
def test_the_orphan_of_a_quiet_pane_is_recognised_and_the_pane_tapped(
    run: Main, tmux_server: TmuxServerFixture, typing: Typing | None
) -> None:
    pane = tmux_server.pane()
    kill_waiter(tmux_server, pane)
    assert tmux_server.get(pane, "#{pane_pipe}") == "1"

    async def main(driver: Driver) -> None:
        ear = await listen(driver, tmux_server, pane, typing=typing)
        assert ear.name == "tap"
        if typing is None:
            tmux_server.type(pane, "once")
        heard, _ = await hear(driver, ear, b"once\r\nonce\r\n")
        assert heard == b"once\r\nonce\r\n"

    run(main)
    assert tmux_server.get(pane, "#{pane_pipe}") == "0"
    assert pipe_processes(tmux_server) == []


def test_the_orphan_of_another_pane_is_left_alone(tmux_server: TmuxServerFixture) -> None:
    first, second = tmux_server.pane(), tmux_server.pane()
    kill_waiter(tmux_server, first)
    tmux_server.tmux("pipe-pane", "-t", second, "exec cat >/dev/null")

    async def main(driver: Driver) -> str:
        return (await listen(driver, tmux_server, second)).name

    assert run_blocking(main) == SECOND_EAR
    assert tmux_server.get(first, "#{pane_pipe}#{pane_id}") == f"1{first}"
    assert tmux_server.get(second, "#{pane_pipe}") == "1"


def test_the_tap_of_a_live_process_is_left_alone(tmux_server: TmuxServerFixture) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> str:
        return (await listen(driver, tmux_server, pane)).name

    with waiter(tmux_server, pane) as process:
        assert run_blocking(main) == SECOND_EAR
        assert process.poll() is None
        tmux_server.type(pane, "x")
        assert process.wait(PATIENCE) == 0, "it has heard the x"
    assert tmux_server.get(pane, "#{pane_pipe}") == "0"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_python_hears_leaves_nothing(
    tmux_server: TmuxServerFixture, number: signal.Signals
) -> None:
    pane = tmux_server.pane()
    code = "import signal, sys\n"
    code += f"signal.signal({int(number)}, lambda *_: sys.exit(3))\n" + WAITER
    with subprocess.Popen(
        [sys.executable, "-c", code, tmux_server.binary, tmux_server.name, pane],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, cwd=tmux_server.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "tap\n"
        process.send_signal(number)
        assert process.wait(PATIENCE) == 3
    assert tmux_server.get(pane, "#{pane_pipe}") == "0"
    assert pipe_processes(tmux_server) == []


def _dead_pid() -> int:
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def _namespace() -> str:
    return owner_prefix().split("-")[4]


def test_folders_of_the_dead_are_swept_and_no_others(tmp_path: Path) -> None:
    base = tmp_path / "base"
    mine, dead, space = owner_prefix(), _dead_pid(), _namespace()
    start = mine.split("-")[3]
    names = {
        f"{mine}1": True,
        f"tmux-wait-{dead}-5-{space}-ab12": False,
        f"tmux-wait-{os.getpid()}-{int(start) + 1}-{space}-ab": False,  # the number came again
        f"tmux-wait-{dead}-0-{space}-ab": False,  # start not known, but it is dead
        f"tmux-wait-{os.getpid()}-0-{space}-ab": True,
        f"tmux-wait-{dead}-5-{int(space) + 1}-ab": True,  # a number of another namespace
        f"tmux-wait-{dead}-5": True,
        f"my-tmux-wait-{dead}-5-{space}-ab": True,
        "something else": True,
    }
    for name in names:
        (base / name).mkdir(parents=True)
        os.mkfifo(base / name / "3")
    (base / f"tmux-wait-{dead}-6-{space}-file").touch()
    found = sweep([base, base, tmp_path / "none"])
    assert {folder.name for folder in found} == {name for name, kept in names.items() if not kept}
    for name, kept in names.items():
        assert (base / name).exists() == kept, name


def test_a_folder_that_holds_something_else_stays(tmp_path: Path) -> None:
    folder = tmp_path / f"tmux-wait-{_dead_pid()}-5-{_namespace()}-ab"
    (folder / "sub").mkdir(parents=True)
    sweep([tmp_path])
    assert folder.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a folder of somebody else's")
def test_another_users_folder_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / f"tmux-wait-{_dead_pid()}-5-{_namespace()}-ab"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    assert list(abandoned_folders([tmp_path])) == []


def test_any_start_sweeps(tmux_server: TmuxServerFixture, spotless: Path) -> None:
    pane = tmux_server.pane()

    async def main(driver: Driver) -> None:
        for backend in ("tap", "poll"):
            folder = spotless / f"tmux-wait-{_dead_pid()}-5-{_namespace()}-ab"
            folder.mkdir()
            ear = await listen(driver, tmux_server, pane, backend=backend)
            assert not folder.exists()
            await ear.close()

    run_blocking(main)


def test_a_process_that_is_killed_while_it_opens_leaves_a_folder_that_is_swept(
    tmux_server: TmuxServerFixture, spotless: Path
) -> None:
    """Its tmux hangs, so the FIFO is there and no dispatch was answered."""
    pane = tmux_server.pane()
    script = tmux_server.folder / "hanging-tmux"
    script.write_text("#!/bin/sh\nexec sleep 100\n")
    script.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-c", WAITER, str(script), tmux_server.name, pane],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, cwd=tmux_server.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:  # fmt: skip
        wait_until(lambda: list(spotless.glob("tmux-wait-*/*")) != [], "a FIFO")
        os.killpg(process.pid, signal.SIGKILL)

    async def main(driver: Driver) -> str:
        return (await listen(driver, tmux_server, pane)).name

    assert run_blocking(main) == "tap"
    assert list(spotless.iterdir()) == []
