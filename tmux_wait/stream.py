"""The stream core: bytes of terminals and control clients in, text and hits out.

This is the Python face of ``csrc/`` and the only module that touches it. Nothing here needs tmux.
``feed`` takes any bytes-like object without copying it, and no result depends on how the input was
cut into feeds. Bytes are never an error; misuse is one when an object is built. An object serves
one caller at a time: a second one, in another thread, is refused with RuntimeError.
"""

from __future__ import annotations

import struct
from _thread import allocate_lock
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from tmux_wait._core import ffi, lib

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "ControlParser",
    "Event",
    "Hit",
    "LineHit",
    "LineScanner",
    "LiteralMatcher",
    "Notification",
    "Output",
    "Reply",
    "Scanner",
    "TextFilter",
    "Version",
    "VersionEnd",
    "unescape_into",
]

# Room for what one crossing into C brings back; more comes with the next one.
_HITS_ROOM = 1024
_VERSIONS_ROOM = 4096
_EVENTS_ROOM = 4096
_TEXT_ROOM = 256 * 1024  # bytes: as much as an observer reads at once

_LINE_LIMIT: int = lib.TW_LINE_LIMIT  # bytes; the tests make it smaller

# The C structs of csrc/tmux_wait.h, field by field.
_HIT = struct.Struct("QQiiIHH")
_VERSION = struct.Struct("Q8I")
_MATCH = struct.Struct("QQII")
_EVENT = struct.Struct("QQ6I")

_allocate = ffi.new_allocator(should_clear_after_alloc=False)


class _Turn:
    """Lets one caller at a time use a handle; a second one is refused, not interleaved."""

    __slots__ = ("begin", "end")

    def __init__(self) -> None:
        lock = allocate_lock()
        self.begin, self.end = lock.acquire, lock.release

    def __enter__(self) -> None:
        if not self.begin(False):
            raise _in_use()

    def __exit__(self, *exc: object) -> None:
        self.end()


def _in_use() -> RuntimeError:
    return RuntimeError("in use by another thread: one object serves one caller at a time")


def _bytes_of(data: Buffer) -> Any:
    """Return what C can read ``data`` through; for bytes that is free."""
    return data if type(data) is bytes else ffi.from_buffer("uint8_t[]", data)


def _handle(pointer: Any, free: Any) -> Any:
    """Own a C handle; NULL is out of memory."""
    if pointer == ffi.NULL:
        raise MemoryError("no memory for the stream core")
    return ffi.gc(pointer, free)


def _check_width(width: int | None) -> int:
    """Return what C calls this width; ValueError if no pane can have it."""
    if width is None:
        return 0
    if not 1 <= width <= lib.TW_WIDTH_MAX:
        raise ValueError(f"width is {width}, not None or from 1 to {lib.TW_WIDTH_MAX} cells")
    return width


def _build_literals(literals: Sequence[bytes], match_case: bool) -> Any:
    """Build the automaton of ``literals``; ValueError names the index of one that cannot be."""
    if isinstance(literals, (str, bytes)):
        raise TypeError("literals is a sequence of bytes objects, not one of them")
    sizes = ffi.new("uint32_t[]", [memoryview(literal).nbytes for literal in literals])
    status = ffi.new("uint32_t[2]")
    built = lib.tw_literals_new(
        b"".join(literals), sizes, len(sizes), not match_case, status, status + 1
    )
    index = status[1]
    if status[0] == lib.TW_LITERALS_NONE:
        raise ValueError("no literals: at least one is needed")
    if status[0] == lib.TW_LITERALS_TOO_MANY:
        raise ValueError(f"{len(sizes)} literals: at most {lib.TW_LITERALS_MAX} can be searched")
    if status[0] == lib.TW_LITERALS_EMPTY:
        raise ValueError(f"literals[{index}] is empty: it would be everywhere")
    if status[0] == lib.TW_LITERALS_TOO_LONG:
        raise ValueError(
            f"literals[{index}] has {sizes[index]} bytes: "
            f"at most {lib.TW_LITERAL_BYTES_MAX} can be searched"
        )
    return _handle(built, lib.tw_literals_free)


