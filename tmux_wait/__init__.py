"""tmux-wait waits until a tmux pane says something, and is always right.

The names are imported when they are first used: the command line and ``tmux_wait.stream`` do not
pay for what they do not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tmux_wait.blocking import wait_for_text
    from tmux_wait.errors import TmuxWaitError
    from tmux_wait.results import WaitOutcome, WaitResult
    from tmux_wait.server import TmuxServer

__all__ = ["TmuxServer", "TmuxWaitError", "WaitOutcome", "WaitResult", "wait_for_text"]

_HOMES = {
    "TmuxServer": "server",
    "TmuxWaitError": "errors",
    "WaitOutcome": "results",
    "WaitResult": "results",
    "wait_for_text": "blocking",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
