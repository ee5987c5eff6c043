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

_PROMPT_ENDS = tuple(end + blank for end in "$#%>❯»λ" for blank in ("", " "))  # noqa: RUF001


@dataclass(slots=True)
class Submission:
    """One line that we typed and submitted.

    ``before`` is the text of the row up to the cursor when we typed, or None if we cannot know
    it (a line typed behind another one). ``again`` says that a prompt may still draw the text a
    second time: it was typed ahead of the prompt that will read it.
    """

    before: bytes | None
    text: bytes
    seen: bool = False
    again: bool = True

    def __post_init__(self) -> None:
        # At a prompt the text is drawn once; elsewhere the terminal echoes it and the next
        # prompt draws it again.
        self.again = self.before is None or not _is_prompt(self.before)

    @property
    def live(self) -> bool:
        """Whether an echo of this line may still come."""
        return not self.seen or self.again

    def explains(self, line: bytes, *, whole: bool) -> bool:
        """Say whether a line (``whole``) or the beginning of one is the echo of this one."""
        return (not self.seen and self._first(line, whole)) or (
            self.again and self._at_prompt(line, whole)
        )

    def pass_by(self, line: bytes) -> bool:
        """Note that ``line`` ended; say whether it was the echo, which then has come."""
        if not self.seen and self._first(line, True):
            self.seen = True
            return True
        if self.again and self._at_prompt(line, True):
            self.seen, self.again = True, False
            return True
        return False

    def _first(self, line: bytes, whole: bool) -> bool:
        expected = (self.before or b"") + self.text
        return line.rstrip() == expected.rstrip() if whole else expected.startswith(line)

    def _at_prompt(self, line: bytes, whole: bool) -> bool:
        """Say whether ``line`` is a prompt followed by the text, or by the beginning of it."""
        if whole:
            line, text = line.rstrip(), self.text.rstrip()
            return line.endswith(text) and _is_prompt(line[: len(line) - len(text)])
        lengths = range(1, min(len(line), len(self.text)) + 1)
        return any(
            line.endswith(self.text[:n]) and _is_prompt(line[: len(line) - n]) for n in lengths
        )


def _is_prompt(before: bytes) -> bool:
    return before.decode(errors="replace").endswith(_PROMPT_ENDS)


def up_to_cell(row: str, cell: int) -> str:
    """Return the part of a row before a cell, with blanks where nothing was written."""
    if row.isascii():
        return row[:cell].ljust(cell)
    from unicodedata import combining, east_asian_width

    kept, cells = "", 0
    for character in row:
        width = 0 if combining(character) else 1 + (east_asian_width(character) in "WF")
        if cells + width > cell:
            break
        kept += character
        cells += width
    return kept + " " * (cell - cells)


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
                if _stands(submission, row):
                    left.remove(submission)
                    echoes.add(place)
                    break
        return echoes


def _stands(submission: Submission, row: bytes) -> bool:
    """Say whether a row of the screen is where this submission was drawn."""
    row, text = row.rstrip(), submission.text.rstrip()
    if submission.before is not None and row == (submission.before + text).rstrip():
        return True
    return row.endswith(text) and _is_prompt(row[: len(row) - len(text)])


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
