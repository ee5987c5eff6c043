"""What is waited for: literals and regular expressions, their limits and their errors.

Literals are searched by the C core, ignoring the case of ASCII letters unless asked not to.
Regular expressions, and literals whose case folding goes beyond ASCII, are RE2's; RE2 is
imported only when one of them is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tmux_wait.errors import PatternError

if TYPE_CHECKING:
    from tmux_wait.regexes import Bulk, Regex

MAX_PATTERNS = 32
"""Patterns a list: the contract's limit; both lists together fit the core's 64 literals."""
MAX_PATTERN_BYTES = 4096
"""UTF-8 bytes a pattern: the contract's limit."""
LATE = 1 << 62
"""End of a match that only the end of its line made one: after every byte of the line."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern: its list (``stop`` or not), its place in that list, its text."""

    stop: bool
    index: int
    text: str

    @property
    def rank(self) -> tuple[bool, int]:
        """Order among hits at the same offset: stop first, then the lower index."""
        return (not self.stop, self.index)


@dataclass(frozen=True, slots=True)
class Found:
    """One pattern found in a piece of text, within ``start`` to ``end`` (bytes, half-open)."""

    pattern: Pattern
    start: int
    end: int


class PatternSet:
    """Wanted and stop patterns, checked and compiled.

    Raises:
        PatternError: an empty pattern, more than 32 a list, over 4,096 bytes, not UTF-8, or
            not RE2's syntax; it names the list and the index.
    """

    def __init__(
        self,
        wanted: Sequence[str] = (),
        stop: Sequence[str] = (),
        *,
        regex: bool = False,
        match_case: bool = False,
    ) -> None:
        self.match_case = match_case
        self.patterns = [*_checked("patterns", wanted), *_checked("stop", stop)]
        self.wanted = bool(wanted)
        self.stop = bool(stop)
        self.literal_patterns: list[Pattern] = []
        self.literals: list[bytes] = []
        self.regexes: list[tuple[Pattern, Regex]] = []
        for pattern in self.patterns:
            if regex or _folds_beyond_ascii(pattern.text, match_case):
                self.regexes.append((pattern, self._compile(pattern, regex)))
            else:
                self.literal_patterns.append(pattern)
                self.literals.append(pattern.text.encode())

    def _compile(self, pattern: Pattern, regex: bool) -> Regex:
        from tmux_wait.regexes import Regex

        which = "stop" if pattern.stop else "patterns"
        try:
            return Regex(pattern.text, match_case=self.match_case, literal=not regex)
        except ValueError as error:
            raise PatternError(which, pattern.index, str(error)) from None

    def bulk(self) -> Bulk | None:
        """Return a way to tell quickly that no regular expression matches; None: there is none."""
        if not self.regexes:
            return None
        from tmux_wait.regexes import bulk_of

        return bulk_of([regex for _, regex in self.regexes], match_case=self.match_case)

    def search(self, line: bytes, *, after: int = 0, goes_on: bool = False) -> list[Found]:
        """Return where each pattern first ends beyond ``after`` in one line.

        With ``goes_on`` the line may grow: only settled matches of regular expressions count.
        Patterns over several lines are left to ``search_lines``. The result is in the order in
        which hits are judged: by end, stop first, then index.
        """
        found = []
        for pattern, literal in zip(self.literal_patterns, self.literals, strict=True):
            if b"\n" not in literal:
                found += self._find(pattern, literal, line, after)
        for pattern, regex in self.regexes:
            if regex.line_feeds:
                continue
            if goes_on:
                end = regex.unfinished(line, after=after)
            else:
                end = regex.finished(line, after=after)
            if end is not None:
                found.append(Found(pattern, after, end))
        return sorted(found, key=lambda hit: (hit.end, hit.pattern.rank))

    def search_lines(self, text: bytes) -> list[Found]:
        """Return where each pattern over several lines first occurs in finished lines."""
        found = []
        for pattern, literal in zip(self.literal_patterns, self.literals, strict=True):
            if b"\n" in literal:
                found += self._find(pattern, literal, text, 0)
        for pattern, regex in self.regexes:
            spans = regex.spans(text) if regex.line_feeds else []
            found += [Found(pattern, *span) for span in spans[:1]]
        return sorted(found, key=lambda hit: (hit.end, hit.pattern.rank))

    def _find(self, pattern: Pattern, literal: bytes, text: bytes, after: int) -> list[Found]:
        if not self.match_case:  # bytes.lower folds ASCII only, as the C core does
            literal, text = literal.lower(), text.lower()
        start = text.find(literal, max(0, after - len(literal) + 1))
        return [Found(pattern, start, start + len(literal))] if start >= 0 else []


def _checked(which: str, texts: Sequence[str]) -> list[Pattern]:
    """Check one list of patterns against the limits."""
    if isinstance(texts, (str, bytes)):
        raise PatternError(which, None, "is one string: give a list of strings")
    if len(texts) > MAX_PATTERNS:
        raise PatternError(
            which, None, f"holds {len(texts)} patterns: at most {MAX_PATTERNS} are allowed"
        )
    for index, text in enumerate(texts):
        reason = _unusable(text)
        if reason:
            raise PatternError(which, index, reason)
    return [Pattern(which == "stop", index, text) for index, text in enumerate(texts)]


def _unusable(text: object) -> str | None:
    """Say why a pattern cannot be used at all, or None."""
    if not isinstance(text, str):
        return f"is of type {type(text).__name__}: a pattern is a string"
    if not text:
        return "is empty: an empty pattern would match anything"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode: it cannot be written as UTF-8"
    if size > MAX_PATTERN_BYTES:
        return f"is {size:,} bytes long: at most {MAX_PATTERN_BYTES:,} are allowed"
    return None


def _folds_beyond_ascii(text: str, match_case: bool) -> bool:
    """Say whether ignoring the case of ``text`` concerns letters that the C core cannot fold."""
    if match_case or text.isascii():
        return False
    return any(not c.isascii() and (c.lower() != c or c.upper() != c) for c in text)
