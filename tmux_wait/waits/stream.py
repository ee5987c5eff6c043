"""Judges the bytes that a pane writes: which hit comes first, and is it not our own echo.

Literals are found by the C core while it assembles the lines. Regular expressions, our own echo
and "any output" are judged here, line by line, only in waits that need them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tmux_wait.echo import Ledger
from tmux_wait.patterns import LATE, PatternSet
from tmux_wait.stream import Completed, LineHit, LineScanner, Version, VersionEnd
from tmux_wait.waits.hits import Hit, Plain, TextTail
from tmux_wait.waits.multiline import MultiLine

if TYPE_CHECKING:
    from tmux_wait.regexes import Regex

Search = Callable[..., "int | None"]
"""A way to search a line: (text, after=) in, the end of the first match beyond it out."""

_GOES_ON = (VersionEnd.REDRAWN, VersionEnd.CUT)


class StreamJudge:
    """Bytes in, the first hit out; it has no clock and does no I/O."""

    def __init__(self, patterns: PatternSet, ledger: Ledger, *, width: int | None) -> None:
        self._patterns = patterns
        self._ledger = ledger
        self._scanner = LineScanner(
            patterns.literals, match_case=patterns.match_case, width=width, replace=True
        )
        self._regexes = [(p, r) for p, r in patterns.regexes if not r.line_feeds]
        self._multi = MultiLine(patterns)
        most = max((literal.count(b"\n") for literal in patterns.literals), default=0)
        self._recent: deque[bytes] = deque(maxlen=most)
        self._by_line = bool(patterns.regexes or most or not patterns.wanted)
        self._bulk = patterns.bulk() if patterns.wanted and not most else None
        self._tail = TextTail()
        self._last = b""  # the line that `finish` ended
        self._seed = b""
        self._searched = (0, 0)  # version of the unfinished line, bytes of it without a match
        self._echoed: dict[Regex, int] = {}  # up to which byte of it a match was our own echo
        self._visible_before = 0  # when the scanner was lent
        self.heard = 0
        self.saw_output = False
        """Whether anything visible but our own echo was written."""

    @property
    def alternate(self) -> bool:
        """Whether the pane switched to the alternate screen."""
        return self._scanner.alternate

    @property
    def text(self) -> str:
        """The retained text, the unfinished line included."""
        return self._tail.text(self._last or self._scanner.line)

    @property
    def line(self) -> bytes:
        """The unfinished line as it stands."""
        return self._scanner.line

    @property
    def unsettled(self) -> bool:
        """Whether quiet could make a hit of what stands on the unfinished line."""
        line = self._scanner.line
        stale = self._scanner.write < len(line)
        return bool(line) and (stale or self._by_line)

    def seed(self, line: bytes, cursor: int) -> None:
        """Begin with the unfinished line at entry; ``cursor`` in cells."""
        self._scanner.seed(line, cursor)
        self._seed = self._scanner.line[: self._scanner.write]

    def resize(self, width: int) -> None:
        """The pane is ``width`` cells wide from now on."""
        self._scanner.resize(width)

    def feed(self, data: bytes) -> Hit | None:
        """Take what the pane wrote; return the first hit, if there is one."""
        self.heard += len(data)
        found: Hit | None = None
        visible = self._scanner.visible
        for hits in self._scanner.parts(data):
            completed = self._scanner.completed()
            if found is None:
                found = self._part(hits, completed, visible)
                visible = self._scanner.visible
            else:
                self._tail.add(completed)
                if not found.whole and (line := _text_of(found.version, completed)) is not None:
                    found = replace(found, lines=(*found.lines[:-1], line), whole=True)
        return found

    def lend(self) -> LineScanner | None:
        """Return the scanner if others may feed it; None: what comes has to be judged here."""
        if self._ledger.live or self._by_line:
            return None
        self._visible_before = self._scanner.visible
        return self._scanner

    def scanned(self, size: int, text: bytes, hits: list[LineHit]) -> Hit | None:
        """Take what others fed to the scanner lent last; return the first hit, if there is one.

        ``text`` is what the completed lines say, but those of the feed that found the ``hits``.
        """
        self.heard += size
        self._tail.add(Plain(text))
        return self._part(hits, self._scanner.completed(), self._visible_before)

    def _part(self, hits: list[LineHit], completed: Completed, visible: int) -> Hit | None:
        """Judge a part of what the pane wrote; ``visible`` is how much was visible before."""
        self._tail.add(completed)
        if self._ledger.live or (self._by_line and not self._no_match_in(completed)):
            return self._judge(hits, completed, open_line=True)
        self.saw_output = self.saw_output or self._scanner.visible > visible
        found = self._first_literal(hits, completed)
        if self._regexes and (found is None or found.version == self._scanner.version):
            both = self._unfinished(()) + ([found] if found else [])
            found = min(both, key=lambda hit: hit.order, default=None)
        return found

    def quiet(self) -> Hit | None:
        """Return a hit on the unfinished line that 50 ms of quiet made one."""
        late = self._scanner.quiet()
        line, version = self._scanner.line, self._scanner.version
        if self._explained(line.rstrip()):
            return None
        hits = [self._literal(hit, line, whole=False) for hit in late]
        after = self._after(version, line)
        for pattern, regex in self._regexes:
            find = partial(regex.finished, empty=False)
            if self._past_echo(find, line, after)[0] is not None:
                hits.append(Hit(version, LATE, pattern, (line,), False))
        hits += self._multi.quiet(version, line)
        if not hits and not self._patterns.wanted and self._visible(version, line):
            hits.append(Hit(version, LATE, None, (line,), False))
        return min(hits, key=lambda hit: hit.order, default=None)

    def finish(self) -> Hit | None:
        """End the unfinished line (the pane's end, the deadline) and judge it."""
        self._last = self._scanner.line
        hits = self._scanner.finish()
        return self._judge(hits, self._scanner.completed(), open_line=False)

    def follow(self, data: bytes, version: int) -> bytes | None:
        """Take more bytes behind a hit; return its line once that is complete."""
        self.heard += len(data)
        line: bytes | None = None
        for _ in self._scanner.parts(data):
            completed = self._scanner.completed()
            self._tail.add(completed)
            if line is None:
                line = _text_of(version, completed)
        return line

    def _no_match_in(self, completed: Completed) -> bool:
        """Say whether no regular expression can match any of these lines, searched together.

        Only where it is cheap and certain; otherwise they are judged line by line.
        """
        return self._bulk is not None and self._bulk.search(completed.lines()) is None

    def _first_literal(self, hits: list[LineHit], completed: Completed) -> Hit | None:
        """Judge hits in a wait for literals only, without an echo to come."""
        if not hits:
            return None
        version = hits[0].version
        line = self._scanner.line
        whole = version != self._scanner.version
        if whole:
            line = _text_of(version, completed) or b""
        same = [self._literal(hit, line, whole) for hit in hits if hit.version == version]
        return min(same, key=lambda hit: hit.order)

    def _judge(self, hits: list[LineHit], completed: Completed, *, open_line: bool) -> Hit | None:
        """Judge line by line, in the order in which the pane wrote them."""
        literal: dict[int, list[LineHit]] = {}
        for hit in hits:
            literal.setdefault(hit.version, []).append(hit)
        ended: list[tuple[int, bytes]] = []
        found: list[Hit] = []
        for version in completed.versions():
            found += self._completed(version, literal.get(version.version, ()), ended)
            if found:
                break
        else:
            if open_line:
                found += self._unfinished(literal.get(self._scanner.version, ()))
        found += self._multi.feed(ended)
        return min(found, key=lambda hit: hit.order, default=None)

    def _completed(
        self, version: Version, literal: Iterable[LineHit], ended: list[tuple[int, bytes]]
    ) -> list[Hit]:
        """Return the hits in a completed version; add it to ``ended`` if the line ended."""
        number, text = version.version, version.text
        goes_on = version.end in _GOES_ON
        if version.end is VersionEnd.FINISHED and not text:
            return []
        echo = self._ledger.explains(text.rstrip(), whole=not goes_on)
        if not goes_on:
            self._ledger.pass_by(text)
            ended.append((number, b"" if echo else text[version.carried :]))
        found = [] if echo else list(self._in_version(version, literal))
        self._recent.append(text)
        if not echo and self._visible(number, text):
            self.saw_output = True
            any_output = not self._patterns.wanted and not (goes_on and self._patterns.stop)
            if any_output and not found:
                found.append(Hit(number, LATE, None, (text,), True))
        return found

    def _in_version(self, version: Version, literal: Iterable[LineHit]) -> Iterator[Hit]:
        number, text = version.version, version.text
        for hit in literal:
            if not self._explained(text[: hit.end - version.start]):
                yield self._literal(hit, text, whole=True)
        after = max(self._after(number, text), version.carried)
        for pattern, regex in self._regexes:
            find = partial(regex.finished, empty=version.end not in _GOES_ON)
            at, _ = self._past_echo(find, text, after)
            if at is not None:
                yield Hit(number, at, pattern, (text,), True)

    def _unfinished(self, literal: Iterable[LineHit]) -> list[Hit]:
        """Return the hits on the unfinished line, up to the write position."""
        version, line = self._scanner.version, self._scanner.line
        written = line[: self._scanner.write]
        found = [
            self._literal(hit, line, whole=False)
            for hit in literal
            if not self._explained(line[: hit.end])
        ]
        after = self._after(version, line)
        since = self._searched[1]
        if self._searched[0] != version:
            since = 0
            self._echoed.clear()
        for pattern, regex in self._regexes:
            find = partial(regex.unfinished, since=since)
            passed = max(after, self._echoed.get(regex, 0))
            at, self._echoed[regex] = self._past_echo(find, written, passed)
            if at is not None:
                found.append(Hit(version, at, pattern, (line,), False))
        self._searched = (version, len(written))
        if self._visible(version, written) and not self._explained(written.rstrip()):
            self.saw_output = True
            if not found and not self._patterns.wanted and not self._patterns.stop:
                found.append(Hit(version, len(written), None, (line,), False))
        return found

    def _past_echo(self, find: Search, text: bytes, after: int) -> tuple[int | None, int]:
        """Return where the first match that is not in our echo ends, and the last that is."""
        while (end := find(text, after=after)) is not None and self._explained(text[:end]):
            if end <= after:
                return None, after
            after = end
        return end, after

    def _literal(self, hit: LineHit, line: bytes, whole: bool) -> Hit:
        lines: tuple[bytes, ...] = (line,)
        if hit.start < 0:
            above = self._patterns.literals[hit.pattern].count(b"\n")
            lines = (*list(self._recent)[-above:], line)
        pattern = self._patterns.literal_patterns[hit.pattern]
        return Hit(hit.version, LATE if hit.complete else hit.end, pattern, lines, whole)

    def _explained(self, beginning: bytes) -> bool:
        """Say whether this beginning of a line is the echo of what we typed."""
        return self._ledger.live and self._ledger.explains(beginning)

    def _after(self, version: int, line: bytes) -> int:
        """Return up to which byte a line stood on the screen before the cut."""
        return len(self._seed) if version == 0 and line.startswith(self._seed) else 0

    def _visible(self, version: int, line: bytes) -> bool:
        """Say whether a line holds anything visible that was written after the cut."""
        return bool(line[self._after(version, line) :].strip())


def _text_of(version: int, completed: Completed) -> bytes | None:
    """Return the text of a version, if it is among those that were completed."""
    return next((v.text for v in completed.versions() if v.version == version), None)
