"""What a process of ours leaves when it is killed: whose it was, and how to remove it.

A folder's name says its owner: ``tmux-wait-PID-START-NAMESPACE-RANDOM``. PID and start time name
one process of one PID namespace for good. A pipe holds its FIFO open under the removed name, so
``/proc`` still shows whose it was, and for which pane (the FIFO's name is the pane's number).
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from tmux_wait.drive import Driver
from tmux_wait.process import parent_of, started_at

ENDING_TIME = 1.0  # seconds that a killed process gets to end

FOLDER = re.compile(r"tmux-wait-(?P<pid>\d+)-(?P<start>\d+)-(?P<space>\d+)-\w+")
FIFO = re.compile(rf"/{FOLDER.pattern}/(?P<pane>\d+)(?![^ ';])")
# How the command of a pipe's shell begins; the path of its FIFO follows.
SHELL_OPENS = "exec 3<>"


def owner_prefix() -> str:
    """Return how the names of this process's folders begin."""
    return f"tmux-wait-{os.getpid()}-{started_at(os.getpid()) or 0}-{_namespace()}-"


def sweep(bases: Iterable[Path]) -> list[Path]:
    """Remove the folders of dead owners under ``bases``; return those that were there."""
    found = list(abandoned_folders(bases))
    for folder in found:
        with suppress(OSError):
            for fifo in folder.iterdir():
                fifo.unlink()
            folder.rmdir()
    return found


def abandoned_folders(bases: Iterable[Path]) -> Iterator[Path]:
    """Yield our user's folders under ``bases`` whose owner is dead."""
    for base in dict.fromkeys(bases):
        with suppress(OSError), os.scandir(base) as entries:
            for entry in entries:
                name = FOLDER.fullmatch(entry.name)
                if name and _is_dead(name) and _is_ours(entry):
                    yield Path(entry.path)


async def end_orphan(driver: Driver, pane: str, server_pid: int, pipe_pid: int | None) -> bool:
    """End the pipe of ``pane`` if a dead process of ours left it; False: it is somebody else's.

    ``pipe_pid`` is ``#{pane_pipe_pid}`` where tmux knows it; else every child of the server is
    looked at. A live owner's, and anything unclear, is not an orphan. Linux only: it asks /proc.
    """
    candidates = [pipe_pid] if pipe_pid else _children(server_pid)
    orphans = [pid for pid in candidates if _holds_dead_fifo(pid, pane.removeprefix("%"))]
    for pid in orphans:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    # Once it has ended, tmux has closed the pipe before it hears of the next client.
    limit = driver.now() + ENDING_TIME
    while any(started_at(pid) for pid in orphans) and driver.now() < limit:
        await driver.wait((), driver.now() + 0.001)
    return bool(orphans)


def _holds_dead_fifo(pid: int, pane: str) -> bool:
    """Look at ``cat``'s output, or at the command line of the shell before it became ``cat``."""
    for fifo in (_output_of(pid), _command_of(pid)):
        name = FIFO.search(fifo)
        if name and name["pane"] == pane and _is_dead(name):
            return True
    return False


def _output_of(pid: int) -> str:
    path = Path(f"/proc/{pid}/fd/1")
    try:
        return str(path.readlink()) if path.is_fifo() else ""
    except OSError:
        return ""


def _command_of(pid: int) -> str:
    """Return the command of a shell that is about to open its FIFO."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    command = words[2].decode(errors="replace") if words[1:2] == [b"-c"] else ""
    return command if command.startswith(SHELL_OPENS) else ""


def _children(parent: int) -> Iterator[int]:
    with suppress(OSError):
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal() and parent_of(int(folder.name)) == parent:
                yield int(folder.name)


def _is_dead(name: re.Match[str]) -> bool:
    pid = int(name["pid"])
    if name["space"] != _namespace():
        return False  # its number says nothing here
    if name["start"] != "0":
        return started_at(pid) != name["start"]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        return (
            entry.is_dir(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
        )
    except OSError:
        return False


@cache
def _namespace() -> str:
    """Return the number of our PID namespace; 0 where there is none."""
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    return "0"
