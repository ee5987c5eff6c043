"""Drives the logic of a wait with a fake clock: no tmux, no I/O, no time spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tmux_wait.cells import up_to_cell
from tmux_wait.echo import Ledger
from tmux_wait.observe import Row
from tmux_wait.observe.entry import Entry
from tmux_wait.patterns import PatternSet
from tmux_wait.results import WaitResult
from tmux_wait.waits.text import Asked, TextWait

Cut = Callable[[bytes], Iterable[bytes]]


@dataclass(frozen=True)
class Written:
    """Bytes that the pane writes at one moment."""

    data: bytes


@dataclass(frozen=True)
class Seen:
    """Rows that the poll ear sees at one moment."""

    rows: Sequence[Row]
    quiet: bool = False


@dataclass(frozen=True)
class Pause:
    """Seconds in which nothing is written."""

    seconds: float


@dataclass(frozen=True)
class Closed:
    """The pane goes."""


Step = bytes | float | Written | Seen | Pause | Closed


def whole(data: bytes) -> Iterable[bytes]:
    """Feed everything at once."""
    return [data]


def byte_by_byte(data: bytes) -> Iterable[bytes]:
    """Feed single bytes."""
    return [data[at : at + 1] for at in range(len(data))]


def entry_of(*rows: str, cell: int | None = None, **changes: object) -> Entry:
    """Return a screen whose last given row is the cursor's; ``cell`` defaults to its end."""
    shown = rows or ("",)
    fields: dict[str, object] = {
        "pane": "%1", "server_pid": 1, "server_version": "3.5a", "pane_pid": 2,
        "width": 80, "height": 24, "history_size": 0, "dead": False, "dead_status": None,
        "in_mode": False, "alternate": False, "piped": False,
        "rows": tuple(row.rstrip() for row in shown), "cursor_row": len(shown) - 1,
        "cursor_cell": len(shown[-1]) if cell is None else cell,
    }  # fmt: skip
    return Entry(**{**fields, **changes})  # type: ignore[arg-type]


@dataclass
class Simulation:
    """One wait and its clock."""

    patterns: Sequence[str] = ()
    stop: Sequence[str] = ()
    regex: bool = False
    match_case: bool = False
    seconds: float | None = 30
    fresh: bool = False
    accept_pending: bool = False
    sent: str | None = None
    entry: Entry = field(default_factory=entry_of)
    ledger: Ledger = field(default_factory=Ledger)
    backend: str = "tap"
    now: float = 100.0
    feeds: int = 0

    def start(self) -> TextWait:
        """Return the wait after its entry, listening."""
        found = PatternSet(self.patterns, self.stop, regex=self.regex, match_case=self.match_case)
        deadline = None if self.seconds is None else self.now + self.seconds
        wait = TextWait(
            Asked(found, self.now, deadline, self.fresh, self.accept_pending), self.ledger
        )
        wait.entry(self.entry, self.now)
        if self.sent is not None:
            row = self.entry.rows[self.entry.cursor_row]
            before = up_to_cell(row, self.entry.cursor_cell)
            self.ledger.submit(before.encode(), self.sent)
        if wait.result is None:
            wait.listen(self.backend, self.entry)
        return wait

    def run(self, *steps: Step, cut: Cut = whole) -> WaitResult | None:
        """Play the steps (bytes: written, float: a pause); return the result, if there is one."""
        wait = self.start()
        for step in steps:
            if wait.result is not None:
                break
            self._play(wait, step, cut)
        return wait.result

    def _play(self, wait: TextWait, step: Step, cut: Cut) -> None:
        if isinstance(step, (bytes, Written)):
            for chunk in cut(step if isinstance(step, bytes) else step.data):
                self.feeds += 1
                wait.data(chunk, self.now)
        elif isinstance(step, Seen):
            wait.rows(step.rows, self.now, quiet=step.quiet)
        elif isinstance(step, Closed):
            wait.closed(self.now)
        else:
            self.pass_time(wait, step if isinstance(step, float) else step.seconds)

    def pass_time(self, wait: TextWait, seconds: float) -> None:
        """Let time pass, waking the machine only when it asked for it."""
        until = self.now + seconds
        while wait.result is None and wait.wakeup is not None and wait.wakeup <= until:
            self.now = max(self.now, wait.wakeup)
            wait.time(self.now)
        self.now = until
