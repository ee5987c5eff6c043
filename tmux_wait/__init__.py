"""tmux-wait waits until a tmux pane says something, and is always right."""

from tmux_wait.blocking import wait_for_text
from tmux_wait.errors import TmuxWaitError
from tmux_wait.results import WaitOutcome, WaitResult
from tmux_wait.server import TmuxServer

__all__ = ["TmuxServer", "TmuxWaitError", "WaitOutcome", "WaitResult", "wait_for_text"]
