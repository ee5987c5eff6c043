"""One regular expression, matched by RE2 against logical lines.

Source of the syntax: RE2's own. A *settled* match is one that stays whatever is written next;
see "Unfinished lines match too" in the design. All positions are bytes of UTF-8.

How a settled match is told: the expression followed by any one byte, ``(?:PATTERN)\\C``,
can match the line with one character appended only if PATTERN itself ends within the line so far.
If that is so for ``a`` and for a space, neither ``$`` nor a word boundary at the end nor a
greedy tail can make a difference. A line that holds a settled match still holds it when it grows,
so the earliest end is found by bisection.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

from tmux_wait.patterns import LATE

WINDOW = 4096
"""Bytes before new text that are searched again with it: bounds the work on long lines."""

_FOLLOWERS = (b"a", b" ")  # a word character and one that is not: see the module's docstring


class Regex:
    """A compiled pattern.

    Args:
        text: the pattern; with ``literal``, text to be found as it stands.
        match_case: False ignores case as RE2's ``(?i)`` does.

    Raises:
        ValueError: RE2 cannot compile it; the message is RE2's reason.
    """

    def __init__(self, text: str, *, match_case: bool, literal: bool = False) -> None:
        source = re2.escape(text) if literal else text
        self.line_feeds = text.count("\n") + (0 if literal else text.count("\\n"))
        self.repeats = not literal and any(c in text for c in "*+{")
        multi = "(?m)" if self.line_feeds else ""
        _compile(source, match_case)  # alone first: its error speaks of what the caller wrote
        closed = source + ("\\E" if not literal and _open_quote(source) else "")
        self._plain = _compile(f"{multi}(?:{closed})", match_case)
        self._longest = _compile(f"{multi}({closed})\\C", match_case, longest=True)
        self._followed = _compile(f"{multi}(?:{closed})\\C", match_case)
        self._nullable = any(self._plain.search(text) is not None for text in (b"", b" ", b"a"))
        self.bulk = None if _anchored_absolutely(source) else f"(?:{closed})"

    def finished(self, line: bytes, *, after: int = 0, empty: bool = True) -> int | None:
        """Return where the first match in a line ends, as if the line ended here, or None.

        Only matches that end beyond ``after`` count, and empty ones only if ``empty``. The end
        is the earliest byte at which the line held a settled match, or ``LATE``.
        """
        for match in self._plain.finditer(line):
            start, end = match.span()
            if end > max(after, start) or (empty and (end > after or end == 0)):
                return self._earliest(line, after, 0, start) or LATE
        return None

    def unfinished(self, line: bytes, *, after: int = 0, since: int = 0) -> int | None:
        """Return where the earliest settled match ends in a line that goes on, or None.

        ``line[:since]`` is known to hold none; only ``WINDOW`` bytes of it are searched again.
        """
        return self._earliest(line, after, since, 0)

    def spans(self, text: bytes) -> list[tuple[int, int]]:
        """Return all matches in several lines, for patterns that contain line feeds."""
        return [match.span() for match in self._plain.finditer(text)]

    def _earliest(self, line: bytes, after: int, since: int, start: int) -> int | None:
        """Bisect for the earliest end beyond ``after`` of a settled match, if there is one."""

        def settled(end: int) -> bool:
            return all(self._holds(line[:end] + next_, after, since) for next_ in _FOLLOWERS)

        low, high = max(after, since, start), len(line)
        if not settled(high):
            return None
        while True:
            middle = _middle(line, low, high)
            if middle is None:
                return high
            if settled(middle):
                high = middle
            else:
                low = middle

    def _holds(self, text: bytes, after: int, since: int) -> bool:
        """Say whether ``text`` without its last character holds a match that ends beyond."""
        begin = max(0, max(after, since) - WINDOW)
        if not self._nullable and not after:
            return self._followed.search(text, begin) is not None
        return any(
            match.end(1) > max(after, match.start(1))
            for match in self._longest.finditer(text, begin)
        )


class Bulk:
    """Several expressions at once against many lines: says quickly that none can match.

    Between the lines are line feeds; ``^`` and ``$`` match there. A match that only the
    neighbour line makes possible is harmless: whoever gets one looks line by line.
    """

    def __init__(self, regexes: Sequence[Regex], *, match_case: bool) -> None:
        source = "|".join(f"(?:{regex.bulk})" for regex in regexes)
        self._any = _compile(f"(?m:{source})", match_case)

    def search(self, lines: bytes) -> Any:
        """Return None if no line of ``lines`` holds a match; anything else says nothing."""
        return self._any.search(lines)


def bulk_of(regexes: Sequence[Regex], *, match_case: bool) -> Bulk | None:
    """Return a ``Bulk`` of these expressions, or None where it could miss a match."""
    if not regexes or any(regex.bulk is None or regex.line_feeds for regex in regexes):
        return None
    try:
        return Bulk(regexes, match_case=match_case)
    except ValueError:  # together they are too large for RE2
        return None


def _middle(line: bytes, low: int, high: int) -> int | None:
    """Return a character boundary between ``low`` and ``high``, about half way, or None."""
    half = (low + high) // 2
    for step in range(4):  # a character has at most four bytes
        for at in (half - step, half + step):
            if low < at < high and line[at] & 0xC0 != 0x80:
                return at
    return None


@lru_cache(maxsize=256)
def _compile(source: str, match_case: bool, longest: bool = False) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = match_case
    options.longest_match = longest
    try:
        return re2.compile(source.encode(), options)
    except re2.error as error:
        reason = error.args[0]
        said = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"is not a regular expression that RE2 knows: {said}") from None


def _open_quote(source: str) -> bool:
    """Say whether a ``\\Q`` in the pattern is never closed by ``\\E``."""
    at, quoted = 0, False
    while at < len(source) - 1:
        pair = source[at : at + 2]
        if quoted:
            quoted = pair != "\\E"
            at += 1 if quoted else 2
        else:
            quoted = pair == "\\Q"
            at += 2 if pair[0] == "\\" else 1
    return quoted


def _anchored_absolutely(source: str) -> bool:
    """Say whether searching many lines at once could miss a match of this pattern."""
    return "\\A" in source or "\\z" in source or ("(?" in source and "-" in source)
