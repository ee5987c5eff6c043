"""A hit: a pattern found in what a pane wrote, and the text that is kept for the answer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from tmux_wait.patterns import Pattern
from tmux_wait.stream import Completed

TEXT_KEPT = 256 * 1024
"""Bytes of the pane's text kept for ``WaitResult.text``: the contract's bound."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One judged hit.

    ``version`` and ``at`` order hits as the pane wrote them: the version of the line, then the
    byte in it at which the match was there. ``pattern`` is None for "any output".
    """

    version: int
    at: int
    pattern: Pattern | None
    lines: tuple[bytes, ...]
    """The lines that the match touches, as far as they are known."""
    whole: bool
    """Whether the last of them is complete."""

    @property
    def order(self) -> tuple[int, int, tuple[bool, int]]:
        """Return the key by which hits are judged: earliest first, stop first, lower index."""
        return (self.version, self.at, self.pattern.rank if self.pattern else (True, 0))


@dataclass(frozen=True, slots=True)
class Plain:
    """Lines that were completed while somebody else fed the scanner, each with a line feed."""

    lines: bytes

    @property
    def size(self) -> int:
        """Bytes of text held."""
        return len(self.lines)

    def text(self) -> bytes:
        """Return the lines."""
        return self.lines


class TextTail:
    """The last ``TEXT_KEPT`` bytes of what was written, put together only for the answer."""

    def __init__(self) -> None:
        self._chunks: deque[Completed | Plain] = deque()
        self._size = 0

    def add(self, chunk: Completed | Plain) -> None:
        """Append the lines of one feed and let go of what is too old."""
        if not chunk.size:
            return
        self._chunks.append(chunk)
        self._size += chunk.size
        while self._size - self._chunks[0].size >= TEXT_KEPT:
            self._size -= self._chunks.popleft().size

    def text(self, unfinished: bytes) -> str:
        """Return what is kept, with the ``unfinished`` line behind it."""
        kept = b"".join(chunk.text() for chunk in self._chunks) + unfinished
        return kept[-TEXT_KEPT:].decode(errors="replace")