def character_cells(character: str) -> int:
    """Return how many cells a character takes in tmux: 0 if it joins the one before, 1 or 2."""
    return lib.tw_width(ord(character))  # type: ignore[no-any-return]


# --- LiteralMatcher ---


class LiteralMatcher:
    """Finds every occurrence of up to 64 literals of up to 4,096 bytes in a stream of bytes.

    ``match_case=False`` folds ASCII letters only. Raises ValueError for a literal that is empty or
    too long, naming its index, and for too many.
    """

    __slots__ = ("_found", "_literals", "_matches", "_room", "_state", "_turn")

    def __init__(self, literals: Sequence[bytes], *, match_case: bool = False) -> None:
        self._literals = _build_literals(literals, match_case)
        self._room = max(_HITS_ROOM, len(literals))
        self._matches = _allocate("struct tw_match[]", self._room)
        self._state = ffi.new("struct tw_match_state *")
        self._found = ffi.new("uint32_t *")
        self._turn = _Turn()

    def feed(self, data: Buffer) -> list[tuple[int, int, int]]:
        """Return (index, start, end) of each occurrence that ends in ``data``, overlapping too.

        Ordered by end, then by index. ``start`` and ``end`` (half-open) count bytes from the first
        feed.
        """
        turn, found = self._turn, self._found
        if not turn.begin(False):
            raise _in_use()
        try:
            view = _bytes_of(data)
            size = len(view)
            done = lib.tw_match_feed(
                self._literals, self._state, view, size, self._matches, self._room, found
            )
            if not found[0]:
                return []
            matches = self._take(found[0])
            view = ffi.from_buffer("uint8_t[]", data)
            while done < size:
                done += lib.tw_match_feed(
                    self._literals, self._state, view + done, size - done, self._matches,
                    self._room, found,
                )  # fmt: skip
                matches += self._take(found[0])
            return matches
        finally:
            turn.end()

    def _take(self, count: int) -> list[tuple[int, int, int]]:
        """Make the matches that C has written."""
        filled = ffi.buffer(self._matches, count * _MATCH.size)
        return [(index, start, end) for start, end, index, _ in _MATCH.iter_unpack(filled)]


# --- ControlParser ---


class Output(NamedTuple):
    """What a pane wrote, unescaped: one ``%output`` line, or 1 MiB of a longer one."""

    pane: int
    data: bytes


class Reply(NamedTuple):
    """The answer to a command: ``body`` is its lines, each with a line feed.

    ``ok`` is False for ``%error``. ``cut`` says that the body was over 16 MiB and lost its end.
    """

    number: int
    flags: int
    ok: bool
    body: bytes
    cut: bool = False


class Notification(NamedTuple):
    """Any other line: ``%name args``. A line without the % has an empty name."""

    name: str
    args: bytes


Event: TypeAlias = Output | Reply | Notification


class ControlParser:
    """Parses what a control client (``tmux -C``) writes into events.

    The rules and bounds are those of ``csrc/control.c``.
    """

    __slots__ = ("_bytes", "_control", "_counts", "_events", "_room", "_turn")

    def __init__(self) -> None:
        self._control = _handle(lib.tw_control_new(), lib.tw_control_free)
        self._bytes = lib.tw_control_bytes(self._control)
        self._room = _EVENTS_ROOM
        self._events = _allocate("struct tw_event[]", self._room)
        self._counts = ffi.new("uint32_t[2]")
        self._turn = _Turn()

    def feed(self, data: Buffer) -> list[Event]:
        """Return the events that ``data`` completes, in order."""
        turn, counts = self._turn, self._counts
        if not turn.begin(False):
            raise _in_use()
        try:
            view = _bytes_of(data)
            size = len(view)
            done = lib.tw_control_feed(
                self._control, view, size, self._events, self._room, counts, counts + 1
            )
            if not counts[1]:
                return self._take(counts[0])
            events = self._take(counts[0])
            view = ffi.from_buffer("uint8_t[]", data)
            while counts[1]:
                done += lib.tw_control_feed(
                    self._control, view + done, size - done, self._events, self._room, counts,
                    counts + 1,
                )  # fmt: skip
                events += self._take(counts[0])
            return events
        finally:
            turn.end()

    def _take(self, count: int) -> list[Event]:
        """Make the events that C has written."""
        if not count:
            return []
        records = _EVENT.iter_unpack(ffi.buffer(self._events, count * _EVENT.size))
        last = self._events[count - 1]
        data = ffi.buffer(self._bytes, last.start + last.size)[:]
        return [
            Output(number, data[start : start + size])
            if kind == _OUTPUT
            else _other(number, flags, kind, data[start : start + size], ok, cut)
            for number, flags, kind, start, size, ok, cut, _ in records
        ]


