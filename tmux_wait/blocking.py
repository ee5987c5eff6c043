"""The blocking wait: one call, no event loop."""

from __future__ import annotations

from collections.abc import Sequence

from tmux_wait.drive import blocking as driver
from tmux_wait.echo import LedgerBook
from tmux_wait.results import WaitResult
from tmux_wait.tmux import Tmux
from tmux_wait.waits.request import Target, TextRequest
from tmux_wait.waits.run import TextRun


def wait_for_text(
    pane: Target,
    patterns: Sequence[str] | None = (),
    *,
    stop: Sequence[str] | None = (),
    regex: bool = False,
    match_case: bool = False,
    seconds: float | None = 30,
    fresh: bool = False,
    send: str | None = None,
    keys: Sequence[str] = (),
    pending: str = "report",
    socket_name: str | None = None,
    socket_path: str | None = None,
    tmux: str = "tmux",
    backend: str = "auto",
) -> WaitResult:
    """Wait until a pane writes one of ``patterns``; return how the wait ended.

    Blocks the calling thread and leaves nothing behind when it returns or raises.

    Args:
        pane: ``%N``, any tmux target, or an object with a ``pane_id`` (``libtmux.Pane``).
        patterns: wanted text; none means any visible output.
        stop: text that ends the wait with the outcome ``stopped``.
        regex: the patterns are RE2 regular expressions, matched within one logical line.
        match_case: by default upper and lower case are the same.
        seconds: bound from the call on; 0 looks at the screen once, None never gives up.
        fresh: do not let what already stands on the screen end the wait.
        send: text to type, followed by Enter, in the same step that begins to listen; implies
            ``fresh``, and its echo is never an answer.
        keys: tmux key names to press after ``send`` and before its Enter; alone, no Enter.
        pending: "report" ends the wait with ``pending`` when a wanted pattern stands only on
            the cursor's own line; "accept" takes it as present.
        socket_name, socket_path: the tmux server, as ``tmux -L`` and ``tmux -S`` name it.
        tmux: the tmux program.
        backend: "auto", or the ear that must be used: "tap", "control", "poll".

    Raises:
        UsageError: an argument that cannot be used (``PatternError`` names the pattern).
        TmuxWaitError: no server, no such pane, a pane that cannot be typed into, no answer.
    """
    request = TextRequest.check(
        pane, patterns, stop=stop, regex=regex, match_case=match_case, seconds=seconds,
        fresh=fresh, send=send, keys=keys, pending=pending,
    )  # fmt: skip
    server = Tmux(tmux, socket_name, socket_path)
    book = LedgerBook()
    return driver.run(lambda io: TextRun(io, server, request, book, backend).run())
