"""What can go wrong, said in one sentence.

Each error carries what was asked and what is wrong as fields; the sentence is made from them.
"""

from __future__ import annotations


class TmuxWaitError(Exception):
    """Anything that tmux-wait refuses or cannot do; ``str(error)`` is one clear sentence."""


class UsageError(TmuxWaitError, ValueError):
    """An argument that cannot be used: ``argument`` names it, ``reason`` says why."""

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument} {reason}")
        self.argument = argument
        self.reason = reason


class PatternError(UsageError):
    """A pattern that cannot be used.

    ``which`` is the list ("patterns" or "stop"), ``index`` the place in it (None: the list
    itself), ``reason`` says why, in RE2's words where the pattern does not compile.
    """

    def __init__(self, which: str, index: int | None, reason: str) -> None:
        super().__init__(which if index is None else f"{which}[{index}]", reason)
        self.which = which
        self.index = index


class TmuxNotFoundError(TmuxWaitError):
    """The tmux program ``binary`` cannot be run."""

    def __init__(self, binary: str, reason: str) -> None:
        super().__init__(
            f"cannot run the tmux program {binary!r} ({reason}): install tmux, or name the program"
        )
        self.binary = binary
        self.reason = reason


class NoServerError(TmuxWaitError):
    """No tmux server answers at ``socket``; ``words`` are tmux's own."""

    def __init__(self, socket: str, words: str = "") -> None:
        said = f" ({words})" if words else ""
        super().__init__(
            f"no tmux server answers at {socket}{said}: start one, or name its socket (-L, -S)"
        )
        self.socket = socket
        self.words = words


class PaneNotFoundError(TmuxWaitError):
    """The server knows no pane ``target``."""

    def __init__(self, target: str) -> None:
        super().__init__(
            f"no such pane: {target} (tmux list-panes -a shows the panes of this server)"
        )
        self.target = target


class PaneBusyError(TmuxWaitError):
    """The pane cannot be typed into now; nothing was typed."""

    def __init__(self, pane: str, reason: str) -> None:
        super().__init__(f"cannot type into {pane}: {reason}; nothing was typed")
        self.pane = pane
        self.reason = reason


class TmuxTimeoutError(TmuxWaitError):
    """tmux did not answer in time; its client was ended."""

    def __init__(self, binary: str, seconds: float) -> None:
        super().__init__(f"tmux ({binary}) did not answer within {seconds:.3g} s")
        self.binary = binary
        self.seconds = seconds