_OUTPUT: int = lib.TW_EVENT_OUTPUT


def _other(number: int, flags: int, kind: int, data: bytes, ok: int, cut: int) -> Event:
    """Make an event that is no output."""
    if kind == lib.TW_EVENT_REPLY:
        return Reply(number, flags, bool(ok), data, bool(cut))
    if data[:1] == b"%":
        name, _, args = data[1:].partition(b" ")
        return Notification(name.decode("ascii", "replace"), args)
    return Notification("", data)


def unescape_into(out: bytearray | memoryview, data: Buffer) -> int:
    """Write the data of an ``%output`` line into ``out``, its octal escapes replaced by bytes.

    ``data`` is a whole line's, without what stands before it; ``out`` must have room for as many
    bytes, and not be the same memory. Returns how many bytes were written. Raises ValueError if
    there is less room. The rule is in the tmux manual, "CONTROL MODE".
    """
    with ffi.from_buffer("uint8_t[]", out, True) as room:
        view = _bytes_of(data)
        if len(view) > len(room):
            raise ValueError(f"no room for {len(view)} bytes: out has {len(room)}")
        return int(lib.tw_unescape(view, len(view), room))


# --- what the scans below share ---


class _Arrays:
    """The arrays that one scan fills: they belong to it, are reused and never cleared."""

    __slots__ = ("_hits", "_keep", "_text", "_versions", "out")

    def __init__(self, literals: int) -> None:
        hits = max(_HITS_ROOM, 4 * literals)
        text = max(_TEXT_ROOM, _LINE_LIMIT + 1)
        self._hits = _allocate("struct tw_hit[]", hits)
        self._versions = _allocate("struct tw_version[]", _VERSIONS_ROOM)
        self._text = _allocate("uint8_t[]", text)
        self.out = ffi.new("struct tw_out *")
        self.out.hits, self.out.hits_room = self._hits, hits
        self.out.versions, self.out.versions_room = self._versions, _VERSIONS_ROOM
        self.out.text, self.out.text_room = self._text, text

    def hits(self) -> Iterator[tuple[int, ...]]:
        """Return the hits, each as its C fields."""
        return _HIT.iter_unpack(ffi.buffer(self._hits, self.out.hits_size * _HIT.size))

    def versions(self) -> bytes:
        """Return a copy of the versions' records."""
        size = self.out.versions_size * _VERSION.size
        return ffi.buffer(self._versions, size)[:]  # type: ignore[no-any-return]

    def text(self) -> bytes:
        """Return a copy of the text."""
        return ffi.buffer(self._text, self.out.text_size)[:]  # type: ignore[no-any-return]


def _options(
    width: int | None, context: int, keep: int, pane: int = 0, replace: bool = False
) -> Any:
    """Return the options of a scan."""
    return ffi.new(
        "struct tw_options *",
        {
            "width": _check_width(width),
            "context": context,
            "limit": _LINE_LIMIT,
            "keep": keep,
            "pane": pane,
            "replace": replace,
        },
    )


def _new_scan(literals: Any, options: Any) -> Any:
    return _handle(lib.tw_scan_new(literals, options), lib.tw_scan_free)


