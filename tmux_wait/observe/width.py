"""How wide a pane is while it is listened to: asked of its terminal, not of tmux.

The bytes that a pane writes do not say that it was resized. tmux tells its terminal, though, and
to open that, ask and close it again takes some microseconds and no process. It must not be kept
open: tmux takes a pane for closed when nobody holds its terminal. (Linux: ``TIOCGWINSZ``.)

tmux may tell the terminal a quarter of a second late, after another resize for instance, and wraps
in the new width all the while: what is written in that time is assembled in the old one.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import termios

from tmux_wait.drive import Driver
from tmux_wait.errors import TmuxWaitError
from tmux_wait.observe.ask import ask_state
from tmux_wait.observe.entry import Entry
from tmux_wait.process import read_stat
from tmux_wait.tmux import Tmux

# The fields of /proc/PID/stat behind the program's name (proc(5)); 4: tty_nr.
TTY_NR = 4


class TerminalWidth:
    """The width of one pane, in ``cells``.

    It is followed where the pane's terminal can be reached and is surely its own.
    """

    def __init__(self, driver: Driver, tmux: Tmux, entry: Entry) -> None:
        self.cells = entry.width
        self._driver = driver
        self._tmux = tmux
        self._entry = entry
        self._pid = 0
        self._path = ""
        self._follow(entry.pane_pid, entry.tty)

    async def changed(self) -> bool:
        """Look; say whether ``cells`` is another number now.

        tmux is asked only if the terminal is another one now, as after ``respawn-pane``.
        """
        if not self._path:
            return False
        before = self.cells
        self.cells = self._ask(before) or await self._ask_tmux()
        return self.cells != before

    def _follow(self, pid: int, path: str) -> None:
        self._pid, self._path = pid, path if sys.platform == "linux" else ""
        if self._ask() is None:
            self._path = ""

    async def _ask_tmux(self) -> int:
        pane, server, before = self._entry.pane, self._entry.server_pid, self._pid
        self._path = ""
        try:
            state = await ask_state(self._driver, self._tmux, pane, server, self._driver.now())
        except TmuxWaitError:
            return self.cells
        if state is None or state.pid in (0, before):
            return self.cells
        self._follow(state.pid, state.tty)
        return state.width

    def _ask(self, known: int | None = None) -> int | None:
        """Return the width of the terminal; None if it is not there, or another pane's.

        Unless it is as ``known``, its owner is checked: a terminal that was closed, as when a pane
        is respawned, gives its name to the next one; a container's have the same names.
        """
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        try:
            _, cells = struct.unpack_from("HH", fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8)))
            return cells if cells and (cells == known or self._is_ours(fd)) else None
        except OSError:
            return None
        finally:
            os.close(fd)

    def _is_ours(self, fd: int) -> bool:
        stat = read_stat(self._pid)
        device = os.fstat(fd).st_rdev
        # The kernel's own encoding: the major number in bits 8 to 19, the minor around it.
        minor = os.minor(device)
        number = (minor & 0xFF) | (os.major(device) << 8) | ((minor & ~0xFF) << 12)
        return stat is not None and int(stat[TTY_NR]) == number
