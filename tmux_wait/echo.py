"""What we typed, and where its echo will stand.

A shell's echo of a submitted line is recognised by the whole row: what stood there before
(the prompt), then the typed text. It is discounted once. Output that says the same words stands
on another row, or behind something else than that prompt, and still counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

SUBMISSIONS_KEPT = 256
"""Submitted lines remembered a pane: more than a screen holds."""

_PROMPT_ENDS = tuple("$#%>❯»λ")  # noqa: RUF001


def _squeezed(line: bytes) -> bytes:
    """Return a line without blanks: readline puts one where a wide character did not fit."""
    return line.replace(b" ", b"")


def _is_prompt(before: bytes) -> bool:
    """Say whether a row up to the cursor, without blanks, looks like a shell's prompt."""
    return before.decode(errors="replace").endswith(_PROMPT_ENDS)


class Submission:
    """One line that we typed and submitted; lines are compared without their blanks.

    ``before`` is the text of the row up to the cursor when we typed, or None if we cannot know
    it (a line typed behind another one).
    """

    __slots__ = ("_again", "_expected", "_seen", "_text")

    def __init__(self, before: bytes | None, text: bytes) -> None:
        self._text = _squeezed(text)
        self._expected = _squeezed(before or b"") + self._text
        self._seen = False
        # At a prompt the text is drawn once; elsewhere the terminal echoes it, and the prompt
        # that comes next draws it again.
        self._again = before is None or not _is_prompt(_squeezed(before))

    @property
    def live(self) -> bool:
        """Whether an echo of this line may still come."""
        return not self._seen or self._again

    def explains(self, line: bytes, *, whole: bool) -> bool:
        """Say whether a line (``whole``) or the beginning of one is the echo of this one."""
        line = _squeezed(line)
        if not self._seen and self._first(line, whole):
            return True
        return self._again and self._at_prompt(line, whole)

    def pass_by(self, line: bytes) -> bool:
        """Note that ``line`` ended; say whether it was the echo, which then has come."""
        line = _squeezed(line)
        if not self._seen and self._first(line, True):
            self._seen = True
            return True
        if self._again and self._at_prompt(line, True):
            self._seen, self._again = True, False
            return True
        return False

    def stands_on(self, row: bytes) -> bool:
        """Say whether a finished row of the screen is where this one was drawn."""
        row = _squeezed(row)
        return self._first(row, True) or self._at_prompt(row, True)

    def _first(self, line: bytes, whole: bool) -> bool:
        return line == self._expected if whole else self._expected.startswith(line)

    def _at_prompt(self, line: bytes, whole: bool) -> bool:
        """Say whether ``line`` is a prompt followed by the text, or by the beginning of it."""
        most = min(len(line), len(self._text))
        sizes = [len(self._text)] if whole else range(1, most + 1)
        return any(
            line.endswith(self._text[:size]) and _is_prompt(line[: len(line) - size])
            for size in sizes
        )


@dataclass(slots=True)
class Ledger:
    """The lines that we submitted in one pane of one tmux server, oldest first."""

    submissions: deque[Submission] = field(default_factory=lambda: deque(maxlen=SUBMISSIONS_KEPT))

    def submit(self, before: bytes, text: str) -> None:
        """Note that ``text`` is typed and submitted behind ``before``; line feeds submit too."""
        known: bytes | None = before
        for line in text.split("\n"):
            if line:
                self.submissions.append(Submission(known, line.encode()))
            known = None

    @property
    def live(self) -> bool:
        """Whether an echo may still come."""
        return any(submission.live for submission in self.submissions)

    def explains(self, line: bytes, *, whole: bool = False) -> bool:
        """Say whether ``line`` (or, if not ``whole``, this beginning of a line) is an echo."""
        return any(submission.explains(line, whole=whole) for submission in self.submissions)

    def pass_by(self, line: bytes) -> bool:
        """Note that a line ended; say whether it was an echo. It counts once."""
        return any(submission.pass_by(line) for submission in self.submissions)

    def on_screen(self, rows: Iterable[bytes]) -> set[int]:
        """Return the places of those rows of a screen that are echoes, one a submission."""
        left = list(self.submissions)
        echoes: set[int] = set()
        for place, row in enumerate(rows):
            for submission in left:
                if submission.stands_on(row):
                    left.remove(submission)
                    echoes.add(place)
                    break
        return echoes


class LedgerBook:
    """The ledgers of all panes, each bound to the tmux server that had the pane."""

    def __init__(self) -> None:
        self._ledgers: dict[tuple[int, str], Ledger] = {}

    def of(self, server_pid: int, pane: str) -> Ledger:
        """Return the ledger of a pane; another server's pane of that name has its own."""
        return self._ledgers.setdefault((server_pid, pane), Ledger())

    def blank(self) -> Ledger:
        """Return a ledger in which nothing was typed."""
        return Ledger()