# --- TextFilter ---


class TextFilter:
    """Turns what a pane writes into lines of plain text.

    Escape sequences vanish; CR, BS, cursor movement within the line and erasures edit it as the
    terminal would. With ``width`` the line also has the terminal's rows: what wraps stays one line.
    A line over 64 KiB is cut. The rules are those of ``csrc/escape.c``, ``lines.c`` and ``scan.c``.
    """

    __slots__ = ("_arrays", "_scan", "_turn")

    def __init__(self, width: int | None = None) -> None:
        self._scan = _new_scan(ffi.NULL, _options(width, 0, lib.TW_KEEP_PLAIN))
        self._arrays = _Arrays(0)
        self._turn = _Turn()

    def feed(self, data: Buffer) -> bytes:
        """Return the lines that ``data`` completes, each with a line feed."""
        turn, out = self._turn, self._arrays.out
        if not turn.begin(False):
            raise _in_use()
        try:
            view = _bytes_of(data)
            size = len(view)
            done = lib.tw_scan_feed(self._scan, view, size, out)
            text = self._arrays.text()
            if not out.full:
                return text
            pieces = [text]
            view = ffi.from_buffer("uint8_t[]", data)
            while out.full:
                done += lib.tw_scan_feed(self._scan, view + done, size - done, out)
                pieces.append(self._arrays.text())
            return b"".join(pieces)
        finally:
            turn.end()

    def flush(self) -> bytes:
        """End the unfinished line and return it, without a line feed."""
        with self._turn:
            out = self._arrays.out
            pieces = []
            while True:
                lib.tw_scan_finish(self._scan, out)
                pieces.append(self._arrays.text())
                if not out.full:
                    return b"".join(pieces).removesuffix(b"\n")


# --- LineScanner ---


class VersionEnd(Enum):
    """Why a version of a line is complete."""

    LINE = 0
    """A line feed ended the line."""
    REDRAWN = 1
    """It was overwritten or erased; the line goes on in the next version."""
    CUT = 2
    """The line reached its limit; the next version goes on with its last bytes."""
    LEFT = 3
    """The cursor left the line, or the screen was cleared, scrolled or switched."""
    FINISHED = 4
    """``finish()`` ended it."""


_ENDS = tuple(VersionEnd)


class LineHit(NamedTuple):
    """A literal found in a version of a line.

    ``pattern`` is its index; ``start`` and ``end`` are bytes of the version's text, half-open:
    ``start`` < 0 is in an earlier line, ``end`` one past the text includes the line feed.
    ``offset`` is how many bytes of text the pane had written when the hit counted. ``complete``:
    the hit uses cells left over from an older version, and counted when its own was complete.
    """

    version: int
    pattern: int
    start: int
    end: int
    offset: int
    complete: bool


class Version(NamedTuple):
    """A completed version of a line.

    ``text`` is all of the line's text, and ``start`` 0; of a long line that was redrawn in part it
    is the part with its surroundings, from byte ``start`` on. ``length`` is the whole line's.
    ``write`` is the write position, in bytes. The first ``carried`` bytes were copied from the end
    of the line cut before it.
    """

    version: int
    text: bytes
    start: int
    write: int
    carried: int
    end: VersionEnd
    length: int


class Completed:
    """The versions that one feed completed: copied blocks, read only when asked for."""

    __slots__ = ("_blocks",)

    def __init__(self, blocks: tuple[tuple[bytes, bytes], ...]) -> None:
        self._blocks = blocks

    @property
    def size(self) -> int:
        """Bytes of text held, superseded versions and line feeds included."""
        return sum(len(text) for _, text in self._blocks)

    def lines(self) -> bytes:
        """Return the text of every version, superseded ones too, each with a line feed."""
        return b"".join(text for _, text in self._blocks)

    def versions(self) -> list[Version]:
        """Return the versions, in order."""
        return [
            Version(version, text, start, write, carried, _ENDS[end], length)
            for version, text, start, write, carried, end, length in self._records()
        ]

    def text(self) -> bytes:
        """Return the final text of the completed lines; see ``LineScanner.text``."""
        return b"".join(
            text[carried:] + b"\n"
            for _, text, _, _, carried, end, _ in self._records()
            if end != lib.TW_END_REDRAWN
        )

    def _records(self) -> Iterator[tuple[int, bytes, int, int, int, int, int]]:
        """Yield version, text, start, write, carried, end and length of each record."""
        for records, text in self._blocks:
            for fields in _VERSION.iter_unpack(records):
                version, at, size, start, length, write, carried, _, end = fields
                yield version, text[at : at + size], start, write, carried, end, length


