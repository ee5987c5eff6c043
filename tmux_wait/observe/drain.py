"""The drain: one thread of C reads every tap of this process, whatever Python is doing.

The Python face of ``csrc/drain.c``. A `Stream` is a descriptor that is being read, a `Reader` one
wait's place in it: two waits on one pane read the same bytes, each at its own pace. What nobody
has taken yet lies in memory and then in an unlinked file of at most ``SPOOL`` bytes; when that is
full the descriptor is not read until there is room. Nothing is dropped.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Any, NamedTuple

from tmux_wait._core import ffi, lib
from tmux_wait.observe.protocol import Scanned
from tmux_wait.stream import LineScanner

MEMORY: int = lib.TW_TAP_MEMORY  # bytes of one stream
SPOOL: int = lib.TW_TAP_SPOOL  # bytes of one stream
MOST_BYTES = 256 * 1024  # of one take
TEXT_KEPT = 256 * 1024  # bytes of the text of what was scanned

_allocate = ffi.new_allocator(should_clear_after_alloc=False)
_lock = Lock()
# The C side of this process, and the process: a forked child has no such thread, and makes its own.
_drain: tuple[int, Any] | None = None


class State(NamedTuple):
    """A stream at one moment; numbers count its bytes from 0 on."""

    head: int  # bytes read from the descriptor
    base: int  # bytes that every reader has taken
    spooled: int  # bytes in the spool that were not taken yet
    ended: bool
    full: bool  # not read for want of room
    reading: bool  # more may have left the descriptor than `head` says


class Stream:
    """A descriptor that is being read; its owner closes it after the stream."""

    def __init__(self, fd: int, first: bytes = b"", *, spool: int = SPOOL) -> None:
        """Begin with ``first``, which was read already (at most ``MEMORY`` bytes).

        Raises OSError if there is no memory or no thread for it.
        """
        path = os.fsencode(spool_path())
        self._tap = lib.tw_tap_new(_own_drain(), fd, path, spool, first, len(first))
        if self._tap == ffi.NULL:
            raise OSError("no memory or no thread to read a tap with")
        self._now = ffi.new("struct tw_tap_now *")
        self._closed = False

    def reader(self) -> Reader:
        """Return a reader: the first begins with ``first``, others with what is read next."""
        return Reader(self._tap)

    def state(self) -> State:
        """Return how far it is; all at once. Not once closed."""
        assert not self._closed
        lib.tw_tap_now(self._tap, self._now)
        now = self._now
        return State(
            now.head, now.base, now.spooled, bool(now.ended), bool(now.full), bool(now.reading)
        )

    def close(self) -> None:
        """Stop reading; the readers are at their end. May be called again."""
        if not self._closed:
            self._closed = True
            lib.tw_tap_free(self._tap)


class Reader:
    """One place in a stream, for one caller at a time."""

    def __init__(self, tap: Any) -> None:
        self._reader = lib.tw_reader_new(tap)
        if self._reader == ffi.NULL:
            raise OSError("no memory or no descriptor for a reader of a tap")
        self.fd: int = lib.tw_reader_fd(self._reader)
        """Readable while there is something to take, or the end; only to be waited for."""
        self._ended = ffi.new("uint32_t *")
        self._taken = ffi.new("struct tw_taken *")
        self._lent: LineScanner | None = None
        self._text: Any = None  # where the thread keeps the text of what it scans

    def take(self, most: int = MOST_BYTES) -> tuple[bytes, bool]:
        """Return what comes next, up to ``most`` bytes, and whether that was all."""
        buffer = _allocate("uint8_t[]", most)
        size = lib.tw_reader_take(self._reader, buffer, most, self._ended)
        return ffi.buffer(buffer, size)[:], bool(self._ended[0])

    def lend(self, scanner: LineScanner) -> None:
        """Let the thread feed ``scanner`` what comes, until it finds something.

        ``fd`` is readable then, and soon after other bytes were scanned. Until `take_back` the
        scanner refuses all use, and nothing is to be taken.
        """
        if self._text is None:
            self._text = _allocate("uint8_t[]", TEXT_KEPT)
        scan, out = scanner.lend()
        self._lent = scanner
        lib.tw_reader_lend(self._reader, scan, out, self._text, TEXT_KEPT)

    def take_back(self) -> Scanned | None:
        """Take back the scanner and return what came of it; None: nothing came."""
        taken, scanner = self._taken, self._lent
        assert scanner is not None
        lib.tw_reader_take_back(self._reader, taken)
        self._lent = None
        hits = scanner.take_back(bool(taken.found))
        if not taken.size:
            return None
        kept = ffi.buffer(self._text, min(taken.text, TEXT_KEPT))
        at = taken.text % TEXT_KEPT if taken.text > TEXT_KEPT else 0
        return Scanned(int(taken.size), taken.last / 1e9, kept[at:] + kept[:at], hits)

    def recall(self, most: int) -> tuple[int, bytes]:
        """Return the last bytes before the next ones, and the number of the first of them.

        At most ``most``, and as many as are still in memory.
        """
        buffer = _allocate("uint8_t[]", most)
        first = ffi.new("uint64_t *")
        size = lib.tw_reader_recall(self._reader, buffer, most, first)
        return int(first[0]), ffi.buffer(buffer, size)[:]

    def close(self) -> None:
        """Give up the place. May be called again."""
        if self._reader is not None:
            lib.tw_reader_free(self._reader)
            self._reader = None


def spool_path() -> str:
    """Return where a file may stand for a moment; it is big, so a folder for runtime is last."""
    bases = [os.environ.get("TMPDIR"), "/tmp", os.environ.get("XDG_RUNTIME_DIR")]
    usable = [base for base in bases if base and os.access(base, os.W_OK | os.X_OK)]
    return f"{usable[0] if usable else '/tmp'}/tmux-wait-{os.urandom(16).hex()}"


def _own_drain() -> Any:
    global _drain
    with _lock:
        if _drain is None or _drain[0] != os.getpid():
            made = lib.tw_drain_new()
            if made == ffi.NULL:
                raise OSError("no memory or no descriptor to read taps with")
            _drain = (os.getpid(), made)
        return _drain[1]
