"""Run tmux commands: one short-lived client for each list of commands, bounded in time."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tmux_wait.drive import Driver
from tmux_wait.errors import (
    NoServerError,
    PaneNotFoundError,
    TmuxNotFoundError,
    TmuxTimeoutError,
    TmuxWaitError,
)

# Bytes of one dispatch; tmux's own message limit is 16 KiB, and it counts its header too.
MOST_ARGUMENT_BYTES = 15_000
# Seconds a tmux may take at most, and what it is granted even past the caller's deadline.
PATIENCE = 10.0
LEAST_PATIENCE = 1.0
# Bytes of one read of a client's output.
READ_SIZE = 1 << 16
# What tmux's client says when nobody answers, on 3.1c to 3.8.
NO_SERVER = ("no server running on ", "error connecting to ", "server exited", "lost server")


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a dispatch: exit status, output, and tmux's complaints."""

    status: int
    out: bytes
    err: str


@dataclass(frozen=True, slots=True)
class PaneInfo:
    """One row of `list_panes`."""

    id: str
    window_id: str
    session_id: str
    active: bool
    dead: bool
    pid: int | None
    width: int
    height: int
    command: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Tmux:
    """How to reach one tmux server; with neither socket given, tmux's own default."""

    binary: str = "tmux"
    socket_name: str | None = None
    socket_path: str | None = None
    patience: float = PATIENCE  # seconds

    def argv(self, commands: Sequence[Sequence[str]]) -> list[str]:
        """Return the argument list of one client that runs ``commands`` in one queue.

        ``-u``: under an empty locale tmux would print ``_`` for everything that is not ASCII.
        """
        argv = [self.binary, "-u"]
        if self.socket_path is not None:
            argv += ["-S", self.socket_path]
        elif self.socket_name is not None:
            argv += ["-L", self.socket_name]
        for number, command in enumerate(commands):
            argv += [";"] if number else []
            argv += [_escaped(argument) for argument in command]
        size = sum(len(os.fsencode(argument)) + 1 for argument in argv)
        if size > MOST_ARGUMENT_BYTES:
            raise TmuxWaitError(
                f"too much for one tmux command: {size} bytes, the limit is {MOST_ARGUMENT_BYTES}"
            )
        return argv

    async def run(
        self, driver: Driver, commands: Sequence[Sequence[str]], *, until: float
    ) -> Reply:
        """Run ``commands`` in one client and return its reply, whatever its status.

        Raises `TmuxNotFoundError`, `NoServerError`, `TmuxTimeoutError`. If cancelled, the client
        is ended and reaped; the server may or may not have run the commands.
        """
        started = driver.now()
        limit = max(min(until, started + self.patience), started + LEAST_PATIENCE)
        limit = min(limit, started + self.patience)
        client = self._start(self.argv(commands))
        try:
            out, err = await _read_all(driver, client, limit)
            status = await _reap(driver, client, limit)
        except TimeoutError:
            raise TmuxTimeoutError(self.binary, limit - started) from None
        finally:
            _end(client)
        words = err.decode(errors="replace").strip()
        if status and words.startswith(NO_SERVER):
            raise NoServerError(self._where(words), words)
        return Reply(status, out, words)

    def _start(self, argv: list[str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except (OSError, ValueError) as failure:
            reason = getattr(failure, "strerror", None) or str(failure)
            raise TmuxNotFoundError(self.binary, reason) from None

    def _where(self, words: str) -> str:
        path = re.search(r"(/.*?)(?: \([^()]*\))?$", words)
        where = self.socket_path or (path and path[1]) or self.socket_name
        return where or "the default socket"


async def resolve(driver: Driver, tmux: Tmux, target: str, *, until: float) -> str:
    """Return the pane id (``%3``) that a tmux target names; raise `PaneNotFoundError`."""
    if re.fullmatch(r"%[0-9]+", target):
        return target
    reply = await tmux.run(
        driver, [["display-message", "-p", "-t", target, "#{pane_id}"]], until=until
    )
    pane = reply.out.decode(errors="replace").strip()
    if reply.status or not re.fullmatch(r"%[0-9]+", pane):
        raise PaneNotFoundError(target)
    return pane


PANE_FIELDS = (
    "pane_id", "window_id", "session_id", "pane_active", "pane_dead", "pane_pid", "pane_width",
    "pane_height", "pane_current_command", "pane_current_path", "pane_title",
)  # fmt: skip


async def list_panes(driver: Driver, tmux: Tmux, *, until: float) -> list[PaneInfo]:
    """Return every pane of the server, each once, in tmux's order.

    Fields hold user text (a path may hold any character), so each ends with a fresh random word.
    """
    word = os.urandom(8).hex()
    layout = "".join(f"#{{{field}}}{word}" for field in PANE_FIELDS)
    reply = await tmux.run(driver, [["list-panes", "-a", "-F", layout]], until=until)
    if reply.status:
        raise TmuxWaitError(f"tmux does not list its panes: {reply.err}")
    fields = reply.out.decode(errors="replace").split(word)[:-1]
    step = len(PANE_FIELDS)
    panes = [_pane_info(fields[at : at + step]) for at in range(0, len(fields), step)]
    return list({pane.id: pane for pane in panes}.values())  # a linked window is listed twice


def parse_version(text: str) -> tuple[int, int, str]:
    """Return ``(major, minor, letter)`` of a ``#{version}``: ``3.3a`` is ``(3, 3, "a")``.

    A release candidate counts as its release, ``next-3.6`` as ``3.6``; what cannot be read, as
    ``openbsd-7.4`` (the number is the system's), counts as the oldest: ``(0, 0, "")``.
    """
    found = re.fullmatch(r"(?:tmux )?(?:next-)?(\d+)\.(\d+)([a-z]?)(?:-rc\d*)?", text.strip())
    return (int(found[1]), int(found[2]), found[3]) if found else (0, 0, "")


def _escaped(argument: str) -> str:
    """Escape the one thing that tmux interprets in an argument: a semicolon at its end."""
    return argument[:-1] + "\\;" if argument.endswith(";") else argument


def _pane_info(fields: list[str]) -> PaneInfo:
    pane, window, session, active, dead, pid, width, height, command, path, title = fields
    return PaneInfo(
        pane.strip(), window, session, active == "1", dead == "1", int(pid) if pid else None,
        int(width), int(height), command, path, title,
    )  # fmt: skip


async def _read_all(
    driver: Driver, client: subprocess.Popen[bytes], limit: float
) -> tuple[bytes, bytes]:
    assert client.stdout is not None
    assert client.stderr is not None
    texts: dict[int, bytearray] = {client.stdout.fileno(): bytearray()}
    texts[client.stderr.fileno()] = bytearray()
    unread = list(texts)
    while unread:
        ready = await driver.wait(unread, limit)
        if not ready:
            raise TimeoutError
        for fd in ready:
            chunk = os.read(fd, READ_SIZE)
            texts[fd] += chunk
            if not chunk:
                unread.remove(fd)
    out, err = texts.values()
    return bytes(out), bytes(err)


async def _reap(driver: Driver, client: subprocess.Popen[bytes], limit: float) -> int:
    """Wait for a client that has closed its output; it ends within the millisecond."""
    pause = 0.0005  # seconds, doubled each time
    while (status := client.poll()) is None:
        if driver.now() > limit:
            raise TimeoutError
        await driver.wait((), driver.now() + pause)
        pause = min(pause * 2, 0.05)
    return status


def _end(client: subprocess.Popen[bytes]) -> None:
    for stream in (client.stdout, client.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    if client.poll() is None:
        client.kill()
        client.wait()
