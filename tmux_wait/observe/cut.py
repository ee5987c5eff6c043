"""Where in a stream that is heard already a screen belongs: pure comparison, for a shared pipe.

A second wait on a pane makes its cut by looking at it while the stream goes on: the look is atomic
in the tmux server, but what tmux had read by then may still be on its way through the pipe. The
bytes say where the cut is: it is where the lines written so far are those of the screen, to the
character. Where a screen repeats itself so that several places fit, the first is taken: then
nothing is missed, and what is heard twice is a repetition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tmux_wait.cells import cells
from tmux_wait.observe.entry import Entry
from tmux_wait.stream import LineScanner, VersionEnd

# So many lines above the cursor's have to be known and agree, where the screen has so many.
EVIDENCE = 3
# Bytes of one line in which a cut is looked for, one after the other.
LONGEST_SEARCH = 4096


def find_cut(stream: bytes, earliest: int, start: Entry | None, screen: Entry) -> int | None:
    """Return the first offset, ``earliest`` or later, at which ``screen`` was what stood there.

    ``start`` is the pane before the first byte of ``stream``; None: it is not known, and the
    stream's first line is not used. None is returned where no place fits, or where lines do not
    say what a screen shows: an alternate screen, text below the cursor.
    """
    if screen.alternate or any(screen.rows[screen.cursor_row + 1 :]):
        return None
    first = 0 if start is not None else stream.find(b"\n") + 1
    if start is None and not first:
        return None
    above = screen.rows[: screen.cursor_row]
    known = list(start.rows[: start.cursor_row]) if start is not None else []
    seed = start
    for begin, end, line in _segments(stream, first, start, screen.width):
        if end >= earliest and _agree(known, above):
            at = _find_in_line(stream[begin:end], max(0, earliest - begin), seed, screen)
            if at is not None:
                return begin + at
        seed = None
        if line is None:  # the cursor left its line: what stands above it is not known
            known.clear()
        else:
            known.append(line)
    return None


def _segments(
    stream: bytes, first: int, start: Entry | None, width: int
) -> Iterator[tuple[int, int, str | None]]:
    """Yield where each line of the stream begins, where its line feed stands, and its text.

    The text is None if there is more to a line than its end. Nothing is yielded if the line feeds
    are not those that end lines.
    """
    scanner = LineScanner(width=width, redrawn=False)
    if start is not None:
        scanner.seed(start.rows[start.cursor_row].encode(), start.cursor_cell)
    scanner.feed(memoryview(stream)[first:])
    lines: list[str | None] = []
    left = False
    for version in scanner.versions():
        if version.end is not VersionEnd.LINE:
            left = True
        else:
            lines.append(None if left else version.text.decode(errors="replace").rstrip(" "))
            left = False
    if len(lines) != stream.count(b"\n", first):
        return
    begin = first
    for line in [*lines, None]:
        feed = stream.find(b"\n", begin)
        end = len(stream) if feed < 0 else feed
        yield begin, end, line
        begin = end + 1


def _agree(known: Sequence[str], above: Sequence[str]) -> bool:
    """Say whether the lines known last are those above the cursor, as far as they are known."""
    most = min(len(known), len(above))
    if most < min(EVIDENCE, len(above)):
        return False
    for back in range(1, most + 1):
        if known[-back] == above[-back]:
            continue
        # The screen may show no more than the end of its first line.
        return back == len(above) and known[-back].endswith(above[0])
    return True


def _find_in_line(segment: bytes, earliest: int, start: Entry | None, screen: Entry) -> int | None:
    """Return after how many bytes of a line's the cursor's line looks as it does on ``screen``."""
    if len(segment) - earliest > LONGEST_SEARCH:
        return None
    scanner = LineScanner(width=screen.width, redrawn=False)
    if start is not None:
        scanner.seed(start.rows[start.cursor_row].encode(), start.cursor_cell)
    wanted = screen.rows[screen.cursor_row]
    scanner.feed(segment[:earliest])
    for at in range(earliest, len(segment) + 1):
        line = scanner.line
        if line.decode(errors="replace").rstrip(" ") == wanted:
            # The scanner takes a carriage return only with the byte behind it.
            written = b"" if segment[at - 1 : at] == b"\r" else line[: scanner.write]
            if cells(written.decode(errors="replace")) == screen.cursor_cell:
                return at
        scanner.feed(segment[at : at + 1])
    return None
