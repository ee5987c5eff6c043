"""What a result says in one sentence, for people on stderr and for agents in a text content."""

from __future__ import annotations

from tmux_wait.results import WaitOutcome, WaitResult

LINE_CHARACTERS = 200  # characters of a pane's line that a sentence repeats
PATTERN_CHARACTERS = 80  # characters of a pattern that a sentence repeats

# Outcomes that were decided by the screen as it stood: no stream could have been missed.
_FROM_THE_SCREEN = frozenset({WaitOutcome.PRESENT_AT_ENTRY, WaitOutcome.PENDING})


def sentence(result: WaitResult, *, line: bool = True) -> str:
    """Say what ended the wait and when; ``line`` repeats the line that did, cut to a bound."""
    said = _HEADS[result.outcome](result)
    if line and result.matched_line is not None:
        said += f": {_cut(result.matched_line, LINE_CHARACTERS)}"
    return said


def notes(result: WaitResult) -> list[str]:
    """Say what a reader should doubt: output that was missed, a stop pattern that came before."""
    found = []
    if not result.complete and result.outcome not in _FROM_THE_SCREEN:
        found.append("output may have been missed")
    if result.entry_stop is not None:
        row = _cut(result.entry_stop, LINE_CHARACTERS)
        found.append(f"a stop pattern already stood on the screen: {row}")
    return found


def quoted(pattern: str) -> str:
    """Return a pattern in double quotes, on one line and cut to a bound."""
    return f'"{_cut(pattern, PATTERN_CHARACTERS)}"'


def duration(seconds: float) -> str:
    """Return a time span as a reader wants it: ``2.1 s``, or ``0.02 s`` when it was short."""
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"


def _cut(text: str, limit: int) -> str:
    shown = text.replace("\n", "\\n")
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _after(result: WaitResult) -> str:
    return f"after {duration(result.elapsed)}"


def _matched(result: WaitResult) -> str:
    what = "any output" if result.matched_pattern is None else quoted(result.matched_pattern)
    return f"matched {what} {_after(result)}"


def _stopped(result: WaitResult) -> str:
    return f"stopped by {quoted(result.matched_pattern or '')} {_after(result)}"


def _present(result: WaitResult) -> str:
    return f"{quoted(result.matched_pattern or '')} was already on the screen"


def _pending(result: WaitResult) -> str:
    where = f"on the unfinished line of pane {result.pane}"
    if result.matched_pattern is None:
        return f"pending {_after(result)}: text stands {where}, perhaps typed and not submitted"
    what = quoted(result.matched_pattern)
    return f"{what} stands {where}, perhaps typed and not submitted"


def _deadline(result: WaitResult) -> str:
    return f"deadline {_after(result)}, nothing matched; {_written(result)}"


def _closed(result: WaitResult) -> str:
    return f"pane {result.pane} closed {_after(result)}, nothing matched; {_written(result)}"


def _lost(result: WaitResult) -> str:
    return f"stream of pane {result.pane} lost {_after(result)}, nothing matched by then"


def _cancelled(result: WaitResult) -> str:
    return f"cancelled {_after(result)}: the server was closed"


def _written(result: WaitResult) -> str:
    if not result.saw_output:
        return f"pane {result.pane} wrote nothing"
    last = next((row.strip() for row in reversed(result.text.split("\n")) if row.strip()), "")
    amount = f" {result.bytes} bytes" if result.bytes else ""  # polling counts none
    said = f"pane {result.pane} wrote{amount or ' something'}"
    return f"{said}, last: {_cut(last, LINE_CHARACTERS)}" if last else said


_HEADS = {
    WaitOutcome.MATCHED: _matched,
    WaitOutcome.STOPPED: _stopped,
    WaitOutcome.PRESENT_AT_ENTRY: _present,
    WaitOutcome.PENDING: _pending,
    WaitOutcome.DEADLINE: _deadline,
    WaitOutcome.PANE_CLOSED: _closed,
    WaitOutcome.STREAM_LOST: _lost,
    WaitOutcome.CANCELLED: _cancelled,
}
