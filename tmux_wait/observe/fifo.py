"""The FIFO through which a pane's output reaches us: private, and without a name once it works."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tmux_wait.observe.leftovers import SHELL_OPENS, owner_prefix

# Between tmux and /bin/sh, `#` and `%` are expanded by the one and quotes read by both.
UNSAFE_PATH = re.compile(r"[#%'\"\\`$\n]")
# What the pipe's shell writes before anything of the pane: its PID, which `cat` then has.
PROOF = re.compile(rb"([0-9]+)\n")
LONGEST_PROOF = 24  # bytes
# How often removing a directory is tried again: the pipe's shell may make a file in it meanwhile.
REMOVAL_TRIES = 3


class Fifo:
    """Our end of a pipe that tmux's shell opens by name.

    ``writer`` is the PID of the process at the other end, once that has proved itself.
    """

    def __init__(self, name: str) -> None:
        """Make and open the FIFO in the first folder that lets us; raises OSError if none does."""
        self.fd = -1
        self.writer: int | None = None
        refusal = OSError("no folder for a FIFO: XDG_RUNTIME_DIR, TMPDIR and /tmp cannot be used")
        for base in base_folders():
            self._folder = base / (owner_prefix() + os.urandom(8).hex())
            self._path = self._folder / name
            self._named = True
            try:
                self._make()
                return
            except OSError as failure:
                refusal = failure
                self.unlink()
        raise refusal

    def _make(self) -> None:
        self._folder.mkdir(mode=0o700)
        os.mkfifo(self._path, 0o600)
        # Open before there is a writer, so that the writer's own open does not block.
        self.fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def shell_command(self) -> str:
        """Return the command that writes its PID and then its standard input into the FIFO.

        It opens the FIFO for reading as well first: to open it for writing alone would wait, for
        good, for a reader that was killed meanwhile. So it gets SIGPIPE instead.
        """
        return f"{SHELL_OPENS}'{self._path}' >'{self._path}' 3>&- && echo $$ && exec cat"

    def prove(self, data: bytes) -> bytes | None:
        """Take the first bytes that came and return those behind the proof; None: not yet all.

        Raises `ValueError` if they are no proof at all.
        """
        proof = PROOF.match(data)
        if proof:
            self.writer = int(proof[1])
            return data[proof.end() :]
        if len(data) > LONGEST_PROOF or not data.isdigit():
            raise ValueError("no proof")
        return None

    def stop_writer(self) -> bool:
        """End the writer; False: its number does not name, here, what holds our FIFO.

        Where there is no /proc there are no PID namespaces either, and the FIFO not being at its
        end (which the caller has seen) says that the writer lives.
        """
        if self.writer is None or (sys.platform == "linux" and not self._is_held_by(self.writer)):
            return False
        try:
            os.kill(self.writer, signal.SIGKILL)  # `cat` has nothing to clean up
        except OSError:
            return False
        return True

    def _is_held_by(self, pid: int) -> bool:
        ours = os.fstat(self.fd)
        try:
            its = Path(f"/proc/{pid}/fd/1").stat()
        except OSError:
            return False
        return (its.st_dev, its.st_ino) == (ours.st_dev, ours.st_ino)

    def read(self, most: int) -> bytes | None:
        """Return up to ``most`` bytes; None: nothing now; empty: no writer (any more)."""
        chunks: list[bytes] = []
        while most > 0:
            try:
                chunk = os.read(self.fd, most)
            except BlockingIOError:
                break
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
            most -= len(chunk)
        return b"".join(chunks) or None

    def unlink(self) -> None:
        """Remove the names; an open pipe goes on without."""
        for _ in range(REMOVAL_TRIES if self._named else 0):
            with suppress(OSError):
                self._path.unlink()
            with suppress(OSError):
                self._folder.rmdir()
            self._named = self._folder.exists()
            if not self._named:
                return

    def abandon(self) -> None:
        """Close a forked child's copy of our end; the rest is its parent's."""
        self._named = False
        self.close()

    def close(self) -> None:
        """Close our end and remove the names; a writer that goes on gets SIGPIPE."""
        self.unlink()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def base_folders() -> Iterator[Path]:
    """Yield the folders in which ours may stand, the most private first."""
    for path in (os.environ.get("XDG_RUNTIME_DIR"), os.environ.get("TMPDIR"), "/tmp"):
        if path and path.startswith("/") and not UNSAFE_PATH.search(path):
            yield Path(path)
