"""Hear a process end, without being its parent: a descriptor that is readable once it has.

Linux: pidfd_open(2), 5.3 and newer. macOS: kqueue, ``NOTE_EXIT``. Elsewhere: nothing.
"""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from pathlib import Path


def watch_process(pid: int, parent: int) -> int | None:
    """Return a descriptor that becomes readable when ``pid`` ends, or None.

    None where the system cannot say, or where ``pid`` is not, as far as can be seen, a child of
    ``parent``: it has ended already, or its number belongs to another PID namespace. The caller
    closes the descriptor.
    """
    if pid <= 0:
        return None
    if sys.platform == "linux":
        return _open_pidfd(pid, parent)
    return _open_kqueue(pid)


def parent_of(pid: int) -> int | None:
    """Return the parent of a process, as /proc tells it; None where it does not."""
    stat = read_stat(pid)
    return int(stat[1]) if stat else None


def started_at(pid: int) -> str | None:
    """Return when a process started, in clock ticks since boot; None if /proc does not say."""
    stat = read_stat(pid)
    # A zombie has ended; it only still has its number.
    return stat[19] if stat and stat[0] not in "ZX" else None


def is_tmux(pid: int) -> bool:
    """Say whether a process lives and is a tmux; False where /proc does not say."""
    stat = read_stat(pid)
    if stat is None or stat[0] in "ZX":
        return False
    try:
        return Path(f"/proc/{pid}/comm").read_bytes().startswith(b"tmux")
    except OSError:
        return False


def is_asleep(pid: int) -> bool:
    """Say whether a process waits for something; True where /proc does not say.

    A process that has something to read, and reads, is running or about to.
    """
    stat = read_stat(pid)
    return stat is None or stat[0] == "S"


def read_stat(pid: int) -> list[str] | None:
    """Return the fields of ``/proc/PID/stat`` from the third, the state, on (proc(5))."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The second field is the program's name in parentheses and may hold anything.
    return text.rpartition(")")[2].split()


def _open_pidfd(pid: int, parent: int) -> int | None:
    if sys.platform != "linux":
        return None
    try:
        fd = os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
    # Asked after the pidfd was opened: from here on the number cannot pass to another process.
    if parent_of(pid) == parent:
        return fd
    os.close(fd)
    return None


def _open_kqueue(pid: int) -> int | None:
    if sys.platform == "linux" or not hasattr(select, "kqueue"):
        return None
    queue = select.kqueue()
    # KQ_EV_ONESHOT is left out: the descriptor has to stay readable until it is closed.
    event = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
    try:
        queue.control([event], 0)
        return os.dup(queue.fileno())
    except OSError:
        return None
    finally:
        with suppress(OSError):
            queue.close()