class LineScanner:
    """Scans one pane's bytes for literals, and tells each version of each line.

    ``width`` is the pane's, in cells; None: it never wraps. ``context`` bytes surround the change
    of a redrawn version, and go on into the next line where one is cut. ``redrawn=False`` leaves
    superseded versions out of ``versions()``: in hostile input there is one for each byte, with up
    to twice ``context`` bytes of text (``parts`` holds few of them at a time). ``replace`` writes
    U+FFFD for what is not UTF-8 (as many as Python's decoder would), so that all text is UTF-8;
    otherwise such bytes stay as they are.
    """

    __slots__ = ("_arrays", "_fed", "_literals", "_now", "_scan", "_spilled", "_turn")

    def __init__(
        self,
        literals: Sequence[bytes] = (),
        *,
        match_case: bool = False,
        width: int | None = None,
        context: int = 4096,
        redrawn: bool = True,
        replace: bool = False,
    ) -> None:
        if not 0 <= context <= lib.TW_CONTEXT_MAX:
            raise ValueError(f"context is {context}, not from 0 to {lib.TW_CONTEXT_MAX} bytes")
        keep = lib.TW_KEEP_FINAL | (lib.TW_KEEP_REDRAWN if redrawn else 0)
        self._literals = _build_literals(literals, match_case) if literals else ffi.NULL
        self._scan = _new_scan(self._literals, _options(width, context, keep, replace=replace))
        self._arrays = _Arrays(len(literals))
        self._now = ffi.new("struct tw_now *")
        self._spilled: list[tuple[bytes, bytes]] = []
        self._fed = False
        self._turn = _Turn()

    def seed(self, text: bytes, cursor: int) -> None:
        """Begin with the unfinished line at entry.

        ``cursor`` is in cells from the line's start and may lie beyond the text. Hits wholly inside
        ``text`` are never reported, those that end after it are. Raises ValueError once fed.
        """
        if self._fed:
            raise ValueError("a line can be seeded only before the first feed")
        if cursor < 0:
            raise ValueError(f"the cursor is at cell {cursor}, before the line")
        with self._turn:
            text = text.translate(None, _CONTROLS)
            lib.tw_scan_seed(self._scan, text, len(text), min(cursor, 0xFFFFFFFF))
            self._fed = True

    def resize(self, width: int | None) -> None:
        """The pane is ``width`` cells wide from now on; the cursor stays on its cell."""
        cells = _check_width(width)
        with self._turn:
            lib.tw_scan_resize(self._scan, cells)

    def feed(self, data: Buffer) -> list[LineHit]:
        """Return the hits that count now, in stream order."""
        turn, out = self._turn, self._arrays.out
        if not turn.begin(False):
            raise _in_use()
        try:
            self._fed = True
            self._spilled.clear()
            view = _bytes_of(data)
            size = len(view)
            done = lib.tw_scan_feed(self._scan, view, size, out)
            hits = self._hits() if out.hits_size else []
            if not out.full:
                return hits
            view = ffi.from_buffer("uint8_t[]", data)
            while out.full:
                self._spill()
                done += lib.tw_scan_feed(self._scan, view + done, size - done, out)
                hits += self._hits()
            return hits
        finally:
            turn.end()

    def lend(self) -> tuple[Any, Any]:
        """Lend the C scan and its arrays; until they are taken back every other use is refused."""
        if not self._turn.begin(False):
            raise _in_use()
        self._fed = True
        return self._scan, self._arrays.out

    def take_back(self, found: bool) -> list[LineHit]:
        """Take back what was lent, and return the hits that count now.

        ``found``: the last feed brought what lies in the arrays; else nothing is new in them.
        """
        out = self._arrays.out
        self._spilled.clear()
        try:
            if not found:
                out.hits_size = out.versions_size = out.text_size = out.full = 0
            hits = self._hits()
            while out.full:
                self._spill()
                lib.tw_scan_feed(self._scan, b"", 0, out)
                hits += self._hits()
            return hits
        finally:
            self._turn.end()

    def parts(self, data: Buffer) -> Iterator[list[LineHit]]:
        """Feed ``data`` part by part; yield the hits of each part.

        ``completed`` then tells of that part alone: at most 256 KiB of text, or one line that is
        larger, whatever ``data`` may hold. To be gone through to its end.
        """
        view = ffi.from_buffer("uint8_t[]", data)
        size, done, full = len(view), 0, True
        held: list[LineHit] = []
        while full:
            with self._turn:
                self._fed = True
                self._spilled.clear()
                out = self._arrays.out
                done += lib.tw_scan_feed(self._scan, view + done, size - done, out)
                hits = held + self._hits()
                full = bool(out.full)
            held = []
            while full and hits and hits[-1].complete and hits[-1].version == self.version:
                held.insert(0, hits.pop())  # its version is ending: all that count then go together
            yield hits

    def quiet(self) -> list[LineHit]:
        """Return the hits of the unfinished version that use cells left over, each once."""
        return self._drain(lib.tw_scan_quiet)

    def finish(self) -> list[LineHit]:
        """End the unfinished line (pane end, deadline); return the hits that count now."""
        return self._drain(lib.tw_scan_finish)

    def completed(self) -> Completed:
        """Return what the last ``feed`` or ``finish`` completed; it stays as it is."""
        with self._turn:
            return Completed((*self._spilled, (self._arrays.versions(), self._arrays.text())))

    def versions(self) -> list[Version]:
        """Return the versions that the last ``feed`` or ``finish`` completed, in order."""
        return self.completed().versions()

    def text(self) -> bytes:
        """Return the final text of the lines that the last ``feed`` or ``finish`` completed.

        Each has a line feed. What a cut line passed on to the next one is not said twice.
        """
        return self.completed().text()

    @property
    def line(self) -> bytes:
        """The text of the unfinished version."""
        with self._turn:
            lib.tw_scan_now(self._scan, self._now)
            return ffi.buffer(self._now.text, self._now.size)[:]  # type: ignore[no-any-return]

    @property
    def write(self) -> int:
        """The write position of the unfinished version, in bytes."""
        return self._state("write")

    @property
    def version(self) -> int:
        """The number of the unfinished version; it goes up by one with each completed one."""
        return self._state("version")

    @property
    def visible(self) -> int:
        """How many printable characters that are no blanks were written so far."""
        return self._state("visible")

    @property
    def alternate(self) -> bool:
        """Whether the pane has ever switched to the alternate screen."""
        return bool(self._state("alternate"))

    def _state(self, field: str) -> int:
        with self._turn:
            lib.tw_scan_now(self._scan, self._now)
            return int(getattr(self._now, field))

    def _drain(self, call: Any) -> list[LineHit]:
        """Call into C until it has said everything."""
        with self._turn:
            self._fed = True
            self._spilled.clear()
            call(self._scan, self._arrays.out)
            hits = self._hits()
            while self._arrays.out.full:
                self._spill()
                call(self._scan, self._arrays.out)
                hits += self._hits()
            return hits

    def _hits(self) -> list[LineHit]:
        return [
            LineHit(version, literal, start, end, offset, bool(complete))
            for version, offset, start, end, _, literal, complete in self._arrays.hits()
        ]

    def _spill(self) -> None:
        """Keep what the arrays hold: the next call into C fills them anew."""
        self._spilled.append((self._arrays.versions(), self._arrays.text()))


