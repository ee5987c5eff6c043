"""What a caller asks of a wait for text, checked before anything is touched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tmux_wait.errors import UsageError
from tmux_wait.observe.typing import Typing
from tmux_wait.patterns import PatternSet

PENDING_MODES = ("report", "accept")


@runtime_checkable
class HasPaneId(Protocol):
    """Anything with a ``pane_id``: a ``libtmux.Pane``, without importing libtmux."""

    @property
    def pane_id(self) -> str | None: ...


Target = str | HasPaneId
"""A pane: ``%N``, any tmux target, or an object with a ``pane_id``."""


@dataclass(frozen=True, slots=True)
class TextRequest:
    """A wait for text that can be run."""

    target: str
    patterns: PatternSet
    seconds: float | None
    fresh: bool
    accept_pending: bool
    typing: Typing | None

    @classmethod
    def check(
        cls,
        pane: Target,
        patterns: Sequence[str] | None,
        *,
        stop: Sequence[str] | None,
        regex: bool,
        match_case: bool,
        seconds: float | None,
        fresh: bool,
        send: str | None,
        keys: Sequence[str],
        pending: str,
    ) -> TextRequest:
        """Check the arguments of ``wait_for_text``.

        Raises:
            UsageError: an argument that cannot be used (``PatternError`` for a pattern).
        """
        if pending not in PENDING_MODES:
            raise UsageError("pending", f"is {pending!r}: it is one of {', '.join(PENDING_MODES)}")
        typing = None
        if send is not None or keys:
            typing = Typing(send, tuple(keys), enter=send is not None)
        return cls(
            target=target_of(pane),
            patterns=PatternSet(patterns or (), stop or (), regex=regex, match_case=match_case),
            seconds=checked_seconds(seconds),
            fresh=fresh or typing is not None,
            accept_pending=pending == "accept",
            typing=typing,
        )


def target_of(pane: Target) -> str:
    """Return the tmux target that ``pane`` names."""
    target = pane if isinstance(pane, str) else getattr(pane, "pane_id", None)
    if not isinstance(target, str) or not target:
        raise UsageError("pane", f"is {pane!r}: give a pane id such as %1, or a tmux target")
    return target


def checked_seconds(seconds: float | None) -> float | None:
    """Return a bound in seconds that can be used; None is no bound."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise UsageError("seconds", f"is {seconds!r}: give a number of seconds, or None")
    if not math.isfinite(seconds) or seconds < 0:
        raise UsageError(
            "seconds", f"is {seconds}: give a finite number of 0 or more, or None for no bound"
        )
    return float(seconds)
