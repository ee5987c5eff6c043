"""Regular expressions that contain line feeds: matched over several lines at once.

The new lines are searched together with as many lines before them as the pattern has line
feeds, or 64 KiB of them if it may repeat over line feeds (see the design).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tmux_wait.patterns import LATE, Pattern, PatternSet
from tmux_wait.waits.hits import Hit

MULTI_LINE_BYTES = 65536
"""Bytes of earlier lines kept for a pattern that may repeat over line feeds."""


class MultiLine:
    """Keeps the lines that a match may begin in."""

    def __init__(self, patterns: PatternSet) -> None:
        self._regexes = [(p, r) for p, r in patterns.regexes if r.line_feeds]
        self._most = max((r.line_feeds for _, r in self._regexes), default=0)
        self._repeats = any(r.repeats for _, r in self._regexes)
        self._before: deque[bytes] = deque()
        self._size = 0

    def feed(self, lines: Sequence[tuple[int, bytes]]) -> list[Hit]:
        """Take finished lines (version, text); return the first hit of each pattern."""
        if not self._regexes or not lines:
            return []
        hits = self._search(lines)
        for _, text in lines:
            self._keep(text)
        return hits

    def quiet(self, version: int, line: bytes) -> list[Hit]:
        """Return hits that end on the unfinished line, as if it ended here."""
        return self._search([(version, line)]) if self._regexes and line else []

    def _search(self, lines: Sequence[tuple[int, bytes]]) -> list[Hit]:
        texts = [*self._before, *(text for _, text in lines)]
        versions = [-1] * len(self._before) + [version for version, _ in lines]
        begin = sum(len(text) + 1 for text in self._before)
        blob = b"\n".join(texts) + b"\n"
        hits = []
        for pattern, regex in self._regexes:
            span = next((s for s in regex.spans(blob) if s[1] > begin and s[1] > s[0]), None)
            if span is not None:
                hits.append(_hit(pattern, span, texts, versions))
        return hits

    def _keep(self, text: bytes) -> None:
        self._before.append(text)
        self._size += len(text) + 1
        while self._size > MULTI_LINE_BYTES or (
            not self._repeats and len(self._before) > self._most
        ):
            self._size -= len(self._before.popleft()) + 1


def _hit(pattern: Pattern, span: tuple[int, int], texts: list[bytes], versions: list[int]) -> Hit:
    """Say which of the lines a span of them, joined by line feeds, touches."""
    start, end = span
    touched, at, last = [], 0, 0
    for place, text in enumerate(texts):
        if at < end and at + len(text) >= start:
            touched.append(text)
            last = place
        at += len(text) + 1
    return Hit(versions[last], LATE, pattern, tuple(touched), whole=True)