_CONTROLS = bytes([*range(32), 127])


# --- Scanner ---


@dataclass(frozen=True, slots=True)
class Hit:
    """A literal found in what a pane wrote.

    ``index`` is the literal's; ``offset`` is how many bytes of text the pane had written when the
    hit counted; ``line`` is the line as it was then, once it was complete.
    """

    pane: int | None
    index: int
    offset: int
    line: bytes


class Scanner:
    """Scans panes for literals: escape sequences out, lines assembled, hits with their lines.

    ``source`` is "control" (what a control client writes, all panes in it, or only ``pane``) or
    "raw" (what one pane wrote; ``pane`` is what its hits say). A hit is delivered when its line, or
    the version of it, is complete; ``finish()`` delivers the rest. The lines of the 128 panes last
    heard are remembered; for one more, the line of the one not heard for longest ends.
    """

    __slots__ = (
        "_arrays",
        "_feed",
        "_finish",
        "_handle",
        "_literals",
        "_pane",
        "_turn",
        "_waiting",
    )

    def __init__(
        self,
        literals: Sequence[bytes],
        *,
        match_case: bool = False,
        source: Literal["control", "raw"] = "control",
        pane: int | None = None,
        width: int | None = None,
    ) -> None:
        if source not in ("control", "raw"):
            raise ValueError(f"source is {source!r}, not 'control' or 'raw'")
        if pane is not None and not 0 <= pane <= 0xFFFFFFFF:
            raise ValueError(f"pane is {pane}, not None or a pane's number")
        self._literals = _build_literals(literals, match_case)
        options = _options(width, 4096, lib.TW_KEEP_HIT, pane or 0)
        if source == "raw":
            self._handle = _new_scan(self._literals, options)
            self._feed, self._finish = lib.tw_scan_feed, lib.tw_scan_finish
        else:
            panes = lib.tw_panes_new(self._literals, options, pane is not None)
            self._handle = _handle(panes, lib.tw_panes_free)
            self._feed, self._finish = lib.tw_panes_feed, lib.tw_panes_finish
        self._pane = (pane,) if source == "raw" else ()
        self._arrays = _Arrays(len(literals))
        # Hits whose version is not complete, by pane and version.
        self._waiting: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._turn = _Turn()

    def feed(self, data: Buffer) -> list[Hit]:
        """Return the hits whose line ``data`` completes, in the order of completion."""
        turn, out = self._turn, self._arrays.out
        if not turn.begin(False):
            raise _in_use()
        try:
            hits: list[Hit] = []
            view = _bytes_of(data)
            size = len(view)
            done = self._feed(self._handle, view, size, out)
            self._take(hits)
            if not out.full:
                return hits
            view = ffi.from_buffer("uint8_t[]", data)
            while out.full:
                done += self._feed(self._handle, view + done, size - done, out)
                self._take(hits)
            return hits
        finally:
            turn.end()

    def finish(self) -> list[Hit]:
        """End all unfinished lines; return their hits."""
        with self._turn:
            hits: list[Hit] = []
            while True:
                self._finish(self._handle, self._arrays.out)
                self._take(hits)
                if not self._arrays.out.full:
                    return hits

    def _take(self, hits: list[Hit]) -> None:
        """Let new hits wait for their version, and add those whose version is complete."""
        out = self._arrays.out
        if out.hits_size:
            for version, offset, _, _, pane, literal, _ in self._arrays.hits():
                self._waiting.setdefault((pane, version), []).append((literal, offset))
        if not out.versions_size:
            return
        text = self._arrays.text()
        for version, at, size, _, _, _, _, pane, _ in _VERSION.iter_unpack(self._arrays.versions()):
            line = text[at : at + size]
            who = self._pane[0] if self._pane else pane
            for literal, offset in self._waiting.pop((pane, version), ()):
                hits.append(Hit(who, literal, offset, line))
